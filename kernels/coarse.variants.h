/* Shapes of the kernels on a coarse grid, for kernels/coarse.cu and what launches it. */
#ifndef GF_COARSE_VARIANTS_H
#define GF_COARSE_VARIANTS_H

/* Neighbouring columns of a thread, which are a block of the grid: of source pixels, and of result
 * pixels. */
#define GF_COARSE_COLUMNS(pixel) ((pixel) == GF_P_U8 ? 8 : 4)

/* Steps are multiples of GF_COARSE_GROUP pixels; `down` reads so many rows at once. */
enum { GF_COARSE_GROUP = 4 };

/* Digits of eight bits, with sign, that phi has for whole pixels. */
enum { GF_COARSE_DIGITS = 3 };

/* Words of the digits for a step of a product, and steps whose rows are in memory or on their way. */
enum { GF_COARSE_STEP_WORDS = 2 * GF_COARSE_DIGITS * 32, GF_COARSE_STAGES = 3 };

/* Lists of the rest's taps along rows have zeros before them, and room for as many results. */
#define GF_COARSE_REST_ZEROS 15
#define GF_COARSE_REST_N(steps) (8 * (steps) + 16)

/* Columns of a block of `wide` are divided by the step so: times step_inverse, a fraction of so many
 * bits. */
enum { GF_COARSE_INVERSE_BITS = 20 };

/* Blocks of threads of a run of `down` that make what the border makes of blocks. */
enum { GF_COARSE_EDGES = 4 };

/* Rows of results of a thread that sums along columns. Tap lists are multiples of it, and longer
 * than the taps by GF_COARSE_ROWS - 1. Warps of such a block. */
enum { GF_COARSE_ROWS = 8, GF_COARSE_COLUMN_WARPS = 4 };

/* Rows of a block of `blocks`, a warp each, and intervals that a warp looks at. */
enum { GF_COARSE_BLOCK_ROWS = 4, GF_COARSE_BLOCK_COLUMNS = 128 };

/* Place of an element in shared memory: lanes that are eight elements apart use different banks for
 * four of them. */
#define GF_COARSE_AT(i) ((i) + ((i) >> 5) * 4)

enum {
    GF_COARSE_DOWN_THREADS = 128,
    GF_COARSE_BLOCK_THREADS = 32 * GF_COARSE_BLOCK_ROWS,
    GF_COARSE_WIDE_THREADS = 128,
    GF_COARSE_SEGMENT = 2048, /* columns of a block of `wide` */
    GF_COARSE_UP_THREADS = 128
};

#endif
