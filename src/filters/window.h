/* The window engine: a filter whose result is made of weighted sums over a rectangle.
 *
 * With A_t(x,y) = sum_ij taps_t[j][i] * src(x - ax + i, y - ay + j), i < kw, j < kh:
 *   SUM        dst = scale * (A_0 + A_1) + offset
 *   MAGNITUDE  dst = scale * sqrt(A_0^2 + A_1^2) + offset
 *   UNSHARP    d = src(x,y) - A_0;  dst = |d| < threshold ? src(x,y) : src(x,y) + amount * d
 * A filter describes itself as such a window; reference, fast CPU code, CUDA kernels and FFT paths
 * serve them all. */
#ifndef GFI_WINDOW_H
#define GFI_WINDOW_H

#include "filters/filter_def.h"

typedef enum gfi_combine {
    GFI_COMBINE_SUM = 0,
    GFI_COMBINE_MAGNITUDE = 1,
    GFI_COMBINE_UNSHARP = 2
} gfi_combine;

enum { GFI_MAX_TERMS = 2 };

/* A rank-1 term: taps[j][i] = col[j] * row[i]. */
typedef struct gfi_term {
    double *row, *col; /* kw and kh taps */
} gfi_term;

typedef struct gfi_window {
    int kw, kh; /* the taps' bounding rectangle */
    int ax, ay; /* position in it that falls on the output pixel; any value for valid and full */
    int n_terms;                   /* separable terms: 1 or 2; 0: not separable, only `full` */
    gfi_term term[GFI_MAX_TERMS];
    double *full; /* kh rows of kw taps; NULL with 2 terms (A_0 and A_1 are summed apart, so that Inf
                     gives the same on every path), or when not built */
    gfi_combine combine;
    double scale, offset, amount, threshold;
    gf_border border;
    double border_value;
    double abs_sum; /* bound of |dst - offset| / max|src|: scale * sum |taps|; tolerances use it */
    bool force_direct, force_separable, force_fft; /* method= of correlate and convolve */
} gfi_window;

/* Make a window of kw x kh with ax = kw/2, ay = kh/2 (scipy.ndimage's centre), scale 1, n_terms
 * separable terms (zeroed taps) or, for n_terms 0, zeroed full taps. */
gf_status gfi_window_create(int kw, int kh, int n_terms, gfi_window **out);
void gfi_window_destroy(gfi_window **window);

/* Complete a window whose taps are filled in: finds rank 1 when only full is given, builds full
 * from a single term when kw*kh is small enough (<= 65536 taps), sums |taps|. */
gf_status gfi_window_finish(gfi_window *window);

/* What filters end with: set the border and finish; on failure destroys the window. window is *out. */
gf_status gfi_window_complete(gfi_window *window, gf_border border, double border_value, gfi_window **out);

/* The implementations that all window filters list: ref, the fast ones of the CPU, and those of CUDA; of
 * equal costs the first counts. */
extern const gf_impl *const gfi_window_impls[];

/* Members of that table, one file each. */
extern const gf_impl gfi_window_ref, gfi_window_direct, gfi_window_sep, gfi_window_whole, gfi_window_fft;
extern const gf_impl gfi_window_cuda_stream, gfi_window_cuda_box, gfi_window_cuda_band, gfi_window_cuda_tensor;
extern const gf_impl gfi_window_cuda_wgmma, gfi_window_cuda_wide, gfi_window_cuda_coarse, gfi_window_cuda_tilefft, gfi_window_cuda_direct;
extern const gf_impl gfi_window_cuda_ring, gfi_window_cuda_sep, gfi_window_cuda_fft, gfi_window_cuda_any;

/* Not in the table: makes a stage of cuda-tensor and a small window after it. */
extern const gf_impl gfi_window_cuda_pair;

#endif
