/* A device view as kernels take it. */
#ifndef GFI_KIMAGE_H
#define GFI_KIMAGE_H

#include <gpufilter/image.h>

#include "kernels/gf_kargs.h"

static inline gf_kimage gfi_kimage(const gf_view *view)
{
    return (gf_kimage){ .data = view->data,
                        .pitch = (long long)view->pitch_bytes,
                        .width = view->width,
                        .height = view->height,
                        .pixel = (int)view->pixel };
}

#endif
