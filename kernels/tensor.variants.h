/* Shapes of the separable kernels on tensor cores, for kernels/tensor.cu and what launches it. */
#ifndef GF_TENSOR_VARIANTS_H
#define GF_TENSOR_VARIANTS_H

/* gf_tensor_S and gf_tensor_u8_S serve windows that need at most 8 * S columns of the source for
 * eight columns of results, and 16 * GF_TENSOR_GROUPS(S) rows for sixteen. …_sym take taps that are
 * the same upwards and downwards. The other numbers: blocks a multiprocessor is to hold, of the u8
 * kernel and of the other. */
#define GF_TENSOR_VARIANTS(X) X(3, 6, 5) X(5, 4, 4) X(7, 3, 3) X(9, 3, 3) X(11, 3, 2)
#define GF_TENSOR_SYM_VARIANTS(X)                                                                  \
    X(2, 7, 5) X(3, 6, 5) X(5, 4, 4) X(7, 4, 3) X(9, 3, 3) X(11, 3, 2)
enum { GF_TENSOR_LEAST = 2, GF_TENSOR_MOST = 11 };
#define GF_TENSOR_GROUPS(S) ((S) / 2 + 1)

/* Results of a block, which has a warp for every sixteen rows. */
enum { GF_TENSOR_WIDTH = 256, GF_TENSOR_HEIGHT = 64, GF_TENSOR_THREADS = 128 };

/* Columns and rows of a block's tile, and bytes from row to row: an odd number of 16-byte groups,
 * so that eight rows lie in different banks. */
#define GF_TENSOR_COLUMNS(S) (GF_TENSOR_WIDTH + 16 * (GF_TENSOR_GROUPS(S) - 1))
#define GF_TENSOR_ROWS(S) (GF_TENSOR_HEIGHT + 16 * (GF_TENSOR_GROUPS(S) - 1))
#define GF_TENSOR_PITCH(S) ((GF_TENSOR_COLUMNS(S) / 16 | 1) * 16)
#define GF_TENSOR_SHARED_BYTES(S) (GF_TENSOR_ROWS(S) * GF_TENSOR_PITCH(S))

/* The weights are fragments as the instructions take them; word w of lane l is number
 * (w / 4 * 32 + l) * 4 + w % 4. First come GF_TENSOR_DOWN_STEPS operands of four words for the
 * columns of the window: high and low parts in turn, or those for sums and for differences. For its
 * rows a word serves eight columns: S words of high parts, the same again, and low parts twice. */
#define GF_TENSOR_DOWN_STEPS(S, SYM)                                                               \
    ((SYM) ? (GF_TENSOR_GROUPS(S) + 1) / 2 * 2 : 2 * GF_TENSOR_GROUPS(S))
#define GF_TENSOR_WORDS(S, SYM) (4 * GF_TENSOR_DOWN_STEPS(S, SYM) + 4 * (S))

#endif
