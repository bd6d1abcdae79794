/* Images and views. A view borrows pixels, an image owns them. */
#ifndef GPUFILTER_IMAGE_H
#define GPUFILTER_IMAGE_H

#include <gpufilter/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Size and pixel type. Width and height in pixels, 1 … 2^31-1. */
typedef struct gf_image_desc {
    int32_t width, height;
    gf_pixel pixel;
} gf_image_desc;

/* A rectangle of pixels that someone else owns.
 *
 * Row y begins at (char *)data + y * pitch_bytes. The pitch is at least width times the pixel's
 * bytes; it need not be a multiple of anything but the pixel's alignment. data may point at host
 * memory or at CUDA device memory (from this library, CuPy, PyTorch, cudaMalloc, …). */
typedef struct gf_view {
    void *data;
    int32_t width, height;
    size_t pitch_bytes;
    gf_pixel pixel;
    gf_memory memory;
} gf_view;

/* Create an image with undefined pixels.
 *
 * context may be NULL for host memory. Host rows are 64-byte aligned. *out belongs to the caller.
 * Returns OK, INVALID, RANGE (a size < 1 or too large for memory to be addressed), NO_MEMORY,
 * DEVICE_MEMORY, DEVICE, UNSUPPORTED (CUDA memory in a build without CUDA). */
GF_API gf_status gf_image_create(gf_context *context, const gf_image_desc *desc, gf_memory memory,
                                 gf_image **out);

/* Destroy an image and set *image to NULL. NULL and a pointer to NULL are allowed. */
GF_API void gf_image_destroy(gf_image **image);

/* Return a view of the whole image; valid while the image lives. */
GF_API gf_view gf_image_view(const gf_image *image);

/* Copy pixels between views of equal size and pixel type, host or device in any combination.
 * context may be NULL when both are host memory. Complete on return.
 * Returns OK, INVALID (sizes or types differ), DEVICE. */
GF_API gf_status gf_view_copy(gf_context *context, const gf_view *src, const gf_view *dst);

#ifdef __cplusplus
}
#endif
#endif
