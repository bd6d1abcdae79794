/* Images in host and device memory, and copies between them. */
#include <string.h>

#include <gpufilter/image.h>

#include "core/image.h"
#include "engine/context.h"

static void release_device(void *context, void *data) { gfi_context_free(context, data); }

static gf_status create_device(gf_context *context, const gf_image_desc *desc, gf_image **out)
{
    if (!context) return gfi_fail(GF_ERROR_INVALID, "image: CUDA memory needs a context");
    gf_view view = { .width = desc->width,
                     .height = desc->height,
                     .pixel = desc->pixel,
                     .memory = GF_MEMORY_CUDA };
    view.pitch_bytes = gfi_pitch(desc->width, desc->pixel, GFI_DEVICE_PITCH_STEP);
    GFI_TRY(gfi_context_alloc(context, view.pitch_bytes * (size_t)desc->height, &view.data));
    gf_status status = gfi_image_adopt(&view, release_device, context, out);
    if (status != GF_OK) gfi_context_free(context, view.data);
    return status;
}

gf_status gf_image_create(gf_context *context, const gf_image_desc *desc, gf_memory memory,
                          gf_image **out)
{
    if (!out) return gfi_fail(GF_ERROR_INVALID, "image: out is NULL");
    *out = NULL;
    GFI_TRY(gfi_desc_check(desc));
    if (memory == GF_MEMORY_CUDA) return create_device(context, desc, out);
    if (memory == GF_MEMORY_HOST)
        return gfi_image_create_host(desc->width, desc->height, desc->pixel, out);
    return gfi_fail(GF_ERROR_INVALID, "image: memory %d is not host or CUDA", (int)memory);
}

gf_status gf_view_copy(gf_context *context, const gf_view *src, const gf_view *dst)
{
    GFI_TRY(gfi_view_check(src, "src"));
    GFI_TRY(gfi_view_check(dst, "dst"));
    if (src->width != dst->width || src->height != dst->height || src->pixel != dst->pixel)
        return gfi_fail(GF_ERROR_INVALID, "copy: %dx%d %s into %dx%d %s", (int)src->width,
                        (int)src->height, gf_pixel_name(src->pixel), (int)dst->width,
                        (int)dst->height, gf_pixel_name(dst->pixel));
    if (src->memory == GF_MEMORY_HOST && dst->memory == GF_MEMORY_HOST) {
        for (int32_t y = 0; y < src->height; y++)
            memmove(gfi_row(dst, y), gfi_row(src, y),
                    (size_t)src->width * gf_pixel_bytes(src->pixel));
        return GF_OK;
    }
    if (!context) return gfi_fail(GF_ERROR_INVALID, "copy: CUDA memory needs a context");
    return gfi_context_copy(context, src, dst);
}
