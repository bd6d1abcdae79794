#include "filters/point.h"

#include <stdio.h>

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    (void)request;
    snprintf(why, GFI_WHY_BYTES, "is not written yet");
    return false;
}

const gf_impl gfi_point_cuda = { .name = "cuda-point", .backend = GF_BACKEND_CUDA, .usable = usable };
