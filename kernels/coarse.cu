/* Large smooth separable windows from a coarse grid.
 *
 * Along an axis the window is a smooth part, S, and a small rest, E, where it is cut. S is made of
 * three filters: sums of the pixels weighted by phi at every `step` pixels, the nodes' taps on
 * those sums, and phi again to spread them. What that leaves is as good as the numbers contract
 * asks; the host has the proof. In two dimensions
 *
 *     (Sx + Ex) (Sy + Ey) = Sx Sy + Ex Sy + Sx Ey + Ex Ey
 *
 * where the last is too small to count, and for Sx in the third a crude one will do. The passes:
 *
 *  - down: sums of columns, by nodes in y; and of blocks of each row
 *  - blocks: a crude Sx of the blocks, on a grid in x
 *  - along_y: Ey of that ("bent"); and the nodes' taps in y, which is Sy but for phi ("smooth")
 *  - wide: Sx and Ex of the smooth rows
 *  - up: phi in y on the wide rows, and the bent grid interpolated
 *
 * Nodes cover what surrounds the image too, so borders need no care in y after `down`. */
#include "kernels/coarse.variants.h"
#include "kernels/gf_tile.cuh"
#include "kernels/gf_wild.cuh"

/* ---- down: nodes in y, blocks in x --------------------------------------------------------- */

/* C neighbouring pixels as they lie in memory. */
template <class T, int C> struct gf_coarse_pixels {
    enum { WORDS = C * static_cast<int>(sizeof(T)) / 4 };
    unsigned word[WORDS];
};

template <class T> GF_DEVICE float gf_coarse_pixel(const unsigned *words, int i);
template <> GF_DEVICE float gf_coarse_pixel<unsigned char>(const unsigned *words, int i)
{
    return gf_bits_float(gf_pick_bytes(words[i / 4], 0x4b000000u, 0x7440u | (i & 3))) - 8388608.0f;
}
template <> GF_DEVICE float gf_coarse_pixel<unsigned short>(const unsigned *words, int i)
{
    return gf_bits_float(gf_pick_bytes(words[i / 2], 0x4b000000u, i & 1 ? 0x7432u : 0x7410u)) -
           8388608.0f;
}
template <> GF_DEVICE float gf_coarse_pixel<float>(const unsigned *words, int i)
{
    return gf_bits_float(words[i]);
}

/* The bits of a value that a pixel can have. */
template <class T> GF_DEVICE unsigned gf_coarse_bits(float v) { return static_cast<unsigned>(v); }
template <> GF_DEVICE unsigned gf_coarse_bits<float>(float v) { return gf_float_bits(v); }

/* C pixels at an aligned place. */
template <class T, int C> GF_DEVICE gf_coarse_pixels<T, C> gf_coarse_read(const void *from)
{
    enum { WORDS = gf_coarse_pixels<T, C>::WORDS };
    gf_coarse_pixels<T, C> p;
    if (WORDS == 2) {
        const uint2 v = gf_ldg(static_cast<const uint2 *>(from));
        p.word[0] = v.x, p.word[1] = v.y;
    } else {
        const uint4 v = gf_ldg(static_cast<const uint4 *>(from));
        p.word[0] = v.x, p.word[1] = v.y;
        p.word[WORDS - 2] = v.z, p.word[WORDS - 1] = v.w;
    }
    return p;
}

/* Put value v at pixel i. */
template <class T, int C> GF_DEVICE void gf_coarse_insert(gf_coarse_pixels<T, C> &p, int i, float v)
{
    enum { BITS = 8 * static_cast<int>(sizeof(T)) };
    p.word[i * BITS / 32] |= gf_coarse_bits<T>(v) << i * BITS % 32;
}

/* Two floats cut to bfloat16, rounded, the first in the low half. */
GF_DEVICE unsigned gf_coarse_pack(float first, float second)
{
    return gf_pick_bytes(gf_float_bits(first) + 0x8000u, gf_float_bits(second) + 0x8000u, 0x7632);
}

/* Sum of a block, and its first moment about the block's middle. */
template <class T, int C>
GF_DEVICE unsigned gf_coarse_moments(const unsigned *, const float (&v)[C])
{
    float sum = 0.0f, moment = 0.0f;
#pragma unroll
    for (int i = 0; i < C / 2; i++) {
        sum += v[i] + v[C - 1 - i];
        moment = fmaf(0.5f * static_cast<float>(C - 1) - static_cast<float>(i), v[C - 1 - i] - v[i],
                      moment);
    }
    return gf_coarse_pack(sum, moment);
}
template <>
GF_DEVICE unsigned gf_coarse_moments<unsigned char, 8>(const unsigned *words, const float (&)[8])
{
    const unsigned sum =
        gf_dot_bytes(words[0], 0x01010101u, gf_dot_bytes(words[1], 0x01010101u, 0u));
    const unsigned twice =
        gf_dot_bytes(words[0], 0xfffdfbf9u, gf_dot_bytes(words[1], 0x07050301u, 0u));
    return gf_coarse_pack(static_cast<float>(sum),
                          0.5f * static_cast<float>(static_cast<int>(twice)));
}

/* The pixels as floats, wild ones as 0. */
template <class T, int C>
GF_DEVICE void gf_coarse_unpack(const gf_coarse_args &a, const gf_coarse_pixels<T, C> &pixels,
                                float (&v)[C], bool &wild)
{
#pragma unroll
    for (int i = 0; i < C; i++) {
        v[i] = gf_coarse_pixel<T>(pixels.word, i);
        if (sizeof(T) == 4) v[i] = gf_wild_tame(v[i], a.limit, wild);
    }
}

/* A thread's columns, all in the image but for the last thread's; whole: all of them, and aligned.
 */
template <class T, int C> struct gf_coarse_columns_of {
    int x;
    bool whole;

    /* Row y of what the image and its border are. */
    GF_DEVICE gf_coarse_pixels<T, C> any(const gf_coarse_args &a, int row) const
    {
        const int y = gf_border_index(row, a.src.height, a.border);
        const T *const from = gf_row<const T>(a.src, y < 0 ? 0 : y) + x;
        if (whole && y >= 0) return gf_coarse_read<T, C>(from);
        gf_coarse_pixels<T, C> p = {};
#pragma unroll
        for (int i = 0; i < C; i++)
            if (x + i < a.src.width)
                gf_coarse_insert(p, i, y < 0 ? a.border_value : gf_get(from + i));
        return p;
    }
};

/* Sums of nodes; [m]: of the one that began m steps ago. */
template <int C> struct gf_coarse_open {
    float sum[GF_COARSE_SPAN][C];

    /* Row p of a step. */
    GF_DEVICE void take(const gf_coarse_args &a, int p, const float (&v)[C])
    {
#pragma unroll
        for (int m = 0; m < GF_COARSE_SPAN; m++) {
            const float weight = a.phi[p * GF_COARSE_SPAN + m];
#pragma unroll
            for (int i = 0; i < C; i++) sum[m][i] = fmaf(weight, v[i], sum[m][i]);
        }
    }

    /* Begin a step; the oldest node is done. */
    GF_DEVICE void next()
    {
#pragma unroll
        for (int m = GF_COARSE_SPAN - 1; m >= 0; m--)
#pragma unroll
            for (int i = 0; i < C; i++) sum[m][i] = m > 0 ? sum[m - (m > 0)][i] : 0.0f;
    }
};

/* A thread walks down `run` steps and leaves what they add to every node that they touch: nodes it
 * began go to `down`, those that the thread above began to `more`. */
template <class T, int C> GF_DEVICE void gf_coarse_walk(const gf_coarse_args &a, int thread)
{
    enum { SPAN = GF_COARSE_SPAN, GROUP = GF_COARSE_GROUP };
    const int x = thread * C, first = static_cast<int>(blockIdx.y) * a.run;
    const int steps = min(a.run, a.nodes + SPAN - 1 - first);
    const long long at = reinterpret_cast<long long>(a.src.data) | a.src.pitch;
    const bool full = x + C <= a.src.width;
    const gf_coarse_columns_of<T, C> columns = { x, full && (at & (C * static_cast<int>(sizeof(T)) -
                                                                   1)) == 0 };
    if (x >= a.src.width) return;
    int y = (first - (SPAN - 1) - a.reach) * a.step;
    unsigned *block =
        a.blocks + static_cast<long long>(y) * a.block_pitch + a.block_left / C + thread;
    gf_coarse_open<C> open = {};
    bool wild = false;
    gf_coarse_pixels<T, C> rows[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++) rows[i] = columns.any(a, y + i);
    for (int step = 0; step < steps + SPAN - 1; step++) {
        for (int p = 0; p < a.step && step < steps; p += GROUP, y += GROUP) {
            const int ahead = y + GROUP;
            const bool inside = columns.whole && ahead >= 0 && ahead + GROUP <= a.src.height;
            const char *from = reinterpret_cast<const char *>(gf_row<const T>(a.src, ahead) + x);
#pragma unroll
            for (int i = 0; i < GROUP; i++, block += a.block_pitch, from += a.src.pitch) {
                float v[C];
                gf_coarse_unpack<T, C>(a, rows[i], v, wild);
                if (full && y + i >= 0 && y + i < a.src.height)
                    *block = gf_coarse_moments<T, C>(rows[i].word, v);
                rows[i] = inside ? gf_coarse_read<T, C>(from) : columns.any(a, ahead + i);
                open.take(a, p + i, v);
            }
        }
        const int node = first + step - (SPAN - 1);
        if (node >= 0 && node < a.nodes) {
            float *const to =
                (step < SPAN - 1 ? a.more : a.down) + static_cast<long long>(node) * a.pitch + x;
#pragma unroll
            for (int i = 0; i < C; i += 4)
                if (x + i < a.pitch)
                    gf_put4(to + i,
                            make_float4(open.sum[SPAN - 1][i], open.sum[SPAN - 1][i + 1],
                                        open.sum[SPAN - 1][i + 2], open.sum[SPAN - 1][i + 3]));
        }
        open.next();
    }
    if (sizeof(T) == 4 && wild) *a.wild = 1;
}

/* Blocks that the border makes, in whole or in part, of a share of the rows. */
template <class T, int C> GF_DEVICE void gf_coarse_edges(const gf_coarse_args &a)
{
    const int left = a.block_left / C, right = left + a.src.width / C;
    const int edges = a.block_pitch - (right - left);
    const int rows = (a.src.height + static_cast<int>(gridDim.y) - 1) / static_cast<int>(gridDim.y);
    const int first = static_cast<int>(blockIdx.y) * rows, end = min(first + rows, a.src.height);
    for (int i = static_cast<int>(threadIdx.x); i < (end - first) * edges;
         i += static_cast<int>(blockDim.x)) {
        const int y = first + i / edges, edge = i % edges;
        const int block = edge < left ? edge : edge + right - left;
        const T *const from = gf_row<const T>(a.src, y);
        gf_coarse_pixels<T, C> p = {};
        float v[C];
        bool wild;
#pragma unroll
        for (int k = 0; k < C; k++) {
            const int x = gf_border_index(block * C - a.block_left + k, a.src.width, a.border);
            gf_coarse_insert(p, k, x < 0 ? a.border_value : gf_get(from + x));
        }
        gf_coarse_unpack<T, C>(a, p, v, wild);
        a.blocks[static_cast<long long>(y) * a.block_pitch + block] =
            gf_coarse_moments<T, C>(p.word, v);
    }
}

/* Grid: columns / C and one block for the edges x runs. */
template <class T, int C> GF_DEVICE void gf_coarse_down(const gf_coarse_args &a)
{
    if (blockIdx.x == 0)
        gf_coarse_edges<T, C>(a);
    else
        gf_coarse_walk<T, C>(a, static_cast<int>((blockIdx.x - 1) * blockDim.x + threadIdx.x));
}

GF_KERNEL_BOUNDS(GF_COARSE_DOWN_THREADS, 5, gf_coarse_down_u8, gf_coarse_args, a)
{
    gf_coarse_down<unsigned char, GF_COARSE_COLUMNS(GF_P_U8)>(a);
}
GF_KERNEL_BOUNDS(GF_COARSE_DOWN_THREADS, 5, gf_coarse_down_u16, gf_coarse_args, a)
{
    gf_coarse_down<unsigned short, GF_COARSE_COLUMNS(GF_P_U16)>(a);
}
GF_KERNEL_BOUNDS(GF_COARSE_DOWN_THREADS, 5, gf_coarse_down_f32, gf_coarse_args, a)
{
    gf_coarse_down<float, GF_COARSE_COLUMNS(GF_P_F32)>(a);
}

/* ---- sums along columns -------------------------------------------------------------------- */

/* N floats at an aligned place in device memory. */
template <int N> GF_DEVICE void gf_coarse_load(const float *from, float (&to)[N])
{
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        const float4 v = gf_ldg(reinterpret_cast<const float4 *>(from + i));
        to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
    }
}

/* Let n rows take part in GF_COARSE_ROWS results, which are a row apart: result j has tap i - j for
 * row i. n is a multiple of GF_COARSE_ROWS. */
template <class Rows>
GF_DEVICE void gf_coarse_sum(const float *taps, int n, Rows &rows, float4 (&sum)[GF_COARSE_ROWS])
{
    enum { N = GF_COARSE_ROWS };
    float last[N - 1] = {}, now[N];
    for (int first = 0; first < n; first += N) {
        float4 row[N];
#pragma unroll
        for (int u = 0; u < N; u++) row[u] = rows.next();
        gf_coarse_load<N>(taps + first, now);
#pragma unroll
        for (int u = 0; u < N; u++) {
            const float4 v = row[u];
#pragma unroll
            for (int j = 0; j < N; j++) {
                const float tap = u < j ? last[u - j + N - 1] : now[u < j ? 0 : u - j];
                sum[j].x = fmaf(tap, v.x, sum[j].x);
                sum[j].y = fmaf(tap, v.y, sum[j].y);
                sum[j].z = fmaf(tap, v.z, sum[j].z);
                sum[j].w = fmaf(tap, v.w, sum[j].w);
            }
        }
#pragma unroll
        for (int i = 0; i < N - 1; i++) last[i] = now[i + 1];
    }
}

GF_DEVICE void gf_coarse_put_rows(float *to, int pitch, int rows,
                                  const float4 (&sum)[GF_COARSE_ROWS])
{
#pragma unroll
    for (int j = 0; j < GF_COARSE_ROWS; j++)
        if (j < rows) gf_put4(to + static_cast<long long>(j) * pitch, sum[j]);
}

/* Rows of `down`, whole, one after the other. */
struct gf_coarse_down_rows {
    const float *down;
    long long more; /* from a row to what is to be added, in floats */
    int pitch, left, run;
    int in_run; /* place of the row in its run */

    GF_DEVICE float4 next()
    {
        float4 v = gf_ldg(reinterpret_cast<const float4 *>(down));
        if (in_run > run - GF_COARSE_SPAN) {
            const float4 w = gf_ldg(reinterpret_cast<const float4 *>(down + more));
            v.x += w.x, v.y += w.y, v.z += w.z, v.w += w.w;
        }
        if (--left > 0) { /* after the last one taps are 0, any row will do */
            down += pitch;
            in_run = in_run + 1 < run ? in_run + 1 : 0;
        }
        return v;
    }
};

/* Rows of the grid, which are source rows, where all are in the image; and where not. */
struct gf_coarse_grid_inside {
    const float *row;
    int pitch;

    GF_DEVICE float4 next()
    {
        const float4 v = gf_ldg(reinterpret_cast<const float4 *>(row));
        row += pitch;
        return v;
    }
};

struct gf_coarse_grid_edge {
    const float *grid;
    int y, height, border, pitch;
    float outside;

    GF_DEVICE float4 next()
    {
        const int at = gf_border_index(y++, height, border);
        if (at < 0) return make_float4(outside, outside, outside, outside);
        return gf_ldg(reinterpret_cast<const float4 *>(grid + static_cast<long long>(at) * pitch));
    }
};

/* The nodes' taps in y, four columns of GF_COARSE_ROWS rows. */
GF_DEVICE void gf_coarse_columns(const gf_coarse_args &a, int thread)
{
    const int quads = (a.src.width + 3) / 4, x = 4 * (thread % quads);
    const int row = thread / quads * GF_COARSE_ROWS;
    if (row >= a.wide_rows) return;
    const long long at = static_cast<long long>(row) * a.pitch + x;
    gf_coarse_down_rows rows = { a.down + at,   a.more - a.down, a.pitch,
                                 a.nodes - row, a.run,           row % a.run };
    float4 sum[GF_COARSE_ROWS] = {};
    gf_coarse_sum(a.column_taps, a.node_n, rows, sum);
    gf_coarse_put_rows(a.smooth + at, a.pitch, a.wide_rows - row, sum);
}

/* The rest of the window in y, likewise. */
GF_DEVICE void gf_coarse_bend(const gf_coarse_args &a, int thread)
{
    const int quads = a.grid_pitch / 4, x = 4 * (thread % quads);
    const int row = thread / quads * GF_COARSE_ROWS;
    if (row >= a.dst.height) return;
    float4 sum[GF_COARSE_ROWS] = {};
#pragma unroll 1
    for (int side = 0; side < 2; side++) {
        const int from = row + a.rest_from[side];
        if (from >= 0 && from + a.rest_n <= a.src.height) {
            gf_coarse_grid_inside rows = { a.grid + static_cast<long long>(from) * a.grid_pitch + x,
                                           a.grid_pitch };
            gf_coarse_sum(a.bend_taps[side], a.rest_n, rows, sum);
        } else {
            gf_coarse_grid_edge rows = { a.grid + x, from,         a.src.height,
                                         a.border,   a.grid_pitch, a.bent_outside };
            gf_coarse_sum(a.bend_taps[side], a.rest_n, rows, sum);
        }
    }
    gf_coarse_put_rows(a.bent + static_cast<long long>(row) * a.grid_pitch + x, a.grid_pitch,
                       a.dst.height - row, sum);
}

/* Grid: blocks for the grid, columns / 4 * rows / GF_COARSE_ROWS threads, then for the nodes. */
GF_KERNEL_BOUNDS(GF_COARSE_COLUMN_THREADS, 4, gf_coarse_along_y, gf_coarse_args, a)
{
    const int block = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
    if (block < a.bend_blocks)
        gf_coarse_bend(a, block * GF_COARSE_COLUMN_THREADS + thread);
    else
        gf_coarse_columns(a, (block - a.bend_blocks) * GF_COARSE_COLUMN_THREADS + thread);
}

/* ---- wide: the window along a row ---------------------------------------------------------- */

/* What a block of `wide` holds in shared memory; every list begins at a multiple of four. */
struct gf_coarse_row {
    float *pixels;       /* from column x - lead on, at GF_COARSE_AT */
    float *sums, *nodes; /* before the nodes' taps and after them */
    float *phi;          /* by pixel of a node */
    float *taps;         /* the nodes', then the rest's on both sides */
    int x, end;          /* columns of the block */
    int first, n;        /* node of nodes[0]; how many */
};

GF_DEVICE float gf_coarse_dot(float4 a, float4 b, float sum)
{
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

GF_DEVICE void gf_coarse_row_fill(const gf_coarse_args &a, const gf_coarse_row &row)
{
    const int thread = static_cast<int>(threadIdx.x), from = row.x - a.lead;
    const float *const line = a.smooth + static_cast<long long>(blockIdx.y) * a.pitch;
    for (int i = 4 * thread; i < row.end - row.x + a.held - a.segment;
         i += 4 * GF_COARSE_WIDE_THREADS) {
        float *const to = row.pixels + GF_COARSE_AT(i);
        if (from + i >= 0 && from + i + 4 <= a.src.width) {
            gf_put4(to, gf_ldg(reinterpret_cast<const float4 *>(line + from + i)));
            continue;
        }
        for (int k = 0; k < 4; k++) {
            const int x = gf_border_index(from + i + k, a.src.width, a.border);
            to[k] = x < 0 ? a.outside : gf_ldg(line + x);
        }
    }
    for (int i = thread; i < a.step * GF_COARSE_SPAN; i += GF_COARSE_WIDE_THREADS)
        row.phi[i] = a.phi[i % a.step * GF_COARSE_SPAN + i / a.step];
    for (int i = thread; i < a.node_n + 2 * a.rest_n; i += GF_COARSE_WIDE_THREADS)
        row.taps[i] = gf_ldg(a.node_taps + i);
}

/* sums[i]: node first - reach + i. */
GF_DEVICE void gf_coarse_row_sums(const gf_coarse_args &a, const gf_coarse_row &row)
{
    for (int i = static_cast<int>(threadIdx.x); i < row.n + 2 * a.reach;
         i += GF_COARSE_WIDE_THREADS) {
        const int at = (row.first - a.reach + i) * a.step - row.x + a.lead;
        float sum = 0.0f;
        for (int m = 0; m < GF_COARSE_SPAN * a.step; m += a.step) {
            float part = 0.0f;
            for (int p = m; p < m + a.step; p += 4)
                part = gf_coarse_dot(gf_get4(row.phi + p),
                                     gf_get4(row.pixels + GF_COARSE_AT(at + p)), part);
            sum += part;
        }
        row.sums[i] = sum;
    }
    if (threadIdx.x < 8) /* taps that are 0 meet these */
        row.sums[row.n + 2 * a.reach + threadIdx.x] = 0.0f;
}

/* Let n taps, a multiple of four, take part in N results that are a place apart: result j has tap
 * i - j for place i. */
template <int N> struct gf_coarse_slide {
    float last[N - 1];

    GF_DEVICE void take(float4 taps, float4 places, float (&sum)[N])
    {
        const float now[4] = { taps.x, taps.y, taps.z, taps.w };
        const float v[4] = { places.x, places.y, places.z, places.w };
#pragma unroll
        for (int u = 0; u < 4; u++)
#pragma unroll
            for (int j = 0; j < N; j++)
                sum[j] = fmaf(u < j ? last[u < j ? u - j + N - 1 : 0] : now[u < j ? 0 : u - j],
                              v[u], sum[j]);
#pragma unroll
        for (int i = 0; i < N - 1; i++)
            last[i] = i + 4 < N - 1 ? last[i + 4 < N - 1 ? i + 4 : 0]
                                    : now[i + 4 < N - 1 ? 0 : i + 5 - N];
    }
};

/* Four nodes a thread. */
GF_DEVICE void gf_coarse_row_nodes(const gf_coarse_args &a, const gf_coarse_row &row)
{
    for (int i = 4 * static_cast<int>(threadIdx.x); i < row.n; i += 4 * GF_COARSE_WIDE_THREADS) {
        gf_coarse_slide<4> slide = {};
        float sum[4] = {};
        for (int k = 0; k < 2 * a.reach + 4; k += 4)
            slide.take(gf_get4(row.taps + k), gf_get4(row.sums + i + k), sum);
        gf_put4(row.nodes + i, make_float4(sum[0], sum[1], sum[2], sum[3]));
    }
}

/* The rest's taps at one side, for eight results; from: the place that the first tap has for the
 * first of them. */
GF_DEVICE void gf_coarse_row_rest(const gf_coarse_args &a, const gf_coarse_row &row,
                                  const float *taps, int from, float (&sum)[8])
{
    gf_coarse_slide<8> slide = {};
    for (int k = 0; k < a.rest_n; k += 4)
        slide.take(gf_get4(taps + k), gf_get4(row.pixels + GF_COARSE_AT(from + k)), sum);
}

/* Phi in x, for eight columns from x on; fours of them are of one step. */
GF_DEVICE void gf_coarse_row_spread(const gf_coarse_args &a, const gf_coarse_row &row, int x,
                                    float (&sum)[8])
{
    int node = x / a.step - row.first, p = x % a.step;
#pragma unroll
    for (int i = 0; i < 8; i += 4) {
#pragma unroll
        for (int m = 0; m < GF_COARSE_SPAN; m++) {
            const float4 weight = gf_get4(row.phi + m * a.step + p);
            const float v = row.nodes[node - m];
            sum[i] = fmaf(weight.x, v, sum[i]);
            sum[i + 1] = fmaf(weight.y, v, sum[i + 1]);
            sum[i + 2] = fmaf(weight.z, v, sum[i + 2]);
            sum[i + 3] = fmaf(weight.w, v, sum[i + 3]);
        }
        p += 4;
        if (p == a.step) p = 0, node++;
    }
}

/* Grid: segments x rows. */
GF_KERNEL_BOUNDS(GF_COARSE_WIDE_THREADS, 2, gf_coarse_wide, gf_coarse_args, a)
{
    GF_SHARED(float, memory);
    gf_coarse_row row;
    row.x = static_cast<int>(blockIdx.x) * a.segment;
    row.end = min(row.x + a.segment, a.pitch);
    row.first = row.x / a.step - (GF_COARSE_SPAN - 1);
    row.n = (row.end - 1) / a.step + 1 - row.first;
    row.pixels = memory;
    row.phi = row.pixels + GF_COARSE_AT(a.held);
    row.taps = row.phi + a.step * GF_COARSE_SPAN;
    row.nodes = row.taps + a.node_n + 2 * a.rest_n;
    row.sums = row.nodes + (row.n + 3) / 4 * 4;
    gf_coarse_row_fill(a, row);
    __syncthreads();
    gf_coarse_row_sums(a, row);
    __syncthreads();
    gf_coarse_row_nodes(a, row);
    __syncthreads();
    const float *const rest = row.taps + a.node_n;
    float *const to = a.wide + static_cast<long long>(blockIdx.y) * a.pitch;
    for (int x = row.x + 8 * static_cast<int>(threadIdx.x); x < row.end;
         x += 8 * GF_COARSE_WIDE_THREADS) {
        const int at = x - row.x + a.lead;
        float sum[8] = {};
        gf_coarse_row_rest(a, row, rest, at + a.rest_from[0], sum);
        gf_coarse_row_rest(a, row, rest + a.rest_n, at + a.rest_from[1], sum);
        gf_coarse_row_spread(a, row, x, sum);
        gf_put4(to + x, make_float4(sum[0], sum[1], sum[2], sum[3]));
        gf_put4(to + x + 4, make_float4(sum[4], sum[5], sum[6], sum[7]));
    }
}

/* ---- blocks: a crude Sx -------------------------------------------------------------------- */

/* Sum and first moment of the blocks between two grid points, taken together. */
template <int C> GF_DEVICE float2 gf_coarse_merge(const unsigned *blocks, int n)
{
    float sum = 0.0f, moment = 0.0f, middle = -0.5f * static_cast<float>(C * (n - 1));
    for (int i = 0; i < n; i++, middle += static_cast<float>(C)) {
        const unsigned v = gf_ldg(blocks + i);
        const float own = gf_bits_float(v << 16);
        sum += own;
        moment += fmaf(middle, own, gf_bits_float(v & 0xffff0000u));
    }
    return make_float2(sum, moment);
}

/* A warp makes a row: all its lanes take four intervals together, and those that have what follows
 * make four grid points. Grid: columns of the grid / (GF_COARSE_BLOCK_COLUMNS - block_n) x rows /
 * GF_COARSE_BLOCK_ROWS. */
template <int C> GF_DEVICE void gf_coarse_smooth(const gf_coarse_args &a, float *memory)
{
    enum { COLUMNS = GF_COARSE_BLOCK_COLUMNS, ROWS = GF_COARSE_BLOCK_ROWS };
    const int warp = static_cast<int>(threadIdx.x) / 32,
              own = 4 * (static_cast<int>(threadIdx.x) % 32);
    const int column = static_cast<int>(blockIdx.x) * (COLUMNS - a.block_n) + own;
    const int row = static_cast<int>(blockIdx.y) * ROWS + warp;
    float *const sums = memory + 2 * COLUMNS * warp + own, *const moments = sums + COLUMNS;
    if (row < a.src.height) {
        const unsigned *const blocks = a.blocks + static_cast<long long>(row) * a.block_pitch;
        float2 v[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            v[i] = gf_coarse_merge<C>(
                blocks + min((column + i) * a.block_step, a.block_pitch - a.block_step),
                a.block_step);
        gf_put4(sums, make_float4(v[0].x, v[1].x, v[2].x, v[3].x));
        gf_put4(moments, make_float4(v[0].y, v[1].y, v[2].y, v[3].y));
    }
    __syncthreads();
    if (row >= a.src.height || own >= COLUMNS - a.block_n || column >= a.grid_pitch) return;
    gf_coarse_slide<4> level = {}, slope = {};
    float sum[4] = {};
    for (int k = 0; k < a.block_n; k += 4) {
        float4 tap = gf_ldg(reinterpret_cast<const float4 *>(a.block_taps + k));
        level.take(tap, gf_get4(sums + k), sum);
        tap = gf_ldg(reinterpret_cast<const float4 *>(a.block_taps + a.block_n + k));
        slope.take(tap, gf_get4(moments + k), sum);
    }
    gf_put4(a.grid + static_cast<long long>(row) * a.grid_pitch + column,
            make_float4(sum[0], sum[1], sum[2], sum[3]));
}

GF_KERNEL(gf_coarse_blocks_u8, gf_coarse_args, a)
{
    GF_SHARED(float, memory);
    gf_coarse_smooth<GF_COARSE_COLUMNS(GF_P_U8)>(a, memory);
}
GF_KERNEL(gf_coarse_blocks, gf_coarse_args, a)
{
    GF_SHARED(float, memory);
    gf_coarse_smooth<GF_COARSE_COLUMNS(GF_P_F32)>(a, memory);
}

/* ---- up ------------------------------------------------------------------------------------ */

/* A thread's columns of the bent grid: a straight line over them, from four grid points. */
struct gf_coarse_bend_line {
    float level[4], slope[4];
};

/* A row of a thread's results. */
template <int C>
GF_DEVICE void gf_coarse_put(const gf_coarse_args &a, int x, int y, bool whole, const float (&v)[C])
{
    if (C == 8 && whole) { /* u8: scale and offset are in the sums already */
        *reinterpret_cast<uint2 *>(gf_row<unsigned char>(a.dst, y) + x) = make_uint2(
            gf_pack_u8(v[0], v[1], v[2], v[3]), gf_pack_u8(v[C - 4], v[C - 3], v[C - 2], v[C - 1]));
        return;
    }
    gf_kcombine combine = a.combine;
    combine.combine = GF_C_SUM; /* no other is served */
    float to[C];
#pragma unroll
    for (int i = 0; i < C; i++) to[i] = C == 8 ? v[i] : gf_combine(combine, v[i], 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < C; i += 4)
        gf_store_up_to4(a.dst, whole, x + i, y,
                        make_float4(to[i], to[i + 1], to[i + 2], to[i + 3]));
}

/* Four points of each of GF_COARSE_GROUP rows of the grid, of which `left` are left. */
GF_DEVICE void gf_coarse_grid_group(const float *bent, int pitch, int left,
                                    float (&grid)[GF_COARSE_GROUP][4])
{
#pragma unroll
    for (int k = 0; k < GF_COARSE_GROUP; k++) {
#pragma unroll
        for (int i = 0; i < 4; i++) grid[k][i] = gf_ldg(bent + i);
        if (k + 1 < left) bent += pitch;
    }
}

/* A thread walks down `up_run` steps of C columns. */
template <int C> GF_DEVICE void gf_coarse_spread(const gf_coarse_args &a)
{
    enum { SPAN = GF_COARSE_SPAN, GROUP = GF_COARSE_GROUP };
    const int x = C * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int first = static_cast<int>(blockIdx.y) * a.up_run;
    if (x >= a.dst.width) return;
    const int end = min((first + a.up_run) * a.step, a.dst.height);
    const long long at = reinterpret_cast<long long>(a.dst.data) | a.dst.pitch;
    const bool whole = x + C <= a.dst.width && (C == 8 ? (at & 7) == 0 : gf_aligned4(a.dst));
    const float start = C == 8 ? a.combine.offset : 0.0f;
    gf_coarse_bend_line line;
    const float *bends = a.bends + 8 * (x % a.grid_step / C);
    gf_coarse_load(bends, line.level);
    gf_coarse_load(bends + 4, line.slope);
    const float *rows = a.wide + static_cast<long long>(first) * a.pitch + x;
    float ring[SPAN][C]; /* [m]: the node that began m steps ago */
#pragma unroll
    for (int m = SPAN - 1; m >= 0; m--) {
        gf_coarse_load(rows, ring[m]);
        if (m > 0) rows += a.pitch;
    }
    int y = first * a.step;
    const float *bent = a.bent + static_cast<long long>(y) * a.grid_pitch + x / a.grid_step;
    float grid[GROUP][4];
    gf_coarse_grid_group(bent, a.grid_pitch, end - y, grid);
    while (y < end) {
        float later[C]; /* the next step's */
        if (y + a.step < end) rows += a.pitch;
        gf_coarse_load(rows, later);
        for (int p = 0; p < a.step && y < end; p += GROUP) {
            float level[GROUP], slope[GROUP];
#pragma unroll
            for (int k = 0; k < GROUP; k++) {
                level[k] = start, slope[k] = 0.0f;
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    level[k] = fmaf(line.level[i], grid[k][i], level[k]);
                    slope[k] = fmaf(line.slope[i], grid[k][i], slope[k]);
                }
            }
            if (y + GROUP < end) bent += static_cast<long long>(GROUP) * a.grid_pitch;
            gf_coarse_grid_group(bent, a.grid_pitch, end - y - GROUP, grid);
#pragma unroll
            for (int k = 0; k < GROUP; k++, y++) {
                float v[C];
#pragma unroll
                for (int i = 0; i < C; i++)
                    v[i] = fmaf(slope[k], static_cast<float>(i) - 0.5f * static_cast<float>(C - 1),
                                level[k]);
#pragma unroll
                for (int m = 0; m < SPAN; m++) {
                    const float weight = a.phi[(p + k) * SPAN + m];
#pragma unroll
                    for (int i = 0; i < C; i++) v[i] = fmaf(weight, ring[m][i], v[i]);
                }
                if (y < end) gf_coarse_put<C>(a, x, y, whole, v);
            }
        }
#pragma unroll
        for (int m = SPAN - 1; m >= 0; m--)
#pragma unroll
            for (int i = 0; i < C; i++) ring[m][i] = m > 0 ? ring[m - (m > 0)][i] : later[i];
    }
}

GF_KERNEL_BOUNDS(GF_COARSE_UP_THREADS, 4, gf_coarse_up_u8, gf_coarse_args, a)
{
    gf_coarse_spread<GF_COARSE_COLUMNS(GF_P_U8)>(a);
}
GF_KERNEL_BOUNDS(GF_COARSE_UP_THREADS, 4, gf_coarse_up, gf_coarse_args, a)
{
    gf_coarse_spread<GF_COARSE_COLUMNS(GF_P_F32)>(a);
}

/* Compute again, directly, the pixels whose window holds a wild one. Grid: columns / 32 x any.
 * Block: 32 x 8. */
GF_KERNEL(gf_coarse_redo, gf_coarse_args, a)
{
    if (!*a.wild) return; /* the same for the whole block */
    const int side = GF_WILD_REDO, x = static_cast<int>(blockIdx.x) * side;
    const int step = static_cast<int>(gridDim.y) * side;
    for (int y = static_cast<int>(blockIdx.y) * side; y < a.dst.height; y += step) {
        const gf_wild_place place = {
            x - a.ax, y - a.ay, x, y, min(side, a.dst.width - x), min(side, a.dst.height - y)
        };
        gf_wild_redo(a, a.combine, place);
    }
}
