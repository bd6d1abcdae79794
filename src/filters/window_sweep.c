/* Sweep a window over the image: units of rows and strips for the threads, and for each thread a
 * cache of prepared source rows, so that each is read and converted once a unit. */
#include <float.h>
#include <stdio.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/alloc.h"
#include "core/image.h"
#include "filters/window_cpu.h"
#include "kernels/gf_border.h"

/* What the cached rows of one thread should fit into: most of a core's second-level cache. */
enum { CACHE_BYTES = 512 * 1024, CACHE_LINE = 16 /* floats */, MIN_STRIP = 512 };

typedef struct worker {
    float *line;      /* an extended source line */
    float *rows;      /* prepared rows: n_terms x n_slots */
    int *held;        /* key of the row in each slot */
    const float **at; /* prepared rows of the window, top to bottom */
    float *sums;      /* n_terms x rows_at_once lines */
    int strip;        /* that the rows belong to */
} worker;

struct gfi_sweep {
    const gfi_request *request;
    const gfi_sweep_kind *kind;
    const void *taps;
    int n_terms;
    int n_slots; /* rows a thread keeps */
    bool whole;  /* they are all the source's rows, and one outside it */
    int strip_width, n_strips, unit_height, n_units;
    int span; /* prepared rows that rows_at_once output rows look at */
    size_t line_pitch, row_pitch, sum_pitch; /* floats */
    int n_workers;
    worker *workers;
    size_t bytes;
};

enum { NOTHING_HELD = -2147483647 - 1 };

/* ---- plan ---------------------------------------------------------------------------------- */

static int min_int(int a, int b) { return a < b ? a : b; }
static int max_int(int a, int b) { return a > b ? a : b; }

static void choose_strips(gfi_sweep *s)
{
    const gfi_window *w = s->request->window;
    const int width = s->request->out.width;
    int64_t strip = CACHE_BYTES / ((int64_t)sizeof(float) * s->n_slots * s->n_terms);
    /* a strip reads kw-1 pixels more than it makes */
    if (strip < MIN_STRIP) strip = MIN_STRIP;
    if (strip < 2 * (int64_t)w->kw) strip = 2 * (int64_t)w->kw;
    s->n_strips = strip >= width ? 1 : (int)((width + strip - 1) / strip);
    const size_t even = gfi_pad_line((size_t)((width - 1) / s->n_strips + 1));
    s->strip_width = even > (size_t)width ? width : (int)even;
    s->n_strips = (width - 1) / s->strip_width + 1;
}

/* Some units for each thread, but none so low that its first rows, which the unit above has
 * prepared too, are a large part of the work. */
static void choose_units(gfi_sweep *s)
{
    const gfi_request *q = s->request;
    const int height = q->out.height;
    const int want = max_int(1, 4 * q->threads / s->n_strips);
    int64_t rows = (height - 1) / want + 1;
    if (rows < 4 * (int64_t)s->request->window->kh) rows = 4 * (int64_t)s->request->window->kh;
    const int least = (q->threads - 1) / s->n_strips + 1;
    if (rows > (height - 1) / least + 1) rows = (height - 1) / least + 1;
    const int step = s->kind->rows_at_once;
    s->unit_height = (int)min_int((int)((rows + step - 1) / step) * step, height);
    s->n_units = ((height - 1) / s->unit_height + 1) * s->n_strips;
}

static gf_status create_worker(gfi_sweep *s, worker *k)
{
    size_t row_floats, sum_floats;
    const size_t n_terms = (size_t)s->n_terms, n_slots = (size_t)s->n_slots;
    if (!gfi_mul(s->row_pitch, n_slots * n_terms, &row_floats) ||
        !gfi_mul(s->sum_pitch, n_terms * (size_t)s->kind->rows_at_once, &sum_floats))
        return gfi_fail(GF_ERROR_NO_MEMORY, "window: %zu rows of %zu pixels cannot be addressed",
                        n_slots * n_terms, s->row_pitch);
    k->line = gfi_alloc_zero(s->line_pitch, sizeof(float), "window line");
    k->rows = gfi_alloc_zero(row_floats, sizeof(float), "window rows");
    k->held = gfi_alloc(n_slots, sizeof *k->held, "window rows");
    k->at = gfi_alloc((size_t)s->span, sizeof *k->at, "window rows");
    k->sums = gfi_alloc_zero(sum_floats, sizeof(float), "window sums");
    if (!k->line || !k->rows || !k->held || !k->at || !k->sums) return GF_ERROR_NO_MEMORY;
    s->bytes += (s->line_pitch + row_floats + sum_floats) * sizeof(float) +
                n_slots * sizeof *k->held + (size_t)s->span * sizeof *k->at;
    return GF_OK;
}

gf_status gfi_sweep_create(const gfi_request *request, const gfi_sweep_kind *kind, int n_terms,
                           const void *taps, gfi_sweep **out)
{
    const gfi_window *w = request->window;
    gfi_sweep *s = gfi_alloc_zero(1, sizeof *s, "window");
    if (!s) return GF_ERROR_NO_MEMORY;
    *out = s;
    s->request = request;
    s->kind = kind;
    s->taps = taps;
    s->n_terms = n_terms;
    s->span = w->kh + kind->rows_at_once - 1;
    s->whole = s->span > request->in.height;
    s->n_slots = s->whole ? request->in.height + 1 : s->span;
    choose_strips(s);
    choose_units(s);
    const size_t extra = (size_t)w->kw - 1;
    s->sum_pitch = gfi_pad_line((size_t)s->strip_width);
    s->line_pitch = s->sum_pitch + extra;
    /* one cache line more, or rows a power of two long would share cache sets */
    s->row_pitch = gfi_pad_line(s->sum_pitch + (kind->fill ? 0 : extra)) + CACHE_LINE;
    s->n_workers = min_int(request->threads, s->n_units);
    s->workers = gfi_alloc_zero((size_t)s->n_workers, sizeof *s->workers, "window threads");
    gf_status status = s->workers ? GF_OK : GF_ERROR_NO_MEMORY;
    for (int i = 0; status == GF_OK && i < s->n_workers; i++)
        status = create_worker(s, &s->workers[i]);
    if (status != GF_OK) gfi_sweep_destroy(out);
    return status;
}

void gfi_sweep_destroy(gfi_sweep **sweep)
{
    gfi_sweep *s = *sweep;
    if (!s) return;
    for (int i = 0; s->workers && i < s->n_workers; i++) {
        gfi_free(s->workers[i].line);
        gfi_free(s->workers[i].rows);
        gfi_free(s->workers[i].held);
        gfi_free(s->workers[i].at);
        gfi_free(s->workers[i].sums);
    }
    gfi_free(s->workers);
    gfi_free(s);
    *sweep = NULL;
}

size_t gfi_sweep_bytes(const gfi_sweep *sweep) { return sizeof *sweep + sweep->bytes; }

void gfi_sweep_describe(const gfi_sweep *sweep, char *out, size_t n_bytes)
{
    snprintf(out, n_bytes, "%d x %d px units, %d rows kept, %d threads", sweep->strip_width,
             sweep->unit_height, sweep->n_slots, sweep->n_workers);
}

/* ---- run ----------------------------------------------------------------------------------- */

/* Return the slot of prepared source row y of the strip at x, filling it when it is not there. */
static int prepared_row(const gfi_sweep *s, worker *k, const gf_view *src, int x, int n, int y)
{
    const gfi_window *w = s->request->window;
    const int key = s->whole ? gf_border_index(y, src->height, (int)w->border) : y;
    int slot = s->whole ? key + 1 : y % s->n_slots;
    if (slot < 0) slot += s->n_slots;
    if (k->held[slot] == key) return slot;
    float *row = k->rows + (size_t)slot * s->row_pitch;
    gfi_read_line(w, src, x - w->ax, y, n + w->kw - 1, s->kind->fill ? k->line : row);
    if (s->kind->fill)
        for (int t = 0; t < s->n_terms; t++, row += (size_t)s->n_slots * s->row_pitch)
            s->kind->fill(s->taps, t, k->line, row, n);
    k->held[slot] = key;
    return slot;
}

/* Make the sums of rows_at_once output rows from y on; out: where, term by term. */
static void sum_rows(const gfi_sweep *s, worker *k, const gf_view *src, int x, int n, int y,
                     float *out[GFI_MAX_TERMS][GFI_MANY_ROWS])
{
    for (int j = 0; j < s->span; j++) {
        const int slot = prepared_row(s, k, src, x, n, y - s->request->window->ay + j);
        k->at[j] = k->rows + (size_t)slot * s->row_pitch;
    }
    const size_t term_floats = (size_t)s->n_slots * s->row_pitch;
    for (int t = 0; t < s->n_terms; t++) {
        for (int j = 0; t && j < s->span; j++) k->at[j] += term_floats;
        s->kind->sum(s->taps, t, k->at, out[t], n);
    }
}

/* Choose where the sums of output rows y … y1-1, rows_at_once at most, go: those of the first term
 * straight into a float image when they fill whole blocks. */
static void place_sums(const gfi_sweep *s, worker *k, const gf_view *dst, int x, int n, int y,
                       int y1, float *out[GFI_MAX_TERMS][GFI_MANY_ROWS])
{
    const int n_rows = s->kind->rows_at_once;
    const bool in_place = dst->pixel == GF_PIXEL_F32 && n % GFI_BLOCK == 0 && y1 - y >= n_rows;
    for (int t = 0; t < s->n_terms; t++)
        for (int r = 0; r < n_rows; r++)
            out[t][r] = in_place && t == 0 ? (float *)gfi_row(dst, y + r) + x
                                           : k->sums + (size_t)(t * n_rows + r) * s->sum_pitch;
}

static void sweep_unit(const gfi_sweep *s, worker *k, const gf_view *src, const gf_view *dst,
                       int unit)
{
    const gfi_window *w = s->request->window;
    const int n_rows = s->kind->rows_at_once, per_strip = s->n_units / s->n_strips;
    const int strip = unit / per_strip, x = strip * s->strip_width;
    const int n = min_int(s->strip_width, dst->width - x);
    const int y0 = unit % per_strip * s->unit_height,
              y1 = min_int(y0 + s->unit_height, dst->height);
    if (k->strip != strip)
        for (int i = 0; i < s->n_slots; i++) k->held[i] = NOTHING_HELD;
    k->strip = strip;
    for (int y = y0; y < y1; y += n_rows) {
        float *out[GFI_MAX_TERMS][GFI_MANY_ROWS] = { 0 };
        place_sums(s, k, dst, x, n, y, y1, out);
        sum_rows(s, k, src, x, n, y, out);
        for (int r = 0; r < n_rows && y + r < y1; r++) {
            if (w->combine == GFI_COMBINE_UNSHARP) gfi_read_line(w, src, x, y + r, n, k->line);
            gfi_store_line(w, out[0][r], out[1][r], k->line, dst, x, y + r, n);
        }
    }
}

void gfi_sweep_run(gfi_sweep *sweep, const gf_view *src, const gf_view *dst)
{
    for (int i = 0; i < sweep->n_workers; i++) sweep->workers[i].strip = -1;
#ifdef _OPENMP
#pragma omp parallel num_threads(sweep->n_workers) if (sweep->n_workers > 1)
    {
        worker *k = &sweep->workers[omp_get_thread_num()];
#pragma omp for schedule(dynamic)
        for (int unit = 0; unit < sweep->n_units; unit++) sweep_unit(sweep, k, src, dst, unit);
    }
#else
    for (int unit = 0; unit < sweep->n_units; unit++)
        sweep_unit(sweep, &sweep->workers[0], src, dst, unit);
#endif
}

/* ---- helpers ------------------------------------------------------------------------------- */

double gfi_cpu_cost_ns(const gfi_request *request, double ns_per_pixel)
{
    return ns_per_pixel * request->out.width * request->out.height / request->threads;
}

/* A tap too small for float stays other than zero, because zero times infinity is NaN. */
static float float_tap(double v)
{
    const float f = (float)v;
    return f == 0.0f && v != 0 ? copysignf(FLT_TRUE_MIN, f) : f;
}

float *gfi_float_taps(const double *taps, size_t n)
{
    float *out = gfi_alloc(n, sizeof *out, "taps");
    for (size_t i = 0; out && i < n; i++) out[i] = float_tap(taps[i]);
    return out;
}
