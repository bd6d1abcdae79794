/* Images with guard bytes, in host or device memory. */
#include "gfcheck.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256, PADDED_PX = 64 };

static size_t pitch_of(gfc_pitch kind, int32_t width, size_t px)
{
    size_t w = (size_t)width;
    if (kind == GFC_PADDED) w = (w + PADDED_PX - 1) / PADDED_PX * PADDED_PX + PADDED_PX;
    if (kind == GFC_ODD) w += 1 + w % 2; /* an odd number of pixels */
    return w * px;
}

static gf_status allocate(gfc_buffer *b)
{
    b->before = malloc(b->n_bytes);
    if (!b->before) return gfi_fail(GF_ERROR_NO_MEMORY, "gfcheck: %zu bytes", b->n_bytes);
    if (b->queue) {
        b->after = malloc(b->n_bytes);
        if (!b->after) return gfi_fail(GF_ERROR_NO_MEMORY, "gfcheck: %zu bytes", b->n_bytes);
        void *memory;
        GFI_TRY(gfi_device_alloc(b->queue, b->n_bytes, &memory));
        b->memory = memory;
        return GF_OK;
    }
    void *memory; /* exactly this size, so that a memory checker sees the end */
    if (posix_memalign(&memory, ALIGNMENT, b->n_bytes))
        return gfi_fail(GF_ERROR_NO_MEMORY, "gfcheck: %zu bytes", b->n_bytes);
    b->memory = b->after = memory;
    return GF_OK;
}

gf_status gfc_buffer_create(gfi_queue *queue, const gf_image_desc *desc, const gfc_layout *layout,
                            size_t guard_bytes, gfc_buffer *out)
{
    size_t px = gf_pixel_bytes(desc->pixel), pitch = pitch_of(layout->pitch, desc->width, px);
    size_t guard = (guard_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *out = (gfc_buffer){ .queue = queue, .first = guard + (size_t)layout->offset_px * px };
    size_t last_row = (size_t)desc->width * px;
    out->n_bytes = out->first + (size_t)(desc->height - 1) * pitch + last_row + guard_bytes;
    gf_status status = allocate(out);
    if (status != GF_OK) {
        gfc_buffer_destroy(out);
        return status;
    }
    out->view = (gf_view){ .data = out->memory + out->first,
                           .width = desc->width,
                           .height = desc->height,
                           .pitch_bytes = pitch,
                           .pixel = desc->pixel,
                           .memory = queue ? GF_MEMORY_CUDA : GF_MEMORY_HOST };
    return GF_OK;
}

gf_status gfc_buffer_fill(gfc_buffer *b, int byte, const void *pixels)
{
    memset(b->before, byte, b->n_bytes);
    size_t row = (size_t)b->view.width * gf_pixel_bytes(b->view.pixel);
    for (int32_t y = 0; pixels && y < b->view.height; y++)
        memcpy(b->before + b->first + (size_t)y * b->view.pitch_bytes,
               (const char *)pixels + (size_t)y * row, row);
    if (b->queue) return gfi_upload(b->queue, b->memory, b->before, b->n_bytes);
    memcpy(b->memory, b->before, b->n_bytes);
    return GF_OK;
}

gf_status gfc_buffer_fetch(gfc_buffer *b)
{
    return b->queue ? gfi_download(b->queue, b->after, b->memory, b->n_bytes) : GF_OK;
}

static bool range_changed(const gfc_buffer *b, size_t from, size_t to, size_t *where)
{
    if (memcmp(b->before + from, b->after + from, to - from) == 0) return false;
    while (b->before[from] == b->after[from]) from++;
    *where = from;
    return true;
}

bool gfc_buffer_changed(const gfc_buffer *b, bool outside_only, size_t *where)
{
    if (!outside_only) return range_changed(b, 0, b->n_bytes, where);
    size_t row = (size_t)b->view.width * gf_pixel_bytes(b->view.pixel), at = 0;
    for (int32_t y = 0; y < b->view.height; y++) {
        size_t begin = b->first + (size_t)y * b->view.pitch_bytes;
        if (range_changed(b, at, begin, where)) return true;
        at = begin + row;
    }
    return range_changed(b, at, b->n_bytes, where);
}

void gfc_buffer_pixels(const gfc_buffer *b, void *pixels)
{
    size_t row = (size_t)b->view.width * gf_pixel_bytes(b->view.pixel);
    for (int32_t y = 0; y < b->view.height; y++)
        memcpy((char *)pixels + (size_t)y * row,
               b->after + b->first + (size_t)y * b->view.pitch_bytes, row);
}

void gfc_buffer_destroy(gfc_buffer *b)
{
    if (b->queue) {
        if (b->memory) gfi_device_free(b->queue, b->memory);
        free(b->after);
    } else {
        free(b->memory);
    }
    free(b->before);
    *b = (gfc_buffer){ 0 };
}
