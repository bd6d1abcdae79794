/* Separable sums: each source row is filtered once, the columns of filtered rows are summed. */
#include "filters/window.h"

#include <stdio.h>

#include "core/alloc.h"
#include "filters/window_cpu.h"

typedef struct sep {
    int kw, kh, n_terms, rows_at_once;
    struct {
        float *row, *col;
        bool row_ones, col_ones; /* few enough, and all 1 */
    } term[GFI_MAX_TERMS];
    gfi_sweep *sweep;
} sep;

static void fill(const void *state, int term, const float *line, float *row, int n)
{
    const sep *s = state;
    if (s->term[term].row_ones)
        gfi_sum_row_ones(line, s->kw, row, n);
    else
        gfi_sum_row(line, s->term[term].row, s->kw, row, n);
}

static void sum(const void *state, int term, const float *const *rows, float *const *out, int n)
{
    const sep *s = state;
    if (s->term[term].col_ones)
        gfi_sum_columns_ones(rows, s->kh, out, n, s->rows_at_once);
    else
        gfi_sum_columns(rows, s->term[term].col, s->kh, out, n);
}

static const gfi_sweep_kind kind = { .rows_at_once = GFI_COLUMN_ROWS, .fill = fill, .sum = sum };
static const gfi_sweep_kind kind_of_ones = { .rows_at_once = GFI_MANY_ROWS,
                                             .fill = fill,
                                             .sum = sum };

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_direct || w->force_fft)
        snprintf(why, GFI_WHY_BYTES, "method=%s was asked for", w->force_fft ? "fft" : "direct");
    else if (w->n_terms == 0)
        snprintf(why, GFI_WHY_BYTES, "the kernel is not separable");
    else
        return true;
    return false;
}

static bool ones(const double *taps, int n)
{
    for (int i = 0; i < n; i++)
        if (taps[i] != 1) return false;
    return n <= GFI_MAX_ONES;
}

static bool row_ones(const gfi_window *w, int term) { return ones(w->term[term].row, w->kw); }

static bool col_ones(const gfi_window *w, int term)
{
    return w->kh >= GFI_COLUMN_ROWS && ones(w->term[term].col, w->kh);
}

/* Windows that are all ones downwards have most rows in common with those below them. */
static int rows_at_once(const gfi_window *w)
{
    for (int t = 0; t < w->n_terms; t++)
        if (!col_ones(w, t) || w->kh < GFI_MANY_ROWS) return GFI_COLUMN_ROWS;
    return GFI_MANY_ROWS;
}

static double cost_ns(const gfi_request *request)
{
    const gfi_window *w = request->window;
    const double n_rows = rows_at_once(w);
    double ns = GFI_NS_PER_SEPARABLE_PIXEL;
    if (w->combine == GFI_COMBINE_MAGNITUDE) ns += GFI_NS_PER_MAGNITUDE;
    for (int t = 0; t < w->n_terms; t++) {
        ns += row_ones(w, t) ? GFI_NS_PER_DOUBLING * log2(w->kw) : GFI_NS_PER_ROW_TAP * w->kw;
        ns += col_ones(w, t) ? GFI_NS_PER_SHARED_ROW * (w->kh / n_rows + n_rows / 2)
                             : GFI_NS_PER_COLUMN_TAP * w->kh;
    }
    return gfi_cpu_cost_ns(request, ns);
}

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    sep *s = state;
    gfi_sweep_destroy(&s->sweep);
    for (int t = 0; t < GFI_MAX_TERMS; t++) {
        gfi_free(s->term[t].row);
        gfi_free(s->term[t].col);
    }
}

static gf_status prepare(const gfi_request *request, void *state)
{
    const gfi_window *w = request->window;
    sep *s = state;
    s->kw = w->kw;
    s->kh = w->kh;
    s->n_terms = w->n_terms;
    s->rows_at_once = rows_at_once(w);
    for (int t = 0; t < w->n_terms; t++) {
        s->term[t].row = gfi_float_taps(w->term[t].row, (size_t)w->kw);
        s->term[t].col = gfi_float_taps(w->term[t].col, (size_t)w->kh);
        if (!s->term[t].row || !s->term[t].col) return GF_ERROR_NO_MEMORY;
        s->term[t].row_ones = row_ones(w, t);
        s->term[t].col_ones = col_ones(w, t);
    }
    return gfi_sweep_create(request, s->rows_at_once == GFI_MANY_ROWS ? &kind_of_ones : &kind,
                            w->n_terms, s, &s->sweep);
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    (void)request;
    sep *s = state;
    gfi_sweep_run(s->sweep, src, dst);
    return GF_OK;
}

static size_t memory_bytes(const void *state)
{
    const sep *s = state;
    return sizeof *s + (size_t)s->n_terms * ((size_t)s->kw + (size_t)s->kh) * sizeof(float) +
           gfi_sweep_bytes(s->sweep);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    gfi_sweep_describe(((const sep *)state)->sweep, out, n_bytes);
}

const gf_impl gfi_window_sep = {
    .name = "sep",
    .backend = GF_BACKEND_CPU,
    .usable = usable,
    .cost_ns = cost_ns,
    .state_bytes = sizeof(sep),
    .prepare = prepare,
    .run = run,
    .destroy = destroy,
    .memory_bytes = memory_bytes,
    .describe = describe,
};
