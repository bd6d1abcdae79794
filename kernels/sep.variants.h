/* Shape of the fused separable kernel, for kernels/sep.cu and its launch configuration. */
#ifndef GF_SEP_VARIANTS_H
#define GF_SEP_VARIANTS_H

/* Rows a block brings in a step, and neighbouring results a thread makes in either pass. */
enum { GF_SEP_ROWS = 16, GF_SEP_OUT = 8 };

#endif
