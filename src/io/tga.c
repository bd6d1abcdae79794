/* TGA: header and data are checked here, then stb decodes.
 *
 * TGA has no magic number, so this codec is asked last and only takes a header whose every field
 * makes sense. stb gives zeros past the end of the file and colour 0 for an index past the palette,
 * and it does not read palettes that begin above 0 or rows from right to left: those are refused
 * (Truevision TGA file format specification 2.0). */
#include "io/config.h"
#include "io/codec.h"

#include "io/stb.h"

enum { HEADER = 18, PALETTE = 1, TRUE_COLOR = 2, GRAY = 3, RLE = 8 };

typedef struct tga {
    int kind; /* PALETTE, TRUE_COLOR or GRAY */
    bool rle;
    uint32_t first_entry, entries;
    int entry_bits, bits;
    uint32_t width, height;
    size_t palette, pixels; /* offsets in the file */
    uint8_t descriptor;
} tga;

static void read_header(const uint8_t *p, tga *t)
{
    *t = (tga){ .kind = p[2] & ~RLE,
                .rle = p[2] & RLE,
                .first_entry = gfi_le16(p + 3),
                .entries = gfi_le16(p + 5),
                .entry_bits = p[7],
                .width = gfi_le16(p + 12),
                .height = gfi_le16(p + 14),
                .bits = p[16],
                .descriptor = p[17] };
    t->palette = HEADER + (size_t)p[0];
    t->pixels = t->palette;
    if (p[1]) t->pixels += (size_t)t->entries * (((size_t)t->entry_bits + 7) / 8);
}

static bool colour_bits(int bits) { return bits == 15 || bits == 16 || bits == 24 || bits == 32; }

static bool sniff(const uint8_t *bytes, size_t n)
{
    if (n < HEADER || bytes[1] > 1) return false;
    tga t;
    read_header(bytes, &t);
    bool has_palette = bytes[1] == 1;
    if (t.width == 0 || t.height == 0 || (t.descriptor & 0xc0)) return false;
    if (!has_palette && (t.entries || t.first_entry || (t.entry_bits && t.entry_bits != 24)))
        return false;
    switch (t.kind) {
    case PALETTE:
        return has_palette && (t.bits == 8 || t.bits == 16) && t.entries > 0 &&
               (t.entry_bits == 8 || colour_bits(t.entry_bits));
    case TRUE_COLOR: return !has_palette && colour_bits(t.bits);
    case GRAY: return !has_palette && (t.bits == 8 || t.bits == 16);
    default: return false;
    }
}

#ifdef HAVE_STB

static gf_status check_index(const tga *t, const uint8_t *p)
{
    if (t->kind != PALETTE) return GF_OK;
    uint32_t index = t->bits == 8 ? *p : gfi_le16(p);
    if (index < t->entries) return GF_OK;
    return gfi_fail(GF_ERROR_FORMAT, "palette index %u is past the palette's %u entries",
                    (unsigned)index, (unsigned)t->entries);
}

/* Check n pixels that are stored one by one, and move behind them. */
static gf_status check_run(const gfi_source *source, const tga *t, size_t *at, size_t n)
{
    size_t bytes = ((size_t)t->bits + 7) / 8;
    GFI_TRY(gfi_need_bytes(source, *at + n * bytes));
    for (size_t i = 0; i < n && t->kind == PALETTE; i++)
        GFI_TRY(check_index(t, source->bytes + *at + i * bytes));
    *at += n * bytes;
    return GF_OK;
}

static gf_status check_pixels(const gfi_source *source, const tga *t)
{
    size_t at = t->pixels, left = (size_t)t->width * t->height;
    if (!t->rle) return check_run(source, t, &at, left);
    /* a packet of up to 128 pixels takes at least a command and one pixel */
    GFI_TRY(gfi_need_bytes(source, at + (left + 127) / 128 * 2));
    while (left > 0) {
        GFI_TRY(gfi_need_bytes(source, at + 1));
        uint8_t command = source->bytes[at++];
        size_t run = (command & 127u) + 1;
        GFI_TRY(check_run(source, t, &at, command & 128 ? 1 : run));
        left -= run < left ? run : left;
    }
    return GF_OK;
}

static bool palette_is_gray(const gfi_source *source, const tga *t)
{
    if (t->entry_bits == 8) return true;
    size_t bytes = (size_t)t->entry_bits / 8;
    for (size_t i = 0; i < t->entries && bytes >= 3; i++) {
        const uint8_t *p = source->bytes + t->palette + i * bytes;
        if (p[0] != p[1] || p[1] != p[2]) return false;
    }
    return bytes >= 3;
}

static void describe(const gfi_source *source, const tga *t, gf_file_info *info)
{
    int bits = t->kind == PALETTE ? t->entry_bits : t->bits;
    bool alpha = bits == 32 || (t->kind == GRAY && bits == 16);
    int channels = (t->kind == GRAY || bits == 8 ? 1 : 3) + alpha;
    const char *gray = "Rec. 601 luma of R, G, B";
    if (t->kind == GRAY) gray = "as stored";
    if (t->kind == PALETTE)
        gray =
            palette_is_gray(source, t) ? "gray palette" : "Rec. 601 luma of the palette's colours";
    gfi_set_samples(info, channels >= 3 && bits <= 16 ? 5 : 8, channels, GF_PIXEL_U8, gray);
    if (alpha) gfi_notice(info, "alpha is ignored");
}

static gf_status load(const gfi_source *source, gf_file_info *info, gf_image **out)
{
    tga t;
    read_header(source->bytes, &t);
    GFI_TRY(gfi_set_size(source, info, t.width, t.height));
    if (t.descriptor & 0x10)
        return gfi_fail(GF_ERROR_UNSUPPORTED, "rows from right to left are not read");
    if (t.kind == PALETTE && t.first_entry)
        return gfi_fail(GF_ERROR_UNSUPPORTED, "palette that begins at index %u, not 0",
                        (unsigned)t.first_entry);
    GFI_TRY(gfi_need_bytes(source, t.pixels));
    GFI_TRY(check_pixels(source, &t));
    describe(source, &t, info);
    return gfi_stb_load(source, info, out);
}

static gf_status save(const gf_view *view, const gf_save_params *params, gfi_buffer *out)
{
    (void)params;
    if (view->width > UINT16_MAX || view->height > UINT16_MAX)
        return gfi_fail(GF_ERROR_RANGE, "size %dx%d: a side is above 65535", (int)view->width,
                        (int)view->height);
    return gfi_stb_save(GFI_STB_TGA, view, out);
}

#endif

const gfi_codec gfi_codec_tga = {
#ifdef HAVE_STB
    .info = { .name = "tga",
              .extensions = "tga",
              .can_load = 1,
              .can_save = 1,
              .summary = "reads TGA, also run-length compressed, writes it so, both with stb" },
    .pixels = GFI_CAN(GF_PIXEL_U8),
    .load = load,
    .save = save,
#else
    .info = { .name = "tga", .extensions = "tga", .summary = "not in this build" },
#endif
    .title = "TGA",
    .option = "stb",
    .sniff = sniff,
};
