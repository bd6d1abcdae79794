/* Sizes K of the K x K windows that kernels/direct.cu is compiled for: kernel gf_direct_K. */
#ifndef GF_DIRECT_VARIANTS_H
#define GF_DIRECT_VARIANTS_H

#define GF_DIRECT_VARIANTS(X) X(3) X(5) X(7) X(9) X(11) X(13) X(15)

/* A thread makes four neighbouring columns; a block brings in this many rows at a time. */
enum { GF_DIRECT_COLUMNS = 4, GF_DIRECT_ROWS = 8 };

/* Columns a tile begins left of the window's first one, so that with the anchor in the middle its
 * groups of four are those of the image. */
#define GF_DIRECT_LEAD(K) ((4 - (K) / 2 % 4) % 4)

/* The run-time-size kernels gf_direct_n and gf_direct_more: output rows a thread makes. */
enum { GF_DIRECT_N_ROWS = 4 };

#endif
