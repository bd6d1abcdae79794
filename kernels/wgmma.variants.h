/* Shapes of the separable kernels for warpgroups, for kernels/wgmma.cu and what launches it. */
#ifndef GF_WGMMA_VARIANTS_H
#define GF_WGMMA_VARIANTS_H

/* gf_wgmma_NAME: pixels have BYTES bytes. For 64 columns of results it takes 32 * K bytes of each
 * row of the source, and sixteen rows that come in count for bands of 32 rows of results in I
 * places: windows of at most 16 * I - 31 rows. SUMS: of the first pass, below. A block has GROUPS
 * warpgroups, a multiprocessor is to hold BLOCKS. OWN: for unsharp masks, else for sums. STEP:
 * nanoseconds of a step of all blocks of a full multiprocessor; H200, 2026-12-01, from 8192^2 in
 * 0.063, 0.080, 0.098, 0.105, 0.126, unsharp 0.080 and 0.102, u16 0.120, 0.143, 0.173, 0.207 ms;
 * that of 17_fine predicted. */
#define GF_WGMMA_VARIANTS(X)                                                                       \
    X(17, 1, 3, 3, GF_WGMMA_SHORT, 2, 2, false, 1710)                                              \
    X(17_fine, 1, 3, 3, GF_WGMMA_LONG, 2, 2, false, 1940)                                          \
    X(33, 1, 3, 4, GF_WGMMA_CARRIED, 1, 3, false, 1670)                                            \
    X(49, 1, 4, 5, GF_WGMMA_CARRIED, 1, 3, false, 2065)                                            \
    X(65, 1, 4, 6, GF_WGMMA_CARRIED, 1, 2, false, 1515)                                            \
    X(81, 1, 5, 7, GF_WGMMA_CARRIED, 1, 2, false, 1805)                                            \
    X(own_17, 1, 3, 3, GF_WGMMA_SHORT, 2, 2, true, 2210)                                           \
    X(own_17_fine, 1, 3, 3, GF_WGMMA_LONG, 2, 2, true, 2850)                                       \
    X(u16_17, 2, 5, 3, GF_WGMMA_TRIMMED, 1, 3, false, 2620)                                        \
    X(u16_33, 2, 6, 4, GF_WGMMA_TRIMMED, 2, 1, false, 2100)                                        \
    X(u16_49, 2, 7, 5, GF_WGMMA_TRIMMED, 2, 1, false, 2540)                                        \
    X(u16_81, 2, 9, 7, GF_WGMMA_TRIMMED, 2, 1, false, 3040)

/* Sums along rows. SHORT: of 27 bits, of taps of two digits of eight bits, of which the upper one
 * counts `base` times, 256 or more. CARRIED: such sums, to which a third digit, 2^-8 each, adds
 * whole numbers. TRIMMED: of 27 bits, of three digits, lowest first; they lose a byte before the
 * next one's products, and once get `add` for all that is lost on average; for u16. LONG: of 32
 * bits, of three digits; these serve at the sides of u8 images always.
 *
 * A pixel of two bytes is two columns to the first pass: the upper one counts for a digit, the
 * lower one for the next lower digit. */
enum { GF_WGMMA_SHORT, GF_WGMMA_CARRIED, GF_WGMMA_TRIMMED, GF_WGMMA_LONG };
#define GF_WGMMA_DIGITS(SUMS) ((SUMS) == GF_WGMMA_SHORT ? 2 : 3)

/* They are split for the second pass: the highest eleven bits, and the next eight; or eleven, of
 * long ones and of trimmed ones. */
enum { GF_WGMMA_UPPER_BITS = 11 };
#define GF_WGMMA_LOWER_BITS(SUMS) ((SUMS) == GF_WGMMA_LONG || (SUMS) == GF_WGMMA_TRIMMED ? 11 : 8)
#define GF_WGMMA_SUM_BITS(SUMS) ((SUMS) == GF_WGMMA_LONG ? 32 : 27)
/* Half of what the bits count that are cut off: sums begin with it. */
#define GF_WGMMA_HALF_CUT(SUMS)                                                                    \
    (1 << (GF_WGMMA_SUM_BITS(SUMS) - GF_WGMMA_UPPER_BITS - GF_WGMMA_LOWER_BITS(SUMS) - 1))

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

/* Chunks of sixteen bytes of each row of the source that a block needs, and makes. */
#define GF_WGMMA_RESULT_CHUNKS(GROUPS, BYTES) ((GROUPS)*GF_WGMMA_WIDTH * (BYTES) / 16)
#define GF_WGMMA_CHUNKS(K, GROUPS, BYTES) (2 * (K) + GF_WGMMA_RESULT_CHUNKS((GROUPS)-1, BYTES))

/* Bytes of shared memory: of a stage of pixels; of the taps down columns, binary16, for each of the
 * I places: 32 rows of results for sixteen of sums; from row to row of results, of which there are
 * two steps; of how columns outside are mended. */
#define GF_WGMMA_STAGE_BYTES(K, GROUPS, BYTES)                                                     \
    (16 * GF_WGMMA_ROWS * GF_WGMMA_CHUNKS(K, GROUPS, BYTES))
enum { GF_WGMMA_DOWN_BYTES = GF_WGMMA_BAND_ROWS * 16 * 2 };
#define GF_WGMMA_RESULT_PITCH(GROUPS, BYTES) (16 * GF_WGMMA_RESULT_CHUNKS(GROUPS, BYTES) + 16)
#define GF_WGMMA_MENDS_BYTES(K, GROUPS, BYTES)                                                     \
    (16 + 2 * 2 * (16 / (BYTES)) * GF_WGMMA_CHUNKS(K, GROUPS, BYTES))
#define GF_WGMMA_SHARED_BYTES(BYTES, K, I, SUMS, GROUPS, OWN)                                      \
    (GF_WGMMA_STAGES(OWN) * GF_WGMMA_STAGE_BYTES(K, GROUPS, BYTES) + GF_WGMMA_ALL_DOWN_BYTES(I) +  \
     GF_WGMMA_ALL_ALONG_BYTES(K, SUMS) / GF_WGMMA_DIGITS(SUMS) *                                   \
         (GF_WGMMA_DIGITS(SUMS) - GF_WGMMA_KEPT(K, SUMS)) +                                        \
     2 * GF_WGMMA_ROWS * GF_WGMMA_RESULT_PITCH(GROUPS, BYTES) +                                    \
     GF_WGMMA_MENDS_BYTES(K, GROUPS, BYTES))

/* Taps, in device memory as in shared memory: those down columns, which are high parts, low parts,
 * and high parts for low parts of sums; then those along rows, highest digits first: for every 32
 * columns the first sixteen of each row, then the others. There are those for the kernel's sums,
 * and those for long ones, along rows of GF_WGMMA_SIDES kinds of warpgroups at the sides. */
#define GF_WGMMA_ALL_DOWN_BYTES(I) (3 * (I)*GF_WGMMA_DOWN_BYTES)
enum { GF_WGMMA_ALONG_BYTES = 32 * GF_WGMMA_WIDTH };
#define GF_WGMMA_ALL_ALONG_BYTES(K, SUMS) (GF_WGMMA_ALONG_BYTES * GF_WGMMA_DIGITS(SUMS) * (K))
/* Of those along rows registers hold so many digits, the uppermost ones, shared memory the others.
 */
enum { GF_WGMMA_MOST_KEPT = 3 * 7 };
#define GF_WGMMA_KEPT(K, SUMS)                                                                     \
    ((SUMS) == GF_WGMMA_CARRIED                                 ? 0                                \
     : (SUMS) == GF_WGMMA_TRIMMED && (K)*3 > GF_WGMMA_MOST_KEPT ? 2                                \
                                                                : GF_WGMMA_DIGITS(SUMS))
enum { GF_WGMMA_SIDES = 4 };

/* A result is a sum of the second pass times two to this power. A float that small is below all
 * normal ones: its bits are the whole number of times that it is 2^-149. */
#define GF_WGMMA_RESULT_EXPONENT(BYTES) ((BYTES) == 1 ? -137 : -129)
/* An unsharp mask's pixels come as so many times what results are. */
enum { GF_WGMMA_OWN_EXPONENT = 16 };

/* The column that row `row` of the taps along rows stands for: those of a lane that are bytes lie
 * side by side. */
#define GF_WGMMA_COLUMN(row, BYTES)                                                                \
    ((BYTES) == 1 ? (row) / 16 * 16 + (row) % 8 * 2 + (row) / 8 % 2 : (row))

#endif
