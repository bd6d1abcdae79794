/* Windows of u8 images that are not separable, on tensor cores.
 *
 * A cell is 8 x 2 results. A row of the first operand is a cell's pixels, all that its results
 * need; the second operand has a column for each result of a cell, the taps where they fall among
 * those pixels. So one set of taps, the same everywhere, makes whole images, and bytes go from the
 * tile to the tensor cores as they are.
 *
 * Taps are whole numbers of up to 24 bits times a factor, cut into slices of 8 bits. Sums of each
 * slice are exact; they meet in float. A lane has pixels of two cells, one in either half of the
 * block. */
#include "kernels/band.variants.h"
#include "kernels/gf_tile.cuh"

#ifdef GF_HAVE_TENSOR

enum { GF_BAND_WARPS = GF_BAND_THREADS / 32 };

/* ---- the tile ------------------------------------------------------------------------------ */

/* What a block needs of the source: `words` words of four pixels in every row, those from `first`
 * to `end` inside the source. The right half begins GF_BAND_HALF columns after the left one; words
 * that are neighbours in a half lie eight bytes apart. */
struct gf_band_tile {
    unsigned char *data;
    int x, y, rows, words, first, end;
};

enum { GF_BAND_WORD = 4, GF_BAND_HALF_WORDS = GF_BAND_HALF / GF_BAND_WORD };
#define GF_BAND_WORDS(W) (GF_BAND_COLUMNS(W) / GF_BAND_WORD) /* of a half */

/* Where word `word` of a row belongs in the left half and in the right one. */
GF_DEVICE unsigned char *gf_band_left(unsigned char *row, int word) { return row + 8 * word; }
GF_DEVICE unsigned char *gf_band_right(unsigned char *row, int word)
{
    return row + 8 * (word - GF_BAND_HALF_WORDS) + GF_BAND_WORD;
}

/* Four pixels, all of them and three to either side inside the row, at any address. */
GF_DEVICE unsigned gf_band_read(const unsigned char *from)
{
    const unsigned past = static_cast<unsigned>(reinterpret_cast<long long>(from) & 3);
    const unsigned *const whole = reinterpret_cast<const unsigned *>(from - past);
    if (past == 0) return gf_ldg(whole);
    return gf_shift_words(gf_ldg(whole), gf_ldg(whole + 1), 8 * past);
}

/* The words inside the source, rows folded where they lie outside. A lane has the same words of
 * every row. */
template <int W, bool ALIGNED>
GF_DEVICE void gf_band_fill_words(const gf_band_args &a, const gf_band_tile &tile)
{
    enum { WORDS = GF_BAND_WORDS(W), TURNS = (2 * WORDS + 31) / 32 };
    const unsigned outside = static_cast<unsigned>(a.border_byte) * 0x01010101u;
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    unsigned char *to[TURNS];
    int from[TURNS];
    bool mine[TURNS];
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        const int i = lane + 32 * k;
        const bool right = i >= WORDS;
        const int word = right ? i - WORDS + GF_BAND_HALF_WORDS : i;
        mine[k] = i < 2 * WORDS && word >= tile.first && word < tile.end;
        to[k] = right ? gf_band_right(tile.data, word) : gf_band_left(tile.data, word);
        from[k] = tile.x + GF_BAND_WORD * word;
    }
#pragma unroll 2
    for (int row = warp; row < tile.rows; row += GF_BAND_WARPS) {
        const int y = gf_border_index(tile.y + row, a.src.height, a.border);
        const unsigned char *const pixels = gf_row<const unsigned char>(a.src, y < 0 ? 0 : y);
#pragma unroll
        for (int k = 0; k < TURNS; k++) {
            unsigned char *const at = to[k] + row * GF_BAND_PITCH(W);
            if (!mine[k]) continue;
            if (y < 0)
                *reinterpret_cast<unsigned *>(at) = outside;
            else if (ALIGNED)
                gf_copy_async_4(at, pixels + from[k]);
            else
                *reinterpret_cast<unsigned *>(at) = gf_band_read(pixels + from[k]);
        }
    }
}

/* The words beside them, pixel by pixel. */
template <int W>
GF_DEVICE void gf_band_fill_outside(const gf_band_args &a, const gf_band_tile &tile)
{
    const int beside = tile.first + tile.words - tile.end, n = tile.rows * beside;
#pragma unroll 2
    for (int i = static_cast<int>(threadIdx.x); i < n; i += GF_BAND_THREADS) {
        const int row = i / beside, k = i - row * beside;
        const int word = k < tile.first ? k : k - tile.first + tile.end;
        const int y = gf_border_index(tile.y + row, a.src.height, a.border);
        const unsigned char *const from = gf_row<const unsigned char>(a.src, y < 0 ? 0 : y);
        unsigned char *const to_row = tile.data + row * GF_BAND_PITCH(W);
        unsigned v = 0;
#pragma unroll
        for (int b = 0; b < GF_BAND_WORD; b++) {
            const int x = gf_border_index(tile.x + GF_BAND_WORD * word + b, a.src.width, a.border);
            const unsigned pixel = gf_ldg(from + (x < 0 ? 0 : x));
            v |= (x < 0 || y < 0 ? static_cast<unsigned>(a.border_byte) : pixel) << 8 * b;
        }
        if (word < GF_BAND_WORDS(W)) *reinterpret_cast<unsigned *>(gf_band_left(to_row, word)) = v;
        if (word >= GF_BAND_HALF_WORDS)
            *reinterpret_cast<unsigned *>(gf_band_right(to_row, word)) = v;
    }
}

/* A tile that lies inside the source, its words aligned. A warp takes a row of as many columns as
 * there are results; those beside either half are dealt out afterwards. */
template <int W> GF_DEVICE void gf_band_fill_inside(const gf_kimage &src, const gf_band_tile &tile)
{
    enum { WORD = GF_BAND_WORD, PITCH = GF_BAND_PITCH(W), REST = 2 * (W - 1) };
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    const unsigned char *const first = gf_row<const unsigned char>(src, tile.y) + tile.x;
    const unsigned char *from = first + warp * src.pitch + WORD * lane;
    unsigned char *to = tile.data + warp * PITCH + 2 * WORD * lane;
#pragma unroll 4
    for (int row = warp; row < tile.rows; row += GF_BAND_WARPS) {
        gf_copy_async_4(to, from);
        gf_copy_async_4(to + WORD, from + GF_BAND_HALF);
        from += GF_BAND_WARPS * src.pitch;
        to += GF_BAND_WARPS * PITCH;
    }
    for (int i = thread; i < tile.rows * REST; i += GF_BAND_THREADS) {
        const int row = i / REST, word = GF_BAND_HALF_WORDS + i % REST;
        unsigned char *const to_row = tile.data + row * PITCH;
        const unsigned char *const at = first + row * src.pitch + WORD * word;
        gf_copy_async_4(gf_band_left(to_row, word), at);
        gf_copy_async_4(gf_band_left(to_row, word) + WORD, at + GF_BAND_HALF);
    }
}

/* Begin to fill a tile; what is copied has arrived after gf_copy_async_wait(). */
template <int W> GF_DEVICE void gf_band_fill(const gf_band_args &a, gf_band_tile &tile)
{
    const long long at = (reinterpret_cast<long long>(a.src.data) + tile.x) | a.src.pitch;
    const bool aligned = (at & 3) == 0,
               rows_inside = tile.y >= 0 && tile.y + tile.rows <= a.src.height;
    const int margin = aligned ? 0 : 3; /* beside words that are read in two */
    const int right = a.src.width - margin - tile.x;
    tile.end = right < 0 ? 0 : min(right / GF_BAND_WORD, tile.words);
    tile.first = min(max(margin - tile.x + GF_BAND_WORD - 1, 0) / GF_BAND_WORD, tile.end);
    if (aligned && rows_inside && tile.first == 0 &&
        tile.end == GF_BAND_HALF_WORDS + GF_BAND_WORDS(W)) {
        gf_band_fill_inside<W>(a.src, tile);
    } else {
        if (aligned)
            gf_band_fill_words<W, true>(a, tile);
        else
            gf_band_fill_words<W, false>(a, tile);
        gf_band_fill_outside<W>(a, tile);
    }
}

/* ---- the products -------------------------------------------------------------------------- */

/* A product's taps: of each slice two words for the first two of a lane's four results, two for
 * the others. */
template <int S> struct gf_band_taps {
    uint4 slice[S];
};

template <int S> GF_DEVICE void gf_band_load(const uint4 *from, int product, gf_band_taps<S> &taps)
{
#pragma unroll
    for (int s = 0; s < S; s++) taps.slice[s] = gf_ldg(from + 32 * (S * product + s));
}

/* Sums of sixteen cells: of each slice two results of the lane's left cell and two of its right
 * one, from one half of the taps' columns and then from the other. */
template <int S> struct gf_band_sums {
    int v[S][2][4];
};

/* Add the products of sixteen bytes of the tile, a pair of words of either cell. */
template <int S>
GF_DEVICE void gf_band_add(const unsigned char *from, const gf_band_taps<S> &taps,
                           gf_band_sums<S> &sums)
{
    const uint4 v = *reinterpret_cast<const uint4 *>(from);
    const unsigned a[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
    for (int s = 0; s < S; s++) {
        gf_mma_16832_u8(sums.v[s][0], a, taps.slice[s].x, taps.slice[s].y, sums.v[s][0]);
        gf_mma_16832_u8(sums.v[s][1], a, taps.slice[s].z, taps.slice[s].w, sums.v[s][1]);
    }
}

/* ---- results ------------------------------------------------------------------------------- */

/* Where a lane's results go: four pixels from x on in row y, and four in the right half. */
struct gf_band_place {
    int x, y;
    bool whole; /* groups of four are aligned */
};

template <int S> GF_DEVICE float gf_band_value(const gf_band_sums<S> &sums, int half, int i)
{
    if (S == 1) return static_cast<float>(sums.v[0][half][i]);
    const float upper = static_cast<float>(sums.v[0][half][i] * 256 + sums.v[1 % S][half][i]);
    return S == 2 ? upper : fmaf(upper, 256.0f, static_cast<float>(sums.v[S - 1][half][i]));
}

/* The four results of one of a lane's cells, times `factor` and plus `offset`. */
template <int S>
GF_DEVICE float4 gf_band_cell(const gf_band_sums<S> &sums, int cell, float factor, float offset)
{
    float v[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        v[i] = fmaf(gf_band_value(sums, i / 2, 2 * cell + i % 2), factor, offset);
    return make_float4(v[0], v[1], v[2], v[3]);
}

/* Any pixel type, anywhere. */
template <int S>
GF_DEVICE void gf_band_put_any(const gf_band_args &a, const gf_band_place &place,
                               const gf_band_sums<S> &sums)
{
    if (place.y >= a.dst.height) return;
#pragma unroll
    for (int cell = 0; cell < 2; cell++) {
        const float4 sum = gf_band_cell(sums, cell, a.factor, 0.0f);
        float v[4] = { sum.x, sum.y, sum.z, sum.w };
#pragma unroll
        for (int i = 0; i < 4; i++) v[i] = gf_combine(a.combine, v[i], 0.0f, 0.0f);
        gf_points(a.combine.points, v);
        gf_store_up_to4(a.dst, place.whole, place.x + GF_BAND_HALF * cell, place.y,
                        make_float4(v[0], v[1], v[2], v[3]));
    }
}

/* u8 pixels, aligned, no row or column outside. */
struct gf_band_words {
    unsigned char *to;
    float factor, offset;
};

template <int S>
GF_DEVICE void gf_band_put_word(const gf_band_words &words, const gf_band_sums<S> &sums, int cell)
{
    const float4 v = gf_band_cell(sums, cell, words.factor, words.offset);
    *reinterpret_cast<unsigned *>(words.to + GF_BAND_HALF * cell) = gf_pack_u8(v.x, v.y, v.z, v.w);
}

/* ---- taps in registers --------------------------------------------------------------------- */

/* Bytes from the pairs of words of a product to those of the next one, and to the next group. */
#define GF_BAND_NEXT(W) ((W) % 2 ? 16 : 32)
#define GF_BAND_GROUP_BYTES(W) (GF_BAND_GROUP(W) * GF_BAND_PITCH(W))

/* Sixteen cells are eight times eight columns of either half and two rows. A warp has several rows
 * of two such batches. */
enum {
    GF_BAND_STEP = 8 * GF_BAND_ACROSS,
    GF_BAND_WARP_ROWS = GF_BAND_HEIGHT / GF_BAND_WARPS,
    GF_BAND_BATCHES = 2 * GF_BAND_WARP_ROWS / GF_BAND_DOWN
};

template <int S, int N, int W>
GF_DEVICE void gf_band_product(const unsigned char *from, const gf_band_taps<S> (&taps)[N], int k,
                               gf_band_sums<S> &sums)
{
    enum { PRODUCTS = GF_BAND_PRODUCTS(W) };
    gf_band_add(from + k / PRODUCTS * GF_BAND_GROUP_BYTES(W) + k % PRODUCTS * GF_BAND_NEXT(W),
                taps[k], sums);
}

/* The sums of a batch, while the results of another one are stored: the tensor cores need not wait
 * for that. */
template <int S, int N, int W>
GF_DEVICE void gf_band_overlap(const unsigned char *from, const gf_band_taps<S> (&taps)[N],
                               gf_band_sums<S> &sums, const gf_band_words &words,
                               const gf_band_sums<S> &done)
{
    sums = {};
#pragma unroll
    for (int k = 0; k < N; k++) {
        gf_band_product<S, N, W>(from, taps, k, sums);
        if (k < 2) gf_band_put_word(words, done, k);
    }
}

template <int S, int N, int W>
GF_DEVICE void gf_band_held_words(const unsigned char *from, const gf_band_taps<S> (&taps)[N],
                                  gf_band_words words, long long pitch)
{
    gf_band_sums<S> left = {}, right;
#pragma unroll
    for (int k = 0; k < N; k++) gf_band_product<S, N, W>(from, taps, k, left);
#pragma unroll 1
    for (int i = 1; i < GF_BAND_BATCHES / 2; i++) {
        gf_band_overlap<S, N, W>(from + 2 * GF_BAND_STEP, taps, right, words, left);
        words.to += GF_BAND_STEP;
        from += GF_BAND_DOWN * GF_BAND_PITCH(W);
        gf_band_overlap<S, N, W>(from, taps, left, words, right);
        words.to += GF_BAND_DOWN * pitch - GF_BAND_STEP;
    }
    gf_band_overlap<S, N, W>(from + 2 * GF_BAND_STEP, taps, right, words, left);
    words.to += GF_BAND_STEP;
    gf_band_put_word(words, right, 0);
    gf_band_put_word(words, right, 1);
}

template <int S, int N, int W>
GF_DEVICE void gf_band_held_any(const gf_band_args &a, const unsigned char *from,
                                const gf_band_taps<S> (&taps)[N], gf_band_place place)
{
#pragma unroll 1
    for (int i = 0; i < GF_BAND_BATCHES; i++) {
        gf_band_sums<S> sums = {};
#pragma unroll
        for (int k = 0; k < N; k++) gf_band_product<S, N, W>(from, taps, k, sums);
        gf_band_put_any(a, place, sums);
        const int right = i % 2 ? -GF_BAND_STEP : GF_BAND_STEP; /* and back, on the next rows */
        const int down = i % 2 ? GF_BAND_DOWN : 0;
        from += 2 * right + down * GF_BAND_PITCH(W);
        place.x += right;
        place.y += down;
    }
}

/* ---- taps from memory ---------------------------------------------------------------------- */

/* Batches at a time: two rows of two. */
enum { GF_BAND_MANY = 4 };

template <int W> GF_DEVICE int gf_band_batch(int c) /* bytes from the first one to another */
{
    return c % 2 * 2 * GF_BAND_STEP + c / 2 * GF_BAND_DOWN * GF_BAND_PITCH(W);
}

/* Products `first` to `end` of a group. */
template <int S, int W>
GF_DEVICE void gf_band_many(const unsigned char *from, const uint4 *weights, int first, int end,
                            gf_band_sums<S> (&sums)[GF_BAND_MANY])
{
#pragma unroll
    for (int p = first; p < end; p++) {
        gf_band_taps<S> taps;
        gf_band_load(weights, p, taps);
#pragma unroll
        for (int c = 0; c < GF_BAND_MANY; c++)
            gf_band_add(from + p * GF_BAND_NEXT(W) + gf_band_batch<W>(c), taps, sums[c]);
    }
}

/* The last products are made batch by batch, so that the tensor cores work on one while the results
 * of another one are stored. */
template <int S, int W, bool WORDS>
GF_DEVICE void gf_band_read_taps(const gf_band_args &a, const unsigned char *from,
                                 const uint4 *weights, gf_band_place place, gf_band_words words)
{
    enum { PRODUCTS = GF_BAND_PRODUCTS(W), LATE = PRODUCTS < 2 ? PRODUCTS : 2 };
#pragma unroll 1
    for (int i = 0; i < GF_BAND_BATCHES; i += GF_BAND_MANY) {
        gf_band_sums<S> sums[GF_BAND_MANY] = {};
        const uint4 *next = weights;
        const unsigned char *at = from;
#pragma unroll 1
        for (int k = 1; k < a.groups; k++) {
            gf_band_many<S, W>(at, next, 0, PRODUCTS, sums);
            next += 32 * S * PRODUCTS;
            at += GF_BAND_GROUP_BYTES(W);
        }
        gf_band_many<S, W>(at, next, 0, PRODUCTS - LATE, sums);
        gf_band_taps<S> taps[LATE];
#pragma unroll
        for (int p = 0; p < LATE; p++) gf_band_load(next, PRODUCTS - LATE + p, taps[p]);
        at += (PRODUCTS - LATE) * GF_BAND_NEXT(W);
#pragma unroll
        for (int c = 0; c < GF_BAND_MANY; c++) {
#pragma unroll
            for (int p = 0; p < LATE; p++)
                gf_band_add(at + p * GF_BAND_NEXT(W) + gf_band_batch<W>(c), taps[p], sums[c]);
            if (WORDS) {
                gf_band_put_word(words, sums[c], 0);
                gf_band_put_word(words, sums[c], 1);
            } else {
                gf_band_put_any(a, place, sums[c]);
            }
            const int right = c % 2 ? -GF_BAND_STEP : GF_BAND_STEP;
            const int down = c % 2 ? GF_BAND_DOWN : 0;
            place.x += right;
            place.y += down;
            words.to += right + down * a.dst.pitch;
        }
        from += 2 * GF_BAND_DOWN * GF_BAND_PITCH(W);
    }
}

/* ---- the kernels --------------------------------------------------------------------------- */

/* A warp's rows of a tile whose results begin at (x, y). */
template <int S, int G, int W, int N>
GF_DEVICE void gf_band_rows(const gf_band_args &a, const unsigned char *tile, int x, int y,
                            const uint4 *weights, const gf_band_taps<S> (&taps)[N])
{
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int g = lane / 4, t = lane % 4;
    const int row = W % 2 ? t : t / 2, pair = W % 2 ? 0 : t % 2; /* of the first product */
    const unsigned char *const from =
        tile + (GF_BAND_WARP_ROWS * warp + row) * GF_BAND_PITCH(W) + 16 * (g + pair);
    gf_band_place place;
    place.x = x + GF_BAND_ACROSS * g + t % 2 * 4;
    place.y = y + GF_BAND_WARP_ROWS * warp + t / 2;
    place.whole = gf_aligned4(a.dst);
    gf_band_words words;
    words.to = gf_row<unsigned char>(a.dst, place.y) + place.x;
    words.factor = a.factor * a.combine.scale;
    words.offset = a.combine.offset;
    const bool fast = place.whole && a.dst.pixel == GF_P_U8 && a.combine.points.n == 0 &&
                      x + GF_BAND_WIDTH <= a.dst.width && y + GF_BAND_HEIGHT <= a.dst.height;
    if (y + GF_BAND_WARP_ROWS * warp >= a.dst.height) return;
    if (G && fast)
        gf_band_held_words<S, N, W>(from, taps, words, a.dst.pitch);
    else if (G)
        gf_band_held_any<S, N, W>(a, from, taps, place);
    else if (fast)
        gf_band_read_taps<S, W, true>(a, from, weights, place, words);
    else
        gf_band_read_taps<S, W, false>(a, from, weights, place, words);
}

template <int S, int G, int W>
GF_DEVICE void gf_band_block(const gf_band_args &a, unsigned char *shared)
{
    enum { N = G ? G * GF_BAND_PRODUCTS(W) : 1 };
    const int most_columns = GF_BAND_WIDTH, most_rows = GF_BAND_HEIGHT;
    const int block = static_cast<int>(blockIdx.x), groups = G ? G : a.groups;
    const int x = block % a.tiles_x * GF_BAND_WIDTH;
    /* A last tile in part would store pixel by pixel: it begins higher and makes rows again. */
    const int y = min(block / a.tiles_x * GF_BAND_HEIGHT, max(a.dst.height - most_rows, 0));
    const int columns = min(most_columns, a.dst.width - x), rows = min(most_rows, a.dst.height - y);
    const int cells = (columns + GF_BAND_ACROSS - 1) / GF_BAND_ACROSS;
    const uint4 *const weights = static_cast<const uint4 *>(a.taps) + threadIdx.x % 32;
    gf_band_taps<S> taps[N];
#pragma unroll
    for (int k = 0; G && k < N; k++) gf_band_load(weights, k, taps[k]);
    gf_band_tile tile;
    tile.data = shared;
    tile.x = x - a.lead, tile.y = y - a.ay;
    tile.words = GF_BAND_PAIR / GF_BAND_WORD * (cells + W - 1);
    tile.rows = (rows + 1) / 2 * 2 - GF_BAND_DOWN + GF_BAND_GROUP(W) * groups;
    gf_band_fill<W>(a, tile);
    gf_copy_async_wait();
    __syncthreads();
    gf_band_rows<S, G, W>(a, shared, x, y, weights, taps);
}

#define GF_BAND_BODY(S, G, W)                                                                      \
    GF_SHARED(unsigned char, tile);                                                                \
    gf_band_block<S, G, W>(a, tile);

#else /* older chips have no such instructions; they are not given these kernels */
#define GF_BAND_BODY(S, G, W)
#endif

#define GF_BAND_HELD_KERNEL(S, G, W)                                                               \
    GF_KERNEL_BOUNDS(GF_BAND_THREADS, GF_BAND_HELD_BLOCKS, gf_band_##S##_##G##_##W, gf_band_args,  \
                     a)                                                                            \
    {                                                                                              \
        GF_BAND_BODY(S, G, W)                                                                      \
    }
GF_BAND_HELD_VARIANTS(GF_BAND_HELD_KERNEL)

#define GF_BAND_KERNEL(S, W)                                                                       \
    GF_KERNEL_BOUNDS(GF_BAND_THREADS, GF_BAND_BLOCKS, gf_band_##S##_##W, gf_band_args, a)          \
    {                                                                                              \
        GF_BAND_BODY(S, 0, W)                                                                      \
    }
GF_BAND_VARIANTS(GF_BAND_KERNEL)
