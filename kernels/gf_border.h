/* The one definition of the borders, for C and for CUDA. */
#ifndef GF_BORDER_H
#define GF_BORDER_H

#ifdef __CUDACC__
#define GF_HOSTDEV __host__ __device__ __forceinline__
#else
#define GF_HOSTDEV inline
#endif

/* Values of gf_border; kernels take them as int. */
enum { GF_B_CONSTANT = 0, GF_B_REPLICATE = 1, GF_B_REFLECT = 2, GF_B_MIRROR = 3, GF_B_WRAP = 4 };

/* Fold index i of an axis of n pixels into 0 … n-1, or return -1 where the constant applies.
 * Right at any distance: reflect has period 2n, mirror 2n-2 (1 when n is 1), wrap n. */
static GF_HOSTDEV int gf_border_index(int i, int n, int border)
{
    if (i >= 0 && i < n) return i;
    if (border == GF_B_CONSTANT) return -1;
    if (border == GF_B_REPLICATE) return i < 0 ? 0 : n - 1;
    /* unsigned: twice the widest image does not fit an int */
    const unsigned un = (unsigned)n, period = border == GF_B_WRAP ? un : border == GF_B_REFLECT ? 2 * un : n > 1 ? 2 * un - 2 : 1;
    const unsigned m = i >= 0 ? (unsigned)i % period : period - 1 - (unsigned)(-1 - i) % period;
    if (m < un) return (int)m;
    return (int)(border == GF_B_REFLECT ? period - 1 - m : period - m);
}

#endif
