/* Shapes of the wide kernels, for kernels/wide.cu and what launches it. */
#ifndef GF_WIDE_VARIANTS_H
#define GF_WIDE_VARIANTS_H

/* gf_wide_PIXEL_G serves windows of up to 8 * G - 7 taps to either axis: eight results of a row or
 * a column see G groups of eight pixels. A product of binary16 takes two groups, so that of u16
 * pixels an odd G is as fast as the even one before it; with more of them, what products cut off
 * would come near the sixteenth of a level that results may be off by. */
#define GF_WIDE_VARIANTS_F32(X) X(3) X(5) X(6) X(7) X(9) X(11) X(13) X(15) X(17)
#define GF_WIDE_VARIANTS_U16(X) X(3) X(5) X(7) X(9) X(11) X(13)
enum { GF_WIDE_MOST = 17 };

/* gf_wide_broad_G serves long f32 windows on large images, where a block may have most of a
 * multiprocessor's shared memory: what is kept of the sums along rows lies there, and the registers
 * do for three warps a quarter in place of two. With shorter windows that gains nothing. */
#define GF_WIDE_VARIANTS_BROAD(X) X(11) X(13)

/* A block has a warp for every sixteen columns of its strip, as many for each quarter of a
 * multiprocessor; so many blocks are to be on a multiprocessor, that registers do not spill. */
#define GF_WIDE_WARPS(G, broad) ((broad) ? 12 : (G) > 4 && (G) <= 13 ? 4 : 8)
#define GF_WIDE_BLOCKS(G, bytes, broad)                                                            \
    ((broad) || (G) > 13 ? 1 : (G) < 5 || ((G) > 7 && (bytes) == 4) ? 2 : 3)
#define GF_WIDE_THREADS(G, broad) (32 * GF_WIDE_WARPS(G, broad))
#define GF_WIDE_WIDTH(G, broad) (16 * GF_WIDE_WARPS(G, broad))

/* It goes down its strip GF_WIDE_STEP rows at a time. One slot holds the step's pixels, the next
 * one those of the step after it, which are being completed, and those of a third are on their way;
 * where shared memory is plenty a fourth still has the step before it. */
enum { GF_WIDE_STEP = 32, GF_WIDE_TILES = 4 };
#define GF_WIDE_SLOTS(G) ((G) > 4 ? 3 : 4)
/* Steps before the first results. */
#define GF_WIDE_AHEAD(G) (((G) + 2) / GF_WIDE_TILES)

/* Groups of four pixels in a row of a slot, margin included; bytes from row to row, an odd number
 * of 16-byte groups, so that eight rows lie in different banks. */
#define GF_WIDE_ROW_GROUPS(G, broad) (GF_WIDE_WIDTH(G, broad) / 4 + 2 * (G)-2)
#define GF_WIDE_PITCH(G, bytes, broad) (16 * (GF_WIDE_ROW_GROUPS(G, broad) * (bytes) / 4 | 1))

/* The strips before this one do not see an image's end at the right. */
#define GF_WIDE_INNER_END(G, broad, lead, width)                                                   \
    (((width) + (lead)-8 * (G) + 8) / GF_WIDE_WIDTH(G, broad))

/* The weights are words for each lane 4g+t, four at a time: high parts of f32 windows are single
 * taps in tf32, all other words two taps. The tap of a result n and a pixel k of a band is tap k -
 * n, less what the window is shifted by. Along rows, of each product, the first operand of the
 * instruction, whose rows are results in the order 0, 2, 4 … 14, 1, 3 … 15; all high parts, then
 * all low ones. Down columns, of each two groups i - 1 and i, high parts and low ones: pairs 8 * i
 * - 8 + 2t - g and eight on, but the high parts of an f32 window are those of group i - 1 alone. */
#define GF_WIDE_PRODUCTS(G, bytes) ((bytes) == 4 ? (G) + 1 : ((G) + 1) / 2)
#define GF_WIDE_LOW_PRODUCTS(G, bytes)                                                             \
    ((bytes) == 4 ? (GF_WIDE_PRODUCTS(G, bytes) + 1) / 2 : GF_WIDE_PRODUCTS(G, bytes))
#define GF_WIDE_ALONG_BYTES(G, bytes)                                                              \
    ((GF_WIDE_PRODUCTS(G, bytes) + GF_WIDE_LOW_PRODUCTS(G, bytes)) * 32 * 16)
#define GF_WIDE_DOWN_BYTES(G) (((G) + 1) * 32 * 16)
#define GF_WIDE_WEIGHT_BYTES(G, bytes) (GF_WIDE_ALONG_BYTES(G, bytes) + GF_WIDE_DOWN_BYTES(G))

/* Shared memory: notes, the weights, slots, an int for each column, and of broad blocks what each
 * thread keeps of a step's sums and of those before. */
enum { GF_WIDE_NOTES = 32 };
#define GF_WIDE_RING_AT(G, bytes, broad)                                                           \
    (GF_WIDE_NOTES + GF_WIDE_WEIGHT_BYTES(G, bytes) +                                              \
     GF_WIDE_SLOTS(G) * GF_WIDE_STEP * GF_WIDE_PITCH(G, bytes, broad) +                            \
     16 * GF_WIDE_ROW_GROUPS(G, broad))
#define GF_WIDE_RING_BYTES(G, bytes, broad)                                                        \
    ((broad)*GF_WIDE_THREADS(G, broad) * (GF_WIDE_AHEAD(G) + 1) * GF_WIDE_TILES * 16)
#define GF_WIDE_SHARED_BYTES(G, bytes, broad)                                                      \
    (GF_WIDE_RING_AT(G, bytes, broad) + GF_WIDE_RING_BYTES(G, bytes, broad))

#endif
