#include "filters/window.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"

const gf_impl *const gfi_window_impls[] = {
    &gfi_window_ref,         &gfi_window_direct,   &gfi_window_sep,      &gfi_window_fft,
    &gfi_window_cuda_direct, &gfi_window_cuda_sep, &gfi_window_cuda_fft, &gfi_window_cuda_any,
    NULL,
};
