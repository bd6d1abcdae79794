/* BMP of Windows and OS/2, uncompressed: 1 … 8 bits with a palette, 16 and 32 with masks, 24.
 *
 * The reader is ours: stb's takes the palette's length from the wrong place in OS/2 files, reads
 * the masks of 52- and 56-byte headers from the wrong place, gives zeros past the end of the file
 * and colours it never wrote for an index past the palette. Writing is stb's, as 24 bits.
 *
 * Colours of 5, 6 or 10 bits are scaled to 0 … 255, rounded to nearest, before they become gray. */
#include "io/config.h"
#include "io/codec.h"

#include <inttypes.h>

#include "core/image.h"
#include "io/gray.h"
#include "io/stb.h"

enum { FILE_HEADER = 14, CORE_HEADER = 12, INFO_HEADER = 40, OS2_HEADER = 64 };
enum { UNCOMPRESSED = 0, BITFIELDS = 3, NO_GRAY = 256 };

typedef struct bmp {
    uint32_t offset, header_bytes, compression, entries;
    uint64_t width, height, stride;
    int bits;
    bool top_down;
    uint32_t mask[4]; /* R, G, B, alpha */
    uint16_t gray[256];
    bool palette_is_gray;
} bmp;

static bool sniff(const uint8_t *bytes, size_t n)
{
    return n >= 2 && bytes[0] == 'B' && bytes[1] == 'M';
}

static bool header_is_known(uint32_t bytes)
{
    return bytes == CORE_HEADER || bytes == INFO_HEADER || bytes == 52 || bytes == 56 ||
           bytes == OS2_HEADER || bytes == 108 || bytes == 124;
}

static gf_status read_header(const gfi_source *source, bmp *b)
{
    const uint8_t *p = source->bytes;
    GFI_TRY(gfi_need_bytes(source, FILE_HEADER + CORE_HEADER));
    *b = (bmp){ .offset = gfi_le32(p + 10), .header_bytes = gfi_le32(p + 14) };
    if (!header_is_known(b->header_bytes))
        return gfi_fail(GF_ERROR_UNSUPPORTED,
                        "header of %" PRIu32 " bytes is not 12, 40, 52, 56, 64, 108 or 124",
                        b->header_bytes);
    GFI_TRY(gfi_need_bytes(source, FILE_HEADER + b->header_bytes));
    if (b->offset < FILE_HEADER + b->header_bytes)
        return gfi_fail(GF_ERROR_FORMAT, "pixels at byte %" PRIu32 " lie inside the header",
                        b->offset);
    if (b->header_bytes == CORE_HEADER) {
        b->width = gfi_le16(p + 18);
        b->height = gfi_le16(p + 20);
        b->bits = (int)gfi_le16(p + 24);
        return GF_OK;
    }
    uint32_t height = gfi_le32(p + 22);
    b->top_down = height >> 31;
    b->height = b->top_down ? (uint32_t)-height : height;
    b->width = gfi_le32(p + 18);
    b->bits = (int)gfi_le16(p + 28);
    b->compression = gfi_le32(p + 30);
    b->entries = gfi_le32(p + 46);
    return GF_OK;
}

static gf_status check_kind(const bmp *b)
{
    bool masks = b->compression == BITFIELDS && b->header_bytes != OS2_HEADER;
    if (b->compression == 1 || b->compression == 2)
        return gfi_fail(GF_ERROR_UNSUPPORTED, "run-length compression is not read");
    if (b->compression != UNCOMPRESSED && !masks)
        return gfi_fail(GF_ERROR_UNSUPPORTED, "compression %" PRIu32 " is not read",
                        b->compression);
    if (b->bits != 1 && b->bits != 2 && b->bits != 4 && b->bits != 8 && b->bits != 16 &&
        b->bits != 24 && b->bits != 32)
        return gfi_fail(GF_ERROR_FORMAT, "%d bits are not 1, 2, 4, 8, 16, 24 or 32", b->bits);
    if (masks && b->bits != 16 && b->bits != 32)
        return gfi_fail(GF_ERROR_FORMAT, "bit masks with %d bits, not 16 or 32", b->bits);
    return GF_OK;
}

static gf_status read_masks(const gfi_source *source, bmp *b)
{
    static const uint32_t by_default[2][3] = { { 0x7c00, 0x3e0, 0x1f },
                                               { 0xff0000, 0xff00, 0xff } };
    for (int i = 0; i < 3 && b->compression != BITFIELDS; i++)
        b->mask[i] = by_default[b->bits == 32][i];
    if (b->compression != BITFIELDS) return GF_OK;
    /* inside a longer header or behind that of 40 bytes: the same place in the file */
    const size_t at = FILE_HEADER + INFO_HEADER;
    int n = b->header_bytes >= 56 ? 4 : 3;
    GFI_TRY(gfi_need_bytes(source, at + 4 * (size_t)n));
    for (int i = 0; i < n; i++) {
        uint32_t mask = b->mask[i] = gfi_le32(source->bytes + at + 4 * (size_t)i);
        uint32_t run = mask ? mask / (mask & -mask) : 0;
        if ((run & (run + 1)) || (!mask && i < 3))
            return gfi_fail(GF_ERROR_FORMAT, "bit mask 0x%08" PRIx32 " is not one run of bits",
                            mask);
    }
    return GF_OK;
}

static gf_status read_palette(const gfi_source *source, bmp *b)
{
    size_t entry = b->header_bytes == CORE_HEADER ? 3 : 4, start = FILE_HEADER + b->header_bytes;
    uint32_t room = (uint32_t)((b->offset - start) / entry), most = 1u << b->bits;
    if (b->entries == 0 || b->entries > most) b->entries = most;
    if (b->entries > room) b->entries = room;
    GFI_TRY(gfi_need_bytes(source, start + b->entries * entry));
    b->palette_is_gray = true;
    for (uint32_t i = 0; i < 256; i++) {
        b->gray[i] = NO_GRAY;
        if (i >= b->entries) continue;
        const uint8_t *p = source->bytes + start + i * entry;
        b->gray[i] = (uint16_t)gfi_luma(p[2], p[1], p[0]);
        if (p[0] != p[1] || p[1] != p[2]) b->palette_is_gray = false;
    }
    return GF_OK;
}

static gf_status palette_row(const bmp *b, uint8_t *dst, const uint8_t *src)
{
    unsigned bits = (unsigned)b->bits, per_byte = 8 / bits, most = (1u << bits) - 1, all = 0;
    for (uint64_t x = 0; x < b->width; x++) {
        unsigned shift = 8 - bits * ((unsigned)(x % per_byte) + 1);
        unsigned gray = b->gray[(unsigned)src[x / per_byte] >> shift & most];
        all |= gray;
        dst[x] = (uint8_t)gray;
    }
    if (all & NO_GRAY)
        return gfi_fail(GF_ERROR_FORMAT,
                        "a pixel's palette index is past the palette's %" PRIu32 " entries",
                        b->entries);
    return GF_OK;
}

static uint32_t masked(uint32_t pixel, uint32_t mask)
{
    uint32_t low = mask & -mask, most = mask / low, value = (pixel & mask) / low;
    return (uint32_t)((value * UINT64_C(255) + most / 2) / most);
}

static void mask_row(const bmp *b, uint8_t *dst, const uint8_t *src)
{
    for (uint64_t x = 0; x < b->width; x++) {
        uint32_t v = b->bits == 16 ? gfi_le16(src + 2 * x) : gfi_le32(src + 4 * x);
        dst[x] =
            (uint8_t)gfi_luma(masked(v, b->mask[0]), masked(v, b->mask[1]), masked(v, b->mask[2]));
    }
}

static void bgr_row(const bmp *b, uint8_t *dst, const uint8_t *src)
{
    for (uint64_t x = 0; x < b->width; x++, src += 3)
        dst[x] = (uint8_t)gfi_luma(src[2], src[1], src[0]);
}

static gf_status read_rows(const gfi_source *source, const bmp *b, const gf_view *view)
{
    const uint8_t *src = source->bytes + b->offset;
    for (int32_t i = 0; i < view->height; i++, src += b->stride) {
        uint8_t *dst = gfi_row(view, b->top_down ? i : view->height - 1 - i);
        if (b->bits <= 8)
            GFI_TRY(palette_row(b, dst, src));
        else if (b->bits == 24)
            bgr_row(b, dst, src);
        else
            mask_row(b, dst, src);
    }
    return GF_OK;
}

static void describe(const bmp *b, gf_file_info *info)
{
    bool alpha = b->mask[3] != 0;
    const char *gray = "Rec. 601 luma of R, G, B";
    if (b->bits <= 8)
        gray = b->palette_is_gray ? "gray palette" : "Rec. 601 luma of the palette's colours";
    int bits = b->bits;
    if (bits >= 16) bits = bits == 16 ? 5 : 8;
    gfi_set_samples(info, bits, alpha ? 4 : 3, GF_PIXEL_U8, gray);
    if (alpha) gfi_notice(info, "alpha is ignored");
}

static gf_status load(const gfi_source *source, gf_file_info *info, gf_image **out)
{
    bmp b;
    GFI_TRY(read_header(source, &b));
    GFI_TRY(check_kind(&b));
    GFI_TRY(gfi_set_size(source, info, b.width, b.height));
    if (b.bits <= 8)
        GFI_TRY(read_palette(source, &b));
    else if (b.bits != 24)
        GFI_TRY(read_masks(source, &b));
    describe(&b, info);
    b.stride = (b.width * (uint64_t)b.bits + 31) / 32 * 4;
    /* the padding of the last row is often left out */
    uint64_t last = (b.width * (uint64_t)b.bits + 7) / 8;
    GFI_TRY(gfi_need_bytes(source, b.offset + b.stride * (b.height - 1) + last));
    GFI_TRY(gfi_image_create_host(info->width, info->height, GF_PIXEL_U8, out));
    gf_view view = gf_image_view(*out);
    return read_rows(source, &b, &view);
}

#ifdef HAVE_STB
static gf_status save(const gf_view *view, const gf_save_params *params, gfi_buffer *out)
{
    (void)params;
    return gfi_stb_save(GFI_STB_BMP, view, out);
}
#endif

const gfi_codec gfi_codec_bmp = {
    .info = { .name = "bmp",
              .extensions = "bmp dib",
              .can_load = 1,
#ifdef HAVE_STB
              .can_save = 1,
              .summary = "reads uncompressed BMP; writes gray as 24 bits with stb" },
    .pixels = GFI_CAN(GF_PIXEL_U8),
    .save = save,
#else
              .summary = "reads uncompressed BMP; does not write" },
#endif
    .title = "BMP",
    .option = "stb",
    .sniff = sniff,
    .load = load,
};
