/* Shapes of the streaming kernels, for kernels/stream.cu and its launch configuration. */
#ifndef GF_STREAM_VARIANTS_H
#define GF_STREAM_VARIANTS_H

/* Windows of K x K as so many separable terms, or 0 for all K * K taps: kernel
 * gf_stream_PIXEL_K_TERMS for each type of the source's pixels. */
#define GF_STREAM_VARIANTS(X)                                                                      \
    X(3, 0)                                                                                        \
    X(5, 0) X(7, 0) X(9, 0) X(11, 0) X(13, 0) X(15, 0) X(3, 1) X(5, 1) X(7, 1) X(3, 2)

/* Neighbouring columns of a thread, for source pixels of so many bytes. */
#define GF_STREAM_COLUMNS(K, BYTES) ((K) > 7 ? 4 : (K) == 7 || (BYTES) < 4 ? 8 : 4)

/* Rows that a thread reads ahead; more would make long loops, which run out of instruction cache.
 */
#define GF_STREAM_ROWS(K) ((K) > 7 ? 1 : 2)

/* Output rows of a block on a large image: each begins with K - 1 rows that complete nothing, and
 * fewer blocks fill the chip less evenly. Even: with K - 1, whole steps. */
#define GF_STREAM_HEIGHT(K) ((K) <= 3 ? 24 : (K) <= 7 ? 48 : 96)

/* Threads of a block, and blocks that a multiprocessor is to hold at least. */
enum { GF_STREAM_THREADS = 128 };
#define GF_STREAM_BLOCKS(K, TERMS, BYTES)                                                          \
    ((K) <= 3 ? ((TERMS) == 2 ? 5 : 8) : (K) <= 5 ? 5 : (K) == 7 && (BYTES) == 4 ? 3 : 4)

/* Pixels read beside a thread's columns for K / 2 of them: whole words, a power of two. */
#define GF_STREAM_MARGIN(K, BYTES)                                                                 \
    ((K) > 9 ? 8 : (K) > 5 || (BYTES) == 1 ? 4 : (K) > 3 || (BYTES) == 2 ? 2 : 1)

#endif
