/* Point filters, on values in registers: the kernel of their own, and what other kernels do to their
 * results when point filters follow. */
#ifndef GF_POINT_CUH
#define GF_POINT_CUH

#include "kernels/gf_device.cuh"

/* Values of gfi_point_op. GAMMA, which is long, is left to a kernel of its own. */
enum { GF_POINT_AFFINE = 0, GF_POINT_ABS = 1, GF_POINT_CLAMP = 3, GF_POINT_THRESHOLD = 4 };

template <int N> GF_DEVICE void gf_point_one(const gf_kpoint &p, float (&v)[N])
{
    switch (p.op) {
    case GF_POINT_AFFINE:
#pragma unroll
        for (int i = 0; i < N; i++) v[i] = fmaf(p.a, v[i], p.b);
        break;
    case GF_POINT_ABS:
#pragma unroll
        for (int i = 0; i < N; i++) v[i] = fabsf(v[i]);
        break;
    case GF_POINT_CLAMP: /* comparisons with NaN are false: NaN stays */
#pragma unroll
        for (int i = 0; i < N; i++) v[i] = v[i] < p.a ? p.a : v[i] > p.b ? p.b : v[i];
        break;
    case GF_POINT_THRESHOLD:
#pragma unroll
        for (int i = 0; i < N; i++) {
            /* As two choices it is done without branches; NaN stays. */
            const float level = v[i] > p.c ? p.b : p.a;
            v[i] = v[i] == v[i] ? level : v[i];
        }
        break;
    }
}

/* The filters from the first one on, in their order. */
template <int N> GF_DEVICE void gf_points(const gf_kpoints &points, float (&v)[N], int first = 0)
{
#pragma unroll 1
    for (int k = first; k < points.n; k++) gf_point_one(points.at[k], v);
}

#endif
