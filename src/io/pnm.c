/* PGM, and its kin PBM and PPM for reading (netpbm's pgm(5), pbm(5), ppm(5)).
 *
 * Values are kept as stored for any maxval 1 … 65535; a notice says so where maxval is not the
 * pixel type's white level. A bitmap's white is 255, its black 0. */
#include "io/codec.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/image.h"
#include "io/gray.h"
#include "io/scan.h"

typedef struct pnm {
    bool plain, bitmap;
    int channels;
    uint32_t maxval;
    size_t width, height;
} pnm;

static bool sniff(const uint8_t *bytes, size_t n)
{
    return n >= 3 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6' &&
           (gfi_scan_is_space(bytes[2]) || bytes[2] == '#');
}

static int bits_of(uint32_t maxval)
{
    int bits = 0;
    for (; maxval; maxval >>= 1) bits++;
    return bits;
}

static void describe(const pnm *p, gf_file_info *info)
{
    gf_pixel pixel = p->maxval <= 255 ? GF_PIXEL_U8 : GF_PIXEL_U16;
    gfi_set_samples(info, p->bitmap ? 1 : bits_of(p->maxval), p->channels, pixel,
                    p->bitmap          ? "a bitmap: white is 255, black is 0"
                    : p->channels == 1 ? "as stored"
                                       : "Rec. 601 luma of R, G, B");
    if (p->maxval != info->maxval)
        gfi_notice(info, "maxval is %u: values are kept as stored, not scaled to %u",
                   (unsigned)p->maxval, (unsigned)info->maxval);
    info->maxval = p->maxval;
}

static gf_status read_header(const gfi_source *source, gfi_scan *scan, pnm *p, gf_file_info *info)
{
    char kind = (char)source->bytes[1];
    *p = (pnm){ .plain = kind <= '3',
                .bitmap = kind == '1' || kind == '4',
                .channels = kind == '3' || kind == '6' ? 3 : 1,
                .maxval = 255 };
    uint32_t width, height;
    GFI_TRY(gfi_scan_number(scan, "the width", INT32_MAX, &width));
    GFI_TRY(gfi_scan_number(scan, "the height", INT32_MAX, &height));
    GFI_TRY(gfi_set_size(source, info, width, height));
    if (!p->bitmap) GFI_TRY(gfi_scan_number(scan, "maxval", 65535, &p->maxval));
    if (p->maxval == 0) return gfi_fail(GF_ERROR_FORMAT, "maxval is 0, not 1 … 65535");
    p->width = width;
    p->height = height;
    describe(p, info);
    return GF_OK;
}

/* Bytes that the pixels take at least. */
static size_t raster_bytes(const pnm *p)
{
    size_t samples = p->width * p->height * (size_t)p->channels;
    if (p->plain) return p->bitmap ? samples : samples * 2 - 1;
    if (p->bitmap) return (p->width + 7) / 8 * p->height;
    return samples * (p->maxval > 255 ? 2 : 1);
}

static gf_status fail_value(const pnm *p, size_t y, uint32_t value)
{
    return gfi_fail(GF_ERROR_FORMAT, "row %zu holds the value %u, which is above maxval %u", y,
                    (unsigned)value, (unsigned)p->maxval);
}

/* Check n samples of a binary row against maxval; the maximum is found without branches. */
static gf_status check_row(const pnm *p, size_t y, const uint8_t *src, size_t n)
{
    uint32_t most = 0;
    if (p->maxval == 255 || p->maxval == 65535) return GF_OK;
    if (p->maxval < 255) {
        for (size_t i = 0; i < n; i++) most = src[i] > most ? src[i] : most;
    } else {
        for (size_t i = 0; i < n; i++) {
            uint32_t v = gfi_be16(src + 2 * i);
            most = v > most ? v : most;
        }
    }
    return most > p->maxval ? fail_value(p, y, most) : GF_OK;
}

static gf_status read_binary(const pnm *p, gfi_scan *scan, const gf_view *view)
{
    size_t samples = p->width * (size_t)p->channels;
    for (size_t y = 0; y < p->height; y++) {
        uint8_t *dst = gfi_row(view, (int32_t)y);
        const uint8_t *src = scan->at;
        if (p->bitmap) {
            for (size_t x = 0; x < p->width; x++) dst[x] = src[x / 8] >> (7 - x % 8) & 1 ? 0 : 255;
            scan->at += (p->width + 7) / 8;
            continue;
        }
        GFI_TRY(check_row(p, y, src, samples));
        if (view->pixel == GF_PIXEL_U8) {
            gfi_gray_row_u8(dst, src, p->channels, p->width);
            scan->at += samples;
        } else {
            gfi_gray_row_be16(gfi_row(view, (int32_t)y), src, p->channels, p->width);
            scan->at += samples * 2;
        }
    }
    return GF_OK;
}

static gf_status read_plain_sample(const pnm *p, gfi_scan *scan, size_t y, uint32_t *value)
{
    if (!p->bitmap) {
        GFI_TRY(gfi_scan_number(scan, "a pixel", UINT32_MAX, value));
        return *value > p->maxval ? fail_value(p, y, *value) : GF_OK;
    }
    /* digits of a plain bitmap need no space between them */
    gfi_scan_skip(scan);
    if (scan->at == scan->end)
        return gfi_fail(GF_ERROR_FORMAT, "truncated: the file ends where a pixel should be");
    if (*scan->at != '0' && *scan->at != '1')
        return gfi_fail(GF_ERROR_FORMAT, "byte 0x%02x stands where 0 or 1 should be", *scan->at);
    *value = *scan->at++ == '0' ? 255 : 0;
    return GF_OK;
}

static gf_status read_plain(const pnm *p, gfi_scan *scan, const gf_view *view)
{
    for (size_t y = 0; y < p->height; y++) {
        void *dst = gfi_row(view, (int32_t)y);
        for (size_t x = 0; x < p->width; x++) {
            uint32_t s[3];
            for (int c = 0; c < p->channels; c++) GFI_TRY(read_plain_sample(p, scan, y, &s[c]));
            uint32_t v = p->channels == 1 ? s[0] : gfi_luma(s[0], s[1], s[2]);
            if (view->pixel == GF_PIXEL_U8)
                ((uint8_t *)dst)[x] = (uint8_t)v;
            else
                ((uint16_t *)dst)[x] = (uint16_t)v;
        }
    }
    return GF_OK;
}

static void release_file(void *user, void *data)
{
    (void)data; /* inside the file */
    gfi_free(user);
}

/* Whether the file's bytes are the image's. */
static bool is_stored_as_is(const pnm *p)
{
    return !p->plain && !p->bitmap && p->channels == 1 && p->maxval <= 255;
}

/* An image of the file's own bytes: copying them would take longer than reading the file. */
static gf_status adopt_file(const gfi_source *source, const pnm *p, gfi_scan *scan, gf_image **out)
{
    const gf_view view = { .data = *source->owner + (scan->at - source->bytes),
                           .width = (int32_t)p->width,
                           .height = (int32_t)p->height,
                           .pitch_bytes = p->width,
                           .pixel = GF_PIXEL_U8,
                           .memory = GF_MEMORY_HOST };
    for (size_t y = 0; y < p->height; y++, scan->at += p->width)
        GFI_TRY(check_row(p, y, scan->at, p->width));
    GFI_TRY(gfi_image_adopt(&view, release_file, *source->owner, out));
    *source->owner = NULL;
    return GF_OK;
}

static gf_status load(const gfi_source *source, gf_file_info *info, gf_image **out)
{
    gfi_scan scan = { source->bytes + 2, source->bytes + source->n };
    pnm p;
    GFI_TRY(read_header(source, &scan, &p, info));
    GFI_TRY(gfi_scan_raster(&scan, raster_bytes(&p)));
    if (source->owner && is_stored_as_is(&p)) {
        GFI_TRY(adopt_file(source, &p, &scan, out));
        gfi_scan_rest(&scan, info);
        return GF_OK;
    }
    GFI_TRY(gfi_image_create_host(info->width, info->height, info->pixel, out));
    gf_view view = gf_image_view(*out);
    gf_status status = p.plain ? read_plain(&p, &scan, &view) : read_binary(&p, &scan, &view);
    if (p.plain) gfi_scan_skip(&scan);
    gfi_scan_rest(&scan, info);
    return status;
}

static gf_status save(const gf_view *view, const gf_save_params *params, gfi_buffer *out)
{
    (void)params;
    bool wide = view->pixel == GF_PIXEL_U16;
    char header[64];
    int n = snprintf(header, sizeof header, "P5\n%d %d\n%d\n", (int)view->width, (int)view->height,
                     wide ? 65535 : 255);
    size_t row = (size_t)view->width * (wide ? 2 : 1), all;
    if (!gfi_mul(row, (size_t)view->height, &all) || all > SIZE_MAX - sizeof header)
        return gfi_fail(GF_ERROR_RANGE, "size %dx%d cannot be addressed", (int)view->width,
                        (int)view->height);
    if (!wide && view->pitch_bytes == row) { /* as in the file */
        out->rest = view->data;
        out->n_rest = all;
        return gfi_buffer_append(out, header, (size_t)n) ? GF_OK : GF_ERROR_NO_MEMORY;
    }
    uint8_t *at = gfi_buffer_reserve(out, (size_t)n + all);
    if (!at) return GF_ERROR_NO_MEMORY;
    memcpy(at, header, (size_t)n);
    at += n;
    for (int32_t y = 0; y < view->height; y++, at += row) {
        if (wide)
            gfi_put_be16_row(at, gfi_row(view, y), (size_t)view->width);
        else
            memcpy(at, gfi_row(view, y), row);
    }
    out->size += (size_t)n + all;
    return GF_OK;
}

const gfi_codec gfi_codec_pgm = {
    .info = { .name = "pgm",
              .extensions = "pgm pnm",
              .can_load = 1,
              .can_save = 1,
              .summary =
                  "reads PGM, PPM and PBM, binary and plain, any maxval; writes binary PGM of "
                  "8 and 16 bits" },
    .title = "PGM",
    .pixels = GFI_CAN(GF_PIXEL_U8) | GFI_CAN(GF_PIXEL_U16),
    .sniff = sniff,
    .load = load,
    .save = save,
};
