/* Shapes of the box kernels, for kernels/box.cu and what launches it. */
#ifndef GF_BOX_VARIANTS_H
#define GF_BOX_VARIANTS_H

/* Both: rows of a step. */
enum { GF_BOX_STEP = 8 };

/* gf_box_walk_PIXEL: most groups of 8 bytes of a strip's row, each with a thread, and most threads
 * of a block; results of a row that a thread makes, and most bytes of those of a block; the longest
 * windows, so that sums of u8 columns fit 15 bits, those of windows 22 bits; steps whose rows are
 * under way. A list of columns that the source has not: bytes, and an entry's half for the border's
 * value. NARROW: the same of gf_box_walk_u8_narrow, of whose blocks two have room for the rows of
 * longer windows. AGAIN: of gf_box_walk_PIXEL_again, which reads rows again when they leave. */
enum {
    GF_BOX_WALK_GROUPS = 152,
    GF_BOX_WALK_THREADS = 480,
    GF_BOX_WALK_RUN = 32,
    GF_BOX_WALK_BYTES = 1184,
    GF_BOX_NARROW_GROUPS = 80,
    GF_BOX_NARROW_THREADS = 256,
    GF_BOX_NARROW_RUN = 32,
    GF_BOX_NARROW_BYTES = 608,
    GF_BOX_AGAIN_GROUPS = 192,
    GF_BOX_AGAIN_THREADS = 384,
    GF_BOX_AGAIN_RUN = 64,
    GF_BOX_AGAIN_BYTES = 8 * GF_BOX_AGAIN_GROUPS,
    GF_BOX_LONGEST = 128,
    GF_BOX_AHEAD = 2,
    GF_BOX_LIST_BYTES = 4 * 256,
    GF_BOX_OUTSIDE = 0xffff
};

/* Bytes of a row of the ring and of a row of sums, with a group more that is read and does not
 * count: the same columns of eight rows lie in different banks. */
#define GF_BOX_RING_PITCH(GROUPS) (8 * (GROUPS))
#define GF_BOX_PITCH_OF_SUMS(GROUPS) (16 * ((GROUPS) + 7) / 128 * 128 + 16)

/* Rows of a ring: those of a window of KH rows and those under way. Results of a warp, RUN of a
 * thread, of pixels of so many BYTES. Shared memory. */
#define GF_BOX_RING_ROWS(KH)                                                                       \
    (((KH) + GF_BOX_STEP * (GF_BOX_AHEAD + 1) - 1) / GF_BOX_STEP * GF_BOX_STEP)
#define GF_BOX_WARP_RESULTS(RUN, BYTES) (GF_BOX_STEP * (4 * (RUN) * (BYTES) + 16))
#define GF_BOX_WALK_SHARED(GROUPS, RUN, ROWS, WARPS, BYTES)                                        \
    (GF_BOX_LIST_BYTES + 2 * GF_BOX_STEP * GF_BOX_PITCH_OF_SUMS(GROUPS) +                          \
     (ROWS)*GF_BOX_RING_PITCH(GROUPS) + (WARPS)*GF_BOX_WARP_RESULTS(RUN, BYTES))

/* gf_box_PIXEL: threads of a block, which has four neighbouring columns for each; a warp makes a
 * row of a step; results that a lane makes in a row, an odd number, so that what the lanes read
 * lies in different banks. */
enum {
    GF_BOX_THREADS = 256,
    GF_BOX_COLUMNS = 4 * GF_BOX_THREADS,
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
