/* Separable windows on CUDA, rows and columns in one launch: kernels/sep.cu. Square windows of the
 * usual sizes have kernels of their own. */
#include "filters/window_cuda.h"

#include <stdio.h>

#include "core/alloc.h"
#include "filters/kimage.h"

typedef struct sep_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gf_sep_args args; /* complete but for the images */
} sep_state;

static bool is_compiled(const gfi_window *w)
{
    return gfi_launch_has_sep(w->kw, w->kh, w->n_terms);
}

static bool configure(const gfi_request *request, gfi_launch_config *config)
{
    const gfi_window *w = request->window;
    const gfi_chip chip = gfi_window_chip(request);
    const int width = request->out.width, height = request->out.height;
    if (is_compiled(w)) return gfi_launch_sep_k(&chip, w->kw, w->n_terms, width, height, config);
    return gfi_launch_sep(&chip, w->kw, w->kh, w->n_terms, width, height, config);
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    gfi_launch_config config;
    if (w->force_direct || w->force_fft)
        return gfi_window_unusable(why, "another method is asked for");
    if (w->n_terms == 0) return gfi_window_unusable(why, "the window is not separable");
    if (w->kw > GF_SEP_TAPS || w->kh > GF_SEP_TAPS)
        return gfi_window_unusable(why, "a window of %dx%d is longer than %d", w->kw, w->kh,
                                   GF_SEP_TAPS);
    if (!gfi_window_countable(request, why)) return false;
    if (!configure(request, &config))
        return gfi_window_unusable(why, "a strip for %dx%d does not fit %zu bytes of shared memory",
                                   w->kw, w->kh, gfi_window_chip(request).shared_bytes_block);
    return true;
}

/* Few blocks, alone on their multiprocessors, wait for each other's rows. 2026-11-30, H200, u8,
 * 512^2: 9, 17, 81, 241 taps 0.015, 0.023, 0.117, 0.558 ms; 2048^2: 17, 81 taps 0.038, 0.167 ms. */
static double waiting_ns(const gfi_request *request, const gfi_launch_config *config)
{
    static const double TAP_NS = 1000;
    const double room = (double)gfi_window_chip(request).multiprocessors * config->resident;
    const double filled = (double)config->grid[0] * config->grid[1] / room;
    return filled >= 2 ? 0 : TAP_NS * request->window->kh * (1 - filled / 2);
}

static double cost_ns(const gfi_request *request)
{
    const gfi_window *w = request->window;
    const gfi_chip chip = gfi_window_chip(request);
    const int taps = w->kw + w->kh;
    const gfi_tune_row *row =
        is_compiled(w) ? gfi_tune_find(GFI_TUNE_SEP_K, w->kw) : gfi_tune_find(GFI_TUNE_SEP, taps);
    gfi_launch_config config;
    if (!configure(request, &config)) return INFINITY;
    return waiting_ns(request, &config) +
           gfi_launch_ns(&chip, &config, row, (double)taps * w->n_terms, gfi_window_bytes(request));
}

static void fill_args(const gfi_request *request, const gfi_launch_config *c, gf_sep_args *args)
{
    const gfi_window *w = request->window;
    *args = (gf_sep_args){ .combine = gfi_window_combine(request),
                           .n_terms = w->n_terms,
                           .kw = w->kw,
                           .kh = w->kh,
                           .ax = w->ax,
                           .ay = w->ay,
                           .border = (int)w->border,
                           .border_value = (float)w->border_value,
                           .strip = c->strip,
                           .rows = c->rows,
                           .lag = c->lag,
                           .tile_groups = c->tile_groups,
                           .tile_groups_inverse = c->groups_inverse,
                           .tile_pitch = c->tile_pitch,
                           .ring_pitch = c->ring_pitch };
    for (int t = 0; t < w->n_terms; t++) {
        gfi_window_taps(w->term[t].row, (size_t)w->kw, args->row[t]);
        gfi_window_taps(w->term[t].col, (size_t)w->kh, args->col[t]);
    }
}

static gf_status prepare(const gfi_request *request, void *state)
{
    const gfi_window *w = request->window;
    char name[32] = "gf_sep";
    if (is_compiled(w)) snprintf(name, sizeof name, "gf_sep_%d_%d", w->kw, w->n_terms);
    sep_state *s = state;
    if (!configure(request, &s->config)) return gfi_window_no_launch(w, name);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel));
    fill_args(request, &s->config, &s->args);
    return GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    sep_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const sep_state *s = state;
    const gfi_launch_config *c = &s->config;
    snprintf(out, n_bytes, "%d+%d taps, %d term%s, strips of %dx%d, %u threads, %zu KB shared",
             s->args.kw, s->args.kh, s->args.n_terms, s->args.n_terms > 1 ? "s" : "", c->strip,
             c->rows, c->block[0], (c->shared_bytes + 1023) / 1024);
}

const gf_impl gfi_window_cuda_sep = { .name = "cuda-sep",
                                      .backend = GF_BACKEND_CUDA,
                                      .batches = true,
                                      .fuses = true,
                                      .usable = usable,
                                      .cost_ns = cost_ns,
                                      .state_bytes = sizeof(sep_state),
                                      .prepare = prepare,
                                      .run = run,
                                      .describe = describe };
