/* The compiled kernels, as the build embeds them. */
#ifndef GFI_CUDA_IMAGES_H
#define GFI_CUDA_IMAGES_H

typedef struct gfi_cuda_image {
    const char *name; /* the kernel file it came from */
    const void *data; /* a fatbin */
} gfi_cuda_image;

extern const gfi_cuda_image gfi_cuda_images[]; /* ends with a NULL name */
extern const char gfi_cuda_architectures[];    /* "sm_90 compute_75" */
extern const char
    gfi_cuda_toolkit_libraries[]; /* library folder of the toolkit it was built with */

#endif
