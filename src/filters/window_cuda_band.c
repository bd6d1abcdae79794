/* Windows of u8 images that are not separable, on tensor cores: kernels/band.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "filters/kimage.h"
#include "kernels/band.variants.h"

enum { WORD = 4, WHITE = 255 };

/* How a window is laid over cells, and its taps: whole numbers times `unit`. */
typedef struct band_shape {
    int lead;          /* columns from a tile's first one to the first result */
    int groups, pairs; /* of rows and of words that a cell needs */
    int products;      /* that take them, for each slice */
    int slices;        /* of 8 bits that the whole numbers need */
    double unit;
} band_shape;

typedef struct band_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    band_shape shape;
    void *taps;        /* device memory */
    gf_band_args args; /* complete but for the images */
} band_state;

/* ---- taps as whole numbers ----------------------------------------------------------------- */

/* The largest number of so many slices, each -128 … 127. */
static double largest_whole(int slices)
{
    double most = 0;
    for (int s = 0; s < slices; s++) most = most * 256 + 127;
    return most;
}

static double whole(double tap, double unit) { return unit > 0 ? nearbyint(tap / unit) : 0; }

/* Slice `slice` of a whole number, the most significant one of `slices` first. */
static int slice_of(double number, int slice, int slices)
{
    int rest = (int)number, digit = 0;
    for (int s = slices - 1; s >= slice; s--) {
        digit = ((rest + 128) & 255) - 128;
        rest = (rest - digit) / 256;
    }
    return digit;
}

static double largest_tap(const gfi_window *w)
{
    double most = 0;
    for (int i = 0; i < w->kw * w->kh; i++)
        if (fabs(w->full[i]) > most) most = fabs(w->full[i]);
    return most;
}

static double sum_abs(const gfi_window *w)
{
    double sum = 0;
    for (int i = 0; i < w->kw * w->kh; i++) sum += fabs(w->full[i]);
    return sum;
}

/* The largest number that all taps are whole multiples of, if they are less than 2^24 times that;
 * else 0. fmod is exact. */
static double common_divisor(const gfi_window *w)
{
    const double most = largest_tap(w);
    double divisor = 0;
    for (int i = 0; i < w->kw * w->kh; i++) {
        double a = fabs(w->full[i]);
        while (a > 0) {
            const double rest = divisor > 0 ? fmod(divisor, a) : 0;
            divisor = a;
            a = rest;
        }
        if (most > divisor * 0x1p24) return 0;
    }
    return divisor;
}

/* Whether sums of the slices fit 32 bits; the two upper ones of three are taken together. */
enum { MOST_SUM = INT32_MAX / WHITE };

static bool sums_fit(const gfi_window *w, const band_shape *shape)
{
    const int n = shape->slices;
    double upper = 0, last = 0;
    for (int i = 0; i < w->kw * w->kh; i++) {
        const double number = whole(w->full[i], shape->unit);
        const int digit = n < GF_BAND_MOST_SLICES ? 0 : slice_of(number, n - 1, n);
        upper += fabs(n < GF_BAND_MOST_SLICES ? number : (number - digit) / 256);
        last += abs(digit);
    }
    return upper <= MOST_SUM && last <= MOST_SUM;
}

/* As few slices as hold the taps exactly; else the most of them, as large numbers as fit. */
static void find_slices(const gfi_window *w, band_shape *shape)
{
    enum { ROOM = 256 / 8 * 7 }; /* what is left of the last slice's factor for roundings */
    const double most = largest_tap(w);
    shape->unit = common_divisor(w);
    for (shape->slices = 1; shape->slices <= GF_BAND_MOST_SLICES; shape->slices++)
        if (most <= shape->unit * largest_whole(shape->slices) && sums_fit(w, shape)) return;
    shape->slices = GF_BAND_MOST_SLICES;
    shape->unit = fmax(most / largest_whole(shape->slices), sum_abs(w) / ((double)MOST_SUM * ROOM));
}

/* Whether the results meet the numbers contract: what the whole numbers miss of the taps, and
 * roundings of floats, of which there are four. */
static bool is_exact(const gfi_request *request, const band_shape *shape)
{
    static const double LEVELS = 1e-3, FLOATS = 0x1p-22, SHARE = 0.9;
    const gfi_window *w = request->window;
    double missed = 0;
    for (int i = 0; i < w->kw * w->kh; i++)
        missed += fabs(w->full[i] - shape->unit * whole(w->full[i], shape->unit));
    const double error = fabs(w->scale) * missed + FLOATS * w->abs_sum;
    double allowed = 0x1p-20 * w->abs_sum;
    if (request->out.pixel != GF_PIXEL_F32 && request->n_fused == 0 && allowed < LEVELS / WHITE)
        allowed = LEVELS / WHITE;
    return error <= SHARE * allowed;
}

/* ---- shape --------------------------------------------------------------------------------- */

static band_shape shape_of(const gfi_request *request)
{
    const gfi_window *w = request->window;
    band_shape shape = { .lead = (int)floor((w->ax + WORD - 1.0) / WORD) * WORD };
    shape.pairs = gfi_divide_up(shape.lead - w->ax + w->kw + GF_BAND_ACROSS - 1, GF_BAND_PAIR);
    if (shape.pairs < 2) shape.pairs = 2;
    shape.groups = gfi_divide_up(w->kh + GF_BAND_DOWN - 1, GF_BAND_GROUP(shape.pairs));
    if (shape.pairs == 2 && shape.groups < 2) shape.groups = 2;
    shape.products = shape.groups * GF_BAND_PRODUCTS(shape.pairs);
    return shape;
}

static bool is_held(const band_shape *shape)
{
#define IS_SHAPE(SLICES, GROUPS, PAIRS)                                                            \
    || (shape->slices == (SLICES) && shape->groups == (GROUPS) && shape->pairs == (PAIRS))
    return false GF_BAND_HELD_VARIANTS(IS_SHAPE);
#undef IS_SHAPE
}

/* Fragments of the taps: a lane's four words of a product hold column lane / 4 of the first operand
 * of taps, whose rows are words, and of the second one. */
enum { LANES = 32, WORDS = 4 };

/* The tap between a result of a cell and one of the pixels it is made of. */
static double tap_at(const gfi_window *w, const band_shape *shape, int column, int row, int x,
                     int y)
{
    const int i = x - column - (shape->lead - w->ax), j = y - row;
    return i < 0 || i >= w->kw || j < 0 || j >= w->kh ? 0 : w->full[j * w->kw + i];
}

static uint32_t tap_word(const gfi_window *w, const band_shape *shape, int slice, int result, int x,
                         int y)
{
    /* Results 2t, 2t + 1 of both operands are four neighbours, so that a lane can store them. */
    const int operand = result / 8, t = result % 8 / 2;
    const int column = t % 2 * 4 + 2 * operand + result % 2, row = t / 2;
    uint32_t word = 0;
    for (int i = 0; i < WORD; i++) {
        const double number = whole(tap_at(w, shape, column, row, x + i, y), shape->unit);
        word |= (uint32_t)(slice_of(number, slice, shape->slices) & 255) << 8 * i;
    }
    return word;
}

/* A product has the pairs of words of four rows, or of two rows those of two neighbours. */
static void fill_taps(const gfi_window *w, const band_shape *shape, uint32_t (*to)[LANES][WORDS])
{
    const int rows = GF_BAND_GROUP(shape->pairs), in_group = GF_BAND_PRODUCTS(shape->pairs);
    const int pairs = WORDS / rows; /* of a row */
    for (int k = 0; k < shape->products; k++)
        for (int s = 0; s < shape->slices; s++, to++)
            for (int lane = 0; lane < LANES; lane++) {
                const int x = (k % in_group * pairs + lane % pairs) * GF_BAND_PAIR;
                const int y = k / in_group * rows + lane % WORDS / pairs;
                for (int word = 0; word < WORDS; word++)
                    (*to)[lane][word] =
                        tap_word(w, shape, s, lane / 4 + word / 2 * 8, x + word % 2 * WORD, y);
            }
}

static size_t taps_bytes(const band_shape *shape)
{
    return (size_t)GF_BAND_TAPS_BYTES(shape->groups, shape->pairs, shape->slices);
}

static gf_status upload_taps(const gfi_request *request, const band_shape *shape, void **out)
{
    uint32_t(*host)[LANES][WORDS] = gfi_alloc_zero(taps_bytes(shape), 1, "taps");
    if (!host) return GF_ERROR_NO_MEMORY;
    fill_taps(request->window, shape, host);
    const gf_status status = gfi_window_upload_bytes(request->queue, host, taps_bytes(shape), out);
    gfi_free(host);
    return status;
}

/* ---- choice -------------------------------------------------------------------------------- */

static int64_t n_blocks(const gfi_request *request)
{
    const int64_t x = (request->out.width - 1) / GF_BAND_WIDTH + 1;
    return x * ((request->out.height - 1) / GF_BAND_HEIGHT + 1);
}

static bool window_fits(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_separable || w->force_fft)
        return gfi_window_unusable(why, "another method is asked for");
    if (w->combine != GFI_COMBINE_SUM) return gfi_window_unusable(why, "serves sums only");
    if (!w->full) return gfi_window_unusable(why, "the window has no single matrix of taps");
    if (!isfinite(w->abs_sum)) return gfi_window_unusable(why, "a tap is not finite");
    band_shape shape = shape_of(request);
    if (shape.pairs > GF_BAND_MOST_PAIRS || w->kh + GF_BAND_DOWN - 1 > GF_BAND_MOST_ROWS)
        return gfi_window_unusable(why, "a window of %dx%d anchored at %d is too large", w->kw,
                                   w->kh, w->ax);
    find_slices(w, &shape);
    if (!sums_fit(w, &shape) || !is_exact(request, &shape))
        return gfi_window_unusable(why, "the taps do not fit whole numbers of %d bits",
                                   8 * GF_BAND_MOST_SLICES);
    return true;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    if (request->in.pixel != GF_PIXEL_U8)
        return gfi_window_unusable(why, "pixels are %s, only u8 serve",
                                   gf_pixel_name(request->in.pixel));
    if (!gfi_window_has_tensor(request, why) || !gfi_window_border_whole(request, why))
        return false;
    if (!window_fits(request, why) || !gfi_window_countable(request, why)) return false;
    if (n_blocks(request) > INT32_MAX)
        return gfi_window_unusable(why, "the image is too large for one launch");
    const band_shape shape = shape_of(request);
    const size_t shared = (size_t)GF_BAND_SHARED_BYTES(shape.groups, shape.pairs);
    if (shared > gfi_window_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a tile takes %zu bytes of shared memory", shared);
    return true;
}

/* Measured on an H200, 2026-11-30, 8192^2, taps of 24 bits, u8 to u8: 5 0.071, 7 0.083, 11 0.160,
 * 15 0.200, 21 0.321, 31 0.542 ms; of 8 bits: 7 0.072, 15 0.114 ms. Few blocks, alone on their
 * multiprocessors, wait for their own loads: 1024^2 takes 0.014 ms. */
static double cost_ns(const gfi_request *request)
{
    static const double LEAST_BLOCKS = 4;
    static const double HELD_NS = 1100, READ_NS = 1550, PIXELS_NS = 60, PRODUCT_NS = 113;
    band_shape shape = shape_of(request);
    find_slices(request->window, &shape);
    const gfi_chip chip = gfi_window_chip(request);
    const double blocks = (double)n_blocks(request) / chip.multiprocessors;
    const double block_ns = (is_held(&shape) ? HELD_NS : READ_NS) +
                            shape.products * (PIXELS_NS + PRODUCT_NS * shape.slices);
    const double work_ns = block_ns * (blocks > LEAST_BLOCKS ? blocks : LEAST_BLOCKS);
    return gfi_launch_bound_ns(&chip, work_ns, gfi_window_bytes(request));
}

/* ---- prepare and run ----------------------------------------------------------------------- */

static gfi_launch_config configure(const gfi_request *request, const band_shape *shape)
{
    return (gfi_launch_config){ .grid = { (unsigned)n_blocks(request), 1, 1 },
                                .block = { GF_BAND_THREADS, 1, 1 },
                                .shared_bytes =
                                    (size_t)GF_BAND_SHARED_BYTES(shape->groups, shape->pairs) };
}

static void destroy(const gfi_request *request, void *state)
{
    band_state *s = state;
    if (s->taps) gfi_device_free(request->queue, s->taps);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    band_state *s = state;
    const gfi_window *w = request->window;
    char name[32];
    s->shape = shape_of(request);
    find_slices(w, &s->shape);
    s->config = configure(request, &s->shape);
    if (is_held(&s->shape))
        snprintf(name, sizeof name, "gf_band_%d_%d_%d", s->shape.slices, s->shape.groups,
                 s->shape.pairs);
    else
        snprintf(name, sizeof name, "gf_band_%d_%d", s->shape.slices, s->shape.pairs);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel));
    GFI_TRY(upload_taps(request, &s->shape, &s->taps));
    s->args = (gf_band_args){ .combine = gfi_window_combine(request),
                              .taps = s->taps,
                              .lead = s->shape.lead,
                              .ay = w->ay,
                              .border = (int)w->border,
                              .tiles_x = (request->out.width - 1) / GF_BAND_WIDTH + 1,
                              .groups = s->shape.groups,
                              .factor = (float)s->shape.unit };
    if (w->border == GF_BORDER_CONSTANT) s->args.border_byte = (int)w->border_value;
    return GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    band_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static size_t memory_bytes(const void *state)
{
    return taps_bytes(&((const band_state *)state)->shape);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const band_state *s = state;
    snprintf(out, n_bytes, "%d products a result, taps of %d bits, %zu KB shared",
             s->shape.products, 8 * s->shape.slices, (s->config.shared_bytes + 1023) / 1024);
}

const gf_impl gfi_window_cuda_band = { .name = "cuda-band",
                                       .backend = GF_BACKEND_CUDA,
                                       .batches = true,
                                       .fuses = true,
                                       .usable = usable,
                                       .cost_ns = cost_ns,
                                       .state_bytes = sizeof(band_state),
                                       .prepare = prepare,
                                       .run = run,
                                       .destroy = destroy,
                                       .memory_bytes = memory_bytes,
                                       .describe = describe };
