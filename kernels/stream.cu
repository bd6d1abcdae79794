/* Small windows at the speed of memory, without shared memory: a thread owns a few neighbouring
 * columns and walks down them, with the unfinished sums of K output rows in registers. Rows are
 * read ahead, the columns beside the thread's own again by it, which the L1 cache answers.
 *
 * Integer pixels become floats without a conversion: a pattern of bits below 2^24, read as a float,
 * is that number times 2^-149. Taps and scale make up for the factor.
 *
 * Whole taps are taken four an instruction where pixels are bytes (WHOLE); rows' sums go on as
 * floats likewise, negative taps are no harm, as a bias keeps the sums positive and the columns'
 * sums begin at what takes it off again. All of that is exact.
 *
 * The first and the last thread of a row of pixels fold the border into their margins where whole
 * threads share the columns out; other columns there are made by blocks of their own, one column a
 * thread. All make a pixel by the same operations in the same order, or by exact ones. */
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

/* A row of taps by a row of pixels. */
template <int K> GF_DEVICE float gf_stream_across_one(const float *row, const float *v)
{
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < K; i++) sum = fmaf(row[i], v[i], sum);
    return sum;
}

/* The same where the rows of taps above the middle are those below it: each is summed once. */
template <int K, int N>
GF_DEVICE void gf_stream_step_mirrored(const float *taps, const float (&v)[N + K - 1],
                                       float (&acc)[K][N])
{
#pragma unroll
    for (int c = 0; c < N; c++) {
        float across[K / 2 + 1];
#pragma unroll
        for (int j = 0; j <= K / 2; j++) across[j] = gf_stream_across_one<K>(taps + j * K, v + c);
#pragma unroll
        for (int j = K - 1; j > 0; j--)
            acc[j][c] = acc[j - 1][c] + across[j <= K / 2 ? j : K - 1 - j];
        acc[0][c] = across[0];
    }
}

/* The row's sums of a separable term. */
template <int K, int N>
GF_DEVICE void gf_stream_across(const float *row, const float (&v)[N + K - 1], float (&across)[N])
{
#pragma unroll
    for (int c = 0; c < N; c++) {
        across[c] = gf_stream_across_one<K>(row, v + c);
    }
}

/* N neighbouring windows' worth of bytes. */
template <int K, int N> struct gf_stream_window_bytes {
    enum { GROUPS = (K + 3) / 4, WORDS = N - 1 + 4 * GROUPS };
    unsigned at[WORDS]; /* the four bytes from each on */

    /* words[0] begins `margin` bytes before the first column. */
    GF_DEVICE gf_stream_window_bytes(const unsigned *words, int margin, int n_words)
    {
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const int byte = margin - K / 2 + i, word = byte / 4;
            at[i] = gf_shift_words(word < n_words ? words[word] : 0u,
                                   word + 1 < n_words ? words[word + 1] : 0u, byte % 4 * 8);
        }
    }

    /* sum plus a row of taps by the bytes of column c's window. */
    GF_DEVICE unsigned dot(int c, const unsigned *taps, unsigned sum) const
    {
#pragma unroll
        for (int i = 0; i < GROUPS; i++) sum = gf_dot_bytes(at[c + 4 * i], taps[i], sum);
        return sum;
    }
};

template <int K, int N>
GF_DEVICE void gf_stream_step_term(const float *col, float start, const float (&across)[N],
                                   float (&acc)[K][N])
{
#pragma unroll
    for (int j = K - 1; j >= 0; j--)
#pragma unroll
        for (int c = 0; c < N; c++)
            acc[j][c] = fmaf(col[j], across[c], j > 0 ? acc[j - (j > 0)][c] : start);
}

/* What sums of whole taps begin with: as a float it leaves them in the low bits. */
#define GF_STREAM_ZERO 12582912.0f

/* gf_stream_step_full of whole taps: the sums' bits are GF_STREAM_ZERO's plus the sums. */
template <int K, int N>
GF_DEVICE void gf_stream_step_full(const unsigned (*taps)[GF_STREAM_WHOLE_WORDS],
                                   const gf_stream_window_bytes<K, N> &bytes, float (&acc)[K][N])
{
#pragma unroll
    for (int j = K - 1; j >= 0; j--)
#pragma unroll
        for (int c = 0; c < N; c++) {
            const float before = j > 0 ? acc[j - (j > 0)][c] : GF_STREAM_ZERO;
            acc[j][c] = gf_bits_float(bytes.dot(c, taps[j], gf_float_bits(before)));
        }
}

/* gf_magnitude of each pair. ROUNDED: good enough for integers, of sums whose squares stay normal.
 */
template <bool ROUNDED, int N>
GF_DEVICE void gf_stream_magnitude(const float (&first)[N], const float (&second)[N],
                                   float (&out)[N])
{
    bool tame = true; /* as nearly always: there is nothing to scale */
#pragma unroll
    for (int c = 0; c < N; c++) {
        out[c] = fmaf(first[c], first[c], second[c] * second[c]);
        tame = tame && out[c] > 0x1p-80f && out[c] < 0x1p80f;
    }
    if (ROUNDED) {
#pragma unroll
        for (int c = 0; c < N; c++) out[c] = gf_sqrt(out[c]);
    } else if (tame) {
#pragma unroll
        for (int c = 0; c < N; c++) out[c] = gf_root(out[c]);
    } else {
#pragma unroll
        for (int c = 0; c < N; c++) out[c] = gf_magnitude(first[c], second[c]);
    }
}

/* The sums of a window: K rows of N columns for each term. */
template <int K, int TERMS, int FORM, int N> struct gf_stream_sums {
    float acc[TERMS > 1 ? 2 : 1][K][N];

    GF_DEVICE void clear()
    {
#pragma unroll
        for (int i = 0; i < (TERMS > 1 ? 2 : 1) * K * N; i++)
            acc[i / N / K][i / N % K][i % N] = 0.0f;
    }

    GF_DEVICE void step(const gf_stream_args &a, const float (&v)[N + K - 1])
    {
        if (TERMS == 0 && FORM == GF_STREAM_MIRRORED)
            gf_stream_step_mirrored<K, N>(a.full, v, acc[0]);
        else if (TERMS == 0)
            gf_stream_step_full<K, N>(a.full, v, acc[0]);
#pragma unroll
        for (int t = 0; t < TERMS; t++) {
            float across[N];
            gf_stream_across<K, N>(a.row[t], v, across);
            gf_stream_step_term<K, N>(a.col[t], 0.0f, across, acc[t]);
        }
    }

    GF_DEVICE void step(const gf_stream_args &a, const gf_stream_window_bytes<K, N> &bytes)
    {
        if (TERMS == 0) gf_stream_step_full<K, N>(a.bytes, bytes, acc[0]);
#pragma unroll
        for (int t = 0; t < TERMS; t++) {
            float across[N];
#pragma unroll
            for (int c = 0; c < N; c++)
                across[c] = gf_bits_float(bytes.dot(c, a.bytes[t], a.bias[t]));
            gf_stream_step_term<K, N>(a.col[t], a.start[t], across, acc[t]);
        }
    }

    /* The sum of a term's window in the row that is complete. */
    GF_DEVICE float sum(int term, int c) const
    {
        const float v = acc[term][K - 1][c];
        return TERMS == 0 && FORM == GF_STREAM_WHOLE ? v - GF_STREAM_ZERO : v;
    }

    /* The pixels of the row that is complete, with the point filters that follow. */
    GF_DEVICE void finish(const gf_stream_args &a, float (&out)[N]) const
    {
        gf_kcombine how = a.combine; /* its `combine` is known below: no branch for each pixel */
        if (TERMS > 1 && how.combine == GF_C_MAGNITUDE) {
            how.combine = GF_C_MAGNITUDE;
#pragma unroll
            for (int c = 0; c < N; c++)
                out[c] = gf_combine(how, sum(0, c), sum(TERMS > 1, c), 0.0f);
        } else {
            how.combine = GF_C_SUM;
#pragma unroll
            for (int c = 0; c < N; c++)
                out[c] = gf_combine(how, sum(0, c), TERMS > 1 ? sum(1, c) : 0.0f, 0.0f);
        }
        gf_points(a.combine.points, out);
    }

    /* The same where nothing but scale and offset comes after; ROUNDED: to integers. */
    template <bool ROUNDED>
    GF_DEVICE void finish_plain(const gf_stream_args &a, float (&out)[N]) const
    {
        if (TERMS > 1 && a.combine.combine == GF_C_MAGNITUDE) {
            gf_stream_magnitude<ROUNDED, N>(acc[0][K - 1], acc[TERMS > 1][K - 1], out);
        } else {
#pragma unroll
            for (int c = 0; c < N; c++) out[c] = TERMS > 1 ? sum(0, c) + sum(1, c) : sum(0, c);
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

/* Pixels as floats, times GF_STREAM_UNIT of their type: alone, and pixel i of a row of words. */
template <class T> struct gf_stream_pixel;
template <> struct gf_stream_pixel<unsigned char> {
    static GF_DEVICE float alone(unsigned char v) { return gf_bits_float(v * 0x10000u); }
    static GF_DEVICE float of(const unsigned *words, int i)
    {
        return gf_bits_float(gf_pick_bytes(words[i / 4], 0u, 0x4044u | (i & 3) << 8));
    }
};
template <> struct gf_stream_pixel<unsigned short> {
    static GF_DEVICE float alone(unsigned short v) { return gf_bits_float(v * 0x100u); }
    static GF_DEVICE float of(const unsigned *words, int i)
    {
        return gf_bits_float(gf_pick_bytes(words[i / 2], 0u, i & 1 ? 0x4324u : 0x4104u));
    }
};
template <> struct gf_stream_pixel<float> {
    static GF_DEVICE float alone(float v) { return v; }
    static GF_DEVICE float of(const unsigned *words, int i) { return gf_bits_float(words[i]); }
};

/* Whether a thread's columns are the image's first, or last, and what is beside them is for it to
 * fold. */
struct gf_stream_place {
    bool left, right;
};

/* Put the border into pixels: into all when the row is outside, else into margins outside. */
template <int K, int N>
GF_DEVICE void gf_stream_fold(const gf_stream_args &a, const gf_stream_place &place, bool outside,
                              float (&v)[N + K - 1])
{
    enum { FIRST = K / 2, LAST = FIRST + N - 1, MOST = N - 1 };
    const bool fixed = a.border == GF_B_CONSTANT, edge = a.border == GF_B_REPLICATE;
    const bool again = a.border == GF_B_REFLECT;
#pragma unroll
    for (int i = 1; i <= K / 2; i++) {
        const int mirrored = i < MOST ? i : MOST;
        const float left = edge ? v[FIRST] : again ? v[FIRST + i - 1] : v[FIRST + mirrored];
        const float right = edge ? v[LAST] : again ? v[LAST - i + 1] : v[LAST - mirrored];
        if (place.left) v[FIRST - i] = fixed ? a.border_value : left;
        if (place.right) v[LAST + i] = fixed ? a.border_value : right;
    }
#pragma unroll
    for (int i = 0; i < N + K - 1; i++) v[i] = outside ? a.border_value : v[i];
}

/* The same of bytes in words, of which the first and the last are the margins. */
template <int WORDS>
GF_DEVICE void gf_stream_fold_bytes(const gf_stream_args &a, const gf_stream_place &place,
                                    bool outside, unsigned (&words)[WORDS])
{
    const unsigned value = a.border_byte * 0x01010101u;
    if (place.left) words[0] = gf_pick_bytes(words[1], value, a.fold_left);
    if (place.right) words[WORDS - 1] = gf_pick_bytes(words[WORDS - 2], value, a.fold_right);
#pragma unroll
    for (int i = 0; i < WORDS; i++) words[i] = outside ? value : words[i];
}

/* A row of a thread's pixels as it lies in memory: N columns and a margin on both sides. */
template <class T, int K, int N> struct gf_stream_row {
    enum {
        MARGIN = GF_STREAM_MARGIN(K, sizeof(T)),
        SIDE = MARGIN * sizeof(T) / 4,
        MIDDLE = N * sizeof(T) / 4,
        ALIGNED = MIDDLE < 4 ? MIDDLE : 4,
        WORDS = SIDE + MIDDLE + SIDE
    };
    unsigned words[WORDS];

    /* LEFT, RIGHT: without what lies before or after the image's rows. */
    GF_DEVICE void read(const char *from, bool left, bool right)
    {
        if (!left) gf_stream_read<SIDE, ALIGNED>(from - 4 * SIDE, words);
        gf_stream_read<MIDDLE, ALIGNED>(from, words + SIDE);
        if (!right) gf_stream_read<SIDE, ALIGNED>(from + 4 * MIDDLE, words + SIDE + MIDDLE);
    }

    /* Let it take part in the sums; where CAREFUL it may be a row of the border's value instead, or
     * lack a margin. */
    template <int TERMS, int FORM, bool CAREFUL>
    GF_DEVICE void add(const gf_stream_args &a, const gf_stream_place &place, bool outside,
                       gf_stream_sums<K, TERMS, FORM, N> &sums) const
    {
        if constexpr (FORM == GF_STREAM_WHOLE) {
            unsigned bytes[WORDS];
#pragma unroll
            for (int i = 0; i < WORDS; i++) bytes[i] = words[i];
            if (CAREFUL) gf_stream_fold_bytes<WORDS>(a, place, outside, bytes);
            sums.step(a, gf_stream_window_bytes<K, N>(bytes, MARGIN, WORDS));
        } else {
            float v[N + K - 1];
#pragma unroll
            for (int i = 0; i < N + K - 1; i++)
                v[i] = gf_stream_pixel<T>::of(words, MARGIN - K / 2 + i);
            if (CAREFUL) gf_stream_fold<K, N>(a, place, outside, v);
            sums.step(a, v);
        }
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

/* N neighbouring pixels of a row as words. */
template <int N> GF_DEVICE void gf_stream_pack(unsigned char, const float (&v)[N], char *to)
{
    unsigned words[N / 4];
#pragma unroll
    for (int c = 0; c < N; c += 4) words[c / 4] = gf_pack_u8(v[c], v[c + 1], v[c + 2], v[c + 3]);
    gf_stream_write<N / 4>(to, words);
}
template <int N> GF_DEVICE void gf_stream_pack(unsigned short, const float (&v)[N], char *to)
{
    unsigned words[N / 2];
#pragma unroll
    for (int c = 0; c < N; c += 2) words[c / 2] = gf_pack_u16(v[c], v[c + 1]);
    gf_stream_write<N / 2>(to, words);
}
template <int N> GF_DEVICE void gf_stream_pack(float, const float (&v)[N], char *to)
{
    unsigned words[N];
#pragma unroll
    for (int c = 0; c < N; c++) words[c] = gf_float_bits(v[c]);
    gf_stream_write<N>(to, words);
}

/* Store N neighbouring pixels of a row; their address is a multiple of their size. */
template <class T, bool PLAIN, int N>
GF_DEVICE void gf_stream_store(const gf_kimage &dst, const float (&v)[N], char *to)
{
    if (PLAIN)
        gf_stream_pack<N>(T(), v, to);
    else if (dst.pixel == GF_P_U8)
        gf_stream_pack<N>(static_cast<unsigned char>(0), v, to);
    else if (dst.pixel == GF_P_U16)
        gf_stream_pack<N>(static_cast<unsigned short>(0), v, to);
    else
        gf_stream_pack<N>(0.0f, v, to);
}

GF_DEVICE int gf_stream_bytes(const gf_kimage &im)
{
    return im.pixel == GF_P_U8 ? 1 : im.pixel == GF_P_U16 ? 2 : 4;
}

/* Output rows y … y+rows-1 of the N columns that begin at column x of the source. Not CAREFUL: all
 * that is read, ahead too, lies between the source's first byte and its last, and no border is
 * needed. PLAIN: as args.plain. */
template <class T, int K, int TERMS, int FORM, int N, int ROWS, bool CAREFUL, bool PLAIN>
GF_DEVICE void gf_stream_columns(const gf_stream_args &a, const gf_stream_place &place, int x,
                                 int y, int rows)
{
    gf_stream_row<T, K, N> ahead[ROWS] = {};
    gf_stream_sums<K, TERMS, FORM, N> sums;
    sums.clear();
    const char *next = reinterpret_cast<const char *>(gf_row<const T>(a.src, y - a.ay) + x);
    char *to = gf_row<char>(a.dst, y - (K - 1)) +
               static_cast<long long>(x + a.ax - K / 2) * gf_stream_bytes(a.dst);
    const auto read = [&](gf_stream_row<T, K, N> &row, int i) {
        if (CAREFUL) { /* where the border's value applies, any row will do */
            const int at = max(gf_border_index(y - a.ay + i, a.src.height, a.border), 0);
            next = reinterpret_cast<const char *>(gf_row<const T>(a.src, at) + x);
        }
        row.read(next, CAREFUL && place.left, CAREFUL && place.right);
        next += a.src.pitch;
    };
#pragma unroll
    for (int r = 0; r < ROWS; r++) read(ahead[r], r);
#pragma unroll 1
    for (int first = 0; first < rows + K - 1; first += ROWS) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const gf_stream_row<T, K, N> row = ahead[r];
            read(ahead[r], first + ROWS + r);
            const bool outside =
                CAREFUL && gf_border_index(y - a.ay + first + r, a.src.height, a.border) < 0;
            row.template add<TERMS, FORM, CAREFUL>(a, place, outside, sums);
            const int done = first + r - (K - 1);
            /* Of a step's rows all or none are complete but perhaps the last one. */
            const bool complete = (K - 1) % ROWS == 0
                                      ? first >= K - 1 && (r == 0 || done < rows)
                                      : static_cast<unsigned>(done) < static_cast<unsigned>(rows);
            if (complete) {
                float out[N];
                if (PLAIN)
                    sums.template finish_plain<sizeof(T) < 4>(a, out);
                else
                    sums.finish(a, out);
                gf_stream_store<T, PLAIN, N>(a.dst, out, to);
            }
            to += a.dst.pitch;
        }
    }
}

/* ---- columns anywhere ----------------------------------------------------------------------- */

/* Rows y … y+rows-1 of column x of the result. */
template <class T, int K, int TERMS, int FORM>
GF_DEVICE void gf_stream_edge(const gf_stream_args &a, int x, int y, int rows)
{
    int from[K];
#pragma unroll
    for (int i = 0; i < K; i++) from[i] = gf_border_index(x - a.ax + i, a.src.width, a.border);
    gf_stream_sums<K, TERMS, FORM, 1> sums;
    sums.clear();
#pragma unroll 1
    for (int r = 0; r < rows + K - 1; r++) {
        const int row = gf_border_index(y - a.ay + r, a.src.height, a.border);
        const T *const pixels = gf_row<const T>(a.src, max(row, 0));
        float v[K], out[1];
        unsigned words[(K + 3) / 4] = { 0 };
#pragma unroll
        for (int i = 0; i < K; i++) {
            const bool outside = row < 0 || from[i] < 0;
            const T pixel = gf_ldg(pixels + max(from[i], 0));
            if (FORM == GF_STREAM_WHOLE)
                words[i / 4] |= (outside ? a.border_byte : static_cast<unsigned>(pixel))
                                << i % 4 * 8;
            else
                v[i] = outside ? a.border_value : gf_stream_pixel<T>::alone(pixel);
        }
        if constexpr (FORM == GF_STREAM_WHOLE)
            sums.step(a, gf_stream_window_bytes<K, 1>(words, K / 2, (K + 3) / 4));
        else
            sums.step(a, v);
        if (r < K - 1) continue;
        if (a.plain)
            sums.template finish_plain<sizeof(T) < 4>(a, out);
        else
            sums.finish(a, out);
        gf_store(a.dst, x, y + r - (K - 1), out[0]);
    }
}

/* Each thread has a column's next GF_STREAM_EDGE_ROWS rows; neighbours have neighbouring columns.
 */
template <class T, int K, int TERMS, int FORM>
GF_DEVICE void gf_stream_edges(const gf_stream_args &a)
{
    const unsigned columns = static_cast<unsigned>(a.left + a.dst.width - a.right);
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    const unsigned item = block * blockDim.x + threadIdx.x;
    const int column = static_cast<int>(item % columns);
    const int y = static_cast<int>(item / columns) * a.edge_rows;
    if (y >= a.dst.height) return;
    gf_stream_edge<T, K, TERMS, FORM>(a, column < a.left ? column : column - a.left + a.right, y,
                                      min(a.edge_rows, a.dst.height - y));
}

/* ---- kernels -------------------------------------------------------------------------------- */

template <class T, int K, int TERMS, int FORM, int N, int ROWS>
GF_DEVICE void gf_stream_block(const gf_stream_args &a)
{
    enum {
        SHORT = K <= 7
    }; /* long windows' code is long: for the usual case, and for all others */
    if (static_cast<int>(blockIdx.y) < a.edge_layers) {
        gf_stream_edges<T, K, TERMS, FORM>(a);
        return;
    }
    const int group = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (group < a.first || group >= a.last) return;
    const gf_stream_place place = { a.folds && group == 0, a.folds && group == a.last - 1 };
    const int begin = (static_cast<int>(blockIdx.y) - a.edge_layers) * a.rows - a.lead;
    const int y = max(begin, 0), rows = min(begin + a.rows, a.dst.height) - y;
    const int read = (rows + K - 1 + ROWS - 1) / ROWS * ROWS + ROWS;
    /* All threads of a warp go the same way. */
    const int warp = group - static_cast<int>(threadIdx.x % 32);
    const bool careful = y < a.ay || y - a.ay + read > a.src.height ||
                         (a.folds && (warp == 0 || warp + 32 >= a.last));
    if (a.plain && !careful)
        gf_stream_columns<T, K, TERMS, FORM, N, ROWS, false, true>(a, place, group * N, y, rows);
    else if (SHORT && a.plain)
        gf_stream_columns<T, K, TERMS, FORM, N, ROWS, true, SHORT>(a, place, group * N, y, rows);
    else if (SHORT && !careful)
        gf_stream_columns<T, K, TERMS, FORM, N, ROWS, !SHORT, false>(a, place, group * N, y, rows);
    else
        gf_stream_columns<T, K, TERMS, FORM, N, ROWS, true, false>(a, place, group * N, y, rows);
}

template <int BYTES> struct gf_stream_source;
template <> struct gf_stream_source<1> {
    typedef unsigned char type;
};
template <> struct gf_stream_source<2> {
    typedef unsigned short type;
};
template <> struct gf_stream_source<4> {
    typedef float type;
};

#define GF_STREAM_KERNEL(prefix, BYTES, FORM, K, TERMS, COLUMNS, ROWS, THREADS, BLOCKS, HEIGHT)    \
    GF_KERNEL_BOUNDS(THREADS, BLOCKS, gf_stream_##prefix##_##K##_##TERMS, gf_stream_args, a)       \
    {                                                                                              \
        gf_stream_block<gf_stream_source<BYTES>::type, K, TERMS, GF_STREAM_##FORM, COLUMNS, ROWS>( \
            a);                                                                                    \
    }
GF_STREAM_VARIANTS(GF_STREAM_KERNEL)
