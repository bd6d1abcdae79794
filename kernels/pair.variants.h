/* Shapes of the kernels that make two windows in one launch, for kernels/pair.cu and what launches
 * it. */
#ifndef GF_PAIR_VARIANTS_H
#define GF_PAIR_VARIANTS_H

#include "kernels/tensor.variants.h"

/* gf_pair_S takes the first windows of gf_tensor_S_sym, of which it makes floats; blocks that a
 * multiprocessor is to hold. */
#define GF_PAIR_VARIANTS(X) X(2, 4) X(3, 4) X(5, 4) X(7, 3)

/* What is known of the second window and what follows it. ONE: it is a sum of one term. EDGES: the
 * magnitude of differences of sums 1 m 1, both ways. GATED: of such ones a threshold, which
 * compares squares. */
enum { GF_PAIR_ANY, GF_PAIR_ONE, GF_PAIR_EDGES, GF_PAIR_GATED };

/* The second window is 3x3. A warp makes sixteen rows of the first one's results, all warps
 * GF_PAIR_STEP columns at a time. In the buffer they lie behind the last GF_PAIR_KEPT columns of
 * those before; rows are eight banks apart. Two rows come out less than went in, but are read. */
enum { GF_PAIR_THREADS = GF_TENSOR_THREADS, GF_PAIR_MADE = GF_TENSOR_HEIGHT };
enum { GF_PAIR_STEP = 64, GF_PAIR_KEPT = 8, GF_PAIR_PITCH = GF_PAIR_STEP + GF_PAIR_KEPT };
enum { GF_PAIR_BUFFER_BYTES = (GF_PAIR_MADE + 2) * GF_PAIR_PITCH * 4 };

/* Pixels of a block. The first window's results begin GF_PAIR_LEAD columns and a row before them;
 * the image begins as many columns after the first block's. */
enum { GF_PAIR_LEAD = 4, GF_PAIR_WIDTH = GF_TENSOR_WIDTH - 2 * GF_PAIR_LEAD };
enum { GF_PAIR_HEIGHT = GF_PAIR_MADE - 2 };
#define GF_PAIR_SHARED_BYTES(S) (GF_TENSOR_SHARED_BYTES(S) + GF_PAIR_BUFFER_BYTES)

#endif
