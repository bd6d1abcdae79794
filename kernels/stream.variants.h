/* Shapes of the streaming kernels, for kernels/stream.cu and its launch configuration. */
#ifndef GF_STREAM_VARIANTS_H
#define GF_STREAM_VARIANTS_H

/* Windows of K x K as so many separable terms, or 0 for all K * K taps: kernel
 * gf_stream_PIXEL_K_TERMS for each type of the source's pixels. */
#define GF_STREAM_VARIANTS(X)                                                                      \
    X(3, 0)                                                                                        \
    X(5, 0) X(7, 0) X(9, 0) X(11, 0) X(13, 0) X(15, 0) X(3, 1) X(5, 1) X(7, 1) X(3, 2) X(5, 2) X(7, 2)

/* The same for full windows whose rows are mirrored about the middle: gf_stream_PIXEL_mirrored_K_0,
 * and for bytes and whole taps, in terms whole in their rows: gf_stream_u8_whole_K_TERMS. */
#define GF_STREAM_MIRRORED_VARIANTS(X) X(5, 0) X(7, 0) X(9, 0) X(11, 0) X(13, 0) X(15, 0)
#define GF_STREAM_WHOLE_VARIANTS(X) \
    X(3, 0) X(5, 0) X(7, 0) X(3, 1) X(5, 1) X(7, 1) X(3, 2) X(5, 2) X(7, 2)

/* Neighbouring columns of a thread, for source pixels of so many bytes. */
#define GF_STREAM_COLUMNS(K, TERMS, BYTES)                                                         \
    ((K) > 7 || ((K) > 3 && (TERMS) > 1) ? 4 : (K) == 7 || (BYTES) < 4 ? 8 : 4)

/* Rows that a thread reads ahead; more would make long loops, which run out of instruction cache.
 */
#define GF_STREAM_ROWS(K) ((K) > 7 ? 1 : 2)

/* Output rows of a block on a large image, or more: each begins with K - 1 rows that complete
 * nothing. */
#define GF_STREAM_HEIGHT(K, TERMS, BYTES) ((K) <= 3 ? ((BYTES) == 4 ? 32 : 48) : (K) <= 7 ? 48 : 96)

/* Rows that a thread makes of a column at the image's left or right end. */
#define GF_STREAM_EDGE_ROWS(K) ((K) <= 7 ? 16 : 32)

/* Integer pixels are taken for floats of so many 2^UNIT: 8 and 16 bits up to bit 23, and the sums of
 * whole taps as they are. */
#define GF_STREAM_UNIT(BYTES) ((BYTES) == 1 ? -133 : (BYTES) == 2 ? -141 : 0)
enum { GF_STREAM_UNIT_WHOLE = -149 };

/* Threads of a block, and blocks that a multiprocessor is to hold at least. */
enum { GF_STREAM_THREADS = 128 };
#define GF_STREAM_BLOCKS(K, TERMS, BYTES)                                                          \
    ((K) <= 3 ? ((TERMS) == 2 ? 5 : 8) : (K) <= 5 ? 5 : (K) > 11 || ((K) == 7 && (BYTES) == 4) ? 3 : 4)

/* Pixels read beside a thread's columns for K / 2 of them: whole words, a power of two. */
#define GF_STREAM_MARGIN(K, BYTES)                                                                 \
    ((K) > 9 ? 8 : (K) > 5 || (BYTES) == 1 ? 4 : (K) > 3 || (BYTES) == 2 ? 2 : 1)

#endif
