#include "filters/fft2.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/clones.h"

enum { LANES = 8 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef float lanes_anywhere __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

/* Complex numbers, LANES at once. */
typedef struct cvec {
    lanes re, im;
} cvec;

struct gfi_fft2 {
    int ny, nx;
    int width;              /* of a row in cvecs */
    size_t pitch;           /* from row to row; odd, or whole columns would share cache sets */
    cvec *data;             /* ny rows */
    lanes *scratch;         /* a row of one tile */
    float *row_twiddles;    /* in the order the steps use them; LANES neighbours at once */
    float *column_twiddles; /* one for all lanes */
    size_t twiddle_floats;
};

/* ---- butterflies --------------------------------------------------------------------------- */

/* Factors number i of a table: of LANES points each, or the same for all lanes. */
GFI_INLINE void load_factors(const float *table, int i, bool each, lanes *re, lanes *im)
{
    if (each) {
        *re = *(const lanes_anywhere *)(table + (ptrdiff_t)i * 2 * LANES);
        *im = *(const lanes_anywhere *)(table + (ptrdiff_t)i * 2 * LANES + LANES);
    } else {
        *re = table[2 * i] - (lanes){ 0 };
        *im = table[2 * i + 1] - (lanes){ 0 };
    }
}

GFI_INLINE void multiply(cvec *a, const float *table, int i, bool each)
{
    lanes re, im;
    load_factors(table, i, each, &re, &im);
    const lanes old = a->re;
    a->re = old * re - a->im * im;
    a->im = old * im + a->im * re;
}

GFI_INLINE void multiply_conjugate(cvec *a, const float *table, int i, bool each)
{
    lanes re, im;
    load_factors(table, i, each, &re, &im);
    const lanes old = a->re;
    a->re = old * re + a->im * im;
    a->im = a->im * re - old * im;
}

GFI_INLINE void butterfly2(cvec *a, cvec *b)
{
    const cvec old = *a;
    a->re = old.re + b->re;
    a->im = old.im + b->im;
    b->re = old.re - b->re;
    b->im = old.im - b->im;
}

GFI_INLINE void forward4(cvec *a, cvec *b, cvec *c, cvec *d)
{
    butterfly2(a, c);
    butterfly2(b, d);
    butterfly2(a, b); /* a: frequency 0, b: 2 */
    const cvec e = *c;
    const lanes d_re = d->re;
    c->re = e.re + d->im; /* 1: e - i d */
    c->im = e.im - d_re;
    d->re = e.re - d->im; /* 3: e + i d */
    d->im = e.im + d_re;
}

/* Undo forward4, times 4. */
GFI_INLINE void inverse4(cvec *a, cvec *b, cvec *c, cvec *d)
{
    butterfly2(c, d); /* c: 2 (a - c), d: -2 i (b - d) of what went in */
    butterfly2(a, b);
    const lanes d_re = d->re;
    d->re = -d->im;
    d->im = d_re;
    butterfly2(a, c);
    butterfly2(b, d);
}

/* ---- steps --------------------------------------------------------------------------------- */

/* A step splits transforms of len points, stride apart, into four of len / 4. n points in all. */
GFI_INLINE void forward_step(cvec *x, ptrdiff_t stride, int n, int len, const float *w, bool each)
{
    const ptrdiff_t q = len / 4 * stride;
    for (int block = 0; block < n; block += len)
        for (int j = 0; j < len / 4; j++) {
            cvec *at = x + (block + j) * stride;
            cvec a = at[0], b = at[q], c = at[2 * q], d = at[3 * q];
            forward4(&a, &b, &c, &d);
            multiply(&b, w, 3 * j, each);
            multiply(&c, w, 3 * j + 1, each);
            multiply(&d, w, 3 * j + 2, each);
            at[0] = a;
            at[q] = b;
            at[2 * q] = c;
            at[3 * q] = d;
        }
}

GFI_INLINE void inverse_step(cvec *x, ptrdiff_t stride, int n, int len, const float *w, bool each)
{
    const ptrdiff_t q = len / 4 * stride;
    for (int block = 0; block < n; block += len)
        for (int j = 0; j < len / 4; j++) {
            cvec *at = x + (block + j) * stride;
            cvec a = at[0], b = at[q], c = at[2 * q], d = at[3 * q];
            multiply_conjugate(&b, w, 3 * j, each);
            multiply_conjugate(&c, w, 3 * j + 1, each);
            multiply_conjugate(&d, w, 3 * j + 2, each);
            inverse4(&a, &b, &c, &d);
            at[0] = a;
            at[q] = b;
            at[2 * q] = c;
            at[3 * q] = d;
        }
}

/* ---- along rows ---------------------------------------------------------------------------- */

GFI_INLINE void transpose(lanes v[LANES])
{
    lanes t[LANES];
    for (int i = 0; i < LANES; i += 2) {
        t[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int i = 0; i < LANES; i += 4)
        for (int k = 0; k < 2; k++) {
            v[i + k] = __builtin_shufflevector(t[i + k], t[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            v[i + k + 2] =
                __builtin_shufflevector(t[i + k], t[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    for (int i = 0; i < 4; i++) {
        const lanes a = v[i], b = v[i + 4];
        v[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
        v[i + 4] = __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

GFI_INLINE void transpose_square(cvec *x)
{
    lanes re[LANES], im[LANES];
    for (int i = 0; i < LANES; i++) {
        re[i] = x[i].re;
        im[i] = x[i].im;
    }
    transpose(re);
    transpose(im);
    for (int i = 0; i < LANES; i++) x[i] = (cvec){ re[i], im[i] };
}

/* exp(-2 pi i j / 8) for j < 4 */
static const float eighths[] = { 1, 0,  0.70710678118654752f,  -0.70710678118654752f,
                                 0, -1, -0.70710678118654752f, -0.70710678118654752f };

/* The last 8 points of a row's transforms lie in one vector: a square of them is turned round. */
GFI_INLINE void forward_square(cvec *row)
{
    cvec x[LANES];
    memcpy(x, row, sizeof x);
    transpose_square(x);
    for (int j = 0; j < 4; j++) {
        butterfly2(&x[j], &x[j + 4]);
        multiply(&x[j + 4], eighths, j, false);
    }
    forward4(&x[0], &x[1], &x[2], &x[3]);
    forward4(&x[4], &x[5], &x[6], &x[7]);
    memcpy(row, x, sizeof x);
}

GFI_INLINE void inverse_square(cvec *row)
{
    cvec x[LANES];
    memcpy(x, row, sizeof x);
    inverse4(&x[0], &x[1], &x[2], &x[3]);
    inverse4(&x[4], &x[5], &x[6], &x[7]);
    for (int j = 0; j < 4; j++) {
        multiply_conjugate(&x[j + 4], eighths, j, false);
        butterfly2(&x[j], &x[j + 4]);
    }
    transpose_square(x);
    memcpy(row, x, sizeof x);
}

/* width: cvecs */
GFI_CLONES static void gfi_fft2_forward_row(cvec *row, int width, const float *w)
{
    int len = width;
    for (; len >= 4; w += 6 * (ptrdiff_t)(len / 4) * LANES, len /= 4)
        forward_step(row, 1, width, len, w, true);
    if (len == 2)
        for (int i = 0; i < width; i += 2) {
            butterfly2(&row[i], &row[i + 1]);
            multiply(&row[i + 1], w, 0, true);
        }
    for (int i = 0; i < width; i += LANES) forward_square(row + i);
}

GFI_CLONES static void gfi_fft2_inverse_row(cvec *row, int width, const float *w)
{
    int len = width;
    for (; len >= 4; len /= 4) w += 6 * (ptrdiff_t)(len / 4) * LANES;
    for (int i = 0; i < width; i += LANES) inverse_square(row + i);
    if (len == 2)
        for (int i = 0; i < width; i += 2) {
            multiply_conjugate(&row[i + 1], w, 0, true);
            butterfly2(&row[i], &row[i + 1]);
        }
    for (len *= 4; len <= width; len *= 4) {
        w -= 6 * (ptrdiff_t)(len / 4) * LANES;
        inverse_step(row, 1, width, len, w, true);
    }
}

/* ---- along columns ------------------------------------------------------------------------- */

GFI_INLINE void forward_column(cvec *x, ptrdiff_t pitch, int ny, const float *w)
{
    int len = ny;
    for (; len >= 4; w += 6 * (ptrdiff_t)(len / 4), len /= 4)
        forward_step(x, pitch, ny, len, w, false);
    if (len == 2)
        for (int y = 0; y < ny; y += 2) butterfly2(x + y * pitch, x + (y + 1) * pitch);
}

GFI_INLINE void inverse_column(cvec *x, ptrdiff_t pitch, int ny, const float *w)
{
    int len = ny;
    for (; len >= 4; len /= 4) w += 6 * (ptrdiff_t)(len / 4);
    if (len == 2)
        for (int y = 0; y < ny; y += 2) butterfly2(x + y * pitch, x + (y + 1) * pitch);
    for (len *= 4; len <= ny; len *= 4) {
        w -= 6 * (ptrdiff_t)(len / 4);
        inverse_step(x, pitch, ny, len, w, false);
    }
}

GFI_CLONES static void gfi_fft2_forward_column(cvec *x, ptrdiff_t pitch, int ny, const float *w)
{
    forward_column(x, pitch, ny, w);
}

/* Conjugated, because this is correlation. */
GFI_CLONES static void gfi_fft2_correlate_column(cvec *x, ptrdiff_t pitch, int ny, const float *w,
                                                 const float *kernel)
{
    forward_column(x, pitch, ny, w);
    for (int y = 0; y < ny; y++) multiply_conjugate(x + y * pitch, kernel, y, true);
    inverse_column(x, pitch, ny, w);
}

/* ---- plan ---------------------------------------------------------------------------------- */

static size_t count_twiddles(int len, int lanes_each)
{
    size_t n = 0;
    for (; len >= 4; len /= 4) n += 6 * (size_t)(len / 4) * (size_t)lanes_each;
    return n + 2 * (size_t)lanes_each;
}

static void put_factor(double turns, float *re, float *im)
{
    const double pi = 3.14159265358979323846;
    *re = (float)cos(2 * pi * turns);
    *im = (float)-sin(2 * pi * turns);
}

/* The factors of steps over len units of lanes_each points: point j of a unit of points has powers
 * 1 (second result: 2) and 3 of exp(-2 pi i j / points), in the order forward4 leaves them. */
static void make_twiddles(int len, int lanes_each, float *w)
{
    static const int power[3] = { 2, 1, 3 };
    for (; len >= 4; len /= 4)
        for (int j = 0; j < len / 4; j++)
            for (int p = 0; p < 3; p++, w += 2 * lanes_each)
                for (int i = 0; i < lanes_each; i++)
                    put_factor((double)power[p] * (j * lanes_each + i) / (len * lanes_each), w + i,
                               w + lanes_each + i);
    if (len == 2)
        for (int i = 0; i < lanes_each; i++)
            put_factor((double)i / (2 * lanes_each), w + i, w + lanes_each + i);
}

gf_status gfi_fft2_create(int ny, int nx, gfi_fft2 **out)
{
    gfi_fft2 *f = gfi_alloc_zero(1, sizeof *f, "fft");
    if (!f) return GF_ERROR_NO_MEMORY;
    *out = f;
    f->ny = ny;
    f->nx = nx;
    f->width = nx / LANES;
    f->pitch = (size_t)f->width + 1;
    const size_t row_floats = count_twiddles(f->width, LANES),
                 column_floats = count_twiddles(ny, 1);
    f->twiddle_floats = row_floats + column_floats;
    f->data = gfi_alloc_zero((size_t)ny * f->pitch, sizeof *f->data, "fft tiles");
    f->scratch = gfi_alloc_zero((size_t)f->width, sizeof *f->scratch, "fft row");
    f->row_twiddles = gfi_alloc_zero(row_floats, sizeof(float), "fft factors");
    f->column_twiddles = gfi_alloc_zero(column_floats, sizeof(float), "fft factors");
    if (!f->data || !f->scratch || !f->row_twiddles || !f->column_twiddles) {
        gfi_fft2_destroy(out);
        return GF_ERROR_NO_MEMORY;
    }
    make_twiddles(f->width, LANES, f->row_twiddles);
    make_twiddles(ny, 1, f->column_twiddles);
    return GF_OK;
}

void gfi_fft2_destroy(gfi_fft2 **fft)
{
    gfi_fft2 *f = *fft;
    if (!f) return;
    gfi_free(f->data);
    gfi_free(f->scratch);
    gfi_free(f->row_twiddles);
    gfi_free(f->column_twiddles);
    gfi_free(f);
    *fft = NULL;
}

size_t gfi_fft2_bytes(const gfi_fft2 *fft)
{
    return sizeof *fft + fft->twiddle_floats * sizeof(float) +
           (size_t)fft->ny * fft->pitch * sizeof(cvec) + (size_t)fft->width * sizeof(lanes);
}

size_t gfi_fft2_kernel_size(const gfi_fft2 *fft) { return (size_t)fft->nx * (size_t)fft->ny * 2; }

size_t gfi_fft2_row_pitch(const gfi_fft2 *fft) { return fft->pitch * 2 * LANES; }

/* ---- use ----------------------------------------------------------------------------------- */

void gfi_fft2_put_row(gfi_fft2 *fft, int y, const float *a, const float *b)
{
    const size_t width = (size_t)fft->width;
    cvec *row = fft->data + (size_t)y * fft->pitch;
    memset(row, 0, width * sizeof *row);
    if (!a && !b) return;
    for (size_t i = 0; i < width; i++) {
        if (a) row[i].re = *(const lanes_anywhere *)(a + i * LANES);
        if (b) row[i].im = *(const lanes_anywhere *)(b + i * LANES);
    }
    gfi_fft2_forward_row(row, fft->width, fft->row_twiddles);
}

void gfi_fft2_get_row(gfi_fft2 *fft, int y, float **a, float **b)
{
    const size_t width = (size_t)fft->width;
    cvec *row = fft->data + (size_t)y * fft->pitch;
    gfi_fft2_inverse_row(row, fft->width, fft->row_twiddles);
    lanes *to = (lanes *)row;
    for (size_t i = 0; i < width; i++) {
        fft->scratch[i] = row[i].im;
        to[i] = row[i].re; /* over what was read before */
    }
    memcpy(to + width, fft->scratch, width * sizeof *to);
    *a = (float *)to;
    *b = (float *)(to + width);
}

void gfi_fft2_get_kernel(gfi_fft2 *fft, float *kernel)
{
    /* the transforms do not normalise */
    const float factor = (float)(1.0 / ((double)fft->nx * fft->ny));
    lanes *out = (lanes *)kernel;
    for (int c = 0; c < fft->width; c++) {
        cvec *column = fft->data + c;
        gfi_fft2_forward_column(column, (ptrdiff_t)fft->pitch, fft->ny, fft->column_twiddles);
        for (size_t y = 0; y < (size_t)fft->ny; y++) {
            *out++ = column[y * fft->pitch].re * factor;
            *out++ = column[y * fft->pitch].im * factor;
        }
    }
}

void gfi_fft2_correlate(gfi_fft2 *fft, const float *kernel)
{
    for (int c = 0; c < fft->width; c++, kernel += (size_t)fft->ny * 2 * LANES)
        gfi_fft2_correlate_column(fft->data + c, (ptrdiff_t)fft->pitch, fft->ny,
                                  fft->column_twiddles, kernel);
}
