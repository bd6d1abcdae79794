/* What surrounds the FFTs of overlap-save convolution. Threads take four neighbouring columns;
 * columns of a tile that are multiples of four are so in the image too. */
#include "kernels/gf_wild.cuh"

/* Taps by the column and row of the tile they multiply, 0 outside the window. */
GF_DEVICE float gf_fft_tap(const gf_fft_args &a, int column, int row)
{
    const int i = column - a.shift;
    if (i < 0 || i >= a.kw || row >= a.kh) return 0.0f;
    return gf_ldg(a.taps + static_cast<long long>(row) * a.kw + i);
}

/* Place the taps, mirrored through the origin, in tile 0: the product of the spectra then
 * correlates. n is a power of two, so dividing by n*n is exact. Grid: n/256 x n. Block: 256. */
GF_KERNEL(gf_fft_place, gf_fft_args, a)
{
    const int u = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int v = static_cast<int>(blockIdx.y);
    if (u >= a.n) return;
    const int mask = a.n - 1;
    const float tap = gf_fft_tap(a, (a.n - u) & mask, (a.n - v) & mask);
    a.real[static_cast<long long>(v) * a.n + u] =
        tap / (static_cast<float>(a.n) * static_cast<float>(a.n));
}

/* Columns x … x+3 of row y of the image, or of what surrounds it. */
GF_DEVICE float4 gf_fft_gather(const gf_fft_args &a, int x, int y, bool aligned)
{
    y = gf_border_index(y, a.src.height, a.border);
    if (y < 0) return make_float4(a.border_value, a.border_value, a.border_value, a.border_value);
    if (aligned && x >= 0 && x <= a.src.width - 4) return gf_load4(a.src, x, y);
    float v[4];
    for (int i = 0; i < 4; i++) {
        const int column = gf_border_index(x + i, a.src.width, a.border);
        v[i] = column < 0 ? a.border_value : gf_load(a.src, column, y);
    }
    return make_float4(v[0], v[1], v[2], v[3]);
}

/* The place of a tile, and how much of it has a use: less in the last column and row of tiles. */
struct gf_fft_tile {
    int x, y;          /* its first output pixel */
    int width, height; /* output pixels it makes; none beyond the last tile */
};

GF_DEVICE gf_fft_tile gf_fft_find_tile(const gf_fft_args &a, int in_batch)
{
    const int t = a.first_tile + in_batch;
    gf_fft_tile tile = { 0, 0, 0, 0 };
    if (t >= a.tiles) return tile;
    tile.x = t % a.tiles_x * a.step_x;
    tile.y = t / a.tiles_x * a.step_y;
    tile.width = min(a.step_x, a.dst.width - tile.x);
    tile.height = min(a.step_y, a.dst.height - tile.y);
    return tile;
}

/* Fill a batch of tiles from the image; what no output pixel needs is zero.
 * Grid: n/4/blockDim.x x (rows) x batch; threads walk down their columns. */
GF_KERNEL(gf_fft_pad, gf_fft_args, a)
{
    const int u = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (u >= a.n) return;
    const gf_fft_tile tile = gf_fft_find_tile(a, static_cast<int>(blockIdx.z));
    const int columns = tile.width > 0 ? tile.width + a.shift + a.kw - 1 : 0;
    const int rows = tile.height > 0 ? tile.height + a.kh - 1 : 0;
    const bool aligned = gf_aligned4(a.src);
    float *const out = a.real + static_cast<long long>(blockIdx.z) * a.n * a.n + u;
    bool wild = false;
    for (int v = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); v < a.n;
         v += static_cast<int>(gridDim.y * blockDim.y)) {
        float4 p = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (v < rows && u < columns) {
            p = gf_fft_gather(a, tile.x - a.origin_x + u, tile.y - a.origin_y + v, aligned);
            if (a.wild) {
                p.x = gf_wild_tame(p.x, a.limit, wild);
                p.y = gf_wild_tame(p.y, a.limit, wild);
                p.z = gf_wild_tame(p.z, a.limit, wild);
                p.w = gf_wild_tame(p.w, a.limit, wild);
            }
        }
        *reinterpret_cast<float4 *>(out + static_cast<long long>(v) * a.n) = p;
    }
    if (wild) a.wild[blockIdx.z] = 1;
}

GF_DEVICE float2 gf_fft_product(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* Multiply each spectrum of the batch by that of the taps. A thread takes two pairs of all tiles:
 * n * (n/2+1) is even. */
GF_KERNEL(gf_fft_multiply, gf_fft_args, a)
{
    const long long quads = static_cast<long long>(a.n) * (a.n / 2 + 1) / 2;
    const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (at >= quads) return;
    const float4 h = gf_ldg(reinterpret_cast<const float4 *>(a.transform) + at);
    float4 *p = reinterpret_cast<float4 *>(a.spectrum) + at;
    const int tiles = min(a.batch, a.tiles - a.first_tile);
    for (int t = 0; t < tiles; t++, p += quads) {
        const float4 s = *p;
        const float2 first = gf_fft_product(make_float2(s.x, s.y), make_float2(h.x, h.y));
        const float2 second = gf_fft_product(make_float2(s.z, s.w), make_float2(h.z, h.w));
        *p = make_float4(first.x, first.y, second.x, second.y);
    }
}

/* Take the output pixels out of a batch of tiles. Grid and threads as in gf_fft_pad. */
GF_KERNEL(gf_fft_crop, gf_fft_args, a)
{
    const int u = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const gf_fft_tile tile = gf_fft_find_tile(a, static_cast<int>(blockIdx.z));
    if (u >= tile.width) return;
    const bool whole = gf_aligned4(a.dst) && u + 4 <= tile.width;
    const float *const in = a.real + static_cast<long long>(blockIdx.z) * a.n * a.n + u;
    for (int v = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); v < tile.height;
         v += static_cast<int>(gridDim.y * blockDim.y)) {
        const float4 s = *reinterpret_cast<const float4 *>(in + static_cast<long long>(v) * a.n);
        const float r[4] = { fmaf(a.scale, s.x, a.offset), fmaf(a.scale, s.y, a.offset),
                             fmaf(a.scale, s.z, a.offset), fmaf(a.scale, s.w, a.offset) };
        if (whole) {
            gf_store4(a.dst, tile.x + u, tile.y + v, make_float4(r[0], r[1], r[2], r[3]));
        } else {
            for (int i = 0; i < 4 && u + i < tile.width; i++)
                gf_store(a.dst, tile.x + u + i, tile.y + v, r[i]);
        }
    }
}

/* Compute again, directly, the pixels whose window holds what was kept from the FFT.
 * Grid: blocks of GF_WILD_REDO^2 outputs over a tile x batch. Block: 32 x 8. */
GF_KERNEL(gf_fft_redo, gf_fft_args, a)
{
    if (!a.wild[blockIdx.z]) return; /* the same for the whole block */
    const gf_fft_tile tile = gf_fft_find_tile(a, static_cast<int>(blockIdx.z));
    const int u = static_cast<int>(blockIdx.x) * GF_WILD_REDO,
              v = static_cast<int>(blockIdx.y) * GF_WILD_REDO;
    const gf_kcombine combine = { GF_C_SUM, a.scale, a.offset, 0.0f, 0.0f, 0, {} };
    const gf_wild_place place = { tile.x - a.origin_x + a.shift + u,
                                  tile.y - a.origin_y + v,
                                  tile.x + u,
                                  tile.y + v,
                                  tile.width - u,
                                  tile.height - v };
    gf_wild_redo(a, combine, place);
}
