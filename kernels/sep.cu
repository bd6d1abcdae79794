/* Separable windows, rows and columns in one launch: a block owns a strip of columns and walks down
 * it some rows a step, and nothing between the two passes leaves the chip. Sums are made of runs of
 * 32 taps at most. Only taps of the window touch a pixel: there is no padding with zeros. */
#include "kernels/gf_tile.cuh"
#include "kernels/sep.variants.h"

/* The source at eight neighbouring pixels of the result, which has the source's size. */
template <class T, int DX, int DY>
GF_DEVICE void gf_sep_own(const gf_kimage &src, int x, int y, float (&own)[GF_SEP_OUT])
{
#pragma unroll
    for (int o = 0; o < GF_SEP_OUT; o++) {
        const int at_x = x + DX * o, at_y = y + DY * o; /* those outside are not stored either */
        const bool inside = at_x < src.width && at_y >= 0 && at_y < src.height;
        own[o] = inside ? gf_get(gf_row<const T>(src, at_y) + at_x) : 0.0f;
    }
}

/* Turn the sums of a window's terms, eight neighbours from column x, row y on, into pixels. */
template <int TERMS, int DX, int DY>
GF_DEVICE void gf_sep_join(const gf_sep_args &a, int x, int y, float (&sum)[GF_SEP_OUT],
                           const float (&second)[GF_SEP_OUT])
{
    const gf_kcombine &c = a.combine;
    if (c.combine == GF_C_SUM) {
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++)
            sum[o] = fmaf(c.scale, TERMS > 1 ? sum[o] + second[o] : sum[o], c.offset);
        return;
    }
    if (TERMS == 1 && c.combine == GF_C_MAGNITUDE) { /* of one term; gf_combine would take roots */
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++) sum[o] = fmaf(c.scale, fabsf(sum[o]), c.offset);
        return;
    }
    float own[GF_SEP_OUT] = {};
    if (TERMS == 1 || c.combine == GF_C_UNSHARP) {
        if (a.src.pixel == GF_P_U8)
            gf_sep_own<unsigned char, DX, DY>(a.src, x, y, own);
        else if (a.src.pixel == GF_P_U16)
            gf_sep_own<unsigned short, DX, DY>(a.src, x, y, own);
        else
            gf_sep_own<float, DX, DY>(a.src, x, y, own);
    }
#pragma unroll
    for (int o = 0; o < GF_SEP_OUT; o++)
        sum[o] = gf_combine(c, sum[o], TERMS > 1 ? second[o] : 0.0f, own[o]);
}

/* ---- sizes known when compiled ------------------------------------------------------------- */

/* Columns come first. A thread reads a few neighbouring columns straight from the image, every
 * pixel once, and keeps the K sums that a pixel belongs to in registers; a row's finished sums go
 * to shared memory, GF_SEP_K_ROWS rows a step, where threads make eight neighbouring results each
 * of them. Shared memory holds the rows of two steps, so that one barrier a step is enough. */

/* Neighbouring pixels that are read at once. */
template <class T, int N> struct alignas(N * sizeof(T)) gf_sep_group {
    T at[N];
};

/* Pixels of the columns x … of the rows y …, which are aligned groups inside the source. */
template <class T, int N>
GF_DEVICE void gf_sep_fetch_as(const gf_kimage &src, int x, int y, float (&v)[GF_SEP_K_ROWS][N])
{
    const char *from = reinterpret_cast<const char *>(gf_row<const T>(src, y) + x);
#pragma unroll
    for (int r = 0; r < GF_SEP_K_ROWS; r++, from += src.pitch) {
        const gf_sep_group<T, N> group = *reinterpret_cast<const gf_sep_group<T, N> *>(from);
#pragma unroll
        for (int c = 0; c < N; c++) v[r][c] = static_cast<float>(group.at[c]);
    }
}

template <int N>
GF_DEVICE void gf_sep_fetch(const gf_kimage &src, int x, int y, float (&v)[GF_SEP_K_ROWS][N])
{
    if (src.pixel == GF_P_U8)
        gf_sep_fetch_as<unsigned char>(src, x, y, v);
    else if (src.pixel == GF_P_U16)
        gf_sep_fetch_as<unsigned short>(src, x, y, v);
    else
        gf_sep_fetch_as<float>(src, x, y, v);
}

/* Pixels of the columns xs of the rows ys, where -1 stands for the border's value, to shared
 * memory: so few registers are needed that pixels of many are not kept from the whole kernel. */
template <class T, int N>
GF_DEVICE void gf_sep_gather_as(const gf_kimage &src, float border_value, const int (&xs)[N],
                                const int (&ys)[GF_SEP_K_ROWS], gf_sep_group<float, N> *to,
                                int groups)
{
#pragma unroll 2
    for (int r = 0; r < GF_SEP_K_ROWS; r++) {
        const int y = ys[r];
        const T *const row = gf_row<const T>(src, y < 0 ? 0 : y);
        gf_sep_group<float, N> v;
#pragma unroll
        for (int c = 0; c < N; c++) v.at[c] = (xs[c] | y) < 0 ? border_value : gf_get(row + xs[c]);
        to[r * groups] = v;
    }
}

/* As gf_sep_fetch, wherever the pixels lie; `to` is room for them in shared memory, a group in each
 * row of `groups`. */
template <int N>
GF_DEVICE void gf_sep_fetch_folded(const gf_sep_args &a, int x, int y, gf_sep_group<float, N> *to,
                                   int groups, float (&v)[GF_SEP_K_ROWS][N])
{
    int xs[N], ys[GF_SEP_K_ROWS];
#pragma unroll 1
    for (int c = 0; c < N; c++) xs[c] = gf_border_index(x + c, a.src.width, a.border);
#pragma unroll 1
    for (int r = 0; r < GF_SEP_K_ROWS; r++) ys[r] = gf_border_index(y + r, a.src.height, a.border);
    if (a.src.pixel == GF_P_U8)
        gf_sep_gather_as<unsigned char>(a.src, a.border_value, xs, ys, to, groups);
    else if (a.src.pixel == GF_P_U16)
        gf_sep_gather_as<unsigned short>(a.src, a.border_value, xs, ys, to, groups);
    else
        gf_sep_gather_as<float>(a.src, a.border_value, xs, ys, to, groups);
#pragma unroll
    for (int r = 0; r < GF_SEP_K_ROWS; r++)
#pragma unroll
        for (int c = 0; c < N; c++) v[r][c] = to[r * groups].at[c];
}

/* Whether a thread's N columns from x on are aligned groups inside the source. */
template <int N> GF_DEVICE bool gf_sep_is_whole(const gf_kimage &src, int x)
{
    const int bytes = 1 << (src.pixel - 1);
    const long long at = reinterpret_cast<long long>(src.data) + static_cast<long long>(x) * bytes;
    return x >= 0 && x + N <= src.width && ((at | src.pitch) & (N * bytes - 1)) == 0;
}

/* Let a row's pixels v take part in the K sums of each column: acc[t][j] is the sum of the taps
 * 0 … j of term t, so each moves on by one place, which is no extra work: every sum is written to
 * its new place. acc[t][K-1] is complete. */
template <int K, int TERMS, int N>
GF_DEVICE void gf_sep_row_in(const gf_sep_args &a, const float (&v)[N], float (&acc)[TERMS][K][N])
{
#pragma unroll
    for (int t = 0; t < TERMS; t++)
#pragma unroll
        for (int j = K - 1; j >= 0; j--)
#pragma unroll
            for (int c = 0; c < N; c++)
                acc[t][j][c] =
                    j > 0 ? fmaf(a.col[t][j], v[c], acc[t][j - (j > 0)][c]) : a.col[t][0] * v[c];
}

/* Column pass of a step: columns x …, source rows y … into rows of shared memory; `whole` tells
 * how the columns lie. */
template <int K, int TERMS, int N>
GF_DEVICE void gf_sep_rows_in(const gf_sep_args &a, int x, int y, bool whole,
                              float (&acc)[TERMS][K][N], float *rows)
{
    gf_sep_group<float, N> *to = reinterpret_cast<gf_sep_group<float, N> *>(rows) + threadIdx.x;
    const int groups = a.ring_pitch / N; /* in a row */
    float v[GF_SEP_K_ROWS][N];
    if (whole && y >= 0 && y + GF_SEP_K_ROWS <= a.src.height)
        gf_sep_fetch(a.src, x, y, v);
    else
        gf_sep_fetch_folded(a, x, y, to, groups, v);
#pragma unroll
    for (int r = 0; r < GF_SEP_K_ROWS; r++) {
        gf_sep_row_in(a, v[r], acc);
#pragma unroll
        for (int t = 0; t < TERMS; t++) {
            gf_sep_group<float, N> done;
#pragma unroll
            for (int c = 0; c < N; c++) done.at[c] = acc[t][K - 1][c];
            to[(t * GF_SEP_K_ROWS + r) * groups] = done;
        }
    }
}

/* Eight neighbouring results of K taps. */
template <int K>
GF_DEVICE void gf_sep_along_row(const float *taps, const float *from, float (&sum)[GF_SEP_OUT])
{
    enum { N = (GF_SEP_LEAD(K) + GF_SEP_OUT + K - 1 + 3) / 4 * 4 };
    float v[N];
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        const float4 q = gf_get4(from + i);
        v[i] = q.x, v[i + 1] = q.y, v[i + 2] = q.z, v[i + 3] = q.w;
    }
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int o = 0; o < GF_SEP_OUT; o++)
            sum[o] = k > 0 ? fmaf(taps[k], v[GF_SEP_LEAD(K) + o + k], sum[o])
                           : taps[0] * v[GF_SEP_LEAD(K) + o];
}

GF_DEVICE void gf_sep_put8(unsigned char *to, const float (&v)[GF_SEP_OUT])
{
    *reinterpret_cast<uint2 *>(to) =
        make_uint2(gf_pack_u8(v[0], v[1], v[2], v[3]), gf_pack_u8(v[4], v[5], v[6], v[7]));
}
GF_DEVICE void gf_sep_put8(unsigned short *to, const float (&v)[GF_SEP_OUT])
{
    *reinterpret_cast<uint4 *>(to) = make_uint4(gf_pack_u16(v[0], v[1]), gf_pack_u16(v[2], v[3]),
                                                gf_pack_u16(v[4], v[5]), gf_pack_u16(v[6], v[7]));
}
GF_DEVICE void gf_sep_put8(float *to, const float (&v)[GF_SEP_OUT])
{
    gf_put4(to, make_float4(v[0], v[1], v[2], v[3]));
    gf_put4(to + 4, make_float4(v[4], v[5], v[6], v[7]));
}

/* Store pixels x … x+7 of a row as far as there are such columns. */
template <class T>
GF_DEVICE void gf_sep_put_row(char *row, bool aligned, int x, int width,
                              const float (&v)[GF_SEP_OUT])
{
    T *const to = reinterpret_cast<T *>(row) + x;
    if (aligned && x + GF_SEP_OUT <= width) {
        gf_sep_put8(to, v);
        return;
    }
#pragma unroll
    for (int o = 0; o < GF_SEP_OUT; o++)
        if (x + o < width) gf_put(to + o, v[o]);
}

/* Row pass of a step, from rows in shared memory that belong to the rows y … of the result, of
 * which it makes those in y_first … y_end-1. Neighbouring lanes take neighbouring rows, whose pitch
 * keeps them in different banks. */
template <int K, int TERMS>
GF_DEVICE void gf_sep_rows_out(const gf_sep_args &a, const float *from, int strip_x, int y,
                               int y_first, int y_end)
{
    const int columns = a.strip < a.dst.width - strip_x ? a.strip : a.dst.width - strip_x;
    const int row = static_cast<int>(threadIdx.x) % GF_SEP_K_ROWS;
    const int step = static_cast<int>(blockDim.x) / GF_SEP_K_ROWS * GF_SEP_OUT;
    y += row;
    from += row * a.ring_pitch;
    if (y < y_first || y >= y_end) return;
    char *const to = gf_row<char>(a.dst, y);
    /* For what gf_sep_put8 stores at a time; x is a multiple of eight. */
    const int at_once = a.dst.pixel == GF_P_U8 ? 8 : 16;
    const bool aligned = (reinterpret_cast<long long>(to) & (at_once - 1)) == 0;
#pragma unroll 1
    for (int x = static_cast<int>(threadIdx.x) / GF_SEP_K_ROWS * GF_SEP_OUT; x < columns;
         x += step) {
        float sum[GF_SEP_OUT], second[GF_SEP_OUT];
        gf_sep_along_row<K>(a.row[0], from + x, sum);
        if (TERMS > 1)
            gf_sep_along_row<K>(a.row[1], from + GF_SEP_K_ROWS * a.ring_pitch + x, second);
        gf_sep_join<TERMS, 1, 0>(a, strip_x + x, y, sum, second);
        gf_points(a.combine.points, sum);
        if (a.dst.pixel == GF_P_U8)
            gf_sep_put_row<unsigned char>(to, aligned, strip_x + x, a.dst.width, sum);
        else if (a.dst.pixel == GF_P_U16)
            gf_sep_put_row<unsigned short>(to, aligned, strip_x + x, a.dst.width, sum);
        else
            gf_sep_put_row<float>(to, aligned, strip_x + x, a.dst.width, sum);
    }
}

template <int K, int TERMS> GF_DEVICE void gf_sep_strip(const gf_sep_args &a, float *shared)
{
    enum { N = GF_SEP_K_COLUMNS(K, TERMS) };
    /* Blocks of a strip follow each other. The last strip comes second: those at the image's sides
     * take longer. */
    const int segments = (a.dst.height + a.rows - 1) / a.rows;
    const int strips = static_cast<int>(gridDim.x) / segments;
    const int order = static_cast<int>(blockIdx.x) / segments;
    const int strip_x = (order == 0 ? 0 : order == 1 ? strips - 1 : order - 1) * a.strip;
    const int strip_y = (static_cast<int>(blockIdx.x) - order * segments) * a.rows;
    const int y_end = a.rows < a.dst.height - strip_y ? strip_y + a.rows : a.dst.height;
    const int column = N * static_cast<int>(threadIdx.x); /* of the strip, margin included */
    const int x = strip_x - a.ax - GF_SEP_LEAD(K) + column;
    const int columns = a.strip < a.dst.width - strip_x ? a.strip : a.dst.width - strip_x;
    const bool needed = column < GF_SEP_LEAD(K) + columns + K - 1;
    const bool whole = gf_sep_is_whole<N>(a.src, x);
    float acc[TERMS][K][N] = {};
    float *now = shared, *other = shared + TERMS * GF_SEP_K_ROWS * a.ring_pitch;
    /* y: the row of the result that is complete when the step's first source row is in. */
    for (int y = strip_y - (K - 1); y < y_end; y += GF_SEP_K_ROWS) {
        if (needed) gf_sep_rows_in(a, x, y + K - 1 - a.ay, whole, acc, now);
        __syncthreads();
        gf_sep_rows_out<K, TERMS>(a, now, strip_x, y, strip_y, y_end);
        float *const swap = now;
        now = other;
        other = swap;
    }
}

#define GF_SEP_KERNEL(K, TERMS)                                                                    \
    GF_KERNEL_BOUNDS(GF_SEP_K_THREADS(K), GF_SEP_K_BLOCKS(K), gf_sep_##K##_##TERMS, gf_sep_args,   \
                     a)                                                                            \
    {                                                                                              \
        GF_SHARED(float, shared);                                                                  \
        gf_sep_strip<K, TERMS>(a, shared);                                                         \
    }
GF_SEP_VARIANTS(GF_SEP_KERNEL)

/* ---- any other size ------------------------------------------------------------------------ */

/* Source rows -> tile (float, border folded) -> filtered along the row into a ring of rows in
 * shared memory -> filtered along the column -> stored. A second term has a ring of its own. Both
 * passes make eight neighbouring results a thread from a sliding set of pixels in registers, so
 * that each value read from shared memory serves eight multiplications. */
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

/* Store those of the rows y … of column x that lie in y_first … y_end-1. */
template <class T>
GF_DEVICE void gf_sep_put_column(const gf_kimage &dst, int x, int y, int y_first, int y_end,
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
    gf_sep_join<2, 0, 1>(a, x, y, sum, second);
    gf_points(a.combine.points, sum);
    if (a.dst.pixel == GF_P_U8)
        gf_sep_put_column<unsigned char>(a.dst, x, y, y_first, y_end, sum);
    else if (a.dst.pixel == GF_P_U16)
        gf_sep_put_column<unsigned short>(a.dst, x, y, y_first, y_end, sum);
    else
        gf_sep_put_column<float>(a.dst, x, y, y_first, y_end, sum);
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
