/* Shapes of the kernels for windows that are not separable on tensor cores, for kernels/band.cu and
 * what launches it. */
#ifndef GF_BAND_VARIANTS_H
#define GF_BAND_VARIANTS_H

/* A cell is GF_BAND_ACROSS x GF_BAND_DOWN results. With the window around them they take `pairs` of
 * words, eight columns, of so many groups of rows. A product takes four of these pairs: of four
 * rows, or two neighbours of two rows each. */
enum { GF_BAND_ACROSS = 8, GF_BAND_DOWN = 2, GF_BAND_PAIR = 8 };
#define GF_BAND_GROUP(PAIRS) ((PAIRS) % 2 ? 4 : 2)                 /* rows */
#define GF_BAND_PRODUCTS(PAIRS) ((PAIRS) % 2 ? (PAIRS) : (PAIRS) / 2) /* of a group */

/* gf_band_SLICES_GROUPS_PAIRS keeps its taps in registers; gf_band_SLICES_PAIRS has any number of
 * groups. Each slice is eight bits of the taps. */
#define GF_BAND_HELD_VARIANTS(X)                                                                   \
    X(1, 2, 2) X(2, 2, 2) X(3, 2, 2) X(1, 3, 2) X(2, 3, 2) X(3, 3, 2)                              \
    X(1, 4, 2) X(2, 4, 2) X(3, 4, 2) X(1, 5, 2) X(2, 5, 2) X(3, 5, 2)
#define GF_BAND_VARIANTS(X)                                                                        \
    X(1, 2) X(2, 2) X(3, 2) X(1, 3) X(2, 3) X(3, 3) X(1, 4) X(2, 4) X(3, 4) X(1, 5) X(2, 5) X(3, 5)
/* Blocks that a multiprocessor is to hold. */
enum { GF_BAND_HELD_BLOCKS = 4, GF_BAND_BLOCKS = 3 };
enum { GF_BAND_MOST_SLICES = 3, GF_BAND_MOST_PAIRS = 5, GF_BAND_MOST_ROWS = 32 };

/* Results of a block. Its tile's rows hold the columns of the left half and of the right half, word
 * by word in turn. Bytes from row to row: such that the rows of a product lie in different banks. */
enum { GF_BAND_WIDTH = 256, GF_BAND_HALF = 128, GF_BAND_HEIGHT = 64, GF_BAND_THREADS = 128 };
#define GF_BAND_COLUMNS(PAIRS) (GF_BAND_HALF + GF_BAND_PAIR * ((PAIRS) - 1)) /* of a half */
#define GF_BAND_PITCH(PAIRS) ((PAIRS) % 2 == 0 ? 304 : (PAIRS) == 3 ? 288 : 352)
#define GF_BAND_ROWS(GROUPS, PAIRS) (GF_BAND_HEIGHT - GF_BAND_DOWN + GF_BAND_GROUP(PAIRS) * (GROUPS))
#define GF_BAND_SHARED_BYTES(GROUPS, PAIRS) (GF_BAND_ROWS(GROUPS, PAIRS) * GF_BAND_PITCH(PAIRS))

/* The taps are fragments as the instruction takes them, 16 bytes a lane: for each product of each
 * group of rows, for each slice, the most significant one first. */
#define GF_BAND_TAPS_BYTES(GROUPS, PAIRS, SLICES)                                                  \
    ((GROUPS) * GF_BAND_PRODUCTS(PAIRS) * (SLICES) * 32 * 16)

#endif
