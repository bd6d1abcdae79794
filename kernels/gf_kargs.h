/* Argument structs shared by the kernels (CUDA) and their callers (C). Plain data, fixed layout.
 * A kernel takes exactly one argument: one of these. */
#ifndef GF_KARGS_H
#define GF_KARGS_H

#ifdef __cplusplus
#define GF_SAME_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#else
#define GF_SAME_SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
#endif

/* Values of gf_pixel; kernels take them as int. */
enum { GF_P_U8 = 1, GF_P_U16 = 2, GF_P_F32 = 3 };

/* A device image. */
typedef struct gf_kimage {
    void *data;
    long long pitch; /* bytes */
    int width, height, pixel, unused;
} gf_kimage;
GF_SAME_SIZE(gf_kimage, 32);

#endif
