/* Checks of views that every layer needs. */
#ifndef GFI_CORE_IMAGE_H
#define GFI_CORE_IMAGE_H

#include <stdbool.h>

#include <gpufilter/image.h>

#include "core/status.h"

/* INVALID with a message when a view cannot be used; name is "src" or "dst". */
gf_status gfi_view_check(const gf_view *view, const char *name);

/* RANGE when width or height is < 1 or the image cannot be addressed; INVALID for a bad type. */
gf_status gfi_desc_check(const gf_image_desc *desc);

/* Whether the byte ranges of two views in the same memory touch. */
bool gfi_views_overlap(const gf_view *a, const gf_view *b);

static inline void *gfi_row(const gf_view *view, int32_t y)
{
    return (char *)view->data + (size_t)y * view->pitch_bytes;
}

/* Bytes from row to row in images of our own: rows begin where cache lines (host) and memory
 * transactions (device) do. */
enum { GFI_HOST_PITCH_STEP = 64, GFI_DEVICE_PITCH_STEP = 256 };
static inline size_t gfi_pitch(int32_t width, gf_pixel pixel, size_t step)
{
    return ((size_t)width * gf_pixel_bytes(pixel) + step - 1) / step * step;
}

/* Create a host image whose pixels are all written by the caller. */
gf_status gfi_image_create_host(int32_t width, int32_t height, gf_pixel pixel, gf_image **out);

/* An image over memory that release(user, data) gives back. */
gf_status gfi_image_adopt(const gf_view *view, void (*release)(void *user, void *data), void *user,
                          gf_image **out);

#endif
