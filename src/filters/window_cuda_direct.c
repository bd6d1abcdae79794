/* 2-D windows on CUDA: kernels/direct.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>

#include "core/alloc.h"
#include "filters/kimage.h"

typedef struct direct_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    bool compiled_size;
    size_t more_bytes;
    gf_direct_args args; /* complete but for the images */
} direct_state;

static size_t count_taps(const gfi_window *w) { return (size_t)w->kw * (size_t)w->kh; }

static bool configure(const gfi_request *request, gfi_launch_config *config)
{
    const gfi_window *w = request->window;
    const gfi_chip chip = gfi_window_chip(request);
    const int width = request->out.width, height = request->out.height;
    if (gfi_launch_has_direct(w->kw, w->kh))
        return gfi_launch_direct(&chip, w->kw, width, height, config);
    return gfi_launch_direct_n(&chip, w->kw, w->kh, width, height, config);
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    enum { WIDEST = 1024 }; /* wider rows would need longer sums than the kernel makes */
    const gfi_window *w = request->window;
    gfi_launch_config config;
    if (w->force_separable || w->force_fft)
        return gfi_window_unusable(why, "another method is asked for");
    if (w->combine != GFI_COMBINE_SUM) return gfi_window_unusable(why, "serves weighted sums only");
    if (!w->full)
        return gfi_window_unusable(why, "a %dx%d window is kept as rows and columns only", w->kw,
                                   w->kh);
    if (w->kw > WIDEST)
        return gfi_window_unusable(why, "a window of %d columns is wider than %d", w->kw, WIDEST);
    if (!gfi_window_countable(request, why)) return false;
    if (!configure(request, &config))
        return gfi_window_unusable(why, "a tile for %dx%d does not fit %zu bytes of shared memory",
                                   w->kw, w->kh, gfi_window_chip(request).shared_bytes_block);
    return true;
}

static double cost_ns(const gfi_request *request)
{
    const gfi_window *w = request->window;
    const gfi_chip chip = gfi_window_chip(request);
    const bool compiled = gfi_launch_has_direct(w->kw, w->kh);
    const gfi_tune_row *row = gfi_tune_find(compiled ? GFI_TUNE_DIRECT : GFI_TUNE_DIRECT_N, w->kw);
    gfi_launch_config config;
    if (!configure(request, &config)) return INFINITY;
    return gfi_launch_ns(&chip, &config, row, (double)count_taps(w), gfi_window_bytes(request));
}

static gf_status fill_args(const gfi_request *request, direct_state *s)
{
    const gfi_window *w = request->window;
    const size_t n = count_taps(w);
    s->args.kw = w->kw;
    s->args.kh = w->kh;
    s->args.ax = w->ax;
    s->args.ay = w->ay;
    s->args.border = (int)w->border;
    s->args.border_value = (float)w->border_value;
    s->args.scale = (float)w->scale;
    s->args.offset = (float)w->offset;
    s->args.rows = s->config.rows;
    s->args.tile_groups = s->config.tile_groups;
    s->args.tile_groups_inverse = s->config.groups_inverse;
    if (n <= GF_DIRECT_TAPS) {
        gfi_window_taps(w->full, n, s->args.taps);
        return GF_OK;
    }
    float *more;
    GFI_TRY(gfi_window_upload(request->queue, w->full, n, &more));
    s->args.more = more;
    s->more_bytes = n * sizeof(float);
    return GF_OK;
}

static void destroy(const gfi_request *request, void *state)
{
    direct_state *s = state;
    if (s->args.more) gfi_device_free(request->queue, (void *)(uintptr_t)s->args.more);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    const gfi_window *w = request->window;
    direct_state *s = state;
    s->compiled_size = gfi_launch_has_direct(w->kw, w->kh);
    char name[32] = "gf_direct_n";
    if (count_taps(w) > GF_DIRECT_TAPS) snprintf(name, sizeof name, "gf_direct_more");
    if (s->compiled_size) snprintf(name, sizeof name, "gf_direct_%d", w->kw);
    if (!configure(request, &s->config)) return gfi_window_no_launch(w, name);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel));
    return fill_args(request, s);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    direct_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static size_t memory_bytes(const void *state) { return ((const direct_state *)state)->more_bytes; }

static void describe(const void *state, char *out, size_t n_bytes)
{
    const direct_state *s = state;
    const gfi_launch_config *c = &s->config;
    snprintf(out, n_bytes, "%dx%d %s, 4x%d a thread, %ux%u block, %zu KB shared", s->args.kw,
             s->args.kh, s->compiled_size ? "compile-time" : "run-time", c->rows / (int)c->block[1],
             c->block[0], c->block[1], (c->shared_bytes + 1023) / 1024);
}

const gf_impl gfi_window_cuda_direct = { .name = "cuda-direct",
                                         .backend = GF_BACKEND_CUDA,
                                         .batches = true,
                                         .usable = usable,
                                         .cost_ns = cost_ns,
                                         .state_bytes = sizeof(direct_state),
                                         .prepare = prepare,
                                         .run = run,
                                         .destroy = destroy,
                                         .memory_bytes = memory_bytes,
                                         .describe = describe };
