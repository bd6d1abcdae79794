/* Shapes of the streaming kernels, for kernels/stream.cu and its launch configuration. */
#ifndef GF_STREAM_VARIANTS_H
#define GF_STREAM_VARIANTS_H

/* What is known of the taps. WHOLE: they are whole numbers, in terms those of the rows. MIRRORED: the
 * rows of a full window above the middle are those below. GRADIENT: a magnitude of (-1 0 1) across
 * times (1 c 1) down and the same turned, all times some factor; HALVES: of whole c so small that
 * sums of bytes are exact in binary16. */
enum {
    GF_STREAM_ANY,
    GF_STREAM_WHOLE,
    GF_STREAM_MIRRORED,
    GF_STREAM_GRADIENT,
    GF_STREAM_HALVES
};

/* Kernel gf_stream_PREFIX_K_TERMS, for source pixels of so many BYTES (4: float) and windows of K x K
 * as so many separable TERMS, or 0 for all taps. A thread makes so many neighbouring COLUMNS and
 * reads ROWS ahead; more would make long loops, which run out of instruction cache. Blocks have
 * LAYERS, one below the other, of so many THREADS, and a multiprocessor is to hold so many BLOCKS. A
 * layer makes HEIGHT rows or more of a large image: it begins with K - 1 rows that complete nothing.
 * Windows of 3 x 3 go by tiles: HEIGHT rows and no more. With 0 ROWS all that they need is read
 * before the first is complete; else HEIGHT is a multiple of ROWS, and at most as many are made. The
 * shapes are the fastest of those timed on an H200. */
#define GF_STREAM_VARIANTS(X)                                                                      \
    /* prefix, bytes, form, K, terms, columns, rows, threads, layers, blocks, height */            \
    X(u8, 1, ANY, 3, 0, 8, 4, 128, 1, 8, 64)                                                       \
    X(u8, 1, ANY, 5, 0, 16, 2, 128, 1, 4, 60)                                                      \
    X(u8, 1, ANY, 7, 0, 8, 1, 128, 1, 4, 80)                                                       \
    X(u8, 1, ANY, 3, 1, 8, 4, 128, 1, 8, 64)                                                       \
    X(u8, 1, ANY, 5, 1, 8, 2, 128, 1, 5, 60)                                                       \
    X(u8, 1, ANY, 7, 1, 8, 2, 128, 1, 4, 80)                                                       \
    X(u8, 1, ANY, 3, 2, 8, 0, 128, 1, 5, 8)                                                        \
    X(u8, 1, ANY, 5, 2, 4, 2, 128, 1, 6, 60)                                                       \
    X(u8, 1, ANY, 7, 2, 4, 2, 128, 1, 5, 60)                                                       \
    X(u16, 2, ANY, 3, 0, 8, 0, 128, 1, 8, 4)                                                       \
    X(u16, 2, ANY, 5, 0, 8, 2, 128, 1, 5, 60)                                                      \
    X(u16, 2, ANY, 7, 0, 8, 1, 128, 1, 4, 80)                                                      \
    X(u16, 2, ANY, 3, 1, 8, 0, 128, 1, 8, 4)                                                       \
    X(u16, 2, ANY, 5, 1, 8, 2, 128, 1, 5, 60)                                                      \
    X(u16, 2, ANY, 7, 1, 8, 2, 128, 1, 4, 80)                                                      \
    X(u16, 2, ANY, 3, 2, 8, 0, 128, 1, 5, 4)                                                       \
    X(u16, 2, ANY, 5, 2, 4, 2, 128, 1, 6, 60)                                                      \
    X(u16, 2, ANY, 7, 2, 4, 2, 128, 1, 4, 60)                                                      \
    X(f32, 4, ANY, 3, 0, 4, 0, 128, 4, 2, 4)                                                       \
    X(f32, 4, ANY, 5, 0, 8, 2, 128, 1, 4, 60)                                                      \
    X(f32, 4, ANY, 7, 0, 4, 1, 128, 1, 8, 60)                                                      \
    X(f32, 4, ANY, 3, 1, 4, 0, 128, 4, 2, 4)                                                       \
    X(f32, 4, ANY, 5, 1, 4, 2, 128, 1, 8, 60)                                                      \
    X(f32, 4, ANY, 7, 1, 4, 1, 128, 1, 8, 60)                                                      \
    X(f32, 4, ANY, 3, 2, 4, 0, 128, 4, 2, 4)                                                       \
    X(f32, 4, ANY, 5, 2, 4, 2, 128, 1, 5, 60)                                                      \
    X(f32, 4, ANY, 7, 2, 4, 2, 128, 1, 4, 60)                                                      \
    X(u8_whole, 1, WHOLE, 3, 0, 8, 0, 128, 1, 8, 6)                                                \
    X(u8_whole, 1, WHOLE, 5, 0, 8, 4, 128, 1, 5, 32)                                               \
    X(u8_whole, 1, WHOLE, 7, 0, 8, 2, 128, 1, 4, 40)                                               \
    X(u8_whole, 1, WHOLE, 3, 1, 8, 0, 128, 1, 8, 6)                                                \
    X(u8_whole, 1, WHOLE, 5, 1, 8, 4, 128, 1, 6, 60)                                               \
    X(u8_whole, 1, WHOLE, 7, 1, 8, 2, 128, 1, 5, 60)                                               \
    X(u8_whole, 1, WHOLE, 3, 2, 8, 0, 128, 1, 5, 8)                                                \
    X(u8_whole, 1, WHOLE, 5, 2, 8, 2, 128, 1, 4, 80)                                               \
    X(u8_whole, 1, WHOLE, 7, 2, 4, 2, 128, 1, 5, 60)                                               \
    X(u8_mirrored, 1, MIRRORED, 5, 0, 16, 2, 128, 1, 3, 60)                                        \
    X(u8_mirrored, 1, MIRRORED, 7, 0, 8, 2, 128, 1, 4, 80)                                         \
    X(u16_mirrored, 2, MIRRORED, 5, 0, 8, 2, 128, 1, 5, 60)                                        \
    X(u16_mirrored, 2, MIRRORED, 7, 0, 8, 2, 128, 1, 4, 80)                                        \
    X(f32_mirrored, 4, MIRRORED, 5, 0, 4, 2, 128, 1, 8, 60)                                        \
    X(f32_mirrored, 4, MIRRORED, 7, 0, 4, 1, 128, 1, 8, 60)                                        \
    X(f32_gradient, 4, GRADIENT, 3, 2, 4, 0, 128, 1, 8, 6)                                         \
    GF_STREAM_LONG(X, 9, 5, 96)                                                                    \
    GF_STREAM_LONG(X, 11, 4, 96)                                                                   \
    GF_STREAM_LONG(X, 13, 3, 130)                                                                  \
    GF_STREAM_LONG(X, 15, 3, 130)
#define GF_STREAM_LONG(X, K, BLOCKS, HEIGHT)                                                       \
    X(u8, 1, ANY, K, 0, 4, 1, 128, 1, BLOCKS, HEIGHT)                                              \
    X(u16, 2, ANY, K, 0, 4, 1, 128, 1, BLOCKS, HEIGHT)                                             \
    X(f32, 4, ANY, K, 0, 4, 1, 128, 1, BLOCKS, HEIGHT)                                             \
    X(u8_mirrored, 1, MIRRORED, K, 0, 4, 1, 128, 1, BLOCKS, HEIGHT)                                \
    X(u16_mirrored, 2, MIRRORED, K, 0, 4, 1, 128, 1, BLOCKS, HEIGHT)                               \
    X(f32_mirrored, 4, MIRRORED, K, 0, 4, 1, 128, 1, BLOCKS, HEIGHT)

/* Whether windows of K x K go by tiles. */
#define GF_STREAM_TILES(K) ((K) == 3)

/* The same for code that has the tensor cores' instructions. */
#define GF_STREAM_HALVES_VARIANTS(X) X(u8_halves, 1, HALVES, 3, 2, 8, 0, 128, 1, 7, 8)

/* Rows that a thread makes of a column at the image's left or right end. */
#define GF_STREAM_EDGE_ROWS(K) ((K) <= 7 ? 8 : 32)

/* Integer pixels are taken for floats of so many 2^UNIT: 8 and 16 bits up to bit 23, and the sums of
 * whole taps as they are. */
#define GF_STREAM_UNIT(BYTES) ((BYTES) == 1 ? -133 : (BYTES) == 2 ? -141 : 0)
enum { GF_STREAM_UNIT_WHOLE = -149, GF_STREAM_UNIT_HALVES = -24 };

/* Pixels read beside a thread's columns for K / 2 of them: whole words, a power of two. */
#define GF_STREAM_MARGIN(K, BYTES)                                                                 \
    ((K) > 9 ? 8 : (K) > 5 || (BYTES) == 1 ? 4 : (K) > 3 || (BYTES) == 2 ? 2 : 1)

#endif
