#include "io/codec.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

gf_status gfi_set_size(const gfi_source *source, gf_file_info *info, uint64_t width,
                       uint64_t height)
{
    if (width < 1 || height < 1 || width > INT32_MAX || height > INT32_MAX)
        return gfi_fail(GF_ERROR_FORMAT,
                        "size %" PRIu64 "x%" PRIu64 " has a side that is not 1 … 2147483647", width,
                        height);
    if (width * height > source->max_pixels)
        return gfi_fail(GF_ERROR_RANGE,
                        "size %" PRIu64 "x%" PRIu64 " is %" PRIu64
                        " pixels, over the limit of %" PRIu64 "; --max-pixels raises it",
                        width, height, width * height, source->max_pixels);
    info->width = (int32_t)width;
    info->height = (int32_t)height;
    return GF_OK;
}

gf_status gfi_need_bytes(const gfi_source *source, uint64_t n)
{
    if (n <= source->n) return GF_OK;
    return gfi_fail(GF_ERROR_FORMAT, "truncated: %zu bytes where the header asks for %" PRIu64,
                    source->n, n);
}

void gfi_set_samples(gf_file_info *info, int bit_depth, int channels, gf_pixel pixel,
                     const char *gray)
{
    info->bit_depth = bit_depth;
    info->channels = channels;
    info->pixel = pixel;
    info->maxval = pixel == GF_PIXEL_U8 ? 255 : pixel == GF_PIXEL_U16 ? 65535 : 0;
    snprintf(info->gray, sizeof info->gray, "%s", gray);
}

void gfi_notice(gf_file_info *info, const char *fmt, ...)
{
    size_t used = strlen(info->notice);
    if (used) used += (size_t)snprintf(info->notice + used, sizeof info->notice - used, "; ");
    if (used >= sizeof info->notice) return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(info->notice + used, sizeof info->notice - used, fmt, args);
    va_end(args);
}
