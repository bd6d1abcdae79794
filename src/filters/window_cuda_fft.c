/* Windows by FFT on CUDA: overlap-save over batches of square tiles. The output is cut into steps
 * on a grid that begins at the image's origin; each comes from one tile, whose product with the
 * kept spectrum of the taps is right wherever the circular wrap does not reach. */
#include "filters/window_cuda.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/kimage.h"

enum {
    MIN_TILE = 256,
    MAX_TILE = 4096,
    SCRATCH_BYTES = 256 << 20 /* for a batch: enough tiles to fill the device */
};

typedef struct fft_state {
    gfi_queue *queue;
    const gfi_kernel *place, *pad, *multiply, *crop, *redo;
    gfi_fft *fft;
    gf_fft_args args; /* complete but for images and first_tile */
    size_t bytes;     /* device memory, the FFT's own apart */
} fft_state;

/* ---- tiles --------------------------------------------------------------------------------- */

/* How an output is cut. The tiles' columns are moved left so that multiples of four fall on
 * multiples of four in the image: the taps then begin at column `shift`. */
typedef struct tiling {
    int n, step_x, step_y, tiles_x, tiles, batch;
    int origin_x, shift;
} tiling;

/* Cut into tiles of n x n; false when the window is more than two thirds of a tile. */
static bool cut(const gfi_request *request, int n, tiling *t)
{
    const gfi_window *w = request->window;
    t->n = n;
    t->origin_x = (int)(((int64_t)w->ax + 3) & ~(int64_t)3);
    t->shift = t->origin_x - w->ax;
    if (w->kw > n * 2 / 3 - 3 || w->kh > n * 2 / 3) return false;
    t->step_x = (n - w->kw - t->shift + 1) / 4 * 4;
    t->step_y = n - w->kh + 1;
    t->tiles_x = gfi_divide_up(request->out.width, t->step_x);
    const int64_t tiles = (int64_t)t->tiles_x * gfi_divide_up(request->out.height, t->step_y);
    if (tiles > INT32_MAX) return false;
    t->tiles = (int)tiles;
    /* as many equal batches as it takes: the last is not much emptier than the others */
    const int most = SCRATCH_BYTES / (3 * (int)sizeof(float) * n * n);
    const int batches = gfi_divide_up(t->tiles, most > 1 ? most : 1);
    t->batch = gfi_divide_up(t->tiles, batches);
    return true;
}

/* Measured on an H200 (132 multiprocessors), f32, tiles of 128^2 to 1024^2, windows 31 to 127:
 * 11.2 to 12.9 ps for each pixel of a tile both ways, 3.7 ps for padding and cropping each output
 * pixel; about ten launches a batch. */
static double tiling_cost_ns(const gfi_request *request, const tiling *t)
{
    enum { MEASURED_ON = 132, OF_AVERAGE_GPU = 46 };
    const double scale =
        (double)MEASURED_ON / (request->facts ? request->facts->multiprocessors : OF_AVERAGE_GPU);
    const double out = (double)request->out.width * request->out.height;
    const double batches = gfi_divide_up(t->tiles, t->batch);
    const double padded = batches * t->batch * (double)t->n * t->n;
    return batches * 25e3 + scale * (padded * 12e-3 + out * 3.7e-3);
}

static bool choose_tiling(const gfi_request *request, tiling *best, double *best_ns)
{
    bool found = false;
    tiling t;
    for (int n = MIN_TILE; n <= MAX_TILE; n *= 2) {
        if (!cut(request, n, &t)) continue;
        const double ns = tiling_cost_ns(request, &t);
        if (found && ns >= *best_ns) continue;
        *best = t;
        *best_ns = ns;
        found = true;
    }
    return found;
}

static double cost_ns(const gfi_request *request)
{
    tiling t;
    double ns = INFINITY;
    choose_tiling(request, &t, &ns);
    return ns;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    const char *reason = NULL;
    tiling t;
    double ns;
    if (w->combine != GFI_COMBINE_SUM)
        reason = "serves weighted sums only";
    else if (w->force_direct || w->force_separable)
        reason = "another method is asked for";
    else if (!choose_tiling(request, &t, &ns))
        snprintf(why, GFI_WHY_BYTES, "a window of %dx%d is more than two thirds of a %dx%d tile",
                 w->kw, w->kh, MAX_TILE, MAX_TILE);
    else if (gfi_fft_possible(&reason))
        return true;
    if (reason) snprintf(why, GFI_WHY_BYTES, "%s", reason);
    return false;
}

/* ---- prepare ------------------------------------------------------------------------------- */

static gf_status alloc_buffer(fft_state *s, size_t bytes, void *out)
{
    void *memory;
    GFI_TRY(gfi_device_alloc(s->queue, bytes, &memory));
    memcpy(out, &memory, sizeof memory);
    s->bytes += bytes;
    return GF_OK;
}

static size_t spectrum_bytes(int n) { return (size_t)n * ((size_t)n / 2 + 1) * 2 * sizeof(float); }
static size_t tile_bytes(int n) { return (size_t)n * (size_t)n * sizeof(float); }

static gf_status alloc_buffers(fft_state *s, size_t taps, bool wild)
{
    gf_fft_args *a = &s->args;
    const size_t batch = (size_t)a->batch;
    GFI_TRY(alloc_buffer(s, batch * tile_bytes(a->n), &a->real));
    GFI_TRY(alloc_buffer(s, batch * spectrum_bytes(a->n), &a->spectrum));
    GFI_TRY(alloc_buffer(s, spectrum_bytes(a->n), &a->transform));
    GFI_TRY(alloc_buffer(s, taps * sizeof(float), &a->taps));
    if (wild) GFI_TRY(alloc_buffer(s, batch * sizeof *a->wild, &a->wild));
    return gfi_fft_create(s->queue, a->n, a->n, a->batch, &s->fft);
}

static gf_status find_kernels(fft_state *s)
{
    gfi_device *device = gfi_queue_device(s->queue);
    GFI_TRY(gfi_kernel_find(device, "gf_fft_place", &s->place));
    GFI_TRY(gfi_kernel_find(device, "gf_fft_pad", &s->pad));
    GFI_TRY(gfi_kernel_find(device, "gf_fft_multiply", &s->multiply));
    GFI_TRY(gfi_kernel_find(device, "gf_fft_crop", &s->crop));
    return gfi_kernel_find(device, "gf_fft_redo", &s->redo);
}

static void set_args(fft_state *s, const gfi_request *request, const tiling *t)
{
    const gfi_window *w = request->window;
    s->args = (gf_fft_args){ .n = t->n,
                             .batch = t->batch,
                             .tiles_x = t->tiles_x,
                             .tiles = t->tiles,
                             .step_x = t->step_x,
                             .step_y = t->step_y,
                             .origin_x = t->origin_x,
                             .origin_y = w->ay,
                             .shift = t->shift,
                             .kw = w->kw,
                             .kh = w->kh,
                             .border = (int)w->border,
                             .border_value = (float)w->border_value,
                             .scale = (float)w->scale,
                             .offset = (float)w->offset,
                             .terms = w->n_terms };
}

static gf_status launch(const fft_state *s, const gfi_kernel *kernel, const gf_fft_args *args,
                        gfi_launch where)
{
    where.args = args;
    where.args_bytes = sizeof *args;
    return gfi_kernel_launch(s->queue, kernel, &where);
}

/* Transform the taps on the device, in tile 0 of an otherwise empty batch, and keep the result. */
static gf_status make_transform(fft_state *s, const float *taps, size_t n_taps)
{
    const gf_fft_args *a = &s->args;
    const unsigned n = (unsigned)a->n;
    GFI_TRY(gfi_upload(s->queue, (void *)a->taps, taps, n_taps * sizeof *taps));
    GFI_TRY(gfi_fill(s->queue, a->real, 0, (size_t)a->batch * tile_bytes(a->n)));
    GFI_TRY(
        launch(s, s->place, a, (gfi_launch){ .grid = { n / 256, n, 1 }, .block = { 256, 1, 1 } }));
    GFI_TRY(gfi_fft_forward(s->fft, a->real, a->spectrum));
    const gf_view from = { .data = a->spectrum,
                           .width = a->n + 2,
                           .height = a->n,
                           .pitch_bytes = ((size_t)a->n + 2) * sizeof(float),
                           .pixel = GF_PIXEL_F32,
                           .memory = GF_MEMORY_CUDA };
    gf_view to = from;
    to.data = (void *)a->transform;
    return gfi_copy_image(s->queue, &from, &to);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    fft_state *s = state;
    s->queue = request->queue;
    tiling t;
    double ns, abs_sum;
    if (!choose_tiling(request, &t, &ns))
        return gfi_fail(GF_ERROR_INTERNAL, "cuda-fft: prepared for a window it cannot serve");
    float *taps;
    size_t n_taps;
    GFI_TRY(gfi_window_planes(request->window, &taps, &n_taps, &abs_sum));
    set_args(s, request, &t);
    s->args.limit = gfi_window_wild_limit((double)t.n * t.n, abs_sum);
    gf_status status = find_kernels(s);
    if (status == GF_OK)
        status = alloc_buffers(s, n_taps, gfi_window_may_be_wild(request, s->args.limit));
    if (status == GF_OK) status = make_transform(s, taps, n_taps);
    gfi_free(taps);
    return status;
}

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    fft_state *s = state;
    gfi_fft_destroy(&s->fft);
    gfi_device_free(s->queue, s->args.real);
    gfi_device_free(s->queue, s->args.spectrum);
    gfi_device_free(s->queue, (void *)s->args.transform);
    gfi_device_free(s->queue, (void *)s->args.taps);
    gfi_device_free(s->queue, s->args.wild);
}

/* ---- run ----------------------------------------------------------------------------------- */

/* Threads of four columns each, which walk down four rows, over width x height of each tile. */
static gfi_launch over_tiles(int width, int height, int batch)
{
    return (gfi_launch){ .grid = { (unsigned)gfi_divide_up(width, 4 * 64),
                                   (unsigned)gfi_divide_up(height, 4 * 4), (unsigned)batch },
                         .block = { 64, 4, 1 } };
}

static gf_status run_batch(const fft_state *s, const gf_fft_args *a)
{
    const unsigned quads = (unsigned)(spectrum_bytes(a->n) / (4 * sizeof(float)));
    const gfi_launch multiply = { .grid = { (quads + 255) / 256, 1, 1 }, .block = { 256, 1, 1 } };
    const gfi_launch redo = { .grid = { (unsigned)gfi_divide_up(a->step_x, 32),
                                        (unsigned)gfi_divide_up(a->step_y, 32),
                                        (unsigned)a->batch },
                              .block = { 32, 8, 1 } };
    if (a->wild) GFI_TRY(gfi_fill(s->queue, a->wild, 0, (size_t)a->batch * sizeof *a->wild));
    GFI_TRY(launch(s, s->pad, a, over_tiles(a->n, a->n, a->batch)));
    GFI_TRY(gfi_fft_forward(s->fft, a->real, a->spectrum));
    GFI_TRY(launch(s, s->multiply, a, multiply));
    GFI_TRY(gfi_fft_inverse(s->fft, a->spectrum, a->real));
    GFI_TRY(launch(s, s->crop, a, over_tiles(a->step_x, a->step_y, a->batch)));
    return a->wild ? launch(s, s->redo, a, redo) : GF_OK;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    (void)request;
    const fft_state *s = state;
    gf_fft_args args = s->args;
    args.src = gfi_kimage(src);
    args.dst = gfi_kimage(dst);
    for (int first = 0; first < args.tiles; first += args.batch) {
        args.first_tile = first;
        GFI_TRY(run_batch(s, &args));
    }
    return GF_OK;
}

static size_t memory_bytes(const void *state)
{
    const fft_state *s = state;
    return s->bytes + gfi_fft_bytes(s->fft);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const gf_fft_args *a = &((const fft_state *)state)->args;
    snprintf(out, n_bytes, "%dx%d tiles, batch %d", a->n, a->n, a->batch);
}

const gf_impl gfi_window_cuda_fft = { .name = "cuda-fft",
                                      .backend = GF_BACKEND_CUDA,
                                      .tol_factor = 2,
                                      .usable = usable,
                                      .cost_ns = cost_ns,
                                      .state_bytes = sizeof(fft_state),
                                      .prepare = prepare,
                                      .run = run,
                                      .destroy = destroy,
                                      .memory_bytes = memory_bytes,
                                      .describe = describe };
