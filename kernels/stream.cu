/* Small windows at the speed of memory, without shared memory: a thread owns a few neighbouring
 * columns and walks down them, with the unfinished sums of K output rows in registers. Rows are
 * read ahead, the columns beside the thread's own again by it, which the L1 cache answers.
 *
 * Threads whose window reaches over the image's left or right end would hold up their whole warp;
 * the columns there are made by blocks of their own, one column a thread. Both make a pixel by the
 * same operations in the same order. */
#include "kernels/gf_tile.cuh"
#include "kernels/stream.variants.h"

/* ---- sums ----------------------------------------------------------------------------------- */

/* Let a source row take part in the K output rows it belongs to; v[0] is the first pixel of the
 * first column's window. acc[j] is the sum of window rows 0 … j, so each moves on by one place,
 * which is no extra work: every sum is written to its new place. acc[K - 1] is complete. */
template <int K, int N>
GF_DEVICE void gf_stream_step_full(const float *taps, const float (&v)[N + K - 1],
                                   float (&acc)[K][N])
{
    enum { RUN = 28 }; /* taps that are added up one by one; the rows after them are runs */
#pragma unroll
    for (int j = K - 1; j >= 0; j--) {
        const bool own = (j + 1) * K > RUN;
#pragma unroll
        for (int c = 0; c < N; c++) {
            const float before = j > 0 ? acc[j - (j > 0)][c] : 0.0f;
            float sum = own ? 0.0f : before;
#pragma unroll
            for (int i = 0; i < K; i++) sum = fmaf(taps[j * K + i], v[c + i], sum);
            acc[j][c] = own ? before + sum : sum;
        }
    }
}

/* The same for a separable term. */
template <int K, int N>
GF_DEVICE void gf_stream_step_term(const float *row, const float *col, const float (&v)[N + K - 1],
                                   float (&acc)[K][N])
{
    float across[N];
#pragma unroll
    for (int c = 0; c < N; c++) {
        across[c] = 0.0f;
#pragma unroll
        for (int i = 0; i < K; i++) across[c] = fmaf(row[i], v[c + i], across[c]);
    }
#pragma unroll
    for (int j = K - 1; j >= 0; j--)
#pragma unroll
        for (int c = 0; c < N; c++)
            acc[j][c] = fmaf(col[j], across[c], j > 0 ? acc[j - (j > 0)][c] : 0.0f);
}

/* Square root of a number that is 0 or neither huge nor tiny: an estimate and one step of Newton's,
 * which gives the roots of squares exactly. */
GF_DEVICE float gf_stream_root(float square)
{
    const float inverse = gf_rsqrt(fmaxf(square, 1.17549435e-38f)), root = square * inverse;
    return fmaf(fmaf(-root, root, square), 0.5f * inverse, root);
}

/* The sums of a window: K rows of N columns for each term. */
template <int K, int TERMS, int N> struct gf_stream_sums {
    float acc[TERMS > 1 ? 2 : 1][K][N];

    GF_DEVICE void clear()
    {
#pragma unroll
        for (int i = 0; i < (TERMS > 1 ? 2 : 1) * K * N; i++)
            acc[i / N / K][i / N % K][i % N] = 0.0f;
    }

    GF_DEVICE void step(const gf_stream_args &a, const float (&v)[N + K - 1])
    {
        if (TERMS == 0) gf_stream_step_full<K, N>(a.full, v, acc[0]);
        if (TERMS >= 1) gf_stream_step_term<K, N>(a.row[0], a.col[0], v, acc[0]);
        if (TERMS >= 2) gf_stream_step_term<K, N>(a.row[1], a.col[1], v, acc[TERMS > 1]);
    }

    /* The pixels of the row that is complete. */
    GF_DEVICE void finish(const gf_stream_args &a, float (&out)[N]) const
    {
        const float(&first)[N] = acc[0][K - 1], (&second)[N] = acc[TERMS > 1][K - 1];
        const bool magnitude = TERMS > 1 && a.combine.combine == GF_C_MAGNITUDE;
        if (magnitude && a.tame) {
#pragma unroll
            for (int c = 0; c < N; c++)
                out[c] = gf_stream_root(fmaf(first[c], first[c], second[c] * second[c]));
        } else if (magnitude) {
#pragma unroll
            for (int c = 0; c < N; c++) out[c] = gf_magnitude(first[c], second[c]);
        } else {
#pragma unroll
            for (int c = 0; c < N; c++) out[c] = TERMS > 1 ? first[c] + second[c] : first[c];
        }
#pragma unroll
        for (int c = 0; c < N; c++) out[c] = fmaf(a.combine.scale, out[c], a.combine.offset);
    }
};

/* ---- columns whose windows lie inside the rows ---------------------------------------------- */

template <int WORDS> struct alignas(4 * WORDS) gf_stream_words {
    unsigned at[WORDS];
};

/* Read so many words, at most MOST of them at once. */
template <int WORDS, int MOST> GF_DEVICE void gf_stream_read(const char *from, unsigned *to)
{
    enum { STEP = WORDS < MOST ? WORDS : MOST };
#pragma unroll
    for (int i = 0; i < WORDS; i += STEP) {
        const gf_stream_words<STEP> group =
            *reinterpret_cast<const gf_stream_words<STEP> *>(from + 4 * i);
#pragma unroll
        for (int k = 0; k < STEP; k++) to[i + k] = group.at[k];
    }
}

/* Pixel i of a row of words. Integers become floats by way of 2^23 + i, which has them in its low
 * bits, at twice the speed of a conversion. */
template <class T> GF_DEVICE float gf_stream_pixel(const unsigned *words, int i);
template <> GF_DEVICE float gf_stream_pixel<unsigned char>(const unsigned *words, int i)
{
    return gf_bits_float(gf_pick_bytes(words[i / 4], 0x4b000000u, 0x7440u | (i & 3))) - 8388608.0f;
}
template <> GF_DEVICE float gf_stream_pixel<unsigned short>(const unsigned *words, int i)
{
    return gf_bits_float(gf_pick_bytes(words[i / 2], 0x4b000000u, i & 1 ? 0x7432u : 0x7410u)) -
           8388608.0f;
}
template <> GF_DEVICE float gf_stream_pixel<float>(const unsigned *words, int i)
{
    return gf_bits_float(words[i]);
}

/* A row of a thread's pixels as it lies in memory: N columns and a margin on both sides. */
template <class T, int K, int N> struct gf_stream_row {
    enum {
        MARGIN = GF_STREAM_MARGIN(K, sizeof(T)),
        SIDE = MARGIN * sizeof(T) / 4,
        MIDDLE = N * sizeof(T) / 4,
        ALIGNED = MIDDLE < 4 ? MIDDLE : 4
    };
    unsigned words[SIDE + MIDDLE + SIDE];

    GF_DEVICE void read(const char *from)
    {
        gf_stream_read<SIDE, ALIGNED>(from - 4 * SIDE, words);
        gf_stream_read<MIDDLE, ALIGNED>(from, words + SIDE);
        gf_stream_read<SIDE, ALIGNED>(from + 4 * MIDDLE, words + SIDE + MIDDLE);
    }

    GF_DEVICE void pixels(float (&v)[N + K - 1]) const
    {
#pragma unroll
        for (int i = 0; i < N + K - 1; i++) v[i] = gf_stream_pixel<T>(words, MARGIN - K / 2 + i);
    }
};

template <int WORDS> GF_DEVICE void gf_stream_write(char *to, const unsigned *words)
{
    enum { STEP = WORDS < 4 ? WORDS : 4 };
#pragma unroll
    for (int i = 0; i < WORDS; i += STEP) {
        gf_stream_words<STEP> group;
#pragma unroll
        for (int k = 0; k < STEP; k++) group.at[k] = words[i + k];
        *reinterpret_cast<gf_stream_words<STEP> *>(to + 4 * i) = group;
    }
}

/* N neighbouring pixels; their address is a multiple of their size. */
template <int N>
GF_DEVICE void gf_stream_store(const gf_kimage &dst, int x, int y, const float (&v)[N])
{
    unsigned words[N];
    if (dst.pixel == GF_P_U8) {
#pragma unroll
        for (int c = 0; c < N; c += 4)
            words[c / 4] = gf_pack_u8(v[c], v[c + 1], v[c + 2], v[c + 3]);
        gf_stream_write<N / 4>(reinterpret_cast<char *>(gf_row<unsigned char>(dst, y) + x), words);
    } else if (dst.pixel == GF_P_U16) {
#pragma unroll
        for (int c = 0; c < N; c += 2) words[c / 2] = gf_pack_u16(v[c], v[c + 1]);
        gf_stream_write<N / 2>(reinterpret_cast<char *>(gf_row<unsigned short>(dst, y) + x), words);
    } else {
#pragma unroll
        for (int c = 0; c < N; c++) words[c] = gf_float_bits(v[c]);
        gf_stream_write<N>(reinterpret_cast<char *>(gf_row<float>(dst, y) + x), words);
    }
}

/* Output rows y … y+rows-1 of the N columns that begin at column x of the source. INSIDE: all rows
 * that are read, whole steps of them, lie in the source. */
template <class T, int K, int TERMS, int N, bool INSIDE>
GF_DEVICE void gf_stream_columns(const gf_stream_args &a, int x, int y, int rows)
{
    enum { ROWS = GF_STREAM_ROWS(K) };
    gf_stream_row<T, K, N> ahead[ROWS];
    gf_stream_sums<K, TERMS, N> sums;
    sums.clear();
    const auto row = [&](int i) {
        int at = y - a.ay + i;
        /* Where the border's value applies, any row will do. */
        if (!INSIDE) at = max(gf_border_index(at, a.src.height, a.border), 0);
        return reinterpret_cast<const char *>(gf_row<const T>(a.src, at) + x);
    };
#pragma unroll
    for (int r = 0; r < ROWS; r++) ahead[r].read(row(r));
#pragma unroll 1
    for (int first = 0; first < rows + K - 1; first += ROWS) {
        const bool more = first + ROWS < rows + K - 1;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float v[N + K - 1], out[N];
            ahead[r].pixels(v);
            if (more) ahead[r].read(row(first + ROWS + r));
            if (!INSIDE && gf_border_index(y - a.ay + first + r, a.src.height, a.border) < 0) {
#pragma unroll
                for (int i = 0; i < N + K - 1; i++) v[i] = a.border_value;
            }
            sums.step(a, v);
            const int done = first + r - (K - 1);
            if (static_cast<unsigned>(done) >= static_cast<unsigned>(rows)) continue;
            sums.finish(a, out);
            gf_points(a.combine.points, out);
            gf_stream_store(a.dst, x + a.ax - K / 2, y + done, out);
        }
    }
}

/* ---- columns anywhere ----------------------------------------------------------------------- */

/* Rows y … y+rows-1 of column x of the result. */
template <class T, int K, int TERMS>
GF_DEVICE void gf_stream_edge(const gf_stream_args &a, int x, int y, int rows)
{
    int from[K];
#pragma unroll
    for (int i = 0; i < K; i++) from[i] = gf_border_index(x - a.ax + i, a.src.width, a.border);
    gf_stream_sums<K, TERMS, 1> sums;
    sums.clear();
#pragma unroll 1
    for (int r = 0; r < rows + K - 1; r++) {
        const int row = gf_border_index(y - a.ay + r, a.src.height, a.border);
        const T *const pixels = gf_row<const T>(a.src, max(row, 0));
        float v[K], out[1];
#pragma unroll
        for (int i = 0; i < K; i++)
            v[i] = row < 0 || from[i] < 0 ? a.border_value : gf_get(pixels + from[i]);
        sums.step(a, v);
        if (r < K - 1) continue;
        sums.finish(a, out);
        gf_points(a.combine.points, out);
        gf_store(a.dst, x, y + r - (K - 1), out[0]);
    }
}

/* The warps of an edge block share its rows out; a lane has a column. */
template <class T, int K, int TERMS>
GF_DEVICE void gf_stream_edges(const gf_stream_args &a, int y, int rows)
{
    const int column = static_cast<int>(blockIdx.x * 32 + threadIdx.x % 32);
    if (column >= a.left + a.dst.width - a.right) return;
    const int warps = static_cast<int>(blockDim.x / 32), warp = static_cast<int>(threadIdx.x / 32);
    const int each = (rows + warps - 1) / warps, before = warp * each;
    if (before >= rows) return;
    gf_stream_edge<T, K, TERMS>(a, column < a.left ? column : column - a.left + a.right, y + before,
                                min(each, rows - before));
}

/* ---- kernels -------------------------------------------------------------------------------- */

template <class T, int K, int TERMS> GF_DEVICE void gf_stream_block(const gf_stream_args &a)
{
    enum { N = GF_STREAM_COLUMNS(K, sizeof(T)) };
    const int y = static_cast<int>(blockIdx.y) * a.rows;
    const int rows = min(a.rows, a.dst.height - y);
    if (static_cast<int>(blockIdx.x) < a.edge_blocks) {
        gf_stream_edges<T, K, TERMS>(a, y, rows);
        return;
    }
    const int block = static_cast<int>(blockIdx.x) - a.edge_blocks;
    const int group = block * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
    if (group < a.first || group >= a.last) return;
    enum { ROWS = GF_STREAM_ROWS(K) };
    const int read = (rows + K - 1 + ROWS - 1) / ROWS * ROWS;
    if (y >= a.ay && y - a.ay + read <= a.src.height)
        gf_stream_columns<T, K, TERMS, N, true>(a, group * N, y, rows);
    else
        gf_stream_columns<T, K, TERMS, N, false>(a, group * N, y, rows);
}

#define GF_STREAM_KERNEL(pixel, T, K, TERMS)                                                       \
    GF_KERNEL_BOUNDS(GF_STREAM_THREADS, GF_STREAM_BLOCKS(K, TERMS, sizeof(T)),                     \
                     gf_stream_##pixel##_##K##_##TERMS, gf_stream_args, a)                         \
    {                                                                                              \
        gf_stream_block<T, K, TERMS>(a);                                                           \
    }
#define GF_STREAM_KERNELS(K, TERMS)                                                                \
    GF_STREAM_KERNEL(u8, unsigned char, K, TERMS)                                                  \
    GF_STREAM_KERNEL(u16, unsigned short, K, TERMS)                                                \
    GF_STREAM_KERNEL(f32, float, K, TERMS)
GF_STREAM_VARIANTS(GF_STREAM_KERNELS)
