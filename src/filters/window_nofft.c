/* Stands in for window_fft.c in a build without kissfft. */
#include "filters/window.h"

#include <stdio.h>

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    (void)request;
    snprintf(why, GFI_WHY_BYTES, "built without kissfft");
    return false;
}

const gf_impl gfi_window_fft = { .name = "fft", .backend = GF_BACKEND_CPU, .usable = usable };
