/* Windows by FFT of tiles in shared memory on CUDA: kernels/tilefft.cu. */
#include "filters/window_cuda.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/kimage.h"
#include "kernels/tilefft.variants.h"

/* ---- tiles --------------------------------------------------------------------------------- */

/* How an output is cut. Steps are of an even number of columns, and where threads take pairs of
 * pixels tiles begin at an even column of the image: the taps then begin at column `shift`. */
typedef struct tiling {
    int radix, parts, step_x, step_y, tiles_x, shift;
    int64_t tiles;
} tiling;

typedef struct tilefft_state {
    gfi_queue *queue;
    const gfi_kernel *kernel;
    gfi_launch_config config;
    tiling tiling;
    void *memory; /* spectrum, roots, taps */
    size_t bytes;
    gf_tilefft_args args; /* complete but for the images */
} tilefft_state;

/* Cut the output into steps for tiles of a shape; false when the window leaves too little. */
static bool cut(const gfi_request *request, int radix, int parts, tiling *t)
{
    const gfi_window *w = request->window;
    t->radix = radix;
    t->parts = parts;
    t->shift = GF_TILEFFT_NEIGHBOURS(radix) > 1 ? w->ax & 1 : 0;
    t->step_x = (parts * GF_TILEFFT_COLUMNS - t->shift - w->kw + 1) / 2 * 2;
    /* a few results in a tile's second half would not repay the work of joining the halves there */
    if (t->step_x > GF_TILEFFT_COLUMNS && t->step_x < GF_TILEFFT_COLUMNS * 9 / 8)
        t->step_x = GF_TILEFFT_COLUMNS;
    t->step_y = GF_TILEFFT_HEIGHT(radix) - w->kh + 1;
    if (t->step_x < 2 || t->step_y < 1) return false;
    t->tiles_x = gfi_divide_up(request->out.width, t->step_x);
    t->tiles = (int64_t)t->tiles_x * gfi_divide_up(request->out.height, t->step_y);
    return t->tiles <= INT32_MAX;
}

/* What a tile takes of a multiprocessor's time when others are under way too, by its shape and the
 * output pixels it makes. Measured on an H200 (132 multiprocessors), 2026-11-30, 8192x8192, u8 and
 * f32, windows 9 to 127. */
static double tile_ns(const tiling *t)
{
    const double pixels = (double)t->step_x * t->step_y;
    if (t->radix == 16) return 4300 + 0.2 * pixels;
    if (t->parts == 1) return 12100 + 0.18 * pixels;
    return 24000 + 0.7 * pixels + (t->step_x > GF_TILEFFT_COLUMNS ? 8000 : 0);
}

static double tiling_cost_ns(const gfi_request *request, const tiling *t)
{
    enum { LAUNCH_NS = 18000 }; /* the first tiles wait for their own loads: 512^2 takes 0.034 ms */
    const gfi_chip chip = gfi_window_chip(request);
    const int blocks = GF_TILEFFT_BLOCKS(t->radix, (int)gf_pixel_bytes(request->in.pixel));
    const double rounds = (double)t->tiles / ((double)chip.multiprocessors * blocks);
    return LAUNCH_NS + fmax(rounds, 1) * blocks * tile_ns(t);
}

/* The cheapest tiling, and its cost; INFINITY when there is none. */
static double choose_tiling(const gfi_request *request, tiling *best)
{
    const gfi_chip chip = gfi_window_chip(request);
    double best_ns = INFINITY;
    tiling t = { 0 };
    *best = t;
#define TRY(R, PARTS)                                                                              \
    if (GF_TILEFFT_BYTES(R) <= chip.shared_bytes_block && cut(request, R, PARTS, &t)) {            \
        const double ns = tiling_cost_ns(request, &t);                                             \
        if (ns < best_ns) {                                                                        \
            *best = t;                                                                             \
            best_ns = ns;                                                                          \
        }                                                                                          \
    }
    GF_TILEFFT_VARIANTS(TRY)
#undef TRY
    return best_ns;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    tiling t;
    if (w->combine != GFI_COMBINE_SUM) return gfi_window_unusable(why, "serves weighted sums only");
    if (w->force_direct || w->force_separable)
        return gfi_window_unusable(why, "another method is asked for");
    if (isinf(choose_tiling(request, &t)))
        return gfi_window_unusable(why, "a window of %dx%d does not fit a tile in shared memory",
                                   w->kw, w->kh);
    return gfi_window_countable(request, why);
}

static double cost_ns(const gfi_request *request)
{
    tiling t;
    return choose_tiling(request, &t);
}

/* ---- tables -------------------------------------------------------------------------------- */

typedef struct root {
    double re, im;
} root;

/* e^(2 pi i k / n) */
static root turn(double k, double n)
{
    const double angle = 6.283185307179586476925 * k / n;
    return (root){ cos(angle), sin(angle) };
}

static int reverse(int n, int bits)
{
    int r = 0;
    for (int i = 0; i < bits; i++) r |= (n >> i & 1) << (bits - 1 - i);
    return r;
}

static int log2_of(int n)
{
    int bits = 0;
    while (1 << bits < n) bits++;
    return bits;
}

static float *put_root(float *to, root r)
{
    *to++ = (float)r.re;
    *to++ = (float)r.im;
    return to;
}

/* The roots that a thread's place decides: see kernels/tilefft.cu. */
static void make_roots(int radix, float *to)
{
    const int lines = GF_TILEFFT_LINES(radix), columns = GF_TILEFFT_COLUMNS;
    for (int node = 0; node < radix; node++) { /* of the two levels over four lines */
        const double k = 0.25 + reverse(node, log2_of(radix));
        to = put_root(to, turn(2 * k, lines));
        to = put_root(to, turn(k, lines));
        to = put_root(to, turn(3 * k, lines));
        to = put_root(to, (root){ 0, 0 });
    }
    static const int LEVEL[GF_TILEFFT_LINE_ROOTS] = { 1, 2, 3, 3, 4, 4, 4, 4 };
    static const int CHILD[GF_TILEFFT_LINE_ROOTS] = { 0, 0, 0, 1, 0, 2, 1, 3 };
    for (int node = 0; node < 8; node++) /* of the four levels over sixteen columns */
        for (int i = 0; i < GF_TILEFFT_LINE_ROOTS; i++)
            to = put_root(to, turn(reverse(node, 3) + 8 * CHILD[i], 8 << LEVEL[i]));
    for (int x = 0; x < 16; x++) { /* of the three levels back to 128 columns */
        to = put_root(to, turn(-4 * x, columns));
        to = put_root(to, turn(-2 * x, columns));
        to = put_root(to, turn(-x, columns));
        to = put_root(to, turn(-x - 16, columns));
    }
    for (int x = 0; x < columns; x++) to = put_root(to, turn(x, 2 * columns));
}

/* All roots the spectrum is made of: e^(-2 pi i k / n) for n = 4 * lines, which twice the columns
 * divide. */
typedef struct unit_circle {
    int n;
    root *root;
} unit_circle;

/* A row of taps, transformed: at place p of a line stands the root that the tree gives it. */
static void transform_row(const gfi_window *w, const tiling *t, int part, int j,
                          const unit_circle *circle, root *out)
{
    const int stride = circle->n / (2 * GF_TILEFFT_COLUMNS);
    for (int p = 0; p < GF_TILEFFT_COLUMNS; p++) {
        const int step = stride * (part + 2 * reverse(p, 7));
        root sum = { 0, 0 };
        for (int i = 0; i < w->kw; i++) {
            const double tap = gfi_window_tap(w, i, j);
            const root r = circle->root[(t->shift + i) * step % circle->n];
            sum.re += tap * r.re;
            sum.im += tap * r.im;
        }
        out[p] = sum;
    }
}

/* The spectrum at a place. */
static root transform_column(const root *rows, int kh, int line, int column,
                             const unit_circle *circle)
{
    const int step = 1 + 4 * reverse(line, log2_of(circle->n / 4));
    root sum = { 0, 0 };
    for (int j = 0; j < kh; j++) {
        const root a = rows[j * GF_TILEFFT_COLUMNS + column];
        const root r = circle->root[j * step % circle->n];
        sum.re += a.re * r.re - a.im * r.im;
        sum.im += a.re * r.im + a.im * r.re;
    }
    return sum;
}

/* Where the kernel looks for the spectrum at a place: warps take eight lines, in two turns of four;
 * a lane has sixteen columns of one of them, which it loads two by two. */
static size_t spectrum_index(int line, int column)
{
    const int turn_of_warp = line / 4, lane = line % 4 * 8 + column / 16, k = column % 16;
    return (size_t)(((turn_of_warp * 8 + k / 2) * 32 + lane) * 2 + k % 2);
}

/* Floats of a part's spectrum. */
static size_t part_floats(int radix)
{
    return 2 * (size_t)GF_TILEFFT_COLUMNS * (size_t)GF_TILEFFT_LINES(radix);
}

static gf_status make_spectrum(const gfi_window *w, const tiling *t, float *out)
{
    const int lines = GF_TILEFFT_LINES(t->radix);
    const size_t n_rows = (size_t)w->kh * GF_TILEFFT_COLUMNS;
    root *rows = gfi_alloc(n_rows + 4 * (size_t)lines, sizeof *rows, "spectrum");
    if (!rows) return GF_ERROR_NO_MEMORY;
    const unit_circle circle = { 4 * lines, rows + n_rows };
    for (int k = 0; k < circle.n; k++) circle.root[k] = turn(-k, circle.n);
    const double scale = 1.0 / ((double)lines * GF_TILEFFT_COLUMNS * t->parts);
    for (int part = 0; part < t->parts; part++) {
        for (int j = 0; j < w->kh; j++)
            transform_row(w, t, part, j, &circle, rows + j * GF_TILEFFT_COLUMNS);
        for (int at = 0; at < lines * GF_TILEFFT_COLUMNS; at++) {
            const int line = at / GF_TILEFFT_COLUMNS, column = at % GF_TILEFFT_COLUMNS;
            const root s = transform_column(rows, w->kh, line, column, &circle);
            put_root(out + 2 * spectrum_index(line, column), (root){ scale * s.re, scale * s.im });
        }
        out += part_floats(t->radix);
    }
    gfi_free(rows);
    return GF_OK;
}

/* ---- prepare ------------------------------------------------------------------------------- */

/* Bring spectrum, roots and taps to the device, in one piece. */
static gf_status upload(tilefft_state *s, const gfi_window *w, const float *taps, size_t n_taps)
{
    const int radix = s->tiling.radix;
    const size_t n_spectrum = (size_t)s->tiling.parts * part_floats(radix);
    const size_t n_roots = 2 * (size_t)GF_TILEFFT_ROOTS(radix);
    const size_t n = n_spectrum + n_roots + n_taps;
    s->bytes = n * sizeof(float);
    float *host = gfi_alloc(n, sizeof *host, "spectrum");
    if (!host) return GF_ERROR_NO_MEMORY;
    gf_status status = make_spectrum(w, &s->tiling, host);
    make_roots(radix, host + n_spectrum);
    memcpy(host + n_spectrum + n_roots, taps, n_taps * sizeof *taps);
    if (status == GF_OK) status = gfi_window_upload_bytes(s->queue, host, s->bytes, &s->memory);
    gfi_free(host);
    s->args.spectrum = s->memory;
    s->args.roots = s->args.spectrum + n_spectrum;
    s->args.taps = s->args.roots + n_roots;
    return status;
}

static void set_args(const gfi_request *request, const tiling *t, double abs_sum,
                     gf_tilefft_args *args)
{
    const gfi_window *w = request->window;
    const double points = (double)t->parts * GF_TILEFFT_COLUMNS * GF_TILEFFT_HEIGHT(t->radix);
    const float limit = gfi_window_wild_limit(points, abs_sum);
    *args = (gf_tilefft_args){ .combine = gfi_window_combine(request),
                               .tiles_x = t->tiles_x,
                               .step_x = t->step_x,
                               .step_y = t->step_y,
                               .kw = w->kw,
                               .kh = w->kh,
                               .ax = w->ax + t->shift,
                               .ay = w->ay,
                               .shift = t->shift,
                               .border = (int)w->border,
                               .border_value = (float)w->border_value,
                               .limit = limit,
                               .probe = (float)fmin(0x1p127, 0x1p65 / (double)limit * 0x1p64),
                               .terms = w->n_terms };
}

static gf_status prepare(const gfi_request *request, void *state)
{
    tilefft_state *s = state;
    s->queue = request->queue;
    tiling *t = &s->tiling;
    double abs_sum;
    float *taps;
    size_t n_taps;
    if (isinf(choose_tiling(request, t)))
        return gfi_fail(GF_ERROR_INTERNAL, "cuda-tilefft: prepared for a window it cannot serve");
    char name[32];
    snprintf(name, sizeof name, "gf_tilefft_%s_%d_%d", gf_pixel_name(request->in.pixel), t->radix,
             t->parts);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(s->queue), name, &s->kernel));
    s->config = (gfi_launch_config){
        .grid = { (unsigned)t->tiles, 1, 1 },
        .block = { 32, (unsigned)GF_TILEFFT_THREADS(t->radix) / 32, 1 },
        .shared_bytes = (size_t)GF_TILEFFT_BYTES(t->radix),
    };
    GFI_TRY(gfi_window_planes(request->window, &taps, &n_taps, &abs_sum));
    set_args(request, t, abs_sum, &s->args);
    gf_status status = upload(s, request->window, taps, n_taps);
    gfi_free(taps);
    return status;
}

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    tilefft_state *s = state;
    gfi_device_free(s->queue, s->memory);
}

/* ---- run ----------------------------------------------------------------------------------- */

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    tilefft_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    return gfi_window_launch(request, s->kernel, &s->config, &s->args, sizeof s->args);
}

static size_t memory_bytes(const void *state) { return ((const tilefft_state *)state)->bytes; }

static void describe(const void *state, char *out, size_t n_bytes)
{
    const tiling *t = &((const tilefft_state *)state)->tiling;
    snprintf(out, n_bytes, "%dx%d tiles in shared memory, steps of %dx%d",
             t->parts * GF_TILEFFT_COLUMNS, GF_TILEFFT_HEIGHT(t->radix), t->step_x, t->step_y);
}

const gf_impl gfi_window_cuda_tilefft = { .name = "cuda-tilefft",
                                          .backend = GF_BACKEND_CUDA,
                                          .batches = true,
                                          .fuses = true,
                                          .tol_factor = 2,
                                          .usable = usable,
                                          .cost_ns = cost_ns,
                                          .state_bytes = sizeof(tilefft_state),
                                          .prepare = prepare,
                                          .run = run,
                                          .destroy = destroy,
                                          .memory_bytes = memory_bytes,
                                          .describe = describe };
