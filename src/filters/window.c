/* Making windows: taps, the search for separable ones, bounds. */
#include "filters/window.h"

#include <string.h>

#include "core/alloc.h"

const gf_impl *const gfi_window_impls[] = {
    &gfi_window_ref,
    &gfi_window_direct,
    &gfi_window_sep,
    &gfi_window_whole,
    &gfi_window_fft,
    &gfi_window_cuda_stream,
    &gfi_window_cuda_box,
    &gfi_window_cuda_band,
    &gfi_window_cuda_tensor,
    &gfi_window_cuda_wgmma,
    &gfi_window_cuda_wide,
    &gfi_window_cuda_coarse,
    &gfi_window_cuda_tilefft,
    &gfi_window_cuda_direct,
    &gfi_window_cuda_ring,
    &gfi_window_cuda_sep,
    &gfi_window_cuda_fft,
    &gfi_window_cuda_any,
    NULL,
};

enum { MAX_BUILT_TAPS = 65536 };

/* A found product may differ from the taps by this much of sum |taps|: an eighth of what the
 * numbers contract leaves for everything. */
static const double RANK_1_TOLERANCE = 0x1p-23;

/* ---- create, destroy ----------------------------------------------------------------------- */

static gf_status create_term(gfi_term *term, int kw, int kh)
{
    term->row = gfi_alloc_zero((size_t)kw, sizeof(double), "taps");
    term->col = gfi_alloc_zero((size_t)kh, sizeof(double), "taps");
    return term->row && term->col ? GF_OK : GF_ERROR_NO_MEMORY;
}

static gf_status create_full(gfi_window *w)
{
    size_t n;
    if (!gfi_mul((size_t)w->kw, (size_t)w->kh, &n))
        return gfi_fail(GF_ERROR_NO_MEMORY, "taps: %d x %d cannot be addressed", w->kw, w->kh);
    w->full = gfi_alloc_zero(n, sizeof(double), "taps");
    return w->full ? GF_OK : GF_ERROR_NO_MEMORY;
}

gf_status gfi_window_create(int kw, int kh, int n_terms, gfi_window **out)
{
    *out = NULL;
    if (kw < 1 || kh < 1)
        return gfi_fail(GF_ERROR_RANGE, "kernel: %d x %d taps is not at least 1 x 1", kw, kh);
    if (n_terms < 0 || n_terms > GFI_MAX_TERMS)
        return gfi_fail(GF_ERROR_INTERNAL, "window: %d terms is not 0 … %d", n_terms,
                        GFI_MAX_TERMS);
    gfi_window *w = gfi_alloc_zero(1, sizeof *w, "window");
    if (!w) return GF_ERROR_NO_MEMORY;
    w->kw = kw;
    w->kh = kh;
    w->ax = kw / 2;
    w->ay = kh / 2;
    w->scale = 1;
    w->border = GF_BORDER_MIRROR;
    w->n_terms = n_terms;
    gf_status status = n_terms ? GF_OK : create_full(w);
    for (int t = 0; t < n_terms && status == GF_OK; t++) status = create_term(&w->term[t], kw, kh);
    if (status == GF_OK)
        *out = w;
    else
        gfi_window_destroy(&w);
    return status;
}

void gfi_window_destroy(gfi_window **window)
{
    if (!window || !*window) return;
    gfi_window *w = *window;
    for (int t = 0; t < GFI_MAX_TERMS; t++) {
        gfi_free(w->term[t].row);
        gfi_free(w->term[t].col);
    }
    gfi_free(w->full);
    gfi_free(w);
    *window = NULL;
}

/* ---- separable or not ---------------------------------------------------------------------- */

static double sum_abs(const double *taps, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += fabs(taps[i]);
    return sum;
}

static size_t largest_tap(const double *taps, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(taps[i]) > fabs(taps[best])) best = i;
    return best;
}

/* Greatest common divisor of the row when all its taps are whole multiples of a power of two (as
 * 1 2 1 and 1/16 2/16 1/16 are), else 0. fmod is exact. */
static double common_divisor(const double *row, int n)
{
    double divisor = 0;
    for (int i = 0; i < n; i++) {
        double a = fabs(row[i]);
        while (a > 0) {
            const double rest = divisor > 0 ? fmod(divisor, a) : 0;
            divisor = a;
            a = rest;
        }
    }
    const double largest = fabs(row[largest_tap(row, (size_t)n)]);
    return divisor > 0 && largest / divisor < 0x1p24 ? divisor : 0;
}

/* Split at the pivot. A row of whole numbers is divided by their common divisor, because then a
 * separable matrix of whole numbers has whole columns too and all sums stay exact. */
static void split_at_pivot(const gfi_window *w, gfi_term *term)
{
    const size_t kw = (size_t)w->kw;
    const size_t pivot = largest_tap(w->full, kw * (size_t)w->kh);
    const double *pivot_row = w->full + pivot / kw * kw;
    const size_t pivot_x = pivot % kw;
    if (w->full[pivot] == 0) return; /* all zero: row and column are zero already */
    const double divisor = common_divisor(pivot_row, w->kw);
    for (size_t i = 0; i < kw; i++)
        term->row[i] = divisor > 0 ? pivot_row[i] / divisor : pivot_row[i];
    for (size_t j = 0; j < (size_t)w->kh; j++)
        term->col[j] = w->full[j * kw + pivot_x] / term->row[pivot_x];
}

static bool is_product(const gfi_window *w, const gfi_term *term)
{
    const size_t kw = (size_t)w->kw, kh = (size_t)w->kh;
    double residual = 0;
    for (size_t j = 0; j < kh; j++)
        for (size_t i = 0; i < kw; i++)
            residual += fabs(w->full[j * kw + i] - term->col[j] * term->row[i]);
    return residual <= RANK_1_TOLERANCE * sum_abs(w->full, kw * kh);
}

static gf_status find_rank_1(gfi_window *w)
{
    gfi_term term = { 0 };
    gf_status status = create_term(&term, w->kw, w->kh);
    if (status == GF_OK) {
        split_at_pivot(w, &term);
        if (is_product(w, &term)) {
            w->term[0] = term;
            w->n_terms = 1;
            return GF_OK;
        }
    }
    gfi_free(term.row);
    gfi_free(term.col);
    return status;
}

/* ---- finish -------------------------------------------------------------------------------- */

static gf_status build_full(gfi_window *w)
{
    GFI_TRY(create_full(w));
    const size_t kw = (size_t)w->kw, kh = (size_t)w->kh;
    for (size_t j = 0; j < kh; j++)
        for (size_t i = 0; i < kw; i++) w->full[j * kw + i] = w->term[0].col[j] * w->term[0].row[i];
    return GF_OK;
}

static double taps_bound(const gfi_window *w)
{
    const size_t kw = (size_t)w->kw, kh = (size_t)w->kh;
    double sum[GFI_MAX_TERMS] = { 0 };
    if (w->full) return sum_abs(w->full, kw * kh);
    for (int t = 0; t < w->n_terms; t++)
        sum[t] = sum_abs(w->term[t].row, kw) * sum_abs(w->term[t].col, kh);
    return w->combine == GFI_COMBINE_MAGNITUDE ? hypot(sum[0], sum[1]) : sum[0] + sum[1];
}

gf_status gfi_window_finish(gfi_window *window)
{
    gfi_window *w = window;
    const size_t n = (size_t)w->kw * (size_t)w->kh;
    if (w->n_terms == 0)
        GFI_TRY(find_rank_1(w));
    else if (!w->full && w->n_terms == 1 && n <= MAX_BUILT_TAPS)
        GFI_TRY(build_full(w));
    w->abs_sum = w->combine == GFI_COMBINE_UNSHARP ? 1 + fabs(w->amount) * (1 + taps_bound(w))
                                                   : fabs(w->scale) * taps_bound(w);
    return GF_OK;
}

gf_status gfi_window_complete(gfi_window *window, gf_border border, double border_value,
                              gfi_window **out)
{
    window->border = border;
    window->border_value = border_value;
    gf_status status = gfi_window_finish(window);
    if (status != GF_OK) gfi_window_destroy(out);
    return status;
}
