/* Pixels of the test images. */
#include "gfcheck.h"

#include <float.h>
#include <string.h>

static const char *const names[GFC_PATTERNS] = { "noise", "near-zero", "near-max", "impulse",
                                                 "ramp",  "checker",   "constant", "tiny",
                                                 "huge",  "spike",     "nan",      "inf",
                                                 "mixed" };

const char *gfc_pattern_name(gfc_pattern pattern) { return names[pattern]; }

/* What the pixels of one image are drawn from. */
typedef struct source {
    uint64_t random;
    bool whole;    /* integer pixels */
    bool negative; /* f32 noise on both sides of 0, as it lies between the stages of a chain */
    double white, huge, level;
    int32_t width, height;
} source;

static double noise(source *s)
{
    if (s->whole) return gfc_below(&s->random, (int)s->white + 1);
    return s->white * (s->negative ? 2 * gfc_unit(&s->random) - 1 : gfc_unit(&s->random));
}

/* Values whose squares and products leave the range of normal floats. */
static double tiny(source *s)
{
    static const double scales[] = { 1e-20, 1e-25, 1e-38, 3e-42 };
    return scales[gfc_below(&s->random, 4)] * (2 * gfc_unit(&s->random) - 1);
}

static double pixel_at(source *s, gfc_pattern pattern, int32_t x, int32_t y)
{
    double step = s->whole ? 1 : s->white / 1024;
    switch (pattern) {
    case GFC_NEAR_ZERO: return step * gfc_below(&s->random, 3);
    case GFC_NEAR_MAX: return s->white - step * gfc_below(&s->random, 3);
    case GFC_IMPULSE: {
        bool edge_x = x == 0 || x == s->width - 1, edge_y = y == 0 || y == s->height - 1;
        return (edge_x && edge_y) || (x == s->width / 2 && y == s->height / 2) ? s->white : 0;
    }
    case GFC_RAMP: return fmod(step * (3 * (double)x + 7 * (double)y), s->white + step);
    case GFC_CHECKER: return (x + y) % 2 ? s->white : 0;
    case GFC_CONSTANT: return s->level;
    case GFC_TINY: return tiny(s);
    case GFC_HUGE: return s->huge * (2 * gfc_unit(&s->random) - 1);
    default: return noise(s);
    }
}

static void put(void *pixels, gf_pixel pixel, size_t i, double value)
{
    if (pixel == GF_PIXEL_U8)
        ((uint8_t *)pixels)[i] = (uint8_t)value;
    else if (pixel == GF_PIXEL_U16)
        ((uint16_t *)pixels)[i] = (uint16_t)value;
    else
        ((float *)pixels)[i] = (float)value;
}

double gfc_pixel_get(const void *pixels, gf_pixel pixel, size_t i)
{
    if (pixel == GF_PIXEL_U8) return ((const uint8_t *)pixels)[i];
    if (pixel == GF_PIXEL_U16) return ((const uint16_t *)pixels)[i];
    return ((const float *)pixels)[i];
}

enum { MARKS = 3 };

/* Places and values that the last patterns put over the noise; returns their number. */
static int marks(const gfc_case *one, gfc_pattern pattern, size_t place[MARKS], double value[MARKS])
{
    if (pattern < GFC_SPIKE) return 0;
    uint64_t random = one->seed ^ 0x6d61726b73u;
    size_t n_pixels = (size_t)one->width * (size_t)one->height;
    int n = pattern == GFC_MIXED ? MARKS : 1 + gfc_below(&random, 2);
    for (int i = 0; i < n; i++) {
        place[i] = (size_t)(gfc_next(&random) % n_pixels);
        double mixed[MARKS] = { NAN, INFINITY, -INFINITY };
        value[i] = pattern == GFC_SPIKE ? 1e8 * one->white
                   : pattern == GFC_NAN ? NAN
                   : pattern == GFC_INF ? INFINITY
                                        : mixed[i];
    }
    return n;
}

void gfc_pattern_fill(const gfc_case *one, gfc_pattern pattern, double huge, void *pixels)
{
    source s = { .random = one->seed,
                 .whole = one->in != GF_PIXEL_F32,
                 .white = one->in == GF_PIXEL_F32 ? one->white : gf_pixel_white(one->in),
                 .huge = huge,
                 .width = one->width,
                 .height = one->height };
    s.level = noise(&s);
    s.negative = gfc_below(&s.random, 2);
    size_t i = 0;
    for (int32_t y = 0; y < one->height; y++)
        for (int32_t x = 0; x < one->width; x++)
            put(pixels, one->in, i++, pixel_at(&s, pattern, x, y));
    size_t place[MARKS];
    double value[MARKS];
    for (int k = marks(one, pattern, place, value) - 1; k >= 0; k--)
        put(pixels, one->in, place[k], value[k]);
}

void gfc_pattern_marks(const gfc_case *one, float *pixels)
{
    memset(pixels, 0, (size_t)one->width * (size_t)one->height * sizeof *pixels);
    size_t place[MARKS];
    double value[MARKS];
    for (int k = marks(one, one->pattern, place, value) - 1; k >= 0; k--) pixels[place[k]] = NAN;
}
