/* Pieces that the CPU implementations of the window engine share. */
#ifndef GFI_WINDOW_CPU_H
#define GFI_WINDOW_CPU_H

#include "filters/window.h"

/* Pixels the inner loops do at once: lengths of lines are padded to a multiple of it. */
enum { GFI_BLOCK = 64 };

static inline size_t gfi_pad_line(size_t n) { return (n + GFI_BLOCK - 1) / GFI_BLOCK * GFI_BLOCK; }

/* ---- window_line.c: pixels in and out ------------------------------------------------------ */

/* Read pixels x … x+n-1 of row y as float. Both may lie outside: the window's border makes them. */
void gfi_read_line(const gfi_window *window, const gf_view *src, int x, int y, int n, float *line);

/* Combine the sums A_0 and A_1 of n pixels from (x, y) on (a1 is NULL without a second term;
 * centre, the source pixels, is read by UNSHARP only), round and store them. Overwrites a0, which
 * for a float image may be the place in dst already. */
void gfi_store_line(const gfi_window *window, float *a0, const float *a1, const float *centre,
                    const gf_view *dst, int x, int y, int n);

/* ---- window_sums.c: the inner loops -------------------------------------------------------- */

/* In all of them x runs to n rounded up to GFI_BLOCK, and rows are readable as far as that takes. */

/* out[x] = sum_i taps[i] * row[x + i]. */
void gfi_sum_row(const float *row, const float *taps, int kw, float *out, int n);

/* out[r][x] = sum_j taps[j] * rows[r + j][x] for r < GFI_COLUMN_ROWS. */
enum { GFI_COLUMN_ROWS = 4 };
void gfi_sum_columns(const float *const *rows, const float *taps, int kh, float *const *out, int n);

/* The same for taps that are all 1: gfi_sum_row for kw <= GFI_MAX_ONES (to x < n only),
 * gfi_sum_columns for n_rows <= kh <= GFI_MAX_ONES, where n_rows, the number of output rows, is
 * GFI_COLUMN_ROWS or GFI_MANY_ROWS. */
enum { GFI_MAX_ONES = 256, GFI_MANY_ROWS = 16 };
void gfi_sum_row_ones(const float *row, int kw, float *out, int n);
void gfi_sum_columns_ones(const float *const *rows, int kh, float *const *out, int n, int n_rows);

/* out[r][x] = sum_ji taps[j * kw + i] * rows[r + j][x + i] for r < GFI_COLUMN_ROWS. */
void gfi_sum_block(const float *const *rows, const float *taps, int kw, int kh, float *const *out,
                   int n);

/* ---- window_sweep.c: threads and caches over the image ------------------------------------- */

/* One way to make sums from border-extended source lines. */
typedef struct gfi_sweep_kind {
    int rows_at_once; /* output rows per call of sum, at most GFI_MANY_ROWS */
    /* Make a prepared row of n pixels for a term from a line with kw-1 more. NULL: the prepared
     * row is the line itself, and there is one term. */
    void (*fill)(const void *taps, int term, const float *line, float *row, int n);
    /* Make the sums of rows_at_once output rows from their prepared rows. */
    void (*sum)(const void *taps, int term, const float *const *rows, float *const *out, int n);
} gfi_sweep_kind;

typedef struct gfi_sweep gfi_sweep;

/* taps is handed to fill and sum and must outlive the sweep. */
gf_status gfi_sweep_create(const gfi_request *request, const gfi_sweep_kind *kind, int n_terms,
                           const void *taps, gfi_sweep **out);
void gfi_sweep_destroy(gfi_sweep **sweep);
void gfi_sweep_run(gfi_sweep *sweep, const gf_view *src, const gf_view *dst);
size_t gfi_sweep_bytes(const gfi_sweep *sweep);
void gfi_sweep_describe(const gfi_sweep *sweep, char *out, size_t n_bytes);

/* ---- costs --------------------------------------------------------------------------------- */

/* Figures of 2026-11-30 at 2048 x 2048, u8 and f32, processor time of one thread on a 2-core x86-64
 * with AVX-512, in ns a pixel: 2-D sums 0.6 (3 x 3), 1.8 (7 x 7), 5.2 (15 x 15), 22.8 (31 x 31);
 * separable 0.5 (3 + 3), 1.35 (15 + 15), 2.35 (31 + 31), 8.2 (127 + 127); magnitude 0.25 more. */
#define GFI_NS_PER_TAP 0.022
#define GFI_NS_PER_DIRECT_PIXEL 0.45
#define GFI_NS_PER_ROW_TAP 0.0345
#define GFI_NS_PER_COLUMN_TAP 0.03
#define GFI_NS_PER_DOUBLING 0.08 /* of a window of ones along a row */
#define GFI_NS_PER_SHARED_ROW 0.066 /* that windows of ones below each other share */
#define GFI_NS_PER_SEPARABLE_PIXEL 0.3
#define GFI_NS_PER_MAGNITUDE 0.25

/* Expected time at ns_per_pixel when the request's threads share the image. */
double gfi_cpu_cost_ns(const gfi_request *request, double ns_per_pixel);

/* Copy n taps as float. NULL when out of memory. */
float *gfi_float_taps(const double *taps, size_t n);

#endif
