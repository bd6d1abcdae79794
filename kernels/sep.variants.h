/* Shapes of the fused separable kernels, for kernels/sep.cu and its launch configuration. */
#ifndef GF_SEP_VARIANTS_H
#define GF_SEP_VARIANTS_H

#include "kernels/direct.variants.h"

/* Neighbouring results a thread makes in a pass along a row. */
enum { GF_SEP_OUT = 8 };

/* ---- gf_sep, any size: rows a block brings in a step ---------------------------------------- */

enum { GF_SEP_ROWS = 16 };

/* ---- gf_sep_K_TERMS, windows of K x K with so many terms ------------------------------------ */

/* Longer ones of one term: kernels/ring.cu. No more than 32 taps: a sum is one run. */
#define GF_SEP_VARIANTS(X)                                                                         \
    X(3, 1) X(5, 1) X(7, 1) X(3, 2) X(5, 2) X(7, 2) X(9, 2) X(11, 2) X(13, 2) X(15, 2) X(17, 2)

/* Rows a block takes in a step. */
enum { GF_SEP_K_ROWS = 8 };

/* Neighbouring columns of a thread, which keeps K unfinished sums of each in registers. */
#define GF_SEP_K_COLUMNS(K, TERMS) (((K) <= 17 ? 4 : 2) / (TERMS))

/* Most threads of a block, and blocks a multiprocessor is to hold at least. */
#define GF_SEP_K_THREADS(K) ((K) <= 17 ? 128 : 256)
#define GF_SEP_K_BLOCKS(K) ((K) <= 7 ? 6 : (K) <= 11 ? 5 : (K) <= 17 ? 4 : 2)

/* Columns before a window's first one, so that with the anchor in the middle the groups of columns
 * that threads read are those of the image. */
#define GF_SEP_LEAD(K) GF_DIRECT_LEAD(K)

#endif
