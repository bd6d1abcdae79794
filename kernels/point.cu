/* Point filters: every pixel by itself. */
#include "kernels/gf_pixelwise.cuh"
#include "kernels/gf_point.cuh"

GF_KERNEL(gf_point, gf_point_args, a)
{
    gf_map(a.src, a.dst, [&](auto &v) { gf_points(a.points, v); });
}

/* white * (x / white)^gamma, x >= 0. A quotient too small for a normal float takes the way by
 * logarithms; its result is within 2^-25 of white all the same. */
GF_DEVICE float gf_power(float x, float gamma, float white)
{
    const float t = x / white;
    if (x > 0.0f && t < 1.17549435e-38f) return white * exp2f(gamma * (log2f(x) - log2f(white)));
    return white * powf(t, gamma);
}

/* GAMMA first, b * (max(x, 0) / b)^a; NaN stays. A kernel of its own: long code, in which memory
 * speed is no matter. */
GF_KERNEL(gf_point_gamma, gf_point_args, a)
{
    gf_map(a.src, a.dst, [&](auto &v) {
#pragma unroll 1
        for (float &x : v) x = gf_power(x < 0.0f ? 0.0f : x, a.points.at[0].a, a.points.at[0].b);
        gf_points(a.points, v, 1);
    });
}
