/* Boxes by running sums on CUDA: kernels/box.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "filters/kimage.h"
#include "kernels/box.variants.h"

/* A kernel, and how it is launched on the images at hand. */
typedef struct box_launch {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gf_box_args args; /* complete but for the images */
} box_launch;

/* warps: for images with aligned rows, where they serve; else there is no kernel. */
typedef struct box_state {
    box_launch any, warps;
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

/* Strips of the kernels whose warps walk by themselves. */
static void share_columns(const gfi_request *request, gf_box_args *a)
{
    const int bytes = (int)gf_pixel_bytes(request->in.pixel), lane = GF_BOX_LANE(bytes);
    const int past = positive_rest(a->ax, lane);
    const int groups = gfi_divide_up(request->out.width, lane);
    /* of a strip's groups the first one would take its begin from another strip */
    const int most = GF_BOX_WARP_GROUPS(a->kw, bytes) - (past ? 1 : 0);
    a->first = past - a->ax - (past ? lane : 0);
    a->strips = gfi_divide_up(groups, most);
    a->step = gfi_divide_up(groups, a->strips) * lane;
}

/* Whether the columns that a strip lacks are the same as others of the strip, or, where the border
 * wraps, as others that can be read like them. */
static bool folds_inside(const gfi_request *request)
{
    const gfi_window *w = request->window;
    const int width = request->in.width, right = w->kw - w->ax;
    const int lane = GF_BOX_LANE((int)gf_pixel_bytes(request->in.pixel));
    gf_box_args a = { .kw = w->kw, .ax = w->ax };
    if (w->border == GF_BORDER_WRAP) return width % lane == 0;
    share_columns(request, &a);
    const int last = a.first + (a.strips - 1) * a.step; /* strip that reaches furthest right */
    return w->ax >= 0 && right > 0 && request->out.width == width && width > 2 * w->kw &&
           width - 1 - right >= last;
}

/* Whether warps that walk by themselves serve: sums fit, and results are not clipped. */
static bool serves_warps(const gfi_request *request)
{
    static const double MOST = 1 + 1e-6;
    const gfi_window *w = request->window;
    const int longest = request->in.pixel == GF_PIXEL_U8 ? GF_BOX_LONGEST : INT_MAX;
    return request->n_fused == 0 && request->in.pixel != GF_PIXEL_F32 &&
           request->out.pixel == request->in.pixel && w->kw <= GF_BOX_LONGEST && w->kh <= longest &&
           w->offset == 0 && factor_of(w) >= 0 && w->abs_sum <= MOST && folds_inside(request);
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

static void shape_any(const gfi_request *request, box_launch *to)
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

/* The strips at the ends take longer for a row, so their segments are half as long. */
static void shape_warps(const gfi_request *request, box_launch *to)
{
    enum { WARPS = GF_BOX_WARPS * GF_BOX_BLOCKS };
    const int64_t wanted = (int64_t)gfi_window_chip(request).multiprocessors * WARPS;
    gf_box_args *a = &to->args;
    fill_args(request, a);
    share_columns(request, a);
    const int ends = a->strips > 1 ? 2 : 1, inner = a->strips - ends;
    a->rows = segment_rows(request, inner + 2 * ends, wanted);
    a->edge_rows = a->rows / 2;
    a->edges = ends * gfi_divide_up(request->out.height, a->edge_rows);
    a->segments = a->edges + inner * gfi_divide_up(request->out.height, a->rows);
    to->config = (gfi_launch_config){
        .grid = { (unsigned)gfi_divide_up(a->segments, GF_BOX_WARPS), 1, 1 },
        .block = { 32 * GF_BOX_WARPS, 1, 1 },
        .shared_bytes = (size_t)GF_BOX_WARPS * GF_BOX_WARP_SHARED,
    };
}

/* Time from a shape. pixel_ns: of a pixel of a strip on a whole H200; row_ns: of a row where few
 * segments run; begun: what a row that is added up before the first one costs, of another's time.
 */
static double shape_ns(const gfi_request *request, const box_launch *launch, double columns,
                       double pixel_ns, double row_ns, double begun)
{
    static const double LAUNCH_NS = 5e3, MULTIPROCESSORS = 132;
    const gf_box_args *a = &launch->args;
    const double rows = a->rows + begun * a->kh;
    const double pixels = columns * a->strips * request->out.height * rows / a->rows;
    const double work_ns =
        pixels * pixel_ns * MULTIPROCESSORS / gfi_window_chip(request).multiprocessors;
    return LAUNCH_NS + (work_ns > rows * row_ns ? work_ns : rows * row_ns);
}

/* 2026-11-30, H200, 8192^2. Warps: u8 15 31 101 0.071 0.078 0.112 ms, u16 0.122 0.137 0.189 ms;
 * others: f32 0.256 0.291 0.341 ms, u8 31 101 201 0.220 0.270 0.523 ms, without point filters.
 * 1024^2: 0.032 and 0.034 ms with segments of 32 rows. */
static double cost_ns(const gfi_request *request)
{
    static const double ONE_BLOCK = 1.6; /* with shared memory for a second one none is left */
    const gf_pixel pixel = request->in.pixel;
    box_launch launch;
    if (serves_warps(request)) {
        shape_warps(request, &launch);
        const int bytes = (int)gf_pixel_bytes(pixel);
        return shape_ns(request, &launch, 32 * GF_BOX_LANE(bytes), bytes == 1 ? 0.78e-3 : 1.46e-3,
                        500, 0.6);
    }
    shape_any(request, &launch);
    const bool alone = 2 * launch.config.shared_bytes > gfi_window_chip(request).shared_bytes_sm;
    return shape_ns(request, &launch, GF_BOX_COLUMNS,
                    (pixel == GF_PIXEL_F32 ? 3.73e-3 : 2.79e-3) * (alone ? ONE_BLOCK : 1), 600,
                    0.5);
}

/* ---- prepare and run ----------------------------------------------------------------------- */

static gf_status prepare_any(const gfi_request *request, box_launch *to)
{
    char name[32];
    shape_any(request, to);
    snprintf(name, sizeof name, "gf_box_%s", gf_pixel_name(request->in.pixel));
    return gfi_kernel_find(gfi_queue_device(request->queue), name, &to->kernel);
}

static gf_status prepare_warps(const gfi_request *request, box_launch *to)
{
    const int half = GF_BOX_LANE((int)gf_pixel_bytes(request->in.pixel)) / 2;
    char name[32];
    shape_warps(request, to);
    snprintf(name, sizeof name, "gf_box_%s_%d", gf_pixel_name(request->in.pixel),
             request->window->kw % half);
    return gfi_kernel_find(gfi_queue_device(request->queue), name, &to->kernel);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    box_state *s = state;
    GFI_TRY(prepare_any(request, &s->any));
    return serves_warps(request) ? prepare_warps(request, &s->warps) : GF_OK;
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
    const bool aligned = rows_aligned(src) && rows_aligned(dst);
    box_launch *use = aligned && s->warps.kernel ? &s->warps : &s->any;
    use->args.src = gfi_kimage_src(request, src);
    use->args.dst = gfi_kimage_dst(request, dst);
    use->args.aligned = aligned;
    return gfi_window_launch(request, use->kernel, &use->config, &use->args, sizeof use->args);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const box_state *s = state;
    const box_launch *use = s->warps.kernel ? &s->warps : &s->any;
    snprintf(out, n_bytes, "running sums, %d strips, segments of %d rows", use->args.strips,
             use->args.rows);
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
