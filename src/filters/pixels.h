/* Rows of pixels as float or double, and back: the CPU's one place that rounds. */
#ifndef GFI_PIXELS_H
#define GFI_PIXELS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <gpufilter/image.h>

/* Round half to even, then saturate; NaN gives 0. The default rounding mode is assumed. */
static inline uint8_t gfi_to_u8(float v)
{
    v = v > 0 ? v : 0; /* also NaN */
    return (uint8_t)nearbyintf(v < 255 ? v : 255);
}

static inline uint16_t gfi_to_u16(float v)
{
    v = v > 0 ? v : 0;
    return (uint16_t)nearbyintf(v < 65535 ? v : 65535);
}

/* Read n pixels of a row, beginning at x. */
static inline void gfi_load_f32(const void *row, gf_pixel pixel, int x, int n, float *out)
{
    if (pixel == GF_PIXEL_U8)
        for (int i = 0; i < n; i++) out[i] = ((const uint8_t *)row)[x + i];
    else if (pixel == GF_PIXEL_U16)
        for (int i = 0; i < n; i++) out[i] = ((const uint16_t *)row)[x + i];
    else
        memcpy(out, (const float *)row + x, (size_t)n * sizeof(float));
}

/* Write n pixels of a row, beginning at x. */
static inline void gfi_store_f32(void *row, gf_pixel pixel, int x, int n, const float *in)
{
    if (pixel == GF_PIXEL_U8)
        for (int i = 0; i < n; i++) ((uint8_t *)row)[x + i] = gfi_to_u8(in[i]);
    else if (pixel == GF_PIXEL_U16)
        for (int i = 0; i < n; i++) ((uint16_t *)row)[x + i] = gfi_to_u16(in[i]);
    else
        memcpy((float *)row + x, in, (size_t)n * sizeof(float));
}

/* One pixel in double, for the references. */
static inline double gfi_get(const void *row, gf_pixel pixel, int x)
{
    if (pixel == GF_PIXEL_U8) return ((const uint8_t *)row)[x];
    if (pixel == GF_PIXEL_U16) return ((const uint16_t *)row)[x];
    return (double)((const float *)row)[x];
}

static inline void gfi_put(void *row, gf_pixel pixel, int x, double v)
{
    const double white = pixel == GF_PIXEL_U8 ? 255 : 65535;
    if (pixel == GF_PIXEL_F32) {
        ((float *)row)[x] = (float)v;
        return;
    }
    v = v > 0 ? nearbyint(v < white ? v : white) : 0;
    if (pixel == GF_PIXEL_U8)
        ((uint8_t *)row)[x] = (uint8_t)v;
    else
        ((uint16_t *)row)[x] = (uint16_t)v;
}

#endif
