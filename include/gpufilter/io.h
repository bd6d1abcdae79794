/* Image files: load to gray, save, and look at what a file is. */
#ifndef GPUFILTER_IO_H
#define GPUFILTER_IO_H

#include <gpufilter/common.h>
#include <gpufilter/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a file holds and how its gray values are made. */
typedef struct gf_file_info {
    char format[16];       /* codec name: "png", "jpeg", "bmp", "tga", "pgm", "pfm", … */
    int32_t width, height; /* pixels */
    int bit_depth;         /* bits of one stored sample: 1 … 16, or 32 for float */
    int channels;          /* stored channels, alpha and palette entries' channels included */
    uint32_t maxval;       /* largest value a pixel may have as loaded; 0 for float */
    gf_pixel pixel;        /* pixel type the image is loaded as */
    char gray[128];        /* how gray is made, one phrase */
    char notice[256];      /* what was ignored or is unusual; "" when nothing */
} gf_file_info;

/* Zero means default. Fields are only appended. */
typedef struct gf_load_params {
    size_t struct_size;   /* sizeof(gf_load_params) */
    const char *format;   /* codec name the contents must have, or NULL: found by contents */
    uint64_t max_pixels;  /* refuse larger images; 0: 2^31-1 */
    gf_file_info *info;   /* filled on success when not NULL */
} gf_load_params;

typedef struct gf_save_params {
    size_t struct_size;   /* sizeof(gf_save_params) */
    const char *format;   /* codec name, or NULL: by the path's extension */
    int jpeg_quality;     /* 1 … 100; 0: 90 */
    int no_clobber;       /* non-zero: refuse when the path exists */
} gf_save_params;

/* One codec as this build has it. Static storage. */
typedef struct gf_codec_info {
    const char *name;        /* "png" */
    const char *extensions;  /* "png", "jpg jpeg": space separated, lower case */
    int can_load, can_save;
    const char *summary;     /* what it reads and writes, and with which library */
} gf_codec_info;

/* Return the number of codecs, and the i-th (NULL past the end). */
GF_API size_t gf_codec_count(void);
GF_API const gf_codec_info *gf_codec_get(size_t index);

/* Load a file as a grayscale host image. "-" reads standard input to its end.
 *
 * The format is found by the contents, never by the name. Values are kept as stored (u8 up to 8
 * bits, u16 up to 16, f32 for float files); colour becomes gray by the documented rule. *out
 * belongs to the caller, NULL on failure.
 * Returns OK, INVALID, NOT_FOUND, IO, FORMAT (damaged, truncated, unknown), UNSUPPORTED (known, but
 * not in this build, or a variant that is not read), RANGE (more than max_pixels), NO_MEMORY. */
GF_API gf_status gf_image_load(const char *path, const gf_load_params *params, gf_image **out);

/* The same from bytes in memory; name is used in messages only. */
GF_API gf_status gf_image_load_memory(const char *name, const void *bytes, size_t n_bytes,
                                      const gf_load_params *params, gf_image **out);

/* Save a host view. "-" writes standard output and needs params->format.
 *
 * The file is written under a temporary name in the same folder and renamed when complete, so
 * that the final name never holds half a picture; symlinks are resolved first, an existing file's
 * mode is kept. A path that is no regular file (a pipe, a device) is written directly.
 * Returns OK, INVALID, UNSUPPORTED (no such codec, or one that cannot hold this pixel type), IO,
 * RANGE (too large for the format, quality), NO_MEMORY. */
GF_API gf_status gf_image_save(const char *path, const gf_view *view, const gf_save_params *params);

/* The same into memory; *bytes is freed with gf_free(). params->format is needed. */
GF_API gf_status gf_image_save_memory(const gf_view *view, const gf_save_params *params,
                                      void **bytes, size_t *n_bytes);

/* Check, without any file being touched, that a path's codec exists and can hold a pixel type.
 * Returns OK, INVALID, UNSUPPORTED, RANGE (quality). */
GF_API gf_status gf_save_check(const char *path, gf_pixel pixel, const gf_save_params *params);

#ifdef __cplusplus
}
#endif
#endif
