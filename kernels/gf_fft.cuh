/* Complex numbers, and Fourier transforms of a few of them in registers. */
#ifndef GF_FFT_CUH
#define GF_FFT_CUH

#include "kernels/gf_device.cuh"

GF_DEVICE float2 gf_product(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
GF_DEVICE float2 gf_times_i(float2 a) { return make_float2(-a.y, a.x); }
GF_DEVICE float2 gf_times_minus_i(float2 a) { return make_float2(a.y, -a.x); }
GF_DEVICE float2 gf_conjugate(float2 a) { return make_float2(a.x, -a.y); }

/* e^(2 pi i k / 128); k is known to the compiler, and so is the result. */
enum { GF_TURN = 128 };
GF_DEVICE float gf_turn_cos(int k)
{
    const float quarter[GF_TURN / 4 + 1] = {
        1.0f,          0.998795456f,  0.995184727f, 0.98917651f,  0.98078528f,  0.970031253f,
        0.956940336f,  0.941544065f,  0.923879533f, 0.903989293f, 0.881921264f, 0.85772861f,
        0.831469612f,  0.803207531f,  0.773010453f, 0.740951125f, 0.707106781f, 0.671558955f,
        0.634393284f,  0.595699304f,  0.555570233f, 0.514102744f, 0.471396737f, 0.427555093f,
        0.382683432f,  0.336889853f,  0.290284677f, 0.24298018f,  0.195090322f, 0.146730474f,
        0.0980171403f, 0.0490676743f, 0.0f,
    };
    k &= GF_TURN - 1;
    if (k > GF_TURN / 2) k = GF_TURN - k;
    return k > GF_TURN / 4 ? -quarter[GF_TURN / 2 - k] : quarter[k];
}
GF_DEVICE float2 gf_turn(int k)
{
    return make_float2(gf_turn_cos(k), gf_turn_cos(k - GF_TURN / 4));
}

/* u and v become u + c v and u - c v. */
GF_DEVICE void gf_butterfly(float2 &u, float2 &v, float2 c)
{
    const float2 sum =
        make_float2(fmaf(-c.y, v.y, fmaf(c.x, v.x, u.x)), fmaf(c.x, v.y, fmaf(c.y, v.x, u.y)));
    v = make_float2(fmaf(2.0f, u.x, -sum.x), fmaf(2.0f, u.y, -sum.y));
    u = sum;
}

/* The same for c = 1. */
GF_DEVICE void gf_butterfly(float2 &u, float2 &v)
{
    const float2 sum = make_float2(u.x + v.x, u.y + v.y);
    v = make_float2(u.x - v.x, u.y - v.y);
    u = sum;
}

/* The same for c = e^(2 pi i k / 128), k known to the compiler. */
GF_DEVICE void gf_butterfly_turn(float2 &u, float2 &v, int k)
{
    k &= GF_TURN - 1;
    if (k == 0) {
        gf_butterfly(u, v);
    } else if (k == GF_TURN / 4 || k == GF_TURN * 3 / 4) {
        v = k == GF_TURN / 4 ? gf_times_i(v) : gf_times_minus_i(v);
        gf_butterfly(u, v);
    } else {
        gf_butterfly(u, v, gf_turn(k));
    }
}

/* n, of so many bits, at most five, in reverse. */
GF_DEVICE int gf_reverse(int n, int bits)
{
    const int five = (n & 1) << 4 | (n & 2) << 2 | (n & 4) | (n & 8) >> 2 | (n & 16) >> 4;
    return five >> (5 - bits);
}

/* A polynomial with coefficients v at the N roots of Y^N - e^(2 pi i quarters / 4), in the order
 * that a tree of halves leaves them in: modulo Y^(2m) - c^2 becomes modulo Y^m - c and Y^m + c. */
template <int N> GF_DEVICE void gf_tree(float2 *v, int quarters)
{
#pragma unroll
    for (int half = N / 2, level = 0; half > 0; half /= 2, level++) {
#pragma unroll
        for (int pair = 0; pair < N / 2; pair++) {
            const int node = pair / half, at = node * 2 * half + pair % half;
            gf_butterfly_turn(v[at], v[at + half],
                              (quarters + 4 * gf_reverse(node, level)) * (GF_TURN / 8 >> level));
        }
    }
}

/* sum over p of v[p] e^(-2 pi i reverse(p) n / N) for each n: the inverse of gf_tree of Y^N - 1,
 * but for a factor. */
template <int N> GF_DEVICE void gf_inverse(float2 *v)
{
#pragma unroll
    for (int half = 1; half < N; half *= 2) {
#pragma unroll
        for (int pair = 0; pair < N / 2; pair++) {
            const int j = pair % half, at = pair / half * 2 * half + j;
            gf_butterfly_turn(v[at], v[at + half], -j * (GF_TURN / 2 / half));
        }
    }
}

#endif
