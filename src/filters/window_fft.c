/* Sums through the FFT: overlap-save tiles on a grid anchored at the image's origin.
 *
 * A tile of nx x ny source pixels gives (nx - kw + 1) x (ny - kh + 1) results that circular
 * correlation does not wrap into. Pixels that are NaN or infinite would spoil their whole tile:
 * they go in as 0 and their contributions are added to the results of their own windows after. */
#include "filters/window.h"

#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/alloc.h"
#include "filters/clones.h"
#include "filters/fft2.h"
#include "filters/window_cpu.h"

/* ---- tiles --------------------------------------------------------------------------------- */

typedef struct grid {
    int nx, ny;         /* of a tile */
    int step_x, step_y; /* results it gives */
    int tiles_x, tiles_y;
    double ns; /* expected time of all of them on one thread */
} grid;

/* Figures of 2026-11-30, 2-core x86-64 with AVX-512, kissfft 131, in ns for a pixel of a tile:
 * forth and back takes 0.88 for every binary digit of the tile's size (16 … 2048 squared, in the
 * cache and out of it), a tenth more when a side is not a power of two; reading and storing the
 * rest. */
#define NS_PER_DIGIT 0.88
#define NS_PER_PIXEL 2.5
enum { SMALLEST_SIDE = 32, LARGEST_TILE = 1 << 26 }; /* pixels: 256 MiB of spectrum */

static bool power_of_two(int n) { return !(n & (n - 1)); }

static void measure_grid(const gfi_request *q, int nx, int ny, grid *g)
{
    g->nx = nx;
    g->ny = ny;
    g->step_x = nx - q->window->kw + 1;
    g->step_y = ny - q->window->kh + 1;
    g->tiles_x = (q->out.width - 1) / g->step_x + 1;
    g->tiles_y = (q->out.height - 1) / g->step_y + 1;
    const double pixels = (double)nx * ny;
    const double digits =
        log2(nx) * (power_of_two(nx) ? 1 : 1.1) + log2(ny) * (power_of_two(ny) ? 1 : 1.1);
    g->ns = (NS_PER_PIXEL + NS_PER_DIGIT * digits) * pixels * g->tiles_x * g->tiles_y;
}

/* The next size that kissfft likes: 32, 48, 64, 96, … */
static int next_size(int n) { return power_of_two(n) ? n / 2 * 3 : n / 3 * 4; }

/* Choose the cheapest tile; ns is infinite when no tile can hold the kernel. */
static grid choose_grid(const gfi_request *q)
{
    grid best = { .ns = INFINITY };
    const gfi_window *w = q->window;
    /* a side past twice what is needed cannot pay */
    const int64_t most_x = 2 * ((int64_t)q->out.width + w->kw) + SMALLEST_SIDE;
    const int64_t most_y = 2 * ((int64_t)q->out.height + w->kh) + SMALLEST_SIDE;
    for (int ny = SMALLEST_SIDE; ny <= LARGEST_TILE && ny <= most_y; ny = next_size(ny))
        for (int nx = SMALLEST_SIDE;
             ny >= w->kh && (int64_t)nx * ny <= LARGEST_TILE && nx <= most_x; nx = next_size(nx)) {
            grid g;
            if (nx < w->kw) continue;
            measure_grid(q, nx, ny, &g);
            if (g.ns < best.ns) best = g;
        }
    return best;
}

/* ---- plan ---------------------------------------------------------------------------------- */

typedef struct worker {
    gfi_fft2 *fft;
    float *rows;    /* GFI_FFT2_ROWS rows of the tile */
    float *results; /* of the tile, step_y rounded up x nx */
    int *last_hit;  /* where a NaN was seen last, see spoil_tile() */
} worker;

typedef struct fft {
    grid grid;
    kiss_fft_cpx *kernel;
    int n_workers;
    worker *workers;
    size_t bytes;
} fft;

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_direct || w->force_separable)
        snprintf(why, GFI_WHY_BYTES, "method=%s was asked for",
                 w->force_direct ? "direct" : "separable");
    else if (w->combine != GFI_COMBINE_SUM)
        snprintf(why, GFI_WHY_BYTES, "the filter is not a plain sum");
    else if (!isfinite(choose_grid(request).ns))
        snprintf(why, GFI_WHY_BYTES, "a tile for %d x %d taps would have more than %d pixels",
                 w->kw, w->kh, LARGEST_TILE);
    else
        return true;
    return false;
}

static double cost_ns(const gfi_request *request)
{
    const grid g = choose_grid(request);
    const double tiles = (double)g.tiles_x * g.tiles_y;
    return g.ns / (request->threads < tiles ? request->threads : tiles);
}

static size_t padded_rows(int rows)
{
    return (size_t)((rows + GFI_FFT2_ROWS - 1) / GFI_FFT2_ROWS) * GFI_FFT2_ROWS;
}

static gf_status create_worker(const grid *g, worker *k)
{
    const size_t nx = (size_t)g->nx;
    k->rows = gfi_alloc_zero(nx * GFI_FFT2_ROWS, sizeof(float), "fft rows");
    k->results = gfi_alloc(nx * padded_rows(g->step_y), sizeof(float), "fft results");
    k->last_hit = gfi_alloc(nx, sizeof *k->last_hit, "fft rows");
    if (!k->rows || !k->results || !k->last_hit) return GF_ERROR_NO_MEMORY;
    return gfi_fft2_create(g->ny, g->nx, &k->fft);
}

static double tap_at(const gfi_window *w, int i, int j)
{
    double tap = 0;
    if (w->full) return w->full[(size_t)j * (size_t)w->kw + (size_t)i];
    for (int t = 0; t < w->n_terms; t++) tap += w->term[t].col[j] * w->term[t].row[i];
    return tap;
}

static gf_status make_kernel(const gfi_window *w, fft *f)
{
    worker *k = &f->workers[0];
    const size_t nx = (size_t)f->grid.nx;
    f->kernel = gfi_alloc_zero(gfi_fft2_size(k->fft), sizeof *f->kernel, "fft kernel");
    if (!f->kernel) return GF_ERROR_NO_MEMORY;
    for (int y = 0; y < f->grid.ny; y += GFI_FFT2_ROWS) {
        memset(k->rows, 0, nx * GFI_FFT2_ROWS * sizeof *k->rows);
        for (int j = y; j < y + GFI_FFT2_ROWS && j < w->kh; j++)
            for (int i = 0; i < w->kw; i++)
                k->rows[(size_t)(j - y) * nx + (size_t)i] = (float)tap_at(w, i, j);
        gfi_fft2_put_rows(k->fft, y, k->rows);
    }
    gfi_fft2_get_kernel(k->fft, f->kernel);
    return GF_OK;
}

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    fft *f = state;
    if (!f) return;
    for (int i = 0; f->workers && i < f->n_workers; i++) {
        gfi_fft2_destroy(&f->workers[i].fft);
        gfi_free(f->workers[i].rows);
        gfi_free(f->workers[i].results);
        gfi_free(f->workers[i].last_hit);
    }
    gfi_free(f->workers);
    gfi_free(f->kernel);
    gfi_free(f);
}

static gf_status prepare(const gfi_request *request, void **state)
{
    fft *f = gfi_alloc_zero(1, sizeof *f, "fft");
    if (!f) return GF_ERROR_NO_MEMORY;
    const grid *g = &f->grid;
    f->grid = choose_grid(request);
    const int64_t tiles = (int64_t)g->tiles_x * g->tiles_y;
    f->n_workers = request->threads < tiles ? request->threads : (int)tiles;
    f->workers = gfi_alloc_zero((size_t)f->n_workers, sizeof *f->workers, "fft threads");
    gf_status status = f->workers ? GF_OK : GF_ERROR_NO_MEMORY;
    for (int i = 0; status == GF_OK && i < f->n_workers; i++)
        status = create_worker(g, &f->workers[i]);
    if (status == GF_OK) status = make_kernel(request->window, f);
    if (status != GF_OK) {
        destroy(request, f);
        return status;
    }
    const size_t floats = (size_t)g->nx * (GFI_FFT2_ROWS + padded_rows(g->step_y) + 1);
    f->bytes = gfi_fft2_size(f->workers[0].fft) * sizeof *f->kernel +
               (size_t)f->n_workers * (gfi_fft2_bytes(f->workers[0].fft) + floats * sizeof(float));
    *state = f;
    return GF_OK;
}

static size_t memory_bytes(const void *state) { return ((const fft *)state)->bytes; }

static void describe(const void *state, char *out, size_t n_bytes)
{
    const grid *g = &((const fft *)state)->grid;
    snprintf(out, n_bytes, "%d x %d tiles of %d x %d px", g->tiles_x, g->tiles_y, g->nx, g->ny);
}

/* ---- pixels that are not finite ------------------------------------------------------------ */

/* The largest finite |pixel|; *spoiled: whether others were seen, which are now 0. */
GFI_CLONES static float gfi_fft_clean(float *line, int n, bool *spoiled)
{
    float peak = 0;
    int bad = 0;
    for (int i = 0; i < n; i++) {
        const float a = fabsf(line[i]);
        const bool finite = a < INFINITY;
        bad |= !finite;
        line[i] = finite ? line[i] : 0.0f;
        peak = finite && a > peak ? a : peak;
    }
    if (bad) *spoiled = true;
    return peak;
}

typedef struct tile {
    int x, y, width, height; /* the results it gives */
} tile;

static int min_int(int a, int b) { return a < b ? a : b; }
static int max_int(int a, int b) { return a > b ? a : b; }

/* Tap (i, j) times a pixel, term by term as the other implementations do it. */
static float tap_times(const gfi_window *w, int i, int j, double value)
{
    double sum = 0;
    if (w->full) return (float)(tap_at(w, i, j) * value);
    for (int t = 0; t < w->n_terms; t++) sum += w->term[t].col[j] * (w->term[t].row[i] * value);
    return (float)sum;
}

/* Add what an infinite pixel at (v, u) of the tile gives to the windows that hold it. */
static void spread(const gfi_window *w, worker *k, size_t nx, const tile *t, int v, int u)
{
    const double value = k->rows[v];
    for (int y = max_int(0, u - w->kh + 1); y <= min_int(u, t->height - 1); y++)
        for (int x = max_int(0, v - w->kw + 1); x <= min_int(v, t->width - 1); x++)
            k->results[(size_t)y * nx + (size_t)x] += tap_times(w, v - x, u - y, value);
}

/* Give the results of windows with NaN and infinite pixels. A result is NaN when a row of its
 * window holds one, so for every column the last row is kept in which the window's width did. */
static void spoil_tile(const gfi_window *w, worker *k, size_t nx, const tile *t, const gf_view *src)
{
    const int n_line = t->width + w->kw - 1;
    for (int x = 0; x < t->width; x++) k->last_hit[x] = -1;
    for (int u = 0; u < t->height + w->kh - 1; u++) {
        gfi_read_line(w, src, t->x - w->ax, t->y - w->ay + u, n_line, k->rows);
        for (int v = 0, last = -1; v < n_line; v++) {
            const int x = v - w->kw + 1;
            if (isnan(k->rows[v])) last = v;
            if (isinf(k->rows[v])) spread(w, k, nx, t, v, u);
            if (x >= 0 && last >= x) k->last_hit[x] = u;
        }
        const int y = u - w->kh + 1;
        for (int x = 0; y >= 0 && x < t->width; x++)
            if (k->last_hit[x] >= y) k->results[(size_t)y * nx + (size_t)x] = NAN;
    }
}

/* ---- run ----------------------------------------------------------------------------------- */

/* Read the tile's source pixels times a factor and transform its rows. Returns the largest finite
 * |pixel|, and whether there were others. */
static float read_tile(const gfi_window *w, const fft *f, worker *k, const tile *t,
                       const gf_view *src, float factor, bool *spoiled)
{
    const int n_line = t->width + w->kw - 1, n_rows = t->height + w->kh - 1;
    const size_t nx = (size_t)f->grid.nx;
    float peak = 0;
    for (int y = 0; y < f->grid.ny; y += GFI_FFT2_ROWS) {
        memset(k->rows, 0, nx * GFI_FFT2_ROWS * sizeof *k->rows);
        for (int u = y; u < y + GFI_FFT2_ROWS && u < n_rows; u++) {
            float *row = k->rows + (size_t)(u - y) * nx;
            gfi_read_line(w, src, t->x - w->ax, t->y - w->ay + u, n_line, row);
            peak = fmaxf(peak, gfi_fft_clean(row, n_line, spoiled));
            for (int v = 0; factor != 1.0f && v < n_line; v++) row[v] *= factor;
        }
        gfi_fft2_put_rows(k->fft, y, k->rows);
    }
    return peak;
}

/* A power of two that keeps the sums of an FFT, which are far larger than its pixels and its
 * results, from overflowing and from vanishing. */
static float safe_factor(float peak)
{
    if (peak == 0.0f || (peak > 0x1p-60f && peak < 0x1p60f)) return 1.0f;
    return ldexpf(1.0f, max_int(-100, min_int(100, -ilogbf(peak))));
}

static void run_tile(const gfi_window *w, const fft *f, worker *k, const tile *t,
                     const gf_view *src, const gf_view *dst)
{
    const size_t nx = (size_t)f->grid.nx;
    bool spoiled = false;
    const float factor = safe_factor(read_tile(w, f, k, t, src, 1.0f, &spoiled));
    if (factor != 1.0f) read_tile(w, f, k, t, src, factor, &spoiled);
    gfi_fft2_correlate(k->fft, f->kernel);
    for (int y = 0; y < t->height; y += GFI_FFT2_ROWS)
        gfi_fft2_get_rows(k->fft, y, k->results + (size_t)y * nx);
    if (factor != 1.0f)
        for (size_t i = 0; i < (size_t)t->height * nx; i++) k->results[i] /= factor;
    if (spoiled) spoil_tile(w, k, nx, t, src);
    for (int y = 0; y < t->height; y++)
        gfi_store_line(w, k->results + (size_t)y * nx, NULL, NULL, dst, t->x, t->y + y, t->width);
}

static void run_nth(const gfi_window *w, const fft *f, worker *k, int64_t n, const gf_view *src,
                    const gf_view *dst)
{
    const grid *g = &f->grid;
    tile t = { .x = (int)(n % g->tiles_x) * g->step_x, .y = (int)(n / g->tiles_x) * g->step_y };
    t.width = min_int(g->step_x, dst->width - t.x);
    t.height = min_int(g->step_y, dst->height - t.y);
    run_tile(w, f, k, &t, src, dst);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    const fft *f = state;
    const int64_t n_tiles = (int64_t)f->grid.tiles_x * f->grid.tiles_y;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(f->n_workers) if (f->n_workers > 1)
    for (int64_t n = 0; n < n_tiles; n++)
        run_nth(request->window, f, &f->workers[omp_get_thread_num()], n, src, dst);
#else
    for (int64_t n = 0; n < n_tiles; n++) run_nth(request->window, f, &f->workers[0], n, src, dst);
#endif
    return GF_OK;
}

const gf_impl gfi_window_fft = {
    .name = "fft",
    .backend = GF_BACKEND_CPU,
    .usable = usable,
    .cost_ns = cost_ns,
    .prepare = prepare,
    .run = run,
    .destroy = destroy,
    .memory_bytes = memory_bytes,
    .describe = describe,
};
