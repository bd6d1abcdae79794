#include "io/scan.h"

static void skip_line(gfi_scan *scan)
{
    while (scan->at < scan->end && *scan->at != '\n' && *scan->at != '\r') scan->at++;
}

void gfi_scan_skip(gfi_scan *scan)
{
    while (scan->at < scan->end && (gfi_scan_is_space(*scan->at) || *scan->at == '#')) {
        if (*scan->at == '#')
            skip_line(scan);
        else
            scan->at++;
    }
}

gf_status gfi_scan_number(gfi_scan *scan, const char *what, uint32_t max, uint32_t *out)
{
    gfi_scan_skip(scan);
    if (scan->at == scan->end)
        return gfi_fail(GF_ERROR_FORMAT, "truncated: the file ends where %s should be", what);
    uint64_t value = 0;
    const uint8_t *first = scan->at;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
        value = value * 10 + (uint64_t)(*scan->at++ - '0');
        if (value > max) return gfi_fail(GF_ERROR_FORMAT, "%s is above %u", what, (unsigned)max);
    }
    if (scan->at == first)
        return gfi_fail(GF_ERROR_FORMAT, "byte 0x%02x stands where %s should be", *first, what);
    *out = (uint32_t)value;
    return GF_OK;
}

gf_status gfi_scan_raster(gfi_scan *scan, size_t n)
{
    if (scan->at < scan->end && *scan->at == '#') skip_line(scan);
    if (scan->at == scan->end)
        return gfi_fail(GF_ERROR_FORMAT, "truncated: the file ends after its header");
    if (!gfi_scan_is_space(*scan->at))
        return gfi_fail(GF_ERROR_FORMAT, "byte 0x%02x follows the header instead of white space",
                        *scan->at);
    bool cr = *scan->at++ == '\r';
    /* a newline after CR is a pixel only when the pixels would otherwise not be all there */
    if (cr && (size_t)(scan->end - scan->at) > n && *scan->at == '\n') scan->at++;
    if ((size_t)(scan->end - scan->at) < n)
        return gfi_fail(GF_ERROR_FORMAT,
                        "truncated: %zu bytes of pixels where the size asks for %zu",
                        (size_t)(scan->end - scan->at), n);
    return GF_OK;
}

void gfi_scan_rest(const gfi_scan *scan, gf_file_info *info)
{
    if (scan->at < scan->end)
        gfi_notice(info, "%zu bytes after the image are ignored", (size_t)(scan->end - scan->at));
}
