/* Circular correlation of real tiles through kissfft's 1-D transforms: rows, then columns. */
#ifndef GFI_FFT2_H
#define GFI_FFT2_H

#include <kissfft/kiss_fft.h>

#include "core/status.h"

/* Rows are transformed this many at a time; a tile's height is a multiple of it. */
enum { GFI_FFT2_ROWS = 8 };

/* Plans and the spectrum of one ny x nx tile; used by one thread at a time. nx is even. */
typedef struct gfi_fft2 gfi_fft2;

gf_status gfi_fft2_create(int ny, int nx, gfi_fft2 **out);
void gfi_fft2_destroy(gfi_fft2 **fft);

/* Complex numbers of a spectrum. */
size_t gfi_fft2_size(const gfi_fft2 *fft);
size_t gfi_fft2_bytes(const gfi_fft2 *fft);

/* Transform rows y … y+GFI_FFT2_ROWS-1 of the tile. All rows of a tile must be given. */
void gfi_fft2_put_rows(gfi_fft2 *fft, int y, const float *rows);

/* After the rows of a kernel: give its spectrum, for gfi_fft2_correlate. */
void gfi_fft2_get_kernel(gfi_fft2 *fft, kiss_fft_cpx *kernel);

/* After the rows of a tile: correlate it with a kernel, so that then rows of the result,
 * out[y][x] = sum_ji kernel[j][i] * tile[y + j][x + i], can be taken in any order, once each. */
void gfi_fft2_correlate(gfi_fft2 *fft, const kiss_fft_cpx *kernel);
void gfi_fft2_get_rows(gfi_fft2 *fft, int y, float *rows);

#endif
