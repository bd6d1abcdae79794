/* Separable windows of u8 images on tensor cores: kernels/tensor.cu. */
#include "filters/window_cuda_tensor.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "filters/halves.h"
#include "filters/kimage.h"
#include "kernels/tensor.variants.h"

enum { GROUP = 16, HALF = 8, LEAD_STEP = 4 };

typedef struct tensor_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gfi_tensor_shape shape;
    void *weights;       /* device memory */
    gf_tensor_args args; /* complete but for the images */
} tensor_state;

/* ---- shape --------------------------------------------------------------------------------- */

/* The u8 kernel counts in 16 bits, adds the offset to rounded results, and keeps 19 bits between
 * the passes; what that loses must not be much amplified. */
static bool fits_fast(const gfi_request *request, bool symmetric)
{
    static const double MOST_GAIN = 2, MOST_OFFSET = 32000;
    const gfi_window *w = request->window;
    if (request->out.pixel != GF_PIXEL_U8 || request->n_fused > 0 || gfi_window_may_tie(w))
        return false;
    if (w->combine == GFI_COMBINE_SUM)
        return w->abs_sum <= MOST_GAIN && w->offset == rint(w->offset) &&
               fabs(w->offset) <= MOST_OFFSET;
    return symmetric && w->threshold == 0 && w->abs_sum <= 1 + 2 * MOST_GAIN;
}

static bool symmetric(const double *taps, int n)
{
    for (int i = 0; i < n / 2; i++)
        if (taps[i] != taps[n - 1 - i]) return false;
    return n % 2 == 1;
}

/* The least kernel for a window whose tile begins `lead` columns before a result. Odd numbers of
 * eights are faster than the even ones below them, but for the very first. */
static int kernel_for(const gfi_window *w, int lead, bool symmetric)
{
    const int across = gfi_round_up(HALF + lead - w->ax + w->kw - 1, HALF) / HALF;
    const int down = (gfi_round_up(GROUP + w->kh - 1, GROUP) / GROUP - 1) * 2;
    const int s = across > down ? across : down;
    return symmetric && s <= GF_TENSOR_LEAST ? GF_TENSOR_LEAST : s | 1;
}

gfi_tensor_shape gfi_tensor_shape_of(const gfi_request *request)
{
    const gfi_window *w = request->window;
    gfi_tensor_shape shape = { .lead = gfi_round_up(w->ax, HALF) };
    const int near = gfi_round_up(w->ax, LEAD_STEP);
    shape.symmetric = symmetric(w->term[0].col, w->kh);
    shape.s = kernel_for(w, shape.lead, shape.symmetric);
    if (kernel_for(w, near, shape.symmetric) < shape.s) {
        shape.lead = near;
        shape.s = kernel_for(w, near, shape.symmetric);
    }
    shape.fast = fits_fast(request, shape.symmetric);
    shape.rise = w->ay;
    if (shape.symmetric) shape.rise += (GROUP * GF_TENSOR_GROUPS(shape.s) - GROUP + 1 - w->kh) / 2;
    return shape;
}

/* ---- weights ------------------------------------------------------------------------------- */

/* One axis of the window as a band: entry (result, place) is tap place - result - shift. */
typedef struct band {
    const double *taps;
    int n_taps, shift;
    double factor; /* taps are taken times this */
} band;

static double band_entry(const band *b, int result, int place)
{
    const int i = place - result - b->shift;
    return i >= 0 && i < b->n_taps ? b->taps[i] * b->factor : 0;
}

enum { LANES = 32 };

/* A lane's words of the fragments; high and low parts lie some words apart. */
typedef struct fragments {
    uint32_t *words;
    int n;
} fragments;

static uint32_t *word_of(const fragments *f, int word, int lane)
{
    return &f->words[(word / 4 * LANES + lane) * 4 + word % 4];
}

/* The band as the first operand, a row a result: of each four words the first two are rows g and
 * g + 8, the others eight places on. */
static void fill_down(const fragments *f, const band *b, int groups)
{
    for (int k = 0; k < groups; k++)
        for (int lane = 0; lane < LANES; lane++)
            for (int word = 0; word < 4; word++) {
                const int result = lane / 4 + word % 2 * 8;
                const int place = GROUP * k + lane % 4 * 2 + word / 2 * 8;
                gfi_halves_put(band_entry(b, result, place), band_entry(b, result, place + 1),
                               word_of(f, 8 * k + word, lane), word_of(f, 8 * k + 4 + word, lane));
            }
}

/* Half the sum or the difference of the entries that lie the same way from either end. */
static double folded_entry(const band *b, int result, int place, int groups, int sign)
{
    return 0.5 * (band_entry(b, result, place) +
                  sign * band_entry(b, result, GROUP * groups - 1 - place));
}

/* The same for sums of pixels, then for differences: rows 0 to 7 are high parts, the others low. */
static void fill_folded(const fragments *f, const band *b, int groups)
{
    for (int step = 0; step < GF_TENSOR_DOWN_STEPS(2 * groups - 2, true); step++)
        for (int lane = 0; lane < LANES; lane++)
            for (int word = 0; word < 4; word += 2) {
                const int result = lane / 4, sign = step % 2 ? -1 : 1;
                const int place = step / 2 * GROUP + lane % 4 * 2 + word / 2 * 8;
                if (place >= HALF * groups) continue;
                gfi_halves_put(folded_entry(b, result, place, groups, sign),
                               folded_entry(b, result, place + 1, groups, sign),
                               word_of(f, 4 * step + word, lane),
                               word_of(f, 4 * step + word + 1, lane));
            }
}

/* The band as the second operand, a column a result. Twice, in different pairs of registers. */
static void fill_along(const fragments *f, const band *b, int s, int first)
{
    for (int half = 0; half < 2 * s; half++)
        for (int lane = 0; lane < LANES; lane++) {
            const int result = lane / 4, place = half % s * HALF + lane % 4 * 2;
            gfi_halves_put(band_entry(b, result, place), band_entry(b, result, place + 1),
                           word_of(f, first + half, lane), word_of(f, first + 2 * s + half, lane));
        }
}

static double scaling(const double *taps, int n, int bits)
{
    return ldexp(1, gfi_halves_exponent(taps, n, bits));
}

/* Sums of 255 times the taps must not reach binary16's largest, 65504. The u8 kernel takes pixels
 * times 2^-24, wants sums below 1/2 after the first pass, and has up to 2^-5 after the lift. */
static void make_bands(const gfi_window *w, const gfi_tensor_shape *shape, band *down, band *along)
{
    static const double MOST_PARTS = 0x1p19 - 4;
    const gfi_term *term = &w->term[0];
    const double sum = gfi_halves_abs_sum(term->col, w->kh);
    *down = (band){ .taps = term->col, .n_taps = w->kh, .shift = shape->rise - w->ay };
    down->factor =
        shape->fast && sum > 0 ? MOST_PARTS * 0x1p4 / 255 / sum : scaling(term->col, w->kh, 8);
    *along = (band){ .taps = term->row, .n_taps = w->kw, .shift = shape->lead - w->ax };
    along->factor = scaling(term->row, w->kw, shape->fast ? 15 : 8);
}

/* What the sums between the passes are lifted by so that none is negative: multiples of 2^-20. */
static double lift_of(const gfi_window *w, const band *down)
{
    double least = 0;
    for (int i = 0; i < w->kh; i++) least += fmin(down->taps[i], 0) * down->factor * 255 * 0x1p-24;
    return ldexp(ceil(ldexp(-least, 20)), -20);
}

static gf_status upload_weights(const gfi_request *request, const band *down, const band *along,
                                const gfi_tensor_shape *shape, void **out)
{
    const int steps = GF_TENSOR_DOWN_STEPS(shape->s, shape->symmetric);
    const fragments f = { .n = GF_TENSOR_WORDS(shape->s, shape->symmetric),
                          .words = gfi_alloc_zero(
                              LANES * sizeof(uint32_t),
                              (size_t)GF_TENSOR_WORDS(shape->s, shape->symmetric), "weights") };
    if (!f.words) return GF_ERROR_NO_MEMORY;
    const size_t bytes = (size_t)f.n * LANES * sizeof(uint32_t);
    if (shape->symmetric)
        fill_folded(&f, down, GF_TENSOR_GROUPS(shape->s));
    else
        fill_down(&f, down, GF_TENSOR_GROUPS(shape->s));
    fill_along(&f, along, shape->s, 4 * steps);
    const gf_status status = gfi_window_upload_bytes(request->queue, f.words, bytes, out);
    gfi_free(f.words);
    return status;
}

/* ---- choice -------------------------------------------------------------------------------- */

/* Powers of two that floats hold with room to spare. */
static bool taps_in_range(const gfi_window *w, const gfi_tensor_shape *shape)
{
    static const double MOST = 0x1p60, LEAST = 0x1p-60;
    band down, along;
    if (!isfinite(w->abs_sum)) return false;
    make_bands(w, shape, &down, &along);
    return down.factor <= MOST && down.factor >= LEAST && along.factor <= MOST &&
           along.factor >= LEAST;
}

static int64_t n_blocks(const gfi_request *request)
{
    const int64_t x = (request->out.width + GF_TENSOR_WIDTH - 1) / GF_TENSOR_WIDTH;
    return x * ((request->out.height + GF_TENSOR_HEIGHT - 1) / GF_TENSOR_HEIGHT);
}

static bool window_fits(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (!gfi_window_one_term(w, why)) return false;
    if (w->combine == GFI_COMBINE_UNSHARP && !gfi_window_anchor_inside(w, why)) return false;
    const gfi_tensor_shape shape = gfi_tensor_shape_of(request);
    if (shape.s > GF_TENSOR_MOST)
        return gfi_window_unusable(why, "a window of %dx%d is too long", w->kw, w->kh);
    if (!taps_in_range(w, &shape))
        return gfi_window_unusable(why, "the taps are too large or too small for binary16");
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
    const size_t shared = (size_t)GF_TENSOR_SHARED_BYTES(gfi_tensor_shape_of(request).s);
    if (shared > gfi_window_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a tile takes %zu bytes of shared memory", shared);
    return true;
}

/* Time of a block on a multiprocessor to itself. 2026-11-30, H200, 8192^2, u8 to u8, 9 17 31 49 65
 * 81 taps: 0.076 0.079 0.103 0.126 0.158 0.192 ms; 17 taps to f32: 0.115 ms; others predicted. An
 * unsharp mask of 17 taps: 0.104 ms. */
static double block_ns(const gfi_tensor_shape *shape)
{
    static const double fast[] = { [2] = 2030, 2110, 0, 2800, 0, 3460, 0, 4370, 0, 5340 };
    static const double exact[] = { [2] = 3050, 3140, 0, 3900, 0, 4610, 0, 5580, 0, 6650 };
    return (shape->fast ? fast : exact)[shape->s];
}

/* The first blocks wait for their loads, the last ones leave multiprocessors empty: 1024^2 takes
 * 0.014 ms, 4096x3000 0.029 ms. */
static double cost_ns(const gfi_request *request)
{
    static const double MORE_BLOCKS = 4, UNSHARP = 1.3;
    const gfi_tensor_shape shape = gfi_tensor_shape_of(request);
    const gfi_chip chip = gfi_window_chip(request);
    const double blocks = (double)n_blocks(request) / chip.multiprocessors;
    double work_ns = block_ns(&shape) * (blocks + MORE_BLOCKS);
    if (request->window->combine == GFI_COMBINE_UNSHARP) work_ns *= UNSHARP;
    return gfi_launch_bound_ns(&chip, work_ns, gfi_window_bytes(request));
}

/* ---- prepare and run ----------------------------------------------------------------------- */

static gfi_launch_config configure(const gfi_request *request, int s)
{
    return (gfi_launch_config){ .grid = { (unsigned)n_blocks(request), 1, 1 },
                                .block = { GF_TENSOR_THREADS, 1, 1 },
                                .shared_bytes = (size_t)GF_TENSOR_SHARED_BYTES(s) };
}

static double signed_sum(const double *taps, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += taps[i];
    return sum;
}

static void fill_args(const gfi_request *request, const band *down, const band *along,
                      const gfi_tensor_shape *shape, gf_tensor_args *args)
{
    static const double ROUNDS = 0x1.8p23; /* after it a float has no fraction */
    const gfi_window *w = request->window;
    const double lift = lift_of(w, down), row_sum = signed_sum(along->taps, along->n_taps);
    double factor = 1 / (down->factor * along->factor);
    /* else gf_kcombine has the scale or the amount */
    if (shape->fast) factor *= 0x1p28 * (w->combine == GFI_COMBINE_SUM ? w->scale : -w->amount);
    *args = (gf_tensor_args){ .combine = gfi_window_combine(request),
                              .lead = shape->lead,
                              .rise = shape->rise,
                              .border = (int)w->border,
                              .tiles_x = (request->out.width - 1) / GF_TENSOR_WIDTH + 1,
                              .start = (float)(ROUNDS + w->offset),
                              .lift = (float)(8 + lift),
                              .bias = (float)(-lift * 0x1p-4 * row_sum * along->factor),
                              .narrow = gfi_window_is_narrow(w, 255),
                              .factor = (float)factor };
    if (w->border == GF_BORDER_CONSTANT) args->border_byte = (int)w->border_value;
}

double gfi_tensor_factor(const gfi_request *request, const gfi_tensor_shape *shape)
{
    band down, along;
    make_bands(request->window, shape, &down, &along);
    return 1 / (down.factor * along.factor);
}

gf_status gfi_tensor_args(const gfi_request *request, const gfi_tensor_shape *shape,
                          gf_tensor_args *args, void **weights)
{
    band down, along;
    make_bands(request->window, shape, &down, &along);
    fill_args(request, &down, &along, shape, args);
    GFI_TRY(upload_weights(request, &down, &along, shape, weights));
    args->weights = *weights;
    return GF_OK;
}

size_t gfi_tensor_weights_bytes(const gfi_tensor_shape *shape)
{
    return sizeof(uint32_t) * LANES * (size_t)GF_TENSOR_WORDS(shape->s, shape->symmetric);
}

static void destroy(const gfi_request *request, void *state)
{
    tensor_state *s = state;
    if (s->weights) gfi_device_free(request->queue, s->weights);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    tensor_state *s = state;
    char name[32];
    s->shape = gfi_tensor_shape_of(request);
    s->config = configure(request, s->shape.s);
    snprintf(name, sizeof name, "gf_tensor_%s%d%s", s->shape.fast ? "u8_" : "", s->shape.s,
             s->shape.symmetric ? "_sym" : "");
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel));
    return gfi_tensor_args(request, &s->shape, &s->args, &s->weights);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    tensor_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static size_t memory_bytes(const void *state)
{
    return gfi_tensor_weights_bytes(&((const tensor_state *)state)->shape);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const tensor_state *s = state;
    snprintf(out, n_bytes, "%d columns for 8, %d%s rows for 16, %s, %zu KB shared",
             HALF * s->shape.s, GROUP * GF_TENSOR_GROUPS(s->shape.s),
             s->shape.symmetric ? " folded" : "", s->shape.fast ? "u8" : "exact pixels",
             (s->config.shared_bytes + 1023) / 1024);
}

const gf_impl gfi_window_cuda_tensor = { .name = "cuda-tensor",
                                         .backend = GF_BACKEND_CUDA,
                                         .batches = true,
                                         .fuses = true,
                                         .pair = &gfi_window_cuda_pair,
                                         .usable = usable,
                                         .cost_ns = cost_ns,
                                         .state_bytes = sizeof(tensor_state),
                                         .prepare = prepare,
                                         .run = run,
                                         .destroy = destroy,
                                         .memory_bytes = memory_bytes,
                                         .describe = describe };
