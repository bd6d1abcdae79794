/* Boxes by running sums on CUDA: kernels/box.cu. */
#include "filters/window_cuda.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/kimage.h"
#include "kernels/box.variants.h"

/* Kernels, and how they are launched on the images at hand; args are complete but for the images.
 */
typedef struct box_any {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gf_box_args args;
} box_any;

/* A walking kernel: groups of 8 bytes of columns of its blocks, results of a row that a thread
 * makes, most bytes of a row's results, and threads that a multiprocessor has registers for. */
typedef struct walk_shape {
    const char *suffix; /* of the kernel's name, behind the pixel's */
    int groups, run, bytes, threads;
} walk_shape;

static const walk_shape WIDE = { "", GF_BOX_WALK_GROUPS, GF_BOX_WALK_RUN, GF_BOX_WALK_BYTES,
                                 2 * GF_BOX_WALK_THREADS };
static const walk_shape NARROW = { "_narrow", GF_BOX_NARROW_GROUPS, GF_BOX_NARROW_RUN,
                                   GF_BOX_NARROW_BYTES, 3 * GF_BOX_NARROW_THREADS };
static const walk_shape AGAIN = { "_again", GF_BOX_AGAIN_GROUPS, GF_BOX_AGAIN_RUN,
                                  GF_BOX_AGAIN_BYTES, 2 * GF_BOX_AGAIN_THREADS };

typedef struct box_walk {
    const walk_shape *shape;
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gf_boxwalk_args args;
} box_walk;

/* walk: for images with aligned rows, where it serves; else there is no kernel. */
typedef struct box_state {
    box_any any;
    box_walk walk;
} box_state;

static int positive_rest(int a, int b) { return (a % b + b) % b; }

/* ---- choice -------------------------------------------------------------------------------- */

static bool all_equal(const double *taps, int n)
{
    for (int i = 1; i < n; i++)
        if (taps[i] != taps[0]) return false;
    return true;
}

static double factor_of(const gfi_window *w)
{
    return w->scale * w->term[0].row[0] * w->term[0].col[0];
}

/* Rows of a segment, so that at most `wanted` of them make the image, which are run at a time; but
 * more than a part of those that are added up before the first one. */
static int segment_rows(const gfi_request *request, int strips, int64_t wanted)
{
    enum { LEAST_ROWS = 16, STEP = 8 };
    const int64_t segments = wanted > strips ? wanted / strips : 1;
    const int rows = gfi_divide_up(request->out.height, segments);
    const int least = request->window->kh > 2 * LEAST_ROWS ? request->window->kh / 2 : LEAST_ROWS;
    return gfi_divide_up(rows > least ? rows : least, STEP) * STEP;
}

/* Whether sums and border values are whole numbers that kernels can count. */
static bool countable_sums(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (request->in.pixel == GF_PIXEL_F32) return true;
    const double white = request->in.pixel == GF_PIXEL_U8 ? 255 : 65535;
    if (white * w->kw * w->kh > UINT32_MAX)
        return gfi_window_unusable(why, "sums of %dx%d pixels exceed 32 bits", w->kw, w->kh);
    return gfi_window_border_whole(request, why);
}

static bool box_window(const gfi_window *w, char why[GFI_WHY_BYTES])
{
    if (w->force_direct || w->force_fft)
        return gfi_window_unusable(why, "another method is asked for");
    if (w->n_terms != 1 || w->combine != GFI_COMBINE_SUM)
        return gfi_window_unusable(why, "serves sums of one separable term only");
    if (!all_equal(w->term[0].row, w->kw) || !all_equal(w->term[0].col, w->kh))
        return gfi_window_unusable(why, "the taps are not all equal");
    return true;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (!box_window(w, why) || !countable_sums(request, why)) return false;
    const uint64_t shared = GF_BOX_SHARED_BYTES((uint64_t)w->kh);
    if (w->kw > GF_BOX_WIDEST || shared > gfi_window_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a window of %dx%d is too large", w->kw, w->kh);
    return gfi_window_countable(request, why);
}

/* Columns of a group, of which a thread of the walking kernels has the sums. */
static int group_of(const gfi_request *request)
{
    return 8 / (int)gf_pixel_bytes(request->in.pixel);
}

/* Whether the columns that a strip lacks are the same as others of the strip, or, where the border
 * wraps, as others that can be read like them. */
static bool folds_inside(const gfi_request *request)
{
    const gfi_window *w = request->window;
    const int width = request->in.width;
    if (w->border == GF_BORDER_WRAP) return width % group_of(request) == 0;
    return request->out.width == width && width > w->kw;
}

/* Where the sums of u8 windows begin, and what counts them. As a float's bits they are that float
 * if they begin at some N of its range [2^(23-s), 2^(24-s)) and count 2^s each; N times the factor
 * is whole, or so nearly that no result's rounding feels it, and is taken away again. */
static bool count_bytes(const gfi_window *w, gf_boxwalk_args *a)
{
    enum { MOST_SHIFT = 6, TRIES = 64 };
    static const double NEAR = 2.5e-4; /* levels; 1e-3 would do */
    const double most = 255.0 * w->kw * w->kh, factor = (float)factor_of(w);
    int shift = MOST_SHIFT;
    while (shift > 0 && ldexp(1, 23 - shift) < most + 1) shift--;
    double whole = ceil(ldexp(factor, 23 - shift)), begin = 0, best = INFINITY;
    for (int i = 0; i < TRIES; i++) {
        const double n = rint((whole + i) / factor), miss = fabs(n * factor - (whole + i));
        if (n + most >= ldexp(1, 24 - shift)) break;
        if (miss >= best) continue;
        best = miss, begin = n;
    }
    if (!(best <= NEAR)) return false;
    const float from = (float)begin;
    memcpy(&a->start, &from, sizeof from);
    a->rounds -= (float)rint(begin * factor);
    const int one = 1 << shift, minus = 256 - one;
    a->enters = one | one << 24;
    a->leaves = (int)((unsigned)minus | (unsigned)minus << 24);
    a->both = one | one << 8;
    return true;
}

/* What the walking kernels need to know of the window; whether they serve: sums fit, results are
 * not clipped. */
static bool walks(const gfi_request *request, gf_boxwalk_args *a)
{
    static const double MOST = 1 + 1e-6;
    static const float ROUNDS = 12582912; /* 1.5 * 2^23 */
    const gfi_window *w = request->window;
    const bool bytes = request->in.pixel == GF_PIXEL_U8;
    char why[GFI_WHY_BYTES];
    if (request->n_fused != 0 || request->in.pixel == GF_PIXEL_F32 ||
        request->out.pixel != request->in.pixel || w->kw > GF_BOX_LONGEST ||
        (bytes && w->kh > GF_BOX_LONGEST) || w->ax != w->kw / 2 || w->offset != 0 ||
        !(factor_of(w) > 0) || w->abs_sum > MOST || !folds_inside(request) ||
        !gfi_window_has_tensor(request, why))
        return false;
    const unsigned outside = w->border == GF_BORDER_CONSTANT ? (unsigned)w->border_value : 0;
    *a = (gf_boxwalk_args){ .kw = w->kw,
                            .kh = w->kh,
                            .ax = w->ax,
                            .ay = w->ay,
                            .border = (int)w->border,
                            .outside_pixels = outside * (bytes ? 0x01010101u : 0x00010001u),
                            .outside_sum = outside * (unsigned)w->kh,
                            .left = positive_rest(-w->ax, group_of(request)),
                            .factor = (float)factor_of(w),
                            .rounds = ROUNDS };
    return !bytes || count_bytes(w, a);
}

/* ---- launches ------------------------------------------------------------------------------ */

static void fill_args(const gfi_request *request, gf_box_args *args)
{
    const gfi_window *w = request->window;
    *args = (gf_box_args){ .combine = gfi_window_combine(request),
                           .kw = w->kw,
                           .kh = w->kh,
                           .ax = w->ax,
                           .ay = w->ay,
                           .border = (int)w->border,
                           .border_value = (float)w->border_value };
    args->combine.scale = (float)factor_of(w);
}

static void shape_any(const gfi_request *request, box_any *to)
{
    enum { GROUP = 4, STEP = 32, BLOCKS = 2 };
    const gfi_window *w = request->window;
    const int64_t wanted = (int64_t)gfi_window_chip(request).multiprocessors * BLOCKS;
    gf_box_args *a = &to->args;
    fill_args(request, a);
    a->lead = positive_rest(-w->ax, GROUP);
    a->first = -w->ax - a->lead;
    const int most = (GF_BOX_COLUMNS - a->lead - w->kw + 1) / STEP * STEP;
    a->strips = gfi_divide_up(request->out.width, most);
    a->step = gfi_divide_up(gfi_divide_up(request->out.width, a->strips), STEP) * STEP;
    a->rows = segment_rows(request, a->strips, wanted);
    a->segments = a->strips * gfi_divide_up(request->out.height, a->rows);
    to->config = (gfi_launch_config){ .grid = { (unsigned)a->segments, 1, 1 },
                                      .block = { GF_BOX_THREADS, 1, 1 },
                                      .shared_bytes = (size_t)GF_BOX_SHARED_BYTES(w->kh) };
}

/* Blocks that a multiprocessor runs at a time. */
static int blocks_at_a_time(const gfi_request *request, const box_walk *walk)
{
    enum { RESERVED = 1024 };
    const int shared = (int)gfi_window_chip(request).shared_bytes_sm;
    const int by_shared = shared / ((int)walk->config.shared_bytes + RESERVED);
    const int by_threads = walk->shape->threads / (int)walk->config.block[0];
    const int blocks = by_shared < by_threads ? by_shared : by_threads;
    return blocks > 1 ? blocks : 1;
}

/* Strips of at most so many bytes of results a row, all alike. */
static void share_columns(const gfi_request *request, int most_bytes, box_walk *to)
{
    enum { WARP = 32 };
    const int groups = to->shape->groups, run = to->shape->run;
    gf_boxwalk_args *a = &to->args;
    const int bytes = (int)gf_pixel_bytes(request->in.pixel), group = group_of(request);
    const int widest = groups * group - a->left - a->kw;
    const int most = (most_bytes / bytes < widest ? most_bytes / bytes : widest) / run;
    const int runs = gfi_divide_up(request->out.width, run);
    a->strips = gfi_divide_up(runs, most);
    a->step = gfi_divide_up(runs, a->strips) * run;
    const int columns = a->left + a->step + a->kw - 1;
    a->walkers = gfi_divide_up(columns, WARP * group) * WARP;
    const int warps = gfi_divide_up(a->step / run * GF_BOX_STEP, WARP);
    to->config = (gfi_launch_config){
        .block = { (unsigned)(a->walkers + WARP * warps), 1, 1 },
        .shared_bytes = (size_t)GF_BOX_WALK_SHARED(groups, run, a->ring_rows, warps, bytes),
    };
}

/* Strips, narrower ones where blocks could not have the shared memory. */
static bool shape_columns(const gfi_request *request, box_walk *to)
{
    const int least = 4 * to->shape->run;
    const size_t shared = gfi_window_chip(request).shared_bytes_block;
    int most = to->shape->bytes;
    share_columns(request, most, to);
    while (to->config.shared_bytes > shared && most > least) share_columns(request, most /= 2, to);
    return to->config.shared_bytes <= shared;
}

/* Strips' segments. */
static void share_rows(const gfi_request *request, box_walk *to)
{
    gf_boxwalk_args *a = &to->args;
    const int64_t blocks = blocks_at_a_time(request, to);
    a->rows = segment_rows(request, a->strips, gfi_window_chip(request).multiprocessors * blocks);
    const int segments = a->strips * gfi_divide_up(request->out.height, a->rows);
    to->config.grid[0] = (unsigned)segments, to->config.grid[1] = to->config.grid[2] = 1;
}

/* A shape whose blocks keep a window's rows, if two have room for them. */
static bool keeps_rows(const gfi_request *request, const walk_shape *shape, box_walk *to)
{
    to->shape = shape;
    to->args.ring_rows = GF_BOX_RING_ROWS(to->args.kh);
    if (!shape_columns(request, to) || blocks_at_a_time(request, to) < 2) return false;
    share_rows(request, to);
    return true;
}

/* Rows are kept where there is room for them, else read again. In small images, whose segments are
 * shorter than a window, narrow strips that keep them are faster. */
static bool shape_walk(const gfi_request *request, box_walk *to)
{
    if (!walks(request, &to->args)) return false;
    if (keeps_rows(request, &WIDE, to)) return true;
    to->shape = &AGAIN, to->args.ring_rows = 0;
    if (!shape_columns(request, to)) return false;
    share_rows(request, to);
    box_walk narrow = *to;
    if (request->in.pixel == GF_PIXEL_U8 && to->args.rows < to->args.kh &&
        keeps_rows(request, &NARROW, &narrow))
        *to = narrow;
    return true;
}

/* Time of segments of so many rows, after `begun` others. columns: of all strips; pixel_ns: of one
 * of them a row, on a whole H200; start_ns and row_ns: of a segment and its rows where few run. */
static double segments_ns(const gfi_request *request, double columns, int rows, double begun,
                          double pixel_ns, double start_ns, double row_ns)
{
    static const double LAUNCH_NS = 5e3, MULTIPROCESSORS = 132;
    const double all_rows = rows + begun;
    const double pixels = columns * request->out.height * all_rows / rows;
    const double work_ns =
        pixels * pixel_ns * MULTIPROCESSORS / gfi_window_chip(request).multiprocessors;
    const double alone_ns = start_ns + all_rows * row_ns;
    return LAUNCH_NS + (work_ns > alone_ns ? work_ns : alone_ns);
}

/* 2026-12-01, H200, 8192^2: u8 15 31 0.054 0.062 ms, u16 0.101 0.121 ms; rows read again: u8 45 65
 * 101 127 0.062 0.064 0.074 0.077, u16 65 101 0.136 0.149 ms; narrow strips: u8 45 101 0.069 0.089
 * ms; 1024^2 u8 31 0.014 ms. A window's columns are added up once for a run of results. */
static double walk_ns(const gfi_request *request, const box_walk *walk)
{
    const gf_boxwalk_args *a = &walk->args;
    const bool bytes = request->in.pixel == GF_PIXEL_U8;
    const double columns = (double)a->walkers * group_of(request) * a->strips, kw = a->kw;
    double pixel_ns = bytes ? 0.515e-3 + 6.6e-6 * kw : 0.86e-3 + 10.6e-6 * kw;
    if (walk->shape == &NARROW) pixel_ns = 0.533e-3 + 2.24e-6 * kw;
    if (walk->shape == &AGAIN) pixel_ns = bytes ? 0.72e-3 : 1.53e-3;
    return segments_ns(request, columns, a->rows, 0.5 * a->kh, pixel_ns, 4500, 140);
}

/* 2026-11-30, H200, 8192^2: f32 15 31 101 0.256 0.291 0.341 ms, u8 31 101 201 0.220 0.270 0.523 ms,
 * without point filters. */
static double any_ns(const gfi_request *request, const box_any *any)
{
    static const double ONE_BLOCK = 1.6; /* with shared memory for a second one none is left */
    const bool alone = 2 * any->config.shared_bytes > gfi_window_chip(request).shared_bytes_sm;
    const double pixel_ns = request->in.pixel == GF_PIXEL_F32 ? 3.73e-3 : 2.79e-3;
    return segments_ns(request, (double)GF_BOX_COLUMNS * any->args.strips, any->args.rows,
                       0.5 * any->args.kh, pixel_ns * (alone ? ONE_BLOCK : 1), 0, 600);
}

static double cost_ns(const gfi_request *request)
{
    box_state shapes;
    if (shape_walk(request, &shapes.walk)) return walk_ns(request, &shapes.walk);
    shape_any(request, &shapes.any);
    return any_ns(request, &shapes.any);
}

/* ---- prepare and run ----------------------------------------------------------------------- */

static gf_status find(const gfi_request *request, const char *prefix, const char *suffix,
                      const gfi_kernel **out)
{
    char name[32];
    snprintf(name, sizeof name, "%s%s%s", prefix, gf_pixel_name(request->in.pixel), suffix);
    return gfi_kernel_find(gfi_queue_device(request->queue), name, out);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    box_state *s = state;
    shape_any(request, &s->any);
    GFI_TRY(find(request, "gf_box_", "", &s->any.kernel));
    if (!shape_walk(request, &s->walk)) return GF_OK;
    return find(request, "gf_box_walk_", s->walk.shape->suffix, &s->walk.kernel);
}

/* Whether every row begins at a multiple of 16 bytes. */
static bool rows_aligned(const gf_view *view)
{
    enum { BYTES = 16 };
    return (uintptr_t)view->data % BYTES == 0 && view->pitch_bytes % BYTES == 0;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    box_state *s = state;
    const gf_kimage from = gfi_kimage_src(request, src), to = gfi_kimage_dst(request, dst);
    const bool aligned = rows_aligned(src) && rows_aligned(dst);
    if (aligned && s->walk.kernel) {
        box_walk *walk = &s->walk;
        walk->args.src = from, walk->args.dst = to;
        return gfi_window_launch(request, walk->kernel, &walk->config, &walk->args,
                                 sizeof walk->args);
    }
    box_any *any = &s->any;
    any->args.src = from, any->args.dst = to, any->args.aligned = aligned;
    return gfi_window_launch(request, any->kernel, &any->config, &any->args, sizeof any->args);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const box_state *s = state;
    const bool walk = s->walk.kernel != NULL;
    snprintf(out, n_bytes, "running sums, %d strips, segments of %d rows",
             walk ? s->walk.args.strips : s->any.args.strips,
             walk ? s->walk.args.rows : s->any.args.rows);
}

const gf_impl gfi_window_cuda_box = { .name = "cuda-box",
                                      .backend = GF_BACKEND_CUDA,
                                      .batches = true,
                                      .fuses = true,
                                      .usable = usable,
                                      .cost_ns = cost_ns,
                                      .state_bytes = sizeof(box_state),
                                      .prepare = prepare,
                                      .run = run,
                                      .describe = describe };
