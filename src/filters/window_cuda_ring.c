/* Square separable windows of one term on CUDA by multiply-adds: kernels/ring.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>

#include "filters/kimage.h"
#include "kernels/ring.variants.h"

enum { WARP = 32 };

/* How images are shared out: segments of strips. */
typedef struct ring_layout {
    int strip, strips, threads;
    int rows, segments; /* of a segment; and their number */
    double row_steps;   /* rows of full strips that a multiprocessor goes over, one by one */
} ring_layout;

typedef struct ring_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gf_ring_args args; /* complete but for the images */
} ring_state;

static bool is_compiled(const gfi_window *w)
{
#define IS_SIZE(K) || w->kw == (K)
    return w->kw == w->kh && (false GF_RING_VARIANTS(IS_SIZE));
#undef IS_SIZE
}

/* ---- layout -------------------------------------------------------------------------------- */

static int images_of(const gfi_request *request)
{
    return request->usual_images > 1 ? request->usual_images : 1;
}

/* Blocks that a multiprocessor runs at a time. */
static int resident(const gfi_chip *chip, int k, int threads)
{
    enum { SYSTEM_BYTES = 1024 }; /* shared memory that each block takes for itself */
    const int by_threads = GF_RING_BLOCKS(k) * GF_RING_THREADS / threads;
    const size_t by_shared =
        chip->shared_bytes_sm / (GF_RING_SHARED_BYTES((size_t)k) + SYSTEM_BYTES);
    return by_shared < (size_t)by_threads ? (by_shared > 1 ? (int)by_shared : 1) : by_threads;
}

/* The number of segments with which the chip is done first. A multiprocessor with few blocks is
 * slower at each; blocks that start together end almost so: one wave of tall segments is better
 * than more waves, which add their first rows once more. A step that is not full takes about half
 * the time of the rows that it lacks. */
static void choose_rows(const gfi_chip *chip, int k, int64_t strips, int height, ring_layout *out)
{
    static const double ALONE = 1.8, RAGGED = 0.07;
    const int held = resident(chip, k, out->threads);
    const int64_t in_waves = 4 * (int64_t)chip->multiprocessors * held / strips + 1;
    const int64_t in_steps = gfi_divide_up(height, GF_RING_ROWS);
    const int64_t most = in_waves < in_steps ? in_waves : in_steps;
    double best = INFINITY;
    for (int64_t segments = 1; segments <= most; segments++) {
        const int64_t whole = gfi_divide_up(height, segments) + k - 1;
        const int rows = gfi_round_up(whole, 2) - (k - 1); /* k is odd: rows come in pairs */
        const int64_t blocks = strips * gfi_divide_up(height, rows);
        const int each = gfi_divide_up(blocks, chip->multiprocessors), rest = each % held;
        const double round = held + ALONE;
        const double rounds = each / held * round + (rest ? rest + ALONE : 0);
        const double work = 0.5 * (rows + k - 1 + gfi_round_up(rows + k - 1, GF_RING_ROWS));
        const double cost = work * (rounds + RAGGED * round);
        if (cost >= best) continue;
        best = cost;
        out->rows = rows;
        out->segments = gfi_divide_up(height, rows);
        out->row_steps = (rows + k - 1) * rounds / round * held * out->threads / GF_RING_THREADS;
    }
}

static ring_layout layout_of(const gfi_request *request)
{
    enum { LINE = 32 }; /* strips begin where lines of memory do */
    const gfi_chip chip = gfi_window_whole_chip(request);
    const int k = request->window->kw, width = request->out.width;
    const int fewest = gfi_divide_up(width, GF_RING_THREADS * GF_RING_COLUMNS);
    ring_layout layout = { .strip = gfi_round_up(gfi_divide_up(width, fewest), LINE) };
    const int groups = layout.strip / GF_RING_COLUMNS, margin = GF_RING_MARGIN_THREADS(k);
    layout.strips = gfi_divide_up(width, layout.strip);
    layout.threads = gfi_round_up(groups > margin ? groups : margin, WARP);
    choose_rows(&chip, k, (int64_t)layout.strips * images_of(request), request->out.height,
                &layout);
    return layout;
}

/* ---- choice -------------------------------------------------------------------------------- */

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (!gfi_window_one_term(w, why)) return false;
    if (!is_compiled(w))
        return gfi_window_unusable(why, "no kernel is compiled for %dx%d", w->kw, w->kh);
    if (!gfi_window_countable(request, why)) return false;
    const ring_layout layout = layout_of(request);
    if ((int64_t)layout.strips * layout.segments > INT32_MAX)
        return gfi_window_unusable(why, "the image is too large for one launch");
    if (GF_RING_SHARED_BYTES((size_t)w->kw) > gfi_window_whole_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a block takes %zu bytes of shared memory",
                                   GF_RING_SHARED_BYTES((size_t)w->kw));
    return true;
}

/* A row of a strip, all of a multiprocessor's blocks together; strips reach six sevenths of a
 * copy's bandwidth. 2026-11-30, H200, 8192^2: f32 9, 17, 21, 25, 31 taps 0.164, 0.160, 0.182,
 * 0.207, 0.254 ms, u16 9, 17 taps 0.113, 0.170; 2048^2 f32 9, 17, 31 taps 0.024, 0.031, 0.044;
 * 512^2 0.015, 0.018, 0.027. */
static double cost_ns(const gfi_request *request)
{
    static const double START_NS = 8e3, STRIPS = 1.16;
    const gfi_chip chip = gfi_window_whole_chip(request);
    const int k = request->window->kw;
    const double row_ns = request->in.pixel == GF_PIXEL_F32 ? 29 + 6.2 * k : 38 + 6.7 * k;
    const double bytes = STRIPS * images_of(request) * gfi_window_bytes(request);
    return START_NS + gfi_launch_bound_ns(&chip, layout_of(request).row_steps * row_ns, bytes);
}

/* ---- prepare and run ----------------------------------------------------------------------- */

/* What the column's taps are multiplied by, so that sums need no scaling. An unsharp mask without a
 * threshold is a sum too, of the window and of the pixel in its middle. */
static double fold_combine(const gfi_window *w, gf_ring_args *args)
{
    gf_kcombine *const c = &args->combine;
    const bool middle = w->ax == w->kw / 2 && w->ay == w->kh / 2;
    double scale = 1;
    if (w->combine == GFI_COMBINE_SUM) {
        scale = w->scale;
    } else if (w->threshold == 0 && middle) {
        scale = -w->amount;
        args->centre = (float)(1 + w->amount);
        c->combine = GFI_COMBINE_SUM;
        c->offset = 0;
    }
    c->scale = 1; /* unsharp masks have none */
    args->plain = c->combine == GFI_COMBINE_SUM && c->offset == 0 && c->points.n == 0;
    return scale;
}

static void fill_args(const gfi_request *request, const ring_layout *layout, gf_ring_args *args)
{
    const gfi_window *w = request->window;
    *args = (gf_ring_args){ .combine = gfi_window_combine(request),
                            .ax = w->ax,
                            .ay = w->ay,
                            .border = (int)w->border,
                            .border_value = (float)w->border_value,
                            .strip = layout->strip,
                            .rows = layout->rows };
    const double scale = fold_combine(w, args);
    gfi_window_taps(w->term[0].row, (size_t)w->kw, args->row);
    for (int j = 0; j < w->kh; j++) args->col[j] = (float)(w->term[0].col[j] * scale);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    ring_state *s = state;
    char name[32];
    const int k = request->window->kw;
    const ring_layout layout = layout_of(request);
    s->config =
        (gfi_launch_config){ .grid = { (unsigned)layout.strips * (unsigned)layout.segments, 1, 1 },
                             .block = { (unsigned)layout.threads, 1, 1 },
                             .shared_bytes = GF_RING_SHARED_BYTES((size_t)k) };
    snprintf(name, sizeof name, "gf_ring_%d", k);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel));
    fill_args(request, &layout, &s->args);
    return GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    ring_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const ring_state *s = state;
    snprintf(out, n_bytes, "strips of %dx%d, %u threads, %zu KB shared", s->args.strip,
             s->args.rows, s->config.block[0], (s->config.shared_bytes + 1023) / 1024);
}

const gf_impl gfi_window_cuda_ring = { .name = "cuda-ring",
                                       .backend = GF_BACKEND_CUDA,
                                       .batches = true,
                                       .fuses = true,
                                       .usable = usable,
                                       .cost_ns = cost_ns,
                                       .state_bytes = sizeof(ring_state),
                                       .prepare = prepare,
                                       .run = run,
                                       .describe = describe };
