/* Types that every part of the library shares. */
#ifndef GPUFILTER_COMMON_H
#define GPUFILTER_COMMON_H

#include <stddef.h>
#include <stdint.h>

#if defined(GFI_BUILDING_LIBRARY) && defined(__GNUC__)
#define GF_API __attribute__((visibility("default")))
#else
#define GF_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* What a call came to. The values are frozen; new ones are appended. */
typedef enum gf_status {
    GF_OK = 0,
    GF_ERROR_INVALID = 1,       /* a wrong argument: NULL, overlap, a busy plan */
    GF_ERROR_RANGE = 2,         /* a parameter outside its range, or not a number */
    GF_ERROR_NOT_FOUND = 3,     /* no such file, filter, parameter or device */
    GF_ERROR_UNSUPPORTED = 4,   /* known, but not in this build or not for this input */
    GF_ERROR_FORMAT = 5,        /* damaged or unknown file contents, or chain text */
    GF_ERROR_IO = 6,            /* reading or writing failed */
    GF_ERROR_NO_MEMORY = 7,     /* host memory */
    GF_ERROR_DEVICE_MEMORY = 8, /* GPU memory */
    GF_ERROR_DEVICE = 9,        /* the GPU or its driver failed, or is not there */
    GF_ERROR_INTERNAL = 10      /* a fault of the library */
} gf_status;

/* Pixel types. GF_PIXEL_NONE means "not said" and lets the library choose. */
typedef enum gf_pixel { GF_PIXEL_NONE = 0, GF_PIXEL_U8 = 1, GF_PIXEL_U16 = 2, GF_PIXEL_F32 = 3 } gf_pixel;

/* How pixels outside the image are made. For the row a b c d:
 *   CONSTANT   v v | a b c d | v v
 *   REPLICATE  a a | a b c d | d d
 *   REFLECT    b a | a b c d | d c    (edge repeated)
 *   MIRROR     c b | a b c d | c b    (edge not repeated)
 *   WRAP       c d | a b c d | a b
 * All are true folds: right at any distance from the image. */
typedef enum gf_border {
    GF_BORDER_CONSTANT = 0,
    GF_BORDER_REPLICATE = 1,
    GF_BORDER_REFLECT = 2,
    GF_BORDER_MIRROR = 3,
    GF_BORDER_WRAP = 4
} gf_border;

typedef enum gf_memory { GF_MEMORY_HOST = 0, GF_MEMORY_CUDA = 1 } gf_memory;

typedef enum gf_backend { GF_BACKEND_AUTO = 0, GF_BACKEND_CPU = 1, GF_BACKEND_CUDA = 2 } gf_backend;

typedef struct gf_context gf_context;
typedef struct gf_image gf_image;
typedef struct gf_graph gf_graph;
typedef struct gf_plan gf_plan;

/* Return the name of a pixel type ("u8", "u16", "f32"), or "none". Static storage. */
GF_API const char *gf_pixel_name(gf_pixel pixel);

/* Return the bytes of one pixel: 1, 2, 4, or 0 for GF_PIXEL_NONE. */
GF_API size_t gf_pixel_bytes(gf_pixel pixel);

/* Return the white level of a pixel type: 255, 65535, or 1.0 for f32. */
GF_API double gf_pixel_white(gf_pixel pixel);

/* Return "auto", "cpu" or "cuda". Static storage. */
GF_API const char *gf_backend_name(gf_backend backend);

/* Return the library's version, "MAJOR.MINOR.PATCH". Static storage. */
GF_API const char *gf_version(void);

/* Free memory that the library handed out as plain bytes or text. NULL is allowed. */
GF_API void gf_free(void *memory);

#ifdef __cplusplus
}
#endif
#endif
