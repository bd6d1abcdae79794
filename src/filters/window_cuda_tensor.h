/* What the kernels on tensor cores for u8 images share: window_cuda_tensor.c. */
#ifndef GFI_WINDOW_CUDA_TENSOR_H
#define GFI_WINDOW_CUDA_TENSOR_H

#include "filters/window_cuda.h"

/* How a window is laid over groups of results. */
typedef struct gfi_tensor_shape {
    int lead, rise; /* columns and rows from a tile's first pixel to the first result */
    int s;          /* eights of columns that eight results need; at least 2 */
    bool fast;      /* the u8 kernel */
    bool symmetric; /* the columns' taps are the same upwards and downwards */
} gfi_tensor_shape;

/* The shape for a request whose window is one term. */
gfi_tensor_shape gfi_tensor_shape_of(const gfi_request *request);

/* Window's sum = kernel's sum * factor, unless the shape is fast. */
double gfi_tensor_factor(const gfi_request *request, const gfi_tensor_shape *shape);

/* Fill in the arguments but for the images, with weights in new device memory; and their bytes. */
gf_status gfi_tensor_args(const gfi_request *request, const gfi_tensor_shape *shape,
                          gf_tensor_args *args, void **weights);
size_t gfi_tensor_weights_bytes(const gfi_tensor_shape *shape);

#endif
