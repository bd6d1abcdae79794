/* The only file that includes stb_image and stb_image_write.
 *
 * Everything that stb does not check was checked before (tga.c, png.c). Here are the fences
 * around the rest: only the formats it is asked for are compiled in, memory comes zeroed and
 * capped, asserts cannot end the program, and nothing of stb's is global or touches a file: its
 * setters would change the caller's process, and its writers report success on a full disk. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/image.h"
#include "io/gray.h"
#include "io/stb.h"

/* stb's own sizes are int; a compressed file can ask for more and shall not get it */
static void *stb_alloc(size_t n) { return n <= INT_MAX ? calloc(1, n ? n : 1) : NULL; }

static void *stb_realloc(void *old, size_t n_old, size_t n)
{
    if (n > INT_MAX) return NULL;
    char *memory = realloc(old, n ? n : 1);
    if (memory && n > n_old) memset(memory + n_old, 0, n - n_old);
    return memory;
}

#define STBI_MALLOC(n) stb_alloc(n)
#define STBI_REALLOC_SIZED(old, n_old, n) stb_realloc(old, n_old, n)
#define STBI_FREE(memory) free(memory)
#define STBI_ASSERT(x) ((void)0)
#define STBI_ONLY_TGA
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBIW_ASSERT(x) ((void)0)
#define STBI_WRITE_NO_STDIO
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION

/* the headers are system headers to the build, but this is reported where the file ends */
#if defined __GNUC__
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include <stb_image.h>
#include <stb_image_write.h>

/* ---- reading ---- */

static void gray_row_u16(uint16_t *dst, const uint16_t *src, int channels, size_t n)
{
    for (size_t i = 0; i < n; i++, src += channels)
        dst[i] = (uint16_t)(channels <= 2 ? src[0] : gfi_luma(src[0], src[1], src[2]));
}

static void *decode(const gfi_source *source, bool wide, int *width, int *height, int *channels)
{
    const stbi_uc *bytes = source->bytes;
    int n = (int)source->n;
    if (wide) return stbi_load_16_from_memory(bytes, n, width, height, channels, 0);
    return stbi_load_from_memory(bytes, n, width, height, channels, 0);
}

static gf_status to_gray(const void *pixels, int channels, const gf_file_info *info, gf_image **out)
{
    GFI_TRY(gfi_image_create_host(info->width, info->height, info->pixel, out));
    gf_view view = gf_image_view(*out);
    size_t width = (size_t)view.width, row = width * (size_t)channels;
    for (int32_t y = 0; y < view.height; y++) {
        size_t at = (size_t)y * row;
        if (view.pixel == GF_PIXEL_U16)
            gray_row_u16(gfi_row(&view, y), (const uint16_t *)pixels + at, channels, width);
        else
            gfi_gray_row_u8(gfi_row(&view, y), (const uint8_t *)pixels + at, channels, width);
    }
    return GF_OK;
}

gf_status gfi_stb_load(const gfi_source *source, const gf_file_info *info, gf_image **out)
{
    if (source->n > INT_MAX || (uint64_t)info->width * (uint64_t)info->height > INT_MAX / 8)
        return gfi_fail(GF_ERROR_UNSUPPORTED,
                        "%dx%d pixels in %zu bytes are more than stb reads (%d pixels, %d bytes)",
                        (int)info->width, (int)info->height, source->n, INT_MAX / 8, INT_MAX);
    int width = 0, height = 0, channels = 0;
    void *pixels = decode(source, info->pixel == GF_PIXEL_U16, &width, &height, &channels);
    if (!pixels) return gfi_fail(GF_ERROR_FORMAT, "%s", stbi_failure_reason());
    gf_status status = GF_OK;
    if (width != info->width || height != info->height || channels < 1 || channels > 4)
        status = gfi_fail(GF_ERROR_INTERNAL, "stb gives %dx%d pixels where the header says %dx%d",
                          width, height, (int)info->width, (int)info->height);
    if (status == GF_OK) status = to_gray(pixels, channels, info, out);
    free(pixels);
    return status;
}

/* ---- writing ---- */

typedef struct target {
    gfi_buffer *out;
    bool failed;
} target;

static void take(void *context, void *bytes, int n)
{
    target *t = context;
    if (!t->failed && n > 0) t->failed = !gfi_buffer_append(t->out, bytes, (size_t)n);
}

/* stb wants rows without a gap between them. */
static uint8_t *pack(const gf_view *view)
{
    size_t width = (size_t)view->width;
    uint8_t *packed = gfi_alloc((size_t)view->height, width, "rows for stb");
    for (int32_t y = 0; packed && y < view->height; y++)
        memcpy(packed + (size_t)y * width, gfi_row(view, y), width);
    return packed;
}

static int encode(gfi_stb_format format, const gf_view *view, const uint8_t *packed, target *t)
{
    int width = view->width, height = view->height;
    switch (format) {
    case GFI_STB_BMP: return stbi_write_bmp_to_func(take, t, width, height, 1, packed);
    case GFI_STB_TGA: return stbi_write_tga_to_func(take, t, width, height, 1, packed);
    case GFI_STB_PNG: return stbi_write_png_to_func(take, t, width, height, 1, packed, width);
    }
    return 0;
}

gf_status gfi_stb_save(gfi_stb_format format, const gf_view *view, gfi_buffer *out)
{
    /* three bytes a pixel in BMP, and the deflate of PNG doubles its table: a quarter is safe */
    uint64_t pixels = ((uint64_t)view->width + 4) * (uint64_t)view->height;
    if (pixels > INT_MAX / 4)
        return gfi_fail(GF_ERROR_RANGE, "size %dx%d is more than the %d pixels that stb writes",
                        (int)view->width, (int)view->height, INT_MAX / 4);
    uint8_t *packed = pack(view);
    if (!packed) return GF_ERROR_NO_MEMORY;
    target t = { .out = out };
    int ok = encode(format, view, packed, &t);
    gfi_free(packed);
    if (t.failed) return GF_ERROR_NO_MEMORY;
    return ok ? GF_OK : gfi_fail(GF_ERROR_NO_MEMORY, "stb could not encode");
}
