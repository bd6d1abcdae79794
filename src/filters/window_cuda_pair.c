/* Two windows of u8 images in one launch: kernels/pair.cu. The first one is for tensor cores, the
 * request's follower is 3x3. */
#include "filters/window_cuda_tensor.h"

#include <math.h>
#include <stdio.h>

#include "filters/point.h"
#include "kernels/pair.variants.h"

enum { SIDE = 3 };

typedef struct pair_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gfi_tensor_shape shape;
    void *weights;     /* device memory */
    gf_pair_args args; /* complete but for the images */
} pair_state;

/* The request of the first window alone; its result would be floats. */
static gfi_request first_of(const gfi_request *request)
{
    gfi_request first = *request;
    first.follower = NULL;
    first.n_fused = 0;
    first.out.pixel = GF_PIXEL_F32;
    return first;
}

/* ---- choice -------------------------------------------------------------------------------- */

static bool has_kernel(int s)
{
#define HAS(S, BLOCKS)                                                                             \
    if (s == S) return true;
    GF_PAIR_VARIANTS(HAS)
#undef HAS
    return false;
}

/* What the kernel's sums of the first window are multiples of. */
static double unit_of(const gfi_request *request, const gfi_tensor_shape *shape)
{
    return request->window->scale * gfi_tensor_factor(request, shape);
}

/* Whether squares of sums neither overflow nor vanish where they matter; `unit`: of the first
 * window's result. */
static bool tame(const gfi_window *first, const gfi_window *second, double unit)
{
    static const double MOST = 0x1p60, LEAST = 0x1p-30;
    const double value = second->border == GF_BORDER_CONSTANT ? fabs(second->border_value) : 0;
    if (!(fabs(second->scale * unit) > LEAST * LEAST && fabs(second->scale * unit) < MOST))
        return false;
    const double gain = second->abs_sum / fabs(second->scale * unit);
    return gain * (255 * first->abs_sum + value) < MOST && gain * first->abs_sum > LEAST;
}

static bool follower_fits(const gfi_window *w, char why[GFI_WHY_BYTES])
{
    if (w->force_direct || w->force_fft)
        return gfi_window_unusable(why, "another method is asked for");
    if (w->kw != SIDE || w->kh != SIDE || w->ax != 1 || w->ay != 1)
        return gfi_window_unusable(why, "the second window is %dx%d at %d,%d, not 3x3 at 1,1",
                                   w->kw, w->kh, w->ax, w->ay);
    if (w->n_terms == 0) return gfi_window_unusable(why, "the second window is not separable");
    if (w->combine == GFI_COMBINE_UNSHARP)
        return gfi_window_unusable(why, "the second window is neither a sum nor a magnitude");
    if (w->border == GF_BORDER_WRAP)
        return gfi_window_unusable(why, "the second window wraps around");
    return true;
}

static int tiles_x(const gfi_request *request)
{
    return gfi_divide_up((int64_t)request->out.width + GF_PAIR_LEAD, GF_PAIR_WIDTH);
}

static int64_t n_blocks(const gfi_request *request)
{
    return (int64_t)tiles_x(request) * gfi_divide_up(request->out.height, GF_PAIR_HEIGHT);
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_request first = first_of(request);
    if (!request->follower) return gfi_window_unusable(why, "no small window follows");
    if (!follower_fits(request->follower, why)) return false;
    if (!gfi_window_cuda_tensor.usable(&first, why)) return false;
    const gfi_tensor_shape shape = gfi_tensor_shape_of(&first);
    if (request->window->combine != GFI_COMBINE_SUM || request->window->offset != 0)
        return gfi_window_unusable(why, "the first window is no sum, or has an offset");
    if (!shape.symmetric || !has_kernel(shape.s))
        return gfi_window_unusable(why, "no kernel is made for a first window of %dx%d",
                                   request->window->kw, request->window->kh);
    if (!tame(request->window, request->follower, unit_of(request, &shape)))
        return gfi_window_unusable(why, "the taps are too large or too small for squares");
    if (n_blocks(request) > INT32_MAX)
        return gfi_window_unusable(why, "the image is too large for one launch");
    const size_t shared = (size_t)GF_PAIR_SHARED_BYTES(shape.s);
    if (shared > gfi_window_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a block takes %zu bytes of shared memory", shared);
    return true;
}

/* ---- edges --------------------------------------------------------------------------------- */

/* Whether taps are a times -1 0 1, or a times 1 m 1. */
static bool is_difference(const double *taps) { return taps[0] == -taps[2] && taps[1] == 0; }
static bool is_smooth(const double *taps) { return taps[0] == taps[2] && taps[0] != 0; }

/* The factor of terms that are what the kernels for EDGES are made for, times 1 m 1 and -1 0 1; or
 * 0. */
static double edges_factor(const gfi_window *w)
{
    static const double LEAST = 0x1p-10, MOST = 0x1p10;
    const gfi_term *x = &w->term[0], *y = &w->term[1];
    if (w->n_terms != 2 || w->combine != GFI_COMBINE_MAGNITUDE) return 0;
    if (!is_difference(x->row) || !is_smooth(x->col) || !is_smooth(y->row) ||
        !is_difference(y->col))
        return 0;
    const double factor = fabs(x->row[0] * x->col[0]);
    return fabs(y->row[0] * y->col[0]) == factor && factor > LEAST && factor < MOST ? factor : 0;
}

/* The largest float whose root, scaled and shifted, is not above the limit; below 0 when there is
 * none. Floats from 0 on are ordered as their bits are. */
static float gate_of(const gf_kcombine *combine, float limit)
{
    union {
        uint32_t bits;
        float value;
    } at, most = { .value = INFINITY };
    uint32_t from = 0,
             end = most.bits; /* all before `from` pass under the gate, none from `end` on */
    while (from < end) {
        at.bits = from + (end - from) / 2;
        if (fmaf(combine->scale, sqrtf(at.value), combine->offset) > limit)
            end = at.bits;
        else
            from = at.bits + 1;
    }
    at.bits = end - 1;
    return end > 0 ? at.value : -1;
}

/* Let a threshold that comes first compare squares, if nothing comes after it. */
static void make_gate(const gfi_request *request, gf_pair_args *args)
{
    const gf_kpoint *point = &args->first.combine.points.at[0];
    if (request->n_fused != 1 || request->fused[0].op != GFI_POINT_THRESHOLD ||
        !(args->first.combine.scale > 0))
        return;
    args->kind = GF_PAIR_GATED;
    args->gate = gate_of(&args->first.combine, point->c);
    args->above = point->b;
    args->below = point->a;
}

/* ---- cost ---------------------------------------------------------------------------------- */

/* The kind of a follower whose pixels are u8. */
static int kind_of(const gfi_window *w)
{
    if (edges_factor(w) > 0) return GF_PAIR_EDGES;
    return w->n_terms == 1 && w->combine == GFI_COMBINE_SUM ? GF_PAIR_ONE : GF_PAIR_ANY;
}

/* Time of a block on a multiprocessor to itself. 2026-11-30, H200, 8192^2, u8 to u8, 17 taps: edges
 * 0.150 ms, one term 0.141, any 0.242; with a threshold after edges, 9 17 25 41 taps: 0.142 0.142
 * 0.170 0.207 ms. */
static double block_ns(int s, int kind)
{
    static const double products[] = { [2] = 2860, 2860, 0, 3680, 0, 4760 };
    static const double sums[] = {
        [GF_PAIR_ANY] = 4180, [GF_PAIR_ONE] = 1240, [GF_PAIR_EDGES] = 1500
    };
    return products[s] + sums[kind];
}

/* Few blocks, alone on their multiprocessors, wait for their own loads: 1024^2 takes 0.021 ms, and
 * so does 256^2 or more. */
static double cost_ns(const gfi_request *request)
{
    static const double LEAST_BLOCKS = 4;
    const gfi_request first = first_of(request);
    const gfi_chip chip = gfi_window_chip(request);
    const double blocks = (double)n_blocks(request) / chip.multiprocessors;
    const double work_ns = block_ns(gfi_tensor_shape_of(&first).s, kind_of(request->follower)) *
                           (blocks > LEAST_BLOCKS ? blocks : LEAST_BLOCKS);
    return gfi_launch_bound_ns(&chip, work_ns, gfi_window_bytes(request));
}

/* ---- prepare and run ----------------------------------------------------------------------- */

/* Taps of both terms; of EDGES each without its factor. */
static void fill_taps(const gfi_window *w, bool edges, gf_pair_args *args)
{
    for (int t = 0; t < w->n_terms; t++)
        for (int i = 0; i < SIDE; i++) {
            const gfi_term *term = &w->term[t];
            args->row[t][i] = (float)(edges ? term->row[i] / term->row[SIDE - 1] : term->row[i]);
            args->col[t][i] = (float)(edges ? term->col[i] / term->col[SIDE - 1] : term->col[i]);
        }
}

/* The kernel has the first window's result in units, which the second one makes up for. */
static void fill_follower(const gfi_request *request, double unit, gf_pair_args *args)
{
    const gfi_window *w = request->follower;
    const bool magnitude = w->combine == GFI_COMBINE_MAGNITUDE;
    const double factor = edges_factor(w), own = factor > 0 ? factor : 1;
    gfi_request second = *request;
    second.window = w;
    args->first.combine = gfi_window_combine(&second);
    args->first.combine.scale = (float)(w->scale * (magnitude ? fabs(unit) : unit) * own);
    args->first.tiles_x = tiles_x(request);
    args->border = (int)w->border;
    args->border_value = (float)(w->border_value / unit);
    args->kind = kind_of(w);
    fill_taps(w, factor > 0, args);
    if (factor > 0) make_gate(request, args);
}

static void destroy(const gfi_request *request, void *state)
{
    pair_state *s = state;
    if (s->weights) gfi_device_free(request->queue, s->weights);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    const gfi_request first = first_of(request);
    pair_state *s = state;
    char name[32];
    s->shape = gfi_tensor_shape_of(&first);
    s->config = (gfi_launch_config){ .grid = { (unsigned)n_blocks(request), 1, 1 },
                                     .block = { GF_PAIR_THREADS, 1, 1 },
                                     .shared_bytes = (size_t)GF_PAIR_SHARED_BYTES(s->shape.s) };
    snprintf(name, sizeof name, "gf_pair_%d", s->shape.s);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel));
    GFI_TRY(gfi_tensor_args(&first, &s->shape, &s->args.first, &s->weights));
    fill_follower(request, unit_of(request, &s->shape), &s->args);
    return GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    pair_state *s = state;
    s->args.first.src = gfi_kimage_src(request, src);
    s->args.first.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static size_t memory_bytes(const void *state)
{
    return gfi_tensor_weights_bytes(&((const pair_state *)state)->shape);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const pair_state *s = state;
    static const char *const kinds[] = { [GF_PAIR_ANY] = "any 3x3",
                                         [GF_PAIR_ONE] = "3x3 of one term",
                                         [GF_PAIR_EDGES] = "edges",
                                         [GF_PAIR_GATED] = "edges by their squares" };
    snprintf(out, n_bytes, "with the next stage, %s, %zu KB shared", kinds[s->args.kind],
             (s->config.shared_bytes + 1023) / 1024);
}

const gf_impl gfi_window_cuda_pair = { .name = "cuda-pair",
                                       .backend = GF_BACKEND_CUDA,
                                       .batches = true,
                                       .fuses = true,
                                       .usable = usable,
                                       .cost_ns = cost_ns,
                                       .state_bytes = sizeof(pair_state),
                                       .prepare = prepare,
                                       .run = run,
                                       .destroy = destroy,
                                       .memory_bytes = memory_bytes,
                                       .describe = describe };
