/* Small square windows on CUDA, without shared memory: kernels/stream.cu. */
#include "filters/window_cuda.h"

#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "filters/kimage.h"
#include "kernels/stream.variants.h"

typedef struct stream_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gf_stream_args args; /* complete but for the images and what follows from their addresses */
} stream_state;

/* Separable terms that the kernel for a window takes, 0 for all taps; -1: there is none. */
static int kernel_terms(const gfi_window *w)
{
    if (w->kw != w->kh) return -1;
    if (w->n_terms > 0 && !w->force_direct && gfi_launch_has_stream(w->kw, w->n_terms))
        return w->n_terms;
    return w->full && !w->force_separable && gfi_launch_has_stream(w->kw, 0) ? 0 : -1;
}

static bool configure(const gfi_request *request, gfi_launch_config *config)
{
    const gfi_window *w = request->window;
    const gfi_chip chip = gfi_window_chip(request);
    const int bytes = (int)gf_pixel_bytes(request->in.pixel);
    return gfi_launch_stream(&chip, w->kw, bytes, request->in.width, request->out.height, config);
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_fft) return gfi_window_unusable(why, "another method is asked for");
    if (w->combine == GFI_COMBINE_UNSHARP)
        return gfi_window_unusable(why, "serves sums and magnitudes only");
    const int terms = kernel_terms(w);
    if (terms < 0)
        return gfi_window_unusable(why, "no kernel is made for a window of %dx%d with %d terms",
                                   w->kw, w->kh, w->n_terms);
    return gfi_window_countable(request, why);
}

static double cost_ns(const gfi_request *request)
{
    const gfi_window *w = request->window;
    const gfi_chip chip = gfi_window_chip(request);
    const int terms = kernel_terms(w);
    enum { ROOT = 10 }; /* a square root costs as much as so many taps */
    const double taps = (terms == 0 ? (double)w->kw * w->kh : (double)terms * (w->kw + w->kh)) +
                        (w->combine == GFI_COMBINE_MAGNITUDE ? ROOT : 0);
    const gfi_tune_row *row = gfi_tune_find(GFI_TUNE_STREAM, w->kw);
    gfi_launch_config config;
    if (!configure(request, &config)) return INFINITY;
    return gfi_launch_ns(&chip, &config, row, taps, gfi_window_bytes(request));
}

/* Whether squares of sums of pixels neither overflow nor vanish: integer pixels, and taps that are
 * neither huge nor tiny. */
static bool is_tame(const gfi_request *request)
{
    const gfi_window *w = request->window;
    static const double LEAST = 0x1p-10, MOST = 0x1p10;
    if (request->in.pixel == GF_PIXEL_F32 || fabs(w->border_value) > 65535) return false;
    for (int t = 0; t < w->n_terms; t++)
        for (int i = 0; i < w->kw; i++) {
            const double row = fabs(w->term[t].row[i]), col = fabs(w->term[t].col[i]);
            if ((row != 0 && row < LEAST) || row > MOST) return false;
            if ((col != 0 && col < LEAST) || col > MOST) return false;
        }
    return true;
}

static void fill_args(const gfi_request *request, const gfi_launch_config *c, gf_stream_args *args)
{
    const gfi_window *w = request->window;
    const int terms = kernel_terms(w);
    *args = (gf_stream_args){ .combine = gfi_window_combine(request),
                              .ax = w->ax,
                              .ay = w->ay,
                              .border = (int)w->border,
                              .border_value = (float)w->border_value,
                              .rows = c->rows,
                              .tame = is_tame(request) };
    if (terms == 0) gfi_window_taps(w->full, (size_t)w->kw * (size_t)w->kh, args->full);
    for (int t = 0; t < terms; t++) {
        gfi_window_taps(w->term[t].row, (size_t)w->kw, args->row[t]);
        gfi_window_taps(w->term[t].col, (size_t)w->kh, args->col[t]);
    }
}

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    gfi_free(state);
}

static gf_status prepare(const gfi_request *request, void **state)
{
    const gfi_window *w = request->window;
    char name[32];
    snprintf(name, sizeof name, "gf_stream_%s_%d_%d", gf_pixel_name(request->in.pixel), w->kw,
             kernel_terms(w));
    *state = NULL;
    stream_state *s = gfi_alloc_zero(1, sizeof *s, "cuda-stream");
    if (!s) return GF_ERROR_NO_MEMORY;
    gf_status status = configure(request, &s->config)
                           ? gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel)
                           : gfi_fail(GF_ERROR_INTERNAL, "%s: no launch for a window of %dx%d",
                                      name, w->kw, w->kh);
    if (status != GF_OK) {
        gfi_free(s);
        return status;
    }
    fill_args(request, &s->config, &s->args);
    *state = s;
    return GF_OK;
}

/* Whether every group of `columns` pixels from the row's begin is aligned to its size. */
static bool groups_aligned(const gf_kimage *image, int columns)
{
    const size_t bytes = (size_t)columns * gf_pixel_bytes((gf_pixel)image->pixel);
    const size_t largest = bytes < 16 ? bytes : 16; /* that a thread reads or writes at once */
    return (uintptr_t)image->data % largest == 0 && (size_t)image->pitch % largest == 0;
}

/* Share the output's columns out. Thread t has the N of the source from t * N on; those whose
 * pixels, margin included, lie in the source and in the result are made by such threads. */
static void share_columns(const gf_stream_args *args, int k, int *first, int *last)
{
    const int bytes = (int)gf_pixel_bytes((gf_pixel)args->src.pixel);
    const int n = GF_STREAM_COLUMNS(k, bytes), margin = GF_STREAM_MARGIN(k, bytes);
    const int shift = args->ax - k / 2; /* of the output's columns against the source's */
    *first = *last = 0;
    if (shift % n != 0 || !groups_aligned(&args->src, n) || !groups_aligned(&args->dst, n)) return;
    const int from = margin > -shift ? margin : -shift;
    const int in_src = args->src.width - margin, in_dst = args->dst.width - shift;
    const int to = in_src < in_dst ? in_src : in_dst;
    if (to / n <= (from + n - 1) / n) return;
    *first = (from + n - 1) / n;
    *last = to / n;
}

/* Complete arguments and launch for the images at hand. */
static void place(stream_state *s, int k)
{
    enum { LANES = 32 };
    gf_stream_args *a = &s->args;
    const int n = GF_STREAM_COLUMNS(k, (int)gf_pixel_bytes((gf_pixel)a->src.pixel));
    share_columns(a, k, &a->first, &a->last);
    const bool any = a->first < a->last;
    a->left = any ? a->first * n + a->ax - k / 2 : a->dst.width;
    a->right = any ? a->last * n + a->ax - k / 2 : a->dst.width;
    a->edge_blocks = (a->left + a->dst.width - a->right + LANES - 1) / LANES;
    s->config.grid[0] =
        (unsigned)(a->edge_blocks + (a->last + GF_STREAM_THREADS - 1) / GF_STREAM_THREADS);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    stream_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    place(s, request->window->kw);
    const gfi_launch launch = GFI_WINDOW_LAUNCH(request, s->config, s->args);
    return gfi_kernel_launch(request->queue, s->kernel, &launch);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const stream_state *s = state;
    snprintf(out, n_bytes, "strips of %d rows in registers, %u threads a block", s->config.rows,
             s->config.block[0]);
}

const gf_impl gfi_window_cuda_stream = { .name = "cuda-stream",
                                         .backend = GF_BACKEND_CUDA,
                                         .batches = true,
                                         .fuses = true,
                                         .usable = usable,
                                         .cost_ns = cost_ns,
                                         .prepare = prepare,
                                         .run = run,
                                         .destroy = destroy,
                                         .describe = describe };
