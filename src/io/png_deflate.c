/* PNG writer: rows filtered by us, compressed as a whole by libdeflate.
 *
 * Each row takes the filter whose differences have the smallest sum of absolute values (the
 * heuristic that the PNG specification recommends, section 12.7). All candidates come from stored
 * pixels, so their loops have no carried dependency and run as vectors. */
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/image.h"
#include "io/png_file.h"

enum { LEVEL = 1, MAX_CHUNK = 0x7fffffff };
enum { SUB = 1, UP = 2, AVERAGE = 3, PAETH = 4, FILTERS = 5 };

/* One row and the row above as bytes, each with bpp zero bytes in front of it. */
typedef struct rows {
    uint8_t *current, *above;
    uint8_t *candidate[FILTERS];
    size_t bytes, bpp;
} rows;

static uint8_t paeth(int left, int up, int corner)
{
    int a = abs(up - corner), b = abs(left - corner), c = abs(left + up - 2 * corner);
    int nearest = b <= c ? up : corner;
    return (uint8_t)(a <= b && a <= c ? left : nearest);
}

static void filter(const rows *r, int kind, uint8_t *restrict dst)
{
    const uint8_t *x = r->current, *left = x - r->bpp, *up = r->above, *corner = up - r->bpp;
    size_t n = r->bytes;
    switch (kind) {
    case SUB:
        for (size_t i = 0; i < n; i++) dst[i] = (uint8_t)(x[i] - left[i]);
        break;
    case UP:
        for (size_t i = 0; i < n; i++) dst[i] = (uint8_t)(x[i] - up[i]);
        break;
    case AVERAGE:
        for (size_t i = 0; i < n; i++) dst[i] = (uint8_t)(x[i] - ((left[i] + up[i]) >> 1));
        break;
    case PAETH:
        for (size_t i = 0; i < n; i++) dst[i] = (uint8_t)(x[i] - paeth(left[i], up[i], corner[i]));
        break;
    default: memcpy(dst, x, n);
    }
}

/* Sum of the bytes taken as signed differences; blocks keep the inner sum in 32 bits. */
static uint64_t cost(const uint8_t *p, size_t n)
{
    enum { BLOCK = 1 << 16 };
    uint64_t all = 0;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;
        uint32_t sum = 0;
        for (size_t j = 0; j < m; j++) {
            uint8_t v = p[i + j], negated = (uint8_t)-v;
            sum += v < negated ? v : negated;
        }
        all += sum;
    }
    return all;
}

/* Write the filter's number and the filtered row. */
static void filter_best(const rows *r, uint8_t *dst)
{
    int best = 0;
    uint64_t least = UINT64_MAX;
    for (int kind = 0; kind < FILTERS; kind++) {
        filter(r, kind, r->candidate[kind]);
        uint64_t sum = cost(r->candidate[kind], r->bytes);
        if (sum < least) {
            least = sum;
            best = kind;
        }
    }
    dst[0] = (uint8_t)best;
    memcpy(dst + 1, r->candidate[best], r->bytes);
}

static void filter_image(const gf_view *view, rows *r, uint8_t *dst)
{
    for (int32_t y = 0; y < view->height; y++, dst += r->bytes + 1) {
        if (view->pixel == GF_PIXEL_U16)
            gfi_put_be16_row(r->current, gfi_row(view, y), (size_t)view->width);
        else
            memcpy(r->current, gfi_row(view, y), r->bytes);
        filter_best(r, dst);
        uint8_t *swap = r->above;
        r->above = r->current;
        r->current = swap;
    }
}

/* The rows as PNG compresses them; *n is their size. NULL with the error recorded. */
static uint8_t *make_filtered(const gf_view *view, size_t *n)
{
    enum { FRONT = 64 };
    rows r = { .bpp = gf_pixel_bytes(view->pixel) };
    r.bytes = (size_t)view->width * r.bpp;
    size_t stride = r.bytes + FRONT;
    if (!gfi_mul(r.bytes + 1, (size_t)view->height, n)) *n = SIZE_MAX;
    uint8_t *filtered = gfi_alloc(*n, 1, "PNG rows");
    uint8_t *work = filtered ? gfi_alloc_zero(2 + FILTERS, stride, "PNG rows") : NULL;
    if (!work) {
        gfi_free(filtered);
        return NULL;
    }
    r.current = work + FRONT;
    r.above = work + stride + FRONT;
    for (int i = 0; i < FILTERS; i++) r.candidate[i] = work + (size_t)(2 + i) * stride;
    filter_image(view, &r, filtered);
    gfi_free(work);
    return filtered;
}

static gf_status compress(const uint8_t *bytes, size_t n, gfi_buffer *zlib)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
    if (!c) return gfi_fail(GF_ERROR_NO_MEMORY, "libdeflate: no memory");
    size_t bound = libdeflate_zlib_compress_bound(c, n);
    gf_status status = GF_ERROR_NO_MEMORY;
    if (gfi_buffer_reserve(zlib, bound)) {
        zlib->size = libdeflate_zlib_compress(c, bytes, n, zlib->data, bound);
        status =
            zlib->size ? GF_OK : gfi_fail(GF_ERROR_INTERNAL, "libdeflate: bound was too small");
    }
    libdeflate_free_compressor(c);
    return status;
}

static bool put_chunk(gfi_buffer *out, const char *type, const uint8_t *data, size_t n)
{
    uint8_t *p = gfi_buffer_reserve(out, n + 12);
    if (!p) return false;
    gfi_put_be32(p, (uint32_t)n);
    memcpy(p + 4, type, 4);
    if (n) memcpy(p + 8, data, n);
    gfi_put_be32(p + 8 + n, gfi_crc32(0, p + 4, n + 4));
    out->size += n + 12;
    return true;
}

static bool put_file(const gf_view *view, const gfi_buffer *zlib, gfi_buffer *out)
{
    uint8_t ihdr[13] = { 0 };
    gfi_put_be32(ihdr, (uint32_t)view->width);
    gfi_put_be32(ihdr + 4, (uint32_t)view->height);
    ihdr[8] = (uint8_t)(8 * gf_pixel_bytes(view->pixel));
    bool ok = gfi_buffer_append(out, GFI_PNG_SIGNATURE, 8) && put_chunk(out, "IHDR", ihdr, 13);
    for (size_t at = 0; ok && at < zlib->size; at += MAX_CHUNK) {
        size_t n = zlib->size - at < MAX_CHUNK ? zlib->size - at : MAX_CHUNK;
        ok = put_chunk(out, "IDAT", zlib->data + at, n);
    }
    return ok && put_chunk(out, "IEND", NULL, 0);
}

gf_status gfi_deflate_encode(const gf_view *view, gfi_buffer *out)
{
    size_t n;
    uint8_t *filtered = make_filtered(view, &n);
    if (!filtered) return GF_ERROR_NO_MEMORY;
    gfi_buffer zlib = { 0 };
    gf_status status = compress(filtered, n, &zlib);
    gfi_free(filtered);
    /* one allocation for all chunks: what they add to the compressed bytes is far below 1/64 */
    if (status == GF_OK && !gfi_buffer_reserve(out, zlib.size + zlib.size / 64 + 256))
        status = GF_ERROR_NO_MEMORY;
    if (status == GF_OK && !put_file(view, &zlib, out)) status = GF_ERROR_NO_MEMORY;
    gfi_free(zlib.data);
    return status;
}
