/* What correlate and convolve share: a kernel of the user's. */
#ifndef GFI_KERNEL_H
#define GFI_KERNEL_H

#include "filters/window.h"

typedef struct gfi_kernel_params {
    gfi_taps *kernel;
    double scale, offset;
    int anchor, anchor_x, anchor_y, mode, method, border;
    double border_value;
} gfi_kernel_params;

enum { GFI_KERNEL_N_PARAMS = 10 };
extern const gf_param gfi_kernel_param_table[GFI_KERNEL_N_PARAMS];
extern const char *const gfi_kernel_cases[];

gf_status gfi_kernel_validate(const void *params);
gf_status gfi_kernel_out_size(const void *params, const gf_image_desc *in, int32_t *width,
                              int32_t *height);
/* flip: convolution. */
gf_status gfi_kernel_window(const gfi_kernel_params *params, bool flip, gfi_window **out);

#endif
