/* Separable windows of u8 images on tensor cores, rows and columns in one launch.
 *
 * A pass is a product with a band matrix that holds the taps, shifted by one from row to row. A
 * warp makes sixteen rows of results, sixteen columns at a time: N products of 16x16 down the
 * tile's columns, then S products of 8 columns along the rows of what came out. The accumulator
 * layout of an mma is the operand layout of the next one, so nothing goes through shared memory in
 * between.
 *
 * Where the taps are the same upwards and downwards (SYM), sums and differences of rows that lie
 * the same way from the middle take the place of the rows: each serves eight rows of results with
 * half the products, and high and low parts of the taps fill the sixteen rows of an operand.
 *
 * Pixels are exact in binary16. Taps are split into two of them (22 bits), and so are the sums
 * between the passes; the product of two low parts is left out. Low parts are added first, while
 * the sum is small, because the tensor cores cut off what does not fit. Where results are u8 the
 * sums between are rounded to 19 bits, whose digits need no arithmetic to be split. */
#ifndef GF_TENSOR_CUH
#define GF_TENSOR_CUH

#include "kernels/gf_tile.cuh"
#include "kernels/tensor.variants.h"

#ifdef GF_HAVE_TENSOR

enum { GF_TENSOR_WARPS = GF_TENSOR_THREADS / 32 };

/* ---- the tile ------------------------------------------------------------------------------ */

/* The tile's place in the source, and how much of it is filled. A row is made of chunks of sixteen
 * columns, in which column c and column c + 8 lie side by side. */
struct gf_tensor_tile {
    unsigned char *data;
    int x, y, chunks, rows;
};

/* Sixteen pixels as a chunk. */
GF_DEVICE uint4 gf_tensor_weave(uint4 v)
{
    return make_uint4(gf_pick_bytes(v.x, v.z, 0x5140), gf_pick_bytes(v.x, v.z, 0x7362),
                      gf_pick_bytes(v.y, v.w, 0x5140), gf_pick_bytes(v.y, v.w, 0x7362));
}

/* Column `column` of the tile one by one: for where the image ends. */
template <int S>
GF_DEVICE void gf_tensor_single(const gf_tensor_args &a, const gf_tensor_tile &tile, int column)
{
    const int x = gf_border_index(tile.x + column, a.src.width, a.border);
    const int at = column / 16 * 16 + column % 8 * 2 + column / 8 % 2;
#pragma unroll 4
    for (int row = static_cast<int>(threadIdx.x) / 32; row < tile.rows; row += GF_TENSOR_WARPS) {
        const int y = gf_border_index(tile.y + row, a.src.height, a.border);
        const unsigned char *from = gf_row<const unsigned char>(a.src, y < 0 ? 0 : y);
        const unsigned char v = gf_ldg(from + (x < 0 ? 0 : x));
        tile.data[row * GF_TENSOR_PITCH(S) + at] =
            x < 0 || y < 0 ? static_cast<unsigned char>(a.border_byte) : v;
    }
}

/* Fill a tile wherever it lies. */
template <int S>
GF_DEVICE void gf_tensor_fill_any(const gf_tensor_args &a, const gf_tensor_tile &tile)
{
    enum { MARGIN = 4, BATCH = 4 };
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const unsigned outside = static_cast<unsigned>(a.border_byte) * 0x01010101u;
    /* chunks from `first` to `end` are wholly inside */
    const int left = MARGIN - tile.x, right = a.src.width - MARGIN - tile.x;
    const int end = right < 16 ? 0 : min(right / 16, tile.chunks);
    const int first = left <= 0 ? 0 : min((left + 15) / 16, end);
    const int across = end - first, n = across * tile.rows;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += BATCH * GF_TENSOR_THREADS) {
        uint4 v[BATCH];
        unsigned char *to[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int at = min(i + k * GF_TENSOR_THREADS, n - 1);
            const int row = at / across, chunk = first + at % across;
            const int y = gf_border_index(tile.y + row, a.src.height, a.border);
            to[k] = tile.data + row * GF_TENSOR_PITCH(S) + 16 * chunk;
            v[k] = make_uint4(outside, outside, outside, outside);
            if (y >= 0)
                v[k] = gf_read_16(gf_row<const unsigned char>(a.src, y) + tile.x + 16 * chunk);
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) *reinterpret_cast<uint4 *>(to[k]) = gf_tensor_weave(v[k]);
    }
    for (int column = lane; column < 16 * first; column += 32) gf_tensor_single<S>(a, tile, column);
    for (int column = 16 * end + lane; column < 16 * tile.chunks; column += 32)
        gf_tensor_single<S>(a, tile, column);
}

/* f(offset in the source from the tile's first pixel, place in the tile) for the chunks of a whole
 * tile that are this thread's: first those of GF_TENSOR_WIDTH columns, then those right of them. */
template <int S, class F>
GF_DEVICE void gf_tensor_each(const gf_kimage &src, const gf_tensor_tile &tile, F f)
{
    enum { PITCH = GF_TENSOR_PITCH(S), REST = GF_TENSOR_GROUPS(S) - 1 };
    enum { CHUNKS = GF_TENSOR_WIDTH / 16, TURN = GF_TENSOR_THREADS / CHUNKS };
    const int thread = static_cast<int>(threadIdx.x);
    const int first = thread / CHUNKS, column = thread % CHUNKS * 16;
    long long from = first * src.pitch + column;
    unsigned char *to = tile.data + first * PITCH + column;
#pragma unroll 4
    for (int row = first; row < tile.rows; row += TURN) {
        f(from, to);
        from += TURN * src.pitch, to += TURN * PITCH;
    }
    for (int i = thread; i < tile.rows * REST; i += GF_TENSOR_THREADS) {
        const int row = i / REST, more = GF_TENSOR_WIDTH + 16 * (i % REST);
        f(row * src.pitch + more, tile.data + row * PITCH + more);
    }
}

/* Fill a tile that lies inside the source at an address that is a multiple of BYTES. All its pixels
 * are under way together; each thread puts those that it has sent for in order. */
template <int S, int BYTES>
GF_DEVICE void gf_tensor_fill_inside(const gf_kimage &src, const gf_tensor_tile &tile)
{
    const unsigned char *const first = gf_row<const unsigned char>(src, tile.y) + tile.x;
    gf_tensor_each<S>(src, tile, [&](long long from, unsigned char *to) {
#pragma unroll
        for (int i = 0; i < 16; i += BYTES)
            if (BYTES == 8)
                gf_copy_async_8(to + i, first + from + i);
            else
                gf_copy_async_4(to + i, first + from + i);
    });
    gf_copy_async_wait();
    gf_tensor_each<S>(src, tile, [&](long long, unsigned char *to) {
        uint4 *const chunk = reinterpret_cast<uint4 *>(to);
        *chunk = gf_tensor_weave(*chunk);
    });
}

/* The same at any address. */
template <int S>
GF_DEVICE void gf_tensor_fill_shifted(const gf_kimage &src, const gf_tensor_tile &tile)
{
    const unsigned char *const first = gf_row<const unsigned char>(src, tile.y) + tile.x;
    gf_tensor_each<S>(src, tile, [&](long long from, unsigned char *to) {
        *reinterpret_cast<uint4 *>(to) = gf_tensor_weave(gf_read_16(first + from));
    });
}

template <int S> GF_DEVICE void gf_tensor_fill(const gf_tensor_args &a, const gf_tensor_tile &tile)
{
    const int end = tile.x + GF_TENSOR_COLUMNS(S);
    const bool inside =
        tile.x >= 4 && end + 4 <= a.src.width && tile.y >= 0 && tile.y + tile.rows <= a.src.height;
    const long long at = (reinterpret_cast<long long>(a.src.data) + tile.x) | a.src.pitch;
    if (!inside)
        gf_tensor_fill_any<S>(a, tile);
    else if ((at & 7) == 0)
        gf_tensor_fill_inside<S, 8>(a.src, tile);
    else if ((at & 3) == 0)
        gf_tensor_fill_inside<S, 4>(a.src, tile);
    else
        gf_tensor_fill_shifted<S>(a.src, tile);
}

/* ---- the products -------------------------------------------------------------------------- */

/* A lane's part of the band matrices. */
template <int S, bool SYM> struct gf_tensor_bands {
    unsigned down[GF_TENSOR_DOWN_STEPS(S, SYM)][4], along[4 * S];
};

template <int S, bool SYM>
GF_DEVICE void gf_tensor_load(const void *weights, gf_tensor_bands<S, SYM> &bands)
{
    enum { DOWN = GF_TENSOR_DOWN_STEPS(S, SYM) };
    const uint4 *from = static_cast<const uint4 *>(weights) + threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < DOWN + S; i++) {
        const uint4 v = gf_ldg(from + 32 * i);
        unsigned *const to = i < DOWN ? bands.down[i < DOWN ? i : 0] : bands.along + 4 * (i - DOWN);
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    }
}

/* What is kept between the passes: an even number of groups, so that pairs of them are known. */
#define GF_TENSOR_RING(S) ((GF_TENSOR_GROUPS(S) + 1) / 2 * 2)

/* What lies between the passes, split; as an operand of the second one. Words 0 and 1 are columns
 * 0 to 7 of sixteen, words 2 and 3 the others. */
struct gf_tensor_split {
    unsigned high[4], low[4];
};

/* Sixteen columns of the tile as the second operand of the first pass. SYM: sums and differences
 * of rows that lie the same way from the middle. Last index but one: columns 0 to 7, 8 to 15. */
template <int S, bool SYM> struct gf_tensor_pixels {
    unsigned v[GF_TENSOR_DOWN_STEPS(S, SYM)][2][2];
};

/* Bytes 0 and 2, or 1 and 3, as halves: of a pixel p 1024 + p, or p * 2^-24. */
template <bool EXACT> GF_DEVICE unsigned gf_tensor_expand(unsigned bytes, int odd)
{
    return gf_pick_bytes(bytes, EXACT ? 0x64646464u : 0u, odd ? 0x4341 : 0x4240);
}

/* 1 for the lanes that have the second sixteen rows for ldmatrix, 0 for the others. */
GF_DEVICE int gf_tensor_lower_half() { return static_cast<int>(threadIdx.x) % 32 / 16; }

/* Where a lane's rows of eight pixels are for ldmatrix, from the warp's first row on. */
template <int S, bool SYM> GF_DEVICE int gf_tensor_lane_row()
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    if (!SYM || lane < 16) return lane;
    return 16 * GF_TENSOR_GROUPS(S) - 1 - (lane - 16);
}

template <int S, bool SYM, bool EXACT>
GF_DEVICE void gf_tensor_look(const unsigned char *tile, int step, gf_tensor_pixels<S, SYM> &pixels)
{
    enum { N = GF_TENSOR_GROUPS(S), PITCH = GF_TENSOR_PITCH(S) };
#pragma unroll
    for (int k = 0; k < N; k += 2) {
        unsigned v[4];
        /* of an odd number of groups the last one is alone: below it there may be no tile */
        const int below = k + 1 < N ? 0 : gf_tensor_lower_half() * 16 * PITCH;
        gf_ldmatrix_4_trans(v, tile + (SYM ? k / 2 * step : 16 * k * PITCH - below));
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int odd = i / 2, b = i % 2;
            if (!SYM) {
                if (k + odd >= N) continue;
                const unsigned w[2] = { gf_tensor_expand<EXACT>(v[i], 0),
                                        gf_tensor_expand<EXACT>(v[i], 1) };
#pragma unroll
                for (int h = 0; h < 2; h++)
                    pixels.v[k + odd][h][b] = EXACT ? gf_sub_halves(w[h], 0x64006400u) : w[h];
                continue;
            }
            /* odd: here which half */
            const unsigned l = gf_tensor_expand<EXACT>(v[b], odd);
            const unsigned r = gf_tensor_expand<EXACT>(v[b + 2], odd);
            pixels.v[k][odd][b] = gf_add_halves(l, EXACT ? gf_sub_halves(r, 0x68006800u) : r);
            pixels.v[k + 1][odd][b] = gf_sub_halves(l, r);
        }
    }
}

/* Step i of the first pass; sum: of sixteen rows, or of even and odd sums. */
template <int S, bool SYM, bool EXACT>
GF_DEVICE void gf_tensor_down(const gf_tensor_bands<S, SYM> &bands,
                              const gf_tensor_pixels<S, SYM> &pixels, int i,
                              float (&sum)[SYM ? 2 : 1][2][4])
{
    enum { N = GF_TENSOR_GROUPS(S) };
    if (SYM) {
        const unsigned(&taps)[4] = bands.down[i];
        float(&to)[2][4] = sum[SYM ? i % 2 : 0];
#pragma unroll
        for (int h = 0; h < 2; h++)
            if (i / 2 * 2 + 1 < N)
                gf_mma_16816(to[h], taps, pixels.v[i][h][0], pixels.v[i][h][1], to[h]);
            else
                gf_mma_1688_halves(to[h], taps[0], taps[1], pixels.v[i][h][0], to[h]);
        return;
    }
    const int k = EXACT ? i % N : i / 2, low = EXACT ? i < N : i % 2 == 0;
#pragma unroll
    for (int h = 0; h < 2; h++)
        gf_mma_16816(sum[0][h], bands.down[2 * k + low], pixels.v[k][h][0], pixels.v[k][h][1],
                     sum[0][h]);
}

/* Step i of 3 * N of the second pass: the results whose first column is that of ring[first]. */
template <int S>
GF_DEVICE void gf_tensor_along(const unsigned (&along)[4 * S],
                               const gf_tensor_split (&ring)[GF_TENSOR_RING(S)], int first, int i,
                               float (&sum)[2][4])
{
    enum { N = GF_TENSOR_GROUPS(S) };
    const int s = i % N, h = 2 * s, low = i / N == 1 ? 2 * S : 0;
    const gf_tensor_split &from = ring[(first + s) % GF_TENSOR_RING(S)];
    const unsigned(&a)[4] = i < N ? from.low : from.high;
    const unsigned *const even = along + low, *const odd = along + low + S;
    if (h + 1 < S)
        gf_mma_16816(sum[0], a, even[h], even[h + 1], sum[0]);
    else if (h < S)
        gf_mma_1688_halves(sum[0], a[0], a[1], even[h], sum[0]);
    if (s == 0)
        gf_mma_1688_halves(sum[1], a[2], a[3], odd[0], sum[1]);
    else if (h < S)
        gf_mma_16816(sum[1], a, odd[h - 1], odd[h], sum[1]);
    else if (h - 1 < S)
        gf_mma_1688_halves(sum[1], a[0], a[1], odd[h - 1], sum[1]);
}

/* Two sums in two parts each. */
GF_DEVICE void gf_tensor_halve(float a, float b, unsigned &high, unsigned &low)
{
    high = gf_pack_halves(a, b);
    const float2 f = gf_unpack_halves(high);
    low = gf_pack_halves(a - f.x, b - f.y);
}

/* The same of sums in [0, 1/2): multiples of 2^-20, split into eight and eleven bits. */
GF_DEVICE void gf_tensor_digits(float a, float b, float start, unsigned &high, unsigned &low)
{
    const unsigned x = gf_float_bits(a + start), y = gf_float_bits(b + start);
    low = gf_low_bytes(x, y);
    high = gf_mul_halves(gf_pick_bytes(x, y, 0x6521), 0x5c005c00u);
}

template <bool SYM, bool EXACT>
GF_DEVICE void gf_tensor_halves(const gf_tensor_args &a, const float (&sum)[SYM ? 2 : 1][2][4],
                                gf_tensor_split &out)
{
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            v[i] = sum[0][h][i];
            if (!SYM) continue;
            const float even = sum[0][h][i % 2] + sum[0][h][i % 2 + 2];
            const float odd = sum[SYM ? 1 : 0][h][i % 2] + sum[SYM ? 1 : 0][h][i % 2 + 2];
            v[i] = i < 2 ? even + odd : even - odd;
        }
#pragma unroll
        for (int i = 0; i < 4; i += 2)
            if (EXACT)
                gf_tensor_halve(v[i], v[i + 1], out.high[2 * h + i / 2], out.low[2 * h + i / 2]);
            else
                gf_tensor_digits(v[i], v[i + 1], a.lift, out.high[2 * h + i / 2],
                                 out.low[2 * h + i / 2]);
    }
}

/* ---- results ------------------------------------------------------------------------------- */

/* What becomes of a group's results: of any pixel type and combined in any way; f32 pixels that are
 * whole pairs, and sums; u8 pixels; u8 pixels that are whole and need no clamping; u8 pixels of
 * UNSHARP without a threshold. */
enum { GF_TENSOR_ANY, GF_TENSOR_F32, GF_TENSOR_U8, GF_TENSOR_U8_WHOLE, GF_TENSOR_U8_UNSHARP };

/* A lane has columns 2t and 2t + 1 of each eight, in two rows, t being lane % 4. */
struct gf_tensor_place {
    int x, y[2]; /* x: of the warp's first pixel */
    int groups;  /* of sixteen columns, an even number */
    bool inside; /* all their pixels are in the image */
    bool whole;  /* and those that a lane stores together aligned */
};

/* Where a lane's own pixels are in the tile. A word holds two of them, in every other byte. */
struct gf_tensor_own {
    const unsigned char *row[2]; /* the word of the first eight columns of a group */
    int next;                    /* bytes from there to that of the others */
    unsigned which[2];           /* bytes of the first eight; xor 1: of the others */
};

template <int S, bool SYM>
GF_DEVICE gf_tensor_own gf_tensor_find_own(const gf_tensor_args &a, const unsigned char *tile)
{
    enum { PITCH = GF_TENSOR_PITCH(S) };
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4;
    const int column = a.lead + lane % 4 * 2, odd = column / 8 % 2;
    gf_tensor_own own;
    own.row[0] = tile + (a.rise + g) * PITCH + column / 16 * 16 + column % 8 * 2;
    own.row[1] = own.row[0] + (SYM ? 15 - 2 * g : 8) * PITCH;
    own.next = 16 * odd;
    own.which[0] = 0x7440u + static_cast<unsigned>(odd), own.which[1] = own.which[0] + 2;
    return own;
}

/* A lane's four values of eight columns as numbers in the low bits. Adding 1.5 * 2^23 rounds, half
 * to even, and leaves the rounded number there; an offset that is whole may come with it. */
GF_DEVICE void gf_tensor_round(const gf_tensor_args &a, const float (&v)[4], unsigned (&bits)[4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) bits[i] = gf_float_bits(fmaf(v[i], a.factor, a.start));
}

/* The same of (1 + amount) * own - amount * value; factor and start have been given that sense. */
GF_DEVICE void gf_tensor_sharpen(const gf_tensor_args &a, const gf_tensor_own &own, int group,
                                 int half, const float (&v)[4], unsigned (&bits)[4])
{
    const float own_factor = 1.0f + a.combine.amount;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned word = *reinterpret_cast<const unsigned *>(own.row[i / 2] + 16 * group +
                                                                  (half ? own.next : 0));
        const unsigned which = own.which[i % 2] ^ (half ? 1u : 0u);
        const float pixel = gf_bits_float(gf_pick_bytes(word, 0x4b000000u, which)); /* 2^23 + */
        const float raised = fmaf(pixel, own_factor, -8388608.0f * own_factor);
        bits[i] = gf_float_bits(fmaf(v[i], a.factor, raised) + a.start);
    }
}

/* Those numbers, of 16 bits, as four u8 pixels. */
template <bool CLAMP> GF_DEVICE unsigned gf_tensor_pack(const unsigned (&bits)[4])
{
    const unsigned a = gf_pick_bytes(bits[0], bits[1], CLAMP ? 0x5410 : 0x0040);
    const unsigned b = gf_pick_bytes(bits[2], bits[3], CLAMP ? 0x5410 : 0x0040);
    if (!CLAMP) return gf_pick_bytes(a, b, 0x5410);
    return gf_pick_bytes(gf_clamp_halves(a, 0x00ff00ffu), gf_clamp_halves(b, 0x00ff00ffu), 0x6420);
}

/* Four lanes exchange what they have of 32 columns, so that each has eight columns of both rows. */
GF_DEVICE void gf_tensor_turn(const unsigned (&eights)[4], uint2 (&row)[2])
{
    const bool odd = threadIdx.x & 1, far = threadIdx.x & 2;
    unsigned word[2][2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const unsigned a = eights[2 * i], b = eights[2 * i + 1];
        const unsigned got = gf_shfl_xor(odd ? a : b, 1), kept = odd ? b : a;
        word[i][0] = gf_pick_bytes(kept, got, odd ? 0x1054 : 0x5410);
        word[i][1] = gf_pick_bytes(kept, got, odd ? 0x3276 : 0x7632);
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const unsigned got = gf_shfl_xor(far ? word[0][r] : word[1][r], 2);
        row[r] = far ? make_uint2(got, word[1][r]) : make_uint2(word[0][r], got);
    }
}

GF_DEVICE void gf_tensor_put_bytes(unsigned char *to, uint2 v, int from, int end)
{
    for (int i = from; i < end; i++)
        to[i] = static_cast<unsigned char>((i < 4 ? v.x : v.y) >> i % 4 * 8);
}

/* Eight pixels that belong `past` bytes after an aligned place: the bytes before them are those of
 * the lane to the left, or of what the last lane had 32 columns ago. */
GF_DEVICE void gf_tensor_put_shifted(unsigned char *to, uint2 before, uint2 v, bool first,
                                     bool last)
{
    const int lane = static_cast<int>(threadIdx.x) % 32, t = lane % 4;
    const int past = static_cast<int>(reinterpret_cast<long long>(to) & 3);
    const unsigned got = gf_shfl(t == 3 ? before.y : v.y, (lane & 28) | ((t + 3) & 3));
    const unsigned shift = static_cast<unsigned>(32 - 8 * past);
    unsigned *const words = reinterpret_cast<unsigned *>(to - past);
    if (past == 0) {
        words[0] = v.x, words[1] = v.y;
        return;
    }
    if (t == 0 && first)
        gf_tensor_put_bytes(to, v, 0, 4 - past);
    else
        words[0] = gf_shift_words(got, v.x, shift);
    words[1] = gf_shift_words(v.x, v.y, shift);
    if (t == 3 && last) gf_tensor_put_bytes(to, v, 8 - past, 8);
}

/* u8 results of 32 columns, before: of those before. */
GF_DEVICE void gf_tensor_put_u8(const gf_tensor_args &a, const gf_tensor_place &place, int group,
                                uint2 (&before)[2], const uint2 (&row)[2])
{
    const int x = place.x + 16 * group + static_cast<int>(threadIdx.x) % 4 * 8;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        unsigned char *const to = gf_row<unsigned char>(a.dst, place.y[r]) + x;
        if (place.whole)
            *reinterpret_cast<uint2 *>(to) = row[r];
        else if (place.inside)
            gf_tensor_put_shifted(to, before[r], row[r], group == 0, group + 2 == place.groups);
        else if (place.y[r] < a.dst.height)
            gf_tensor_put_bytes(to, row[r], 0, min(8, a.dst.width - x));
        before[r] = row[r];
    }
}

/* A group's results as pairs of f32 pixels. */
GF_DEVICE void gf_tensor_put_f32(const gf_tensor_args &a, const gf_tensor_place &place, int group,
                                 const float (&v)[2][4])
{
    gf_kcombine sum = a.combine;
    sum.combine = GF_C_SUM;
    const int x = place.x + 16 * group + static_cast<int>(threadIdx.x) % 4 * 2;
    float to[8];
#pragma unroll
    for (int i = 0; i < 8; i++) to[i] = gf_combine(sum, v[i / 4][i % 4] * a.factor, 0.0f, 0.0f);
    gf_points(a.combine.points, to);
#pragma unroll
    for (int i = 0; i < 8; i += 2)
        *reinterpret_cast<float2 *>(gf_row<float>(a.dst, place.y[i / 2 % 2]) + x + i / 4 * 8) =
            make_float2(to[i], to[i + 1]);
}

/* Any pixel type and any way to combine. */
GF_DEVICE void gf_tensor_put_any(const gf_tensor_args &a, const gf_tensor_place &place, int group,
                                 const float (&v)[2][4])
{
    const int first = place.x + 16 * group + static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int x = first + i / 4 * 8 + i % 2, y = place.y[i / 2 % 2];
        if (x >= a.dst.width || y >= a.dst.height) continue;
        const float own = a.combine.combine == GF_C_UNSHARP ? gf_load(a.src, x, y) : 0.0f;
        gf_store(a.dst, x, y, gf_result(a.combine, v[i / 4][i % 4] * a.factor, 0.0f, own));
    }
}

/* ---- a warp --------------------------------------------------------------------------------- */

/* A warp's sixteen rows, sixteen columns at a time. The first pass is one group ahead, so that
 * several sums are under way at a time. */
template <int S, bool SYM, int KIND>
GF_DEVICE void gf_tensor_rows(const gf_tensor_args &a, const gf_tensor_place &place,
                              const unsigned char *tile, const gf_tensor_bands<S, SYM> &bands)
{
    enum { N = GF_TENSOR_GROUPS(S), RING = GF_TENSOR_RING(S), DOWN = GF_TENSOR_DOWN_STEPS(S, SYM) };
    constexpr bool EXACT = KIND == GF_TENSOR_ANY || KIND == GF_TENSOR_F32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    gf_tensor_split ring[RING];
    gf_tensor_pixels<S, SYM> pixels;
    unsigned eights[4];
    uint2 row[2], before[2] = {};
    const gf_tensor_own own = gf_tensor_find_own<S, SYM>(a, tile);
    const unsigned char *from = tile + gf_tensor_lane_row<S, SYM>() * GF_TENSOR_PITCH(S);
    const int step = (lane < 16 ? 16 : -16) * GF_TENSOR_PITCH(S);
    unsigned char *to[2] = { gf_row<unsigned char>(a.dst, place.y[0]) + place.x + lane % 4 * 8,
                             gf_row<unsigned char>(a.dst, place.y[1]) + place.x + lane % 4 * 8 };
#pragma unroll
    for (int k = 0; k < N; k++, from += 16) {
        float sum[SYM ? 2 : 1][2][4] = {};
        gf_tensor_look<S, SYM, EXACT>(from, step, pixels);
#pragma unroll
        for (int i = 0; i < DOWN; i++) gf_tensor_down<S, SYM, EXACT>(bands, pixels, i, sum);
        gf_tensor_halves<SYM, EXACT>(a, sum, ring[k]);
    }
    for (int left = place.groups; left > 0; left -= RING) {
        const int turn = place.groups - left;
#pragma unroll
        for (int u = 0; u < RING; u++) {
            if (u % 2 == 0 && u >= left) break;
            const float start = EXACT || KIND == GF_TENSOR_U8_WHOLE ? 0.0f : a.bias;
            float sum[2][4] = { { start, start, start, start }, { start, start, start, start } };
            float next[SYM ? 2 : 1][2][4] = {};
            /* after the last group there is none; any will do */
            const bool more = u % 2 == 0 || u + 1 < left;
            gf_tensor_look<S, SYM, EXACT>(from + 16 * (more ? u : u - 1), step, pixels);
#pragma unroll
            for (int i = 0; i < 3 * N; i++) {
                gf_tensor_along<S>(bands.along, ring, u, i, sum);
                if (i < DOWN) gf_tensor_down<S, SYM, EXACT>(bands, pixels, i, next);
            }
            gf_tensor_halves<SYM, EXACT>(a, next, ring[(u + N) % RING]);
            if (KIND == GF_TENSOR_ANY) gf_tensor_put_any(a, place, turn + u, sum);
            if (KIND == GF_TENSOR_F32) gf_tensor_put_f32(a, place, turn + u, sum);
#pragma unroll
            for (int h = 0; h < 2 && !EXACT; h++) {
                unsigned bits[4];
                if (KIND == GF_TENSOR_U8_UNSHARP)
                    gf_tensor_sharpen(a, own, turn + u, h, sum[h], bits);
                else
                    gf_tensor_round(a, sum[h], bits);
                eights[u % 2 * 2 + h] = gf_tensor_pack<KIND != GF_TENSOR_U8_WHOLE>(bits);
            }
            if (EXACT || u % 2 == 0) continue;
            gf_tensor_turn(eights, row);
            if (KIND != GF_TENSOR_U8_WHOLE) {
                gf_tensor_put_u8(a, place, turn + u - 1, before, row);
                continue;
            }
            *reinterpret_cast<uint2 *>(to[0] + 16 * (u - 1)) = row[0];
            *reinterpret_cast<uint2 *>(to[1] + 16 * (u - 1)) = row[1];
        }
        from += 16 * RING, to[0] += 16 * RING, to[1] += 16 * RING;
    }
}

#endif
#endif
