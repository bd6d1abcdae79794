/* The one rule by which colour becomes gray.
 *
 * Y = 0.299 R + 0.587 G + 0.114 B on the values as stored (no gamma is undone), rounded to nearest:
 * the luma of ITU-R BT.601-7, section 2.5.1. Pure R, G and B of 8 bits give 76, 150 and 29; equal
 * R, G and B give that value exactly. Alpha is not looked at. */
#ifndef GFI_IO_GRAY_H
#define GFI_IO_GRAY_H

#include <stddef.h>
#include <stdint.h>

#include "io/bytes.h"

/* for samples up to 16 bits: the sum stays below 2^26 */
static inline uint32_t gfi_luma(uint32_t r, uint32_t g, uint32_t b)
{
    return (299 * r + 587 * g + 114 * b + 500) / 1000;
}

/* n interleaved pixels of 1 (gray), 2 (gray, alpha), 3 (R, G, B) or 4 (R, G, B, alpha) samples. */
static inline void gfi_gray_row_u8(uint8_t *dst, const uint8_t *src, int channels, size_t n)
{
    if (channels <= 2) {
        for (size_t i = 0; i < n; i++) dst[i] = src[i * (size_t)channels];
        return;
    }
    for (size_t i = 0; i < n; i++, src += channels)
        dst[i] = (uint8_t)gfi_luma(src[0], src[1], src[2]);
}

/* The same with big-endian samples of 16 bits. */
static inline void gfi_gray_row_be16(uint16_t *dst, const uint8_t *src, int channels, size_t n)
{
    if (channels <= 2) {
        for (size_t i = 0; i < n; i++) dst[i] = (uint16_t)gfi_be16(src + 2 * i * (size_t)channels);
        return;
    }
    for (size_t i = 0; i < n; i++, src += 2 * channels)
        dst[i] = (uint16_t)gfi_luma(gfi_be16(src), gfi_be16(src + 2), gfi_be16(src + 4));
}

#endif
