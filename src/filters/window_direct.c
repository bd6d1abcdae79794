/* 2-D sums over the whole kernel: any kernel, quickest for small ones. */
#include "filters/window.h"

#include <stdio.h>

#include "core/alloc.h"
#include "filters/window_cpu.h"

typedef struct direct {
    int kw, kh;
    float *taps;
    gfi_sweep *sweep;
} direct;

static void sum(const void *state, int term, const float *const *rows, float *const *out, int n)
{
    (void)term;
    const direct *d = state;
    gfi_sum_block(rows, d->taps, d->kw, d->kh, out, n);
}

static const gfi_sweep_kind kind = { .rows_at_once = GFI_COLUMN_ROWS, .sum = sum };

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_separable || w->force_fft)
        snprintf(why, GFI_WHY_BYTES, "method=%s was asked for", w->force_fft ? "fft" : "separable");
    else if (!w->full)
        snprintf(why, GFI_WHY_BYTES, "%s",
                 w->n_terms > 1 ? "the filter is made of two kernels"
                                : "the kernel has too many taps for 2-D sums");
    else
        return true;
    return false;
}

static double cost_ns(const gfi_request *request)
{
    const gfi_window *w = request->window;
    return gfi_cpu_cost_ns(request,
                           GFI_NS_PER_DIRECT_PIXEL + (double)w->kw * w->kh * GFI_NS_PER_TAP);
}

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    direct *d = state;
    gfi_sweep_destroy(&d->sweep);
    gfi_free(d->taps);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    const gfi_window *w = request->window;
    direct *d = state;
    d->kw = w->kw;
    d->kh = w->kh;
    d->taps = gfi_float_taps(w->full, (size_t)w->kw * (size_t)w->kh);
    return d->taps ? gfi_sweep_create(request, &kind, 1, d, &d->sweep) : GF_ERROR_NO_MEMORY;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    (void)request;
    direct *d = state;
    gfi_sweep_run(d->sweep, src, dst);
    return GF_OK;
}

static size_t memory_bytes(const void *state)
{
    const direct *d = state;
    return sizeof *d + (size_t)d->kw * (size_t)d->kh * sizeof *d->taps + gfi_sweep_bytes(d->sweep);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    gfi_sweep_describe(((const direct *)state)->sweep, out, n_bytes);
}

const gf_impl gfi_window_direct = {
    .name = "direct",
    .backend = GF_BACKEND_CPU,
    .usable = usable,
    .cost_ns = cost_ns,
    .state_bytes = sizeof(direct),
    .prepare = prepare,
    .run = run,
    .destroy = destroy,
    .memory_bytes = memory_bytes,
    .describe = describe,
};
