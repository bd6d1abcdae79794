/* Shapes of the kernels on a coarse grid, for kernels/coarse.cu and what launches it. */
#ifndef GF_COARSE_VARIANTS_H
#define GF_COARSE_VARIANTS_H

/* Neighbouring columns of a thread, which are a block of the grid: of source pixels, and of result
 * pixels. */
#define GF_COARSE_COLUMNS(pixel) ((pixel) == GF_P_U8 ? 8 : 4)

/* Steps are multiples of GF_COARSE_GROUP pixels; `down` reads so many rows at once. */
enum { GF_COARSE_GROUP = 4 };

/* Rows of results of a thread that sums along columns. Tap lists are multiples of it, and longer
 * than the taps by GF_COARSE_ROWS - 1. */
enum { GF_COARSE_ROWS = 8 };

/* Rows of a block of `blocks`, a warp each, and intervals that a warp looks at. */
enum { GF_COARSE_BLOCK_ROWS = 4, GF_COARSE_BLOCK_COLUMNS = 128 };

/* Place of an element in shared memory: lanes that are eight elements apart use different banks for
 * four of them. */
#define GF_COARSE_AT(i) ((i) + ((i) >> 5) * 4)

enum {
    GF_COARSE_DOWN_THREADS = 128,
    GF_COARSE_COLUMN_THREADS = 128,
    GF_COARSE_BLOCK_THREADS = 32 * GF_COARSE_BLOCK_ROWS,
    GF_COARSE_WIDE_THREADS = 512,
    GF_COARSE_UP_THREADS = 128
};

#endif
