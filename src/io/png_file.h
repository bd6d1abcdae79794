/* A PNG file as its chunks tell it (PNG specification, third edition), and who decodes it. */
#ifndef GFI_IO_PNG_FILE_H
#define GFI_IO_PNG_FILE_H

#include "io/codec.h"

enum { GFI_PNG_GRAY = 0, GFI_PNG_RGB = 2, GFI_PNG_PALETTE = 3, GFI_PNG_ALPHA = 4 };

#define GFI_PNG_SIGNATURE "\211PNG\r\n\032\n"

typedef struct gfi_png {
    int bits, color; /* IHDR's bit depth and colour type */
    int channels;    /* samples of a pixel in the rows: 1 for a palette */
    bool interlaced;
    const uint8_t *ihdr;
    const uint8_t *palette; /* RGB entries, NULL without PLTE */
    uint32_t palette_entries;
    bool transparency, animated, profile, text, exif; /* chunks that are ignored, seen or not */
    size_t idat_bytes;
    uint16_t gray[256]; /* gray of a palette index or of a value of less than 8 bits */
} gfi_png;

/* in gfi_png.gray, for what no pixel may be; a bit that no gray value has */
enum { GFI_PNG_NO_GRAY = 256 };

/* Turn n bytes into gray by the table; false when one has no gray. dst may be src. */
bool gfi_png_map_row(const gfi_png *png, uint8_t *dst, const uint8_t *src, size_t n);

/* CRC-32 as PNG uses it; begin with 0. */
uint32_t gfi_crc32(uint32_t crc, const void *bytes, size_t n);

/* Decode into a view of info's size and pixel type; both with libpng. */
gf_status gfi_libpng_decode(const gfi_source *source, const gfi_png *png, gf_file_info *info,
                            const gf_view *view);
gf_status gfi_libpng_encode(const gf_view *view, gfi_buffer *out);

/* Encode with libdeflate and chunks of our own. */
gf_status gfi_deflate_encode(const gf_view *view, gfi_buffer *out);

#endif
