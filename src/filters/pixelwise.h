/* Launching the kernels that walk over all pixels of an image (kernels/gf_pixelwise.cuh). */
#ifndef GFI_PIXELWISE_H
#define GFI_PIXELWISE_H

#include "filters/filter_def.h"

enum { GFI_PIXELWISE_THREADS = 256 };

/* Grid and block for an image whose widest pixel on the way has pixel_bytes: about blocks_per_sm
 * blocks a multiprocessor, fewer for small images. */
gfi_launch gfi_pixelwise_launch(const gfi_device_facts *facts, int32_t width, int32_t height,
                                size_t pixel_bytes, unsigned blocks_per_sm);

/* Time to move that many bytes of each pixel of the request's image, and to launch n_launches
 * kernels; facts may be NULL. */
double gfi_pixelwise_cost_ns(const gfi_request *request, size_t bytes_per_pixel, int n_launches);

#endif
