/* Shapes of the ring kernels, for kernels/ring.cu and what launches it. */
#ifndef GF_RING_VARIANTS_H
#define GF_RING_VARIANTS_H

#include "kernels/direct.variants.h"

/* gf_ring_K serves windows of K x K. No more than 32 taps: a sum is one run. */
#define GF_RING_VARIANTS(X)                                                                        \
    X(9) X(11) X(13) X(15) X(17) X(19) X(21) X(23) X(25) X(27) X(29) X(31)

/* Neighbouring results of a thread; source rows of a step, an even number; steps whose rows have
 * room in shared memory. */
enum { GF_RING_COLUMNS = 4, GF_RING_ROWS = 8, GF_RING_SLOTS = 2 };

/* Most threads of a block, and blocks a multiprocessor is to hold at least. */
enum { GF_RING_THREADS = 128 };
#define GF_RING_BLOCKS(K) ((K) <= 9 ? 5 : (K) <= 17 ? 4 : (K) <= 27 ? 3 : 2)

/* Columns before a window's first one, so that with the anchor in the middle the groups of columns
 * that threads read are those of the image; columns that a strip has beside its results', whole
 * groups; floats from row to row in shared memory, and of a row those a thread reads. */
#define GF_RING_LEAD(K) GF_DIRECT_LEAD(K)
#define GF_RING_MARGIN(K) ((GF_RING_LEAD(K) + (K) - 1 + 3) / 4 * 4)
#define GF_RING_PITCH(K) (4 * GF_RING_THREADS + GF_RING_MARGIN(K))
#define GF_RING_READS(K) (GF_RING_MARGIN(K) + 4)

/* Threads that a step's margin takes, one for each group of a row, of which results that are no
 * whole group add one; a block has as many at least. */
#define GF_RING_MARGIN_THREADS(K) ((GF_RING_MARGIN(K) / 4 + 1) * GF_RING_ROWS)

/* Shared memory: the slots, and a column of the source for each place in a row. */
#define GF_RING_SHARED_BYTES(K) (4 * (GF_RING_SLOTS * GF_RING_ROWS + 1) * GF_RING_PITCH(K))

#endif
