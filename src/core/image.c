#include "core/image.h"

#include <stdint.h>

#include "core/alloc.h"

struct gf_image {
    gf_view view;
    void (*release)(void *user, void *data);
    void *user;
};

static const struct {
    const char *name;
    size_t bytes;
    double white;
} pixels[] = {
    [GF_PIXEL_NONE] = { "none", 0, 0 },
    [GF_PIXEL_U8] = { "u8", 1, 255 },
    [GF_PIXEL_U16] = { "u16", 2, 65535 },
    [GF_PIXEL_F32] = { "f32", 4, 1 },
};

static bool pixel_valid(gf_pixel pixel) { return pixel >= GF_PIXEL_U8 && pixel <= GF_PIXEL_F32; }

const char *gf_pixel_name(gf_pixel pixel) { return pixels[pixel_valid(pixel) ? pixel : 0].name; }
size_t gf_pixel_bytes(gf_pixel pixel) { return pixels[pixel_valid(pixel) ? pixel : 0].bytes; }
double gf_pixel_white(gf_pixel pixel) { return pixels[pixel_valid(pixel) ? pixel : 0].white; }

gf_status gfi_desc_check(const gf_image_desc *desc)
{
    if (!desc) return gfi_fail(GF_ERROR_INVALID, "image description: NULL");
    if (!pixel_valid(desc->pixel))
        return gfi_fail(GF_ERROR_INVALID, "pixel type: %d is not u8, u16 or f32", (int)desc->pixel);
    if (desc->width < 1 || desc->height < 1)
        return gfi_fail(GF_ERROR_RANGE, "image size: %dx%d has a side that is not > 0",
                        (int)desc->width, (int)desc->height);
    size_t row, all;
    if (!gfi_mul((size_t)desc->width, gf_pixel_bytes(desc->pixel), &row) || row > SIZE_MAX - 63 ||
        !gfi_mul((row + 63) / 64 * 64, (size_t)desc->height, &all) || all > PTRDIFF_MAX)
        return gfi_fail(GF_ERROR_RANGE, "image size: %dx%d cannot be addressed", (int)desc->width,
                        (int)desc->height);
    return GF_OK;
}

gf_status gfi_view_check(const gf_view *view, const char *name)
{
    if (!view) return gfi_fail(GF_ERROR_INVALID, "%s: NULL", name);
    gf_image_desc desc = { view->width, view->height, view->pixel };
    gf_status status = gfi_desc_check(&desc);
    if (status != GF_OK) return gfi_prepend(GF_ERROR_INVALID, "%s", name);
    if (!view->data) return gfi_fail(GF_ERROR_INVALID, "%s: data is NULL", name);
    size_t bytes = gf_pixel_bytes(view->pixel), row = (size_t)view->width * bytes, all;
    if (view->pitch_bytes < row)
        return gfi_fail(GF_ERROR_INVALID, "%s: pitch %zu bytes is less than a row's %zu", name,
                        view->pitch_bytes, row);
    if (!gfi_mul(view->pitch_bytes, (size_t)view->height, &all) || all > PTRDIFF_MAX)
        return gfi_fail(GF_ERROR_INVALID, "%s: %d rows of %zu bytes cannot be addressed", name,
                        (int)view->height, view->pitch_bytes);
    if ((uintptr_t)view->data % bytes || view->pitch_bytes % bytes)
        return gfi_fail(GF_ERROR_INVALID,
                        "%s: data or pitch is not a multiple of the pixel's %zu bytes", name,
                        bytes);
    if (view->memory != GF_MEMORY_HOST && view->memory != GF_MEMORY_CUDA)
        return gfi_fail(GF_ERROR_INVALID, "%s: memory %d is not host or CUDA", name,
                        (int)view->memory);
    return GF_OK;
}

bool gfi_views_overlap(const gf_view *a, const gf_view *b)
{
    if (a->memory != b->memory) return false;
    const intptr_t a0 = (intptr_t)a->data, b0 = (intptr_t)b->data;
    const intptr_t a_row = (intptr_t)((size_t)a->width * gf_pixel_bytes(a->pixel));
    const intptr_t b_row = (intptr_t)((size_t)b->width * gf_pixel_bytes(b->pixel));
    const intptr_t pitch = (intptr_t)a->pitch_bytes;
    if (b0 >= a0 + (a->height - 1) * pitch + a_row) return false;
    if (a0 >= b0 + (b->height - 1) * (intptr_t)b->pitch_bytes + b_row) return false;
    if (a->pitch_bytes != b->pitch_bytes) return true;
    /* two rectangles of one larger image: b begins dy rows down and dx bytes right of a; seen the
     * other way round the row's end, dx - pitch right of it one row further down */
    intptr_t dy = (b0 - a0) / pitch, dx = (b0 - a0) % pitch;
    if (dx < 0) dx += pitch, dy--;
    bool right = dx < a_row && dy < a->height && -dy < b->height;
    bool left = dx - pitch + b_row > 0 && dy + 1 < a->height && -(dy + 1) < b->height;
    return right || left;
}

gf_status gfi_image_adopt(const gf_view *view, void (*release)(void *user, void *data), void *user,
                          gf_image **out)
{
    *out = NULL;
    gf_image *image = gfi_alloc(1, sizeof *image, "image");
    if (!image) return GF_ERROR_NO_MEMORY;
    *image = (gf_image){ *view, release, user };
    *out = image;
    return GF_OK;
}

static void release_host(void *user, void *data)
{
    (void)user;
    gfi_free(data);
}

gf_status gfi_image_create_host(int32_t width, int32_t height, gf_pixel pixel, gf_image **out)
{
    *out = NULL;
    gf_image_desc desc = { width, height, pixel };
    GFI_TRY(gfi_desc_check(&desc));
    gf_view view = { .width = width, .height = height, .pixel = pixel, .memory = GF_MEMORY_HOST };
    view.pitch_bytes = gfi_pitch(width, pixel, GFI_HOST_PITCH_STEP);
    view.data = gfi_alloc((size_t)height, view.pitch_bytes, "image");
    if (!view.data) return GF_ERROR_NO_MEMORY;
    gf_status status = gfi_image_adopt(&view, release_host, NULL, out);
    if (status != GF_OK) gfi_free(view.data);
    return status;
}

void gf_image_destroy(gf_image **image)
{
    if (!image || !*image) return;
    (*image)->release((*image)->user, (*image)->view.data);
    gfi_free(*image);
    *image = NULL;
}

gf_view gf_image_view(const gf_image *image) { return image ? image->view : (gf_view){ 0 }; }
