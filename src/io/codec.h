/* What a codec is, and what codecs share. A codec reads and writes memory; io.c does the files. */
#ifndef GFI_IO_CODEC_H
#define GFI_IO_CODEC_H

#include <stdbool.h>

#include <gpufilter/io.h>

#include "core/status.h"
#include "io/bytes.h"

/* A whole file in memory, and the limit its image has to keep. An image may be made of the bytes
 * themselves: it then owns them, and the codec sets *owner to NULL. */
typedef struct gfi_source {
    const uint8_t *bytes;
    size_t n;
    uint64_t max_pixels;
    uint8_t **owner; /* NULL: the bytes are not to be had */
} gfi_source;

/* Messages of load and save begin with neither the file's nor the codec's name: io.c adds both. */
typedef struct gfi_codec {
    gf_codec_info info;
    const char *title;  /* as messages call it: "PNG" */
    const char *option; /* build option that is off when can_load is 0 */
    unsigned pixels;    /* set of GFI_CAN(pixel type) that save takes */
    bool (*sniff)(const uint8_t *bytes, size_t n);
    gf_status (*load)(const gfi_source *source, gf_file_info *info, gf_image **out);
    gf_status (*save)(const gf_view *view, const gf_save_params *params, gfi_buffer *out);
} gfi_codec;

#define GFI_CAN(pixel) (1u << (pixel))

extern const gfi_codec gfi_codec_png, gfi_codec_jpeg, gfi_codec_bmp, gfi_codec_tga, gfi_codec_pgm,
    gfi_codec_pfm;

/* Set the size after checking it: FORMAT when a side is 0 or above 2^31-1, RANGE above the limit.
 */
gf_status gfi_set_size(const gfi_source *source, gf_file_info *info, uint64_t width,
                       uint64_t height);

/* FORMAT "truncated" when the file cannot hold the n bytes its header asks for. */
gf_status gfi_need_bytes(const gfi_source *source, uint64_t n);

/* Say how the pixels are stored and how gray is made. */
void gfi_set_samples(gf_file_info *info, int bit_depth, int channels, gf_pixel pixel,
                     const char *gray);

/* Append to the notice, separated by "; ". */
void gfi_notice(gf_file_info *info, const char *fmt, ...) GFI_PRINTF(2, 3);

/* What bytes that no codec knows are. With *known it is the name of a format ("TIFF"); else a
 * phrase after "is" for text, nothing and noise, which no build could read. */
const char *gfi_foreign_name(const uint8_t *bytes, size_t n, bool *known);

#endif
