#include "filters/normalize.h"

#include <stddef.h>

#include "core/alloc.h"
#include "filters/kimage.h"
#include "filters/pixelwise.h"

typedef struct normalizer {
    gf_range_state *device;
    const gfi_kernel *minmax, *finish, *histogram, *pick, *map;
} normalizer;

static bool wants_extremes(const gfi_normalize *p)
{
    return p->low_percent == 0 && p->high_percent == 100;
}

/* Digits of 11, 11 and 10 bits that cover a key; integers fill only its top bits. */
static int pass_count(gf_pixel pixel)
{
    return pixel == GF_PIXEL_U8 ? 1 : pixel == GF_PIXEL_U16 ? 2 : GF_RANGE_PASSES;
}

static void destroy(const gfi_request *request, void *state)
{
    normalizer *n = state;
    gfi_device_free(request->queue, n->device);
}

static gf_status find_kernels(gfi_device *device, normalizer *n)
{
    GFI_TRY(gfi_kernel_find(device, "gf_reduce_minmax", &n->minmax));
    GFI_TRY(gfi_kernel_find(device, "gf_reduce_finish", &n->finish));
    GFI_TRY(gfi_kernel_find(device, "gf_reduce_histogram", &n->histogram));
    GFI_TRY(gfi_kernel_find(device, "gf_reduce_pick", &n->pick));
    return gfi_kernel_find(device, "gf_reduce_map", &n->map);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    normalizer *n = state;
    void *memory;
    GFI_TRY(find_kernels(gfi_queue_device(request->queue), n));
    GFI_TRY(gfi_device_alloc(request->queue, sizeof *n->device, &memory));
    n->device = memory;
    return GF_OK;
}

static gf_status launch(const gfi_request *request, const gfi_kernel *kernel, gfi_launch grid,
                        const gf_range_args *args)
{
    grid.args = args;
    grid.args_bytes = sizeof *args;
    return gfi_kernel_launch(request->queue, kernel, &grid);
}

static gf_status find_extremes(const gfi_request *request, const normalizer *n, gfi_launch all,
                               const gf_range_args *args)
{
    const gfi_launch one = { .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } };
    GFI_TRY(gfi_fill(request->queue, n->device, 0, offsetof(gf_range_state, histogram)));
    GFI_TRY(launch(request, n->minmax, all, args));
    return launch(request, n->finish, one, args);
}

static gf_status find_quantiles(const gfi_request *request, const normalizer *n, gfi_launch all,
                                gf_range_args *args)
{
    const gfi_launch one = { .grid = { 1, 1, 1 },
                             .block = { GF_RANGE_PICK_THREADS, 1, 1 },
                             .shared_bytes = sizeof(gf_range_pick_memory) };
    const int n_passes = pass_count((gf_pixel)args->src.pixel);
    GFI_TRY(gfi_fill(request->queue, n->device, 0, sizeof *n->device));
    for (args->pass = 0; args->pass < n_passes; args->pass++) {
        const size_t slots = args->pass == 0 ? 1 : GF_RANGE_TARGETS;
        args->last = args->pass == n_passes - 1;
        all.shared_bytes = slots * GF_RANGE_BINS * sizeof(unsigned);
        GFI_TRY(launch(request, n->histogram, all, args));
        GFI_TRY(launch(request, n->pick, one, args));
    }
    return GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    enum { REDUCE_BLOCKS_PER_SM = 4, MAP_BLOCKS_PER_SM = 16 };
    const gfi_normalize *p = request->params;
    const normalizer *n = state;
    const size_t in = gf_pixel_bytes(src->pixel), out = gf_pixel_bytes(dst->pixel);
    gf_range_args args = { .src = gfi_kimage(src),
                           .dst = gfi_kimage(dst),
                           .state = n->device,
                           .q = { p->low_percent / 100, p->high_percent / 100 },
                           .out_low = isnan(p->out_low) ? 0 : p->out_low,
                           .out_high = gfi_first_set(p->out_high, p->white, request->white) };
    const gfi_launch all =
        gfi_pixelwise_launch(request->facts, src->width, src->height, in, REDUCE_BLOCKS_PER_SM);
    if (wants_extremes(p))
        GFI_TRY(find_extremes(request, n, all, &args));
    else
        GFI_TRY(find_quantiles(request, n, all, &args));
    return launch(request, n->map,
                  gfi_pixelwise_launch(request->facts, dst->width, dst->height, in > out ? in : out,
                                       MAP_BLOCKS_PER_SM),
                  &args);
}

static double cost_ns(const gfi_request *request)
{
    const size_t in = gf_pixel_bytes(request->in.pixel), out = gf_pixel_bytes(request->out.pixel);
    if (wants_extremes(request->params)) return gfi_pixelwise_cost_ns(request, 2 * in + out, 3);
    const int passes = pass_count(request->in.pixel);
    return gfi_pixelwise_cost_ns(request, ((size_t)passes + 1) * in + out, 2 * passes + 1);
}

static size_t memory_bytes(const void *state)
{
    (void)state;
    return sizeof(gf_range_state);
}

const gf_impl gfi_normalize_cuda = { .name = "cuda-normalize",
                                     .backend = GF_BACKEND_CUDA,
                                     .cost_ns = cost_ns,
                                     .state_bytes = sizeof(normalizer),
                                     .prepare = prepare,
                                     .run = run,
                                     .destroy = destroy,
                                     .memory_bytes = memory_bytes };
