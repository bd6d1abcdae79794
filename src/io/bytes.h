/* Numbers as files store them, and a buffer that grows. */
#ifndef GFI_IO_BYTES_H
#define GFI_IO_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

static inline uint32_t gfi_le16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static inline uint32_t gfi_le32(const uint8_t *p) { return gfi_le16(p) | gfi_le16(p + 2) << 16; }
static inline uint32_t gfi_be16(const uint8_t *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t gfi_be32(const uint8_t *p) { return gfi_be16(p) << 16 | gfi_be16(p + 2); }

static inline void gfi_put_be32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)(v >> 24);
    p[1] = (uint8_t)(v >> 16);
    p[2] = (uint8_t)(v >> 8);
    p[3] = (uint8_t)v;
}

static inline void gfi_put_le32(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
    p[2] = (uint8_t)(v >> 16);
    p[3] = (uint8_t)(v >> 24);
}

/* n u16 pixels as big-endian bytes; the loop compiles to a vector byte swap */
static inline void gfi_put_be16_row(uint8_t *dst, const uint16_t *src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dst[2 * i] = (uint8_t)(src[i] >> 8);
        dst[2 * i + 1] = (uint8_t)src[i];
    }
}

/* Zero-initialise; data is released with gfi_free(). What a file holds as it is in memory may stand
 * behind it as `rest`, which is not the buffer's own. */
typedef struct gfi_buffer {
    uint8_t *data;
    size_t size, capacity;
    const void *rest;
    size_t n_rest;
} gfi_buffer;

/* Room for n more bytes behind size; NULL with the error recorded. */
uint8_t *gfi_buffer_reserve(gfi_buffer *buffer, size_t n);
bool gfi_buffer_append(gfi_buffer *buffer, const void *bytes, size_t n);

#endif
