#include "difference.h"

#include <inttypes.h>
#include <math.h>

double pixel_value(const gf_view *view, int32_t x, int32_t y)
{
    const char *row = (const char *)view->data + (size_t)y * view->pitch_bytes;
    switch (view->pixel) {
    case GF_PIXEL_U8: return ((const uint8_t *)row)[x];
    case GF_PIXEL_U16: return ((const uint16_t *)row)[x];
    default: return ((const float *)row)[x];
    }
}

/* |a - b|; 0 for NaN against NaN and an Inf against itself, Inf when only one side is finite. */
static double distance(double a, double b)
{
    if (a == b || (isnan(a) && isnan(b))) return 0;
    double d = fabs(a - b);
    return isnan(d) ? INFINITY : d;
}

static void note(difference *d, double value, int32_t x, int32_t y)
{
    if (!d->differing++) {
        d->first_x = d->left = d->right = x;
        d->first_y = d->top = y;
    }
    if (x < d->left) d->left = x;
    if (x > d->right) d->right = x;
    d->bottom = y;
    if (value > d->tolerance) d->beyond++;
    if (isinf(value))
        d->unbounded++;
    else if (value > d->max) {
        d->max = value;
        d->max_x = x;
        d->max_y = y;
    }
}

void difference_measure(const gf_view *a, const gf_view *b, double tolerance, difference *out)
{
    *out = (difference){ .tolerance = tolerance,
                         .max_x = -1,
                         .max_y = -1,
                         .first_x = -1,
                         .first_y = -1,
                         .left = -1,
                         .top = -1,
                         .right = -1,
                         .bottom = -1,
                         .pixels = (uint64_t)a->width * (uint64_t)a->height };
    double squares = 0;
    for (int32_t y = 0; y < a->height; y++) {
        double row_squares = 0; /* rows first: sums of like size lose less */
        for (int32_t x = 0; x < a->width; x++) {
            double value = distance(pixel_value(a, x, y), pixel_value(b, x, y));
            if (value == 0) continue;
            note(out, value, x, y);
            if (isfinite(value)) row_squares += value * value;
        }
        squares += row_squares;
    }
    uint64_t counted = out->pixels - out->unbounded;
    double white = gf_pixel_white(a->pixel), mean = counted ? squares / (double)counted : 0;
    out->rmse = sqrt(mean);
    out->psnr = mean > 0 ? 10 * log10(white * white / mean) : INFINITY;
}

static void store(const gf_view *view, int32_t x, int32_t y, double value)
{
    char *row = (char *)view->data + (size_t)y * view->pitch_bytes;
    if (view->pixel == GF_PIXEL_F32) {
        ((float *)row)[x] = (float)value;
        return;
    }
    double clipped = fmin(rint(value), gf_pixel_white(view->pixel));
    if (view->pixel == GF_PIXEL_U8)
        ((uint8_t *)row)[x] = (uint8_t)clipped;
    else
        ((uint16_t *)row)[x] = (uint16_t)clipped;
}

void difference_image(const gf_view *a, const gf_view *b, const gf_view *out)
{
    for (int32_t y = 0; y < a->height; y++)
        for (int32_t x = 0; x < a->width; x++)
            store(out, x, y, distance(pixel_value(a, x, y), pixel_value(b, x, y)));
}

void difference_print(const difference *d, FILE *out)
{
    if (!d->differing) {
        fprintf(out, "identical: %" PRIu64 " pixels\n", d->pixels);
        return;
    }
    fprintf(out, "max difference  %.9g at (%d, %d)\n", d->max, d->max_x, d->max_y);
    fprintf(out, "rmse            %.6g\n", d->rmse);
    fprintf(out, "psnr            %.4f dB\n", d->psnr);
    fprintf(out,
            "differing       %" PRIu64 " of %" PRIu64
            " pixels, first (%d, %d), all in (%d, %d) to (%d, %d)\n",
            d->differing, d->pixels, d->first_x, d->first_y, d->left, d->top, d->right, d->bottom);
    fprintf(out, "beyond %-8.6g %" PRIu64 " pixels\n", d->tolerance, d->beyond);
    if (d->unbounded)
        fprintf(out,
                "NaN or Inf on one side only: %" PRIu64 " pixels, left out of the figures above\n",
                d->unbounded);
}

static void place(json *j, const char *key, int32_t x, int32_t y)
{
    json_array(j, key);
    json_integer(j, NULL, x);
    json_integer(j, NULL, y);
    json_end_array(j);
}

void difference_json(const difference *d, json *j, const char *key)
{
    json_object(j, key);
    json_bool(j, "identical", !d->differing);
    json_number(j, "tolerance", d->tolerance);
    json_bool(j, "within_tolerance", !d->beyond);
    json_number(j, "max_difference", d->max);
    json_number(j, "rmse", d->rmse);
    json_number(j, "psnr_db", d->psnr);
    json_integer(j, "pixels", (long long)d->pixels);
    json_integer(j, "differing", (long long)d->differing);
    json_integer(j, "beyond_tolerance", (long long)d->beyond);
    json_integer(j, "not_finite_on_one_side", (long long)d->unbounded);
    if (d->differing) {
        place(j, "max_at", d->max_x, d->max_y);
        place(j, "first_at", d->first_x, d->first_y);
        place(j, "top_left", d->left, d->top);
        place(j, "bottom_right", d->right, d->bottom);
    }
    json_end_object(j);
}
