/* Separable windows of u8 images by warpgroups: kernels/wgmma.cu. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/halves.h"
#include "filters/kimage.h"
#include "filters/window_cuda.h"
#include "kernels/gf_border.h"
#include "kernels/wgmma.variants.h"

/* A row of kernels/wgmma.variants.h. */
typedef struct wgmma_shape {
    const char *name;
    int k, i, digits, groups, blocks;
    bool own;
    int step_ns; /* of all blocks of a full multiprocessor */
    size_t shared_bytes;
} wgmma_shape;

typedef struct wgmma_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    const wgmma_shape *shape;
    void *weights;      /* device memory */
    gf_wgmma_args args; /* complete but for the images */
} wgmma_state;

enum { SIDES_DIGITS = 3, CHUNK = 16 };

/* ---- shape --------------------------------------------------------------------------------- */

#define SHAPE(NAME, K, I, DIGITS, GROUPS, BLOCKS, OWN, STEP)                                       \
    { "gf_wgmma_" #NAME,                                                                           \
      K,                                                                                           \
      I,                                                                                           \
      DIGITS,                                                                                      \
      GROUPS,                                                                                      \
      BLOCKS,                                                                                      \
      OWN,                                                                                         \
      STEP,                                                                                        \
      GF_WGMMA_SHARED_BYTES(K, I, GROUPS, OWN) },
static const wgmma_shape shapes[] = { GF_WGMMA_VARIANTS(SHAPE) };

static int lead_of(const gfi_window *w) { return gfi_round_up(w->ax, CHUNK); }

/* Unsharp masks find pixels themselves by eight rows. */
static int rise_of(const gfi_window *w)
{
    return w->combine == GFI_COMBINE_UNSHARP ? gfi_round_up(w->ay, 8) : w->ay;
}

/* The first kernel for the window, with so many digits at least; NULL when none is wide or tall
 * enough. */
static const wgmma_shape *shape_of(const gfi_window *w, int digits)
{
    const int columns = lead_of(w) + GF_WGMMA_WIDTH + w->kw - 1 - w->ax;
    const int rows = rise_of(w) - w->ay + w->kh;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const wgmma_shape *s = &shapes[i];
        if (s->own == (w->combine == GFI_COMBINE_UNSHARP) && s->digits >= digits &&
            columns <= 32 * s->k && rows + GF_WGMMA_BAND_ROWS - 1 <= 16 * s->i)
            return s;
    }
    return NULL;
}

/* ---- taps along rows ----------------------------------------------------------------------- */

/* Levels that pixels from 0 to 255 can be wrong by at most when taps are whole numbers over factor.
 */
static double digits_error(const double *taps, int n, double factor)
{
    double above = 0, below = 0;
    for (int i = 0; i < n; i++) {
        const double missed = rint(taps[i] * factor) / factor - taps[i];
        if (missed > 0)
            above += missed;
        else
            below -= missed;
    }
    return 255 * fmax(above, below);
}

/* The largest factor that so many digits allow, for taps that add up where they are folded, and the
 * kernel's sums, which are of 27 bits when there are two. */
static double largest_factor(const gfi_window *w, int digits)
{
    const double sum = gfi_halves_abs_sum(w->term[0].row, w->kw);
    double most = 0;
    if (digits == SIDES_DIGITS) return (0x1p24 - 1) / sum;
    for (int i = 0; i < w->kw; i++) most = fmax(most, w->term[0].row[i]);
    return fmin((0x1p16 - 1) / most, (0x1p27 - 256) / 255 / sum);
}

/* Levels that digits may be wrong by: what results may be, but for the other errors. Those come
 * from what is cut off sums when they are split, and at each product. */
static double digits_may_miss(const gfi_window *w, const wgmma_shape *s)
{
    static const double SPLIT = 1.5e-4, CUT = 1.5e-5, LEAST = 1e-3;
    const double gain = w->combine == GFI_COMBINE_SUM ? w->scale : w->amount;
    const double allowed = fmax(LEAST, 255 * 0x1p-20 * w->abs_sum);
    return allowed / (gain * gfi_halves_abs_sum(w->term[0].col, w->kh)) - SPLIT - 3 * s->i * CUT;
}

/* A factor with which the kernel's digits do, or 0. Each is as good as another, so many are tried.
 */
static double factor_for(const gfi_window *w, const wgmma_shape *s)
{
    const int tries = s->digits == 2 ? 1 << 15 : 1 << 7;
    const double most = largest_factor(w, s->digits), may_miss = digits_may_miss(w, s);
    for (int i = 0; i < tries; i++) {
        const double factor = most * (1 - i * 0.5 / tries);
        if (digits_error(w->term[0].row, w->kw, factor) <= may_miss) return factor;
    }
    return 0;
}

/* ---- weights ------------------------------------------------------------------------------- */

/* The taps along rows of a warpgroup, as whole numbers: of each of its columns, what the columns of
 * the source count that it takes. */
typedef struct wgmma_along {
    const gfi_window *window;
    double factor;
    int k, x;     /* x: its first column */
    int width;    /* of the source */
    bool folded;  /* taps of columns outside count for those that stand for them */
    int *numbers; /* 32 * k for each column */
    bool complete;
} wgmma_along;

static void fill_numbers(wgmma_along *a)
{
    const gfi_window *w = a->window;
    const int places = 32 * a->k, first = a->x - lead_of(w);
    memset(a->numbers, 0, sizeof *a->numbers * GF_WGMMA_WIDTH * (size_t)places);
    for (int column = 0; column < GF_WGMMA_WIDTH; column++)
        for (int i = 0; i < w->kw; i++) {
            int from = a->x + column - w->ax + i;
            if (a->folded) {
                if (a->x + column >= a->width) continue;
                from = gf_border_index(from, a->width, (int)w->border);
            }
            const int place = from - first;
            if (place < 0 || place >= places)
                a->complete = false;
            else
                a->numbers[column * places + place] += (int)rint(w->term[0].row[i] * a->factor);
        }
}

/* As the threads of a warpgroup have them: of each four words the first two are of rows g and
 * g + 8, the others sixteen places on. Highest digits come first. */
static unsigned char *fill_along(const wgmma_along *a, int digits, unsigned char *to)
{
    for (int n = 0; n < digits * a->k; n++)
        for (int thread = 0; thread < 128; thread++)
            for (int b = 0; b < 16; b++) {
                const int row = thread / 32 * 16 + thread % 32 / 4 + b / 4 % 2 * 8;
                const int place = 32 * (n % a->k) + b / 8 * 16 + thread % 4 * 4 + b % 4;
                const int number = a->numbers[GF_WGMMA_COLUMN(row) * 32 * a->k + place];
                *to++ = (unsigned char)(number >> 8 * (digits - 1 - n / a->k) & 255);
            }
    return to;
}

static double down_entry(const gfi_window *w, double factor, int place, int row, int k)
{
    const int i = 16 * place + k - row - (rise_of(w) - w->ay);
    return i >= 0 && i < w->kh ? w->term[0].col[i] * factor : 0;
}

/* High parts, low parts, and high parts for sums that are 2^11 times too large. */
static void fill_down(const gfi_window *w, const wgmma_shape *s, double factor, unsigned char *to)
{
    const int all = s->i * GF_WGMMA_DOWN_BYTES;
    for (int place = 0; place < s->i; place++, to += GF_WGMMA_DOWN_BYTES)
        for (int row = 0; row < GF_WGMMA_BAND_ROWS; row++)
            for (int k = 0; k < 16; k += 2) {
                const double a = down_entry(w, factor, place, row, k);
                const double b = down_entry(w, factor, place, row, k + 1);
                unsigned char *const at =
                    to + k / 8 * GF_WGMMA_DOWN_BYTES / 2 + row * 16 + k % 8 * 2;
                uint32_t high, low, scaled, unused;
                gfi_halves_put(a, b, &high, &low);
                gfi_halves_put(ldexp(a, -11), ldexp(b, -11), &scaled, &unused);
                memcpy(at, &high, sizeof high);
                memcpy(at + all, &low, sizeof low);
                memcpy(at + 2 * all, &scaled, sizeof scaled);
            }
}

static double down_factor(const gfi_window *w)
{
    return ldexp(1, gfi_halves_exponent(w->term[0].col, w->kh, 15));
}

/* Whether blocks at the sides need no mending: columns outside are all the same, or lie sixteen
 * together at the other end, or their taps may be folded. */
static bool sides_fold(const gfi_request *request)
{
    enum { LEAST_WIDTH = 4 * GF_WGMMA_WIDTH }; /* no warpgroup has both sides */
    const gfi_window *w = request->window;
    const bool even = request->in.width % CHUNK == 0;
    if (request->in.width < LEAST_WIDTH) return false;
    if (w->border == GF_BORDER_WRAP) return even;
    return w->border != GF_BORDER_CONSTANT || w->border_value == 0 || even;
}

/* The first column of a kind of warpgroup at the sides: see gf_wgmma_side(). */
static int side_column(int width, int side)
{
    const int last = (width - 1) / GF_WGMMA_WIDTH * GF_WGMMA_WIDTH;
    return side == 2 ? last : side == 3 ? last - GF_WGMMA_WIDTH : 0;
}

typedef struct wgmma_factors {
    double along, sides;
} wgmma_factors;

/* All taps, into zeroed memory; *folds: whether those of the sides could be folded. */
static gf_status fill_weights(const gfi_request *request, const wgmma_shape *s,
                              const wgmma_factors *factors, unsigned char *to, bool *folds)
{
    const gfi_window *w = request->window;
    wgmma_along a = {
        .window = w, .factor = factors->along, .k = s->k, .width = request->in.width
    };
    a.numbers = gfi_alloc((size_t)(32 * s->k * GF_WGMMA_WIDTH), sizeof *a.numbers, "taps");
    if (!a.numbers) return GF_ERROR_NO_MEMORY;
    a.complete = true;
    fill_down(w, s, down_factor(w), to);
    fill_numbers(&a);
    to = fill_along(&a, s->digits, to + 3 * s->i * GF_WGMMA_DOWN_BYTES);
    a.factor = factors->sides;
    for (int side = 0; side < GF_WGMMA_SIDES; side++) {
        a.folded =
            side > 0 && *folds && w->border != GF_BORDER_WRAP && w->border != GF_BORDER_CONSTANT;
        a.x = side_column(request->in.width, side);
        fill_numbers(&a);
        to = fill_along(&a, SIDES_DIGITS, to);
    }
    *folds &= a.complete;
    gfi_free(a.numbers);
    return GF_OK;
}

static size_t weight_bytes(const wgmma_shape *s)
{
    return (size_t)(3 * s->i * GF_WGMMA_DOWN_BYTES + GF_WGMMA_ALONG_BYTES(s->k, s->digits) +
                    GF_WGMMA_SIDES * GF_WGMMA_ALONG_BYTES(s->k, SIDES_DIGITS));
}

static gf_status upload_weights(const gfi_request *request, const wgmma_shape *s,
                                const wgmma_factors *factors, bool *folds, void **out)
{
    unsigned char *const bytes = gfi_alloc_zero(weight_bytes(s), 1, "weights");
    if (!bytes) return GF_ERROR_NO_MEMORY;
    gf_status status = fill_weights(request, s, factors, bytes, folds);
    if (status == GF_OK)
        status = gfi_window_upload_bytes(request->queue, bytes, weight_bytes(s), out);
    gfi_free(bytes);
    return status;
}

/* ---- launch -------------------------------------------------------------------------------- */

typedef struct wgmma_launch {
    int blocks, sides_blocks;
    int sides, strips; /* strips whose blocks have half the rows, as they take longer; others */
    int rows;          /* of a block that is not at the sides */
    double ns;         /* expected time of its work */
} wgmma_launch;

/* The first strip and the last one take longer, and the one before if columns that it takes are
 * outside. */
static int sides_of(const gfi_request *request, const wgmma_shape *s, int strips)
{
    const int columns = GF_WGMMA_WIDTH * s->groups;
    const int from = (strips - 2) * columns - lead_of(request->window);
    if (strips < 4) return 0;
    return from + CHUNK * GF_WGMMA_CHUNKS(s->k, s->groups) > request->in.width ? 3 : 2;
}

/* A launch of blocks of so many rows. */
static wgmma_launch launch_of(const gfi_request *request, const wgmma_shape *s, int rows)
{
    static const double START_STEPS = 1;
    const double slots = (double)gfi_window_chip(request).multiprocessors * s->blocks;
    const int strips = gfi_divide_up(request->out.width, GF_WGMMA_WIDTH * s->groups);
    const int lag = GF_WGMMA_BAND_ROWS * (GF_WGMMA_BANDS(s->i) - 1);
    wgmma_launch launch = { .sides = sides_of(request, s, strips), .rows = rows };
    launch.strips = strips - launch.sides;
    launch.sides_blocks = launch.sides * gfi_divide_up(request->out.height, rows / 2);
    launch.blocks = launch.sides_blocks + launch.strips * gfi_divide_up(request->out.height, rows);
    launch.ns = ceil(launch.blocks / slots) *
                (gfi_divide_up(rows + lag, GF_WGMMA_ROWS) + START_STEPS) * s->step_ns;
    return launch;
}

/* Blocks of such a height that they take the least time, that is, nearly fill the chip some times
 * over. Before its first results a block has the sums they need, and waits for pixels. */
static wgmma_launch plan_launch(const gfi_request *request, const wgmma_shape *s)
{
    enum { MOST = 256, UNIT = 2 * GF_WGMMA_BAND_ROWS };
    const int units = gfi_divide_up(request->out.height, UNIT);
    wgmma_launch best = launch_of(request, s, units * UNIT);
    for (int n = 2; n <= units && n <= MOST; n++) {
        const wgmma_launch launch = launch_of(request, s, gfi_divide_up(units, n) * UNIT);
        if (launch.ns < best.ns) best = launch;
    }
    return best;
}

/* ---- choice -------------------------------------------------------------------------------- */

static bool pixels_fit(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    if (request->in.pixel != GF_PIXEL_U8 || request->out.pixel != GF_PIXEL_U8 ||
        request->n_fused > 0)
        return gfi_window_unusable(why, "source and result are not both u8");
    return gfi_window_border_whole(request, why);
}

static bool taps_fit(const gfi_window *w, char why[GFI_WHY_BYTES])
{
    static const double LEAST = 0x1p-20, MOST = 0x1p20;
    if (!gfi_window_anchor_inside(w, why)) return false;
    const double row = gfi_halves_abs_sum(w->term[0].row, w->kw),
                 col = gfi_halves_abs_sum(w->term[0].col, w->kh);
    if (!(row >= LEAST && row <= MOST && col >= LEAST && col <= MOST))
        return gfi_window_unusable(why, "taps along an axis add up to %g and %g", row, col);
    if (!gfi_window_none_negative(w) || gfi_window_may_tie(w))
        return gfi_window_unusable(why, "taps are negative, or such that results may be ties");
    if (w->combine == GFI_COMBINE_SUM && (w->offset != rint(w->offset)))
        return gfi_window_unusable(why, "the offset %g is no whole number", w->offset);
    return true;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    static const double MOST_AMOUNT = 50; /* results count in 16 bits */
    const gfi_window *w = request->window;
    if (!gfi_window_has_warpgroup(request, why) || !gfi_window_one_term(w, why) ||
        !pixels_fit(request, why) || !taps_fit(w, why) || !gfi_window_countable(request, why))
        return false;
    if (w->combine == GFI_COMBINE_SUM && !gfi_window_is_narrow(w, 255))
        return gfi_window_unusable(why, "results may need to be clamped");
    if (w->combine == GFI_COMBINE_UNSHARP &&
        (w->threshold != 0 || w->amount <= 0 || w->amount > MOST_AMOUNT))
        return gfi_window_unusable(why, "a threshold of %g, an amount of %g", w->threshold,
                                   w->amount);
    const wgmma_shape *shape = shape_of(w, SIDES_DIGITS);
    if (!shape) return gfi_window_unusable(why, "a window of %dx%d is too long", w->kw, w->kh);
    if (factor_for(w, shape) == 0)
        return gfi_window_unusable(why, "24 bits are too few for the taps");
    if (shape->shared_bytes > gfi_window_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a block takes %zu bytes of shared memory",
                                   shape->shared_bytes);
    return true;
}

/* Blocks whose sides are mended take longer the more columns lie outside; predicted. */
static double cost_ns(const gfi_request *request)
{
    static const double MENDED = 1. / 80;
    const gfi_chip chip = gfi_window_chip(request);
    const gfi_window *w = request->window;
    double ns = plan_launch(request, shape_of(w, 2)).ns;
    if (!sides_fold(request)) ns *= 1 + w->kw * MENDED;
    return gfi_launch_bound_ns(&chip, ns, gfi_window_bytes(request));
}

/* ---- prepare and run ----------------------------------------------------------------------- */

/* High parts are sums without their last 16 or 21 bits, times 2^-24. */
static float result_factor(const gfi_window *w, int digits, double along)
{
    const double unit = ldexp(1, (digits == 2 ? 16 : 21) + 24) / along / down_factor(w);
    return (float)(unit * (w->combine == GFI_COMBINE_SUM ? w->scale : -w->amount));
}

static void fill_args(const gfi_request *request, const wgmma_shape *s,
                      const wgmma_factors *factors, gf_wgmma_args *args)
{
    static const double ROUNDS = 0x1.8p23; /* after it a float has no fraction */
    const gfi_window *w = request->window;
    *args = (gf_wgmma_args){ .lead = lead_of(w),
                             .rise = rise_of(w),
                             .near = w->ax,
                             .trail = w->kw - 1 - w->ax,
                             .border = (int)w->border,
                             .factor = result_factor(w, s->digits, factors->along),
                             .sides_factor = result_factor(w, SIDES_DIGITS, factors->sides),
                             .start = (float)(ROUNDS + w->offset),
                             .own = (float)(1 + w->amount) };
    if (w->border == GF_BORDER_CONSTANT)
        args->border_word = (unsigned)w->border_value * 0x01010101u;
}

static void destroy(const gfi_request *request, void *state)
{
    wgmma_state *s = state;
    if (s->weights) gfi_device_free(request->queue, s->weights);
}

/* Two digits if they do. */
static const wgmma_shape *choose(const gfi_window *w, wgmma_factors *factors)
{
    const wgmma_shape *shape = shape_of(w, 2), *fine = shape_of(w, SIDES_DIGITS);
    factors->sides = factor_for(w, fine);
    factors->along = shape == fine ? factors->sides : factor_for(w, shape);
    if (factors->along > 0) return shape;
    factors->along = factors->sides;
    return fine;
}

static gf_status prepare(const gfi_request *request, void *state)
{
    wgmma_state *s = state;
    wgmma_factors factors;
    const wgmma_shape *shape = s->shape = choose(request->window, &factors);
    const wgmma_launch launch = plan_launch(request, shape);
    bool folds = sides_fold(request);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), shape->name, &s->kernel));
    s->config = (gfi_launch_config){ .grid = { (unsigned)launch.blocks, 1, 1 },
                                     .block = { (unsigned)GF_WGMMA_THREADS(shape->groups), 1, 1 },
                                     .shared_bytes = shape->shared_bytes };
    GFI_TRY(upload_weights(request, shape, &factors, &folds, &s->weights));
    fill_args(request, shape, &factors, &s->args);
    s->args.rows = launch.rows, s->args.folds = folds;
    s->args.sides_blocks = launch.sides_blocks;
    s->args.side_strips = launch.sides, s->args.strips = launch.strips;
    const char *const weights = s->weights;
    s->args.down = weights;
    s->args.along = weights + 3 * shape->i * GF_WGMMA_DOWN_BYTES;
    s->args.sides = (const char *)s->args.along + GF_WGMMA_ALONG_BYTES(shape->k, shape->digits);
    return GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    wgmma_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static size_t memory_bytes(const void *state)
{
    return weight_bytes(((const wgmma_state *)state)->shape);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const wgmma_state *s = state;
    snprintf(out, n_bytes, "%d columns for 64, %d digits, %d rows a block, sides %s, %zu KB shared",
             32 * s->shape->k, s->shape->digits, s->args.rows, s->args.folds ? "folded" : "mended",
             s->config.shared_bytes / 1024);
}

const gf_impl gfi_window_cuda_wgmma = { .name = "cuda-wgmma",
                                        .backend = GF_BACKEND_CUDA,
                                        .batches = true,
                                        .usable = usable,
                                        .cost_ns = cost_ns,
                                        .state_bytes = sizeof(wgmma_state),
                                        .prepare = prepare,
                                        .run = run,
                                        .destroy = destroy,
                                        .memory_bytes = memory_bytes,
                                        .describe = describe };
