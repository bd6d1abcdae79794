/* Separable windows of u16 and f32 images on tensor cores, rows and columns in one launch.
 *
 * A pass is a product with a band matrix that holds the taps, shifted by one from row to row. A
 * block goes down a strip of columns, sixteen rows a step, and a warp has sixteen of its columns:
 * N products of 16x16 along the rows of what is new, then N down the columns of what the last N
 * steps left in registers. All is transposed, columns of the image being rows of a matrix: then the
 * accumulator layout of one pass is the operand layout of the next.
 *
 * Numbers are split into a high and a low part; the product of two low parts is left out. For u16
 * pixels the parts are binary16, which holds the pixels exactly and sums to 22 bits. f32 pixels may
 * have any size, and a pixel is not to change results that do not see it: their parts are tf32, at
 * half the speed. Low parts are added by themselves, because the tensor cores cut off what does not
 * fit beside a large sum.
 *
 * A zero tap lets NaN and infinities out of their windows. A block that finds such a result starts
 * again: now pixels that are not finite are replaced by zeros as soon as they arrive, and results
 * that may have seen one are made one by one. */
#include "kernels/gf_tile.cuh"
#include "kernels/wide.variants.h"

#ifdef GF_HAVE_TENSOR

/* ---- parts --------------------------------------------------------------------------------- */

/* A lane's taps. Those down columns stay in registers, a group of four words for each product and
 * one more: product i takes the groups i and i + 1, of which two words are high parts and two low
 * ones. Those along rows are operands as they are, which in registers would not share words without
 * being moved; they are read from shared memory, high parts and low parts of each product. */
template <int N, int BYTES> struct gf_wide_taps {
    enum { PRODUCTS = GF_WIDE_PRODUCTS(N, BYTES) };
    uint4 down[PRODUCTS + 1];
    const uint4 *along;
};

/* Ends before a barrier. */
template <int N, int BYTES>
GF_DEVICE void gf_wide_load(const void *weights, uint4 *shared, gf_wide_taps<N, BYTES> &taps)
{
    enum { ALONG = 2 * 32 * taps.PRODUCTS };
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const uint4 *const from = static_cast<const uint4 *>(weights);
    taps.along = shared + lane;
    for (int i = static_cast<int>(threadIdx.x); i < ALONG; i += GF_WIDE_THREADS(N, BYTES))
        shared[i] = gf_ldg(from + i);
#pragma unroll
    for (int i = 0; i <= taps.PRODUCTS; i++) taps.down[i] = gf_ldg(from + ALONG + 32 * i + lane);
}

/* u16 pixels: words are pairs of neighbouring taps in binary16. */
struct gf_wide_u16 {
    typedef unsigned short type;
    typedef uint2 group;
    enum { BYTES = 2 };
    /* Sixteen rows between the passes, as an operand of the second one. */
    struct kept {
        unsigned high[4], low[4];
    };

    static GF_DEVICE void copy_async(void *to, const void *from) { gf_copy_async_8(to, from); }

    /* Two pixels p as p * 2^-14, a normal number: as a half, one below 2048 is that times 2^-24.
     * First the upper bits with `rest` rounded in, then what that missed. */
    static GF_DEVICE void split(unsigned two, unsigned &high, unsigned &low)
    {
        enum { TIMES_2_10 = 0x64006400, TIMES_2_15 = 0x78007800, MINUS_2_15 = 0xf800f800 };
        const unsigned top = two >> 5 & 0x07ff07ffu;
        const unsigned rest = gf_fma_halves(two & 0x001f001fu, TIMES_2_10, 0u);
        high = gf_fma_halves(top, TIMES_2_15, rest);
        low = gf_sub_halves(rest, gf_fma_halves(top, MINUS_2_15, high));
    }

    static GF_DEVICE void split(float x, float y, unsigned &high, unsigned &low)
    {
        high = gf_pack_halves(x, y);
        const float2 f = gf_unpack_halves(high);
        low = gf_pack_halves(x - f.x, y - f.y);
    }

    static GF_DEVICE void multiply(const unsigned (&taps)[4], const unsigned (&v)[4],
                                   float (&sum)[2][4])
    {
        gf_mma_16816(sum[0], taps, v[0], v[1], sum[0]);
        gf_mma_16816(sum[1], taps, v[2], v[3], sum[1]);
    }

    static GF_DEVICE kept keep(const float (&low)[2][4], const float (&sum)[2][4])
    {
        kept to;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int half = i / 2, at = i % 2 * 2;
            split(sum[half][at] + low[half][at], sum[half][at + 1] + low[half][at + 1], to.high[i],
                  to.low[i]);
        }
        return to;
    }

    static GF_DEVICE void add(const unsigned (&v)[4], unsigned a, unsigned b, unsigned c,
                              float (&sum)[2][4])
    {
        gf_mma_16816(sum[0], v, b, c, sum[0]);
        gf_mma_16816(sum[1], v, a, b, sum[1]);
    }

    /* A product of the second pass. */
    static GF_DEVICE void down(const uint4 &taps, const uint4 &next, const kept &from, int,
                               float (&low)[2][4], float (&sum)[2][4])
    {
        add(from.low, taps.y, next.x, next.y, low);
        add(from.high, taps.w, next.z, next.w, low);
        add(from.high, taps.y, next.x, next.y, sum);
    }
};

/* f32 pixels: words are taps in tf32. */
struct gf_wide_f32 {
    typedef float type;
    typedef float4 group;
    enum { BYTES = 4 };
    struct kept {
        float v[2][4];
    };

    static GF_DEVICE void copy_async(void *to, const void *from) { gf_copy_async_16(to, from); }

    /* The tensor cores take the upper 19 bits. */
    static GF_DEVICE void split(unsigned bits, unsigned &high, unsigned &low)
    {
        high = gf_round_tf32(bits);
        low = gf_float_bits(gf_bits_float(bits) - gf_bits_float(high));
    }

    static GF_DEVICE void multiply(const unsigned (&taps)[4], const unsigned (&v)[4],
                                   float (&sum)[2][4])
    {
        gf_mma_1688(sum[0], taps, v[0], v[1], sum[0]);
        gf_mma_1688(sum[1], taps, v[2], v[3], sum[1]);
    }

    static GF_DEVICE kept keep(const float (&low)[2][4], const float (&sum)[2][4])
    {
        kept to;
#pragma unroll
        for (int i = 0; i < 8; i++) to.v[i / 4][i % 4] = sum[i / 4][i % 4] + low[i / 4][i % 4];
        return to;
    }

    static GF_DEVICE void add(const unsigned (&v)[4], unsigned a, unsigned b, unsigned c,
                              unsigned d, float (&sum)[2][4])
    {
        gf_mma_1688(sum[0], v, c, d, sum[0]);
        gf_mma_1688(sum[1], v, a, b, sum[1]);
    }

    /* The first pass leaves a lane two neighbouring rows, so those are what its taps are for. */
    static GF_DEVICE void down(const uint4 &taps, const uint4 &next, const kept &from, int half,
                               float (&low)[2][4], float (&sum)[2][4])
    {
        const float(&f)[4] = from.v[half];
        unsigned v[4] = { gf_float_bits(f[0]), gf_float_bits(f[2]), gf_float_bits(f[1]),
                          gf_float_bits(f[3]) };
        unsigned low_v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) split(v[i], v[i], low_v[i]);
        add(low_v, taps.x, taps.y, next.x, next.y, low);
        add(v, taps.z, taps.w, next.z, next.w, low);
        add(v, taps.x, taps.y, next.x, next.y, sum);
    }
};

/* ---- the strip ----------------------------------------------------------------------------- */

/* A thread's part in bringing pixels in: the groups thread, thread + THREADS … of a step. */
template <class S, int N> struct gf_wide_flow {
    enum { BYTES = S::BYTES, ROW = GF_WIDE_ROW_GROUPS(N, S::BYTES) };
    enum { THREADS = GF_WIDE_THREADS(N, S::BYTES), ALL = GF_WIDE_STEP * ROW };
    enum { MINE = (ALL + THREADS - 1) / THREADS };
    static_assert(MINE <= 4, "`there` holds four numbers");
    enum { PITCH = GF_WIDE_PITCH(N, BYTES), SLOT = GF_WIDE_STEP * PITCH };
    unsigned char *slots;
    int *wild; /* one more than the last step with a pixel that is not finite */
    int *fold; /* the source's column for each, -1: the border's value */
    int x, y;  /* of step 0 in the source */
    int steps;
    int columns;            /* that results depend on; a multiple of 16 */
    bool aligned;           /* groups of four pixels */
    bool inside;            /* aligned, and all columns are in the source */
    bool tame;              /* pixels that are not finite are taken out */
    unsigned there;         /* bytes of each group that lie in the source's columns, 8 bits each */
    const char *from[MINE]; /* in the next step to ask for */
    int to[MINE];           /* bytes in a slot */

    static GF_DEVICE bool have(int i)
    {
        return (i + 1) * THREADS <= ALL || static_cast<int>(threadIdx.x) < ALL - i * THREADS;
    }
    static GF_DEVICE int row(int i) { return (static_cast<int>(threadIdx.x) + i * THREADS) / ROW; }
    static GF_DEVICE int column(int i)
    {
        return (static_cast<int>(threadIdx.x) + i * THREADS) % ROW * 4;
    }
};

/* How many of the four columns from x on are in the source. With alignment a group is not partly
 * left of it. */
GF_DEVICE int gf_wide_there(const gf_wide_args &a, int x)
{
    return x < 0 ? 0 : max(0, min(4, a.src.width - x));
}

/* Ends before a barrier. */
template <class S, int N> GF_DEVICE void gf_wide_begin(const gf_wide_args &a, gf_wide_flow<S, N> &f)
{
    const long long bytes = f.BYTES; /* offsets may not fit an int */
    const long long at = reinterpret_cast<long long>(gf_row<const char>(a.src, 0)) + f.x * bytes;
    f.aligned = ((at | a.src.pitch) & (4 * f.BYTES - 1)) == 0;
    f.inside = f.aligned && f.x >= 0 && f.x + 4 * f.ROW <= a.src.width;
    f.there = 0;
#pragma unroll
    for (int i = 0; i < f.MINE; i++) {
        f.from[i] = gf_row<const char>(a.src, f.y + f.row(i)) + (f.x + f.column(i)) * bytes;
        f.to[i] = f.row(i) * f.PITCH + f.column(i) * f.BYTES;
        f.there |= static_cast<unsigned>(gf_wide_there(a, f.x + f.column(i)) * f.BYTES) << 8 * i;
    }
    if (f.inside) return;
    for (int i = static_cast<int>(threadIdx.x); i < 4 * f.ROW; i += f.THREADS)
        f.fold[i] = gf_border_index(f.x + i, a.src.width, a.border);
}

/* Ask for a group of which so many bytes are in the source, and make the rest zeros. An asynchronous
 * copy of a part would still touch the whole group, which may lie at the end of all memory. */
template <class S> GF_DEVICE void gf_wide_ask_part(unsigned char *to, const char *from, int bytes)
{
    typedef typename S::type T;
    if (bytes == 4 * S::BYTES) {
        S::copy_async(to, from);
        return;
    }
#pragma unroll
    for (int k = 0; k < 4; k++)
        reinterpret_cast<T *>(to)[k] =
            k * S::BYTES < bytes ? gf_ldg(reinterpret_cast<const T *>(from) + k) : T(0);
}

/* Ask for a group of a row's pixels, of which columns outside the source are left to gf_wide_mend;
 * without alignment fetch all. */
template <class S, int N>
GF_DEVICE void gf_wide_ask_any(const gf_wide_args &a, const gf_wide_flow<S, N> &f, int x, int y,
                               typename S::type *to)
{
    typedef typename S::type T;
    const T value = static_cast<T>(a.border_value);
    y = gf_border_index(y, a.src.height, a.border);
    const T *const row = gf_row<const T>(a.src, y < 0 ? 0 : y);
    if (y >= 0 && f.aligned) {
        const int there = gf_wide_there(a, x);
        gf_wide_ask_part<S>(reinterpret_cast<unsigned char *>(to),
                            reinterpret_cast<const char *>(row + (there > 0 ? x : 0)),
                            there * f.BYTES);
        return;
    }
    T v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int column = y < 0 ? y : gf_border_index(x + k, a.src.width, a.border);
        v[k] = column < 0 ? value : gf_ldg(row + column);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) to[k] = v[k];
}

/* Ask for the pixels of a step, or for none after the last; steps are asked for in order. */
template <class S, int N>
GF_DEVICE void gf_wide_ask(const gf_wide_args &a, gf_wide_flow<S, N> &f, int step,
                           unsigned char *slot)
{
    typedef typename S::type T;
    const int y = f.y + GF_WIDE_STEP * step;
    if (step >= f.steps) {
    } else if (!f.aligned || y < 0 || y + GF_WIDE_STEP > a.src.height) {
#pragma unroll 1
        for (int i = 0; i < f.MINE; i++)
            if (f.have(i))
                gf_wide_ask_any(a, f, f.x + f.column(i), y + f.row(i),
                                reinterpret_cast<T *>(slot + f.row(i) * f.PITCH) + f.column(i));
    } else if (f.inside) {
#pragma unroll
        for (int i = 0; i < f.MINE; i++)
            if (f.have(i)) S::copy_async(slot + f.to[i], f.from[i]);
    } else {
#pragma unroll
        for (int i = 0; i < f.MINE; i++) {
            const int bytes = static_cast<int>(f.there >> 8 * i & 255u);
            if (f.have(i)) gf_wide_ask_part<S>(slot + f.to[i], f.from[i], bytes);
        }
    }
    gf_copy_async_commit();
#pragma unroll
    for (int i = 0; i < f.MINE; i++) f.from[i] += GF_WIDE_STEP * a.src.pitch;
}

GF_DEVICE bool gf_wide_is_wild(float v) { return gf_not_finite(v); }
GF_DEVICE bool gf_wide_is_wild(unsigned short) { return false; }

/* Make a step's columns outside the source of those inside, which mostly are in the slot too. */
template <class S, int N>
GF_DEVICE void gf_wide_mend(const gf_wide_args &a, const gf_wide_flow<S, N> &f, int step,
                            unsigned char *slot)
{
    typedef typename S::type T;
    const int left = max(0, min(f.columns, -f.x));
    const int right = max(left, min(f.columns, a.src.width - f.x));
    const int n = GF_WIDE_STEP * (left + f.columns - right);
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x); i < n; i += f.THREADS) {
        const int row = i % GF_WIDE_STEP, k = i / GF_WIDE_STEP;
        const int column = k < left ? k : right + k - left;
        T *const line = reinterpret_cast<T *>(slot + row * f.PITCH);
        const int x = f.fold[column];
        T v = static_cast<T>(a.border_value);
        if (x >= 0 && static_cast<unsigned>(x - f.x) < static_cast<unsigned>(f.columns)) {
            v = line[x - f.x];
        } else if (x >= 0) {
            const int y = gf_border_index(f.y + GF_WIDE_STEP * step + row, a.src.height, a.border);
            if (y >= 0) v = gf_ldg(gf_row<const T>(a.src, y) + x);
        }
        if (f.tame && gf_wide_is_wild(v)) {
            v = static_cast<T>(0);
            gf_atomic_max(f.wild, step + 1);
        }
        line[column] = v;
    }
}

/* Wait for a step's pixels that this thread asked for, and take out those that are not finite, if
 * that is asked for. */
template <class S, int N>
GF_DEVICE void gf_wide_await(const gf_wide_flow<S, N> &f, int step, unsigned char *slot)
{
    gf_copy_async_wait_but<GF_WIDE_SLOTS - 2>();
    if (S::BYTES == 2 || !f.tame || step >= f.steps) return;
    bool wild = false;
#pragma unroll 1
    for (int i = 0; i < f.MINE; i++) {
        float *const v =
            reinterpret_cast<float *>(slot + f.row(i) * f.PITCH + f.column(i) * f.BYTES);
#pragma unroll 1
        for (int k = 0; k < 4; k++)
            if (f.have(i) && gf_not_finite(v[k])) {
                v[k] = 0.0f;
                wild = true;
            }
    }
    if (wild) gf_atomic_max(f.wild, step + 1);
}

/* ---- results ------------------------------------------------------------------------------- */

/* A lane makes the columns g and g+8 of rows 2t, 2t+1, 2t+8, 2t+9 of each sixteen, g being lane / 4
 * and t lane % 4: sum[half][0] and [1] are rows 8 * half + 2t and the next one of the first column,
 * [2] and [3] those of the second. */
struct gf_wide_place {
    int x, y;   /* of the warp's first result */
    char *to;   /* the lane's first result */
    bool plain; /* sums, all columns in the image, whose rows are aligned */
};

GF_DEVICE gf_wide_place gf_wide_place_of(const gf_wide_args &a, int x, int y)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const long long bytes = a.dst.pixel == GF_P_U16 ? 2 : 4;
    const long long at = reinterpret_cast<long long>(gf_row<char>(a.dst, 0));
    gf_wide_place place;
    place.x = x, place.y = y;
    place.to = gf_row<char>(a.dst, y + lane % 4 * 2) + (x + lane / 4) * bytes;
    place.plain = x + 16 <= a.dst.width && ((at | a.dst.pitch) & 3) == 0 &&
                  a.combine.combine == GF_C_SUM && a.dst.pixel != GF_P_U8;
    return place;
}

GF_DEVICE void gf_wide_put_f32(const gf_kimage &dst, char *to, const float (&v)[2][4])
{
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float *const row = reinterpret_cast<float *>(to);
        row[0] = v[i / 2][i % 2];
        row[8] = v[i / 2][i % 2 + 2];
        to += i == 1 ? 7 * dst.pitch : dst.pitch;
    }
}

/* Lanes of even g store pairs of the columns 0 … 7, those of odd g of 8 … 15. */
GF_DEVICE void gf_wide_put_u16(const gf_kimage &dst, char *to, const float (&v)[2][4])
{
    const bool odd = (threadIdx.x & 4u) != 0;
    to += odd ? 14 : 0;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const unsigned first = gf_pack_u16(v[half][0], v[half][1]);
        const unsigned second = gf_pack_u16(v[half][2], v[half][3]);
        const unsigned got = gf_shfl_xor(odd ? first : second, 4);
        const unsigned left = odd ? got : first, right = odd ? second : got;
        *reinterpret_cast<unsigned *>(to) = gf_pick_bytes(left, right, 0x5410);
        to += dst.pitch;
        *reinterpret_cast<unsigned *>(to) = gf_pick_bytes(left, right, 0x7632);
        to += 7 * dst.pitch;
    }
}

/* The sum under the window of the result (x, y), from the pixels themselves, if any of them is not
 * finite; else `sum`. */
GF_DEVICE float gf_wide_single(const gf_wide_args &a, int x, int y, float sum)
{
    const double *const row = a.taps, *const column = a.taps + a.kw;
    double total = 0.0;
    bool wild = false;
#pragma unroll 1
    for (int j = 0; j < a.kh; j++) {
        double line = 0.0;
#pragma unroll 1
        for (int i = 0; i < a.kw; i++) {
            const float v =
                gf_load_border(a.src, x - a.ax + i, y - a.ay + j, a.border, a.border_value);
            wild = wild || gf_not_finite(v);
            line += gf_ldg(row + i) * static_cast<double>(v);
        }
        total += gf_ldg(column + j) * line;
    }
    return wild ? static_cast<float>(total) : sum;
}

/* Results one by one: near the image's end, of any type and any way to combine, or near pixels that
 * are not finite. */
GF_DEVICE void gf_wide_put_any(const gf_wide_args &a, const gf_wide_place &place, bool wild,
                               const float (&v)[2][4])
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool unsharp = a.combine.combine == GF_C_UNSHARP;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int x = place.x + lane / 4 + i % 4 / 2 * 8;
        const int y = place.y + lane % 4 * 2 + i / 4 * 8 + i % 2;
        if (x >= a.dst.width || y >= a.dst.height) continue;
        float sum = v[i / 4][i % 4] * a.factor;
        if (wild) sum = gf_wide_single(a, x, y, sum);
        gf_store(a.dst, x, y,
                 gf_result(a.combine, sum, 0.0f, unsharp ? gf_load(a.src, x, y) : 0.0f));
    }
}

/* Make pixels of a warp's sums and store them. */
GF_DEVICE void gf_wide_put(const gf_wide_args &a, const gf_wide_place &place, bool wild,
                           float (&v)[2][4])
{
    if (wild || !place.plain || place.y + GF_WIDE_STEP > a.dst.height) {
        gf_wide_put_any(a, place, wild, v);
        return;
    }
    gf_kcombine combine = a.combine;
    combine.combine = GF_C_SUM; /* which the compiler does not know */
    combine.scale *= a.factor;  /* a power of two */
#pragma unroll
    for (int i = 0; i < 8; i++) v[i / 4][i % 4] = gf_combine(combine, v[i / 4][i % 4], 0.0f, 0.0f);
    gf_points(a.combine.points, v[0]);
    gf_points(a.combine.points, v[1]);
    if (a.dst.pixel == GF_P_U16)
        gf_wide_put_u16(a.dst, place.to, v);
    else
        gf_wide_put_f32(a.dst, place.to, v);
}

/* ---- the kernels --------------------------------------------------------------------------- */

GF_DEVICE void gf_wide_clear(float (&v)[2][4])
{
#pragma unroll
    for (int i = 0; i < 8; i++) v[i / 4][i % 4] = 0.0f;
}

GF_DEVICE void gf_wide_add(float (&v)[2][4], const float (&w)[2][4])
{
#pragma unroll
    for (int i = 0; i < 8; i++) v[i / 4][i % 4] += w[i / 4][i % 4];
}

/* A product of the first pass. */
template <class S>
GF_DEVICE void gf_wide_along(const uint4 *taps, const unsigned char *pixels, float (&low)[2][4],
                             float (&sum)[2][4])
{
    const uint4 high = taps[0], rest = taps[32];
    const unsigned high_taps[4] = { high.x, high.y, high.z, high.w };
    const unsigned low_taps[4] = { rest.x, rest.y, rest.z, rest.w };
    unsigned v[4], low_v[4];
    gf_ldmatrix_4(v, pixels);
#pragma unroll
    for (int i = 0; i < 4; i++) S::split(v[i], v[i], low_v[i]);
    S::multiply(high_taps, low_v, low);
    S::multiply(low_taps, v, low);
    S::multiply(high_taps, v, sum);
}

/* While the first pass runs over a step, the second one makes the results that the step before it
 * completed; the new sums take the place of the oldest ones. Of many tf32 products two sums are
 * made, because each cuts off a bit. */
template <class S, int N>
GF_DEVICE void gf_wide_step(const gf_wide_taps<N, S::BYTES> &taps, const unsigned char *pixels,
                            int oldest, typename S::kept (&ring)[N], float (&result)[2][4])
{
    enum { ALL = taps.PRODUCTS, SUMS = S::BYTES == 4 && N >= 4 ? 2 : 1 };
    float low[2][4] = {}, sum[SUMS][2][4] = {}, low_result[2][4] = {}, other[2][4] = {};
    gf_wide_clear(result);
#pragma unroll
    for (int i = 0; i < ALL; i++) {
        const bool second = SUMS > 1 && i >= ALL / 2;
        const int k = i * N / ALL;
        gf_wide_along<S>(taps.along + 64 * i, pixels + 32 * i, low, sum[second]);
        S::down(taps.down[i], taps.down[i + 1], ring[(oldest + k) % N], i % 2, low_result,
                second ? other : result);
    }
    if (SUMS > 1) {
        gf_wide_add(low, sum[SUMS - 1]);
        gf_wide_add(low_result, other);
    }
    ring[oldest] = S::keep(low, sum[0]);
    gf_wide_add(result, low_result);
}

/* Whether any of the results is not finite: then none is left NaN. */
GF_DEVICE float gf_wide_look(const float (&v)[2][4], float none)
{
#pragma unroll
    for (int i = 0; i < 8; i++) none = fmaf(v[i / 4][i % 4], 0.0f, none);
    return none;
}

/* Make a block's results; tells whether this thread met any that is not finite. */
template <class S, int N>
GF_DEVICE bool gf_wide_strip(const gf_wide_args &a, unsigned char *shared, bool tame)
{
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int block = static_cast<int>(blockIdx.x);
    const int x = block % a.strips * GF_WIDE_WIDTH(N, S::BYTES), y = block / a.strips * a.rows;
    const int rows = min(a.rows, a.dst.height - y), width = GF_WIDE_WIDTH(N, S::BYTES);
    gf_wide_flow<S, N> flow;
    flow.slots = shared + GF_WIDE_NOTES + GF_WIDE_ALONG_BYTES(N, S::BYTES);
    flow.wild = reinterpret_cast<int *>(shared);
    flow.fold = reinterpret_cast<int *>(flow.slots + GF_WIDE_SLOTS * flow.SLOT);
    flow.tame = tame;
    flow.x = x - a.lead, flow.y = y - a.ay;
    flow.steps = (rows + GF_WIDE_STEP - 1) / GF_WIDE_STEP + N - 1;
    flow.columns = (min(width, a.dst.width - x) + 15) / 16 * 16 + 16 * (N - 1);
    gf_wide_begin(a, flow);
#pragma unroll 1
    for (int step = 0; step < GF_WIDE_SLOTS - 1; step++)
        gf_wide_ask(a, flow, step, flow.slots + step * flow.SLOT);
    if (threadIdx.x == 0) *flow.wild = 0;
    gf_wide_taps<N, S::BYTES> taps;
    gf_wide_load(a.weights, reinterpret_cast<uint4 *>(shared + GF_WIDE_NOTES), taps);
    __syncthreads();
    typename S::kept ring[N] = {};
    gf_wide_place place = gf_wide_place_of(a, x + 16 * warp, y);
    const int from =
        (lane / 16 * 8 + lane % 8) * flow.PITCH + lane / 8 % 2 * 16 + 16 * flow.BYTES * warp;
    const bool idle = x + 16 * warp >= a.dst.width;
    unsigned char *slot = flow.slots, *free_slot = slot + (GF_WIDE_SLOTS - 1) * flow.SLOT;
    float none = 0.0f; /* or NaN */
    int oldest = 0;    /* in the ring; each place has code of its own, as registers have no index */
    for (int step = 0; step <= flow.steps; step++) { /* after the last one there are results only */
        gf_wide_await(flow, step, slot);
        __syncthreads();
        if (flow.aligned && !flow.inside) {
            if (step < flow.steps) gf_wide_mend(a, flow, step, slot);
            __syncthreads();
        }
        gf_wide_ask(a, flow, step + GF_WIDE_SLOTS - 1, free_slot);
        if (!idle) {
            float result[2][4];
#pragma unroll
            for (int u = 0; u < N; u++)
                if (u == oldest) gf_wide_step<S, N>(taps, slot + from, u, ring, result);
            if (step >= N) {
                if (S::BYTES == 4) none = gf_wide_look(result, none);
                gf_wide_put(a, place, S::BYTES == 4 && tame && *flow.wild > step - N, result);
                place.y += GF_WIDE_STEP;
                place.to += GF_WIDE_STEP * a.dst.pitch;
            }
        }
        oldest = oldest + 1 < N ? oldest + 1 : 0;
        free_slot = slot;
        slot = slot + flow.SLOT < flow.slots + GF_WIDE_SLOTS * flow.SLOT ? slot + flow.SLOT
                                                                         : flow.slots;
    }
    return none != 0.0f;
}

template <class S, int N> GF_DEVICE void gf_wide_block(const gf_wide_args &a, unsigned char *shared)
{
    for (int turn = 0; turn < 2; turn++) {
        const bool wild = gf_wide_strip<S, N>(a, shared, turn > 0);
        if (S::BYTES == 2 || !gf_sync_or(wild)) return; /* the same for the whole block */
    }
}

#define GF_WIDE_BODY(S, N)                                                                         \
    GF_SHARED(unsigned char, shared);                                                              \
    gf_wide_block<S, N>(a, shared);

#else /* older chips have no such instructions; they are not given these kernels */
#define GF_WIDE_BODY(S, N)
#endif

#define GF_WIDE_F32(N)                                                                             \
    GF_KERNEL_BOUNDS(GF_WIDE_THREADS(N, 4), GF_WIDE_BLOCKS(N, 4), gf_wide_f32_##N, gf_wide_args,   \
                     a)                                                                            \
    {                                                                                              \
        GF_WIDE_BODY(gf_wide_f32, N)                                                               \
    }
#define GF_WIDE_U16(N)                                                                             \
    GF_KERNEL_BOUNDS(GF_WIDE_THREADS(N, 2), GF_WIDE_BLOCKS(N, 2), gf_wide_u16_##N, gf_wide_args,   \
                     a)                                                                            \
    {                                                                                              \
        GF_WIDE_BODY(gf_wide_u16, N)                                                               \
    }
GF_WIDE_VARIANTS(GF_WIDE_F32)
GF_WIDE_VARIANTS(GF_WIDE_U16)
