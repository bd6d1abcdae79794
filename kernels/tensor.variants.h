/* Shapes of the separable kernels on tensor cores, for kernels/tensor.cu and what launches it. */
#ifndef GF_TENSOR_VARIANTS_H
#define GF_TENSOR_VARIANTS_H

/* gf_tensor_N and gf_tensor_u8_N serve windows that reach 16 * (N - 1) pixels past a group of
 * sixteen results, to either axis. The second number: blocks a multiprocessor is to hold. */
#define GF_TENSOR_VARIANTS(X) X(2, 5) X(3, 4) X(4, 3) X(5, 3) X(6, 2)
enum { GF_TENSOR_MOST = 6 };

/* Results of a block, which has a warp for every sixteen rows. */
enum { GF_TENSOR_WIDTH = 256, GF_TENSOR_HEIGHT = 64, GF_TENSOR_THREADS = 128 };

/* Columns and rows of a block's tile, and bytes from row to row: an odd number of 16-byte groups,
 * so that eight rows lie in different banks. */
#define GF_TENSOR_COLUMNS(N) (GF_TENSOR_WIDTH + 16 * ((N) - 1))
#define GF_TENSOR_ROWS(N) (GF_TENSOR_HEIGHT + 16 * ((N) - 1))
#define GF_TENSOR_PITCH(N) (GF_TENSOR_COLUMNS(N) + ((N) % 2 ? 16 : 0))
#define GF_TENSOR_SHARED_BYTES(N) (GF_TENSOR_ROWS(N) * GF_TENSOR_PITCH(N))

/* The weights are fragments as the instruction takes them: N groups for the columns of the window,
 * then N for its rows; a group is the high parts of 32 lanes, then the low parts, 16 bytes each. */
#define GF_TENSOR_WEIGHT_BYTES(N) (2 * (N) * 2 * 32 * 16)

#endif
