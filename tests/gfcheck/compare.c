/* The numbers contract: how far a result may be from the reference's. */
#include "gfcheck.h"

/* Integer pixels: the value is rounded to a neighbour, so half a level is always allowed, and near
 * a tie either neighbour is right. */
static const double HALF = 0.5, TIE = 1e-3;

static double highest(gf_pixel pixel) { return pixel == GF_PIXEL_U8 ? 255 : 65535; }

static double clamped(gf_pixel pixel, double value)
{
    if (isnan(value)) return 0;
    return fmin(fmax(value, 0), highest(pixel));
}

/* Distance between got and a right value; infinite where nothing but the value itself will do. */
static double error_of(gf_pixel pixel, double got, double value)
{
    if (pixel != GF_PIXEL_F32) {
        double error = fabs(got - clamped(pixel, value));
        return isfinite(value) || error == 0 ? error : INFINITY;
    }
    if (isnan(value)) return isnan(got) ? 0 : INFINITY;
    if (isinf(value) || !isfinite(got)) return got == value ? 0 : INFINITY;
    return fabs(got - value);
}

/* Both results were rounded to f32 when they were stored. */
static double rounding(double value) { return isfinite(value) ? fabs(value) * 0x1p-23 : 0; }

static double limit_of(const gfc_expected *e, double value)
{
    if (e->out.pixel == GF_PIXEL_F32) return e->allowed + rounding(value);
    return HALF + fmax(TIE, e->allowed);
}

/* How much of the error counts against the allowance. */
static double ratio_of(const gfc_expected *e, double error, double limit)
{
    double base = e->out.pixel == GF_PIXEL_F32 ? 0 : HALF;
    if (error <= base) return 0;
    return (error - base) / (limit - base);
}

/* The other branch of an unsharp mask is right too where |amount * d| is near its threshold. */
static double other_branch(const gfc_expected *e, size_t i, double got)
{
    double src = gfc_pixel_get(e->src, e->src_pixel, i), sharp = e->sharpened[i];
    double off = fabs(fabs(sharp - src) - e->step);
    if (!(off <= e->step_allowed + rounding(sharp))) return INFINITY;
    return fmin(error_of(e->out.pixel, got, src), error_of(e->out.pixel, got, sharp));
}

bool gfc_compare(const gfc_expected *e, const void *pixels, gfc_verdict *verdict)
{
    *verdict = (gfc_verdict){ .ratio = 0 };
    size_t n = (size_t)e->out.width * (size_t)e->out.height;
    double worst = -1;
    for (size_t i = 0; i < n; i++) {
        double value = e->value[i], got = gfc_pixel_get(pixels, e->out.pixel, i);
        double error = error_of(e->out.pixel, got, value), limit = limit_of(e, value);
        if (error > limit && e->sharpened) error = fmin(error, other_branch(e, i, got));
        double ratio = ratio_of(e, error, limit);
        verdict->ratio = fmax(verdict->ratio, ratio);
        if (error <= limit) continue;
        verdict->bad++;
        if (ratio <= worst) continue;
        worst = ratio;
        verdict->worst = i;
        verdict->got = got, verdict->expected = value;
        verdict->error = error, verdict->allowed = limit;
    }
    return verdict->bad == 0;
}
