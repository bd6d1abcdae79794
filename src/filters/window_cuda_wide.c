/* Separable windows of u16 and f32 images on tensor cores: kernels/wide.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/halves.h"
#include "filters/kimage.h"
#include "kernels/wide.variants.h"

enum { GROUP = 16, LEAD_STEP = 4, LANES = 32 };

/* How a window is laid over a strip. */
typedef struct wide_shape {
    int lead; /* columns from a tile's first one to the first result */
    int n;    /* products of sixteen that a result needs */
} wide_shape;

/* How an image is shared out: segments of strips. */
typedef struct wide_layout {
    int strips, segments;
    int rows;     /* of a segment */
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

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static wide_shape shape_of(const gfi_window *w)
{
    wide_shape shape = { .lead = gfi_round_up(w->ax, LEAD_STEP) };
    const int across = GROUP + shape.lead - w->ax + w->kw - 1, down = GROUP + w->kh - 1;
    shape.n = gfi_round_up(across > down ? across : down, GROUP) / GROUP;
    if (shape.n < GF_WIDE_LEAST) shape.n = GF_WIDE_LEAST;
    return shape;
}

static size_t shared_bytes(const gfi_request *request, int n)
{
    const size_t bytes = gf_pixel_bytes(request->in.pixel);
    return GF_WIDE_SHARED_BYTES((size_t)n, bytes);
}

/* Blocks that a multiprocessor runs at a time. */
static int resident(const gfi_request *request, int n)
{
    enum { SYSTEM_BYTES = 1024 }; /* shared memory that each block takes for itself */
    const gfi_chip chip = gfi_window_chip(request);
    const int blocks = GF_WIDE_BLOCKS(n, gf_pixel_bytes(request->in.pixel));
    const size_t by_shared = chip.shared_bytes_sm / (shared_bytes(request, n) + SYSTEM_BYTES);
    return by_shared < (size_t)blocks ? (by_shared > 1 ? (int)by_shared : 1) : blocks;
}

/* The number of segments whose waves of blocks take the fewest steps. A block goes through n more
 * steps than it has rows for, and waits for its first pixels. */
static wide_layout layout_of(const gfi_request *request, int n)
{
    enum { START = 3 };
    const size_t bytes = gf_pixel_bytes(request->in.pixel);
    const int64_t strips = divide_up(request->out.width, GF_WIDE_WIDTH(n, bytes));
    const int64_t steps = divide_up(request->out.height, GF_WIDE_STEP);
    const int64_t wave = (int64_t)gfi_window_chip(request).multiprocessors * resident(request, n);
    const int64_t most = steps < 2 * wave ? steps : 2 * wave;
    int64_t best = INT64_MAX, best_rows = steps;
    for (int64_t segments = 1; segments <= most; segments++) {
        const int64_t rows = divide_up(steps, segments);
        const int64_t cost = divide_up(strips * divide_up(steps, rows), wave) * (rows + n + START);
        if (cost >= best) continue;
        best = cost;
        best_rows = rows;
    }
    return (wide_layout){ .strips = (int)strips,
                          .segments = (int)divide_up(steps, best_rows),
                          .rows = (int)best_rows * GF_WIDE_STEP,
                          .steps = (double)best };
}

/* ---- weights ------------------------------------------------------------------------------- */

/* One axis of the window as a band: place i has tap i - shift. */
typedef struct band {
    const double *taps;
    int n_taps, shift;
    int exponent; /* taps are taken times two to this */
} band;

static double band_entry(const band *b, int place)
{
    const int i = place - b->shift;
    return i >= 0 && i < b->n_taps ? ldexp(b->taps[i], b->exponent) : 0;
}

enum { WORDS = 4 };

static void put_halves(const band *b, int place, uint32_t *high, uint32_t *low)
{
    gfi_halves_put(band_entry(b, place), band_entry(b, place + 1), high, low);
}

/* tf32, rounded half away from zero. */
static uint32_t tf32_bits(double v, double *value)
{
    const float f = (float)v;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    bits = (bits + 0x1000u) & 0xffffe000u;
    float rounded;
    memcpy(&rounded, &bits, sizeof rounded);
    *value = rounded;
    return bits;
}

static void put_tf32(const band *b, int place, uint32_t *high, uint32_t *low)
{
    const double tap = band_entry(b, place);
    double rounded, unused;
    *high = tf32_bits(tap, &rounded);
    *low = tf32_bits(tap - rounded, &unused);
}

/* The weights as wide.variants.h has them: the first operands of an m16n8k16 or m16n8k8, whose
 * words 1 and 3 are eight rows down and 2 and 3 half the columns on; */
static void fill_along(const band *b, int n, size_t bytes, uint32_t (*to)[LANES][WORDS])
{
    for (int i = 0; i < GF_WIDE_PRODUCTS(n, bytes); i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int k = 0; k < WORDS; k++) {
                const int t = lane % 4, row = lane / 4 + k % 2 * 8;
                uint32_t *const high = &to[2 * i][lane][k], *const low = &to[2 * i + 1][lane][k];
                if (bytes == 4)
                    put_tf32(b, 8 * i + t + k / 2 * 4 - row, high, low);
                else
                    put_halves(b, 16 * i + 2 * t + k / 2 * 8 - row, high, low);
            }
}

/* and groups of two words that second operands are made of. */
static void fill_down(const band *b, int n, size_t bytes, uint32_t (*to)[LANES][WORDS])
{
    for (int i = 0; i <= GF_WIDE_PRODUCTS(n, bytes); i++)
        for (int lane = 0; lane < LANES; lane++)
            for (int k = 0; k < 2; k++) {
                const int first = lane % 4 * 2 - lane / 4;
                uint32_t *const high = &to[i][lane][k], *const low = &to[i][lane][2 + k];
                if (bytes == 4)
                    put_tf32(b, 8 * (i - 1) + first + k, high, low);
                else
                    put_halves(b, 16 * (i - 1) + first + 8 * k, high, low);
            }
}

/* f32 pixels and taps are taken as they are. u16 pixels come times 2^-14, below 4; sums of them
 * times the taps must not reach binary16's largest, 65504. */
static void make_bands(const gfi_request *request, const wide_shape *shape, band *along, band *down)
{
    const gfi_window *w = request->window;
    const gfi_term *term = &w->term[0];
    const bool halves = request->in.pixel == GF_PIXEL_U16;
    *along = (band){ .taps = term->row,
                     .n_taps = w->kw,
                     .shift = shape->lead - w->ax,
                     .exponent = halves ? gfi_halves_exponent(term->row, w->kw, 13) : 0 };
    *down = (band){ .taps = term->col,
                    .n_taps = w->kh,
                    .exponent = halves ? gfi_halves_exponent(term->col, w->kh, 8) : 0 };
}

static size_t band_bytes(const gfi_request *request, int n)
{
    const size_t bytes = gf_pixel_bytes(request->in.pixel), products = (size_t)n;
    return GF_WIDE_ALONG_BYTES(products, bytes) + GF_WIDE_DOWN_BYTES(products, bytes);
}

static gf_status upload_weights(const gfi_request *request, const band *along, const band *down,
                                wide_state *s)
{
    const int n = s->shape.n;
    const size_t bytes = band_bytes(request, n), pixel_bytes = gf_pixel_bytes(request->in.pixel);
    unsigned char *host = gfi_alloc_zero(s->weight_bytes, 1, "weights");
    if (!host) return GF_ERROR_NO_MEMORY;
    fill_along(along, n, pixel_bytes, (void *)host);
    fill_down(down, n, pixel_bytes, (void *)(host + GF_WIDE_ALONG_BYTES((size_t)n, pixel_bytes)));
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

static bool window_fits(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (!gfi_window_one_term(w, why)) return false;
    const wide_shape shape = shape_of(w);
    if (shape.n > GF_WIDE_MOST)
        return gfi_window_unusable(why, "a window of %dx%d is too long", w->kw, w->kh);
    if (!taps_in_range(w)) return gfi_window_unusable(why, "the taps are too large or too small");
    return true;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gf_pixel pixel = request->in.pixel;
    if (pixel != GF_PIXEL_U16 && pixel != GF_PIXEL_F32)
        return gfi_window_unusable(why, "pixels are %s, u16 and f32 serve", gf_pixel_name(pixel));
    if (!gfi_window_has_tensor(request, why) || !gfi_window_border_whole(request, why))
        return false;
    if (!window_fits(request, why) || !gfi_window_countable(request, why)) return false;
    const int n = shape_of(request->window).n;
    const wide_layout layout = layout_of(request, n);
    if ((int64_t)layout.strips * layout.segments > INT32_MAX)
        return gfi_window_unusable(why, "the image is too large for one launch");
    if (shared_bytes(request, n) > gfi_window_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a block takes %zu bytes of shared memory",
                                   shared_bytes(request, n));
    return true;
}

/* A step, all of a multiprocessor's blocks together. 2026-11-30, H200, 8192^2: f32 9 and 17 taps
 * 0.231 ms, 41 0.437, 81 0.657, box 101 0.889; u16 0.190, 0.274, 0.388, 0.506; n = 5 and 7 are
 * between. Results one by one: f32 unsharp of 17 taps 0.678; u8 results predicted. */
static double step_ns(const gfi_request *request, int n)
{
    static const double f32[GF_WIDE_MOST + 1] = { 0, 0, 1700, 1780, 2430, 3000, 3620, 4200, 4860 };
    static const double u16[GF_WIDE_MOST + 1] = { 0, 0, 1390, 1610, 1990, 1850, 2130, 2450, 2750 };
    static const double ONE_BY_ONE = 3360;
    const bool plain =
        request->window->combine == GFI_COMBINE_SUM && request->out.pixel != GF_PIXEL_U8;
    return (request->in.pixel == GF_PIXEL_U16 ? u16 : f32)[n] + (plain ? 0 : ONE_BY_ONE);
}

static double cost_ns(const gfi_request *request)
{
    const gfi_chip chip = gfi_window_chip(request);
    const int n = shape_of(request->window).n;
    const double work_ns = layout_of(request, n).steps * step_ns(request, n);
    return gfi_launch_bound_ns(&chip, work_ns, gfi_window_bytes(request));
}

/* ---- prepare and run ----------------------------------------------------------------------- */

static void fill_args(const gfi_request *request, const wide_layout *layout, const band *along,
                      const band *down, wide_state *s)
{
    enum { U16_EXPONENT = 14 };
    const gfi_window *w = request->window;
    const int up = request->in.pixel == GF_PIXEL_U16 ? U16_EXPONENT : 0;
    s->args =
        (gf_wide_args){ .combine = gfi_window_combine(request),
                        .weights = s->weights,
                        .taps = (void *)((char *)s->weights + band_bytes(request, s->shape.n)),
                        .kw = w->kw,
                        .kh = w->kh,
                        .ax = w->ax,
                        .ay = w->ay,
                        .border = (int)w->border,
                        .border_value = (float)w->border_value,
                        .factor = (float)ldexp(1, up - along->exponent - down->exponent),
                        .lead = s->shape.lead,
                        .strips = layout->strips,
                        .rows = layout->rows };
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
    s->shape = shape_of(request->window);
    s->weight_bytes = band_bytes(request, s->shape.n) +
                      ((size_t)request->window->kw + (size_t)request->window->kh) * sizeof(double);
    const wide_layout layout = layout_of(request, s->shape.n);
    const size_t bytes = gf_pixel_bytes(request->in.pixel);
    s->config =
        (gfi_launch_config){ .grid = { (unsigned)layout.strips * (unsigned)layout.segments, 1, 1 },
                             .block = { (unsigned)GF_WIDE_THREADS(s->shape.n, bytes), 1, 1 },
                             .shared_bytes = shared_bytes(request, s->shape.n) };
    snprintf(name, sizeof name, "gf_wide_%s_%d", gf_pixel_name(request->in.pixel), s->shape.n);
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
    snprintf(out, n_bytes, "%d+%d products a result, strips of %d rows, %zu KB shared", s->shape.n,
             s->shape.n, s->args.rows, (s->config.shared_bytes + 1023) / 1024);
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
