/* Separable windows of u8 images on tensor cores, rows and columns in one launch.
 *
 * A pass is a product with a band matrix that holds the taps, shifted by one from row to row. A
 * warp makes sixteen rows of results, sixteen columns at a time: N products of 16x16 down the
 * tile's columns, then N along the rows of what came out. The accumulator layout of an mma is the
 * operand layout of the next one but for the order of columns, which the second matrix takes into
 * account, so nothing goes through shared memory in between.
 *
 * Pixels are exact in binary16. Taps, and the sums between the passes, are split into two of them
 * (22 bits); the product of two low parts is left out. Low parts are added first, while the sum is
 * small, because the tensor cores cut off what does not fit. */
#include "kernels/gf_tile.cuh"
#include "kernels/tensor.variants.h"

#ifdef GF_HAVE_TENSOR

enum { GF_TENSOR_WARPS = GF_TENSOR_THREADS / 32 };

/* ---- the tile ------------------------------------------------------------------------------ */

/* The tile's place in the source, and how much of it is filled. */
struct gf_tensor_tile {
    unsigned char *data;
    int x, y, columns, rows; /* columns: a multiple of 16 */
};

/* Eight pixels, all of them and three to either side inside the row, at any address. */
GF_DEVICE uint2 gf_tensor_read(const unsigned char *from)
{
    const unsigned past = static_cast<unsigned>(reinterpret_cast<long long>(from) & 3);
    const unsigned *const whole = reinterpret_cast<const unsigned *>(from - past);
    const unsigned a = gf_ldg(whole), b = gf_ldg(whole + 1), c = gf_ldg(whole + 2);
    return make_uint2(gf_shift_words(a, b, 8 * past), gf_shift_words(b, c, 8 * past));
}

/* Columns 8 * group … of eight rows that lie a warp's turn apart; all loads come before the first
 * store, so that they are under way together. */
enum { GF_TENSOR_BATCH = 8 };

template <int N, bool ALIGNED>
GF_DEVICE void gf_tensor_rows_in(const gf_tensor_args &a, const gf_tensor_tile &tile, int row,
                                 int group)
{
    enum { TURN = GF_TENSOR_WARPS };
    const unsigned outside = static_cast<unsigned>(a.border_byte) * 0x01010101u;
    uint2 v[GF_TENSOR_BATCH];
    unsigned char *to = tile.data + row * GF_TENSOR_PITCH(N) + 8 * group;
#pragma unroll
    for (int i = 0; i < GF_TENSOR_BATCH; i++) {
        v[i] = make_uint2(outside, outside);
        if (row + TURN * i >= tile.rows) continue;
        const int y = gf_border_index(tile.y + row + TURN * i, a.src.height, a.border);
        if (y < 0) continue;
        const unsigned char *from = gf_row<const unsigned char>(a.src, y) + tile.x + 8 * group;
        v[i] = ALIGNED ? gf_ldg(reinterpret_cast<const uint2 *>(from)) : gf_tensor_read(from);
    }
#pragma unroll
    for (int i = 0; i < GF_TENSOR_BATCH; i++, to += TURN * GF_TENSOR_PITCH(N))
        if (row + TURN * i < tile.rows) *reinterpret_cast<uint2 *>(to) = v[i];
}

/* Column `column` of the tile one by one: for where the image ends. */
template <int N>
GF_DEVICE void gf_tensor_single(const gf_tensor_args &a, const gf_tensor_tile &tile, int column)
{
    const int x = gf_border_index(tile.x + column, a.src.width, a.border);
#pragma unroll 4
    for (int row = static_cast<int>(threadIdx.x) / 32; row < tile.rows; row += GF_TENSOR_WARPS) {
        const int y = gf_border_index(tile.y + row, a.src.height, a.border);
        const unsigned char *from = gf_row<const unsigned char>(a.src, y < 0 ? 0 : y);
        const unsigned char v = gf_ldg(from + (x < 0 ? 0 : x));
        tile.data[row * GF_TENSOR_PITCH(N) + column] =
            x < 0 || y < 0 ? static_cast<unsigned char>(a.border_byte) : v;
    }
}

/* Fill a tile wherever it lies. Its rows are a multiple of sixteen. */
template <int N, bool ALIGNED>
GF_DEVICE void gf_tensor_fill_any(const gf_tensor_args &a, const gf_tensor_tile &tile)
{
    enum { MARGIN = ALIGNED ? 0 : 4, BATCH = GF_TENSOR_BATCH * GF_TENSOR_WARPS };
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    /* groups of eight columns from `first` to `end` are wholly inside */
    const int groups = tile.columns / 8, left = MARGIN - tile.x;
    const int right = a.src.width - MARGIN - tile.x;
    const int end = right < 8 ? 0 : min(right / 8, groups);
    const int first = left <= 0 ? 0 : min((left + 7) / 8, end);
    /* lanes that have no group left in a row go on with the next rows */
    for (int group = first + lane, row = warp; first < end; group += 32) {
        for (; group >= end; group -= end - first) row += BATCH;
        if (row >= tile.rows) break;
        gf_tensor_rows_in<N, ALIGNED>(a, tile, row, group);
    }
    for (int column = lane; column < 8 * first; column += 32) gf_tensor_single<N>(a, tile, column);
    for (int column = 8 * end + lane; column < tile.columns; column += 32)
        gf_tensor_single<N>(a, tile, column);
}

/* Fill a tile that lies inside the source, aligned. A warp takes a row of 256 columns at a time;
 * the columns right of them are dealt out afterwards. */
template <int N>
GF_DEVICE void gf_tensor_fill_inside(const gf_kimage &src, const gf_tensor_tile &tile)
{
    enum { PITCH = GF_TENSOR_PITCH(N), REST = 2 * (N - 1) };
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const unsigned char *const first = gf_row<const unsigned char>(src, tile.y) + tile.x;
    const unsigned char *from = first + warp * src.pitch + 8 * lane;
    unsigned char *to = tile.data + warp * PITCH + 8 * lane;
#pragma unroll 4
    for (int row = warp; row < tile.rows; row += GF_TENSOR_WARPS) {
        gf_copy_async_8(to, from);
        from += GF_TENSOR_WARPS * src.pitch;
        to += GF_TENSOR_WARPS * PITCH;
    }
    for (int i = thread; i < tile.rows * REST; i += GF_TENSOR_THREADS) {
        const int row = i / REST, column = GF_TENSOR_WIDTH + 8 * (i % REST);
        gf_copy_async_8(tile.data + row * PITCH + column, first + row * src.pitch + column);
    }
    gf_copy_async_wait();
}

template <int N> GF_DEVICE void gf_tensor_fill(const gf_tensor_args &a, const gf_tensor_tile &tile)
{
    const bool aligned =
        (((reinterpret_cast<long long>(a.src.data) + tile.x) | a.src.pitch) & 7) == 0;
    const bool inside = tile.x >= 0 && tile.x + GF_TENSOR_COLUMNS(N) <= a.src.width &&
                        tile.y >= 0 && tile.y + tile.rows <= a.src.height;
    if (aligned && inside)
        gf_tensor_fill_inside<N>(a.src, tile);
    else if (aligned)
        gf_tensor_fill_any<N, true>(a, tile);
    else
        gf_tensor_fill_any<N, false>(a, tile);
}

/* ---- the products -------------------------------------------------------------------------- */

/* A lane's part of the band matrices: [0] the high parts of the taps, [1] the low ones. */
template <int N> struct gf_tensor_bands {
    unsigned down[2][N][4], along[2][N][4];
};

template <int N> GF_DEVICE void gf_tensor_load(const void *weights, gf_tensor_bands<N> &bands)
{
    const uint4 *from = static_cast<const uint4 *>(weights) + threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < 4 * N; i++) {
        const uint4 v = gf_ldg(from + 32 * i);
        unsigned(&to)[4] = i < 2 * N ? bands.down[i % 2][i / 2] : bands.along[i % 2][i / 2 - N];
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    }
}

/* Bytes in the order of `which` as halves: of a pixel p exactly p, or p * 2^-24, which saves an
 * instruction, where the sums' low bits do not count. */
template <bool EXACT> GF_DEVICE unsigned gf_tensor_expand(unsigned bytes, unsigned which)
{
    if (!EXACT) return gf_pick_bytes(bytes, 0u, which);
    return gf_sub_halves(gf_pick_bytes(bytes, 0x64646464u, which), 0x64006400u); /* 1024 + p */
}

/* What lies between the passes, split; as an operand of the second one. */
struct gf_tensor_split {
    unsigned high[4], low[4];
};

GF_DEVICE void gf_tensor_halve(const float *v, unsigned &high, unsigned &low)
{
    high = gf_pack_halves(v[0], v[1]);
    const float2 f = gf_unpack_halves(high);
    low = gf_pack_halves(v[0] - f.x, v[1] - f.y);
}

/* Sixteen columns of the tile from the lane's place in it on, as the second operand. Even columns
 * and odd ones are products of their own. */
template <int N> struct gf_tensor_pixels {
    unsigned even[N][2], odd[N][2];
};

template <int N, bool EXACT>
GF_DEVICE void gf_tensor_look(const unsigned char *tile, gf_tensor_pixels<N> &pixels)
{
#pragma unroll
    for (int k = 0; k < N; k++) {
        unsigned v[2];
        gf_ldmatrix_2_trans(v[0], v[1], tile + 16 * k * GF_TENSOR_PITCH(N));
#pragma unroll
        for (int i = 0; i < 2; i++) {
            pixels.even[k][i] = gf_tensor_expand<EXACT>(v[i], 0x4240);
            pixels.odd[k][i] = gf_tensor_expand<EXACT>(v[i], 0x4341);
        }
    }
}

/* Step i of 2 * N of the first pass. The order of steps: all low parts first, or those of the same
 * pixels together, which needs fewer registers. */
template <int N, bool EXACT>
GF_DEVICE void gf_tensor_down(const gf_tensor_bands<N> &bands, const gf_tensor_pixels<N> &pixels,
                              int i, float (&sum)[2][4])
{
    const int k = EXACT ? i % N : i / 2, low = EXACT ? i < N : i % 2 == 0;
    const unsigned(&taps)[4] = bands.down[low][k];
    gf_mma_16816(sum[0], taps, pixels.even[k][0], pixels.even[k][1], sum[0]);
    gf_mma_16816(sum[1], taps, pixels.odd[k][0], pixels.odd[k][1], sum[1]);
}

/* Step i of 3 * N of the second pass: the results whose first column is that of ring[first]. */
template <int N>
GF_DEVICE void gf_tensor_along(const gf_tensor_bands<N> &bands, const gf_tensor_split (&ring)[N],
                               int first, int i, float (&sum)[2][4])
{
    const int k = i % N;
    const gf_tensor_split &from = ring[(first + k) % N];
    const unsigned(&a)[4] = i < N ? from.low : from.high;
    const unsigned(&taps)[4] = bands.along[i >= N && i < 2 * N][k];
    gf_mma_16816(sum[0], a, taps[0], taps[1], sum[0]);
    gf_mma_16816(sum[1], a, taps[2], taps[3], sum[1]);
}

GF_DEVICE void gf_tensor_halves(const float (&sum)[2][4], gf_tensor_split &out)
{
#pragma unroll
    for (int i = 0; i < 4; i++) gf_tensor_halve(&sum[i / 2][i % 2 * 2], out.high[i], out.low[i]);
}

/* ---- results ------------------------------------------------------------------------------- */

/* A lane makes columns 4t … 4t+3 of rows g and g+8 of each sixteen, t being lane % 4 and g lane
 * / 4. A warp stores u8 pixels of 32 columns as aligned pairs of words where it can; else those of
 * 16 as words, shifted to where they are aligned; byte by byte where the image ends. */
struct gf_tensor_place {
    int x, y;    /* of the lane's first pixel */
    int groups;  /* of sixteen columns */
    bool inside; /* all their pixels are in the image */
    bool whole;  /* and four of them aligned */
};

/* Four u8 pixels, of values that fit 16 bits. Adding 1.5 * 2^23 rounds, half to even, and leaves
 * the rounded number in the low bits; an offset that is whole may come with it. */
GF_DEVICE unsigned gf_tensor_pack(const float (&v)[4], float factor, float offset)
{
    unsigned bits[4];
#pragma unroll
    for (int i = 0; i < 4; i++) bits[i] = gf_float_bits(fmaf(v[i], factor, offset));
    return gf_pick_bytes(gf_clamp_halves(gf_pick_bytes(bits[0], bits[1], 0x5410), 0x00ff00ffu),
                         gf_clamp_halves(gf_pick_bytes(bits[2], bits[3], 0x5410), 0x00ff00ffu),
                         0x6420);
}

/* Of two words for columns sixteen apart, even lanes store the first of two neighbours, odd lanes
 * the second ones: 32 bytes a row at once. */
GF_DEVICE void gf_tensor_put_pair(unsigned char *to, unsigned first, unsigned second)
{
    const bool odd = threadIdx.x % 2 != 0;
    const unsigned got = gf_shfl_xor(odd ? first : second, 1);
    *reinterpret_cast<uint2 *>(to + (odd ? 12 : 0)) =
        odd ? make_uint2(got, second) : make_uint2(first, got);
}

GF_DEVICE void gf_tensor_put_bytes(unsigned char *to, unsigned bytes, int from, int end)
{
    for (int i = from; i < end; i++) to[i] = static_cast<unsigned char>(bytes >> 8 * i);
}

/* A word that belongs `past` bytes after an aligned place: the bytes before it are those of the
 * lane to the left, or of the word that the last lane had sixteen columns ago. */
GF_DEVICE void gf_tensor_put_shifted(const gf_tensor_place &place, unsigned char *to,
                                     unsigned before, unsigned bytes, int column)
{
    const int lane = static_cast<int>(threadIdx.x) % 32, t = lane % 4;
    const int past = static_cast<int>(reinterpret_cast<long long>(to) & 3);
    const unsigned got = gf_shfl(t == 3 ? before : bytes, (lane & 28) | ((t + 3) & 3));
    const unsigned shift = static_cast<unsigned>(32 - 8 * past);
    if (past == 0)
        *reinterpret_cast<unsigned *>(to) = bytes;
    else if (t == 0 && column == 0)
        gf_tensor_put_bytes(to, bytes, 0, 4 - past);
    else
        *reinterpret_cast<unsigned *>(to - past) = gf_shift_words(got, bytes, shift);
    if (t == 3 && column == place.groups - 1) gf_tensor_put_bytes(to, bytes, 4 - past, 4);
}

/* Results of sixteen columns, `before` being what this made of the columns before; anywhere. */
GF_DEVICE void gf_tensor_put_u8(const gf_tensor_args &a, const gf_tensor_place &place, int column,
                                unsigned (&before)[2], const unsigned (&bytes)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        unsigned char *const to =
            gf_row<unsigned char>(a.dst, place.y + 8 * r) + place.x + 16 * column;
        if (place.inside)
            gf_tensor_put_shifted(place, to, before[r], bytes[r], column);
        else if (place.y + 8 * r < a.dst.height)
            gf_tensor_put_bytes(to, bytes[r], 0, min(4, a.dst.width - place.x - 16 * column));
        before[r] = bytes[r];
    }
}

/* Any pixel type and any way to combine. own: the lane's first pixel in the tile. */
template <int N>
GF_DEVICE void gf_tensor_put(const gf_tensor_args &a, const gf_tensor_place &place, int column,
                             const unsigned char *own, const float (&v)[2][4])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        const int x = place.x + 16 * column, y = place.y + 8 * r;
        const unsigned pixels =
            a.combine.combine == GF_C_UNSHARP
                ? *reinterpret_cast<const unsigned *>(own + 8 * r * GF_TENSOR_PITCH(N))
                : 0u;
        float to[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            to[i] = gf_combine(a.combine, v[r][i] * a.factor, 0.0f,
                               static_cast<float>(pixels >> 8 * i & 255u));
        gf_points(a.combine.points, to);
        if (place.whole) {
            gf_store4(a.dst, x, y, make_float4(to[0], to[1], to[2], to[3]));
            continue;
        }
        if (y >= a.dst.height) return;
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (x + i < a.dst.width) gf_store(a.dst, x + i, y, to[i]);
    }
}

/* ---- the kernels --------------------------------------------------------------------------- */

/* What becomes of a group's results. */
enum { GF_TENSOR_EXACT, GF_TENSOR_U8, GF_TENSOR_U8_PAIRS };

/* A warp's sixteen rows, sixteen columns at a time. The first pass is one group ahead, so that four
 * sums are under way at a time. */
template <int N, int KIND>
GF_DEVICE void gf_tensor_rows(const gf_tensor_args &a, const gf_tensor_place &place,
                              const unsigned char *tile)
{
    enum { TURN = N % 2 ? 2 * N : N }; /* even, so that pairs of groups are known */
    constexpr bool EXACT = KIND == GF_TENSOR_EXACT;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    gf_tensor_bands<N> bands;
    gf_tensor_load(a.weights, bands);
    gf_tensor_split ring[N];
    gf_tensor_pixels<N> pixels;
    unsigned before[2] = {};
    const unsigned char *from = tile + lane % 16 * GF_TENSOR_PITCH(N);
    const unsigned char *own =
        tile + (lane / 4 + a.ay) * GF_TENSOR_PITCH(N) + a.lead + lane % 4 * 4;
    unsigned char *to = gf_row<unsigned char>(a.dst, place.y) + place.x;
    const long long below = 8 * a.dst.pitch;
#pragma unroll
    for (int k = 0; k < N; k++, from += 16) {
        float sum[2][4] = {};
        gf_tensor_look<N, EXACT>(from, pixels);
#pragma unroll
        for (int i = 0; i < 2 * N; i++) gf_tensor_down<N, EXACT>(bands, pixels, i, sum);
        gf_tensor_halves(sum, ring[k]);
    }
    for (int turn = 0; turn < place.groups; turn += TURN) {
#pragma unroll
        for (int u = 0; u < TURN; u++) {
            if (turn + u >= place.groups) break;
            float next[2][4] = {}, sum[2][4] = {};
            /* after the last group there is none; any will do */
            gf_tensor_look<N, EXACT>(from + 16 * (turn + u + 1 < place.groups ? u : u - 1), pixels);
#pragma unroll
            for (int i = 0; i < 3 * N; i++) {
                gf_tensor_along(bands, ring, u % N, i, sum);
                if (i < 2 * N) gf_tensor_down<N, EXACT>(bands, pixels, i, next);
            }
            gf_tensor_halves(next, ring[u % N]);
            const float v[2][4] = { { sum[0][0], sum[1][0], sum[0][1], sum[1][1] },
                                    { sum[0][2], sum[1][2], sum[0][3], sum[1][3] } };
            if (EXACT) {
                gf_tensor_put<N>(a, place, turn + u, own + 16 * u, v);
                continue;
            }
            const unsigned bytes[2] = { gf_tensor_pack(v[0], a.factor, a.start),
                                        gf_tensor_pack(v[1], a.factor, a.start) };
            if (KIND == GF_TENSOR_U8) {
                gf_tensor_put_u8(a, place, turn + u, before, bytes);
                continue;
            }
            if (u % 2) {
                gf_tensor_put_pair(to + 16 * (u - 1), before[0], bytes[0]);
                gf_tensor_put_pair(to + 16 * (u - 1) + below, before[1], bytes[1]);
            }
            before[0] = bytes[0], before[1] = bytes[1];
        }
        from += 16 * TURN, own += 16 * TURN, to += 16 * TURN;
    }
}

template <int N, bool EXACT>
GF_DEVICE void gf_tensor_block(const gf_tensor_args &a, unsigned char *shared)
{
    const int block = static_cast<int>(blockIdx.x), warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int x = block % a.tiles_x * GF_TENSOR_WIDTH, y = block / a.tiles_x * GF_TENSOR_HEIGHT;
    const int most_columns = GF_TENSOR_WIDTH, most_rows = GF_TENSOR_HEIGHT;
    const int columns = min(most_columns, a.dst.width - x), groups = (columns + 15) / 16;
    const int rows = min(most_rows, a.dst.height - y);
    gf_tensor_tile tile;
    tile.data = shared;
    tile.x = x - a.lead, tile.y = y - a.ay;
    tile.columns = 16 * (groups + N - 1);
    tile.rows = (rows + 15) / 16 * 16 + 16 * (N - 1);
    gf_tensor_fill<N>(a, tile);
    __syncthreads();
    if (16 * warp >= rows) return;
    const long long at = reinterpret_cast<long long>(a.dst.data) | a.dst.pitch;
    gf_tensor_place place;
    place.x = x + lane % 4 * 4;
    place.y = y + 16 * warp + lane / 4;
    place.groups = groups;
    place.inside = columns % 16 == 0 && 16 * warp + 16 <= rows;
    place.whole = place.inside && gf_aligned4(a.dst);
    const bool pairs = place.inside && groups % 2 == 0 && (at & 7) == 0;
    const unsigned char *const first = shared + 16 * warp * GF_TENSOR_PITCH(N);
    if (EXACT)
        gf_tensor_rows<N, GF_TENSOR_EXACT>(a, place, first);
    else if (pairs)
        gf_tensor_rows<N, GF_TENSOR_U8_PAIRS>(a, place, first);
    else
        gf_tensor_rows<N, GF_TENSOR_U8>(a, place, first);
}

#define GF_TENSOR_BODY(N, EXACT)                                                                   \
    GF_SHARED(unsigned char, tile);                                                                \
    gf_tensor_block<N, EXACT>(a, tile);

#else /* older chips have no such instructions; they are not given these kernels */
#define GF_TENSOR_BODY(N, EXACT)
#endif

/* gf_tensor_u8_N makes u8 pixels of sums whose result fits 16 bits. */
#define GF_TENSOR_KERNELS(N, BLOCKS)                                                               \
    GF_KERNEL_BOUNDS(GF_TENSOR_THREADS, BLOCKS, gf_tensor_u8_##N, gf_tensor_args, a){              \
        GF_TENSOR_BODY(N, false)                                                                   \
    } GF_KERNEL_BOUNDS(GF_TENSOR_THREADS, BLOCKS, gf_tensor_##N, gf_tensor_args, a)                \
    {                                                                                              \
        GF_TENSOR_BODY(N, true)                                                                    \
    }
GF_TENSOR_VARIANTS(GF_TENSOR_KERNELS)
