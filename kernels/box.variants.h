/* Shapes of the box kernels, for kernels/box.cu and what launches it. */
#ifndef GF_BOX_VARIANTS_H
#define GF_BOX_VARIANTS_H

/* gf_box_u8_N and gf_box_u16_N: bytes of a row that a lane has; the longest windows, u8 ones to
 * either axis so that sums of a column and of the window fit 15 and 22 bits; warps of a block. N is
 * kw modulo half of a lane's columns. */
enum {
    GF_BOX_LANE_BYTES = 16,
    GF_BOX_LONGEST = 128,
    GF_BOX_WARPS = 4,
    GF_BOX_BLOCKS = 4,
    GF_BOX_ROWS = 2
};

/* Groups of a lane's columns that a warp makes results of: those whose windows lie in its columns.
 */
#define GF_BOX_LANE(BYTES) (GF_BOX_LANE_BYTES / (BYTES))
#define GF_BOX_WARP_GROUPS(KW, BYTES) ((32 * GF_BOX_LANE(BYTES) - (KW) + 1) / GF_BOX_LANE(BYTES))

/* Shared memory of a warp: two bytes a column for where the columns are that it has to fold, and
 * twice the sums of a row's columns, in two planes of every other 16 bytes; lanes read past the
 * last ones. */
enum {
    GF_BOX_PLACES = 2 * 32 * GF_BOX_LANE_BYTES,
    GF_BOX_PLANE = 16 * (32 + GF_BOX_LONGEST / 8 + 2),
    GF_BOX_WARP_SHARED = GF_BOX_PLACES + 2 * GF_BOX_ROWS * GF_BOX_PLANE
};

/* gf_box_PIXEL: threads of a block, which has four neighbouring columns for each; rows of a step, a
 * warp for each; results that a lane makes in a row, an odd number, so that what the lanes read
 * lies in different banks. */
enum {
    GF_BOX_THREADS = 256,
    GF_BOX_COLUMNS = 4 * GF_BOX_THREADS,
    GF_BOX_STEP = 8,
    GF_BOX_RUN = 33,
    GF_BOX_WIDEST = 512,                           /* window */
    GF_BOX_PITCH = GF_BOX_COLUMNS + GF_BOX_RUN + 3 /* lanes read on for results that do not count */
};

/* Whole groups of GF_BOX_STEP rows that a window of KH rows may have, and shared memory: a step's
 * rows and each thread's sums of so many groups. */
#define GF_BOX_GROUPS(KH) (((KH)-1) / GF_BOX_STEP)
#define GF_BOX_SHARED_BYTES(KH)                                                                    \
    (4 * GF_BOX_STEP * GF_BOX_PITCH + 16 * GF_BOX_THREADS * GF_BOX_GROUPS(KH))

#endif
