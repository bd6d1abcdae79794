#include "filters/pixelwise.h"

gfi_launch gfi_pixelwise_launch(const gfi_device_facts *facts, int32_t width, int32_t height,
                                size_t pixel_bytes, unsigned blocks_per_sm)
{
    const unsigned tile = GFI_PIXELWISE_THREADS * (16 / (unsigned)pixel_bytes);
    const unsigned wanted = (unsigned)facts->multiprocessors * blocks_per_sm;
    unsigned across = ((unsigned)width + tile - 1) / tile, down = (unsigned)height;
    if (across > wanted) across = wanted;
    const unsigned rows = (wanted + across - 1) / across;
    if (down > rows) down = rows;
    return (gfi_launch){ .grid = { across, down, 1 }, .block = { GFI_PIXELWISE_THREADS, 1, 1 } };
}

double gfi_pixelwise_cost_ns(const gfi_request *request, size_t bytes_per_pixel, int n_launches)
{
    /* One H200, 132 multiprocessors, 2026-11-30: 4.1 TB/s is 31 bytes a ns and multiprocessor. 48
     * of them are a mid-size GPU, for when none is open. */
    const int multiprocessors = request->facts ? request->facts->multiprocessors : 48;
    const double images = request->usual_images > 1 ? request->usual_images : 1;
    const double bytes = images * (double)bytes_per_pixel * request->in.width * request->in.height;
    return 5000.0 * n_launches + bytes / (31.0 * multiprocessors);
}
