/* Separable windows of u8 and u16 images by warpgroups: kernels/wgmma.cu. */
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
    int bytes, k, i, sums, groups, blocks; /* bytes: of a pixel */
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

/* Bytes of a chunk. */
enum { CHUNK = 16 };

/* ---- shape --------------------------------------------------------------------------------- */

#define SHAPE(NAME, BYTES, K, I, SUMS, GROUPS, BLOCKS, OWN, STEP)                                  \
    { "gf_wgmma_" #NAME,                                                                           \
      BYTES,                                                                                       \
      K,                                                                                           \
      I,                                                                                           \
      SUMS,                                                                                        \
      GROUPS,                                                                                      \
      BLOCKS,                                                                                      \
      OWN,                                                                                         \
      STEP,                                                                                        \
      GF_WGMMA_SHARED_BYTES(BYTES, K, I, SUMS, GROUPS, OWN) },
static const wgmma_shape shapes[] = { GF_WGMMA_VARIANTS(SHAPE) };

static int lead_of(const gfi_window *w, int bytes) { return gfi_round_up(w->ax, CHUNK / bytes); }

/* Unsharp masks find pixels themselves by eight rows. */
static int rise_of(const gfi_window *w)
{
    return w->combine == GFI_COMBINE_UNSHARP ? gfi_round_up(w->ay, 8) : w->ay;
}

static bool is_long_enough(const wgmma_shape *s, const gfi_window *w)
{
    const int columns = lead_of(w, s->bytes) + GF_WGMMA_WIDTH + w->kw - 1 - w->ax;
    const int rows = rise_of(w) - w->ay + w->kh;
    return columns * s->bytes <= 32 * s->k && rows + GF_WGMMA_BAND_ROWS - 1 <= 16 * s->i;
}

/* The first kernel for the window that comes after `last`, or at all if that is NULL; NULL when
 * none is long enough. */
static const wgmma_shape *shape_after(const gfi_request *request, const wgmma_shape *last)
{
    const gfi_window *w = request->window;
    const int bytes = request->in.pixel == GF_PIXEL_U8 ? 1 : 2;
    for (const wgmma_shape *s = last ? last + 1 : shapes;
         s < shapes + sizeof shapes / sizeof *shapes; s++)
        if (s->bytes == bytes && s->own == (w->combine == GFI_COMBINE_UNSHARP) &&
            is_long_enough(s, w))
            return s;
    return NULL;
}

/* ---- taps along rows ----------------------------------------------------------------------- */

/* Sums along rows of some kind: a tap counts tap * factor times what counts once in the sum, which
 * is rounded to digits; `base` lower digits' worth is one of the uppermost. */
typedef struct wgmma_sums {
    int kind;  /* GF_WGMMA_SHORT and so on */
    int bytes; /* of a pixel */
    double factor;
    int base;
} wgmma_sums;

/* What the lowest digit counts, in sums. */
static double lowest(const wgmma_sums *sums)
{
    const bool third = sums->kind == GF_WGMMA_CARRIED || sums->kind == GF_WGMMA_TRIMMED;
    return third ? ldexp(1, -8 * sums->bytes) : 1;
}

/* The greatest number that digits below the uppermost hold. */
static int lower_digits(const wgmma_sums *sums)
{
    return sums->kind == GF_WGMMA_SHORT ? 0xff : 0xffff;
}

/* A tap as a number of lowest digits, and its uppermost digit. */
static int number_of(const wgmma_sums *sums, double tap)
{
    return (int)rint(tap * sums->factor / lowest(sums));
}
static int uppermost_of(const wgmma_sums *sums, int number, int *rest)
{
    const int worth = sums->base * ((lower_digits(sums) + 1) / 256);
    const int digit = number / worth < 255 ? number / worth : 255;
    *rest = number - digit * worth;
    return digit;
}

static double white_of(const wgmma_sums *sums) { return sums->bytes == 1 ? 255 : 65535; }

/* Levels that sums along rows can be wrong by at most for the taps' being rounded. */
static double digits_error(const double *taps, int n, const wgmma_sums *sums)
{
    double above = 0, below = 0;
    for (int i = 0; i < n; i++) {
        const double missed = number_of(sums, taps[i]) * lowest(sums) / sums->factor - taps[i];
        if (missed > 0)
            above += missed;
        else
            below -= missed;
    }
    return white_of(sums) * fmax(above, below);
}

static double largest_tap(const gfi_window *w)
{
    double largest = 0;
    for (int i = 0; i < w->kw; i++) largest = fmax(largest, w->term[0].row[i]);
    return largest;
}

/* A base with which digits hold all taps. Between two numbers whose uppermost digits differ some
 * are missing if it is more than 256, so again many are tried. */
static bool find_base(const gfi_window *w, wgmma_sums *sums)
{
    enum { LEAST = 256, TRIES = 256 };
    const int most = sums->bytes == 1 ? 1024 : LEAST;
    const double largest = largest_tap(w) * sums->factor;
    const int first = (int)fmax(LEAST, ceil((largest - 255) / 255));
    for (sums->base = first; sums->base <= most && sums->base < first + TRIES; sums->base++) {
        int held = 0, rest;
        for (int i = 0; i < w->kw; i++) {
            uppermost_of(sums, number_of(sums, w->term[0].row[i]), &rest);
            held += rest <= lower_digits(sums);
        }
        if (held == w->kw) return true;
    }
    return false;
}

/* What sums lose on average to what counts less than one of them: products of the lowest digits
 * with lower bytes of pixels are not made. */
static double lost_by_lowest(const gfi_window *w, const wgmma_sums *sums)
{
    double digits = 0;
    if (sums->bytes == 1) return 0;
    for (int i = 0; i < w->kw; i++) digits += number_of(sums, w->term[0].row[i]) & 255;
    return digits * 255 / 2 * lowest(sums);
}

static double gain_of(const gfi_window *w)
{
    return w->combine == GFI_COMBINE_SUM ? w->scale : w->amount;
}

/* Taps down columns, as often as makes sums results: of all bits of sums the upper ones are taken,
 * times 2^-24. */
static double down_factor(const gfi_window *w, const wgmma_sums *sums)
{
    const int cut = GF_WGMMA_SUM_BITS(sums->kind) - GF_WGMMA_UPPER_BITS;
    return ldexp(gain_of(w) / sums->factor, cut + 24 - 149 - GF_WGMMA_RESULT_EXPONENT(sums->bytes));
}

static double down_entry(const gfi_window *w, double factor, int place, int row, int k)
{
    const int i = 16 * place + k - row - (rise_of(w) - w->ay);
    return i >= 0 && i < w->kh ? w->term[0].col[i] * factor : 0;
}

/* Levels that sums along rows lose at most for the second pass: at each product what a float does
 * not hold is cut off. */
static double lost_by_cuts(const gfi_window *w, const wgmma_shape *s, const wgmma_sums *sums)
{
    const double row = gfi_halves_abs_sum(w->term[0].row, w->kw),
                 col = gfi_halves_abs_sum(w->term[0].col, w->kh);
    const double level = white_of(sums) * row * gain_of(w);
    double most = 0;
    for (int result = 0; result < GF_WGMMA_BAND_ROWS; result++) {
        double sum = 0, lost = 0;
        for (int place = 0; place < s->i; place++) {
            double taps = 0;
            for (int k = 0; k < 16; k++) taps += down_entry(w, 1, place, result, k);
            sum += taps;
            if (taps > 0) lost += 3 * ldexp(1, ilogb(sum * level) - 23);
        }
        most = fmax(most, lost);
    }
    return most / (gain_of(w) * col);
}

/* What the product of two low parts, which is left out, is at most. */
static double lost_by_low_parts(const gfi_window *w, const wgmma_sums *sums)
{
    enum { BITS = 11, LEAST = -24, LOW_BITS = 16 }; /* of binary16; of sums' low parts */
    const double factor = down_factor(w, sums);
    double above = 0, below = 0, all = 0;
    for (int i = 0; i < w->kh; i++) {
        const double tap = w->term[0].col[i] * factor;
        const int last = tap > 0 ? ilogb(tap) - BITS + 1 : LEAST;
        const double unit = ldexp(1, last > LEAST ? last : LEAST);
        const double low = tap - rint(tap / unit) * unit;
        all += tap;
        if (low > 0)
            above += low;
        else
            below -= low;
    }
    return ldexp(fmax(above, below) / all, LOW_BITS);
}

/* What they lose on average, for which they begin with more: half of the bits that are cut off when
 * they are split, too. */
static double lost(const gfi_window *w, const wgmma_shape *s, const wgmma_sums *sums)
{
    return GF_WGMMA_HALF_CUT(sums->kind) + lost_by_lowest(w, sums) +
           lost_by_cuts(w, s, sums) * sums->factor / 2;
}

/* Levels that sums along rows may be wrong by for the taps' being rounded: what results may be, but
 * for the other errors, of which lost() makes up for one half; cuts: lost_by_cuts(). */
static double digits_may_miss(const gfi_window *w, const wgmma_sums *sums, double cuts)
{
    static const double LEAST = 1e-3, SPLIT = 1.5e-4;
    const double allowed = fmax(LEAST, white_of(sums) * 0x1p-20 * w->abs_sum);
    const double row = gfi_halves_abs_sum(w->term[0].row, w->kw),
                 col = gfi_halves_abs_sum(w->term[0].col, w->kh);
    const double carry = 1;
    double other;
    if (sums->kind == GF_WGMMA_LONG)
        other = SPLIT * row * sums->factor;
    else
        other = GF_WGMMA_HALF_CUT(sums->kind) + carry + lost_by_low_parts(w, sums) +
                lost_by_lowest(w, sums);
    return allowed / (gain_of(w) * col) - other / sums->factor -
           (sums->bytes == 1 ? cuts : cuts / 2);
}

/* The largest factor: sums of taps have 24 bits where they are folded, sums of pixels 27 otherwise,
 * some of which are kept for what they begin with. */
static double largest_factor(const gfi_window *w, const wgmma_sums *sums)
{
    static const double KEPT = 4096;
    const double row = gfi_halves_abs_sum(w->term[0].row, w->kw);
    if (sums->kind == GF_WGMMA_LONG) return (0x1p24 - 1) / row;
    const double largest = (0x1p27 - KEPT) / white_of(sums) / row;
    return sums->bytes == 1 ? largest : fmin(largest, (0x1p24 - 1) * 0x1p-16 / largest_tap(w));
}

/* Of that kind sums which do for the window and the kernel; false when there are none. Each factor
 * is as good as another, so many are tried. */
static bool find_sums(const gfi_window *w, const wgmma_shape *s, int kind, wgmma_sums *sums)
{
    const int tries = kind == GF_WGMMA_SHORT ? 1 << 13 : 1 << 7;
    *sums = (wgmma_sums){ .kind = kind, .bytes = s->bytes, .base = 256 };
    const double largest = largest_factor(w, sums), cuts = lost_by_cuts(w, s, sums);
    for (int i = 0; i < tries; i++) {
        sums->factor = largest * (1 - i * 0.5 / tries);
        if (digits_error(w->term[0].row, w->kw, sums) <= digits_may_miss(w, sums, cuts) &&
            (kind == GF_WGMMA_LONG || find_base(w, sums)))
            return true;
    }
    return false;
}

static int kind_at_sides(const wgmma_shape *s) { return s->bytes == 1 ? GF_WGMMA_LONG : s->sums; }

/* The kernel for the window, which is usable, its sums, and those for the sides: if only these do,
 * they are to serve everywhere, and inner->factor is 0. */
static void choose(const gfi_request *request, const wgmma_shape **shape, wgmma_sums *inner,
                   wgmma_sums *sides)
{
    const gfi_window *w = request->window;
    const wgmma_shape *const first = shape_after(request, NULL);
    find_sums(w, first, kind_at_sides(first), sides);
    for (const wgmma_shape *s = first; s && s->k == first->k && s->i == first->i;
         s = shape_after(request, s)) {
        *shape = s;
        if (find_sums(w, s, s->sums, inner)) return;
    }
    *shape = first;
    inner->factor = 0;
}

/* ---- weights ------------------------------------------------------------------------------- */

/* The taps along rows of a warpgroup, as whole numbers: of each of its columns, what the columns of
 * the source count that it takes. */
typedef struct wgmma_along {
    const gfi_window *window;
    wgmma_sums sums;
    int k, x;     /* x: its first column */
    int width;    /* of the source */
    bool folded;  /* taps of columns outside count for those that stand for them */
    int *numbers; /* 32 * k for each column */
    bool complete;
} wgmma_along;

static void fill_numbers(wgmma_along *a)
{
    const gfi_window *w = a->window;
    const int places = 32 * a->k / a->sums.bytes, first = a->x - lead_of(w, a->sums.bytes);
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
                a->numbers[column * places + place] += number_of(&a->sums, w->term[0].row[i]);
        }
}

/* Of all digits the n-th, the uppermost one first; there is none before that. */
static int digit_of(const wgmma_sums *sums, int number, int n)
{
    int rest;
    const int uppermost = uppermost_of(sums, number, &rest);
    if (n <= 0) return n < 0 ? 0 : uppermost;
    return rest >> 8 * (GF_WGMMA_DIGITS(sums->kind) - 1 - n) & 255;
}

/* The lower byte of two counts for what the upper one does with the digit before. */
static unsigned char *fill_along(const wgmma_along *a, unsigned char *to)
{
    const int bytes = a->sums.bytes, places = 32 * a->k / bytes;
    for (int n = 0; n < GF_WGMMA_DIGITS(a->sums.kind) * a->k; n++)
        for (int i = 0; i < GF_WGMMA_ALONG_BYTES; i++) {
            const int row = i / 16 % GF_WGMMA_WIDTH;
            const int place = 32 * (n % a->k) + i / 16 / GF_WGMMA_WIDTH * 16 + i % 16;
            const int number = a->numbers[GF_WGMMA_COLUMN(row, bytes) * places + place / bytes];
            *to++ =
                (unsigned char)digit_of(&a->sums, number, n / a->k - (bytes - 1 - place % bytes));
        }
    return to;
}

/* High parts, low parts, and high parts for the lower bits of sums, which are as much too large as
 * there are of them. */
static unsigned char *fill_down(const gfi_window *w, const wgmma_shape *s, const wgmma_sums *sums,
                                unsigned char *to)
{
    const int all = s->i * GF_WGMMA_DOWN_BYTES, lower = GF_WGMMA_LOWER_BITS(sums->kind);
    const double factor = down_factor(w, sums);
    for (int place = 0; place < s->i; place++, to += GF_WGMMA_DOWN_BYTES)
        for (int row = 0; row < GF_WGMMA_BAND_ROWS; row++)
            for (int k = 0; k < 16; k += 2) {
                const double a = down_entry(w, factor, place, row, k);
                const double b = down_entry(w, factor, place, row, k + 1);
                unsigned char *const at =
                    to + k / 8 * GF_WGMMA_DOWN_BYTES / 2 + row * 16 + k % 8 * 2;
                uint32_t high, low, scaled, unused;
                gfi_halves_put(a, b, &high, &low);
                gfi_halves_put(ldexp(a, -lower), ldexp(b, -lower), &scaled, &unused);
                memcpy(at, &high, sizeof high);
                memcpy(at + all, &low, sizeof low);
                memcpy(at + 2 * all, &scaled, sizeof scaled);
            }
    return to + 2 * all;
}

/* Whether blocks at the sides need no mending, where pixels are bytes: columns outside are all the
 * same, or lie sixteen together at the other end, or their taps may be folded. */
static bool sides_fold(const gfi_request *request)
{
    enum { LEAST_WIDTH = 4 * GF_WGMMA_WIDTH }; /* no warpgroup has both sides */
    const gfi_window *w = request->window;
    const bool even = request->in.width % CHUNK == 0;
    if (request->in.pixel != GF_PIXEL_U8 || request->in.width < LEAST_WIDTH) return false;
    if (w->border == GF_BORDER_WRAP) return even;
    return w->border != GF_BORDER_CONSTANT || w->border_value == 0 || even;
}

/* The first column of a kind of warpgroup at the sides: see gf_wgmma_side(). */
static int side_column(int width, int side)
{
    const int last = (width - 1) / GF_WGMMA_WIDTH * GF_WGMMA_WIDTH;
    return side == 2 ? last : side == 3 ? last - GF_WGMMA_WIDTH : 0;
}

static size_t inner_bytes(const wgmma_shape *s)
{
    return (size_t)(GF_WGMMA_ALL_DOWN_BYTES(s->i) + GF_WGMMA_ALL_ALONG_BYTES(s->k, s->sums));
}

static size_t weight_bytes(const wgmma_shape *s)
{
    const size_t sides = (size_t)(GF_WGMMA_ALL_DOWN_BYTES(s->i) +
                                  GF_WGMMA_SIDES * GF_WGMMA_ALL_ALONG_BYTES(s->k, GF_WGMMA_LONG));
    return inner_bytes(s) + (s->bytes == 1 ? sides : 0);
}

static void fill_sides(const gfi_request *request, wgmma_along *a, unsigned char *to, bool *folds)
{
    const gfi_window *w = request->window;
    a->complete = true;
    for (int side = 0; side < GF_WGMMA_SIDES; side++) {
        a->folded =
            side > 0 && *folds && w->border != GF_BORDER_WRAP && w->border != GF_BORDER_CONSTANT;
        a->x = side_column(request->in.width, side);
        fill_numbers(a);
        to = fill_along(a, to);
    }
    *folds &= a->complete;
}

/* All taps, into zeroed memory, those of most blocks if there are any; *folds: whether those of the
 * sides could be folded. */
static gf_status fill_weights(const gfi_request *request, const wgmma_shape *s,
                              const wgmma_sums *inner, const wgmma_sums *sides, unsigned char *to,
                              bool *folds)
{
    const gfi_window *w = request->window;
    wgmma_along a = { .window = w, .sums = *inner, .k = s->k, .width = request->in.width };
    a.numbers = gfi_alloc((size_t)(32 * s->k * GF_WGMMA_WIDTH), sizeof *a.numbers, "taps");
    if (!a.numbers) return GF_ERROR_NO_MEMORY;
    if (inner->factor > 0) {
        fill_numbers(&a);
        fill_along(&a, fill_down(w, s, inner, to));
    }
    if (s->bytes == 1) {
        a.sums = *sides;
        fill_sides(request, &a, fill_down(w, s, sides, to + inner_bytes(s)), folds);
    }
    gfi_free(a.numbers);
    return GF_OK;
}

/* The kernel for the window, all taps in device memory, and what arguments say of them. */
static gf_status prepare_weights(const gfi_request *request, wgmma_state *state)
{
    wgmma_sums inner, sides;
    bool folds = sides_fold(request);
    choose(request, &state->shape, &inner, &sides);
    const wgmma_shape *const s = state->shape;
    const size_t n_bytes = weight_bytes(s);
    unsigned char *const bytes = gfi_alloc_zero(n_bytes, 1, "weights");
    if (!bytes) return GF_ERROR_NO_MEMORY;
    gf_status status = fill_weights(request, s, &inner, &sides, bytes, &folds);
    if (status == GF_OK)
        status = gfi_window_upload_bytes(request->queue, bytes, n_bytes, &state->weights);
    gfi_free(bytes);
    const char *const weights = state->weights;
    gf_wgmma_args *const args = &state->args;
    args->inner = inner.factor > 0 ? weights : NULL;
    args->sides = s->bytes == 1 ? weights + inner_bytes(s) : weights;
    args->base = inner.base;
    args->add = inner.factor > 0 ? (int)rint(lost(request->window, s, &inner)) : 0;
    args->folds = folds;
    return status;
}

/* ---- launch -------------------------------------------------------------------------------- */

typedef struct wgmma_launch {
    int blocks, sides_blocks;
    int sides, strips; /* strips whose blocks have half the rows, as they take longer; others */
    int rows;          /* of a block that is not at the sides */
    double ns;         /* expected time of its work, and of what the last blocks take longer */
    double last_ns;
} wgmma_launch;

/* The first strip and the last one take longer, and the one before if columns that it takes are
 * outside. */
static int sides_of(const gfi_request *request, const wgmma_shape *s, int strips)
{
    const int columns = GF_WGMMA_WIDTH * s->groups;
    const int taken = CHUNK / s->bytes * GF_WGMMA_CHUNKS(s->k, s->groups, s->bytes);
    const int from = (strips - 2) * columns - lead_of(request->window, s->bytes);
    if (strips < 4) return 0;
    return from + taken > request->in.width ? 3 : 2;
}

/* Steps of a block of so many rows: before its first results it has the sums they need, and waits
 * for pixels. */
static double steps_of(const wgmma_shape *s, int rows)
{
    static const double START = 1;
    const int lag = GF_WGMMA_BAND_ROWS * (GF_WGMMA_BANDS(s->i) - 1);
    return gfi_divide_up(rows + lag, GF_WGMMA_ROWS) + START;
}

/* A launch of blocks of so many rows. Of a batch there are so many that they fill the chip however
 * long they take, but for LAST of them at the end. */
static wgmma_launch launch_of(const gfi_request *request, const wgmma_shape *s, int rows)
{
    static const double LAST = 0.65; /* measured */
    const double slots = (double)gfi_window_chip(request).multiprocessors * s->blocks;
    const int strips = gfi_divide_up(request->out.width, GF_WGMMA_WIDTH * s->groups);
    wgmma_launch launch = { .sides = sides_of(request, s, strips), .rows = rows };
    launch.strips = strips - launch.sides;
    launch.sides_blocks = launch.sides * gfi_divide_up(request->out.height, rows / 2);
    launch.blocks = launch.sides_blocks + launch.strips * gfi_divide_up(request->out.height, rows);
    launch.ns = ceil(launch.blocks / slots) * steps_of(s, rows) * s->step_ns;
    if (request->usual_images > 1) {
        launch.last_ns = LAST * steps_of(s, rows) * s->step_ns;
        launch.ns = (launch.sides_blocks * steps_of(s, rows / 2) +
                     (launch.blocks - launch.sides_blocks) * steps_of(s, rows)) /
                    slots * s->step_ns;
    }
    return launch;
}

/* Blocks of such a height that they take the least time, that is, nearly fill the chip some times
 * over. */
static wgmma_launch plan_launch(const gfi_request *request, const wgmma_shape *s)
{
    enum { MOST = 256, UNIT = 2 * GF_WGMMA_BAND_ROWS };
    const int units = gfi_divide_up(request->out.height, UNIT);
    wgmma_launch best = launch_of(request, s, units * UNIT);
    for (int n = 2; n <= units && n <= MOST; n++) {
        const wgmma_launch launch = launch_of(request, s, gfi_divide_up(units, n) * UNIT);
        if (launch.ns + launch.last_ns < best.ns + best.last_ns) best = launch;
    }
    return best;
}

/* ---- choice -------------------------------------------------------------------------------- */

static bool pixels_fit(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    if (request->in.pixel == GF_PIXEL_F32 || request->out.pixel != request->in.pixel ||
        request->n_fused > 0)
        return gfi_window_unusable(why, "source and result are not both u8, or u16");
    if (request->window->combine == GFI_COMBINE_UNSHARP && request->in.pixel != GF_PIXEL_U8)
        return gfi_window_unusable(why, "unsharp masks serve for u8 only");
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
    const double white = request->in.pixel == GF_PIXEL_U8 ? 255 : 65535;
    if (w->combine == GFI_COMBINE_SUM && !gfi_window_is_narrow(w, white))
        return gfi_window_unusable(why, "results may need to be clamped");
    if (w->combine == GFI_COMBINE_UNSHARP &&
        (w->threshold != 0 || w->amount <= 0 || w->amount > MOST_AMOUNT))
        return gfi_window_unusable(why, "a threshold of %g, an amount of %g", w->threshold,
                                   w->amount);
    const wgmma_shape *shape = shape_after(request, NULL);
    wgmma_sums sums;
    if (!shape) return gfi_window_unusable(why, "a window of %dx%d is too long", w->kw, w->kh);
    if (!find_sums(w, shape, kind_at_sides(shape), &sums))
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
    double ns = plan_launch(request, shape_after(request, NULL)).ns;
    if (request->in.pixel == GF_PIXEL_U8 && !sides_fold(request)) ns *= 1 + w->kw * MENDED;
    return gfi_launch_bound_ns(&chip, ns, gfi_window_bytes(request));
}

/* ---- prepare and run ----------------------------------------------------------------------- */

static void fill_args(const gfi_request *request, const wgmma_shape *s, const wgmma_launch *launch,
                      gf_wgmma_args *args)
{
    static const int OWN = GF_WGMMA_RESULT_EXPONENT(1) + GF_WGMMA_OWN_EXPONENT;
    const gfi_window *w = request->window;
    args->lead = lead_of(w, s->bytes), args->rise = rise_of(w);
    args->near = w->ax, args->trail = w->kw - 1 - w->ax;
    args->rows = launch->rows, args->sides_blocks = launch->sides_blocks;
    args->side_strips = launch->sides, args->strips = launch->strips;
    args->border = (int)w->border;
    if (w->border == GF_BORDER_CONSTANT)
        args->border_word = (unsigned)w->border_value * (s->bytes == 1 ? 0x01010101u : 0x00010001u);
    args->start = ldexpf((float)w->offset, -149);
    args->own = ldexpf((float)(1 + w->amount), -OWN);
}

static void destroy(const gfi_request *request, void *state)
{
    wgmma_state *s = state;
    if (s->weights) gfi_device_free(request->queue, s->weights);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    wgmma_state *s = state;
    GFI_TRY(prepare_weights(request, s));
    const wgmma_launch launch = plan_launch(request, s->shape);
    fill_args(request, s->shape, &launch, &s->args);
    s->config =
        (gfi_launch_config){ .grid = { (unsigned)launch.blocks, 1, 1 },
                             .block = { (unsigned)GF_WGMMA_THREADS(s->shape->groups), 1, 1 },
                             .shared_bytes = s->shape->shared_bytes };
    return gfi_kernel_find(gfi_queue_device(request->queue), s->shape->name, &s->kernel);
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
             32 * s->shape->k, s->args.inner ? GF_WGMMA_DIGITS(s->shape->sums) : 3, s->args.rows,
             s->args.folds ? "folded" : "mended", s->config.shared_bytes / 1024);
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
