/* 2-D windows, straight from the definition: dst(x,y) = scale * sum_ij taps[j][i] * src(x-ax+i,
 * y-ay+j) + offset. Only taps of the window's own rectangle touch a pixel, so that a NaN stays
 * inside its window. Sums are made of short runs (a kernel row, at most 32 taps) so that many taps
 * do not add up rounding errors. */
#include "kernels/direct.variants.h"
#include "kernels/gf_tile.cuh"

/* ---- sizes known when compiled ------------------------------------------------------------- */

/* The N floats from a 16-byte aligned shared address on. */
template <int N> GF_DEVICE void gf_direct_read(const float *from, float (&v)[N])
{
#pragma unroll
    for (int i = 0; i < N / 4; i++) {
        const float4 q = gf_get4(from + 4 * i);
        v[4 * i] = q.x;
        v[4 * i + 1] = q.y;
        v[4 * i + 2] = q.z;
        v[4 * i + 3] = q.w;
    }
#pragma unroll
    for (int i = N / 4 * 4; i < N; i++) v[i] = from[i];
}

/* Let one source row v take part in the K output rows it belongs to: acc[j] is the sum of rows
 * 0 … j of a window, so each moves on by one place, which is no extra work: every sum is written
 * to its new place. acc[K - 1] is complete. */
template <int K, int N>
GF_DEVICE void gf_direct_step(const gf_direct_args &a, const float (&v)[N],
                              float (&acc)[K][GF_DIRECT_COLUMNS])
{
#pragma unroll
    for (int j = K - 1; j >= 0; j--) {
        float sum[GF_DIRECT_COLUMNS];
#pragma unroll
        for (int c = 0; c < GF_DIRECT_COLUMNS; c++) {
            const float before = j > 0 ? acc[j - (j > 0)][c] : 0.0f;
            /* Few taps are one run; else each kernel row is a run of its own. */
            sum[c] = K <= 5 ? before : 0.0f;
#pragma unroll
            for (int i = 0; i < K; i++)
                sum[c] = fmaf(a.taps[j * K + i], v[GF_DIRECT_LEAD(K) + c + i], sum[c]);
            acc[j][c] = K <= 5 ? sum[c] : before + sum[c];
        }
    }
}

/* A block owns a strip of GF_DIRECT_COLUMNS * blockDim.x columns and a.rows rows. It brings in a
 * few source rows at a time; every thread walks down its columns, keeping the K unfinished output
 * rows in registers, so that each source pixel is read from shared memory once a thread. */
template <int K> GF_DEVICE void gf_direct_strip(const gf_direct_args &a, float *shared)
{
    const int strip = GF_DIRECT_COLUMNS * static_cast<int>(blockDim.x);
    const int strip_x = static_cast<int>(blockIdx.x) * strip;
    const int strip_y = static_cast<int>(blockIdx.y) * a.rows;
    const int x = strip_x + GF_DIRECT_COLUMNS * static_cast<int>(threadIdx.x);
    const int rows = (a.rows < a.dst.height - strip_y ? a.rows : a.dst.height - strip_y) + K - 1;
    const float *const mine = shared + GF_DIRECT_COLUMNS * threadIdx.x;
    const bool aligned = gf_aligned4(a.dst);
    gf_tile tile = { shared,
                     4 * a.tile_groups,
                     GF_DIRECT_ROWS,
                     a.tile_groups,
                     a.tile_groups_inverse,
                     strip_x - a.ax - GF_DIRECT_LEAD(K),
                     0 };
    float acc[K][GF_DIRECT_COLUMNS] = {};
    for (int first = 0; first < rows; first += GF_DIRECT_ROWS) {
        tile.y = strip_y - a.ay + first;
        tile.rows = GF_DIRECT_ROWS < rows - first ? GF_DIRECT_ROWS : rows - first;
        gf_tile_fill(a.src, a.border, a.border_value, tile);
        __syncthreads();
#pragma unroll 1
        for (int r = 0; r < tile.rows; r++) {
            float v[GF_DIRECT_LEAD(K) + GF_DIRECT_COLUMNS + K - 1];
            gf_direct_read(mine + r * tile.pitch, v);
            gf_direct_step<K>(a, v, acc);
            const float(&sum)[GF_DIRECT_COLUMNS] = acc[K - 1];
            if (first + r >= K - 1)
                gf_store_up_to4(
                    a.dst, aligned, x, strip_y + first + r - (K - 1),
                    make_float4(fmaf(a.scale, sum[0], a.offset), fmaf(a.scale, sum[1], a.offset),
                                fmaf(a.scale, sum[2], a.offset), fmaf(a.scale, sum[3], a.offset)));
        }
        __syncthreads();
    }
}

#define GF_DIRECT_KERNEL(K)                                                                        \
    GF_KERNEL_BOUNDS(128, (K) < 9 ? 4 : (K) < 11 ? 3 : 2, gf_direct_##K, gf_direct_args, a)        \
    {                                                                                              \
        GF_SHARED(float, shared);                                                                  \
        gf_direct_strip<K>(a, shared);                                                             \
    }
GF_DIRECT_VARIANTS(GF_DIRECT_KERNEL)

/* ---- any other size ------------------------------------------------------------------------ */

typedef float gf_direct_sums[GF_DIRECT_N_ROWS][4];

/* Taps i … i+n-1 (n <= 4) of source row `row` (in tile rows of this thread) for those of the
 * thread's output rows that have that row in their window; v holds the pixels. */
template <bool SMALL, int N>
GF_DEVICE void gf_direct_n_taps(const gf_direct_args &a, int row, int i, const float (&v)[8],
                                gf_direct_sums &run)
{
#pragma unroll
    for (int o = 0; o < GF_DIRECT_N_ROWS; o++) {
        const int j = row - o;
        if (j < 0 || j >= a.kh) continue;
        const int at = j * a.kw + i;
#pragma unroll
        for (int k = 0; k < N; k++) {
            const float tap = SMALL ? a.taps[at + k] : gf_ldg(a.more + at + k);
#pragma unroll
            for (int c = 0; c < 4; c++) run[o][c] = fmaf(tap, v[c + k], run[o][c]);
        }
    }
}

GF_DEVICE void gf_direct_move(const gf_direct_sums &from, gf_direct_sums &to)
{
#pragma unroll
    for (int o = 0; o < GF_DIRECT_N_ROWS; o++)
#pragma unroll
        for (int c = 0; c < 4; c++) to[o][c] += from[o][c];
}

GF_DEVICE void gf_direct_clear(gf_direct_sums &sums)
{
#pragma unroll
    for (int o = 0; o < GF_DIRECT_N_ROWS; o++)
#pragma unroll
        for (int c = 0; c < 4; c++) sums[o][c] = 0.0f;
}

/* One source row, taps `from` … `to`-1 (from is a multiple of 4), as one run. */
template <bool SMALL>
GF_DEVICE void gf_direct_n_run(const gf_direct_args &a, const float *pixels, int row, int from,
                               int to, gf_direct_sums &run)
{
    gf_direct_clear(run);
    float v[8];
    int i = from;
    gf_direct_read(pixels + i, v);
    for (; i + 4 <= to; i += 4) {
        gf_direct_n_taps<SMALL, 4>(a, row, i, v, run);
        const float4 next = gf_get4(pixels + i + 8);
        v[0] = v[4], v[1] = v[5], v[2] = v[6], v[3] = v[7];
        v[4] = next.x, v[5] = next.y, v[6] = next.z, v[7] = next.w;
    }
    if (to - i == 1)
        gf_direct_n_taps<SMALL, 1>(a, row, i, v, run);
    else if (to - i == 2)
        gf_direct_n_taps<SMALL, 2>(a, row, i, v, run);
    else if (to - i == 3)
        gf_direct_n_taps<SMALL, 3>(a, row, i, v, run);
}

/* Add `some` to `all` for the output rows that have had a multiple of `every` kernel rows. Counting
 * per output row makes a result independent of where in its block a pixel lies. */
GF_DEVICE void gf_direct_n_settle(int row, int every, gf_direct_sums &some, gf_direct_sums &all)
{
#pragma unroll
    for (int o = 0; o < GF_DIRECT_N_ROWS; o++) {
        const int done = row - o + 1;
        if (done <= 0 || done % every != 0) continue;
#pragma unroll
        for (int c = 0; c < 4; c++) {
            all[o][c] += some[o][c];
            some[o][c] = 0.0f;
        }
    }
}

/* SMALL: the taps are in the arguments. A block makes a tile of four columns a lane by
 * GF_DIRECT_N_ROWS rows for each row of its threads. Runs of at most 32 taps are added to `some`,
 * and that, about every 32 runs, to `all`. */
template <bool SMALL> GF_DEVICE void gf_direct_n_tile(const gf_direct_args &a, float *shared)
{
    enum { RUN = 32 };
    const int strip_x = static_cast<int>(blockIdx.x) * 4 * static_cast<int>(blockDim.x);
    const int block_rows = GF_DIRECT_N_ROWS * static_cast<int>(blockDim.y);
    const int block_y = static_cast<int>(blockIdx.y) * block_rows;
    const gf_tile tile = { shared,        4 * a.tile_groups,     block_rows + a.kh - 1,
                           a.tile_groups, a.tile_groups_inverse, strip_x - a.ax,
                           block_y - a.ay };
    gf_tile_fill(a.src, a.border, a.border_value, tile);
    __syncthreads();

    const int own_row = GF_DIRECT_N_ROWS * static_cast<int>(threadIdx.y);
    const float *pixels = shared + own_row * tile.pitch + 4 * threadIdx.x;
    const int runs_a_row = (a.kw + RUN - 1) / RUN;
    const int every = runs_a_row < RUN ? RUN / runs_a_row : 1;
    gf_direct_sums run, some, all;
    gf_direct_clear(some);
    gf_direct_clear(all);
    for (int row = 0; row < GF_DIRECT_N_ROWS + a.kh - 1; row++, pixels += tile.pitch) {
        for (int from = 0; from < a.kw; from += RUN) {
            const int to = from + RUN < a.kw ? from + RUN : a.kw;
            gf_direct_n_run<SMALL>(a, pixels, row, from, to, run);
            gf_direct_move(run, some);
        }
        gf_direct_n_settle(row, every, some, all);
    }
    gf_direct_move(some, all);

    const bool aligned = gf_aligned4(a.dst);
    const int x = strip_x + 4 * static_cast<int>(threadIdx.x);
#pragma unroll
    for (int o = 0; o < GF_DIRECT_N_ROWS; o++) {
        const int y = block_y + own_row + o;
        if (y < a.dst.height)
            gf_store_up_to4(a.dst, aligned, x, y,
                            make_float4(fmaf(a.scale, all[o][0], a.offset),
                                        fmaf(a.scale, all[o][1], a.offset),
                                        fmaf(a.scale, all[o][2], a.offset),
                                        fmaf(a.scale, all[o][3], a.offset)));
    }
}

/* Up to GF_DIRECT_TAPS taps, and more. */
GF_KERNEL_BOUNDS(256, 2, gf_direct_n, gf_direct_args, a)
{
    GF_SHARED(float, shared);
    gf_direct_n_tile<true>(a, shared);
}

GF_KERNEL_BOUNDS(256, 2, gf_direct_more, gf_direct_args, a)
{
    GF_SHARED(float, shared);
    gf_direct_n_tile<false>(a, shared);
}
