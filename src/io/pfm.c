/* PFM, floats in rows from the bottom to the top (Debevec's portable float map; netpbm's pfm(5)).
 *
 * The sign of the scale in the header tells the byte order: negative is little-endian. Its size is
 * not applied, a notice says so when it is not 1. NaN and infinity are kept bit for bit in gray
 * files. */
#include "io/codec.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/image.h"
#include "io/scan.h"

static bool sniff(const uint8_t *bytes, size_t n)
{
    return n >= 3 && bytes[0] == 'P' && (bytes[1] == 'f' || bytes[1] == 'F') &&
           (gfi_scan_is_space(bytes[2]) || bytes[2] == '#');
}

/* Power of ten from e or E and its digits on; 0 when there is none. */
static int read_exponent(const uint8_t **at, const uint8_t *end)
{
    if (*at == end || (**at != 'e' && **at != 'E')) return 0;
    const uint8_t *p = *at + 1;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int value = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (value < 1000) value = value * 10 + (*p - '0');
    *at = p;
    return negative ? -value : value;
}

/* By hand, because strtod() obeys the locale's decimal point. */
static gf_status read_scale(gfi_scan *scan, double *out)
{
    enum { MAX_DIGITS = 100 };
    gfi_scan_skip(scan);
    const uint8_t *at = scan->at, *end = scan->end;
    bool negative = at < end && *at == '-', point = false;
    if (at < end && (*at == '-' || *at == '+')) at++;
    double value = 0, unit = 1;
    int digits = 0;
    for (; at < end && digits <= MAX_DIGITS; at++) {
        if (*at == '.' && !point) {
            point = true;
        } else if (*at >= '0' && *at <= '9') {
            value = value * 10 + (*at - '0');
            if (point) unit *= 10;
            digits++;
        } else {
            break;
        }
    }
    int exponent = read_exponent(&at, end);
    value /= unit;
    for (; exponent > 0; exponent--) value *= 10;
    for (; exponent < 0; exponent++) value /= 10;
    if (digits == 0 || digits > MAX_DIGITS || !(value > 0 && value <= DBL_MAX))
        return gfi_fail(GF_ERROR_FORMAT, "the scale is not a finite number other than 0");
    scan->at = at;
    *out = negative ? -value : value;
    return GF_OK;
}

static float read_float(const uint8_t *p, bool little)
{
    uint32_t bits = little ? gfi_le32(p) : gfi_be32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void read_row(float *dst, const uint8_t *src, int channels, bool little, size_t n)
{
    if (channels == 1) {
        for (size_t i = 0; i < n; i++) {
            uint32_t bits = little ? gfi_le32(src + 4 * i) : gfi_be32(src + 4 * i);
            memcpy(dst + i, &bits, sizeof bits);
        }
        return;
    }
    for (size_t i = 0; i < n; i++, src += 12)
        dst[i] = (float)(0.299 * (double)read_float(src, little) +
                         0.587 * (double)read_float(src + 4, little) +
                         0.114 * (double)read_float(src + 8, little));
}

static gf_status load(const gfi_source *source, gf_file_info *info, gf_image **out)
{
    gfi_scan scan = { source->bytes + 2, source->bytes + source->n };
    int channels = source->bytes[1] == 'F' ? 3 : 1;
    uint32_t width, height;
    double scale = 0;
    GFI_TRY(gfi_scan_number(&scan, "the width", INT32_MAX, &width));
    GFI_TRY(gfi_scan_number(&scan, "the height", INT32_MAX, &height));
    GFI_TRY(gfi_set_size(source, info, width, height));
    GFI_TRY(read_scale(&scan, &scale));
    gfi_set_samples(info, 32, channels, GF_PIXEL_F32,
                    channels == 1 ? "as stored" : "Rec. 601 luma of R, G, B");
    if (scale != 1 && scale != -1) gfi_notice(info, "the scale of the header is not applied");
    size_t row, all;
    if (!gfi_mul((size_t)width, 4 * (size_t)channels, &row) || !gfi_mul(row, height, &all))
        return gfi_fail(GF_ERROR_FORMAT, "size %ux%u cannot be addressed", (unsigned)width,
                        (unsigned)height);
    GFI_TRY(gfi_scan_raster(&scan, all));
    GFI_TRY(gfi_image_create_host(info->width, info->height, GF_PIXEL_F32, out));
    gf_view view = gf_image_view(*out);
    for (int32_t y = view.height - 1; y >= 0; y--, scan.at += row)
        read_row(gfi_row(&view, y), scan.at, channels, scale < 0, width);
    gfi_scan_rest(&scan, info);
    return GF_OK;
}

static gf_status save(const gf_view *view, const gf_save_params *params, gfi_buffer *out)
{
    (void)params;
    char header[64];
    int n =
        snprintf(header, sizeof header, "Pf\n%d %d\n-1.0\n", (int)view->width, (int)view->height);
    size_t width = (size_t)view->width, all;
    if (!gfi_mul(width * 4, (size_t)view->height, &all) || all > SIZE_MAX - sizeof header)
        return gfi_fail(GF_ERROR_RANGE, "size %dx%d cannot be addressed", (int)view->width,
                        (int)view->height);
    uint8_t *at = gfi_buffer_reserve(out, (size_t)n + all);
    if (!at) return GF_ERROR_NO_MEMORY;
    memcpy(at, header, (size_t)n);
    at += n;
    for (int32_t y = view->height - 1; y >= 0; y--) {
        const uint8_t *src = gfi_row(view, y);
        for (size_t x = 0; x < width; x++, src += 4, at += 4) {
            uint32_t bits;
            memcpy(&bits, src, sizeof bits);
            gfi_put_le32(at, bits);
        }
    }
    out->size += (size_t)n + all;
    return GF_OK;
}

const gfi_codec gfi_codec_pfm = {
    .info = { .name = "pfm",
              .extensions = "pfm",
              .can_load = 1,
              .can_save = 1,
              .summary = "reads gray and colour floats of either byte order; writes gray floats" },
    .title = "PFM",
    .pixels = GFI_CAN(GF_PIXEL_F32),
    .sniff = sniff,
    .load = load,
    .save = save,
};
