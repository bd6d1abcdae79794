/* Separable windows, rows and columns in one launch. A block owns a strip of columns and walks down
 * it GF_SEP_ROWS rows a step: source rows -> tile (float, border folded) -> filtered along the row
 * into a ring of rows in shared memory -> filtered along the column -> stored. Nothing between the
 * two passes leaves the chip. A second term has a ring of its own.
 *
 * Both passes make eight neighbouring results a thread from a sliding set of pixels in registers,
 * so that each value read from shared memory serves eight multiplications. Sums are made of runs of
 * 32 taps at most. Only taps of the window touch a pixel: there is no padding with zeros. */
#include "kernels/gf_tile.cuh"
#include "kernels/sep.variants.h"

enum { GF_SEP_RUN = 32 };

/* Taps `tap` … tap+n-1 (n <= 8) of a pass on the 16 pixels v: out[o] += taps[k] * v[o + k]. */
GF_DEVICE void gf_sep_taps(const float *taps, const float (&v)[2 * GF_SEP_OUT],
                           float (&sum)[GF_SEP_OUT])
{
#pragma unroll
    for (int k = 0; k < GF_SEP_OUT; k++) {
        const float tap = taps[k];
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++) sum[o] = fmaf(tap, v[o + k], sum[o]);
    }
}

GF_DEVICE void gf_sep_last_taps(const float *taps, int n, const float (&v)[2 * GF_SEP_OUT],
                                float (&sum)[GF_SEP_OUT])
{
#pragma unroll
    for (int k = 0; k < GF_SEP_OUT - 1; k++) {
        if (k >= n) break;
        const float tap = taps[k];
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++) sum[o] = fmaf(tap, v[o + k], sum[o]);
    }
}

/* Eight neighbouring results of n taps. Source is a class whose next(to) hands out the pixels in
 * order, eight a call. */
template <class Source>
GF_DEVICE void gf_sep_filter(Source &source, const float *taps, int n, float (&out)[GF_SEP_OUT])
{
    float v[2 * GF_SEP_OUT], sum[GF_SEP_OUT];
    source.next(v);
#pragma unroll
    for (int o = 0; o < GF_SEP_OUT; o++) out[o] = 0.0f;
    for (int run = 0; run < n; run += GF_SEP_RUN) {
        const int end = run + GF_SEP_RUN < n ? run + GF_SEP_RUN : n;
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++) sum[o] = 0.0f;
        int tap = run;
#pragma unroll 2
        for (; tap + GF_SEP_OUT <= end; tap += GF_SEP_OUT) {
            source.next(v + GF_SEP_OUT);
            gf_sep_taps(taps + tap, v, sum);
#pragma unroll
            for (int o = 0; o < GF_SEP_OUT; o++) v[o] = v[o + GF_SEP_OUT];
        }
        if (tap < end) {
            source.next(v + GF_SEP_OUT);
            gf_sep_last_taps(taps + tap, end - tap, v, sum);
        }
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++) out[o] += sum[o];
    }
}

/* Pixels along a row of the tile. */
struct gf_sep_along {
    const float *at;
    GF_DEVICE void next(float *to)
    {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const float4 q = gf_get4(at + 4 * half);
            to[4 * half] = q.x;
            to[4 * half + 1] = q.y;
            to[4 * half + 2] = q.z;
            to[4 * half + 3] = q.w;
        }
        at += GF_SEP_OUT;
    }
};

/* Pixels down a column of the ring, which holds `rows` rows, a multiple of eight. */
struct gf_sep_down {
    const float *ring; /* the column in the ring's first row */
    int pitch, rows, row;
    GF_DEVICE void next(float *to)
    {
        const float *at = ring + row * pitch;
#pragma unroll
        for (int k = 0; k < GF_SEP_OUT; k++, at += pitch) to[k] = *at;
        row += GF_SEP_OUT;
        if (row == rows) row = 0;
    }
};

/* Row pass: all rows of the tile into ring rows head …. Neighbouring lanes take neighbouring rows,
 * whose pitch keeps them in different banks. */
GF_DEVICE void gf_sep_rows(const gf_sep_args &a, const float *tile, float *ring, int ring_rows,
                           int head)
{
    const int n = GF_SEP_ROWS * (a.strip / GF_SEP_OUT);
    for (int term = 0; term < a.n_terms; term++, ring += ring_rows * a.ring_pitch) {
        for (int item = static_cast<int>(threadIdx.x); item < n;
             item += static_cast<int>(blockDim.x)) {
            const int row = item % GF_SEP_ROWS, x = item / GF_SEP_ROWS * GF_SEP_OUT;
            gf_sep_along source = { tile + row * a.tile_pitch + x };
            float out[GF_SEP_OUT];
            gf_sep_filter(source, a.row[term], a.kw, out);
            const int to = head + row < ring_rows ? head + row : head + row - ring_rows;
            gf_put4(ring + to * a.ring_pitch + x, make_float4(out[0], out[1], out[2], out[3]));
            gf_put4(ring + to * a.ring_pitch + x + 4, make_float4(out[4], out[5], out[6], out[7]));
        }
    }
}

/* Turn the sums of a window's terms at column x, rows y …, into pixels. */
GF_DEVICE void gf_sep_join(const gf_sep_args &a, int x, int y, float (&sum)[GF_SEP_OUT],
                           const float (&second)[GF_SEP_OUT])
{
    if (a.combine.combine == GF_C_SUM) {
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++)
            sum[o] = fmaf(a.combine.scale, sum[o] + second[o], a.combine.offset);
        return;
    }
#pragma unroll
    for (int o = 0; o < GF_SEP_OUT; o++) {
        const float own = a.combine.combine == GF_C_UNSHARP
                              ? gf_load_border(a.src, x, y + o, a.border, a.border_value)
                              : 0.0f;
        sum[o] = gf_combine(a.combine, sum[o], second[o], own);
    }
}

/* Store those of the rows y … of column x that lie in y_first … y_end-1. */
template <class T>
GF_DEVICE void gf_sep_put(const gf_kimage &dst, int x, int y, int y_first, int y_end,
                          const float (&v)[GF_SEP_OUT])
{
    if (y >= y_first && y + GF_SEP_OUT <= y_end) {
        T *to = gf_row<T>(dst, y) + x;
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++) {
            gf_put(to, v[o]);
            to = reinterpret_cast<T *>(reinterpret_cast<char *>(to) + dst.pitch);
        }
        return;
    }
#pragma unroll
    for (int o = 0; o < GF_SEP_OUT; o++)
        if (y + o >= y_first && y + o < y_end) gf_put(gf_row<T>(dst, y + o) + x, v[o]);
}

/* Column pass for one column: the eight results that begin at ring row `row` go to dst rows y …,
 * those of them that lie in y_first … y_end-1. */
GF_DEVICE void gf_sep_column(const gf_sep_args &a, const float *ring, int ring_rows, int row, int x,
                             int y, int y_first, int y_end)
{
    float sum[GF_SEP_OUT], second[GF_SEP_OUT] = {};
    gf_sep_down source = { ring, a.ring_pitch, ring_rows, row };
    gf_sep_filter(source, a.col[0], a.kh, sum);
    if (a.n_terms > 1) {
        gf_sep_down other = { ring + ring_rows * a.ring_pitch, a.ring_pitch, ring_rows, row };
        gf_sep_filter(other, a.col[1], a.kh, second);
    }
    gf_sep_join(a, x, y, sum, second);
    if (a.dst.pixel == GF_P_U8)
        gf_sep_put<unsigned char>(a.dst, x, y, y_first, y_end, sum);
    else if (a.dst.pixel == GF_P_U16)
        gf_sep_put<unsigned short>(a.dst, x, y, y_first, y_end, sum);
    else
        gf_sep_put<float>(a.dst, x, y, y_first, y_end, sum);
}

GF_KERNEL_BOUNDS(128, 4, gf_sep, gf_sep_args, a)
{
    GF_SHARED(float, shared);
    const int ring_rows = a.lag + GF_SEP_ROWS;
    float *const ring = shared + GF_SEP_ROWS * a.tile_pitch;
    const int strip_x = static_cast<int>(blockIdx.x) * a.strip;
    const int strip_y = static_cast<int>(blockIdx.y) * a.rows;
    const int rows = a.rows < a.dst.height - strip_y ? a.rows : a.dst.height - strip_y;
    gf_tile tile = {
        shared, a.tile_pitch, GF_SEP_ROWS, a.tile_groups, a.tile_groups_inverse, strip_x - a.ax, 0
    };
    const int columns = a.strip < a.dst.width - strip_x ? a.strip : a.dst.width - strip_x;
    int head = 0; /* ring row of this step's first tile row */
    for (int first = 0; first < rows + a.lag; first += GF_SEP_ROWS) {
        tile.y = strip_y - a.ay + first;
        gf_tile_fill(a.src, a.border, a.border_value, tile);
        __syncthreads();
        gf_sep_rows(a, shared, ring, ring_rows, head);
        __syncthreads();
        /* The results of this step, two groups of eight rows, lie `lag` rows behind: they need what
         * the ring now holds. */
        for (int item = static_cast<int>(threadIdx.x); item < 2 * a.strip;
             item += static_cast<int>(blockDim.x)) {
            const int group = item >= a.strip, x = item - group * a.strip;
            const int behind = first - a.lag + GF_SEP_OUT * group;
            int row = head + GF_SEP_ROWS + GF_SEP_OUT * group; /* head - lag, a whole ring on */
            if (row >= ring_rows) row -= ring_rows;
            if (x < columns && behind < rows && behind + GF_SEP_OUT > 0)
                gf_sep_column(a, ring + x, ring_rows, row, strip_x + x, strip_y + behind, strip_y,
                              strip_y + rows);
        }
        head += GF_SEP_ROWS;
        if (head >= ring_rows) head -= ring_rows;
    }
}
