/* Point filters: every pixel by itself. */
#include "kernels/gf_pixelwise.cuh"

/* Values of gfi_point_op. */
enum { AFFINE = 0, ABS = 1, CLAMP = 3, THRESHOLD = 4 };

template <int N> GF_DEVICE void apply(float (&v)[N], const gf_point_args &a)
{
    switch (a.op) {
    case AFFINE:
#pragma unroll
        for (int i = 0; i < N; i++) v[i] = fmaf(a.a, v[i], a.b);
        break;
    case ABS:
#pragma unroll
        for (int i = 0; i < N; i++) v[i] = fabsf(v[i]);
        break;
    case CLAMP: /* comparisons with NaN are false: NaN stays */
#pragma unroll
        for (int i = 0; i < N; i++) v[i] = v[i] < a.a ? a.a : v[i] > a.b ? a.b : v[i];
        break;
    case THRESHOLD:
#pragma unroll
        for (int i = 0; i < N; i++) v[i] = v[i] > a.c ? a.b : v[i] <= a.c ? a.a : v[i];
        break;
    }
}

GF_KERNEL(gf_point, gf_point_args, a)
{
    gf_map(a.src, a.dst, [&](auto &v) { apply(v, a); });
}

/* white * (x / white)^gamma, x >= 0. A quotient too small for a normal float takes the way by
 * logarithms; its result is within 2^-25 of white all the same. */
GF_DEVICE float gf_power(float x, float gamma, float white)
{
    const float t = x / white;
    if (x > 0.0f && t < 1.17549435e-38f) return white * exp2f(gamma * (log2f(x) - log2f(white)));
    return white * powf(t, gamma);
}

/* GAMMA, b * (max(x, 0) / b)^a; NaN stays. A kernel of its own: long code, in which memory speed is
 * no matter. */
GF_KERNEL(gf_point_gamma, gf_point_args, a)
{
    gf_map(a.src, a.dst, [&](auto &v) {
#pragma unroll 1
        for (float &x : v) x = gf_power(x < 0.0f ? 0.0f : x, a.a, a.b);
    });
}
