/* Separable windows of u8 and u16 images, none of whose taps is negative, by warpgroups.
 *
 * A warpgroup makes a strip of 64 columns and walks down it, 64 rows of the source at a time. Rows
 * come to a ring in shared memory some steps ahead, in an order that products take as it is. The
 * first pass is a product of the taps along rows, which are digits of eight bits, with the pixels:
 * exact sums, the digits one after the other. They lie in registers as the next product wants its
 * operand, so nothing more happens between the passes than that they are split into two parts of at
 * most eleven bits, which are exact in binary16. That product, with the taps down columns in
 * two parts as well, adds sixteen rows of sums to the bands of 32 rows of results which they reach;
 * a band that is complete leaves through shared memory. So each pixel is gone over once however
 * tall the window is.
 *
 * What the products of two low parts would add is left out. */
#include "kernels/gf_tile.cuh"
#include "kernels/gf_warpgroup.cuh"
#include "kernels/wgmma.variants.h"

#ifdef GF_HAVE_WARPGROUP

enum { GF_WGMMA_CHUNK_BYTES = 16 * GF_WGMMA_ROWS };

template <int BYTES> struct gf_wgmma_pixel {
    typedef unsigned char type;
};
template <> struct gf_wgmma_pixel<2> {
    typedef unsigned short type;
};

/* A row of wgmma.variants.h; KEPT_: digits of its taps along rows that registers hold. */
template <class T_, int K_, int I_, int SUMS_, int KEPT_, int GROUPS_, bool OWN_>
struct gf_wgmma_shape {
    typedef T_ T;
    enum { BYTES = static_cast<int>(sizeof(T_)), EACH = 16 / BYTES }; /* EACH: pixels of a chunk */
    enum { K = K_, I = I_, OWN = OWN_, BANDS = GF_WGMMA_BANDS(I_) };
    enum { DIGITS = GF_WGMMA_DIGITS(SUMS_) };
    enum { CARRIED = SUMS_ == GF_WGMMA_CARRIED, TRIMMED = SUMS_ == GF_WGMMA_TRIMMED };
    enum { LONG = SUMS_ == GF_WGMMA_LONG, KEPT = KEPT_ };
    enum { HALF_CUT = GF_WGMMA_HALF_CUT(SUMS_) };
    enum { ALONG = GF_WGMMA_ALL_ALONG_BYTES(K_, SUMS_), ALONG_KEPT = ALONG / DIGITS * KEPT_ };
    enum { THREADS = GF_WGMMA_THREADS(GROUPS_), WARPS = THREADS / 32 };
    enum { CHUNKS = GF_WGMMA_CHUNKS(K_, GROUPS_, BYTES), WIDTH = GF_WGMMA_WIDTH * GROUPS_ };
    enum { STAGE = GF_WGMMA_STAGE_BYTES(K_, GROUPS_, BYTES), STAGES = GF_WGMMA_STAGES(OWN_) };
    enum { AHEAD = GF_WGMMA_AHEAD, DOWN = GF_WGMMA_ALL_DOWN_BYTES(I_) };
    /* sixteen bytes each of taps that shared memory holds; what a thread brings of them */
    enum { TAPS = (DOWN + ALONG - ALONG_KEPT) / 16, TAPS_EACH = (TAPS + THREADS - 1) / THREADS };
    enum { PITCH = GF_WGMMA_RESULT_PITCH(GROUPS_, BYTES), HALF = GF_WGMMA_BAND_ROWS * PITCH };
    /* rows of results that are not complete when their last ones begin */
    enum { LAG = GF_WGMMA_BAND_ROWS * (BANDS - 1) };
    /* steps after which bands lie in the same registers again */
    enum { TURN = BANDS % 2 ? BANDS : BANDS / 2 };
    /* threads that store a row of results together; such rows */
    enum { TOGETHER = GF_WGMMA_RESULT_CHUNKS(GROUPS_, BYTES), ROWS = THREADS / TOGETHER };
};

/* Columns of a stage that are outside the image and that results need, the same for all rows, and
 * for each the column of the stage that stands for it, or one past all where there is none. */
template <class S> struct gf_wgmma_mends {
    enum { PIXELS = S::EACH * S::CHUNKS };
    int n;
    short column[PIXELS], stand_in[PIXELS];
};

/* The parts of the shared memory. */
template <class S> struct gf_wgmma_memory {
    unsigned char *pixels, *down, *along, *results;
    gf_wgmma_mends<S> *mends;

    GF_DEVICE explicit gf_wgmma_memory(unsigned char *first)
        : pixels(first), down(pixels + S::STAGES * S::STAGE), along(down + S::DOWN),
          results(along + S::ALONG - S::ALONG_KEPT),
          mends(reinterpret_cast<gf_wgmma_mends<S> *>(results + 4 * S::HALF))
    {
    }
};

/* ---- pixels -------------------------------------------------------------------------------- */

/* How columns outside come about. PLAIN blocks have all columns in the images, and sixteen bytes of
 * rows may be moved at once. FOLDED ones have columns outside that count nowhere, because their
 * taps count for others, or that are all the same, or that lie sixteen bytes together at the other
 * end. For MENDED ones they are made once the rows have come. */
enum { GF_WGMMA_PLAIN, GF_WGMMA_FOLDED, GF_WGMMA_MENDED };

/* What a block makes, and from what. */
struct gf_wgmma_place {
    int x, y, rows; /* of its results */
    int steps;
    bool aligned;              /* sixteen bytes of the source may be sent for at once */
    const unsigned char *from; /* this thread's place in the rows that are sent for next */
    unsigned char *stage;      /* where they go */
    unsigned char *to;         /* and in the results that are stored next */
};

/* The first n pixels of a chunk from column x on, at any address. */
template <class S>
GF_DEVICE void gf_wgmma_copy(const gf_wgmma_args &a, const unsigned char *from, int x, int n,
                             unsigned char *to)
{
    if (x >= 4 && x + S::EACH + 4 <= a.src.width)
        *reinterpret_cast<uint4 *>(to) = gf_read_16(from);
    else
        for (int i = 0; i < n * S::BYTES; i++) to[i] = gf_ldg(from + i);
}

/* Of a chunk of the source: pixels that are inside, and where they are, in bytes from where the
 * chunk is. */
struct gf_wgmma_chunk {
    int n, away;
};

/* That of the chunk from column x on; the other end's where it lies outside, if it is to. */
template <class S, int KIND>
GF_DEVICE gf_wgmma_chunk gf_wgmma_chunk_at(const gf_wgmma_args &a, int x)
{
    gf_wgmma_chunk chunk = { x < 0 ? 0 : max(min(a.src.width - x, static_cast<int>(S::EACH)), 0),
                             0 };
    if (KIND == GF_WGMMA_FOLDED && a.border == GF_B_WRAP && chunk.n == 0)
        chunk.n = S::EACH, chunk.away = (x < 0 ? a.src.width : -a.src.width) * S::BYTES;
    return chunk;
}

/* f(rows down from the thread's first one, chunks from its first one) for what a thread copies of
 * 64 rows: eight lanes have eight rows of a chunk of sixteen bytes. */
template <class S, class F> GF_DEVICE void gf_wgmma_each(F f)
{
    const int first_chunk = static_cast<int>(threadIdx.x) % 32 / 8;
#pragma unroll
    for (int down = 0; down < GF_WGMMA_ROWS; down += 8 * S::WARPS)
#pragma unroll
        for (int chunk = 0; chunk < S::CHUNKS; chunk += 4)
            if (chunk + 4 <= S::CHUNKS || first_chunk + chunk < S::CHUNKS) f(down, chunk);
}

/* Send for the 64 rows from row y of the image or around it on. */
template <class S, int KIND>
GF_DEVICE void gf_wgmma_fill(const gf_wgmma_args &a, const gf_wgmma_place &place, int y)
{
    const int thread = static_cast<int>(threadIdx.x), first_chunk = thread % 32 / 8;
    const int first_row = thread / 32 * 8 + thread % 8;
    unsigned char *const first = place.stage;
    const unsigned char *const from = place.from;
    const bool inside = y >= 0 && y + GF_WGMMA_ROWS <= a.src.height;
    if (KIND == GF_WGMMA_PLAIN && inside) {
        gf_wgmma_each<S>([&](int down, int chunk) {
            gf_copy_async_16(first + down * 16 + chunk * GF_WGMMA_CHUNK_BYTES,
                             from + down * a.src.pitch + 16 * chunk);
        });
    } else {
        const uint4 outside =
            make_uint4(a.border_word, a.border_word, a.border_word, a.border_word);
        gf_wgmma_each<S>([&](int down, int chunk) {
            const int row = y + first_row + down,
                      x = place.x - a.lead + S::EACH * (first_chunk + chunk);
            const int at = inside ? row : gf_border_index(row, a.src.height, a.border);
            const gf_wgmma_chunk part = gf_wgmma_chunk_at<S, KIND>(a, x);
            const unsigned char *const here =
                from + (at - row + down) * a.src.pitch + 16 * chunk + part.away;
            unsigned char *const to = first + down * 16 + chunk * GF_WGMMA_CHUNK_BYTES;
            if (at < 0)
                *reinterpret_cast<uint4 *>(to) = outside;
            else if (KIND == GF_WGMMA_PLAIN)
                gf_copy_async_16(to, here);
            else if (KIND == GF_WGMMA_MENDED && !place.aligned)
                gf_wgmma_copy<S>(a, here, x, part.n, to);
            else if (part.n > 0)
                gf_copy_async_first(to, here, part.n * S::BYTES);
        });
    }
}

/* Where pixel j of a row of a stage lies, from its first one on. */
template <class S> GF_DEVICE typename S::T *gf_wgmma_at(unsigned char *row, int j)
{
    return reinterpret_cast<typename S::T *>(row + j / S::EACH * GF_WGMMA_CHUNK_BYTES) +
           j % S::EACH;
}

/* Find a block's columns outside. */
template <class S>
GF_DEVICE void gf_wgmma_find_mends(const gf_wgmma_args &a, const gf_wgmma_place &place,
                                   gf_wgmma_mends<S> &mends)
{
    enum { PIXELS = gf_wgmma_mends<S>::PIXELS };
    const int x = place.x - a.lead, first = x < 0 ? a.lead - a.near : 0, past = a.src.width - x;
    const int before = max(-x - first, 0), end = min(place.x + S::WIDTH, a.dst.width) + a.trail - x;
    const int n = before + max(end - past, 0);
    if (threadIdx.x == 0) mends.n = n;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < n; i += S::THREADS) {
        const int column = i < before ? first + i : past + i - before;
        const int at = gf_border_index(x + column, a.src.width, a.border) - x;
        mends.column[i] = static_cast<short>(column);
        mends.stand_in[i] = static_cast<short>(at >= max(-x, 0) && at < PIXELS ? at : PIXELS);
    }
}

/* Make them, of 64 rows that have come, whose first one is row y. */
template <class S>
GF_DEVICE void gf_wgmma_mend(const gf_wgmma_args &a, const gf_wgmma_place &place,
                             const gf_wgmma_mends<S> &mends, unsigned char *stage, int y)
{
    typedef typename S::T T;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < mends.n * GF_WGMMA_ROWS; i += S::THREADS) {
        const int row = i % GF_WGMMA_ROWS;
        const int column = mends.column[i / GF_WGMMA_ROWS];
        const int stand_in = mends.stand_in[i / GF_WGMMA_ROWS];
        unsigned char *const to = stage + 16 * row;
        T v = static_cast<T>(a.border_word);
        if (stand_in < gf_wgmma_mends<S>::PIXELS) {
            v = *gf_wgmma_at<S>(to, stand_in);
        } else {
            const int x = gf_border_index(place.x - a.lead + column, a.src.width, a.border);
            const int from = gf_border_index(y + row, a.src.height, a.border);
            if (x >= 0 && from >= 0) v = gf_ldg(gf_row<const T>(a.src, from) + x);
        }
        *gf_wgmma_at<S>(to, column) = v;
    }
}

/* ---- products ------------------------------------------------------------------------------ */

/* What a thread keeps. */
template <class S> struct gf_wgmma_kept {
    unsigned along[S::KEPT * S::K + 1][4]; /* its part of the uppermost digits of taps along rows */
    int sum[32], third[32];         /* of the first pass; of the third digit where it carries */
    unsigned high[4][4], low[4][4]; /* sixteen rows of them each, split */
    float band[S::BANDS][16];
    gf_matrix pixels, taps, down; /* of the warpgroup */
};

/* Which taps along rows the warpgroup has whose first column is x: those of most (0), of the first
 * one (1), of the last one (2), of that before it (3). */
GF_DEVICE int gf_wgmma_side(const gf_wgmma_args &a, int x)
{
    if (x < a.near) return 1;
    if (x + GF_WGMMA_WIDTH + a.trail <= a.src.width) return 0;
    return x + GF_WGMMA_WIDTH < a.src.width ? 3 : 2;
}

/* Send for all taps: for those that registers hold, and for this thread's part of those that are to
 * go to shared memory, which gf_wgmma_keep() puts there. */
template <class S, int KIND>
GF_DEVICE void gf_wgmma_load(const gf_wgmma_args &a, const gf_wgmma_place &place,
                             gf_wgmma_kept<S> &kept, uint4 (&taps)[S::TAPS_EACH])
{
    const int thread = static_cast<int>(threadIdx.x);
    const uint4 *const down =
        static_cast<const uint4 *>(KIND == GF_WGMMA_PLAIN ? a.inner : a.sides);
    const uint4 *along = down + S::DOWN / 16;
    if (KIND == GF_WGMMA_FOLDED)
        along += S::ALONG / 16 * gf_wgmma_side(a, place.x + thread / 128 * GF_WGMMA_WIDTH);
    const unsigned *const words = reinterpret_cast<const unsigned *>(along) +
                                  4 * (thread % 128 / 32 * 16 + thread % 32 / 4) + thread % 4;
#pragma unroll
    for (int i = 0; i < S::TAPS_EACH; i++) {
        const int at = thread + i * S::THREADS;
        if (at < S::TAPS)
            taps[i] = gf_ldg(at < S::DOWN / 16 ? down + at
                                               : along + S::ALONG_KEPT / 16 + at - S::DOWN / 16);
    }
#pragma unroll
    for (int i = 0; i < 4 * S::KEPT * S::K; i++)
        kept.along[i / 4][i % 4] = gf_ldg(words + i / 2 * GF_WGMMA_ALONG_BYTES / 8 + i % 2 * 8 * 4);
}

template <class S>
GF_DEVICE void gf_wgmma_keep(const gf_wgmma_memory<S> &memory, const uint4 (&taps)[S::TAPS_EACH],
                             gf_wgmma_kept<S> &kept)
{
    const int thread = static_cast<int>(threadIdx.x), group = thread / 128;
#pragma unroll
    for (int i = 0; i < S::TAPS_EACH; i++)
        if (thread + i * S::THREADS < S::TAPS)
            reinterpret_cast<uint4 *>(memory.down)[thread + i * S::THREADS] = taps[i];
    kept.taps = gf_matrix_at(memory.along, GF_WGMMA_ALONG_BYTES / 2, 128);
    const unsigned char *const columns =
        memory.pixels + group * (GF_WGMMA_WIDTH / S::EACH) * GF_WGMMA_CHUNK_BYTES;
    kept.pixels = gf_matrix_at(columns, GF_WGMMA_CHUNK_BYTES, 128);
    kept.down = gf_matrix_at(memory.down, GF_WGMMA_DOWN_BYTES / 2, 128);
}

/* Add the products of a digit of the taps along rows; first: they are the first ones. */
template <class S>
GF_DEVICE void gf_wgmma_along(gf_wgmma_kept<S> &kept, int (&sum)[32], gf_matrix pixels, int digit,
                              bool first)
{
    gf_products_begin();
#pragma unroll
    for (int k = 0; k < S::K; k++) {
        const gf_matrix columns = gf_matrix_move(pixels, 2 * k * GF_WGMMA_CHUNK_BYTES);
        const bool add = k > 0 || !first;
        const int place = ((digit - S::KEPT) * S::K + k) * GF_WGMMA_ALONG_BYTES;
        if (digit < S::KEPT)
            gf_product_64_32(sum, kept.along[digit * S::K + k], columns, add);
        else
            gf_product_64_32(sum, gf_matrix_move(kept.taps, place), columns, add);
    }
    gf_products_end();
}

/* What the products of the n-th digit after the first are added to. */
template <class S> GF_DEVICE int gf_wgmma_next_digit(int sum, int n, const gf_wgmma_args &a)
{
    const unsigned v = static_cast<unsigned>(sum);
    if (S::LONG) return sum << 8;
    if (!S::TRIMMED) return sum * a.base + S::HALF_CUT;
    /* the byte that the last one loses becomes the highest one */
    return static_cast<int>(n + 1 < S::DIGITS ? (v >> 8) + static_cast<unsigned>(a.add)
                                              : gf_pick_bytes(v, v, 0x0321));
}

/* All sums along rows; those of the first digit, and of a third one that carries, are on their way:
 * the latter may go on while the first ones are taken further. */
template <class S>
GF_DEVICE void gf_wgmma_digits(const gf_wgmma_args &a, gf_wgmma_kept<S> &kept, gf_matrix pixels)
{
#pragma unroll
    for (int n = 1; n < S::DIGITS - S::CARRIED; n++) {
        gf_products_wait<S::CARRIED>();
#pragma unroll
        for (int i = 0; i < 32; i++) kept.sum[i] = gf_wgmma_next_digit<S>(kept.sum[i], n, a);
        gf_wgmma_along<S>(kept, kept.sum, pixels, S::TRIMMED ? S::DIGITS - 1 - n : n, false);
    }
    gf_products_wait();
}

/* Split 32 rows of sums, see GF_WGMMA_UPPER_BITS. As binary16 such a number is itself times 2^-24.
 */
template <class S> GF_DEVICE void gf_wgmma_split(gf_wgmma_kept<S> &kept, int half)
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned v = static_cast<unsigned>(kept.sum[16 * half + 2 * i]);
        unsigned w = static_cast<unsigned>(kept.sum[16 * half + 2 * i + 1]);
        unsigned &high = kept.high[2 * half + i / 4][i % 4],
                 &low = kept.low[2 * half + i / 4][i % 4];
        if (S::CARRIED) {
            v += static_cast<unsigned>(kept.third[16 * half + 2 * i]) >> 8;
            w += static_cast<unsigned>(kept.third[16 * half + 2 * i + 1]) >> 8;
        }
        high = gf_pick_bytes(v, w, S::TRIMMED ? 0x6521 : 0x7632);
        if (S::LONG) {
            high = high >> 5 & 0x07ff07ffu;
            low = gf_pick_bytes(v, w, 0x6521) >> 2 & 0x07ff07ffu;
        } else if (S::TRIMMED) {
            low = gf_pick_bytes(v, w, 0x4703) >> 5 & 0x07ff07ffu;
        } else {
            low = gf_second_bytes(v, w);
        }
    }
}

/* Add 32 rows of sums to the bands they reach, of which `newest` begins with them. Low parts come
 * first, while sums are small: what does not fit is cut off. */
template <class S> GF_DEVICE void gf_wgmma_down(gf_wgmma_kept<S> &kept, int half, int newest)
{
    gf_products_begin();
#pragma unroll
    for (int part = 2; part >= 0; part--)
#pragma unroll
        for (int i = 0; i < S::I; i++)
            gf_product_32_16(kept.band[(newest + S::BANDS - i / 2) % S::BANDS],
                             part == 2 ? kept.low[2 * half + i % 2] : kept.high[2 * half + i % 2],
                             gf_matrix_move(kept.down, (part * S::I + i) * GF_WGMMA_DOWN_BYTES),
                             i > 0 || part < 2);
    gf_products_end();
}

/* ---- results ------------------------------------------------------------------------------- */

/* The pixels themselves that eight of a lane's results are of, times 2^-133; columns: the lane's
 * two in its first row of the ring; row: of the first of sixteen results, a multiple of 8. */
template <class S>
GF_DEVICE void gf_wgmma_own(const unsigned char *columns, int row, float (&own)[8])
{
    enum { MASK = S::STAGES * GF_WGMMA_ROWS - 1 };
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int at = (row + i / 2 * 8) & MASK;
        const unsigned two = *reinterpret_cast<const unsigned short *>(
            columns + at / GF_WGMMA_ROWS * S::STAGE + at % GF_WGMMA_ROWS * 16 + i % 2 * 16);
#pragma unroll
        for (int right = 0; right < 2; right++)
            own[i / 2 * 4 + right * 2 + i % 2] =
                gf_bits_float(gf_pick_bytes(two, 0, right ? 0x4144 : 0x4044));
    }
}

/* A lane's results of a band, whole numbers: what is left of floats that are that small has been
 * rounded, half to even. */
template <class S>
GF_DEVICE void gf_wgmma_round(const gf_wgmma_args &a, const float (&band)[16],
                              const unsigned char *columns, int row, int (&numbers)[16])
{
    const float factor = gf_bits_float(1u << (GF_WGMMA_RESULT_EXPONENT(S::BYTES) + 149));
#pragma unroll
    for (int i = 0; i < 16; i += 8) {
        float own[8] = {};
        if (S::OWN) gf_wgmma_own<S>(columns, row + 2 * i, own);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const float sum = S::OWN ? fmaf(own[k], a.own, -band[i + k]) : band[i + k];
            numbers[i + k] = static_cast<int>(gf_float_bits(fmaf(sum, factor, a.start)));
        }
    }
}

/* Put a warp's part of a band into shared memory. */
template <class S> GF_DEVICE void gf_wgmma_leave(unsigned char *to, const int (&numbers)[16])
{
#pragma unroll
    for (int part = 0; part < S::BYTES; part++) {
        unsigned v[4]; /* of two columns and two rows, or of one and two */
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int *const four = numbers + 4 * i;
            v[i] = S::BYTES == 1 ? gf_saturate_4(four[0], four[2], four[1], four[3])
                                 : gf_saturate_2(four[2 * part], four[2 * part + 1]);
        }
        gf_stmatrix_4_trans(to + 16 * part, v);
    }
}

/* Store the first n of sixteen bytes. */
GF_DEVICE void gf_wgmma_put(unsigned char *to, int n, uint4 v)
{
    const bool aligned = (reinterpret_cast<long long>(to) & 15) == 0;
    if (aligned && n >= 16) {
        *reinterpret_cast<uint4 *>(to) = v;
        return;
    }
    if (aligned && n >= 8) {
        *reinterpret_cast<uint2 *>(to) = make_uint2(v.x, v.y);
        v.x = v.z, v.y = v.w, to += 8, n -= 8;
    }
    if (aligned && n >= 4) {
        *reinterpret_cast<unsigned *>(to) = v.x;
        v.x = v.y, v.y = v.z, v.z = v.w, to += 4, n -= 4;
    }
#pragma unroll 1
    for (int i = 0; i < min(n, 16); i++) {
        *to++ = static_cast<unsigned char>(v.x);
        v.x = gf_shift_words(v.x, v.y, 8), v.y = gf_shift_words(v.y, v.z, 8);
        v.z = gf_shift_words(v.z, v.w, 8), v.w >>= 8;
    }
}

/* Store the bands that all warps have left: the block's rows from row `first` on. */
template <class S, int KIND>
GF_DEVICE void gf_wgmma_store(const gf_wgmma_args &a, const gf_wgmma_place &place, int first,
                              const unsigned char *results)
{
    const int thread = static_cast<int>(threadIdx.x), row = first + thread / S::TOGETHER;
    const unsigned char *const from =
        results + thread / S::TOGETHER * S::PITCH + thread % S::TOGETHER * 16;
    unsigned char *const to = place.to;
#pragma unroll
    for (int r = 0; r < GF_WGMMA_ROWS; r += S::ROWS) {
        if (row + r < 0 || row + r >= place.rows) continue;
        const uint4 v = *reinterpret_cast<const uint4 *>(from + r * S::PITCH);
        if (KIND == GF_WGMMA_PLAIN)
            *reinterpret_cast<uint4 *>(to + r * a.dst.pitch) = v;
        else
            gf_wgmma_put(to + r * a.dst.pitch,
                         (a.dst.width - place.x) * S::BYTES - thread % S::TOGETHER * 16, v);
    }
}

/* ---- a block ------------------------------------------------------------------------------- */

template <class S> GF_DEVICE gf_wgmma_place gf_wgmma_find(const gf_wgmma_args &a)
{
    typedef typename S::T T;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    gf_wgmma_place place;
    /* first come blocks of half as many rows, for the strips at the sides in turn */
    const int block = static_cast<int>(blockIdx.x), inner = block - a.sides_blocks;
    const int rows = inner < 0 ? a.rows / 2 : a.rows, strips = inner < 0 ? a.side_strips : a.strips;
    const int across = (inner < 0 ? block : inner) % strips;
    const int strip = inner >= 0 ? across + (a.side_strips > 0) : across ? across + a.strips : 0;
    place.x = strip * S::WIDTH;
    place.y = (inner < 0 ? block : inner) / strips * rows;
    place.rows = min(rows, a.dst.height - place.y);
    place.steps = (place.rows + S::LAG + GF_WGMMA_ROWS - 1) / GF_WGMMA_ROWS;
    place.aligned = ((reinterpret_cast<long long>(a.src.data) | a.src.pitch) & 15) == 0;
    const int y = place.y - a.rise + warp * 8 + lane % 8;
    place.from =
        reinterpret_cast<const unsigned char *>(gf_row<const T>(a.src, y) + place.x - a.lead) +
        lane / 8 * 16;
    /* what the first step stores are bands of the step before it */
    place.to =
        gf_row<unsigned char>(a.dst, place.y + thread / S::TOGETHER - S::LAG - GF_WGMMA_ROWS) +
        place.x * S::BYTES + thread % S::TOGETHER * 16;
    return place;
}

/* Pixels outside, where they are all the same: what is sent for goes elsewhere. */
template <class S> GF_DEVICE void gf_wgmma_surround(const gf_wgmma_args &a, unsigned char *pixels)
{
    const uint4 outside = make_uint4(a.border_word, a.border_word, a.border_word, a.border_word);
    uint4 *const to = reinterpret_cast<uint4 *>(pixels);
    for (int i = static_cast<int>(threadIdx.x); i < S::STAGES * S::STAGE / 16; i += S::THREADS)
        to[i] = outside;
    __syncthreads();
}

/* Wait for all that this thread has sent for, for products to read it. */
template <int KIND> GF_DEVICE void gf_wgmma_arrive()
{
    gf_copy_async_wait();
    if (KIND != GF_WGMMA_MENDED) gf_products_may_read();
}

/* The stage whose rows are made sums of is there, and none has the one before it in use. */
template <class S, int KIND>
GF_DEVICE void gf_wgmma_ready(const gf_wgmma_args &a, const gf_wgmma_place &place,
                              const gf_wgmma_memory<S> &memory, int stage, int row)
{
    __syncthreads();
    if (KIND != GF_WGMMA_MENDED) return;
    gf_wgmma_mend<S>(a, place, *memory.mends, memory.pixels + stage, row);
    gf_products_may_read();
    __syncthreads();
}

/* Bytes from the first stage to the one so many after `stage`. */
template <class S> GF_DEVICE int gf_wgmma_after(int stage, int n)
{
    const int after = stage + n * S::STAGE;
    return after >= S::STAGES * S::STAGE ? after - S::STAGES * S::STAGE : after;
}

template <class S, int KIND>
GF_DEVICE void gf_wgmma_walk(const gf_wgmma_args &a, gf_wgmma_place &place, unsigned char *shared)
{
    const gf_wgmma_memory<S> memory(shared);
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    unsigned char *const leave = memory.results + lane * S::PITCH + 16 * S::BYTES * warp;
    const unsigned char *const columns =
        memory.pixels + (a.lead / 16 + warp) * GF_WGMMA_CHUNK_BYTES + lane % 4 * 32 + lane / 4 * 2;
    if (KIND == GF_WGMMA_FOLDED && a.border == GF_B_CONSTANT)
        gf_wgmma_surround<S>(a, memory.pixels);
    if (KIND == GF_WGMMA_MENDED) gf_wgmma_find_mends<S>(a, place, *memory.mends);
    gf_wgmma_kept<S> kept;
    uint4 taps[S::TAPS_EACH];
    gf_wgmma_load<S, KIND>(a, place, kept, taps);
    int ahead = place.y - a.rise; /* the row that is sent for next */
    place.stage = memory.pixels + (warp * 8 + lane % 8) * 16 + lane / 8 * GF_WGMMA_CHUNK_BYTES;
    for (int i = 0; i < S::AHEAD; i++) {
        if (i < place.steps) gf_wgmma_fill<S, KIND>(a, place, ahead);
        ahead += GF_WGMMA_ROWS, place.from += GF_WGMMA_ROWS * a.src.pitch, place.stage += S::STAGE;
    }
    gf_wgmma_keep<S>(memory, taps, kept);
    gf_wgmma_arrive<KIND>();
    int stage = 0, buffer = 0;
    for (int turn = 0; turn < place.steps; turn += S::TURN)
#pragma unroll
        for (int u = 0; u < S::TURN; u++) {
            const int step = turn + u, row = step * GF_WGMMA_ROWS - S::LAG;
            if (S::TURN > 1 && step >= place.steps) break;
            gf_wgmma_ready<S, KIND>(a, place, memory, stage, ahead - S::AHEAD * GF_WGMMA_ROWS);
            const gf_matrix pixels = gf_matrix_move(kept.pixels, stage);
            gf_wgmma_along<S>(kept, kept.sum, pixels, S::TRIMMED ? S::DIGITS - 1 : 0, true);
            if (S::CARRIED) gf_wgmma_along<S>(kept, kept.third, pixels, 2, true);
            /* for the next step; before stores, which would be waited for too */
            gf_wgmma_arrive<KIND>();
            if (step + S::AHEAD < place.steps) gf_wgmma_fill<S, KIND>(a, place, ahead);
            gf_wgmma_store<S, KIND>(a, place, row - GF_WGMMA_ROWS, memory.results + buffer);
            buffer ^= 2 * S::HALF;
            stage = gf_wgmma_after<S>(stage, 1);
            gf_wgmma_digits<S>(a, kept, pixels);
            const int first_band = 2 * u % S::BANDS, second_band = (first_band + 1) % S::BANDS;
            const int own = row + a.rise;
            int numbers[16];
            gf_wgmma_split(kept, 0);
            gf_wgmma_down(kept, 0, first_band);
            gf_wgmma_split(kept, 1);
            gf_products_wait();
            /* the band that is complete makes room for the next one */
            gf_wgmma_round<S>(a, kept.band[second_band], columns, own, numbers);
            if (row + GF_WGMMA_BAND_ROWS >= place.rows) { /* there is no other band */
                gf_wgmma_leave<S>(leave + buffer, numbers);
                place.to += GF_WGMMA_ROWS * a.dst.pitch;
                break;
            }
            gf_wgmma_down(kept, 1, second_band);
            gf_wgmma_leave<S>(leave + buffer, numbers);
            gf_products_wait();
            gf_wgmma_round<S>(a, kept.band[(second_band + 1) % S::BANDS], columns,
                              own + GF_WGMMA_BAND_ROWS, numbers);
            gf_wgmma_leave<S>(leave + buffer + S::HALF, numbers);
            /* this late because registers of addresses are not free for long after a copy */
            place.from += GF_WGMMA_ROWS * a.src.pitch, place.to += GF_WGMMA_ROWS * a.dst.pitch;
            ahead += GF_WGMMA_ROWS;
            place.stage +=
                gf_wgmma_after<S>(stage, S::AHEAD) > 0 ? S::STAGE : S::STAGE * (1 - S::STAGES);
        }
    __syncthreads();
    gf_wgmma_store<S, KIND>(a, place, (place.steps - 1) * GF_WGMMA_ROWS - S::LAG,
                            memory.results + buffer);
}

/* Taps that are folded need long sums, and pixels of one byte. */
template <class T, int K, int I, int SUMS, int GROUPS, bool OWN>
GF_DEVICE void gf_wgmma_block(const gf_wgmma_args &a, unsigned char *shared)
{
    const int side_sums = sizeof(T) == 1 ? GF_WGMMA_LONG : SUMS;
    typedef gf_wgmma_shape<T, K, I, SUMS, GF_WGMMA_KEPT(K, SUMS), GROUPS, OWN> S;
    /* those of all digits, or of none, as those of the others */
    const int side_kept = GF_WGMMA_KEPT(K, SUMS) > 0 ? GF_WGMMA_KEPT(K, side_sums) : 0;
    typedef gf_wgmma_shape<T, K, I, side_sums, side_kept, GROUPS, OWN> side;
    gf_wgmma_place place = gf_wgmma_find<S>(a);
    const int first = place.x - a.lead;
    const bool whole = ((reinterpret_cast<long long>(a.dst.data) | a.dst.pitch) & 15) == 0;
    if (a.inner && place.aligned && whole && first >= 0 && place.x + S::WIDTH <= a.dst.width &&
        first + S::EACH * S::CHUNKS <= a.src.width)
        gf_wgmma_walk<S, GF_WGMMA_PLAIN>(a, place, shared);
    else if (S::BYTES == 1 && place.aligned && a.folds)
        gf_wgmma_walk<side, S::BYTES == 1 ? GF_WGMMA_FOLDED : GF_WGMMA_MENDED>(a, place, shared);
    else
        gf_wgmma_walk<side, GF_WGMMA_MENDED>(a, place, shared);
}

#define GF_WGMMA_BODY(BYTES, K, I, SUMS, GROUPS, OWN)                                              \
    GF_SHARED(unsigned char, memory);                                                              \
    gf_wgmma_block<gf_wgmma_pixel<BYTES>::type, K, I, SUMS, GROUPS, OWN>(a, memory);

#else /* other chips have no such instructions; they are not given these kernels */
#define GF_WGMMA_BODY(BYTES, K, I, SUMS, GROUPS, OWN)
#endif

#define GF_WGMMA_KERNEL(NAME, BYTES, K, I, SUMS, GROUPS, BLOCKS, OWN, STEP)                        \
    GF_KERNEL_BOUNDS(GF_WGMMA_THREADS(GROUPS), BLOCKS, gf_wgmma_##NAME, gf_wgmma_args, a)          \
    {                                                                                              \
        GF_WGMMA_BODY(BYTES, K, I, SUMS, GROUPS, OWN)                                              \
    }
GF_WGMMA_VARIANTS(GF_WGMMA_KERNEL)
