/* Sums through the FFT: overlap-save tiles on a grid anchored at the image's origin.
 *
 * A tile of nx x ny source pixels gives (nx - kw + 1) x (ny - kh + 1) results that circular
 * correlation does not wrap into. Pixels that are NaN or infinite would spoil their whole tile:
 * they go in as 0 and their contributions are added to the results of their own windows after.
 * Tiles are transformed in pairs: the first and the second, the third and the fourth, … */
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

/* Figures of 2026-11-30, as in window_cpu.h, in ns for a pixel of a tile: 3.1 (64 x 32), 2.9 (128 x
 * 128 … 512 x 512), 3.6 (1024 x 1024, far out of the cache). */
#define NS_PER_PIXEL 1.6
#define NS_PER_DIGIT 0.07 /* binary, of the tile's size */
#define NS_PER_ROW 40.0
#define NS_OUT_OF_CACHE 0.6
enum { CACHE_PIXELS = 1 << 18, LARGEST_TILE = 1 << 26 /* pixels: 512 MiB for two */ };
enum { SMALLEST_NY = 32 };

static void measure_grid(const gfi_request *q, int nx, int ny, grid *g)
{
    g->nx = nx;
    g->ny = ny;
    g->step_x = nx - q->window->kw + 1;
    g->step_y = ny - q->window->kh + 1;
    g->tiles_x = (q->out.width - 1) / g->step_x + 1;
    g->tiles_y = (q->out.height - 1) / g->step_y + 1;
    const double pixels = (double)nx * ny, pairs = ceil((double)g->tiles_x * g->tiles_y / 2);
    double ns = NS_PER_PIXEL + NS_PER_DIGIT * log2(pixels) + NS_PER_ROW / nx;
    if (pixels > CACHE_PIXELS) ns += NS_OUT_OF_CACHE;
    g->ns = ns * pixels * 2 * pairs;
}

/* Choose the cheapest tile; ns is infinite when no tile can hold the kernel. */
static grid choose_grid(const gfi_request *q)
{
    grid best = { .ns = INFINITY };
    const gfi_window *w = q->window;
    /* a side past twice what is needed cannot pay */
    const int64_t most_x = 2 * ((int64_t)q->out.width + w->kw) + GFI_FFT2_LEAST_NX;
    const int64_t most_y = 2 * ((int64_t)q->out.height + w->kh) + SMALLEST_NY;
    for (int ny = SMALLEST_NY; ny <= LARGEST_TILE && ny <= most_y; ny *= 2)
        for (int nx = GFI_FFT2_LEAST_NX;
             ny >= w->kh && (int64_t)nx * ny <= LARGEST_TILE && nx <= most_x; nx *= 2) {
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
    float *line[2]; /* a row of each tile */
    int *last_hit;  /* where a NaN was seen last, see spoil_tile() */
} worker;

typedef struct fft {
    grid grid;
    float *kernel;   /* its spectrum */
    int64_t n_pairs; /* of tiles */
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
    const double pairs = ceil((double)g.tiles_x * g.tiles_y / 2);
    return g.ns / (request->threads < pairs ? request->threads : pairs);
}

static gf_status create_worker(const grid *g, worker *k)
{
    for (int i = 0; i < 2; i++) {
        k->line[i] = gfi_alloc_zero((size_t)g->nx, sizeof(float), "fft rows");
        if (!k->line[i]) return GF_ERROR_NO_MEMORY;
    }
    k->last_hit = gfi_alloc((size_t)g->nx, sizeof *k->last_hit, "fft rows");
    return k->last_hit ? gfi_fft2_create(g->ny, g->nx, &k->fft) : GF_ERROR_NO_MEMORY;
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
    f->kernel = gfi_alloc(gfi_fft2_kernel_size(k->fft), sizeof *f->kernel, "fft kernel");
    if (!f->kernel) return GF_ERROR_NO_MEMORY;
    for (int j = 0; j < f->grid.ny; j++) {
        for (int i = 0; j < w->kh && i < w->kw; i++) k->line[0][i] = (float)tap_at(w, i, j);
        gfi_fft2_put_row(k->fft, j, j < w->kh ? k->line[0] : NULL, NULL);
    }
    gfi_fft2_get_kernel(k->fft, f->kernel);
    return GF_OK;
}

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    fft *f = state;
    for (int i = 0; f->workers && i < f->n_workers; i++) {
        gfi_fft2_destroy(&f->workers[i].fft);
        gfi_free(f->workers[i].line[0]);
        gfi_free(f->workers[i].line[1]);
        gfi_free(f->workers[i].last_hit);
    }
    gfi_free(f->workers);
    gfi_free(f->kernel);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    fft *f = state;
    const grid *g = &f->grid;
    f->grid = choose_grid(request);
    f->n_pairs = ((int64_t)g->tiles_x * g->tiles_y + 1) / 2;
    f->n_workers = request->threads < f->n_pairs ? request->threads : (int)f->n_pairs;
    f->workers = gfi_alloc_zero((size_t)f->n_workers, sizeof *f->workers, "fft threads");
    if (!f->workers) return GF_ERROR_NO_MEMORY;
    for (int i = 0; i < f->n_workers; i++) GFI_TRY(create_worker(g, &f->workers[i]));
    GFI_TRY(make_kernel(request->window, f));
    const size_t line_bytes = (size_t)g->nx * (2 * sizeof(float) + sizeof(int));
    f->bytes = gfi_fft2_kernel_size(f->workers[0].fft) * sizeof *f->kernel +
               (size_t)f->n_workers * (gfi_fft2_bytes(f->workers[0].fft) + line_bytes);
    return GF_OK;
}

static size_t memory_bytes(const void *state) { return ((const fft *)state)->bytes; }

static void describe(const void *state, char *out, size_t n_bytes)
{
    const grid *g = &((const fft *)state)->grid;
    snprintf(out, n_bytes, "%d x %d tiles of %d x %d px, two at once", g->tiles_x, g->tiles_y,
             g->nx, g->ny);
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
    float *results;
    size_t pitch; /* of results, in floats */
    bool spoiled; /* by pixels that are not finite */
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
static void spread(const gfi_window *w, const tile *t, int v, int u, double value)
{
    for (int y = max_int(0, u - w->kh + 1); y <= min_int(u, t->height - 1); y++)
        for (int x = max_int(0, v - w->kw + 1); x <= min_int(v, t->width - 1); x++)
            t->results[(size_t)y * t->pitch + (size_t)x] += tap_times(w, v - x, u - y, value);
}

/* Give the results of windows with NaN and infinite pixels. A result is NaN when a row of its
 * window holds one, so for every column the last row is kept in which the window's width did. */
static void spoil_tile(const gfi_window *w, worker *k, const tile *t, const gf_view *src)
{
    const int n_line = t->width + w->kw - 1;
    float *line = k->line[0];
    for (int x = 0; x < t->width; x++) k->last_hit[x] = -1;
    for (int u = 0; u < t->height + w->kh - 1; u++) {
        gfi_read_line(w, src, t->x - w->ax, t->y - w->ay + u, n_line, line);
        for (int v = 0, last = -1; v < n_line; v++) {
            const int x = v - w->kw + 1;
            if (isnan(line[v])) last = v;
            if (isinf(line[v])) spread(w, t, v, u, line[v]);
            if (x >= 0 && last >= x) k->last_hit[x] = u;
        }
        const int y = u - w->kh + 1;
        for (int x = 0; y >= 0 && x < t->width; x++)
            if (k->last_hit[x] >= y) t->results[(size_t)y * t->pitch + (size_t)x] = NAN;
    }
}

/* ---- run ----------------------------------------------------------------------------------- */

/* Read row u of a tile's source pixels times a factor into a line; NULL when the tile has no such
 * row. Raises peak to the largest finite |pixel|. */
static const float *read_row(const gfi_window *w, const fft *f, tile *t, const gf_view *src, int u,
                             float factor, float *line, float *peak)
{
    const int n_line = t->width + w->kw - 1;
    if (!t->height || u >= t->height + w->kh - 1) return NULL;
    memset(line + n_line, 0, (size_t)(f->grid.nx - n_line) * sizeof *line);
    gfi_read_line(w, src, t->x - w->ax, t->y - w->ay + u, n_line, line);
    *peak = fmaxf(*peak, gfi_fft_clean(line, n_line, &t->spoiled));
    for (int v = 0; factor != 1.0f && v < n_line; v++) line[v] *= factor;
    return line;
}

/* Read a pair of tiles and transform their rows. Returns the largest finite |pixel|. */
static float read_pair(const gfi_window *w, const fft *f, worker *k, tile pair[2],
                       const gf_view *src, float factor)
{
    float peak = 0;
    for (int u = 0; u < f->grid.ny; u++) {
        const float *row[2];
        for (int i = 0; i < 2; i++)
            row[i] = read_row(w, f, &pair[i], src, u, factor, k->line[i], &peak);
        gfi_fft2_put_row(k->fft, u, row[0], row[1]);
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

static void get_results(worker *k, tile pair[2], float factor)
{
    for (int i = 0; i < 2; i++) pair[i].pitch = gfi_fft2_row_pitch(k->fft);
    for (int y = 0; y < max_int(pair[0].height, pair[1].height); y++) {
        float *row[2];
        gfi_fft2_get_row(k->fft, y, &row[0], &row[1]);
        for (int i = 0; i < 2; i++) {
            if (y == 0) pair[i].results = row[i];
            for (int x = 0; factor != 1.0f && x < pair[i].width; x++) row[i][x] /= factor;
        }
    }
}

static void run_pair(const gfi_window *w, const fft *f, worker *k, tile pair[2], const gf_view *src,
                     const gf_view *dst)
{
    const float factor = safe_factor(read_pair(w, f, k, pair, src, 1.0f));
    if (factor != 1.0f) read_pair(w, f, k, pair, src, factor);
    gfi_fft2_correlate(k->fft, f->kernel);
    get_results(k, pair, factor);
    for (int i = 0; i < 2; i++) {
        const tile *t = &pair[i];
        if (t->spoiled) spoil_tile(w, k, t, src);
        for (int y = 0; y < t->height; y++)
            gfi_store_line(w, t->results + (size_t)y * t->pitch, NULL, NULL, dst, t->x, t->y + y,
                           t->width);
    }
}

/* Tile n, without rows when there is none. */
static tile nth_tile(const grid *g, int64_t n, const gf_view *dst)
{
    if (n >= (int64_t)g->tiles_x * g->tiles_y) return (tile){ 0 };
    tile t = { .x = (int)(n % g->tiles_x) * g->step_x, .y = (int)(n / g->tiles_x) * g->step_y };
    t.width = min_int(g->step_x, dst->width - t.x);
    t.height = min_int(g->step_y, dst->height - t.y);
    return t;
}

static void run_nth(const gfi_window *w, const fft *f, worker *k, int64_t n, const gf_view *src,
                    const gf_view *dst)
{
    tile pair[2] = { nth_tile(&f->grid, 2 * n, dst), nth_tile(&f->grid, 2 * n + 1, dst) };
    run_pair(w, f, k, pair, src, dst);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    const fft *f = state;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(f->n_workers) if (f->n_workers > 1)
    for (int64_t n = 0; n < f->n_pairs; n++)
        run_nth(request->window, f, &f->workers[omp_get_thread_num()], n, src, dst);
#else
    for (int64_t n = 0; n < f->n_pairs; n++)
        run_nth(request->window, f, &f->workers[0], n, src, dst);
#endif
    return GF_OK;
}

const gf_impl gfi_window_fft = {
    .name = "fft",
    .backend = GF_BACKEND_CPU,
    .usable = usable,
    .cost_ns = cost_ns,
    .state_bytes = sizeof(fft),
    .prepare = prepare,
    .run = run,
    .destroy = destroy,
    .memory_bytes = memory_bytes,
    .describe = describe,
};
