/* Windows of any size on CUDA, for what no faster kernel serves: kernels/any.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>

#include "core/alloc.h"
#include "filters/kimage.h"

typedef struct any_state {
    const gfi_kernel *rows, *columns;                      /* two passes, or */
    const gfi_kernel *full;                                /* one */
    float *row[GFI_MAX_TERMS], *col[GFI_MAX_TERMS], *taps; /* device memory */
    float *scratch[GFI_MAX_TERMS]; /* source rows, filtered: src height x dst width */
    double outside[GFI_MAX_TERMS]; /* such a row above or below a constant border */
    size_t bytes;
} any_state;

/* Two passes wherever the window allows, unless the user wants the definition followed. */
static bool two_passes(const gfi_window *w)
{
    return w->n_terms > 0 && !(w->force_direct && w->full);
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_fft) return gfi_window_unusable(why, "another method is asked for");
    if (w->force_separable && w->n_terms == 0)
        return gfi_window_unusable(why, "the window is not separable");
    return gfi_window_countable(request, why);
}

/* Ten times what it should take: it is there for when there is nothing else. */
static double cost_ns(const gfi_request *request)
{
    enum { LAST_RESORT = 10 };
    const gfi_window *w = request->window;
    const gfi_chip chip = gfi_window_chip(request);
    const double taps =
        two_passes(w) ? ((double)w->kw + w->kh) * w->n_terms : (double)w->kw * (double)w->kh;
    gfi_launch_config config;
    gfi_launch_any(request->out.width, request->out.height, &config);
    return LAST_RESORT * gfi_launch_ns(&chip, &config, gfi_tune_find(GFI_TUNE_ANY, w->kw), taps,
                                       gfi_window_bytes(request));
}

/* ---- prepare ------------------------------------------------------------------------------- */

static void destroy(const gfi_request *request, void *state)
{
    any_state *s = state;
    for (int t = 0; t < GFI_MAX_TERMS; t++) {
        if (s->row[t]) gfi_device_free(request->queue, s->row[t]);
        if (s->col[t]) gfi_device_free(request->queue, s->col[t]);
        if (s->scratch[t]) gfi_device_free(request->queue, s->scratch[t]);
    }
    if (s->taps) gfi_device_free(request->queue, s->taps);
}

static gf_status upload(const gfi_request *request, any_state *s, const double *taps, size_t n,
                        float **out)
{
    s->bytes += n * sizeof(float);
    return gfi_window_upload(request->queue, taps, n, out);
}

static gf_status prepare_term(const gfi_request *request, any_state *s, int t)
{
    const gfi_window *w = request->window;
    const gfi_term *term = &w->term[t];
    size_t pixels, bytes;
    if (!gfi_mul((size_t)request->out.width, (size_t)request->in.height, &pixels) ||
        !gfi_mul(pixels, sizeof(float), &bytes))
        return gfi_fail(GF_ERROR_DEVICE_MEMORY, "scratch image: %d x %d cannot be addressed",
                        request->out.width, request->in.height);
    GFI_TRY(upload(request, s, term->row, (size_t)w->kw, &s->row[t]));
    GFI_TRY(upload(request, s, term->col, (size_t)w->kh, &s->col[t]));
    void *scratch;
    GFI_TRY(gfi_device_alloc(request->queue, bytes, &scratch));
    s->scratch[t] = scratch;
    s->bytes += bytes;
    for (int i = 0; i < w->kw; i++) s->outside[t] += term->row[i] * w->border_value;
    return GF_OK;
}

static gf_status prepare(const gfi_request *request, void *state)
{
    any_state *s = state;
    const gfi_window *w = request->window;
    gfi_device *device = gfi_queue_device(request->queue);
    if (!two_passes(w)) {
        size_t n;
        if (!gfi_mul((size_t)w->kw, (size_t)w->kh, &n))
            return gfi_fail(GF_ERROR_NO_MEMORY, "taps: %d x %d cannot be addressed", w->kw, w->kh);
        GFI_TRY(gfi_kernel_find(device, "gf_any_full", &s->full));
        return upload(request, s, w->full, n, &s->taps);
    }
    GFI_TRY(gfi_kernel_find(device, "gf_any_rows", &s->rows));
    GFI_TRY(gfi_kernel_find(device, "gf_any_columns", &s->columns));
    for (int t = 0; t < w->n_terms; t++) GFI_TRY(prepare_term(request, s, t));
    return GF_OK;
}

/* ---- run ----------------------------------------------------------------------------------- */

static gf_status launch(const gfi_request *request, const gfi_kernel *kernel,
                        const gf_any_args *args)
{
    gfi_launch_config config;
    gfi_launch_any(args->dst.width, args->dst.height, &config);
    return gfi_window_launch(request, kernel, &config, args, sizeof *args);
}

static gf_status run_two_passes(const gfi_request *request, const any_state *s, gf_any_args *args)
{
    const gfi_window *w = request->window;
    const gf_kimage src = args->src, dst = args->dst;
    gf_kimage scratch = { .pitch = (long long)dst.width * (long long)sizeof(float),
                          .width = dst.width,
                          .height = src.height,
                          .pixel = GF_P_F32 };
    for (int t = 0; t < w->n_terms; t++) {
        scratch.data = s->scratch[t];
        args->dst = scratch;
        args->taps = s->row[t];
        GFI_TRY(launch(request, s->rows, args));
    }
    scratch.data = s->scratch[0];
    args->src = scratch;
    args->src_b = s->scratch[1];
    args->dst = dst;
    args->taps = s->col[0];
    args->taps_b = s->col[1];
    args->outside_a = (float)s->outside[0];
    args->outside_b = (float)s->outside[1];
    return launch(request, s->columns, args);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    const any_state *s = state;
    const gfi_window *w = request->window;
    gf_any_args args = { .src = gfi_kimage(src),
                         .dst = gfi_kimage(dst),
                         .own = gfi_kimage(src),
                         .taps = s->taps,
                         .combine = gfi_window_combine(request),
                         .kw = w->kw,
                         .kh = w->kh,
                         .ax = w->ax,
                         .ay = w->ay,
                         .border = (int)w->border,
                         .border_value = (float)w->border_value };
    return s->full ? launch(request, s->full, &args) : run_two_passes(request, s, &args);
}

static size_t memory_bytes(const void *state) { return ((const any_state *)state)->bytes; }

static void describe(const void *state, char *out, size_t n_bytes)
{
    snprintf(out, n_bytes, "%s", ((const any_state *)state)->full ? "one pass" : "two passes");
}

const gf_impl gfi_window_cuda_any = { .name = "cuda-any",
                                      .backend = GF_BACKEND_CUDA,
                                      .fuses = true,
                                      .usable = usable,
                                      .cost_ns = cost_ns,
                                      .state_bytes = sizeof(any_state),
                                      .prepare = prepare,
                                      .run = run,
                                      .destroy = destroy,
                                      .memory_bytes = memory_bytes,
                                      .describe = describe };
