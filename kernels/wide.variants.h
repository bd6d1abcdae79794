/* Shapes of the wide kernels, for kernels/wide.cu and what launches it. */
#ifndef GF_WIDE_VARIANTS_H
#define GF_WIDE_VARIANTS_H

/* gf_wide_PIXEL_N serves windows that reach 16 * (N - 1) pixels past a group of sixteen results, to
 * either axis. */
#define GF_WIDE_VARIANTS(X) X(2) X(3) X(4) X(5) X(6) X(7) X(8)
enum { GF_WIDE_LEAST = 2, GF_WIDE_MOST = 8 };

/* A block has a warp for every sixteen columns of its strip; a multiprocessor is to hold two blocks
 * or one large one. Pixels are of `bytes` bytes. */
#define GF_WIDE_WARPS(N, bytes) ((N) < ((bytes) == 4 ? 3 : 5) ? 8 : 12)
#define GF_WIDE_BLOCKS(N, bytes) (GF_WIDE_WARPS(N, bytes) == 8 ? 2 : 1)
#define GF_WIDE_THREADS(N, bytes) (32 * GF_WIDE_WARPS(N, bytes))
#define GF_WIDE_WIDTH(N, bytes) (16 * GF_WIDE_WARPS(N, bytes))

/* It goes down its strip GF_WIDE_STEP rows at a time; pixels of the next steps are on their way to the
 * other slots. */
enum { GF_WIDE_STEP = 16, GF_WIDE_SLOTS = 4 };

/* Groups of four pixels in a row of a slot, margin included; bytes from row to row, an odd number of
 * 16-byte groups, so that eight rows lie in different banks. */
#define GF_WIDE_ROW_GROUPS(N, bytes) (4 * (GF_WIDE_WARPS(N, bytes) + (N) - 1))
#define GF_WIDE_PITCH(N, bytes) (4 * (bytes) * GF_WIDE_ROW_GROUPS(N, bytes) + 16)

/* The weights are words for each lane 4g+t, four at a time. Words hold a tap of an f32 window, two
 * neighbouring ones of a u16 window. The tap of a row n and a column k of a band is tap k - n, less
 * what the window is shifted by. Along rows, of each product, the first operand of the instruction,
 * a row a result; high parts, then low parts. Down columns groups i of taps 8 * i - 8 + 2t - g and
 * the next one, or pairs 16 * i - 16 + 2t - g and eight on; two high parts, then two low parts. */
#define GF_WIDE_PRODUCTS(N, bytes) ((bytes) == 4 ? 2 * (N) : (N))
#define GF_WIDE_ALONG_BYTES(N, bytes) (GF_WIDE_PRODUCTS(N, bytes) * 2 * 32 * 16)
#define GF_WIDE_DOWN_BYTES(N, bytes) ((GF_WIDE_PRODUCTS(N, bytes) + 1) * 32 * 16)

/* Shared memory: notes, the taps along rows, slots, an int for each column. */
enum { GF_WIDE_NOTES = 16 };
#define GF_WIDE_SHARED_BYTES(N, bytes)                                                             \
    (GF_WIDE_NOTES + GF_WIDE_ALONG_BYTES(N, bytes) +                                               \
     GF_WIDE_SLOTS * GF_WIDE_STEP * GF_WIDE_PITCH(N, bytes) + 16 * GF_WIDE_ROW_GROUPS(N, bytes))

#endif
