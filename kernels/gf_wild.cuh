/* Pixels that must not enter an FFT, because one of them would spoil its whole tile: NaN,
 * infinities and what is so large that sums of it overflow. The FFT sees 0 in their place; results
 * whose window holds one are computed again, directly. */
#ifndef GF_WILD_CUH
#define GF_WILD_CUH

#include "kernels/gf_tile.cuh"

/* What the FFT gets for a pixel; wild tells that it must not see the pixel itself. */
GF_DEVICE float gf_wild_tame(float v, float limit, bool &wild)
{
    if (fabsf(v) < limit) return v;
    wild = true;
    return 0.0f;
}

/* A part of the result: the pixel of the source that the first tap meets for its first pixel, that
 * pixel, and its size; of more than GF_WILD_REDO pixels each way only so many count. */
enum { GF_WILD_REDO = 32 };
struct gf_wild_place {
    int from_x, from_y;
    int x, y, width, height;
};

/* Args below: src, border, border_value, limit; taps, kh rows of kw, and behind them those of each
 * term when `terms` is 2. */

/* Whether any pixel under the windows of a place is one the FFT did not see; each thread of the
 * block tells of its share. */
template <class Args> GF_DEVICE bool gf_wild_any(const Args &a, const gf_wild_place &place)
{
    const int columns = GF_WILD_REDO + a.kw - 1, rows = GF_WILD_REDO + a.kh - 1;
    bool wild = false;
    for (int v = static_cast<int>(threadIdx.y); v < rows && !wild;
         v += static_cast<int>(blockDim.y))
        for (int u = static_cast<int>(threadIdx.x); u < columns; u += static_cast<int>(blockDim.x))
            gf_wild_tame(
                gf_load_border(a.src, place.from_x + u, place.from_y + v, a.border, a.border_value),
                a.limit, wild);
    return wild;
}

/* Sum under the window whose first pixel is (x, y), with kh rows of kw taps; wild tells whether it
 * met a pixel the FFT did not see. A NaN settles the sum, so there it ends. */
template <class Args>
GF_DEVICE double gf_wild_sum(const Args &a, const float *taps, int x, int y, bool &wild)
{
    double sum = 0.0;
    for (int j = 0; j < a.kh; j++) {
        for (int i = 0; i < a.kw; i++) {
            const float p = gf_load_border(a.src, x + i, y + j, a.border, a.border_value);
            gf_wild_tame(p, a.limit, wild);
            sum += static_cast<double>(gf_ldg(taps++)) * static_cast<double>(p);
        }
        if (sum != sum) return sum;
    }
    return sum;
}

/* The sum over all terms. Two terms may be infinite with opposite signs, which their merged taps
 * would hide. */
template <class Args> GF_DEVICE double gf_wild_direct(const Args &a, int x, int y, bool &wild)
{
    if (a.terms < 2) return gf_wild_sum(a, a.taps, x, y, wild);
    const long long taps = static_cast<long long>(a.kw) * a.kh;
    const double first = gf_wild_sum(a, a.taps + taps, x, y, wild);
    return first + gf_wild_sum(a, a.taps + 2 * taps, x, y, wild);
}

/* Scaled in double: the factor may bring back what a float cannot hold. */
GF_DEVICE float gf_wild_result(const gf_kcombine &c, double sum)
{
    const double scaled = static_cast<double>(c.scale) * sum + static_cast<double>(c.offset);
    float v[1] = { static_cast<float>(scaled) };
    gf_points(c.points, v);
    return v[0];
}

/* Compute the wild results of a place again. For whole blocks, 32 threads wide. */
template <class Args>
GF_DEVICE void gf_wild_redo(const Args &a, const gf_kcombine &combine, const gf_wild_place &place)
{
    if (!gf_sync_or(gf_wild_any(a, place))) return;
    const int u = static_cast<int>(threadIdx.x);
    for (int v = static_cast<int>(threadIdx.y); v < GF_WILD_REDO && v < place.height;
         v += static_cast<int>(blockDim.y)) {
        if (u >= place.width) break;
        bool wild = false;
        const double sum = gf_wild_direct(a, place.from_x + u, place.from_y + v, wild);
        if (wild) gf_store(a.dst, place.x + u, place.y + v, gf_wild_result(combine, sum));
    }
}

#endif
