/* Shapes of kernels/tilefft.cu, for the kernels and their caller.
 *
 * By variant a tile has GF_TILEFFT_HEIGHT(R) rows, R being the radix of the first step down the
 * columns, and PARTS times GF_TILEFFT_COLUMNS columns; kernels are gf_tilefft_PIXEL_R_PARTS. */
#ifndef GF_TILEFFT_VARIANTS_H
#define GF_TILEFFT_VARIANTS_H

#define GF_TILEFFT_VARIANTS(X) X(16, 1) X(32, 1) X(32, 2)

/* Columns that are in shared memory at a time. */
enum { GF_TILEFFT_COLUMNS = 128 };

/* Complex rows: pixel rows y and y + this are real and imaginary part. */
#define GF_TILEFFT_LINES(R) (4 * (R))
#define GF_TILEFFT_HEIGHT(R) (2 * GF_TILEFFT_LINES(R))

/* Neighbouring columns of a thread where it has R points of a column. */
#define GF_TILEFFT_NEIGHBOURS(R) (GF_TILEFFT_POINTS / (R))

/* A thread holds so many points. Blocks: those that a multiprocessor is to hold. */
enum { GF_TILEFFT_POINTS = 32 };
#define GF_TILEFFT_THREADS(R) (16 * (R))
#define GF_TILEFFT_BLOCKS(R, BYTES) ((R) > 16 ? 1 : (BYTES) == 1 ? 3 : 2)

/* Complex numbers from a line of the tile in shared memory to the next: two more after every
 * sixteen keep all three ways to walk over it free of bank conflicts. */
enum { GF_TILEFFT_PITCH = GF_TILEFFT_COLUMNS + GF_TILEFFT_COLUMNS / 8 };
#define GF_TILEFFT_BYTES(R) (8 * GF_TILEFFT_PITCH * GF_TILEFFT_LINES(R))

/* Roots of unity that depend on the thread, as complex numbers: first four for each of R nodes of
 * the tree over columns, then eight for each of 8 nodes of that over rows, then four for each of 16
 * columns, then one for each column. */
#define GF_TILEFFT_NODE_ROOTS 4
#define GF_TILEFFT_LINE_ROOTS 8
#define GF_TILEFFT_BACK_ROOTS 4
#define GF_TILEFFT_ROOTS(R)                                                                        \
    (GF_TILEFFT_NODE_ROOTS * (R) + GF_TILEFFT_LINE_ROOTS * 8 + GF_TILEFFT_BACK_ROOTS * 16 +        \
     GF_TILEFFT_COLUMNS)

#endif
