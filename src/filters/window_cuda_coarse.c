/* Large smooth separable windows from a coarse grid: kernels/coarse.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/coarse_fit.h"
#include "filters/kimage.h"
#include "kernels/coarse.variants.h"

enum { LEAST_STEP = GF_COARSE_GROUP, INTERVAL = 4 /* grid points that a result looks at */ };

/* Pixels of this size or more might overflow on the way. */
static const float WILD = 0x1p100f;

/* A plan for a window: the fit, and a grid in x for the rest in y. */
typedef struct coarse_shape {
    gfi_coarse_fit *fit;
    int from, to; /* columns of a block of source pixels, and of result pixels */
    int grid_step;
    int half;          /* intervals on each side that a grid point takes in */
    float *block_taps; /* 2 * half for sums, then for moments */
    float *bends;      /* 8 for each block of results in an interval */
    double error;      /* sum |taps - what is computed| in two dimensions */
} coarse_shape;

typedef struct coarse_state {
    gfi_queue *queue;
    const gfi_kernel *down, *blocks, *columns, *wide, *up, *redo;
    coarse_shape shape;
    gf_coarse_args args; /* complete but for the images */
    void *memory[14];    /* of the device */
    int n_memory;
    size_t bytes, shared_bytes;
} coarse_state;

/* ---- how exact it must be ------------------------------------------------------------------ */

/* The numbers contract, of sum |taps| = 1, less what arithmetic in float adds. From u8 to integers
 * 1e-3 of 255 levels may be missing. */
static double allowed_error(const gfi_request *request)
{
    static const double ARITHMETIC = 1.2e-7;
    const bool levels = request->in.pixel == GF_PIXEL_U8 && request->out.pixel != GF_PIXEL_F32;
    return (levels ? 1e-3 / 255 : 0x1p-20) - ARITHMETIC;
}

/* Whether `down` multiplies bytes by digits of phi. */
static bool by_digits(const gfi_request *request) { return request->in.pixel != GF_PIXEL_F32; }

static bool may_be_rough(const gfi_request *request) { return allowed_error(request) > 0x1p-20; }

/* Steps to try first: nodes as far apart as may do. */
static int first_step(const gfi_request *request, double sigma)
{
    const double step = sigma / (may_be_rough(request) ? 1.97 : 2.4);
    return step < GF_COARSE_MOST_STEP ? (int)step / GF_COARSE_GROUP * GF_COARSE_GROUP
                                      : GF_COARSE_MOST_STEP;
}

/* ---- the grid of blocks -------------------------------------------------------------------- */

static double smooth_at(const gfi_coarse_fit *f, int k)
{
    return abs(k) <= f->smooth_reach ? f->smooth[abs(k)] : 0;
}

/* Intervals from -half to half - 1 about a grid point: the straight line nearest to the smooth taps
 * over each. */
static void make_block_taps(coarse_shape *s)
{
    const int n = s->grid_step;
    const bool merges = n > s->from;
    for (int j = -s->half; j < s->half; j++) {
        double level = 0, slope = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            const double t = i - 0.5 * (n - 1);
            level += smooth_at(s->fit, j * n + i) / n;
            slope += smooth_at(s->fit, j * n + i) * t;
            squares += t * t;
        }
        slope /= squares;
        s->block_taps[j + s->half] =
            (float)(merges ? gfi_coarse_met(level) : (double)gfi_coarse_tf32(level));
        s->block_taps[j + 3 * s->half] =
            (float)(merges ? gfi_coarse_met(slope) : (double)gfi_coarse_tf32(slope));
    }
}

/* Weights of the points -1, 0, 1, 2 in the cubic through them. */
static void cubic(double t, double weight[INTERVAL])
{
    weight[0] = -t * (t - 1) * (t - 2) / 6;
    weight[1] = (t + 1) * (t - 1) * (t - 2) / 2;
    weight[2] = -(t + 1) * t * (t - 2) / 2;
    weight[3] = (t + 1) * t * (t - 1) / 6;
}

/* For each block of results in an interval the straight line nearest to the cubic. */
static void make_bends(coarse_shape *s)
{
    for (int block = 0; block < s->grid_step / s->to; block++) {
        double level[INTERVAL] = { 0 }, slope[INTERVAL] = { 0 }, squares = 0;
        for (int i = 0; i < s->to; i++) {
            const double t = i - 0.5 * (s->to - 1);
            double weight[INTERVAL];
            cubic((block * s->to + i) / (double)s->grid_step, weight);
            for (int k = 0; k < INTERVAL; k++) {
                level[k] += weight[k] / s->to;
                slope[k] += weight[k] * t;
            }
            squares += t * t;
        }
        for (int k = 0; k < INTERVAL; k++) {
            s->bends[8 * block + k] = (float)level[k];
            s->bends[8 * block + INTERVAL + k] = (float)(slope[k] / squares);
        }
    }
}

/* What a grid point makes of the pixels from its first interval on. */
static void make_point(const coarse_shape *s, double *point)
{
    for (int j = 0; j < 2 * s->half; j++)
        for (int i = 0; i < s->grid_step; i++)
            *point++ = (double)s->block_taps[j] +
                       (i - 0.5 * (s->grid_step - 1)) * (double)s->block_taps[2 * s->half + j];
}

static double sum_of_sizes(const double *v, int n)
{
    double sum[4] = { 0 };
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += fabs(v[i + k]);
    for (; i < n; i++) sum[0] += fabs(v[i]);
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* sum |crude - smooth| for result x of an interval; own: minus the smooth taps, 2 reach + 1. */
static double crude_error(const coarse_shape *s, const double *point, int x, int reach, double *own)
{
    const float *bend = s->bends + 8 * (x / s->to);
    const double t = x % s->to - 0.5 * (s->to - 1);
    const int n = s->grid_step, n_point = 2 * s->half * n;
    for (int i = 0; i < INTERVAL; i++) {
        const double weight = (double)bend[i] + t * (double)bend[INTERVAL + i];
        double *to = own + reach - x + (i - 1) * n - s->half * n;
        for (int k = 0; k < n_point; k++) to[k] += weight * point[k];
    }
    return sum_of_sizes(own, 2 * reach + 1);
}

/* The same at the worst of them. */
static gf_status worst_crude_error(const coarse_shape *s, double *out)
{
    const int n_point = 2 * s->half * s->grid_step, grid_reach = (s->half + 2) * s->grid_step;
    const int reach = grid_reach > s->fit->smooth_reach ? grid_reach : s->fit->smooth_reach;
    const int n_taps = 2 * reach + 1;
    double *point = gfi_alloc((size_t)(n_point + 2 * n_taps), sizeof *point, "taps");
    if (!point) return GF_ERROR_NO_MEMORY;
    double *minus = point + n_point, *own = minus + n_taps;
    make_point(s, point);
    for (int k = -reach; k <= reach; k++) minus[reach + k] = -smooth_at(s->fit, k);
    *out = 0;
    for (int x = 0; x < s->grid_step; x++) {
        memcpy(own, minus, (size_t)n_taps * sizeof *own);
        *out = fmax(*out, crude_error(s, point, x, reach, own));
    }
    gfi_free(point);
    return GF_OK;
}

/* The last term: the rest loses this much more as the rows and the grid are cut, and taps with the
 * window's scale rounded; and as blocks are rounded to bfloat16, and cut where several are taken
 * together. */
static double whole_error(const coarse_shape *s, double crude)
{
    static const double BFLOAT16 = 0x1p-9, CUT = GFI_COARSE_CUT, TAPS = 0x1p-12;
    const gfi_coarse_fit *f = s->fit;
    const double blocks = crude + BFLOAT16 + (s->grid_step > s->from ? CUT : 0);
    return f->error * (2 + f->error) + f->rest_sum * (f->rest_sum + blocks + 2 * CUT + TAPS);
}

/* ---- shape --------------------------------------------------------------------------------- */

static void shape_free(coarse_shape *s)
{
    gfi_coarse_fit_destroy(&s->fit);
    gfi_free(s->block_taps);
    gfi_free(s->bends);
    s->block_taps = s->bends = NULL;
}

/* With nodes `step` apart. */
static gf_status shape_with(const gfi_request *request, int step, coarse_shape *s)
{
    const gfi_window *w = request->window;
    *s = (coarse_shape){ .from = GF_COARSE_COLUMNS((int)request->in.pixel),
                         .to = GF_COARSE_COLUMNS((int)request->out.pixel) };
    const double rest = may_be_rough(request) ? 0.95 : 1.15;
    const int digits = by_digits(request) ? GF_COARSE_DIGITS : 0;
    GFI_TRY(gfi_coarse_fit_create(w->term[0].row, w->kw, step, rest, digits, &s->fit));
    s->error = s->fit->error * (2 + s->fit->error);
    if (s->error > allowed_error(request)) return GF_OK; /* the rest cannot mend that */
    const double sigma = s->fit->sigma;
    const int unit = s->from > s->to ? s->from : s->to;
    const int steps = (int)((may_be_rough(request) ? 0.82 : 0.4) * sigma / unit);
    s->grid_step = unit * (steps > 1 ? steps : 1);
    s->half = (int)ceil((may_be_rough(request) ? 2.6 : 3.8) * sigma / s->grid_step);
    s->block_taps = gfi_alloc_zero(4 * (size_t)s->half, sizeof(float), "taps");
    s->bends = gfi_alloc_zero(8 * (size_t)(s->grid_step / s->to), sizeof(float), "taps");
    if (!s->block_taps || !s->bends) return GF_ERROR_NO_MEMORY;
    make_block_taps(s);
    make_bends(s);
    double crude = 0;
    GFI_TRY(worst_crude_error(s, &crude));
    s->error = whole_error(s, crude);
    return GF_OK;
}

/* The widest step that is exact enough, of the few that could be; else the error stays. */
static gf_status shape_of(const gfi_request *request, coarse_shape *s)
{
    enum { TRIES = 3 };
    const gfi_window *w = request->window;
    int step = first_step(request, gfi_coarse_sigma(w->term[0].row, w->kw));
    gf_status status = GF_OK;
    for (int tries = 0; tries < TRIES && step >= LEAST_STEP; tries++, step -= GF_COARSE_GROUP) {
        if (tries) shape_free(s);
        status = shape_with(request, step, s);
        if (status != GF_OK || s->error <= allowed_error(request)) break;
    }
    if (status != GF_OK) shape_free(s);
    return status;
}

/* ---- choice -------------------------------------------------------------------------------- */

/* Wild pixels are redone with all taps, which lie in device memory; and there are 65535 blocks of
 * threads to a column of them, one for every node. */
enum { MOST_TAPS = 2047, MOST_ROWS = LEAST_STEP * 65000 };

static bool same_taps(const gfi_window *w)
{
    return w->kw == w->kh &&
           memcmp(w->term[0].row, w->term[0].col, (size_t)w->kw * sizeof *w->term[0].row) == 0;
}

static bool window_fits(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_direct || w->force_fft)
        return gfi_window_unusable(why, "another method is asked for");
    if (w->n_terms != 1) return gfi_window_unusable(why, "the window is not one separable term");
    if (w->combine != GFI_COMBINE_SUM) return gfi_window_unusable(why, "serves weighted sums only");
    if (!same_taps(w)) return gfi_window_unusable(why, "the axes' taps differ");
    if (w->ax != w->kw / 2 || w->ay != w->kh / 2)
        return gfi_window_unusable(why, "the anchor is not in the middle");
    if (request->in.width != request->out.width || request->in.height != request->out.height)
        return gfi_window_unusable(why, "the result is not as large as the image");
    if (request->out.height > MOST_ROWS)
        return gfi_window_unusable(why, "more than %d rows", MOST_ROWS);
    return true;
}

/* A constant border is made of source pixels. */
static bool border_fits(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const double v = request->window->border_value;
    const double most = request->in.pixel == GF_PIXEL_U8    ? 255
                        : request->in.pixel == GF_PIXEL_U16 ? 65535
                                                            : (double)WILD / 2;
    const bool whole = request->in.pixel == GF_PIXEL_F32 || (v >= 0 && v == rint(v));
    if (request->window->border != GF_BORDER_CONSTANT || (whole && fabs(v) <= most)) return true;
    return gfi_window_unusable(why, "border value %g is no %s pixel", v,
                               gf_pixel_name(request->in.pixel));
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (!window_fits(request, why) || !border_fits(request, why) ||
        !gfi_window_countable(request, why) || !gfi_window_has_tensor(request, why))
        return false;
    const double sigma = gfi_coarse_sigma(w->term[0].row, w->kw);
    if (w->kw > MOST_TAPS) return gfi_window_unusable(why, "more than %d taps a side", MOST_TAPS);
    if (first_step(request, sigma) < LEAST_STEP)
        return gfi_window_unusable(why, "the window is not wide, or not symmetric and positive");
    coarse_shape shape = { 0 };
    if (shape_of(request, &shape) != GF_OK) return gfi_window_unusable(why, "out of memory");
    const double error = shape.error, allowed = allowed_error(request);
    shape_free(&shape);
    if (error <= allowed) return true;
    return gfi_window_unusable(why, "misses the taps by %.1e of their sum, %.1e is allowed", error,
                               allowed);
}

/* 2026-11-30, H200, 8192^2, Gaussians: u8 with sigma 10, 20, 30, 60, 100, 200 (steps of 4, 8, 12,
 * 28, 44, 64) 0.427 0.274 0.260 0.260 0.326 0.391 ms; u16 with 10, 30, 100 0.615 0.400 0.489 ms;
 * f32 with 10, 20, 30, 60, 100 0.611 0.547 0.425 0.400 0.427 ms. u8 with 30, 4096^2 and 1024^2:
 * 0.113 0.053 ms, with 100, 1024^2: 0.111 ms. What a walk through a long step takes is seen in
 * small images. */
static double cost_ns(const gfi_request *request)
{
    static const double LAUNCHES_NS = 40e3, STEP_NS = 1.2e3, BYTES_NS = 1.55e-3, OTHERS_NS = 3.7e-3;
    static const double NODES_NS = 15.7e-3, MEASURED_ON = 132;
    const gfi_window *w = request->window;
    const double step = first_step(request, gfi_coarse_sigma(w->term[0].row, w->kw));
    const double pixels = (request->out.width + 2.0 * w->kw) * (request->out.height + 2.0 * w->kh);
    const double pixel_ns =
        (request->in.pixel == GF_PIXEL_U8 ? BYTES_NS : OTHERS_NS) + NODES_NS / step;
    return LAUNCHES_NS + STEP_NS * step +
           pixels * pixel_ns * MEASURED_ON / gfi_window_chip(request).multiprocessors;
}

/* ---- prepare ------------------------------------------------------------------------------- */

static gf_status take(coarse_state *s, size_t rows, size_t row_bytes, void *out)
{
    size_t bytes;
    void *memory = NULL;
    if (!gfi_mul(rows, row_bytes, &bytes))
        return gfi_fail(GF_ERROR_DEVICE_MEMORY, "scratch of %zu x %zu bytes", rows, row_bytes);
    GFI_TRY(gfi_device_alloc(s->queue, bytes, &memory));
    s->memory[s->n_memory++] = memory;
    s->bytes += bytes;
    memcpy(out, &memory, sizeof memory);
    return GF_OK;
}

static gf_status take_bytes(coarse_state *s, const void *from, size_t n, void *out)
{
    void *memory = NULL;
    GFI_TRY(take(s, n, 1, &memory));
    memcpy(out, &memory, sizeof memory);
    return gfi_upload(s->queue, memory, from, n);
}

/* All taps, for wild pixels. */
static gf_status upload_window(const gfi_window *w, coarse_state *s)
{
    const size_t kw = (size_t)w->kw, n = kw * (size_t)w->kh;
    float *taps = gfi_alloc(n, sizeof *taps, "taps");
    if (!taps) return GF_ERROR_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        taps[i] = (float)(w->term[0].col[i / kw] * w->term[0].row[i % kw]);
    const gf_status status = take_bytes(s, taps, n * sizeof *taps, &s->args.taps);
    gfi_free(taps);
    return status;
}

/* The rest's taps before the window begin at offset from[0] or little after it, and those after it
 * at from[1]. A step of a product takes eight; sixteen results a place apart take part in one. */
static void place_rest(const gfi_coarse_fit *f, gf_coarse_args *a)
{
    a->rest_from[0] = -gfi_round_up(f->radius + f->rest_n, 4);
    a->rest_from[1] = (f->radius + 1) / 4 * 4;
    a->rest_steps = gfi_divide_up(f->rest_n + 3 + 15, 8);
    a->node_n = gfi_round_up(2 * f->reach + GF_COARSE_ROWS, GF_COARSE_ROWS);
}

/* For u8 results the taps in y have the window's scale. */
static double column_scale(const gfi_request *request)
{
    return request->out.pixel == GF_PIXEL_U8 ? request->window->scale : 1;
}

static gf_status upload_nodes(const gfi_request *request, coarse_state *s)
{
    const gfi_coarse_fit *f = s->shape.fit;
    const size_t n = (size_t)s->args.node_n;
    const double scale = column_scale(request);
    float *taps = gfi_alloc_zero(2 * n, sizeof *taps, "taps");
    if (!taps) return GF_ERROR_NO_MEMORY;
    for (int i = 0; i <= 2 * f->reach; i++) {
        taps[i] = (float)f->node[i];
        taps[n + (size_t)i] = (float)(scale * f->node[i]);
    }
    const gf_status status = take_bytes(s, taps, 2 * n * sizeof *taps, &s->args.node_taps);
    gfi_free(taps);
    s->args.column_taps = s->args.node_taps + n;
    return status;
}

/* Lanes of a product, 4 g + t: g is the row or column, t the place along the sum. */
enum { LANES = 32 };

static double rest_tap(const coarse_state *s, int side, int i)
{
    const gfi_coarse_fit *f = s->shape.fit;
    const int k = abs(s->args.rest_from[side] + i) - f->radius - 1;
    return i >= 0 && k >= 0 && k < f->rest_n ? f->rest[k] : 0;
}

/* The rest in y is a left operand, of results g and g + 8. */
static void fill_bend(const coarse_state *s, double scale, float *to)
{
    for (int side = 0; side < 2; side++)
        for (int k = 0; k < s->args.rest_steps; k++)
            for (int lane = 0; lane < LANES; lane++)
                for (int part = 0; part < 4; part++) {
                    const int i = 8 * k + lane % 4 + part / 2 * 4 - lane / 4 - part % 2 * 8;
                    *to++ = gfi_coarse_part(scale * rest_tap(s, side, i));
                }
}

static gf_status upload_rest(const gfi_request *request, coarse_state *s)
{
    const size_t n_list = (size_t)GF_COARSE_REST_N(s->args.rest_steps);
    const size_t n_bend = 2 * 4 * LANES * (size_t)s->args.rest_steps, n = n_bend + 2 * n_list;
    const float *device = NULL;
    float *taps = gfi_alloc_zero(n, sizeof *taps, "taps");
    if (!taps) return GF_ERROR_NO_MEMORY;
    fill_bend(s, column_scale(request), taps);
    for (size_t i = GF_COARSE_REST_ZEROS; i < n_list; i++)
        for (int side = 0; side < 2; side++)
            taps[n_bend + (size_t)side * n_list + i] =
                gfi_coarse_part(rest_tap(s, side, (int)i - GF_COARSE_REST_ZEROS));
    const gf_status status = take_bytes(s, taps, n * sizeof *taps, &device);
    gfi_free(taps);
    s->args.bend_parts = device;
    s->args.rest_taps = device + n_bend;
    return status;
}

/* The right operand, of result g of eight. */
static gf_status upload_blocks(coarse_state *s)
{
    const int taps = 2 * s->shape.half, steps = s->args.block_steps;
    const size_t n = 2 * 2 * LANES * (size_t)steps;
    float *parts = gfi_alloc(n, sizeof *parts, "taps"), *to = parts;
    if (!parts) return GF_ERROR_NO_MEMORY;
    for (int list = 0; list < 2; list++)
        for (int k = 0; k < steps; k++)
            for (int lane = 0; lane < LANES; lane++)
                for (int half = 0; half < 2; half++) {
                    const int i = 8 * k + 4 * half + lane % 4 - lane / 4;
                    const double tap =
                        i >= 0 && i < taps ? (double)s->shape.block_taps[list * taps + i] : 0;
                    *to++ = s->args.block_step > 1 ? gfi_coarse_part(tap) : gfi_coarse_tf32(tap);
                }
    const gf_status status = take_bytes(s, parts, n * sizeof *parts, &s->args.block_parts);
    gfi_free(parts);
    return status;
}

/* Digit d, with sign, of a whole number. */
static unsigned digit_of(double whole, int d)
{
    enum { BASE = 256 };
    int v = (int)whole, digit = 0;
    for (int i = 0; i <= d; i++) {
        digit = ((v + BASE / 2) & (BASE - 1)) - BASE / 2;
        v = (v - digit) / BASE;
    }
    return (unsigned)digit & (BASE - 1);
}

/* Digit d of phi for row `row` of eight nodes' rows, and the three rows after it, of node n. */
static uint32_t four_digits(const gfi_coarse_fit *f, int row, int n, int d)
{
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        const int at = row + i - n * f->step;
        if (at >= 0 && at < GF_COARSE_SPAN * f->step)
            word |= digit_of(f->phi[at] / f->unit, d) << 8 * i;
    }
    return word;
}

/* Two words of each digit: of rows 4 t and 16 + 4 t of a step and node g; two digits first. */
static gf_status upload_digits(coarse_state *s)
{
    const gfi_coarse_fit *f = s->shape.fit;
    const size_t step_words = GF_COARSE_STEP_WORDS;
    uint32_t *words =
                 gfi_alloc_zero((size_t)s->args.group_steps * step_words, sizeof *words, "taps"),
             *to = words;
    if (!words) return GF_ERROR_NO_MEMORY;
    for (int k = 0; k < s->args.group_steps; k++)
        for (int first = 0; first < GF_COARSE_DIGITS; first += 2)
            for (int lane = 0; lane < LANES; lane++)
                for (int d = first; d < first + 2 && d < GF_COARSE_DIGITS; d++)
                    for (int half = 0; half < 2; half++)
                        *to++ = four_digits(f, 32 * k + 16 * half + lane % 4 * 4, lane / 4, d);
    const size_t bytes = (size_t)s->args.group_steps * step_words * sizeof *words;
    const gf_status status = take_bytes(s, words, bytes, &s->args.digits);
    gfi_free(words);
    return status;
}

static gf_status upload_taps(const gfi_request *request, coarse_state *s)
{
    const size_t n_bends = 8 * (size_t)(s->shape.grid_step / s->shape.to);
    GFI_TRY(upload_nodes(request, s));
    GFI_TRY(upload_rest(request, s));
    GFI_TRY(upload_blocks(s));
    GFI_TRY(take_bytes(s, s->shape.bends, n_bends * sizeof(float), &s->args.bends));
    if (by_digits(request)) GFI_TRY(upload_digits(s));
    return request->in.pixel == GF_PIXEL_F32 ? upload_window(request->window, s) : GF_OK;
}

static void set_phi(const gfi_coarse_fit *f, gf_coarse_args *a)
{
    for (int p = 0; p < f->step; p++)
        for (int m = 0; m < GF_COARSE_SPAN; m++)
            a->phi[p * GF_COARSE_SPAN + m] = (float)f->phi[p + m * f->step];
}

/* What a border of one value becomes on the way. */
static void set_outside(const gfi_request *request, const coarse_shape *s, gf_coarse_args *a)
{
    const gfi_coarse_fit *f = s->fit;
    double phi = 0, nodes = 0, blocks = 0;
    for (int i = 0; i < GF_COARSE_SPAN * f->step; i++) phi += f->phi[i];
    for (int i = 0; i <= 2 * f->reach; i++) nodes += f->node[i];
    for (int i = 0; i < 2 * s->half; i++) blocks += s->grid_step * (double)s->block_taps[i];
    a->outside = (float)((double)a->border_value * phi * nodes * column_scale(request));
    a->bent_outside = (float)((double)a->border_value * blocks);
}

/* Sizes of what lies between the passes. */
static void set_sizes(const gfi_request *request, const coarse_shape *s, gf_coarse_args *a)
{
    enum { SEGMENT = GF_COARSE_SEGMENT };
    const gfi_coarse_fit *f = s->fit;
    const int width = request->out.width, height = request->out.height;
    a->step = f->step;
    a->reach = f->reach;
    a->wide_rows = (height - 1) / f->step + GF_COARSE_SPAN;
    a->nodes = a->wide_rows + 2 * f->reach;
    a->pitch = gfi_round_up(width, 8);
    a->grid_step = s->grid_step;
    a->block_steps = gfi_divide_up(2 * s->half + 7, 8);
    a->block_step = s->grid_step / s->from;
    a->block_left = s->grid_step * (1 + s->half);
    a->grid_columns = (width - 1) / s->grid_step + INTERVAL;
    a->grid_pitch = gfi_round_up(a->grid_columns, 4);
    a->bend_blocks =
        gfi_divide_up(a->grid_pitch, 32) * gfi_divide_up(height, GF_COARSE_WIDE_THREADS / 2);
    const int block_columns = GF_COARSE_BLOCK_COLUMNS - 8 * a->block_steps;
    a->blocks_across = gfi_divide_up(a->grid_pitch, block_columns);
    a->block_pitch = (a->grid_columns - 1 + 2 * s->half) * a->block_step;
    a->segment = SEGMENT;
    a->segments = gfi_divide_up(a->pitch, SEGMENT);
    a->step_inverse = gfi_divide_up(1 << GF_COARSE_INVERSE_BITS, f->step);
    a->lead = gfi_round_up((GF_COARSE_SPAN + f->reach) * f->step, 8);
    const int right = (GF_COARSE_SPAN + f->reach) * f->step,
              rest = a->rest_from[1] + 8 * a->rest_steps;
    a->held = a->segment + a->lead + gfi_round_up(right > rest ? right : rest, 8);
}

/* Blocks of threads of `down` side by side. */
static int down_across(const gfi_request *request)
{
    enum { BYTES = 2 * GF_COARSE_DOWN_THREADS }; /* of a row */
    const int columns = by_digits(request) ? BYTES / (int)gf_pixel_bytes(request->in.pixel)
                                           : GF_COARSE_DOWN_THREADS * GF_COARSE_COLUMNS(GF_P_F32);
    return GF_COARSE_EDGES + gfi_divide_up(request->out.width, columns);
}

/* Blocks of threads that the chip holds at a time of `down`, by digits or not, and of `up`. */
enum { RESIDENT_DIGITS = 3, RESIDENT = 5, RESIDENT_UP = 4 };

/* A run is as long as leaves blocks of threads for all that the chip holds at a time; where short
 * runs cost little, by digits and in `up`, they come in turns. */
static void set_runs(const gfi_request *request, const coarse_shape *s, gf_coarse_args *a)
{
    enum { TURNS = 2 };
    const int chip = gfi_window_chip(request).multiprocessors;
    const int width = request->out.width, up_steps = a->wide_rows - GF_COARSE_SPAN + 1;
    const int up_across = gfi_divide_up(width, GF_COARSE_UP_THREADS * s->to);
    const bool bytes = by_digits(request);
    const int across = down_across(request);
    const int resident = (bytes ? TURNS * RESIDENT_DIGITS : RESIDENT) * chip;
    const int all = bytes ? gfi_divide_up(a->nodes, 8) : a->nodes + GF_COARSE_SPAN - 1;
    a->run = gfi_divide_up(all, across < resident ? resident / across : 1);
    if (!bytes && a->run < GF_COARSE_SPAN - 1) a->run = GF_COARSE_SPAN - 1;
    a->down_runs = gfi_divide_up(all, a->run);
    a->up_run = gfi_divide_up(up_steps, gfi_divide_up(TURNS * RESIDENT_UP * chip, up_across));
}

static void set_args(const gfi_request *request, const coarse_shape *s, gf_coarse_args *a)
{
    const gfi_window *w = request->window;
    *a = (gf_coarse_args){ .combine = gfi_window_combine(request),
                           .border = (int)w->border,
                           .border_value = (float)w->border_value,
                           .limit = WILD,
                           .kw = w->kw,
                           .kh = w->kh,
                           .ax = w->ax,
                           .ay = w->ay,
                           .terms = w->n_terms };
    a->group_steps = gfi_divide_up((8 + GF_COARSE_SPAN - 1) * s->fit->step, 32);
    a->digit_unit = (float)s->fit->unit;
    place_rest(s->fit, a);
    set_phi(s->fit, a);
    set_outside(request, s, a);
    set_sizes(request, s, a);
    set_runs(request, s, a);
}

static gf_status take_scratch(const gfi_request *request, coarse_state *s)
{
    gf_coarse_args *a = &s->args;
    const size_t row = (size_t)a->pitch * sizeof(float);
    const size_t height = (size_t)request->in.height;
    GFI_TRY(take(s, (size_t)a->nodes, row, &a->down));
    if (!by_digits(request)) GFI_TRY(take(s, (size_t)a->nodes, row, &a->more));
    GFI_TRY(take(s, (size_t)a->wide_rows, row, &a->smooth));
    GFI_TRY(take(s, (size_t)a->wide_rows, row, &a->wide));
    GFI_TRY(take(s, height, (size_t)a->block_pitch * sizeof *a->blocks, &a->blocks));
    GFI_TRY(take(s, height, (size_t)a->grid_pitch * sizeof *a->grid, &a->grid));
    GFI_TRY(take(s, height, (size_t)a->grid_pitch * sizeof *a->bent, &a->bent));
    return request->in.pixel == GF_PIXEL_F32 ? take(s, 1, sizeof *a->wild, &a->wild) : GF_OK;
}

static gf_status find_kernels(const gfi_request *request, coarse_state *s)
{
    gfi_device *device = gfi_queue_device(s->queue);
    char name[32];
    snprintf(name, sizeof name, "gf_coarse_down_%s", gf_pixel_name(request->in.pixel));
    GFI_TRY(gfi_kernel_find(device, name, &s->down));
    GFI_TRY(gfi_kernel_find(device, "gf_coarse_columns", &s->columns));
    GFI_TRY(gfi_kernel_find(device, "gf_coarse_wide", &s->wide));
    const bool bytes = request->out.pixel == GF_PIXEL_U8;
    const bool from_bytes = request->in.pixel == GF_PIXEL_U8;
    GFI_TRY(gfi_kernel_find(device, from_bytes ? "gf_coarse_blocks_u8" : "gf_coarse_blocks",
                            &s->blocks));
    GFI_TRY(gfi_kernel_find(device, bytes ? "gf_coarse_up_u8" : "gf_coarse_up", &s->up));
    return gfi_kernel_find(device, "gf_coarse_redo", &s->redo);
}

static size_t down_shared_bytes(const gfi_request *request, const gf_coarse_args *a)
{
    enum { RINGS = GF_COARSE_DOWN_THREADS * GF_COARSE_STAGES * 8 * 8 };
    if (!by_digits(request)) return 0;
    return (size_t)a->group_steps * GF_COARSE_STEP_WORDS * sizeof(uint32_t) + RINGS;
}

static size_t wide_shared_bytes(const gf_coarse_args *a)
{
    const int nodes = gfi_round_up(a->segment / a->step + GF_COARSE_SPAN + 1, 4);
    const int lists = a->step * GF_COARSE_SPAN + a->node_n + 2 * GF_COARSE_REST_N(a->rest_steps);
    const int parts = GF_COARSE_SPAN * (nodes + 2 * a->reach + GF_COARSE_SPAN);
    const int floats = GF_COARSE_AT(a->held) + lists + 2 * (nodes + a->reach) + 8 + parts;
    return (size_t)floats * sizeof(float);
}

static void destroy(const gfi_request *request, void *state)
{
    coarse_state *s = state;
    for (int i = 0; i < s->n_memory; i++) gfi_device_free(request->queue, s->memory[i]);
    shape_free(&s->shape);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    coarse_state *s = state;
    s->queue = request->queue;
    GFI_TRY(shape_of(request, &s->shape));
    set_args(request, &s->shape, &s->args);
    s->shared_bytes = wide_shared_bytes(&s->args);
    GFI_TRY(find_kernels(request, s));
    GFI_TRY(take_scratch(request, s));
    return upload_taps(request, s);
}

/* ---- run ----------------------------------------------------------------------------------- */

typedef struct pass {
    const gfi_kernel *kernel;
    int x, y; /* blocks */
    int threads_x, threads_y;
    size_t shared_bytes;
} pass;

static gf_status launch(const coarse_state *s, const gf_coarse_args *args, const pass *p)
{
    const gfi_launch l = { .grid = { (unsigned)p->x, (unsigned)p->y, 1 },
                           .block = { (unsigned)p->threads_x, (unsigned)p->threads_y, 1 },
                           .shared_bytes = p->shared_bytes,
                           .args = args,
                           .args_bytes = sizeof *args };
    return gfi_kernel_launch(s->queue, p->kernel, &l);
}

static gf_status run_passes(const gfi_request *request, const coarse_state *s,
                            const gf_coarse_args *a)
{
    enum {
        COLUMN = 32 * GF_COARSE_COLUMN_WARPS,
        BLOCK = GF_COARSE_BLOCK_THREADS,
        UP = GF_COARSE_UP_THREADS,
        REDO = 8
    };
    const int width = a->dst.width, height = a->dst.height, block_k = 8 * a->block_steps;
    const size_t block_bytes = 2 * sizeof(float) * GF_COARSE_BLOCK_ROWS *
                               (size_t)GF_COARSE_AT(GF_COARSE_BLOCK_COLUMNS + block_k);
    const int up_steps = a->wide_rows - GF_COARSE_SPAN + 1;
    const int node_bands = gfi_divide_up(a->wide_rows, GF_COARSE_ROWS * GF_COARSE_COLUMN_WARPS);
    const pass passes[] = {
        { s->down, down_across(request), a->down_runs, GF_COARSE_DOWN_THREADS, 1,
          down_shared_bytes(request, a) },
        { s->blocks, a->blocks_across, gfi_divide_up(height, GF_COARSE_BLOCK_ROWS), BLOCK, 1,
          block_bytes },
        { s->columns, gfi_divide_up(width, 128) * node_bands, 1, COLUMN, 1, 0 },
        { s->wide, a->bend_blocks + a->segments * a->wide_rows, 1, GF_COARSE_WIDE_THREADS, 1,
          s->shared_bytes },
        { s->up, gfi_divide_up(width, UP * s->shape.to), gfi_divide_up(up_steps, a->up_run), UP, 1,
          0 },
        { s->redo, gfi_divide_up(width, 32), REDO, 32, 8, 0 },
    };
    const int n = (int)(sizeof passes / sizeof *passes) - (a->wild ? 0 : 1);
    for (int i = 0; i < n; i++) GFI_TRY(launch(s, a, &passes[i]));
    return GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    coarse_state *s = state;
    s->args.src = gfi_kimage(src);
    s->args.dst = gfi_kimage(dst);
    if (s->args.wild) GFI_TRY(gfi_fill(s->queue, s->args.wild, 0, sizeof *s->args.wild));
    return run_passes(request, s, &s->args);
}

static size_t memory_bytes(const void *state) { return ((const coarse_state *)state)->bytes; }

static void describe(const void *state, char *out, size_t n_bytes)
{
    const coarse_shape *s = &((const coarse_state *)state)->shape;
    snprintf(out, n_bytes, "nodes %d apart, grid %d, error %.1e", s->fit->step, s->grid_step,
             s->error);
}

const gf_impl gfi_window_cuda_coarse = { .name = "cuda-coarse",
                                         .backend = GF_BACKEND_CUDA,
                                         .usable = usable,
                                         .cost_ns = cost_ns,
                                         .state_bytes = sizeof(coarse_state),
                                         .prepare = prepare,
                                         .run = run,
                                         .destroy = destroy,
                                         .memory_bytes = memory_bytes,
                                         .describe = describe };
