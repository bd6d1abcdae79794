/* What the window kernels share: filling a shared-memory tile with pixels as float, the border
 * already folded in; storing small groups of results; joining the terms of a window. */
#ifndef GF_TILE_CUH
#define GF_TILE_CUH

#include "kernels/gf_point.cuh"

/* Sixteen bytes at any address; up to three to either side are touched. */
GF_DEVICE uint4 gf_read_16(const unsigned char *from)
{
    const unsigned past = static_cast<unsigned>(reinterpret_cast<long long>(from) & 3);
    const unsigned *const words = reinterpret_cast<const unsigned *>(from - past);
    unsigned v[5];
#pragma unroll
    for (int i = 0; i < 5; i++) v[i] = gf_ldg(words + i);
    return make_uint4(gf_shift_words(v[0], v[1], 8 * past), gf_shift_words(v[1], v[2], 8 * past),
                      gf_shift_words(v[2], v[3], 8 * past), gf_shift_words(v[3], v[4], 8 * past));
}

/* Ways to read four neighbouring pixels that all lie inside a row. Words are read aligned and
 * shifted, so that any address does; a word reaches at most three pixels to either side. */
struct gf_read_u8 {
    static GF_DEVICE float4 four(const unsigned char *row, int x)
    {
        const unsigned long long at = reinterpret_cast<unsigned long long>(row + x);
        const unsigned shift = static_cast<unsigned>(at & 3) * 8;
        const unsigned *const word = reinterpret_cast<const unsigned *>(at - (at & 3));
        const unsigned long long low = gf_ldg(word), high = shift ? gf_ldg(word + 1) : 0u;
        const unsigned v = static_cast<unsigned>((high << 32 | low) >> shift);
        return make_float4(static_cast<float>(v & 255u), static_cast<float>(v >> 8 & 255u),
                           static_cast<float>(v >> 16 & 255u), static_cast<float>(v >> 24));
    }
    typedef unsigned char type;
};

struct gf_read_u16 {
    static GF_DEVICE float4 four(const unsigned short *row, int x)
    {
        const unsigned long long at = reinterpret_cast<unsigned long long>(row + x);
        const unsigned shift = static_cast<unsigned>(at & 2) * 8;
        const unsigned *const word = reinterpret_cast<const unsigned *>(at - (at & 2));
        const unsigned long long a = gf_ldg(word), b = gf_ldg(word + 1),
                                 c = shift ? gf_ldg(word + 2) : 0u;
        const unsigned v = static_cast<unsigned>((b << 32 | a) >> shift);
        const unsigned w = static_cast<unsigned>((c << 32 | b) >> shift);
        return make_float4(static_cast<float>(v & 0xffffu), static_cast<float>(v >> 16),
                           static_cast<float>(w & 0xffffu), static_cast<float>(w >> 16));
    }
    typedef unsigned short type;
};

struct gf_read_f32 {
    static GF_DEVICE float4 four(const float *row, int x)
    {
        return make_float4(gf_ldg(row + x), gf_ldg(row + x + 1), gf_ldg(row + x + 2),
                           gf_ldg(row + x + 3));
    }
    typedef float type;
};

/* Only where every group of four begins at a multiple of 16 bytes. */
struct gf_read_f32x4 {
    static GF_DEVICE float4 four(const float *row, int x)
    {
        return gf_ldg(reinterpret_cast<const float4 *>(row + x));
    }
    typedef float type;
};

/* A tile: rows of `groups` groups of four floats, `pitch` floats apart (a multiple of 4), whose
 * first element is pixel (x, y) of the source, which may lie anywhere outside of it too. */
struct gf_tile {
    float *data;
    int pitch, rows, groups;
    unsigned groups_inverse; /* 2^32 / groups + 1: idx / groups is the high word of the product */
    int x, y;
};

GF_DEVICE void gf_put4(float *to, float4 v) { *reinterpret_cast<float4 *>(to) = v; }
GF_DEVICE float4 gf_get4(const float *from) { return *reinterpret_cast<const float4 *>(from); }

/* Row and first column of a tile's group. */
GF_DEVICE void gf_tile_place(const gf_tile &tile, int group, int *row, int *column)
{
    *row = static_cast<int>(static_cast<unsigned long long>(group) * tile.groups_inverse >> 32);
    *column = 4 * (group - *row * tile.groups);
}

/* Fill a tile that lies inside the source. A thread reads four groups before it stores the first:
 * that keeps enough loads in flight. */
template <class R> GF_DEVICE void gf_tile_fill_inside(const gf_kimage &src, const gf_tile &tile)
{
    enum { BATCH = 4 };
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    const int threads = static_cast<int>(blockDim.x * blockDim.y);
    const int n = tile.rows * tile.groups;
    for (int first = thread; first < n; first += BATCH * threads) {
        float4 v[BATCH];
        int to[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            int row, column;
            gf_tile_place(tile, first + k * threads, &row, &column);
            to[k] = row * tile.pitch + column;
            if (first + k * threads < n)
                v[k] = R::four(gf_row<const typename R::type>(src, tile.y + row), tile.x + column);
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++)
            if (first + k * threads < n) gf_put4(tile.data + to[k], v[k]);
    }
}

/* Fill a tile that reaches outside: whole groups where possible, else pixel by pixel, folded. */
template <class R>
GF_DEVICE void gf_tile_fill_edge(const gf_kimage &src, int border, float border_value,
                                 const gf_tile &tile)
{
    const int thread = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
    const int threads = static_cast<int>(blockDim.x * blockDim.y);
    const int n = tile.rows * tile.groups;
#pragma unroll 1
    for (int group = thread; group < n; group += threads) {
        int row, column;
        gf_tile_place(tile, group, &row, &column);
        float *const to = tile.data + row * tile.pitch + column;
        const int x = tile.x + column;
        const int y = gf_border_index(tile.y + row, src.height, border);
        if (y < 0) {
            gf_put4(to, make_float4(border_value, border_value, border_value, border_value));
            continue;
        }
        const typename R::type *const from = gf_row<const typename R::type>(src, y);
        if (x >= 3 && x + 7 <= src.width) {
            gf_put4(to, R::four(from, x));
            continue;
        }
#pragma unroll 1
        for (int k = 0; k < 4; k++) {
            const int i = gf_border_index(x + k, src.width, border);
            to[k] = i < 0 ? border_value : gf_get(from + i);
        }
    }
}

/* The threads of the block share the groups of a tile out. */
template <class R>
GF_DEVICE void gf_tile_fill_as(const gf_kimage &src, int border, float border_value,
                               const gf_tile &tile)
{
    if (tile.x >= 3 && tile.x + 4 * tile.groups + 3 <= src.width && tile.y >= 0 &&
        tile.y + tile.rows <= src.height)
        gf_tile_fill_inside<R>(src, tile);
    else
        gf_tile_fill_edge<R>(src, border, border_value, tile);
}

GF_DEVICE void gf_tile_fill(const gf_kimage &src, int border, float border_value,
                            const gf_tile &tile)
{
    if (src.pixel == GF_P_U8)
        gf_tile_fill_as<gf_read_u8>(src, border, border_value, tile);
    else if (src.pixel == GF_P_U16)
        gf_tile_fill_as<gf_read_u16>(src, border, border_value, tile);
    else if (gf_aligned4(src) && (tile.x & 3) == 0)
        gf_tile_fill_as<gf_read_f32x4>(src, border, border_value, tile);
    else
        gf_tile_fill_as<gf_read_f32>(src, border, border_value, tile);
}

/* Store the pixels x … x+3 of row y that lie in the image; x >= 0 and a multiple of 4. */
GF_DEVICE void gf_store_up_to4(const gf_kimage &dst, bool aligned, int x, int y, float4 v)
{
    if (aligned && x + 4 <= dst.width) {
        gf_store4(dst, x, y, v);
        return;
    }
    if (x < dst.width) gf_store(dst, x, y, v.x);
    if (x + 1 < dst.width) gf_store(dst, x + 1, y, v.y);
    if (x + 2 < dst.width) gf_store(dst, x + 2, y, v.z);
    if (x + 3 < dst.width) gf_store(dst, x + 3, y, v.w);
}

/* Square root of a normal number: an estimate and one step of Newton's, which gives the roots of
 * squares exactly. `inverse` is an estimate of 1 / its root. */
GF_DEVICE float gf_root_by(float square, float inverse)
{
    const float root = square * inverse;
    return fmaf(fmaf(-root, root, square), 0.5f * inverse, root);
}
GF_DEVICE float gf_root_normal(float square) { return gf_root_by(square, gf_rsqrt(square)); }

/* The same, or of 0, infinity or NaN. */
GF_DEVICE float gf_root(float square)
{
    const float better = gf_root_by(square, gf_rsqrt(fmaxf(square, 1.17549435e-38f)));
    return gf_not_finite(square) ? square : better;
}

/* sqrt(a^2 + b^2) that neither overflows nor loses small values on the way: scaled by a power of
 * two, so that it stays exact where one of them is 0. */
GF_DEVICE float gf_magnitude(float a, float b)
{
    const float most = fmaxf(fabsf(a), fabsf(b));
    float down = 1.0f, up = 1.0f;
    if (most > 1.0995116e12f)                      /* 2^40 */
        down = 7.8886091e-31f, up = 1.2676506e30f; /* 2^-100, 2^100 */
    else if (most < 9.0949470e-13f)                /* 2^-40 */
        down = 1.2676506e30f, up = 7.8886091e-31f;
    a *= down;
    b *= down;
    return gf_root(fmaf(a, a, b * b)) * up;
}

/* Values of gfi_combine. */
enum { GF_C_SUM = 0, GF_C_MAGNITUDE = 1, GF_C_UNSHARP = 2 };

/* Join the sums a and b of a window's terms (b is 0 when there is one); own is src at the output
 * pixel, used by UNSHARP alone. gf_points() comes next. */
GF_DEVICE float gf_combine(const gf_kcombine &c, float a, float b, float own)
{
    if (c.combine == GF_C_UNSHARP) {
        const float d = own - a;
        return fabsf(d) < c.threshold ? own : fmaf(c.amount, d, own); /* a NaN goes on */
    }
    const float sum = c.combine == GF_C_MAGNITUDE ? gf_magnitude(a, b) : a + b;
    return fmaf(c.scale, sum, c.offset);
}

/* The same of a single pixel, with the point filters that follow. */
GF_DEVICE float gf_result(const gf_kcombine &c, float a, float b, float own)
{
    float v[1] = { gf_combine(c, a, b, own) };
    gf_points(c.points, v);
    return v[0];
}

#endif
