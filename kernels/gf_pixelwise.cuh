/* Walking over all pixels of an image with 16-byte accesses where its rows are aligned.
 *
 * A tile is blockDim.x times N pixels of one row, N being what fits 16 bytes of the wider pixel
 * type. Blocks take tiles in turn, so that any grid will do whose x tiles span at most 2^31 pixels.
 */
#ifndef GF_PIXELWISE_CUH
#define GF_PIXELWISE_CUH

#include "kernels/gf_device.cuh"

/* Call f with a value of the pixel's C type. */
template <class F> GF_DEVICE void gf_with_type(int pixel, F f)
{
    if (pixel == GF_P_U8)
        f(static_cast<unsigned char>(0));
    else if (pixel == GF_P_U16)
        f(static_cast<unsigned short>(0));
    else
        f(0.0f);
}

GF_DEVICE void gf_load_words(const void *p, unsigned (&w)[1])
{
    w[0] = *static_cast<const unsigned *>(p);
}
GF_DEVICE void gf_load_words(const void *p, unsigned (&w)[2])
{
    const uint2 v = *static_cast<const uint2 *>(p);
    w[0] = v.x, w[1] = v.y;
}
GF_DEVICE void gf_load_words(const void *p, unsigned (&w)[4])
{
    const uint4 v = *static_cast<const uint4 *>(p);
    w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
}
GF_DEVICE void gf_store_words(void *p, const unsigned (&w)[1])
{
    *static_cast<unsigned *>(p) = w[0];
}
GF_DEVICE void gf_store_words(void *p, const unsigned (&w)[2])
{
    *static_cast<uint2 *>(p) = make_uint2(w[0], w[1]);
}
GF_DEVICE void gf_store_words(void *p, const unsigned (&w)[4])
{
    *static_cast<uint4 *>(p) = make_uint4(w[0], w[1], w[2], w[3]);
}

/* Load or store N neighbouring pixels, N * sizeof(T) being 4, 8 or 16 bytes and p aligned to it. */
template <int N> GF_DEVICE void gf_load_many(const unsigned char *p, float (&v)[N])
{
    unsigned w[N / 4];
    gf_load_words(p, w);
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = static_cast<float>(w[i / 4] >> i % 4 * 8 & 255u);
}
template <int N> GF_DEVICE void gf_load_many(const unsigned short *p, float (&v)[N])
{
    unsigned w[N / 2];
    gf_load_words(p, w);
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = static_cast<float>(w[i / 2] >> i % 2 * 16 & 65535u);
}
template <int N> GF_DEVICE void gf_load_many(const float *p, float (&v)[N])
{
    unsigned w[N];
    gf_load_words(p, w);
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = gf_bits_float(w[i]);
}
template <int N> GF_DEVICE void gf_store_many(unsigned char *p, const float (&v)[N])
{
    unsigned w[N / 4];
#pragma unroll
    for (int i = 0; i < N / 4; i++)
        w[i] = gf_pack_u8(v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]);
    gf_store_words(p, w);
}
template <int N> GF_DEVICE void gf_store_many(unsigned short *p, const float (&v)[N])
{
    unsigned w[N / 2];
#pragma unroll
    for (int i = 0; i < N / 2; i++) w[i] = gf_pack_u16(v[2 * i], v[2 * i + 1]);
    gf_store_words(p, w);
}
template <int N> GF_DEVICE void gf_store_many(float *p, const float (&v)[N])
{
    unsigned w[N];
#pragma unroll
    for (int i = 0; i < N; i++) w[i] = gf_float_bits(v[i]);
    gf_store_words(p, w);
}

/* Whether every row begins at a multiple of `bytes`, a power of two. */
GF_DEVICE bool gf_rows_aligned(const gf_kimage &im, int bytes)
{
    return ((reinterpret_cast<long long>(im.data) | im.pitch) & (bytes - 1)) == 0;
}

/* The pixels of a tile that one thread looks at: N in a row at x where they can be accessed at
 * once, else x, x + step, … below end. */
struct gf_stretch {
    unsigned x, end, step; /* unsigned: x + step may pass 2^31 */
    int y;
    bool at_once;
};

/* Call f with every stretch of this thread. */
template <int N, class F> GF_DEVICE void gf_each_stretch(int width, int height, bool aligned, F f)
{
    const unsigned tile_width = blockDim.x * N, n_pixels = static_cast<unsigned>(width);
    for (unsigned y = blockIdx.y; y < static_cast<unsigned>(height); y += gridDim.y) {
        for (unsigned left = blockIdx.x * tile_width; left < n_pixels;
             left += gridDim.x * tile_width) {
            const unsigned end = min(left + tile_width, n_pixels), own = left + threadIdx.x * N;
            gf_stretch s;
            s.y = static_cast<int>(y);
            s.at_once = aligned && own + N <= n_pixels;
            /* a tail of an aligned row is one thread's; unaligned tiles are dealt out by pixel */
            s.step = aligned ? 1 : blockDim.x;
            s.x = min(aligned ? own : left + threadIdx.x, end);
            s.end = end;
            f(s);
        }
    }
}

/* dst = f(src) for every pixel, in float. */
template <class S, class D, class F>
GF_DEVICE void gf_map_typed(const gf_kimage &src, const gf_kimage &dst, F f)
{
    constexpr int WIDEST = sizeof(S) > sizeof(D) ? sizeof(S) : sizeof(D);
    constexpr int N = 16 / WIDEST;
    const bool aligned = gf_rows_aligned(src, N * static_cast<int>(sizeof(S))) &&
                         gf_rows_aligned(dst, N * static_cast<int>(sizeof(D)));
    gf_each_stretch<N>(dst.width, dst.height, aligned, [&](const gf_stretch &s) {
        const S *in = gf_row<const S>(src, s.y);
        D *out = gf_row<D>(dst, s.y);
        if (s.at_once) {
            float v[N];
            gf_load_many(in + s.x, v);
            f(v);
            gf_store_many(out + s.x, v);
            return;
        }
        for (unsigned x = s.x; x < s.end; x += s.step) {
            float v[1] = { gf_get(in + x) };
            f(v);
            gf_put(out + x, v[0]);
        }
    });
}

/* The same for any pixel types; f changes an array of values in place. */
template <class F> GF_DEVICE void gf_map(const gf_kimage &src, const gf_kimage &dst, F f)
{
    gf_with_type(src.pixel, [&](auto s) {
        gf_with_type(dst.pixel,
                     [&](auto d) { gf_map_typed<decltype(s), decltype(d)>(src, dst, f); });
    });
}

/* Call f with every pixel as float, and with a value of its C type. */
template <class F> GF_DEVICE void gf_visit(const gf_kimage &src, F f)
{
    gf_with_type(src.pixel, [&](auto t) {
        using T = decltype(t);
        constexpr int N = 16 / sizeof(T);
        gf_each_stretch<N>(src.width, src.height, gf_rows_aligned(src, 16),
                           [&](const gf_stretch &s) {
                               const T *in = gf_row<const T>(src, s.y);
                               if (s.at_once) {
                                   float v[N];
                                   gf_load_many(in + s.x, v);
#pragma unroll
                                   for (int i = 0; i < N; i++) f(v[i], t);
                                   return;
                               }
                               for (unsigned x = s.x; x < s.end; x += s.step) f(gf_get(in + x), t);
                           });
    });
}

#endif
