/* How two pictures differ. */
#ifndef CLI_DIFFERENCE_H
#define CLI_DIFFERENCE_H

#include <stdbool.h>

#include <gpufilter/image.h>

#include "json.h"

typedef struct difference {
    uint64_t pixels;
    uint64_t differing; /* not equal; NaN equals NaN */
    uint64_t beyond;    /* by more than the tolerance */
    uint64_t unbounded; /* of those: NaN or Inf on one side only */
    double tolerance;
    double max, rmse, psnr; /* over pixels that are not unbounded; psnr is Inf when equal */
    int32_t max_x, max_y;   /* where max is; -1 when nothing differs */
    int32_t first_x, first_y;
    int32_t left, top, right, bottom; /* the rectangle that holds all differing pixels */
} difference;

/* The value of one pixel. */
double pixel_value(const gf_view *view, int32_t x, int32_t y);

/* Compare host views of equal size; their pixel types may differ. */
void difference_measure(const gf_view *a, const gf_view *b, double tolerance, difference *out);

/* Write |a - b| into a host view of the same size, rounded half to even and clipped. */
void difference_image(const gf_view *a, const gf_view *b, const gf_view *out);

void difference_print(const difference *d, FILE *out);
void difference_json(const difference *d, json *j, const char *key);

#endif
