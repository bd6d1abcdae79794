/* Circular correlation of real tiles by a 2-D FFT of ours, written for vector units.
 *
 * Two tiles go through at once as real and imaginary part: a real kernel keeps them apart. The
 * forward transform leaves its results in the order that its in-place steps make, the kernel's
 * spectrum has the same order, and the inverse takes it back: nothing is ever sorted. */
#ifndef GFI_FFT2_H
#define GFI_FFT2_H

#include "core/status.h"

/* The smallest sides; larger ones are powers of two times them. */
enum { GFI_FFT2_LEAST_NX = 64, GFI_FFT2_LEAST_NY = 4 };

/* A pair of ny x nx tiles; used by one thread at a time. */
typedef struct gfi_fft2 gfi_fft2;

gf_status gfi_fft2_create(int ny, int nx, gfi_fft2 **out);
void gfi_fft2_destroy(gfi_fft2 **fft);
size_t gfi_fft2_bytes(const gfi_fft2 *fft);

/* Floats of a kernel's spectrum. */
size_t gfi_fft2_kernel_size(const gfi_fft2 *fft);

/* Set row y of both tiles, nx pixels each. NULL: zeros. All rows must be set. */
void gfi_fft2_put_row(gfi_fft2 *fft, int y, const float *a, const float *b);

/* After the rows of a kernel as tile a: give its spectrum, for gfi_fft2_correlate. */
void gfi_fft2_get_kernel(gfi_fft2 *fft, float *kernel);

/* After the rows of tiles: correlate them with a kernel, so that then rows of the results,
 * out[y][x] = sum_ji kernel[j][i] * tile[y + j][x + i], can be taken in any order, once each. */
void gfi_fft2_correlate(gfi_fft2 *fft, const float *kernel);

/* Take row y of both results. They lie in the tiles' memory, to be changed at will until rows are
 * put again. */
void gfi_fft2_get_row(gfi_fft2 *fft, int y, float **a, float **b);

/* Floats from a result's row to its next. */
size_t gfi_fft2_row_pitch(const gfi_fft2 *fft);

#endif
