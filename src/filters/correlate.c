#include "filters/kernel.h"

static gf_status window(const void *params, const gf_image_desc *in, gfi_window **out)
{
    (void)in;
    return gfi_kernel_window(params, false, out);
}

const gf_filter_def gfi_filter_correlate = {
    .info = { .name = "correlate",
              .group = "kernel",
              .summary = "Weighted sum with your own kernel, as it is written.",
              .doc = "dst(x, y) = scale * sum_ij kernel[j][i] * src(x + i - anchor_x, y + j - "
                     "anchor_y) + offset. The anchor is the "
                     "kernel's tap (column, row), as written, that falls on the pixel: width / 2 "
                     "and height / 2 unless given, "
                     "as in scipy.ndimage.correlate, even sizes too. mode=valid and mode=full have "
                     "the sizes and alignment of "
                     "scipy.signal; full takes zeros outside whatever the border. Kernels of rank "
                     "1 are found and run as two "
                     "one-dimensional passes.",
              .source = "scipy.ndimage.correlate, scipy.signal.correlate.",
              .n_params = GFI_KERNEL_N_PARAMS },
    .params = gfi_kernel_param_table,
    .params_bytes = sizeof(gfi_kernel_params),
    .scope = GFI_SCOPE_WINDOW,
    .validate = gfi_kernel_validate,
    .out_size = gfi_kernel_out_size,
    .window = window,
    .cases = gfi_kernel_cases,
    .impls = gfi_window_impls,
};
