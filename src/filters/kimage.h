/* Device views as kernels take them. */
#ifndef GFI_KIMAGE_H
#define GFI_KIMAGE_H

#include "filters/filter_def.h"
#include "kernels/gf_kargs.h"

static inline gf_kimage gfi_kimage(const gf_view *view)
{
    return (gf_kimage){ .data = view->data,
                        .pitch = (long long)view->pitch_bytes,
                        .width = view->width,
                        .height = view->height,
                        .pixel = (int)view->pixel };
}

/* The images of the request's batch, for a launch whose grid z axis is gfi_batch_images(). */
static inline gf_kimage gfi_kimage_src(const gfi_request *request, const gf_view *src)
{
    gf_kimage image = gfi_kimage(src);
    image.next = request->batch.src_next;
    return image;
}

static inline gf_kimage gfi_kimage_dst(const gfi_request *request, const gf_view *dst)
{
    gf_kimage image = gfi_kimage(dst);
    image.next = request->batch.dst_next;
    return image;
}

static inline unsigned gfi_batch_images(const gfi_request *request)
{
    return request->batch.n > 1 ? (unsigned)request->batch.n : 1;
}

#endif
