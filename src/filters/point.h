/* The point engine: a filter whose result at a pixel depends on that pixel alone. */
#ifndef GFI_POINT_H
#define GFI_POINT_H

#include "filters/filter_def.h"

typedef enum gfi_point_op {
    GFI_POINT_AFFINE = 0,   /* a * x + b */
    GFI_POINT_ABS = 1,      /* |x| */
    GFI_POINT_GAMMA = 2,    /* b * (max(x, 0) / b)^a */
    GFI_POINT_CLAMP = 3,    /* min(max(x, a), b); NaN stays NaN */
    GFI_POINT_THRESHOLD = 4 /* x > c ? b : a; NaN stays NaN */
} gfi_point_op;

typedef struct gfi_point {
    gfi_point_op op;
    double a, b, c;
} gfi_point;

enum { GFI_MOST_FUSED = 3 }; /* point filters that a stage takes along */

/* ref, point (fast CPU), cuda-point. */
extern const gf_impl *const gfi_point_impls[];
extern const gf_impl gfi_point_ref, gfi_point_cpu, gfi_point_cuda;

/* The tolerance of point filters: 2^-20 of the result's scale, nothing for abs. */
double gfi_point_tolerance(const gfi_request *request, double max_abs);

/* Largest finite float <= v: x > v and x > gfi_float_below(v) agree for every float x. */
float gfi_float_below(double v);

#endif
