/* Separable windows of u16 and f32 images on tensor cores: kernels/wide.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/halves.h"
#include "filters/kimage.h"
#include "kernels/wide.variants.h"

enum { GROUP = 8, LEAD_STEP = 4, LANES = 32 };

/* How a window is laid over a strip. */
typedef struct wide_shape {
    int lead;   /* columns from a tile's first one to the first result */
    int groups; /* of eight pixels that eight results see: the kernel's */
    bool broad; /* blocks take most of a multiprocessor's shared memory */
} wide_shape;

/* How an image is shared out: segments of strips. The first strip and the last ones fold columns,
 * which takes time, so that they have segments of half as many rows. */
typedef struct wide_layout {
    int strips;
    int rows; /* of a segment */
    int edges, edge_rows;
    int64_t blocks;
    double steps; /* one after the other on a multiprocessor */
} wide_layout;

typedef struct wide_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    wide_shape shape;
    size_t weight_bytes;
    void *weights;     /* device memory */
    gf_wide_args args; /* complete but for the images */
} wide_state;

/* ---- shape --------------------------------------------------------------------------------- */

/* The least G of the kernels for such pixels that is not below; 0 if there is none. */
static int kernel_groups(gf_pixel pixel, int groups)
{
#define GROUPS_OF(G) (G),
    static const int f32[] = { GF_WIDE_VARIANTS_F32(GROUPS_OF) 0 };
    static const int u16[] = { GF_WIDE_VARIANTS_U16(GROUPS_OF) 0 };
#undef GROUPS_OF
    const int *have = pixel == GF_PIXEL_U16 ? u16 : f32;
    while (*have && *have < groups) have++;
    return *have;
}

static size_t shared_bytes(const gfi_request *request, const wide_shape *shape)
{
    const size_t bytes = gf_pixel_bytes(request->in.pixel), g = (size_t)shape->groups;
    return GF_WIDE_SHARED_BYTES(g, bytes, (size_t)shape->broad);
}

/* Whether there is a kernel of broad blocks, and the chip has memory for them. */
static bool may_be_broad(const gfi_request *request, int groups)
{
#define IS_OF(G) groups == (G) ||
    if (request->in.pixel != GF_PIXEL_F32 || !(GF_WIDE_VARIANTS_BROAD(IS_OF) false)) return false;
#undef IS_OF
    const wide_shape broad = { .groups = groups, .broad = true };
    return shared_bytes(request, &broad) <= gfi_window_chip(request).shared_bytes_block;
}

/* Blocks that a multiprocessor runs at a time. */
static int resident(const gfi_request *request, const wide_shape *shape)
{
    enum { SYSTEM_BYTES = 1024 }; /* shared memory that each block takes for itself */
    const gfi_chip chip = gfi_window_chip(request);
    const size_t by_shared = chip.shared_bytes_sm / (shared_bytes(request, shape) + SYSTEM_BYTES);
    const int blocks =
        GF_WIDE_BLOCKS(shape->groups, gf_pixel_bytes(request->in.pixel), shape->broad);
    return by_shared < (size_t)blocks ? (by_shared > 1 ? (int)by_shared : 1) : blocks;
}

/* The layout with segments of so many steps, of `steps` in all; of the strips `inner` fold nothing.
 */
static wide_layout layout_with(const wide_shape *shape, int64_t strips, int64_t inner,
                               int64_t steps, int64_t rows)
{
    enum { APART = 2 }; /* inner strips from which on the edges are worth it */
    const int64_t segments = gfi_divide_up(steps, rows);
    const int64_t edge_rows = shape->broad ? gfi_divide_up(3 * rows, 4) : gfi_divide_up(rows, 2);
    const int64_t edges = inner < APART ? 0 : (strips - inner) * gfi_divide_up(steps, edge_rows);
    return (wide_layout){ .strips = (int)strips,
                          .rows = (int)rows * GF_WIDE_STEP,
                          .edges = (int)edges,
                          .edge_rows = (int)edge_rows * GF_WIDE_STEP,
                          .blocks = edges + (edges ? inner : strips) * segments };
}

/* The number of segments whose waves of blocks take the fewest steps. A block goes through more
 * steps than it has rows for, and waits for its first pixels. */
static wide_layout layout_of(const gfi_request *request, const wide_shape *shape)
{
    enum { START = 1 };
    const int64_t groups = shape->groups;
    const int64_t width = request->out.width;
    const int64_t strips = gfi_divide_up(width, GF_WIDE_WIDTH(groups, shape->broad));
    const int64_t inner = GF_WIDE_INNER_END(groups, shape->broad, shape->lead, width) - 1;
    const int64_t steps = gfi_divide_up(request->out.height, GF_WIDE_STEP);
    const int64_t wave =
        (int64_t)gfi_window_chip(request).multiprocessors * resident(request, shape);
    const int64_t most = steps < 2 * wave ? steps : 2 * wave;
    wide_layout best = { .steps = INFINITY };
    for (int64_t segments = 1; segments <= most; segments++) {
        const int64_t rows = gfi_divide_up(steps, segments);
        wide_layout one = layout_with(shape, strips, inner, steps, rows);
        one.steps =
            (double)(gfi_divide_up(one.blocks, wave) * (rows + GF_WIDE_AHEAD(groups) + START));
        if (one.steps < best.steps) best = one;
    }
    return best;
}

/* A step, all of a multiprocessor's warps together. 2026-11-30, H200, 8192^2: f32 17 taps 0.167 ms,
 * 41 0.235, 65 0.322, 129 0.519, in broad blocks 81 0.348, 97 0.388; u16 0.136, 0.202, 0.276. */
static double step_ns(const gfi_request *request, const wide_shape *shape)
{
    const int groups = shape->groups;
    const double warps = (double)GF_WIDE_WARPS(groups, shape->broad) * resident(request, shape);
    if (request->in.pixel == GF_PIXEL_U16) return warps * (80 + 15.8 * groups);
    return warps * (shape->broad ? 118 + 18.5 * groups : 86 + 24.0 * groups);
}

static double work_ns(const gfi_request *request, const wide_shape *shape)
{
    return layout_of(request, shape).steps * step_ns(request, shape);
}

static wide_shape shape_of(const gfi_request *request)
{
    const gfi_window *w = request->window;
    wide_shape shape = { .lead = gfi_round_up(w->ax, LEAD_STEP) };
    const int across = shape.lead - w->ax + w->kw;
    const int64_t most = (across > w->kh ? across : w->kh) + (int64_t)GROUP - 1;
    const int64_t groups = gfi_divide_up(most, GROUP);
    shape.groups = groups > GF_WIDE_MOST ? 0 : kernel_groups(request->in.pixel, (int)groups);
    if (!may_be_broad(request, shape.groups)) return shape;
    wide_shape broad = shape;
    broad.broad = true;
    return work_ns(request, &broad) < work_ns(request, &shape) ? broad : shape;
}

/* ---- weights ------------------------------------------------------------------------------- */

/* One axis of the window as a band: place i has tap i - shift. */
typedef struct band {
    const double *taps;
    int n_taps, shift;
    double scale;
} band;

static double band_entry(const band *b, int place)
{
    const int i = place - b->shift;
    return i >= 0 && i < b->n_taps ? b->taps[i] * b->scale : 0;
}

enum { WORDS = 4 };

static void put_halves(const band *b, int place, uint32_t *high, uint32_t *low)
{
    gfi_halves_put(band_entry(b, place), band_entry(b, place + 1), high, low);
}

/* The upper bits of a float, rounded half away from zero: `lower` fewer of them. */
static uint32_t short_float(double v, int lower, double *value)
{
    const float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits = (bits + (UINT32_C(1) << (lower - 1))) & ~((UINT32_C(1) << lower) - 1);
    float rounded;
    memcpy(&rounded, &bits, sizeof rounded);
    *value = rounded;
    return bits;
}

/* tf32, and what that leaves of a tap. */
static uint32_t tf32_high(double tap, double *rest)
{
    enum { LOWER = 13 };
    double rounded;
    const uint32_t bits = short_float(tap, LOWER, &rounded);
    *rest = tap - rounded;
    return bits;
}

/* What tf32 leaves of two taps, in bfloat16. */
static uint32_t bf16_rests(double first, double second)
{
    enum { LOWER = 16 };
    double a, b, unused;
    tf32_high(first, &a);
    tf32_high(second, &b);
    return short_float(a, LOWER, &unused) >> LOWER | short_float(b, LOWER, &unused);
}

typedef uint32_t words[LANES][WORDS];

/* The weights as wide.variants.h has them: the first operands of an m16n8k16 or m16n8k8, whose
 * words 1 and 3 are eight rows down and 2 and 3 half the columns on; */
static void fill_along_u16(const band *b, int groups, words *to)
{
    const int products = GF_WIDE_PRODUCTS(groups, 2);
    for (int i = 0; i < products; i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int k = 0; k < WORDS; k++) {
                const int result = lane / 4 * 2 + k % 2;
                put_halves(b, 16 * i + lane % 4 * 2 + k / 2 * 8 - result, &to[i][lane][k],
                           &to[products + i][lane][k]);
            }
}

static void fill_along_f32(const band *b, int groups, words *to)
{
    const int products = GF_WIDE_PRODUCTS(groups, 4);
    double unused;
    for (int i = 0; i < products; i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int k = 0; k < WORDS; k++) {
                const int place = GROUP * i + lane % 4 - (lane / 4 * 2 + k % 2);
                to[i][lane][k] = tf32_high(band_entry(b, place + k / 2 * 4), &unused);
            }
    for (int i = 0; i < GF_WIDE_LOW_PRODUCTS(groups, 4); i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int k = 0; k < WORDS; k++) {
                const int place = GROUP * (2 * i + k / 2) + lane % 4 - (lane / 4 * 2 + k % 2);
                to[products + i][lane][k] =
                    bf16_rests(band_entry(b, place), band_entry(b, place + 4));
            }
}

/* and the second operands. */
static void fill_down_u16(const band *b, int groups, words *to)
{
    for (int i = 0; i <= groups; i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int k = 0; k < 2; k++)
                put_halves(b, GROUP * (i - 1 + k) + lane % 4 * 2 - lane / 4, &to[i][lane][k],
                           &to[i][lane][2 + k]);
}

static void fill_down_f32(const band *b, int groups, words *to)
{
    double unused;
    for (int i = 0; i <= groups; i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int k = 0; k < 2; k++) {
                const int first = GROUP * (i - 1) + lane % 4 * 2 - lane / 4;
                const int two = first + GROUP * k;
                to[i][lane][k] = tf32_high(band_entry(b, first + k), &unused);
                to[i][lane][2 + k] = bf16_rests(band_entry(b, two), band_entry(b, two + 1));
            }
}

static bool fits_tf32(const double *taps, int n)
{
    double rest = 0;
    for (int i = 0; i < n && rest == 0; i++) tf32_high(taps[i], &rest);
    return rest == 0;
}

/* u16 pixels come times 2^-24; taps are scaled so that binary16 holds them well. Those for f32
 * pixels are scaled so that the largest is 1: equal ones then have no low parts. Those that have
 * none as they are, such as small whole numbers, keep their digits. */
static double scale_of(gf_pixel pixel, const double *taps, int n, int bits)
{
    double most = 0;
    if (pixel == GF_PIXEL_U16) return ldexp(1, gfi_halves_exponent(taps, n, bits));
    for (int i = 0; i < n; i++)
        if (fabs(taps[i]) > most) most = fabs(taps[i]);
    if (most == 0) return 1;
    return fits_tf32(taps, n) ? ldexp(1, -ilogb(most)) : 1 / most;
}

static void make_bands(const gfi_request *request, const wide_shape *shape, band *along, band *down)
{
    const gfi_window *w = request->window;
    const gfi_term *term = &w->term[0];
    const gf_pixel pixel = request->in.pixel;
    *along = (band){ .taps = term->row,
                     .n_taps = w->kw,
                     .shift = shape->lead - w->ax,
                     .scale = scale_of(pixel, term->row, w->kw, 13) };
    *down =
        (band){ .taps = term->col, .n_taps = w->kh, .scale = scale_of(pixel, term->col, w->kh, 8) };
}

static size_t band_bytes(const gfi_request *request, int groups)
{
    const size_t bytes = gf_pixel_bytes(request->in.pixel), g = (size_t)groups;
    return GF_WIDE_WEIGHT_BYTES(g, bytes);
}

static gf_status upload_weights(const gfi_request *request, const band *along, const band *down,
                                wide_state *s)
{
    const int groups = s->shape.groups;
    const size_t bytes = band_bytes(request, groups);
    const size_t pixel_bytes = gf_pixel_bytes(request->in.pixel);
    unsigned char *host = gfi_alloc_zero(s->weight_bytes, 1, "weights");
    if (!host) return GF_ERROR_NO_MEMORY;
    void *const second = host + GF_WIDE_ALONG_BYTES((size_t)groups, pixel_bytes);
    if (request->in.pixel == GF_PIXEL_U16) {
        fill_along_u16(along, groups, (void *)host);
        fill_down_u16(down, groups, second);
    } else {
        fill_along_f32(along, groups, (void *)host);
        fill_down_f32(down, groups, second);
    }
    double *taps = (void *)(host + bytes);
    for (int i = 0; i < along->n_taps; i++) *taps++ = along->taps[i];
    for (int i = 0; i < down->n_taps; i++) *taps++ = down->taps[i];
    const gf_status status =
        gfi_window_upload_bytes(request->queue, host, s->weight_bytes, &s->weights);
    gfi_free(host);
    return status;
}

/* ---- choice -------------------------------------------------------------------------------- */

/* Powers of two that floats hold with room to spare. */
static bool taps_in_range(const gfi_window *w)
{
    enum { MOST = 40 };
    const gfi_term *term = &w->term[0];
    return isfinite(w->abs_sum) && abs(gfi_halves_exponent(term->row, w->kw, 0)) <= MOST &&
           abs(gfi_halves_exponent(term->col, w->kh, 0)) <= MOST;
}

/* What tf32 leaves of the taps counts to eight bits only. A flat image shows it in full. */
static bool rests_small(const double *taps, int n)
{
    const band b = { .taps = taps, .n_taps = n, .scale = scale_of(GF_PIXEL_F32, taps, n, 0) };
    double sum = 0, size = 0, rest;
    for (int i = 0; i < n; i++) {
        tf32_high(band_entry(&b, i), &rest);
        sum += rest;
        size += fabs(band_entry(&b, i));
    }
    return fabs(sum) <= 0x1p-13 * size;
}

static bool window_fits(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (!gfi_window_one_term(w, why)) return false;
    if (shape_of(request).groups == 0)
        return gfi_window_unusable(why, "a window of %dx%d is too long", w->kw, w->kh);
    if (!taps_in_range(w)) return gfi_window_unusable(why, "the taps are too large or too small");
    const gfi_term *term = &w->term[0];
    if (request->in.pixel == GF_PIXEL_F32 &&
        !(rests_small(term->row, w->kw) && rests_small(term->col, w->kh)))
        return gfi_window_unusable(why, "the taps are not exact enough in short floats");
    return true;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gf_pixel pixel = request->in.pixel;
    if (pixel != GF_PIXEL_U16 && pixel != GF_PIXEL_F32)
        return gfi_window_unusable(why, "pixels are %s, u16 and f32 serve", gf_pixel_name(pixel));
    /* what products cut off is little of a level, but not of the pixels of a dark image */
    if (pixel == GF_PIXEL_U16 && request->out.pixel == GF_PIXEL_F32)
        return gfi_window_unusable(why, "sums of u16 pixels are not exact enough as f32 ones");
    if (!gfi_window_has_tensor(request, why) || !gfi_window_border_whole(request, why))
        return false;
    if (!window_fits(request, why) || !gfi_window_countable(request, why)) return false;
    const wide_shape shape = shape_of(request);
    const wide_layout layout = layout_of(request, &shape);
    if (layout.blocks > INT32_MAX)
        return gfi_window_unusable(why, "the image is too large for one launch");
    if (shared_bytes(request, &shape) > gfi_window_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a block takes %zu bytes of shared memory",
                                   shared_bytes(request, &shape));
    return true;
}

static double cost_ns(const gfi_request *request)
{
    const gfi_chip chip = gfi_window_chip(request);
    const wide_shape shape = shape_of(request);
    return gfi_launch_bound_ns(&chip, work_ns(request, &shape), gfi_window_bytes(request));
}

/* ---- prepare and run ----------------------------------------------------------------------- */

static void fill_args(const gfi_request *request, const wide_layout *layout, const band *along,
                      const band *down, wide_state *s)
{
    enum { U16_EXPONENT = 14 }; /* 24 less 10 between the passes */
    const gfi_window *w = request->window;
    const int up = request->in.pixel == GF_PIXEL_U16 ? U16_EXPONENT : 0;
    s->args =
        (gf_wide_args){ .combine = gfi_window_combine(request),
                        .weights = s->weights,
                        .taps = (void *)((char *)s->weights + band_bytes(request, s->shape.groups)),
                        .kw = w->kw,
                        .kh = w->kh,
                        .ax = w->ax,
                        .ay = w->ay,
                        .border = (int)w->border,
                        .border_value = (float)w->border_value,
                        .factor = (float)(ldexp(1, up) / along->scale / down->scale),
                        .lead = s->shape.lead,
                        .strips = layout->strips,
                        .rows = layout->rows,
                        .edges = layout->edges,
                        .edge_rows = layout->edge_rows };
}

static void destroy(const gfi_request *request, void *state)
{
    wide_state *s = state;
    if (s->weights) gfi_device_free(request->queue, s->weights);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    wide_state *s = state;
    char name[32];
    band along, down;
    s->shape = shape_of(request);
    s->weight_bytes = band_bytes(request, s->shape.groups) +
                      ((size_t)request->window->kw + (size_t)request->window->kh) * sizeof(double);
    const wide_layout layout = layout_of(request, &s->shape);
    const bool broad = s->shape.broad;
    s->config =
        (gfi_launch_config){ .grid = { (unsigned)layout.blocks, 1, 1 },
                             .block = { (unsigned)GF_WIDE_THREADS(s->shape.groups, broad), 1, 1 },
                             .shared_bytes = shared_bytes(request, &s->shape) };
    snprintf(name, sizeof name, "gf_wide_%s_%d", broad ? "broad" : gf_pixel_name(request->in.pixel),
             s->shape.groups);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel));
    make_bands(request, &s->shape, &along, &down);
    GFI_TRY(upload_weights(request, &along, &down, s));
    fill_args(request, &layout, &along, &down, s);
    return GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    wide_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static size_t memory_bytes(const void *state) { return ((const wide_state *)state)->weight_bytes; }

static void describe(const void *state, char *out, size_t n_bytes)
{
    const wide_state *s = state;
    snprintf(out, n_bytes, "%d groups of eight, strips of %d rows, %zu KB shared", s->shape.groups,
             s->args.rows, (s->config.shared_bytes + 1023) / 1024);
}

const gf_impl gfi_window_cuda_wide = { .name = "cuda-wide",
                                       .backend = GF_BACKEND_CUDA,
                                       .batches = true,
                                       .fuses = true,
                                       .usable = usable,
                                       .cost_ns = cost_ns,
                                       .state_bytes = sizeof(wide_state),
                                       .prepare = prepare,
                                       .run = run,
                                       .destroy = destroy,
                                       .memory_bytes = memory_bytes,
                                       .describe = describe };
