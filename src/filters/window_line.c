/* Pixels in and out of the CPU window engine: border extension, conversion, rounding. */
#include <string.h>

#include "core/image.h"
#include "filters/clones.h"
#include "filters/window_cpu.h"
#include "kernels/gf_border.h"

/* ---- in ------------------------------------------------------------------------------------ */

GFI_CLONES static void gfi_line_from_u8(const uint8_t *restrict src, int n, float *restrict line)
{
    for (int i = 0; i < n; i++) line[i] = src[i];
}

GFI_CLONES static void gfi_line_from_u16(const uint16_t *restrict src, int n, float *restrict line)
{
    for (int i = 0; i < n; i++) line[i] = src[i];
}

static float pixel_at(const void *row, gf_pixel pixel, int x)
{
    switch (pixel) {
    case GF_PIXEL_U8: return ((const uint8_t *)row)[x];
    case GF_PIXEL_U16: return ((const uint16_t *)row)[x];
    default: return ((const float *)row)[x];
    }
}

static void convert(const void *row, gf_pixel pixel, int x, int n, float *line)
{
    switch (pixel) {
    case GF_PIXEL_U8: gfi_line_from_u8((const uint8_t *)row + x, n, line); break;
    case GF_PIXEL_U16: gfi_line_from_u16((const uint16_t *)row + x, n, line); break;
    default: memcpy(line, (const float *)row + x, (size_t)n * sizeof *line); break;
    }
}

void gfi_read_line(const gfi_window *window, const gf_view *src, int x, int y, int n, float *line)
{
    const float outside = (float)window->border_value;
    const int border = (int)window->border;
    const int folded = gf_border_index(y, src->height, border);
    if (folded < 0) {
        for (int i = 0; i < n; i++) line[i] = outside;
        return;
    }
    const void *row = gfi_row(src, folded);
    for (int i = 0; i < n;) {
        const int64_t at = (int64_t)x + i;
        if (at >= 0 && at < src->width) {
            const int64_t left = src->width - at;
            const int run = left < n - i ? (int)left : n - i;
            convert(row, src->pixel, (int)at, run, line + i);
            i += run;
        } else {
            const int from = gf_border_index((int)at, src->width, border);
            line[i++] = from < 0 ? outside : pixel_at(row, src->pixel, from);
        }
    }
}

/* ---- out ----------------------------------------------------------------------------------- */

GFI_CLONES static void gfi_line_sum(float *restrict a0, const float *restrict a1, int n,
                                    float scale, float offset)
{
    if (a1)
        for (int i = 0; i < n; i++) a0[i] = scale * (a0[i] + a1[i]) + offset;
    else if (scale != 1.0f || offset != 0.0f)
        for (int i = 0; i < n; i++) a0[i] = scale * a0[i] + offset;
}

/* In double neither square can overflow or vanish. */
static float safe_magnitude(float a, float b) { return (float)sqrt((double)a * a + (double)b * b); }

/* sqrt(a * a) is exactly |a|, in float too while the square is an ordinary number. Where it is not
 * (far fewer pixels: the sum of squares out of range, and not 0) the pixel is redone in double. */
GFI_CLONES static void gfi_line_magnitude(float *restrict a0, const float *restrict a1, int n,
                                          float scale, float offset)
{
    enum { BLOCK = 64 };
    for (int x = 0; x < n; x += BLOCK) {
        const int m = n - x < BLOCK ? n - x : BLOCK;
        const float *restrict b = a1 + x;
        float *restrict a = a0 + x;
        float squares[BLOCK];
        int unsafe = 0;
        for (int i = 0; i < m; i++) {
            squares[i] = a[i] * a[i] + b[i] * b[i];
            const int ordinary = (squares[i] > 0x1p-90f) & (squares[i] < 0x1p120f);
            const int zero = (a[i] == 0.0f) & (b[i] == 0.0f);
            unsafe |= !(ordinary | zero);
        }
        if (unsafe)
            for (int i = 0; i < m; i++) {
                const bool ordinary = squares[i] > 0x1p-90f && squares[i] < 0x1p120f;
                const float root = ordinary ? sqrtf(squares[i]) : safe_magnitude(a[i], b[i]);
                a[i] = scale * root + offset;
            }
        else
            for (int i = 0; i < m; i++) a[i] = scale * sqrtf(squares[i]) + offset;
    }
}

GFI_CLONES static void gfi_line_unsharp(float *restrict a0, const float *restrict centre, int n,
                                        float amount, float threshold)
{
    for (int i = 0; i < n; i++) {
        const float d = centre[i] - a0[i];
        a0[i] = fabsf(d) < threshold ? centre[i] : centre[i] + amount * d; /* a NaN goes on */
    }
}

/* Clamp to 0 … top, NaN to 0, and round half to even: adding 2^23 leaves no bits for a fraction. */
GFI_INLINE int32_t round_pixel(float v, float top)
{
    const float magic = 8388608.0f;
    v = v > 0.0f ? v : 0.0f;
    v = v < top ? v : top;
    return (int32_t)((v + magic) - magic);
}

GFI_CLONES static void gfi_line_to_u8(const float *restrict line, int n, uint8_t *restrict dst)
{
    for (int i = 0; i < n; i++) dst[i] = (uint8_t)round_pixel(line[i], 255.0f);
}

GFI_CLONES static void gfi_line_to_u16(const float *restrict line, int n, uint16_t *restrict dst)
{
    for (int i = 0; i < n; i++) dst[i] = (uint16_t)round_pixel(line[i], 65535.0f);
}

/* gfi_line_sum and gfi_line_to_u8 in one. */
GFI_CLONES static void gfi_line_sum_to_u8(const float *restrict a0, int n, float scale,
                                          float offset, uint8_t *restrict dst)
{
    for (int i = 0; i < n; i++) dst[i] = (uint8_t)round_pixel(scale * a0[i] + offset, 255.0f);
}

static void combine(const gfi_window *w, float *a0, const float *a1, const float *centre, int n)
{
    const float scale = (float)w->scale, offset = (float)w->offset;
    switch (w->combine) {
    case GFI_COMBINE_SUM: gfi_line_sum(a0, a1, n, scale, offset); break;
    case GFI_COMBINE_UNSHARP:
        gfi_line_unsharp(a0, centre, n, (float)w->amount, (float)w->threshold);
        break;
    case GFI_COMBINE_MAGNITUDE:
        if (!a1)
            for (int i = 0; i < n; i++) a0[i] = scale * fabsf(a0[i]) + offset;
        else
            gfi_line_magnitude(a0, a1, n, scale, offset);
        break;
    }
}

void gfi_store_line(const gfi_window *window, float *a0, const float *a1, const float *centre,
                    const gf_view *dst, int x, int y, int n)
{
    void *row = gfi_row(dst, y);
    if (window->combine == GFI_COMBINE_SUM && !a1 && dst->pixel == GF_PIXEL_U8) {
        const float scale = (float)window->scale, offset = (float)window->offset;
        gfi_line_sum_to_u8(a0, n, scale, offset, (uint8_t *)row + x);
        return;
    }
    combine(window, a0, a1, centre, n);
    switch (dst->pixel) {
    case GF_PIXEL_U8: gfi_line_to_u8(a0, n, (uint8_t *)row + x); break;
    case GF_PIXEL_U16: gfi_line_to_u16(a0, n, (uint16_t *)row + x); break;
    default:
        if (a0 != (float *)row + x) memcpy((float *)row + x, a0, (size_t)n * sizeof *a0);
        break;
    }
}
