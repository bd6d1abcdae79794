#include "filters/normalize.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/image.h"
#include "filters/pixels.h"

typedef struct range {
    double lo, hi, out_low, out_high;
} range;

/* The two order statistics around a percentile of n sorted values, and how far between them. */
typedef struct rank {
    size_t below, above;
    double fraction;
} rank;

static rank rank_of(double percent, size_t n)
{
    const double at = percent / 100 * (double)(n - 1);
    rank r = { .below = (size_t)at };
    r.fraction = at - (double)r.below;
    r.above = r.fraction > 0 ? r.below + 1 : r.below;
    return r;
}

static double between(double below, double above, double fraction)
{
    return fraction > 0 ? below + (above - below) * fraction : below;
}

static range empty_range(const gfi_request *request)
{
    const gfi_normalize *p = request->params;
    range r = { NAN, NAN, isnan(p->out_low) ? 0 : p->out_low, 0 };
    r.out_high = gfi_first_set(p->out_high, p->white, request->white);
    return r;
}

static double map(const range *r, double x)
{
    if (isnan(x)) return x;
    if (!(r->hi > r->lo)) return r->out_low;
    const double v = (x - r->lo) * (r->out_high - r->out_low) / (r->hi - r->lo) + r->out_low;
    const double least = fmin(r->out_low, r->out_high), most = fmax(r->out_low, r->out_high);
    return v < least ? least : v > most ? most : v;
}

/* ---- the reference: sort everything ------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double at_rank(const double *sorted, size_t n, double percent)
{
    const rank r = rank_of(percent, n);
    return between(sorted[r.below], sorted[r.above], r.fraction);
}

static gf_status ref_run(const gfi_request *request, void *state, const gf_view *src,
                         const gf_view *dst)
{
    const gfi_normalize *p = request->params;
    (void)state;
    double *values =
        gfi_alloc((size_t)src->width * (size_t)src->height, sizeof *values, "normalize");
    if (!values) return GF_ERROR_NO_MEMORY;
    size_t n = 0;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++) {
            const double v = gfi_get(gfi_row(src, y), src->pixel, x);
            if (!isnan(v)) values[n++] = v;
        }
    qsort(values, n, sizeof *values, compare);
    range r = empty_range(request);
    if (n) r.lo = at_rank(values, n, p->low_percent), r.hi = at_rank(values, n, p->high_percent);
    gfi_free(values);
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++)
            gfi_put(gfi_row(dst, y), dst->pixel, x,
                    map(&r, gfi_get(gfi_row(src, y), src->pixel, x)));
    return GF_OK;
}

static const gf_impl ref = { .name = "ref", .backend = GF_BACKEND_CPU, .run = ref_run };

/* ---- fast: radix select, 16 bits of the sort key at a time ------------------------------- */

enum { BINS = 65536, BLOCK = 512, N_RANKS = 4 };

typedef struct selection {
    uint64_t *counts; /* BINS a thread */
    int threads;
} selection;

/* Keys order like the floats they are made of; -0 and 0 are equal. */
static uint32_t key_of(float v)
{
    uint32_t u;
    v += 0.0f;
    memcpy(&u, &v, sizeof u);
    return u & 0x80000000u ? ~u : u | 0x80000000u;
}

static float value_of(uint32_t key)
{
    uint32_t u = key & 0x80000000u ? key & 0x7fffffffu : ~key;
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}

/* Count a row's keys: by their high half when high is negative, else by the low half of those
 * whose high half it is. */
static void count_row(const void *row, gf_pixel pixel, int width, int high, uint64_t *counts)
{
    float v[BLOCK];
    for (int x = 0, n; x < width; x += n) {
        n = width - x < BLOCK ? width - x : BLOCK;
        gfi_load_f32(row, pixel, x, n, v);
        for (int i = 0; i < n; i++) {
            if (isnan(v[i])) continue;
            const uint32_t key = key_of(v[i]);
            if (high < 0)
                counts[key >> 16]++;
            else if ((int)(key >> 16) == high)
                counts[key & 0xffff]++;
        }
    }
}

/* Histogram of the image in s->counts[0 … BINS). */
static void count_image(const selection *s, const gf_view *src, int high)
{
    memset(s->counts, 0, (size_t)s->threads * BINS * sizeof *s->counts);
#pragma omp parallel for num_threads(s->threads) schedule(static, 1)
    for (int t = 0; t < s->threads; t++)
        for (int64_t y = t; y < src->height; y += s->threads)
            count_row(gfi_row(src, (int32_t)y), src->pixel, src->width, high,
                      s->counts + (size_t)t * BINS);
    for (int t = 1; t < s->threads; t++)
        for (int i = 0; i < BINS; i++) s->counts[i] += s->counts[(size_t)t * BINS + (size_t)i];
}

/* The bin that holds the value of a rank; *within becomes its rank in the bin. */
static int find_bin(const uint64_t *counts, size_t *within)
{
    int bin = 0;
    while (*within >= counts[bin]) *within -= counts[bin++];
    return bin;
}

static void select_ranks(const selection *s, const gf_view *src, const size_t ranks[N_RANKS],
                         double out[N_RANKS])
{
    size_t within[N_RANKS];
    int high[N_RANKS];
    for (int k = 0; k < N_RANKS; k++) {
        within[k] = ranks[k];
        high[k] = find_bin(s->counts, &within[k]);
    }
    for (int k = 0; k < N_RANKS; k++) {
        if (!k || high[k] != high[k - 1]) count_image(s, src, high[k]);
        const int low = find_bin(s->counts, &within[k]);
        out[k] = (double)value_of((uint32_t)high[k] << 16 | (uint32_t)low);
    }
}

static range find_range(const gfi_request *request, const selection *s, const gf_view *src)
{
    const gfi_normalize *p = request->params;
    range r = empty_range(request);
    count_image(s, src, -1);
    size_t n = 0;
    for (int i = 0; i < BINS; i++) n += s->counts[i];
    if (!n) return r;
    const rank low = rank_of(p->low_percent, n), high = rank_of(p->high_percent, n);
    const size_t ranks[N_RANKS] = { low.below, low.above, high.below, high.above };
    double v[N_RANKS];
    select_ranks(s, src, ranks, v);
    r.lo = between(v[0], v[1], low.fraction);
    r.hi = between(v[2], v[3], high.fraction);
    return r;
}

static void map_row(const range *r, const void *src, gf_pixel in, void *dst, gf_pixel out,
                    int width)
{
    float v[BLOCK];
    for (int x = 0, n; x < width; x += n) {
        n = width - x < BLOCK ? width - x : BLOCK;
        gfi_load_f32(src, in, x, n, v);
        for (int i = 0; i < n; i++) v[i] = (float)map(r, (double)v[i]);
        gfi_store_f32(dst, out, x, n, v);
    }
}

static gf_status prepare(const gfi_request *request, void *state)
{
    selection *s = state;
    s->threads = request->threads;
    s->counts = gfi_alloc((size_t)s->threads, BINS * sizeof *s->counts, "normalize histogram");
    return s->counts ? GF_OK : GF_ERROR_NO_MEMORY;
}

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    gfi_free(((selection *)state)->counts);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    const range r = find_range(request, state, src);
#pragma omp parallel for num_threads(request->threads) schedule(static)
    for (int y = 0; y < dst->height; y++)
        map_row(&r, gfi_row(src, y), src->pixel, gfi_row(dst, y), dst->pixel, dst->width);
    return GF_OK;
}

static size_t memory_bytes(const void *state)
{
    return (size_t)((const selection *)state)->threads * BINS * sizeof(uint64_t);
}

static double cost_ns(const gfi_request *request)
{
    /* 2-core x86-64 with AVX-512, 2026-11: two or more counting passes and the mapping */
    return 2e5 + 6.0 * request->out.width * request->out.height / request->threads;
}

static const gf_impl fast = { .name = "select",
                              .backend = GF_BACKEND_CPU,
                              .cost_ns = cost_ns,
                              .state_bytes = sizeof(selection),
                              .prepare = prepare,
                              .run = run,
                              .destroy = destroy,
                              .memory_bytes = memory_bytes };

/* ---- the definition ----------------------------------------------------------------------- */

typedef gfi_normalize normalize;

static const gf_param params[] = {
    GFI_FLOAT(normalize, low_percent, "low-percent", "%", 0, 100, 0, "0", GF_PARAM_POSITIONAL,
              "Percentile that becomes out-low; 0: the minimum."),
    GFI_FLOAT(normalize, high_percent, "high-percent", "%", 0, 100, 100, "100", GF_PARAM_POSITIONAL,
              "Percentile that becomes out-high; 100: the maximum."),
    GFI_FLOAT(normalize, out_low, "out-low", "levels", GFI_NO_MIN, GFI_NO_MAX, 0, "0", 0,
              "Result at the low percentile."),
    GFI_FLOAT(normalize, out_high, "out-high", "levels", GFI_NO_MIN, GFI_NO_MAX, GFI_UNSET, "white",
              GF_PARAM_OPTIONAL, "Result at the high percentile."),
    GFI_WHITE(normalize),
    GFI_BORDER_PARAMS(normalize),
};

static gf_status validate(const void *params_)
{
    const normalize *p = params_;
    if (p->low_percent >= p->high_percent)
        return gfi_fail(GF_ERROR_RANGE, "low-percent: %g is not < high-percent (%g)",
                        p->low_percent, p->high_percent);
    return GF_OK;
}

/* The result's scale; lo and hi themselves are known to 2^-24 of the pixels. */
static double tolerance(const gfi_request *request, double max_abs)
{
    const range r = empty_range(request);
    (void)max_abs;
    return 0x1p-20 * (fabs(r.out_low) + fabs(r.out_high));
}

static const char *const cases[] = { "", "1:99",
                                     "low-percent=10:high-percent=60:out-low=20:out-high=200",
                                     NULL };

static const gf_impl *const impls[] = { &ref, &fast, &gfi_normalize_cuda, NULL };

const gf_filter_def gfi_filter_normalize = {
    .info = { .name = "normalize",
              .group = "point",
              .summary = "Stretch the image's own range, or percentiles of it, to the full scale.",
              .doc = "lo and hi are percentiles of the pixels that are not NaN (linear "
                     "interpolation between ranks, as "
                     "numpy.percentile); dst = (src - lo) / (hi - lo) * (out-high - out-low) + "
                     "out-low, limited to that range. "
                     "An image without range gives out-low; NaN stays NaN.",
              .source = "R. Hyndman, Y. Fan, Sample quantiles in statistical packages, The "
                        "American Statistician 50 (1996), "
                        "definition 7.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(normalize),
    .scope = GFI_SCOPE_IMAGE,
    .validate = validate,
    .tolerance = tolerance,
    .cases = cases,
    .impls = impls,
};
