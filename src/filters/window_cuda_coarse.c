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
    int block_n;       /* length of the list of taps for sums, and of that for moments */
    float *block_taps; /* half * 4: pairs */
    float *bends;      /* 8 for each block of results in an interval */
    double error;      /* sum |taps - what is computed| in two dimensions */
} coarse_shape;

typedef struct coarse_state {
    gfi_queue *queue;
    const gfi_kernel *down, *blocks, *along_y, *wide, *up, *redo;
    coarse_shape shape;
    gf_coarse_args args; /* complete but for the images */
    void *memory[12];    /* of the device */
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
    for (int j = -s->half; j < s->half; j++) {
        double level = 0, slope = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            const double t = i - 0.5 * (n - 1);
            level += smooth_at(s->fit, j * n + i) / n;
            slope += smooth_at(s->fit, j * n + i) * t;
            squares += t * t;
        }
        s->block_taps[j + s->half] = (float)level;
        s->block_taps[j + s->half + s->block_n] = (float)(slope / squares);
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

/* sum |crude - smooth| for result x of an interval. */
static double crude_error(const coarse_shape *s, int x)
{
    const float *bend = s->bends + 8 * (x / s->to);
    const double t = x % s->to - 0.5 * (s->to - 1);
    const int n = s->grid_step, left = s->half * n, reach = left + 3 * n + s->fit->smooth_reach;
    double sum = 0;
    for (int k = -reach; k <= reach; k++) {
        double crude = 0;
        for (int i = 0; i < INTERVAL; i++) {
            const int at = k + x - (i - 1) * n + left; /* in the grid point's intervals */
            if (at < 0 || at >= 2 * left) continue;
            const float *tap = s->block_taps + at / n;
            crude += ((double)bend[i] + t * (double)bend[INTERVAL + i]) *
                     ((double)tap[0] + (at % n - 0.5 * (n - 1)) * (double)tap[s->block_n]);
        }
        sum += fabs(crude - smooth_at(s->fit, k));
    }
    return sum;
}

/* The last term: blocks and grid lose this much more to bfloat16. */
static double whole_error(const coarse_shape *s)
{
    static const double BFLOAT16 = 0x1p-9;
    const gfi_coarse_fit *f = s->fit;
    double crude = 0;
    for (int x = 0; x < s->grid_step; x++) crude = fmax(crude, crude_error(s, x));
    return f->error * (2 + f->error) + f->rest_sum * (crude + f->rest_sum + BFLOAT16);
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
    GFI_TRY(gfi_coarse_fit_create(w->term[0].row, w->kw, step, rest, 0, &s->fit));
    const double sigma = s->fit->sigma;
    const int unit = s->from > s->to ? s->from : s->to;
    const int steps = (int)((may_be_rough(request) ? 0.8 : 0.45) * sigma / unit);
    s->grid_step = unit * (steps > 1 ? steps : 1);
    s->half = (int)ceil((may_be_rough(request) ? 2.6 : 3.3) * sigma / s->grid_step);
    s->block_n = gfi_round_up(2 * s->half + 3, 4);
    s->block_taps = gfi_alloc_zero(2 * (size_t)s->block_n, sizeof(float), "taps");
    s->bends = gfi_alloc_zero(8 * (size_t)(s->grid_step / s->to), sizeof(float), "taps");
    if (!s->block_taps || !s->bends) return GF_ERROR_NO_MEMORY;
    make_block_taps(s);
    make_bends(s);
    s->error = whole_error(s);
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
        !gfi_window_countable(request, why))
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

/* 2026-11-30, H200, 8192^2, Gaussians: u8 with sigma 10, 20, 30, 100 (steps of 4, 8, 12, 48) 0.530
 * 0.387 0.313 0.589 ms; u16 with 10 0.647 ms; f32 with 10 and 30 0.704 0.522 ms. u8 with 30, 2048^2
 * and 512^2: 0.077 0.065 ms. Long steps make threads walk far, and so leave few of them. */
static double cost_ns(const gfi_request *request)
{
    static const double LAUNCHES_NS = 60e3, BYTES_NS = 1e-3, OTHERS_NS = 3.7e-3;
    static const double NODES_NS = 20e-3, WALK_NS = 7e-5, MEASURED_ON = 132;
    const gfi_window *w = request->window;
    const double step = first_step(request, gfi_coarse_sigma(w->term[0].row, w->kw));
    const double pixels = (request->out.width + 2.0 * w->kw) * (request->out.height + 2.0 * w->kh);
    const double pixel_ns = (request->in.pixel == GF_PIXEL_U8 ? BYTES_NS : OTHERS_NS) +
                            NODES_NS / step + WALK_NS * step;
    return LAUNCHES_NS + pixels * pixel_ns * MEASURED_ON / gfi_window_chip(request).multiprocessors;
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

static gf_status take_floats(coarse_state *s, const float *from, size_t n, const float **out)
{
    float *memory = NULL;
    GFI_TRY(take(s, n, sizeof(float), &memory));
    *out = memory;
    return gfi_upload(s->queue, memory, from, n * sizeof(float));
}

/* All taps, for wild pixels. */
static gf_status upload_window(const gfi_window *w, coarse_state *s)
{
    const size_t kw = (size_t)w->kw, n = kw * (size_t)w->kh;
    float *taps = gfi_alloc(n, sizeof *taps, "taps");
    if (!taps) return GF_ERROR_NO_MEMORY;
    for (size_t i = 0; i < n; i++)
        taps[i] = (float)(w->term[0].col[i / kw] * w->term[0].row[i % kw]);
    const gf_status status = take_floats(s, taps, n, &s->args.taps);
    gfi_free(taps);
    return status;
}

/* Taps i of a list are for offset from[side] + i; offsets begin at multiples of four. */
static void place_rest(const gfi_coarse_fit *f, gf_coarse_args *a)
{
    a->rest_from[0] = -gfi_round_up(f->radius + f->rest_n, 4);
    a->rest_from[1] = (f->radius + 1) / 4 * 4;
    a->rest_n = gfi_round_up(f->rest_n + 3 + GF_COARSE_ROWS - 1, GF_COARSE_ROWS);
    a->node_n = gfi_round_up(2 * f->reach + GF_COARSE_ROWS, GF_COARSE_ROWS);
}

/* The nodes' taps, then the rest's before the window and after it. */
static void fill_lists(const gfi_coarse_fit *f, const gf_coarse_args *a, double scale, float *to)
{
    float *before = to + a->node_n, *after = before + a->rest_n;
    for (int i = 0; i <= 2 * f->reach; i++) to[i] = (float)(scale * f->node[i]);
    for (int i = 0; i < f->rest_n; i++) {
        const int k = f->radius + 1 + i;
        before[-k - a->rest_from[0]] = after[k - a->rest_from[1]] = (float)(scale * f->rest[i]);
    }
}

/* For u8 results the taps in y have the window's scale. */
static double column_scale(const gfi_request *request)
{
    return request->out.pixel == GF_PIXEL_U8 ? request->window->scale : 1;
}

static gf_status upload_lists(const gfi_request *request, coarse_state *s)
{
    gf_coarse_args *a = &s->args;
    const size_t n = (size_t)(a->node_n + 2 * a->rest_n);
    float *taps = gfi_alloc_zero(2 * n, sizeof *taps, "taps");
    if (!taps) return GF_ERROR_NO_MEMORY;
    fill_lists(s->shape.fit, a, 1, taps);
    fill_lists(s->shape.fit, a, column_scale(request), taps + n);
    const float *device = NULL;
    const gf_status status = take_floats(s, taps, 2 * n, &device);
    gfi_free(taps);
    if (status != GF_OK) return status;
    a->node_taps = device;
    a->column_taps = device + n;
    a->bend_taps[0] = a->column_taps + a->node_n;
    a->bend_taps[1] = a->bend_taps[0] + a->rest_n;
    return GF_OK;
}

static gf_status upload_taps(const gfi_request *request, coarse_state *s)
{
    gf_coarse_args *a = &s->args;
    const size_t n_bends = 8 * (size_t)(s->shape.grid_step / s->shape.to);
    GFI_TRY(upload_lists(request, s));
    const size_t n_block = 2 * (size_t)s->shape.block_n;
    GFI_TRY(take_floats(s, s->shape.block_taps, n_block, &a->block_taps));
    GFI_TRY(take_floats(s, s->shape.bends, n_bends, &a->bends));
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
    enum { SEGMENT = 8 * GF_COARSE_WIDE_THREADS };
    const gfi_coarse_fit *f = s->fit;
    const int width = request->out.width, height = request->out.height;
    a->step = f->step;
    a->reach = f->reach;
    a->wide_rows = (height - 1) / f->step + GF_COARSE_SPAN;
    a->nodes = a->wide_rows + 2 * f->reach;
    a->pitch = gfi_round_up(width, 8);
    a->grid_step = s->grid_step;
    a->block_n = s->block_n;
    a->block_step = s->grid_step / s->from;
    a->block_left = s->grid_step * (1 + s->half);
    a->grid_columns = (width - 1) / s->grid_step + INTERVAL;
    a->grid_pitch = gfi_round_up(a->grid_columns, 4);
    a->bend_blocks =
        gfi_divide_up((int64_t)(a->grid_pitch / 4) * gfi_divide_up(height, GF_COARSE_ROWS),
                      GF_COARSE_COLUMN_THREADS);
    a->block_pitch = (a->grid_columns - 1 + 2 * s->half) * a->block_step;
    a->segment = SEGMENT;
    a->lead = gfi_round_up((GF_COARSE_SPAN + f->reach) * f->step, 8);
    const int right = (GF_COARSE_SPAN + f->reach) * f->step, rest = a->rest_from[1] + a->rest_n;
    a->held = a->segment + a->lead + gfi_round_up(right > rest ? right : rest, 8);
}

/* A run is as long as leaves blocks of threads for all that the chip holds at a time; `up`, where
 * short runs cost little, has them come in turns. */
static void set_runs(const gfi_request *request, const coarse_shape *s, gf_coarse_args *a)
{
    enum { DOWN = 5, UP = 4, TURNS = 4 };
    const int chip = gfi_window_chip(request).multiprocessors;
    const int steps = a->nodes + GF_COARSE_SPAN - 1, up_steps = a->wide_rows - GF_COARSE_SPAN + 1;
    const int across = 1 + gfi_divide_up(request->out.width, GF_COARSE_DOWN_THREADS * s->from);
    const int up_across = gfi_divide_up(request->out.width, GF_COARSE_UP_THREADS * s->to);
    a->run = gfi_divide_up(steps, across < DOWN * chip ? DOWN * chip / across : 1);
    if (a->run < GF_COARSE_SPAN - 1) a->run = GF_COARSE_SPAN - 1;
    a->up_run = gfi_divide_up(up_steps, gfi_divide_up(TURNS * UP * chip, up_across));
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
    GFI_TRY(take(s, (size_t)a->nodes, row, &a->more));
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
    GFI_TRY(gfi_kernel_find(device, "gf_coarse_along_y", &s->along_y));
    GFI_TRY(gfi_kernel_find(device, "gf_coarse_wide", &s->wide));
    const bool bytes = request->out.pixel == GF_PIXEL_U8;
    const bool from_bytes = request->in.pixel == GF_PIXEL_U8;
    GFI_TRY(gfi_kernel_find(device, from_bytes ? "gf_coarse_blocks_u8" : "gf_coarse_blocks",
                            &s->blocks));
    GFI_TRY(gfi_kernel_find(device, bytes ? "gf_coarse_up_u8" : "gf_coarse_up", &s->up));
    return gfi_kernel_find(device, "gf_coarse_redo", &s->redo);
}

static size_t wide_shared_bytes(const gf_coarse_args *a)
{
    const int nodes = gfi_round_up(a->segment / a->step + GF_COARSE_SPAN + 1, 4);
    const int lists = a->step * GF_COARSE_SPAN + a->node_n + 2 * a->rest_n;
    const int floats = GF_COARSE_AT(a->held) + lists + 2 * (nodes + a->reach) + 8;
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

static gf_status run_passes(const coarse_state *s, const gf_coarse_args *a)
{
    enum {
        DOWN = GF_COARSE_DOWN_THREADS,
        COLUMN = GF_COARSE_COLUMN_THREADS,
        BLOCK = GF_COARSE_BLOCK_THREADS,
        UP = GF_COARSE_UP_THREADS,
        REDO = 8
    };
    static const size_t BLOCK_BYTES =
        2 * sizeof(float) * GF_COARSE_BLOCK_COLUMNS * GF_COARSE_BLOCK_ROWS;
    const int width = a->dst.width, height = a->dst.height;
    const int steps = a->nodes + GF_COARSE_SPAN - 1, up_steps = a->wide_rows - GF_COARSE_SPAN + 1;
    const int node_bands = gfi_divide_up(a->wide_rows, GF_COARSE_ROWS);
    const pass passes[] = {
        { s->down, 1 + gfi_divide_up(width, DOWN * s->shape.from), gfi_divide_up(steps, a->run),
          DOWN, 1, 0 },
        { s->blocks, gfi_divide_up(a->grid_pitch, GF_COARSE_BLOCK_COLUMNS - a->block_n),
          gfi_divide_up(height, GF_COARSE_BLOCK_ROWS), BLOCK, 1, BLOCK_BYTES },
        { s->along_y,
          a->bend_blocks + gfi_divide_up((int64_t)gfi_divide_up(width, 4) * node_bands, COLUMN), 1,
          COLUMN, 1, 0 },
        { s->wide, gfi_divide_up(a->pitch, a->segment), a->wide_rows, GF_COARSE_WIDE_THREADS, 1,
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
    (void)request;
    coarse_state *s = state;
    s->args.src = gfi_kimage(src);
    s->args.dst = gfi_kimage(dst);
    if (s->args.wild) GFI_TRY(gfi_fill(s->queue, s->args.wild, 0, sizeof *s->args.wild));
    return run_passes(s, &s->args);
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
