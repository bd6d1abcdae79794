/* Shapes of the separable kernels for warpgroups, for kernels/wgmma.cu and what launches it. */
#ifndef GF_WGMMA_VARIANTS_H
#define GF_WGMMA_VARIANTS_H

/* gf_wgmma_NAME: for 64 columns of results it takes 32 * K columns of the source, and sixteen rows
 * that come in count for bands of 32 rows of results in I places: windows of at most 16 * I - 31
 * rows. Taps along rows have DIGITS digits of eight bits. A block has GROUPS warpgroups, a
 * multiprocessor is to hold BLOCKS. OWN: for unsharp masks, else for sums. STEP: nanoseconds of a
 * step of all blocks of a full multiprocessor; H200, 2026-11-30, from 8192^2 in 0.067, 0.085, 0.099,
 * 0.112, 0.127, unsharp 0.087 ms; those of 17_fine and own_17_fine predicted. */
#define GF_WGMMA_VARIANTS(X)                                                                       \
    X(17, 3, 3, 2, 2, 2, false, 1820)                                                              \
    X(17_fine, 3, 3, 3, 2, 2, false, 1940)                                                         \
    X(33, 3, 4, 3, 1, 3, false, 1780)                                                              \
    X(49, 4, 5, 3, 1, 3, false, 2090)                                                              \
    X(65, 4, 6, 3, 1, 2, false, 1620)                                                              \
    X(81, 5, 7, 3, 1, 2, false, 1820)                                                              \
    X(own_17, 3, 3, 2, 2, 2, true, 2410)                                                           \
    X(own_17_fine, 3, 3, 3, 2, 2, true, 2530)

/* Columns of results of a warpgroup; rows of the source that are made sums of at a time, and rows
 * of results whose bands lie together. */
enum { GF_WGMMA_WIDTH = 64, GF_WGMMA_ROWS = 64, GF_WGMMA_BAND_ROWS = 32 };

/* Threads of a block; stages of GF_WGMMA_ROWS rows of the source that shared memory holds, and that
 * are there or on their way when the next one is wanted: unsharp masks still need the one before;
 * bands of results that are made at a time. */
#define GF_WGMMA_THREADS(GROUPS) (128 * (GROUPS))
#define GF_WGMMA_STAGES(OWN) ((OWN) ? 4 : 3)
enum { GF_WGMMA_AHEAD = 2 };
#define GF_WGMMA_BANDS(I) (((I) + 1) / 2)

/* Chunks of sixteen columns of the source that a block needs. */
#define GF_WGMMA_CHUNKS(K, GROUPS) (2 * (K) + ((GROUPS) - 1) * GF_WGMMA_WIDTH / 16)

/* Bytes of shared memory: of a stage of pixels; of the taps down columns, binary16, for each of the I
 * places: 32 rows of results for sixteen of sums; from row to row of results, of which there are two
 * steps. */
#define GF_WGMMA_STAGE_BYTES(K, GROUPS) (16 * GF_WGMMA_ROWS * GF_WGMMA_CHUNKS(K, GROUPS))
enum { GF_WGMMA_DOWN_BYTES = GF_WGMMA_BAND_ROWS * 16 * 2 };
#define GF_WGMMA_RESULT_PITCH(GROUPS) (GF_WGMMA_WIDTH * (GROUPS) + 16)
#define GF_WGMMA_SHARED_BYTES(K, I, GROUPS, OWN)                                                   \
    (GF_WGMMA_STAGES(OWN) * GF_WGMMA_STAGE_BYTES(K, GROUPS) + 3 * (I) * GF_WGMMA_DOWN_BYTES +      \
     2 * GF_WGMMA_ROWS * GF_WGMMA_RESULT_PITCH(GROUPS))

/* The taps down columns lie in device memory as in shared memory: high parts, low parts, and high
 * parts for low parts of sums. Of those along rows each thread of a warpgroup has sixteen bytes for
 * every 32 columns, highest digits first. There are those of the kernel's digits, and, of three
 * digits, those of GF_WGMMA_SIDES kinds of warpgroups at the sides. */
#define GF_WGMMA_ALONG_BYTES(K, DIGITS) (128 * 16 * (DIGITS) * (K))
enum { GF_WGMMA_SIDES = 4 };

/* The column that row `row` of the taps along rows stands for: two that a lane has lie side by side. */
#define GF_WGMMA_COLUMN(row) ((row) / 16 * 16 + (row) % 8 * 2 + (row) / 8 % 2)

#endif
