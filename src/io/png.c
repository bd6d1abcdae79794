/* PNG.
 *
 * The chunks are walked first, with whichever library decodes afterwards: lengths, order and the
 * CRC of every chunk, also of those that are not used, and whether the compressed bytes can make
 * the pixels at all. So a cut or damaged file is refused before anything is allocated, in words
 * that name the chunk.
 *
 * libpng decodes every PNG when the build has it: row by row, so that colour never lies in memory
 * as a whole, in 8 and 16 bits, interlaced too. stb is left for builds without libpng. Writing is
 * our own chunks around libdeflate; without libdeflate it is libpng, without both stb (8 bits).
 *
 * Gray: 1, 2 and 4 bits are scaled to 0 … 255; palette colours by the rule of gray.h; alpha, tRNS,
 * background, gamma and colour profiles are not applied. */
#include "io/config.h"
#include "io/codec.h"

#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "core/image.h"
#include "io/gray.h"
#include "io/png_file.h"
#include "io/stb.h"

enum { SIGNATURE_BYTES = 8, CHUNK_OVERHEAD = 12, IHDR_BYTES = 13 };

/* Also true for a signature that a transfer as text has damaged: load says so. */
static bool sniff(const uint8_t *bytes, size_t n)
{
    if (n >= 4 && !memcmp(bytes, GFI_PNG_SIGNATURE, 4)) return true;
    for (size_t i = 4; i + 4 <= n && i < 20; i++)
        if (!memcmp(bytes + i, "IHDR", 4)) return true;
    return false;
}

typedef struct chunk {
    uint32_t type, length;
    const uint8_t *data;
    size_t at; /* offset of the chunk in the file */
    char name[5];
} chunk;

#define TYPE(a, b, c, d)                                                                           \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))
enum {
    IHDR = TYPE('I', 'H', 'D', 'R'),
    PLTE = TYPE('P', 'L', 'T', 'E'),
    IDAT = TYPE('I', 'D', 'A', 'T'),
    IEND = TYPE('I', 'E', 'N', 'D'),
    TRNS = TYPE('t', 'R', 'N', 'S'),
    ACTL = TYPE('a', 'c', 'T', 'L'),
    ICCP = TYPE('i', 'C', 'C', 'P'),
    EXIF = TYPE('e', 'X', 'I', 'f'),
    TEXT = TYPE('t', 'E', 'X', 't'),
    ZTXT = TYPE('z', 'T', 'X', 't'),
    ITXT = TYPE('i', 'T', 'X', 't')
};

static gf_status check_signature(const gfi_source *source)
{
    for (size_t i = 0; i < SIGNATURE_BYTES; i++) {
        if (i >= source->n) return gfi_fail(GF_ERROR_FORMAT, "truncated in the signature");
        uint8_t right = (uint8_t)GFI_PNG_SIGNATURE[i];
        if (source->bytes[i] != right)
            return gfi_fail(GF_ERROR_FORMAT,
                            "damaged signature: byte %zu is 0x%02x, not 0x%02x (a transfer as text "
                            "does this)",
                            i, source->bytes[i], right);
    }
    return GF_OK;
}

static gf_status read_chunk(const gfi_source *source, size_t at, chunk *c)
{
    if (source->n - at < CHUNK_OVERHEAD)
        return gfi_fail(GF_ERROR_FORMAT, "truncated: the file ends at byte %zu without IEND",
                        source->n);
    const uint8_t *p = source->bytes + at;
    *c = (chunk){ .length = gfi_be32(p), .type = gfi_be32(p + 4), .data = p + 8, .at = at };
    memcpy(c->name, p + 4, 4);
    for (int i = 0; i < 4; i++)
        if ((c->name[i] | 32) < 'a' || (c->name[i] | 32) > 'z')
            return gfi_fail(GF_ERROR_FORMAT, "damaged chunk at byte %zu: its type is 0x%08" PRIx32,
                            at, c->type);
    if (c->length > source->n - at - CHUNK_OVERHEAD)
        return gfi_fail(GF_ERROR_FORMAT,
                        "truncated: chunk %s at byte %zu has %" PRIu32
                        " bytes, the file ends after %zu",
                        c->name, at, c->length, source->n - at - 8);
    uint32_t stored = gfi_be32(c->data + c->length);
    uint32_t crc = gfi_crc32(0, p + 4, (size_t)c->length + 4);
    if (crc != stored)
        return gfi_fail(GF_ERROR_FORMAT,
                        "wrong CRC: chunk %s at byte %zu says 0x%08" PRIx32
                        ", its bytes give 0x%08" PRIx32,
                        c->name, at, stored, crc);
    return GF_OK;
}

static bool depth_fits(int color, int bits)
{
    if (bits == 8) return true;
    if (bits == 16) return color != GFI_PNG_PALETTE;
    return (bits == 1 || bits == 2 || bits == 4) &&
           (color == GFI_PNG_GRAY || color == GFI_PNG_PALETTE);
}

static gf_status read_ihdr(const gfi_source *source, const chunk *c, gfi_png *png,
                           gf_file_info *info)
{
    if (c->type != IHDR || c->length != IHDR_BYTES)
        return gfi_fail(GF_ERROR_FORMAT,
                        "the first chunk is %s of %" PRIu32 " bytes, not IHDR of 13", c->name,
                        c->length);
    const uint8_t *p = png->ihdr = c->data;
    png->bits = p[8];
    png->color = p[9];
    png->interlaced = p[12] == 1;
    if (png->color > 6 || png->color == 1 || png->color == 5)
        return gfi_fail(GF_ERROR_FORMAT, "colour type %d is not 0, 2, 3, 4 or 6", png->color);
    if (!depth_fits(png->color, png->bits))
        return gfi_fail(GF_ERROR_FORMAT, "bit depth %d is not one of colour type %d", png->bits,
                        png->color);
    if (p[10] || p[11] || p[12] > 1)
        return gfi_fail(GF_ERROR_FORMAT,
                        "compression %d, filter %d, interlace %d are not 0, 0 and 0 or 1", p[10],
                        p[11], p[12]);
    static const uint8_t channels[] = { 1, 0, 3, 1, 2, 0, 4 };
    png->channels = channels[png->color];
    return gfi_set_size(source, info, gfi_be32(p), gfi_be32(p + 4));
}

static gf_status read_plte(const chunk *c, gfi_png *png)
{
    if (c->length == 0 || c->length % 3 || c->length > 768)
        return gfi_fail(GF_ERROR_FORMAT, "palette of %" PRIu32 " bytes is not 1 … 256 entries of 3",
                        c->length);
    png->palette = c->data;
    png->palette_entries = c->length / 3;
    return GF_OK;
}

static gf_status note_chunk(const chunk *c, const chunk *previous, gfi_png *png)
{
    switch (c->type) {
    case PLTE: return read_plte(c, png);
    case IDAT:
        if (png->idat_bytes && previous->type != IDAT)
            return gfi_fail(GF_ERROR_FORMAT, "chunk IDAT at byte %zu follows %s, not IDAT", c->at,
                            previous->name);
        png->idat_bytes += c->length;
        return GF_OK;
    case TRNS: png->transparency = true; return GF_OK;
    case ACTL: png->animated = true; return GF_OK;
    case ICCP: png->profile = true; return GF_OK;
    case EXIF: png->exif = true; return GF_OK;
    case TEXT:
    case ZTXT:
    case ITXT: png->text = true; return GF_OK;
    default:
        /* an upper-case first letter: the image cannot be understood without this chunk */
        if (!(c->name[0] & 32) && c->type != IEND)
            return gfi_fail(GF_ERROR_UNSUPPORTED, "critical chunk %s at byte %zu is not known",
                            c->name, c->at);
        return GF_OK;
    }
}

/* Deflate makes at most 258 bytes of 2 bits, so the compressed size bounds the pixels. */
static gf_status check_idat(const gfi_png *png, const gf_file_info *info)
{
    enum { MAX_RATIO = 1032 };
    uint64_t bits = (uint64_t)info->width * (uint64_t)png->bits * (uint64_t)png->channels;
    uint64_t raw = (bits + 7) / 8 * (uint64_t)info->height;
    /* passes of an interlaced image pad each row, so this is a lower bound there too */
    if (png->interlaced) raw = bits / 8 * (uint64_t)info->height;
    if (png->idat_bytes == 0)
        return gfi_fail(GF_ERROR_FORMAT,
                        "truncated: chunk IDAT with the pixels is missing or empty");
    if (raw / MAX_RATIO > png->idat_bytes)
        return gfi_fail(
            GF_ERROR_FORMAT, "truncated: %zu compressed bytes cannot hold %dx%d pixels of %d bits",
            png->idat_bytes, (int)info->width, (int)info->height, png->bits * png->channels);
    return GF_OK;
}

static gf_status walk(const gfi_source *source, gfi_png *png, gf_file_info *info)
{
    chunk c, previous;
    GFI_TRY(check_signature(source));
    GFI_TRY(read_chunk(source, SIGNATURE_BYTES, &c));
    GFI_TRY(read_ihdr(source, &c, png, info));
    do {
        previous = c;
        GFI_TRY(read_chunk(source, c.at + CHUNK_OVERHEAD + c.length, &c));
        GFI_TRY(note_chunk(&c, &previous, png));
    } while (c.type != IEND);
    if (png->color == GFI_PNG_PALETTE && !png->palette)
        return gfi_fail(GF_ERROR_FORMAT, "colour type 3 without a palette (chunk PLTE)");
    return check_idat(png, info);
}

static void fill_gray_table(gfi_png *png)
{
    unsigned white = png->bits < 8 ? (1u << png->bits) - 1 : 255;
    for (unsigned i = 0; i < 256; i++) {
        png->gray[i] = GFI_PNG_NO_GRAY;
        if (png->color != GFI_PNG_PALETTE) {
            if (i <= white) png->gray[i] = (uint16_t)(i * 255 / white);
        } else if (i < png->palette_entries) {
            const uint8_t *p = png->palette + 3 * i;
            png->gray[i] = (uint16_t)gfi_luma(p[0], p[1], p[2]);
        }
    }
}

bool gfi_png_map_row(const gfi_png *png, uint8_t *dst, const uint8_t *src, size_t n)
{
    unsigned all = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned gray = png->gray[src[i]];
        all |= gray;
        dst[i] = (uint8_t)gray;
    }
    return !(all & GFI_PNG_NO_GRAY);
}

static bool palette_is_gray(const gfi_png *png)
{
    for (uint32_t i = 0; i < png->palette_entries; i++) {
        const uint8_t *p = png->palette + 3 * i;
        if (p[0] != p[1] || p[1] != p[2]) return false;
    }
    return true;
}

static void describe(const gfi_png *png, gf_file_info *info)
{
    bool palette = png->color == GFI_PNG_PALETTE;
    const char *gray = "as stored";
    if (palette)
        gray = palette_is_gray(png) ? "gray palette" : "Rec. 601 luma of the palette's colours";
    else if (png->color & GFI_PNG_RGB)
        gray = "Rec. 601 luma of R, G, B";
    else if (png->bits < 8)
        gray = "scaled from the stored bits to 0 ... 255";
    gfi_set_samples(info, png->bits, palette ? 3 : png->channels,
                    png->bits == 16 ? GF_PIXEL_U16 : GF_PIXEL_U8, gray);
    if (!palette && png->color & GFI_PNG_ALPHA) gfi_notice(info, "alpha is ignored");
    if (png->transparency) gfi_notice(info, "transparency (tRNS) is ignored");
    if (png->animated) gfi_notice(info, "animation: only the first picture is read");
    if (png->profile) gfi_notice(info, "the colour profile is not applied");
    if (png->exif || png->text) gfi_notice(info, "metadata is dropped");
}

#if !defined HAVE_PNG && defined HAVE_STB

/* What stb is given: header and compressed rows only, so that it neither makes alpha from tRNS nor
 * looks up palettes, which it does past their end. A palette's indices come as gray values. */
static gf_status reduce(const gfi_source *source, const gfi_png *png, gfi_buffer *out)
{
    chunk c = { .length = IHDR_BYTES, .at = SIGNATURE_BYTES };
    bool ok = gfi_buffer_append(out, source->bytes, SIGNATURE_BYTES + CHUNK_OVERHEAD + IHDR_BYTES);
    if (ok && png->color == GFI_PNG_PALETTE)
        out->data[png->ihdr - source->bytes + 9] = GFI_PNG_GRAY; /* stb does not look at CRCs */
    while (ok && c.type != IEND) {
        GFI_TRY(read_chunk(source, c.at + CHUNK_OVERHEAD + c.length, &c));
        if (c.type == IDAT || c.type == IEND)
            ok = gfi_buffer_append(out, source->bytes + c.at, CHUNK_OVERHEAD + (size_t)c.length);
    }
    return ok ? GF_OK : GF_ERROR_NO_MEMORY;
}

/* stb spread indices of less than 8 bits over 0 ... 255 as if they were gray. */
static gf_status map_palette(const gfi_png *png, const gf_view *view)
{
    unsigned white = (1u << png->bits) - 1;
    for (int32_t y = 0; y < view->height; y++) {
        uint8_t *row = gfi_row(view, y);
        for (int32_t x = 0; x < view->width; x++) row[x] = (uint8_t)(row[x] * white / 255);
        if (!gfi_png_map_row(png, row, row, (size_t)view->width))
            return gfi_fail(GF_ERROR_FORMAT,
                            "a pixel's palette index is past the end of the palette");
    }
    return GF_OK;
}

static gf_status decode(const gfi_source *source, const gfi_png *png, gf_file_info *info,
                        gf_image **out)
{
    gfi_buffer file = { 0 };
    gf_status status = reduce(source, png, &file);
    gfi_source reduced = { file.data, file.size, source->max_pixels };
    if (status == GF_OK) status = gfi_stb_load(&reduced, info, out);
    gfi_free(file.data);
    if (status != GF_OK || png->color != GFI_PNG_PALETTE) return status;
    gf_view view = gf_image_view(*out);
    return map_palette(png, &view);
}

#else

static gf_status decode(const gfi_source *source, const gfi_png *png, gf_file_info *info,
                        gf_image **out)
{
#ifdef HAVE_PNG
    GFI_TRY(gfi_image_create_host(info->width, info->height, info->pixel, out));
    gf_view view = gf_image_view(*out);
    return gfi_libpng_decode(source, png, info, &view);
#else
    (void)source, (void)png, (void)info, (void)out;
    return GF_ERROR_INTERNAL; /* never called: can_load is 0 */
#endif
}

#endif

static gf_status load(const gfi_source *source, gf_file_info *info, gf_image **out)
{
    gfi_png png = { 0 };
    GFI_TRY(walk(source, &png, info));
    describe(&png, info);
    fill_gray_table(&png);
    return decode(source, &png, info, out);
}

#if defined HAVE_PNG
#define READS "reads every PNG with libpng"
#elif defined HAVE_STB
#define READS "reads PNG with stb"
#else
#define READS "does not read"
#endif

#if defined HAVE_DEFLATE
#define WRITES "writes gray of 8 and 16 bits with libdeflate"
#define ENCODE(view, out) gfi_deflate_encode(view, out)
#define PIXELS (GFI_CAN(GF_PIXEL_U8) | GFI_CAN(GF_PIXEL_U16))
#elif defined HAVE_PNG
#define WRITES "writes gray of 8 and 16 bits with libpng"
#define ENCODE(view, out) gfi_libpng_encode(view, out)
#define PIXELS (GFI_CAN(GF_PIXEL_U8) | GFI_CAN(GF_PIXEL_U16))
#elif defined HAVE_STB
#define WRITES "writes gray of 8 bits with stb"
#define ENCODE(view, out) gfi_stb_save(GFI_STB_PNG, view, out)
#define PIXELS GFI_CAN(GF_PIXEL_U8)
#else
#define WRITES "does not write"
#define ENCODE(view, out) ((void)(view), (void)(out), GF_ERROR_INTERNAL)
#define PIXELS 0
#endif

static gf_status save(const gf_view *view, const gf_save_params *params, gfi_buffer *out)
{
    (void)params;
    return ENCODE(view, out);
}

const gfi_codec gfi_codec_png = {
    .info = { .name = "png",
              .extensions = "png",
#if defined HAVE_PNG || defined HAVE_STB
              .can_load = 1,
#endif
              .can_save = PIXELS != 0,
              .summary = READS "; " WRITES },
    .title = "PNG",
    .option = "png or stb",
    .pixels = PIXELS,
    .sniff = sniff,
    .load = load,
    .save = save,
};
