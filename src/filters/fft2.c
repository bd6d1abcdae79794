#include "filters/fft2.h"

#include <string.h>

#include <kissfft/kiss_fftr.h>

#include "core/alloc.h"
#include "filters/clones.h"

struct gfi_fft2 {
    int ny, nx, n_bins; /* n_bins: of a row, nx / 2 + 1 */
    size_t pitch;       /* from column to column of the spectrum, in numbers */
    kiss_fftr_cfg row_forward, row_inverse;
    kiss_fft_cfg column_forward, column_inverse;
    kiss_fft_cpx *spectrum; /* column by column: each is transformed in place in the cache */
    kiss_fft_cpx *rows;     /* GFI_FFT2_ROWS transformed rows */
    kiss_fft_cpx *column;
};

gf_status gfi_fft2_create(int ny, int nx, gfi_fft2 **out)
{
    gfi_fft2 *f = gfi_alloc_zero(1, sizeof *f, "fft");
    if (!f) return GF_ERROR_NO_MEMORY;
    *out = f;
    f->ny = ny;
    f->nx = nx;
    f->n_bins = nx / 2 + 1;
    f->pitch = (size_t)ny + 8; /* a power of two would put all columns into the same cache sets */
    f->row_forward = kiss_fftr_alloc(nx, 0, NULL, NULL);
    f->row_inverse = kiss_fftr_alloc(nx, 1, NULL, NULL);
    f->column_forward = kiss_fft_alloc(ny, 0, NULL, NULL);
    f->column_inverse = kiss_fft_alloc(ny, 1, NULL, NULL);
    f->spectrum = gfi_alloc_zero(gfi_fft2_size(f), sizeof *f->spectrum, "fft spectrum");
    f->rows = gfi_alloc((size_t)f->n_bins * GFI_FFT2_ROWS, sizeof *f->rows, "fft rows");
    f->column = gfi_alloc((size_t)ny, sizeof *f->column, "fft column");
    if (f->row_forward && f->row_inverse && f->column_forward && f->column_inverse && f->spectrum &&
        f->rows && f->column)
        return GF_OK;
    gfi_fft2_destroy(out);
    return gfi_fail(GF_ERROR_NO_MEMORY, "fft: out of memory for tiles of %d x %d", nx, ny);
}

void gfi_fft2_destroy(gfi_fft2 **fft)
{
    gfi_fft2 *f = *fft;
    if (!f) return;
    kiss_fftr_free(f->row_forward);
    kiss_fftr_free(f->row_inverse);
    kiss_fft_free(f->column_forward);
    kiss_fft_free(f->column_inverse);
    gfi_free(f->spectrum);
    gfi_free(f->rows);
    gfi_free(f->column);
    gfi_free(f);
    *fft = NULL;
}

size_t gfi_fft2_size(const gfi_fft2 *fft) { return (size_t)fft->n_bins * fft->pitch; }

size_t gfi_fft2_bytes(const gfi_fft2 *fft)
{
    return sizeof *fft +
           (gfi_fft2_size(fft) + (size_t)fft->n_bins * GFI_FFT2_ROWS + (size_t)fft->ny) *
               sizeof(kiss_fft_cpx);
}

void gfi_fft2_put_rows(gfi_fft2 *fft, int y, const float *rows)
{
    const size_t n_bins = (size_t)fft->n_bins;
    for (size_t r = 0; r < GFI_FFT2_ROWS; r++)
        kiss_fftr(fft->row_forward, rows + r * (size_t)fft->nx, fft->rows + r * n_bins);
    kiss_fft_cpx *to = fft->spectrum + y;
    for (size_t b = 0; b < n_bins; b++, to += fft->pitch)
        for (size_t r = 0; r < GFI_FFT2_ROWS; r++) to[r] = fft->rows[r * n_bins + b];
}

void gfi_fft2_get_rows(gfi_fft2 *fft, int y, float *rows)
{
    const size_t n_bins = (size_t)fft->n_bins;
    const kiss_fft_cpx *from = fft->spectrum + y;
    for (size_t b = 0; b < n_bins; b++, from += fft->pitch)
        for (size_t r = 0; r < GFI_FFT2_ROWS; r++) fft->rows[r * n_bins + b] = from[r];
    for (size_t r = 0; r < GFI_FFT2_ROWS; r++)
        kiss_fftri(fft->row_inverse, fft->rows + r * n_bins, rows + r * (size_t)fft->nx);
}

void gfi_fft2_get_kernel(gfi_fft2 *fft, kiss_fft_cpx *kernel)
{
    /* conjugated because this is correlation; the inverse transforms do not normalise */
    const float factor = (float)(1.0 / ((double)fft->nx * fft->ny));
    for (int b = 0; b < fft->n_bins; b++) {
        const size_t at = (size_t)b * fft->pitch;
        kiss_fft(fft->column_forward, fft->spectrum + at, kernel + at);
        for (size_t y = 0; y < (size_t)fft->ny; y++) {
            kernel[at + y].r *= factor;
            kernel[at + y].i *= -factor;
        }
    }
}

GFI_CLONES static void gfi_fft2_multiply(kiss_fft_cpx *restrict a, const kiss_fft_cpx *restrict b,
                                         int n)
{
    for (int i = 0; i < n; i++) {
        const float re = a[i].r * b[i].r - a[i].i * b[i].i;
        const float im = a[i].r * b[i].i + a[i].i * b[i].r;
        a[i].r = re;
        a[i].i = im;
    }
}

void gfi_fft2_correlate(gfi_fft2 *fft, const kiss_fft_cpx *kernel)
{
    for (int b = 0; b < fft->n_bins; b++) {
        const size_t at = (size_t)b * fft->pitch;
        kiss_fft(fft->column_forward, fft->spectrum + at, fft->column);
        gfi_fft2_multiply(fft->column, kernel + at, fft->ny);
        kiss_fft(fft->column_inverse, fft->column, fft->spectrum + at);
    }
}
