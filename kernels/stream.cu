/* Small windows at the speed of memory, without shared memory: a thread owns a few neighbouring
 * columns and goes down them, with the unfinished sums of K output rows in registers. Where the
 * shape says tiles, it makes a few rows, and all that they need is read before the first is
 * complete: the chip is then at work in one small part of the image, as when it copies. Otherwise
 * it walks down many rows and reads a few ahead. The columns beside the thread's own are read again
 * by it, which the L1 cache answers.
 *
 * Integer pixels become floats without a conversion: a pattern of bits below 2^24, read as a float,
 * is that number times 2^-149. Taps and scale make up for the factor.
 *
 * Whole taps are taken four an instruction where pixels are bytes (WHOLE); rows' sums go on as
 * floats likewise, negative taps are no harm, as a bias keeps the sums positive and the columns'
 * sums begin at what takes it off again. All of that is exact. Gradients of bytes are sums in
 * binary16, which holds whole numbers up to 2048 (HALVES).
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
    const unsigned least = 0x17800000u, most = 0x67800000u; /* 2^-80, 2^80 */
    unsigned above = 0;                                     /* the least, or below it and huge */
#pragma unroll
    for (int c = 0; c < N; c++) {
        out[c] = fmaf(first[c], first[c], second[c] * second[c]);
        above = max(above, gf_float_bits(out[c]) - least);
    }
    if (ROUNDED) {
#pragma unroll
        for (int c = 0; c < N; c++) out[c] = gf_sqrt(out[c]);
    } else if (above < most - least) { /* as nearly always: there is nothing to scale */
#pragma unroll
        for (int c = 0; c < N; c++) out[c] = gf_root_normal(out[c]);
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

    /* The sums of the row that is complete. */
    GF_DEVICE void complete(float (&first)[N], float (&second)[N]) const
    {
        const float zero = TERMS == 0 && FORM == GF_STREAM_WHOLE ? GF_STREAM_ZERO : 0.0f;
#pragma unroll
        for (int c = 0; c < N; c++) {
            first[c] = acc[0][K - 1][c] - zero;
            second[c] = TERMS > 1 ? acc[TERMS > 1][K - 1][c] : 0.0f;
        }
    }
};

/* The sums of the pair of terms (-1 0 1) across times (1 c 1) down, and that turned: of the last
 * two rows differences and smoothed pixels, and what is complete. */
template <int N> struct gf_stream_sums<3, 2, GF_STREAM_GRADIENT, N> {
    float difference[2][N], smooth[2][N], first[N], second[N];

    GF_DEVICE void clear()
    {
#pragma unroll
        for (int i = 0; i < 2 * N; i++) difference[i / N][i % N] = smooth[i / N][i % N] = 0.0f;
    }

    GF_DEVICE void step(const gf_stream_args &a, const float (&v)[N + 2])
    {
#pragma unroll
        for (int c = 0; c < N; c++) {
            /* By taps of 0, which count where there are infinities and NaN. */
            const float d = fmaf(0.0f, v[c + 1], v[c + 2] - v[c]);
            const float s = fmaf(a.middle, v[c + 1], v[c] + v[c + 2]);
            first[c] = fmaf(a.middle, difference[1][c], difference[0][c] + d);
            second[c] = fmaf(0.0f, smooth[1][c], s - smooth[0][c]);
            difference[0][c] = difference[1][c];
            difference[1][c] = d;
            smooth[0][c] = smooth[1][c];
            smooth[1][c] = s;
        }
    }

    GF_DEVICE void complete(float (&a)[N], float (&b)[N]) const
    {
#pragma unroll
        for (int c = 0; c < N; c++) a[c] = first[c], b[c] = second[c];
    }
};

/* Bytes as halves, times 2^-24, by pairs: N neighbouring pixels, and from the one before them on.
 */
template <int N> struct gf_stream_halves {
    enum { PAIRS = (N + 1) / 2 };
    unsigned even[PAIRS], odd[PAIRS + 1];

    /* Bytes i and i + 1 of a word. */
    static GF_DEVICE unsigned pair(unsigned word, unsigned i)
    {
        return gf_pick_bytes(word, 0u, 0x4140u + 0x101u * i);
    }

    /* words[0] begins `margin` bytes before the first pixel. */
    GF_DEVICE gf_stream_halves(const unsigned *words, int margin)
    {
#pragma unroll
        for (int k = 0; k < PAIRS; k++)
            even[k] = pair(words[(margin + 2 * k) / 4], (margin + 2 * k) % 4);
#pragma unroll
        for (int k = 0; k <= PAIRS; k++) {
            const int byte = margin - 1 + 2 * k, word = byte / 4;
            if (byte % 4 < 3)
                odd[k] = pair(words[word], byte % 4);
            else if (k == 0)
                odd[k] = gf_pick_bytes(words[word], even[k], 0x5453u);
            else
                odd[k] = gf_pick_bytes(even[k - (k > 0)], words[word + 1], 0x3432u);
        }
    }
};

#ifdef GF_HAVE_TENSOR
/* The same sums of u8 pixels as halves, which hold them exactly: two columns an instruction. */
template <int N> struct gf_stream_sums<3, 2, GF_STREAM_HALVES, N> {
    enum { PAIRS = gf_stream_halves<N>::PAIRS };
    unsigned difference[2][PAIRS], smooth[2][PAIRS], first[PAIRS], second[PAIRS];

    GF_DEVICE void clear()
    {
#pragma unroll
        for (int i = 0; i < 2 * PAIRS; i++)
            difference[i / PAIRS][i % PAIRS] = smooth[i / PAIRS][i % PAIRS] = 0;
    }

    GF_DEVICE void step(const gf_stream_args &a, const gf_stream_halves<N> &v)
    {
#pragma unroll
        for (int k = 0; k < PAIRS; k++) {
            const unsigned d = gf_sub_halves(v.odd[k + 1], v.odd[k]);
            const unsigned s =
                gf_fma_halves(a.middle_halves, v.even[k], gf_add_halves(v.odd[k], v.odd[k + 1]));
            first[k] = gf_fma_halves(a.middle_halves, difference[1][k],
                                     gf_add_halves(difference[0][k], d));
            second[k] = gf_sub_halves(s, smooth[0][k]);
            difference[0][k] = difference[1][k];
            difference[1][k] = d;
            smooth[0][k] = smooth[1][k];
            smooth[1][k] = s;
        }
    }

    GF_DEVICE void complete(float (&a)[N], float (&b)[N]) const
    {
#pragma unroll
        for (int c = 0; c < N; c++) {
            const float2 x = gf_unpack_halves(first[c / 2]), y = gf_unpack_halves(second[c / 2]);
            a[c] = c % 2 ? x.y : x.x;
            b[c] = c % 2 ? y.y : y.x;
        }
    }
};
#endif

/* Pixels of the sums that are complete; ROUNDED: to integers. */
template <bool ROUNDED, int TERMS, int N, class Sums>
GF_DEVICE void gf_stream_finish(const gf_kcombine &how, const Sums &sums, float (&out)[N])
{
    float first[N], second[N];
    sums.complete(first, second);
    if (TERMS > 1 && how.combine == GF_C_MAGNITUDE) {
        gf_stream_magnitude<ROUNDED, N>(first, second, out);
    } else {
#pragma unroll
        for (int c = 0; c < N; c++) out[c] = TERMS > 1 ? first[c] + second[c] : first[c];
    }
#pragma unroll
    for (int c = 0; c < N; c++) out[c] = fmaf(how.scale, out[c], how.offset);
}

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

    /* Pixel i of the words, as its bits. */
    GF_DEVICE unsigned get(int i) const
    {
        if (sizeof(T) == 4) return words[i];
        const int bits = 8 * static_cast<int>(sizeof(T)), each = 32 / bits;
        return words[i / each] >> i % each * bits & ((1u << bits % 32) - 1u);
    }

    GF_DEVICE void put(int i, unsigned v)
    {
        const int bits = 8 * static_cast<int>(sizeof(T)), each = 32 / bits;
        const unsigned mask = sizeof(T) == 4 ? ~0u : (1u << bits % 32) - 1u;
        unsigned &word = words[i / each];
        word = (word & ~(mask << i % each * bits)) | v << i % each * bits;
    }

    /* Put the border into pixels as gf_stream_fold does. */
    GF_DEVICE void fold(const gf_stream_args &a, const gf_stream_place &place, bool outside)
    {
        enum { FIRST = MARGIN, LAST = FIRST + N - 1, MOST = N - 1 };
        const bool fixed = a.border == GF_B_CONSTANT, edge = a.border == GF_B_REPLICATE;
        const bool again = a.border == GF_B_REFLECT;
#pragma unroll
        for (int i = 1; i <= K / 2; i++) {
            const int mirrored = i < MOST ? i : MOST;
            const unsigned left = edge    ? get(FIRST)
                                  : again ? get(FIRST + i - 1)
                                          : get(FIRST + mirrored);
            const unsigned right = edge    ? get(LAST)
                                   : again ? get(LAST - i + 1)
                                           : get(LAST - mirrored);
            if (place.left) put(FIRST - i, fixed ? get_value(a) : left);
            if (place.right) put(LAST + i, fixed ? get_value(a) : right);
        }
#pragma unroll
        for (int i = 0; i < WORDS; i++) words[i] = outside ? a.border_word : words[i];
    }

    /* Put the border into margins of one word, of bytes, where what they lack is for the thread to
     * fold. */
    GF_DEVICE void mend(const gf_stream_args &a, const gf_stream_place &place)
    {
        enum { LAST = WORDS - 1 };
        if (place.left) words[0] = gf_pick_bytes(words[1], a.border_word, a.fold_left);
        if (place.right) words[LAST] = gf_pick_bytes(words[LAST - 1], a.border_word, a.fold_right);
    }

    static GF_DEVICE unsigned get_value(const gf_stream_args &a)
    {
        return sizeof(T) == 4 ? a.border_word : a.border_word & ((1u << 8 * sizeof(T) % 32) - 1u);
    }

    /* Let it take part in the sums; where CAREFUL it may be a row of the border's value instead, or
     * lack a margin. */
    template <int TERMS, int FORM, bool CAREFUL>
    GF_DEVICE void add(const gf_stream_args &a, const gf_stream_place &place, bool outside,
                       gf_stream_sums<K, TERMS, FORM, N> &sums) const
    {
        if constexpr (FORM == GF_STREAM_WHOLE || FORM == GF_STREAM_HALVES) {
            unsigned bytes[WORDS];
#pragma unroll
            for (int i = 0; i < WORDS; i++) bytes[i] = words[i];
            if (CAREFUL) gf_stream_fold_bytes<WORDS>(a, place, outside, bytes);
            if constexpr (FORM == GF_STREAM_HALVES)
                sums.step(a, gf_stream_halves<N>(bytes, MARGIN));
            else
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

/* Source rows for the output rows from y on, of the N columns that begin at column x. Not CAREFUL:
 * all that is read lies between the source's first byte and its last, and no border is needed. */
template <class T, int K, int N, bool CAREFUL> struct gf_stream_reader {
    typedef gf_stream_row<T, K, N> row;
    const gf_stream_args &a;
    const gf_stream_place &place;
    const int x, y;
    const char *next;

    GF_DEVICE gf_stream_reader(const gf_stream_args &args, const gf_stream_place &at, int column,
                               int first)
        : a(args), place(at), x(column), y(first - args.ay),
          next(reinterpret_cast<const char *>(gf_row<const T>(args.src, y) + x))
    {
    }

    GF_DEVICE void read(row &to, int i)
    {
        if (CAREFUL) { /* where the border's value applies, any row will do */
            const int at = max(gf_border_index(y + i, a.src.height, a.border), 0);
            next = reinterpret_cast<const char *>(gf_row<const T>(a.src, at) + x);
        }
        to.read(next, CAREFUL && place.left, CAREFUL && place.right);
        next += a.src.pitch;
    }

    template <int TERMS, int FORM>
    GF_DEVICE void add(const row &from, int i, gf_stream_sums<K, TERMS, FORM, N> &sums) const
    {
        const bool outside = CAREFUL && gf_border_index(y + i, a.src.height, a.border) < 0;
        from.template add<TERMS, FORM, CAREFUL>(a, place, outside, sums);
    }
};

/* Makes pixels of the sums that are complete and stores them, from row y on. PLAIN: as args.plain.
 */
template <class T, int K, int N, bool PLAIN> struct gf_stream_writer {
    const gf_stream_args &a;
    char *to;

    GF_DEVICE gf_stream_writer(const gf_stream_args &args, int x, int y)
        : a(args), to(gf_row<char>(args.dst, y) +
                      static_cast<long long>(x + args.ax - K / 2) * gf_stream_bytes(args.dst))
    {
    }

    template <int TERMS, int FORM>
    GF_DEVICE void finish(const gf_stream_sums<K, TERMS, FORM, N> &sums, float (&out)[N]) const
    {
        gf_stream_finish<PLAIN && sizeof(T) < 4, TERMS>(a.combine, sums, out);
    }

    /* The point filters that follow. */
    template <int PIXELS> GF_DEVICE void points(float (&v)[PIXELS]) const
    {
        if (!PLAIN) gf_points(a.combine.points, v);
    }

    GF_DEVICE void store(const float (&v)[N])
    {
        gf_stream_store<T, PLAIN, N>(a.dst, v, to);
        to += a.dst.pitch;
    }
};

/* Make so many rows, reading ROWS ahead. */
template <int K, int TERMS, int FORM, int N, int ROWS, class Reader, class Writer>
GF_DEVICE void gf_stream_walk(Reader &source, Writer &result, int rows)
{
    typename Reader::row ahead[ROWS] = {};
    gf_stream_sums<K, TERMS, FORM, N> sums;
    sums.clear();
#pragma unroll
    for (int r = 0; r < ROWS; r++) source.read(ahead[r], r);
#pragma unroll 1
    for (int first = 0; first < rows + K - 1; first += ROWS) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const typename Reader::row row = ahead[r];
            source.read(ahead[r], first + ROWS + r);
            source.add(row, first + r, sums);
            const int done = first + r - (K - 1);
            /* Of a step's rows all or none are complete but perhaps the last one. */
            const bool complete = (K - 1) % ROWS == 0
                                      ? first >= K - 1 && (r == 0 || done < rows)
                                      : static_cast<unsigned>(done) < static_cast<unsigned>(rows);
            if (!complete) continue;
            float out[N];
            result.finish(sums, out);
            result.points(out);
            result.store(out);
        }
    }
}

/* Row i of an image of n rows, folded; it is less than n rows outside. */
GF_DEVICE int gf_stream_near(int i, int n, int border)
{
    if (border == GF_B_WRAP) return i < 0 ? i + n : i >= n ? i - n : i;
    if (border == GF_B_REFLECT || border == GF_B_MIRROR) {
        const int edge = border == GF_B_REFLECT;
        return i < 0 ? -edge - i : i >= n ? 2 * n - 2 + edge - i : i;
    }
    return min(max(i, 0), n - 1);
}

/* Rows for a tile: R of them, from row y of the source on. CAREFUL: some may be outside, above the
 * first K - 1 or among the last ones, and margins too. */
template <class T, int K, int N, int R>
GF_DEVICE void gf_stream_read_tile(const gf_stream_args &a, const gf_stream_place &place, int x,
                                   int y, bool careful, gf_stream_row<T, K, N> (&all)[R])
{
    if (!careful) {
        const char *next = reinterpret_cast<const char *>(gf_row<const T>(a.src, y) + x);
#pragma unroll
        for (int r = 0; r < R; r++, next += a.src.pitch) all[r].read(next, false, false);
        return;
    }
    const int n = a.src.height;
#pragma unroll
    for (int r = 0; r < R; r++) {
        const int at = r < K - 1 || r > R - K ? gf_stream_near(y + r, n, a.border) : y + r;
        all[r].read(reinterpret_cast<const char *>(gf_row<const T>(a.src, at) + x), place.left,
                    place.right);
    }
#pragma unroll
    for (int r = 0; r < R; r++) {
        const bool may = r < K - 1 || r > R - K;
        all[r].fold(a, place,
                    may && a.border == GF_B_CONSTANT &&
                        static_cast<unsigned>(y + r) >= static_cast<unsigned>(n));
    }
}

/* Make HEIGHT rows from row y of the result on; all they need is read before the first is complete.
 */
template <class T, int K, int TERMS, int FORM, int N, int HEIGHT, bool PLAIN>
GF_DEVICE void gf_stream_tile(const gf_stream_args &a, const gf_stream_place &place, int x, int y,
                              bool careful)
{
    gf_stream_row<T, K, N> all[HEIGHT + K - 1] = {};
    gf_stream_sums<K, TERMS, FORM, N> sums;
    gf_stream_writer<T, K, N, PLAIN> result(a, x, y);
    float out[HEIGHT * N], row[N];
    sums.clear();
    gf_stream_read_tile(a, place, x, y - a.ay, careful, all);
#pragma unroll
    for (int r = 0; r < HEIGHT + K - 1; r++) {
        all[r].template add<TERMS, FORM, false>(a, place, false, sums);
        if (r < K - 1) continue;
        result.finish(sums, row);
        if (PLAIN) result.store(row);
#pragma unroll
        for (int c = 0; c < N; c++) out[(r - (K - 1)) * N + c] = row[c];
    }
    if (PLAIN) return;
    result.points(out);
#pragma unroll
    for (int r = 0; r < HEIGHT; r++) {
#pragma unroll
        for (int c = 0; c < N; c++) row[c] = out[r * N + c];
        result.store(row);
    }
}

/* Where source rows are, of the columns from x on; the first one is row y. */
template <class T> struct gf_stream_rows {
    const gf_stream_args &a;
    const int x, y;

    GF_DEVICE const char *at(int row) const
    {
        return reinterpret_cast<const char *>(gf_row<const T>(a.src, row) + x);
    }
    /* Row i, wherever it is. */
    GF_DEVICE const char *folded(int i) const
    {
        return at(gf_stream_near(y + i, a.src.height, a.border));
    }
};

/* Make a.rows rows, a multiple of ROWS, from row y of the result on, reading ROWS ahead. Margins
 * are words of bytes; no row is one of the border's value. A margin that is not there is mended in
 * each row: to do that in all threads alike costs less than a way of its own for some. */
template <class T, int K, int TERMS, int FORM, int N, int ROWS>
GF_DEVICE void gf_stream_march(const gf_stream_args &a, const gf_stream_place &place, int x, int y)
{
    enum { BEFORE = K - 1 }; /* rows that complete nothing */
    gf_stream_row<T, K, N> before[BEFORE] = {}, ahead[ROWS] = {};
    gf_stream_sums<K, TERMS, FORM, N> sums;
    gf_stream_writer<T, K, N, true> result(a, x, y);
    const gf_stream_rows<T> source = { a, x, y - a.ay };
    const bool above = source.y < 0;
    const bool below = source.y + BEFORE + a.rows > a.src.height;
    const char *next = source.at(source.y + BEFORE);
    int left = a.rows; /* rows to make, those of the step at hand not counted in the loop */
    sums.clear();
#pragma unroll
    for (int r = 0; r < BEFORE; r++)
        before[r].read(above ? source.folded(r) : next - (BEFORE - r) * a.src.pitch, place.left,
                       place.right);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (r > 0) next += a.src.pitch;
        if (r >= ROWS - BEFORE && below && left == ROWS) next = source.folded(BEFORE + r);
        ahead[r].read(next, place.left, place.right);
    }
#pragma unroll
    for (int r = 0; r < BEFORE; r++) {
        before[r].mend(a, place);
        before[r].template add<TERMS, FORM, false>(a, place, false, sums);
    }
#pragma unroll 1
    do {
        left -= ROWS;
        const long long pitch = left > 0 ? a.src.pitch : 0; /* at the end: a row again */
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            float out[N];
            ahead[r].mend(a, place);
            ahead[r].template add<TERMS, FORM, false>(a, place, false, sums);
            next += pitch;
            if (r >= ROWS - BEFORE && below && left == ROWS)
                next = source.folded(BEFORE + a.rows - ROWS + r);
            ahead[r].read(next, place.left, place.right);
            result.finish(sums, out);
            result.store(out);
        }
    } while (left > 0);
}

/* ---- columns anywhere ----------------------------------------------------------------------- */

/* Source rows for column x of the output rows from y on. */
template <class T, int K> struct gf_stream_picker {
    struct row {
        T pixels[K];
    };
    const gf_stream_args &a;
    const int y;
    int from[K];

    GF_DEVICE gf_stream_picker(const gf_stream_args &args, int x, int first)
        : a(args), y(first - args.ay)
    {
#pragma unroll
        for (int i = 0; i < K; i++) from[i] = gf_border_index(x - a.ax + i, a.src.width, a.border);
    }

    GF_DEVICE int place(int i) const { return gf_border_index(y + i, a.src.height, a.border); }

    GF_DEVICE void read(row &to, int i) const
    {
        const T *const pixels = gf_row<const T>(a.src, max(place(i), 0));
#pragma unroll
        for (int k = 0; k < K; k++) to.pixels[k] = gf_ldg(pixels + max(from[k], 0));
    }

    template <int TERMS, int FORM>
    GF_DEVICE void add(const row &row, int i, gf_stream_sums<K, TERMS, FORM, 1> &sums) const
    {
        const bool no_row = place(i) < 0;
        float v[K];
        unsigned words[(K + 3) / 4] = { 0 };
#pragma unroll
        for (int k = 0; k < K; k++) {
            const bool outside = no_row || from[k] < 0;
            if (FORM == GF_STREAM_WHOLE || FORM == GF_STREAM_HALVES)
                words[k / 4] |= (outside ? a.border_byte : static_cast<unsigned>(row.pixels[k]))
                                << k % 4 * 8;
            else
                v[k] = outside ? a.border_value : gf_stream_pixel<T>::alone(row.pixels[k]);
        }
        if constexpr (FORM == GF_STREAM_WHOLE)
            sums.step(a, gf_stream_window_bytes<K, 1>(words, K / 2, (K + 3) / 4));
        else if constexpr (FORM == GF_STREAM_HALVES)
            sums.step(a, gf_stream_halves<1>(words, K / 2));
        else
            sums.step(a, v);
    }
};

/* gf_stream_writer of column x. */
template <class T, int K> struct gf_stream_putter {
    const gf_stream_args &a;
    int x, y;

    template <int TERMS, int FORM>
    GF_DEVICE void finish(const gf_stream_sums<K, TERMS, FORM, 1> &sums, float (&out)[1]) const
    {
        if (a.plain)
            gf_stream_finish<sizeof(T) < 4, TERMS>(a.combine, sums, out);
        else
            gf_stream_finish<false, TERMS>(a.combine, sums, out);
    }

    GF_DEVICE void points(float (&v)[1]) const { gf_points(a.combine.points, v); }
    GF_DEVICE void store(const float (&v)[1]) { gf_store(a.dst, x, y++, v[0]); }
};

/* Each thread has a column's next edge_rows rows; neighbours have neighbouring columns. */
template <class T, int K, int TERMS, int FORM>
GF_DEVICE void gf_stream_edges(const gf_stream_args &a)
{
    const unsigned columns = static_cast<unsigned>(a.left + a.dst.width - a.right);
    const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned item = (row * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    const int column = static_cast<int>(item % columns);
    const int y = static_cast<int>(item / columns) * a.edge_rows;
    if (y >= a.dst.height) return;
    const int x = column < a.left ? column : column - a.left + a.right;
    const gf_stream_picker<T, K> source(a, x, y);
    gf_stream_putter<T, K> result = { a, x, y };
    gf_stream_walk<K, TERMS, FORM, 1, K <= 7 ? 4 : 1>(source, result,
                                                      min(a.edge_rows, a.dst.height - y));
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* Output rows y … y+rows-1 of the N columns that begin at column x of the source. */
template <class T, int K, int TERMS, int FORM, int N, int ROWS, bool CAREFUL, bool PLAIN>
GF_DEVICE void gf_stream_columns(const gf_stream_args &a, const gf_stream_place &place, int x,
                                 int y, int rows)
{
    gf_stream_reader<T, K, N, CAREFUL> source(a, place, x, y);
    gf_stream_writer<T, K, N, PLAIN> result(a, x, y);
    gf_stream_walk<K, TERMS, FORM, N, ROWS>(source, result, rows);
}

/* A tile of the result, whose first row would be `begin`: the last one reaches up into the one
 * before. A careful one goes the same way as others do: code of its own for it would drive theirs
 * out of the instruction cache. */
template <class T, int K, int TERMS, int FORM, int N, int HEIGHT>
GF_DEVICE void gf_stream_tiles(const gf_stream_args &a, const gf_stream_place &place, bool at_side,
                               int x, int begin)
{
    const int y = min(begin, a.dst.height - HEIGHT);
    const bool careful = at_side || y < a.ay || y - a.ay + HEIGHT + K - 1 > a.src.height;
    if (a.plain)
        gf_stream_tile<T, K, TERMS, FORM, N, HEIGHT, true>(a, place, x, y, careful);
    else if constexpr (sizeof(T) == 4)
        gf_stream_tile<T, K, TERMS, FORM, N, HEIGHT, false>(a, place, x, y, careful);
}

/* Whether a tile of a.rows rows that begins at y, or that before it, needs rows of the border's
 * value. */
template <int K> GF_DEVICE bool gf_stream_lacks_rows(const gf_stream_args &a, int y)
{
    return a.border == GF_B_CONSTANT && (y < a.ay || y - a.ay + a.rows + K - 1 > a.src.height);
}

template <class T, int K, int TERMS, int FORM, int N, int ROWS, int LAYERS, int HEIGHT>
GF_DEVICE void gf_stream_block(const gf_stream_args &a)
{
    /* Long windows' code is long: for the usual case, and for all others. */
    enum { SHORT = K <= 7, TILES = GF_STREAM_TILES(K), STEP = TILES ? 2 : ROWS };
    if (static_cast<int>(blockIdx.y) < a.edge_layers) {
        gf_stream_edges<T, K, TERMS, FORM>(a);
        return;
    }
    const int group = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (group < a.first || group >= a.last) return;
    const gf_stream_place place = { a.folds && group == 0, a.folds && group == a.last - 1 };
    const int layer = (static_cast<int>(blockIdx.y) - a.edge_layers) * LAYERS +
                      (LAYERS > 1 ? static_cast<int>(threadIdx.y) : 0);
    const int begin = layer * a.rows - a.lead;
    const int y = max(begin, 0), rows = min(begin + a.rows, a.dst.height) - y;
    if (rows <= 0) return;
    if constexpr (TILES && ROWS > 0) {
        if (a.tiles && !gf_stream_lacks_rows<K>(a, begin)) {
            gf_stream_march<T, K, TERMS, FORM, N, ROWS>(a, place, group * N,
                                                        min(begin, a.dst.height - a.rows));
            return;
        }
    }
    /* All threads of a warp go the same way. */
    const int warp = group - static_cast<int>(threadIdx.x % 32), x = group * N;
    const bool at_side = a.folds && (warp == 0 || warp + 32 >= a.last);
    if constexpr (TILES && ROWS == 0) {
        if (a.tiles) {
            gf_stream_tiles<T, K, TERMS, FORM, N, HEIGHT>(a, place, at_side, x, begin);
            return;
        }
    }
    const int read = (rows + K - 1 + STEP - 1) / STEP * STEP + STEP;
    const bool careful = at_side || y < a.ay || y - a.ay + read > a.src.height;
    if (!TILES && a.plain && !careful)
        gf_stream_columns<T, K, TERMS, FORM, N, STEP, false, !TILES>(a, place, x, y, rows);
    else if (!TILES && SHORT && a.plain)
        gf_stream_columns<T, K, TERMS, FORM, N, STEP, true, !TILES && SHORT>(a, place, x, y, rows);
    else if (SHORT && !careful)
        gf_stream_columns<T, K, TERMS, FORM, N, STEP, !SHORT, false>(a, place, x, y, rows);
    else
        gf_stream_columns<T, K, TERMS, FORM, N, STEP, true, false>(a, place, x, y, rows);
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

#define GF_STREAM_KERNEL(prefix, BYTES, FORM, K, TERMS, COLUMNS, ROWS, THREADS, LAYERS, BLOCKS,    \
                         HEIGHT)                                                                   \
    GF_KERNEL_BOUNDS(THREADS *LAYERS, BLOCKS, gf_stream_##prefix##_##K##_##TERMS, gf_stream_args,  \
                     a)                                                                            \
    {                                                                                              \
        gf_stream_block<gf_stream_source<BYTES>::type, K, TERMS, GF_STREAM_##FORM, COLUMNS, ROWS,  \
                        LAYERS, HEIGHT>(a);                                                        \
    }
GF_STREAM_VARIANTS(GF_STREAM_KERNEL)
#ifdef GF_HAVE_TENSOR
GF_STREAM_HALVES_VARIANTS(GF_STREAM_KERNEL)
#endif
