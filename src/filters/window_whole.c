/* Whole-number taps on whole-number pixels: sums in integers, exact and so in any order.
 *
 * Columns come first, straight from the source rows; the line of column sums is then extended by
 * the border and summed along the row. Two kinds of taps are served:
 *   boxes (every tap 1) of u8 and u16: running sums down the columns in 32 bits, and along the row
 *     windows of 1, 2 or 3, 4 … 7, … pixels, each made from two of the size before;
 *   separable terms of u8 whose sums fit into 16 bits, such as Sobel's. */
#include "filters/window.h"

#include <stdio.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/alloc.h"
#include "core/image.h"
#include "filters/clones.h"
#include "filters/window_cpu.h"
#include "kernels/gf_border.h"

typedef struct worker {
    uint32_t *line;                /* box: extended sums of the window's rows, one a column */
    uint32_t *part, *other;        /* box: windows on the way to kw pixels */
    int16_t *lines[GFI_MAX_TERMS]; /* terms: column sums extended */
    float *sums[GFI_MAX_TERMS];    /* of an output row */
} worker;

typedef struct whole {
    bool box;
    int16_t *row[GFI_MAX_TERMS], *col[GFI_MAX_TERMS]; /* terms only */
    int left, line_length; /* pixels before the image's first in a line, and in all */
    void *outside;         /* a row of border values */
    int unit_height, n_units, n_workers;
    worker *workers;
    size_t bytes;
} whole;

static int min_int(int a, int b) { return a < b ? a : b; }
static int max_int(int a, int b) { return a > b ? a : b; }

/* ---- which requests ------------------------------------------------------------------------ */

static bool is_box(const gfi_window *w)
{
    if (w->n_terms != 1 || w->combine != GFI_COMBINE_SUM) return false;
    for (int i = 0; i < w->kw; i++)
        if (w->term[0].row[i] != 1) return false;
    for (int j = 0; j < w->kh; j++)
        if (w->term[0].col[j] != 1) return false;
    return true;
}

/* Sum of |taps|; infinite when one is not whole. */
static double whole_sum(const double *taps, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += taps[i] == rint(taps[i]) ? fabs(taps[i]) : INFINITY;
    return sum;
}

/* Of a term along an axis; with more, other implementations are faster. */
enum { MOST_TAPS = 64 };

static bool fits_16_bits(const gfi_window *w)
{
    if (w->kw > MOST_TAPS || w->kh > MOST_TAPS || w->combine == GFI_COMBINE_UNSHARP) return false;
    for (int t = 0; t < w->n_terms; t++) {
        const double sum = whole_sum(w->term[t].row, w->kw) * whole_sum(w->term[t].col, w->kh);
        if (!(sum * 255 <= INT16_MAX)) return false;
    }
    return true;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    const gf_pixel pixel = request->in.pixel;
    const double top = pixel == GF_PIXEL_U8 ? 255 : 65535;
    const bool outside_is_pixel =
        w->border_value == rint(w->border_value) && w->border_value >= 0 && w->border_value <= top;
    if (w->force_direct || w->force_separable || w->force_fft)
        snprintf(why, GFI_WHY_BYTES, "method= asked for another");
    else if (pixel != GF_PIXEL_U8 && pixel != GF_PIXEL_U16)
        snprintf(why, GFI_WHY_BYTES, "the pixels are not whole numbers");
    else if (w->n_terms == 0)
        snprintf(why, GFI_WHY_BYTES, "the kernel is not separable");
    else if (w->border == GF_BORDER_CONSTANT && !outside_is_pixel)
        snprintf(why, GFI_WHY_BYTES, "the border value is not a pixel's");
    else if (is_box(w) ? !((double)w->kw * w->kh * top <= INT32_MAX)
                       : pixel != GF_PIXEL_U8 || !fits_16_bits(w))
        snprintf(why, GFI_WHY_BYTES, "the sums are not whole numbers of 16 bits (box: 32)");
    else
        return true;
    return false;
}

/* Figures of 2026-11-30, as in window_cpu.h: boxes 0.46 (3), 0.66 (15), 0.78 (31), 1.08 (127);
 * Sobel 0.34 in one direction. */
static double cost_ns(const gfi_request *request)
{
    const gfi_window *w = request->window;
    if (is_box(w)) return gfi_cpu_cost_ns(request, 0.33 + 0.09 * log2(w->kw));
    const double combine = w->combine == GFI_COMBINE_MAGNITUDE ? GFI_NS_PER_MAGNITUDE : 0;
    return gfi_cpu_cost_ns(request, 0.28 + w->n_terms * 0.012 * (w->kw + w->kh) + combine);
}

/* ---- plan ---------------------------------------------------------------------------------- */

static void destroy(const gfi_request *request, void *state)
{
    (void)request;
    whole *s = state;
    for (int i = 0; s->workers && i < s->n_workers; i++) {
        worker *k = &s->workers[i];
        gfi_free(k->line);
        gfi_free(k->part);
        gfi_free(k->other);
        for (int t = 0; t < GFI_MAX_TERMS; t++) {
            gfi_free(k->lines[t]);
            gfi_free(k->sums[t]);
        }
    }
    for (int t = 0; t < GFI_MAX_TERMS; t++) {
        gfi_free(s->row[t]);
        gfi_free(s->col[t]);
    }
    gfi_free(s->workers);
    gfi_free(s->outside);
}

static gf_status copy_taps(const double *taps, int n, int16_t **out)
{
    *out = gfi_alloc((size_t)n, sizeof **out, "taps");
    for (int i = 0; *out && i < n; i++) (*out)[i] = (int16_t)taps[i];
    return *out ? GF_OK : GF_ERROR_NO_MEMORY;
}

static gf_status take_memory(whole *s, size_t n, size_t size, void *out_)
{
    void **out = out_;
    *out = gfi_alloc_zero(n, size, "window line");
    s->bytes += n * size;
    return *out ? GF_OK : GF_ERROR_NO_MEMORY;
}

static gf_status create_worker(const gfi_request *q, whole *s, worker *k)
{
    /* whole blocks may be read past the last pixel of a line */
    const size_t n = gfi_pad_line((size_t)s->line_length) + GFI_BLOCK;
    const size_t n_out = gfi_pad_line((size_t)q->out.width);
    for (int t = 0; t < q->window->n_terms; t++) {
        GFI_TRY(take_memory(s, n_out, sizeof(float), &k->sums[t]));
        if (!s->box) GFI_TRY(take_memory(s, n, sizeof(int16_t), &k->lines[t]));
    }
    if (!s->box) return GF_OK;
    GFI_TRY(take_memory(s, n, sizeof(uint32_t), &k->line));
    GFI_TRY(take_memory(s, n, sizeof(uint32_t), &k->part));
    return take_memory(s, n, sizeof(uint32_t), &k->other);
}

static gf_status make_outside(const gfi_request *q, whole *s)
{
    const size_t n = (size_t)q->in.width;
    GFI_TRY(take_memory(s, n, gf_pixel_bytes(q->in.pixel), &s->outside));
    if (q->window->border != GF_BORDER_CONSTANT) return GF_OK;
    const double value = q->window->border_value;
    if (q->in.pixel == GF_PIXEL_U8)
        memset(s->outside, (int)value, n);
    else
        for (size_t i = 0; i < n; i++) ((uint16_t *)s->outside)[i] = (uint16_t)value;
    return GF_OK;
}

/* A running sum begins with a whole window, so the units of boxes are few. */
static void choose_units(const gfi_request *q, whole *s)
{
    const int height = q->out.height;
    int rows = (height - 1) / (4 * q->threads) + 1;
    if (s->box) rows = max_int(rows, min_int(8 * q->window->kh, (height - 1) / q->threads + 1));
    s->unit_height = rows;
    s->n_units = (height - 1) / rows + 1;
    s->n_workers = min_int(q->threads, s->n_units);
}

static gf_status prepare(const gfi_request *q, void *state)
{
    whole *s = state;
    const gfi_window *w = q->window;
    s->box = is_box(w);
    choose_units(q, s);
    const int64_t left = max_int(0, w->ax);
    const int64_t end = (int64_t)q->out.width - w->ax + w->kw - 1;
    const int64_t length = left + (end > q->in.width ? end : q->in.width);
    if (length > INT32_MAX)
        return gfi_fail(GF_ERROR_NO_MEMORY, "whole: lines of %lld pixels", (long long)length);
    s->left = (int)left;
    s->line_length = (int)length;
    for (int t = 0; !s->box && t < w->n_terms; t++) {
        GFI_TRY(copy_taps(w->term[t].row, w->kw, &s->row[t]));
        GFI_TRY(copy_taps(w->term[t].col, w->kh, &s->col[t]));
    }
    GFI_TRY(make_outside(q, s));
    GFI_TRY(take_memory(s, (size_t)s->n_workers, sizeof *s->workers, &s->workers));
    for (int i = 0; i < s->n_workers; i++) GFI_TRY(create_worker(q, s, &s->workers[i]));
    return GF_OK;
}

static size_t memory_bytes(const void *state)
{
    return sizeof(whole) + ((const whole *)state)->bytes;
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const whole *s = state;
    snprintf(out, n_bytes, "%s, %d px high units, %d threads",
             s->box ? "running sums" : "16-bit sums", s->unit_height, s->n_workers);
}

/* ---- lines --------------------------------------------------------------------------------- */

static const void *source_row(const gfi_window *w, const whole *s, const gf_view *src, int y)
{
    const int folded = gf_border_index(y, src->height, (int)w->border);
    return folded < 0 ? s->outside : gfi_row(src, folded);
}

/* Extend a line of column sums, of which those of the image are there. outside: the sum of a column
 * of border values. */
#define EXTEND(line, outside)                                                                      \
    do {                                                                                           \
        for (int p_ = 0; p_ < s->line_length; p_++) {                                              \
            if (p_ == s->left) p_ += src->width;                                                   \
            if (p_ >= s->line_length) break;                                                       \
            const int from_ = gf_border_index(p_ - s->left, src->width, (int)w->border);           \
            (line)[p_] = from_ < 0 ? (outside) : (line)[s->left + from_];                          \
        }                                                                                          \
    } while (0)

/* ---- boxes --------------------------------------------------------------------------------- */

GFI_CLONES static void gfi_whole_add_u8(uint32_t *restrict sums, const uint8_t *restrict row, int n)
{
    for (int x = 0; x < n; x++) sums[x] += row[x];
}

GFI_CLONES static void gfi_whole_add_u16(uint32_t *restrict sums, const uint16_t *restrict row,
                                         int n)
{
    for (int x = 0; x < n; x++) sums[x] += row[x];
}

GFI_CLONES static void gfi_whole_move_u8(uint32_t *restrict sums, const uint8_t *restrict in,
                                         const uint8_t *restrict out, int n)
{
    for (int x = 0; x < n; x++) sums[x] += (uint32_t)(in[x] - out[x]);
}

GFI_CLONES static void gfi_whole_move_u16(uint32_t *restrict sums, const uint16_t *restrict in,
                                          const uint16_t *restrict out, int n)
{
    for (int x = 0; x < n; x++) sums[x] += (uint32_t)(in[x] - out[x]);
}

/* Make windows of 2 k pixels, or with odd of 2 k + 1, from windows of k and from single ones. */
GFI_CLONES static void gfi_whole_double(const uint32_t *restrict windows, int k,
                                        const uint32_t *restrict single, bool odd,
                                        uint32_t *restrict out, int n)
{
    if (odd)
        for (int x = 0; x < n; x++) out[x] = windows[x] + windows[x + k] + single[x + 2 * k];
    else
        for (int x = 0; x < n; x++) out[x] = windows[x] + windows[x + k];
}

/* The same for the last step: as float. */
GFI_CLONES static void gfi_whole_double_last(const uint32_t *restrict windows, int k,
                                             const uint32_t *restrict single, bool odd,
                                             float *restrict out, int n)
{
    if (odd)
        for (int x = 0; x < n; x++)
            out[x] = (float)(int32_t)(windows[x] + windows[x + k] + single[x + 2 * k]);
    else
        for (int x = 0; x < n; x++) out[x] = (float)(int32_t)(windows[x] + windows[x + k]);
}

GFI_CLONES static void gfi_whole_to_float(const uint32_t *restrict in, float *restrict out, int n)
{
    for (int x = 0; x < n; x++) out[x] = (float)(int32_t)in[x];
}

/* Sum the kw pixels that begin at each of the first n of a line. */
static void sum_windows(worker *k, const uint32_t *line, int kw, float *out, int n)
{
    const uint32_t *windows = line;
    uint32_t *next = k->part;
    int bit = 1, size = 1;
    while (bit <= kw / 2) bit *= 2;
    for (bit /= 2; bit > 1; bit /= 2) {
        const bool odd = kw & bit;
        const int doubled = 2 * size + odd;
        gfi_whole_double(windows, size, line, odd, next, n + kw - doubled);
        windows = next;
        next = next == k->part ? k->other : k->part;
        size = doubled;
    }
    if (kw > 1)
        gfi_whole_double_last(windows, size, line, kw & 1, out, n);
    else
        gfi_whole_to_float(line, out, n);
}

/* Move the column sums to the window of output row y: from the row above's when there is one. */
static void move_columns(const gfi_window *w, const whole *s, worker *k, const gf_view *src, int y,
                         bool first)
{
    const int top = y - w->ay, n = src->width;
    uint32_t *columns = k->line + s->left;
    if (first) {
        memset(columns, 0, (size_t)n * sizeof *columns);
        for (int j = 0; j < w->kh; j++) {
            const void *row = source_row(w, s, src, top + j);
            if (src->pixel == GF_PIXEL_U8)
                gfi_whole_add_u8(columns, row, n);
            else
                gfi_whole_add_u16(columns, row, n);
        }
        return;
    }
    const void *in = source_row(w, s, src, top + w->kh - 1);
    const void *out = source_row(w, s, src, top - 1);
    if (src->pixel == GF_PIXEL_U8)
        gfi_whole_move_u8(columns, in, out, n);
    else
        gfi_whole_move_u16(columns, in, out, n);
}

static void box_row(const gfi_window *w, const whole *s, worker *k, const gf_view *src, int width,
                    int y, bool first)
{
    move_columns(w, s, k, src, y, first);
    EXTEND(k->line, (uint32_t)(w->border_value * w->kh));
    sum_windows(k, k->line + s->left - w->ax, w->kw, k->sums[0], width);
}

/* ---- terms --------------------------------------------------------------------------------- */

enum { LANES = 32 };
typedef int16_t lanes __attribute__((vector_size(LANES * sizeof(int16_t))));
typedef int16_t lanes_anywhere __attribute__((vector_size(LANES * sizeof(int16_t)), aligned(2)));
typedef uint8_t bytes_anywhere __attribute__((vector_size(LANES), aligned(1)));

GFI_INLINE void column_scalar(const uint8_t *const *rows, const int16_t *taps, int kh, int x,
                              int16_t *out)
{
    int sum = 0;
    for (int j = 0; j < kh; j++) sum += taps[j] * rows[j][x];
    out[x] = (int16_t)sum;
}

GFI_CLONES static void gfi_whole_columns(const uint8_t *const *rows, const int16_t *taps, int kh,
                                         int16_t *out, int n)
{
    int x = 0;
    for (; x + LANES <= n; x += LANES) {
        lanes acc = { 0 };
        for (int j = 0; j < kh; j++)
            acc += taps[j] * __builtin_convertvector(*(const bytes_anywhere *)(rows[j] + x), lanes);
        *(lanes_anywhere *)(out + x) = acc;
    }
    for (; x < n; x++) column_scalar(rows, taps, kh, x, out);
}

/* Reads, and writes floats, up to a whole block. */
GFI_CLONES static void gfi_whole_rows(const int16_t *line, const int16_t *taps, int kw, float *out,
                                      int n)
{
    typedef float floats __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));
    for (int x = 0; x < n; x += LANES) {
        lanes acc = { 0 };
        for (int i = 0; i < kw; i++) acc += taps[i] * *(const lanes_anywhere *)(line + x + i);
        *(floats *)(out + x) = __builtin_convertvector(acc, floats);
    }
}

static void term_rows(const gfi_window *w, const whole *s, worker *k, const gf_view *src, int width,
                      int y)
{
    const uint8_t *rows[MOST_TAPS];
    for (int j = 0; j < w->kh; j++) rows[j] = source_row(w, s, src, y - w->ay + j);
    for (int t = 0; t < w->n_terms; t++) {
        int16_t *line = k->lines[t];
        int outside = 0;
        for (int j = 0; j < w->kh; j++) outside += s->col[t][j] * (int)w->border_value;
        gfi_whole_columns(rows, s->col[t], w->kh, line + s->left, src->width);
        EXTEND(line, (int16_t)outside);
        gfi_whole_rows(line + s->left - w->ax, s->row[t], w->kw, k->sums[t], width);
    }
}

/* ---- run ----------------------------------------------------------------------------------- */

static void run_unit(const gfi_window *w, const whole *s, worker *k, int unit, const gf_view *src,
                     const gf_view *dst)
{
    const int y0 = unit * s->unit_height, y1 = min_int(y0 + s->unit_height, dst->height);
    for (int y = y0; y < y1; y++) {
        if (s->box)
            box_row(w, s, k, src, dst->width, y, y == y0);
        else
            term_rows(w, s, k, src, dst->width, y);
        gfi_store_line(w, k->sums[0], k->sums[1], NULL, dst, 0, y, dst->width);
    }
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    const whole *s = state;
    const gfi_window *w = request->window;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic) num_threads(s->n_workers) if (s->n_workers > 1)
    for (int unit = 0; unit < s->n_units; unit++)
        run_unit(w, s, &s->workers[omp_get_thread_num()], unit, src, dst);
#else
    for (int unit = 0; unit < s->n_units; unit++) run_unit(w, s, &s->workers[0], unit, src, dst);
#endif
    return GF_OK;
}

const gf_impl gfi_window_whole = {
    .name = "whole",
    .backend = GF_BACKEND_CPU,
    .usable = usable,
    .cost_ns = cost_ns,
    .state_bytes = sizeof(whole),
    .prepare = prepare,
    .run = run,
    .destroy = destroy,
    .memory_bytes = memory_bytes,
    .describe = describe,
};
