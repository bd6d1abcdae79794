/* Separable windows of u16 and f32 images on tensor cores, rows and columns in one launch.
 *
 * A pass is a product with a band matrix that holds the taps, shifted by one from row to row. A
 * block goes down a strip of columns, 32 rows a step, and a warp has sixteen of its columns: first
 * it makes sums along the rows of what is new, then sums down the columns of what it keeps of them
 * in registers. All is transposed, columns of the image being rows of a matrix: then the
 * accumulator layout of one pass is the operand layout of the next. Four tiles of eight rows go
 * together: they share the taps, and are enough independent products to hide the latency of each.
 *
 * Numbers are split into a high and a low part; the product of two low parts is left out. For u16
 * pixels the parts are binary16, which holds the pixels exactly and sums to 22 bits. f32 pixels may
 * have any size, and a pixel is not to change results that do not see it: their parts are tf32, at
 * half the speed; what that leaves of the taps is bfloat16. Low parts are added by themselves,
 * because the tensor cores cut off what does not fit beside a large sum.
 *
 * A zero tap lets NaN and infinities out of their windows. A block that finds such a result starts
 * again: now pixels that are not finite are replaced by zeros as soon as they arrive, and results
 * that may have seen one are made one by one. */
#include "kernels/gf_tile.cuh"
#include "kernels/wide.variants.h"

#ifdef GF_HAVE_TENSOR

/* Groups from which on two sums are made of half the products each: each product cuts off a bit, of
 * a size that goes with the sum's. */
enum { GF_WIDE_MANY = 6 };

/* A lane's sums of four tiles: of each the columns 2g and 2g+1 of rows 2t and 2t+1, g being lane /
 * 4 and t lane % 4. [0] and [1] are the rows of the first column, [2] and [3] those of the second.
 */
typedef float gf_wide_sums[GF_WIDE_TILES][4];
enum { GF_WIDE_MINE = 4 * GF_WIDE_TILES };
GF_DEVICE float (&gf_wide_flat(gf_wide_sums &v))[GF_WIDE_MINE]
{
    return reinterpret_cast<float(&)[GF_WIDE_MINE]>(v);
}

GF_DEVICE void gf_wide_add(gf_wide_sums &v, const gf_wide_sums &w)
{
#pragma unroll
    for (int q = 0; q < GF_WIDE_TILES; q++)
#pragma unroll
        for (int i = 0; i < 4; i++) v[q][i] += w[q][i];
}

/* The sums of a pass: those of low parts, of the first half of the products of high parts, and of
 * the others. */
template <int G> struct gf_wide_parts {
    enum { MANY = G >= GF_WIDE_MANY };
    gf_wide_sums low, first, second;

    /* Where product i of n is added to. */
    GF_DEVICE float (&high(int q, int i, int n))[4]
    {
        return MANY && 2 * i >= n ? second[q] : first[q];
    }
    /* All of them together, in `first`. */
    GF_DEVICE void total()
    {
        if (MANY) gf_wide_add(low, second);
        gf_wide_add(first, low);
    }
};

/* Which of n things comes when they are taken from the outside inwards: 0, n - 1, 1 … Most windows
 * are largest in the middle; then sums stay small for long, and products cut off less. */
GF_DEVICE constexpr int gf_wide_inwards(int i, int n) { return i % 2 ? n - 1 - i / 2 : i / 2; }

/* Words of eight pixels each of four tiles, from shared memory: a lane points to where its row of
 * sixteen bytes is of the first two tiles. */
template <int G, int BYTES, int BROAD>
GF_DEVICE void gf_wide_fetch(unsigned (&v)[8], const unsigned char *from)
{
#pragma unroll
    for (int k = 0; k < 2; k++) {
        unsigned half[4];
        gf_ldmatrix_4(half, from + 16 * k * GF_WIDE_PITCH(G, BYTES, BROAD));
#pragma unroll
        for (int i = 0; i < 4; i++) v[4 * k + i] = half[i];
    }
}

GF_DEVICE void gf_wide_words(unsigned (&v)[4], const uint4 &four)
{
    v[0] = four.x, v[1] = four.y, v[2] = four.z, v[3] = four.w;
}

/* ---- the ring ------------------------------------------------------------------------------ */

/* What a lane keeps of the first pass: the tiles that the results of a step see, in registers. */
template <class T, int G, int BROAD> struct gf_wide_ring {
    enum { ALL = G + GF_WIDE_TILES - 1, OLD = G - 1 };
    T tile[ALL];

    GF_DEVICE void begin(unsigned char *)
    {
#pragma unroll
        for (int i = 0; i < ALL; i++) tile[i] = {};
    }
    /* Make place for the tiles of the next step. */
    GF_DEVICE void step()
    {
#pragma unroll
        for (int i = 0; i < OLD; i++) tile[i] = tile[i + GF_WIDE_TILES];
    }
    GF_DEVICE void put(int q, const T &v) { tile[OLD + q] = v; }
    GF_DEVICE T at(int i) const { return tile[i]; }
};

/* The same in shared memory: the tiles of the last few steps. A lane reads what it wrote itself, so
 * there is nothing to wait for. */
template <class T, int G> struct gf_wide_ring<T, G, 1> {
    enum { STEPS = GF_WIDE_AHEAD(G) + 1, TILE = 32 * sizeof(T), STEP = GF_WIDE_TILES * TILE };
    unsigned char *of[STEPS]; /* the oldest first */

    GF_DEVICE void begin(unsigned char *ring)
    {
        const int thread = static_cast<int>(threadIdx.x);
        ring += thread / 32 * STEPS * STEP + thread % 32 * static_cast<int>(sizeof(T));
#pragma unroll
        for (int i = 0; i < STEPS; i++) of[i] = ring + i * STEP;
    }
    GF_DEVICE void step()
    {
        unsigned char *const oldest = of[0];
#pragma unroll
        for (int i = 0; i + 1 < STEPS; i++) of[i] = of[i + 1];
        of[STEPS - 1] = oldest;
    }
    GF_DEVICE void put(int q, const T &v) { *reinterpret_cast<T *>(of[STEPS - 1] + q * TILE) = v; }
    GF_DEVICE T at(int i) const
    {
        const int n = i + (STEPS - 1) * GF_WIDE_TILES - (G - 1);
        return *reinterpret_cast<const T *>(of[n / GF_WIDE_TILES] + n % GF_WIDE_TILES * TILE);
    }
};

/* ---- parts --------------------------------------------------------------------------------- */

/* u16 pixels: words are pairs of neighbours in binary16. */
struct gf_wide_u16 {
    typedef unsigned short type;
    enum { BYTES = 2, BROAD = 0 };
    /* A tile between the passes, half an operand of the second one. */
    struct kept {
        unsigned high[2], low[2];
    };

    static GF_DEVICE void copy_async(void *to, const void *from) { gf_copy_async_8(to, from); }

    /* Two pixels p as p * 2^-24: bytes are halves of that size as they are. */
    static GF_DEVICE void split(unsigned two, unsigned &high, unsigned &low)
    {
        enum { TIMES_2_8 = 0x5c005c00, MINUS_2_8 = 0xdc00dc00 };
        const unsigned upper = gf_pick_bytes(two, 0u, 0x4341), lower = two & 0x00ff00ffu;
        high = gf_fma_halves(upper, TIMES_2_8, lower);
        low = gf_sub_halves(lower, gf_fma_halves(upper, MINUS_2_8, high));
    }

    /* The first pass: sums of four tiles along rows. */
    template <int G>
    static GF_DEVICE void along(const uint4 *taps, const unsigned char *pixels,
                                gf_wide_parts<G> &to)
    {
        enum { ALL = GF_WIDE_PRODUCTS(G, BYTES) };
#pragma unroll
        for (int i = 0; i < ALL; i++) {
            unsigned high_taps[4], low_taps[4], high[8], rest[8];
            gf_wide_words(high_taps, taps[32 * i]);
            gf_wide_words(low_taps, taps[32 * (ALL + i)]);
            gf_wide_fetch<G, BYTES, BROAD>(high, pixels + 32 * i);
#pragma unroll
            for (int k = 0; k < 8; k++) split(high[k], high[k], rest[k]);
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++)
                gf_mma_16816(to.low[q], high_taps, rest[2 * q], rest[2 * q + 1], to.low[q]);
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++) {
                float(&sum)[4] = to.high(q, i, ALL);
                gf_mma_16816(sum, high_taps, high[2 * q], high[2 * q + 1], sum);
            }
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++)
                gf_mma_16816(to.low[q], low_taps, high[2 * q], high[2 * q + 1], to.low[q]);
        }
    }

    static GF_DEVICE void split(float x, float y, unsigned &high, unsigned &low)
    {
        high = gf_pack_halves(x, y);
        const float2 f = gf_unpack_halves(high);
        low = gf_pack_halves(x - f.x, y - f.y);
    }

    /* Sums of dark pixels are far below one: times 2^10 their low parts are halves as exact as any.
     */
    static GF_DEVICE kept keep(const float (&sum)[4])
    {
        enum { UP = 1024 };
        kept to;
        split(UP * sum[0], UP * sum[1], to.high[0], to.low[0]);
        split(UP * sum[2], UP * sum[3], to.high[1], to.low[1]);
        return to;
    }

    /* The second pass, two groups of the window a product: of each tile those that begin an even
     * number of groups from the first one kept. */
    template <int G, class R>
    static GF_DEVICE void down(const uint4 *from, const R &ring, gf_wide_parts<G> &to)
    {
        static_assert(G % 2 == 1, "groups are taken two at a time");
#pragma unroll
        for (int b = 0; b < G + GF_WIDE_TILES - 1; b += 2) {
            const kept one = ring.at(b), two = ring.at(b + 1);
            const unsigned high[4] = { one.high[0], one.high[1], two.high[0], two.high[1] };
            const unsigned rest[4] = { one.low[0], one.low[1], two.low[0], two.low[1] };
            uint4 t[GF_WIDE_TILES];
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++)
                if (b + 1 >= q && b - q < G) t[q] = from[32 * (b + 1 - q)];
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++)
                if (b + 1 >= q && b - q < G)
                    gf_mma_16816(to.low[q], rest, t[q].x, t[q].y, to.low[q]);
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++) {
                float(&sum)[4] = to.high(q, b - q, G);
                if (b + 1 >= q && b - q < G) gf_mma_16816(sum, high, t[q].x, t[q].y, sum);
            }
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++)
                if (b + 1 >= q && b - q < G)
                    gf_mma_16816(to.low[q], high, t[q].z, t[q].w, to.low[q]);
        }
    }
};

/* f32 pixels: words are numbers in tf32. */
template <int BROAD_BLOCK> struct gf_wide_floats {
    typedef float type;
    enum { BYTES = 4, BROAD = BROAD_BLOCK };
    struct alignas(16) kept {
        float v[4];
    };

    static GF_DEVICE void copy_async(void *to, const void *from) { gf_copy_async_16(to, from); }

    /* The tensor cores take the upper 19 bits. */
    static GF_DEVICE void split(unsigned bits, unsigned &high, unsigned &low)
    {
        high = gf_round_tf32(bits);
        low = gf_float_bits(gf_bits_float(bits) - gf_bits_float(high));
    }

    /* The first pass: sums of four tiles along rows, two products at a time. */
    template <int G>
    static GF_DEVICE void along(const uint4 *taps, const unsigned char *pixels,
                                gf_wide_parts<G> &to)
    {
        enum { ALL = GF_WIDE_PRODUCTS(G, BYTES), PAIRS = (ALL + 1) / 2 };
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            const int pair = gf_wide_inwards(p, PAIRS);
            unsigned both[8] = {}; /* pixels of the two in bfloat16 */
#pragma unroll
            for (int i = 2 * pair; i < 2 * pair + 2 && i < ALL; i++) {
                unsigned high_taps[4], high[8], rest[8];
                gf_wide_words(high_taps, taps[32 * i]);
                gf_wide_fetch<G, BYTES, BROAD>(high, pixels + 32 * i);
#pragma unroll
                for (int q = 0; q < GF_WIDE_TILES; q++)
                    both[2 * q + i % 2] = pack(high[2 * q], high[2 * q + 1]);
#pragma unroll
                for (int k = 0; k < 8; k++) split(high[k], high[k], rest[k]);
#pragma unroll
                for (int q = 0; q < GF_WIDE_TILES; q++)
                    gf_mma_1688(to.low[q], high_taps, rest[2 * q], rest[2 * q + 1], to.low[q]);
#pragma unroll
                for (int q = 0; q < GF_WIDE_TILES; q++) {
                    float(&sum)[4] = to.high(q, i, ALL);
                    gf_mma_1688(sum, high_taps, high[2 * q], high[2 * q + 1], sum);
                }
            }
            unsigned low_taps[4];
            gf_wide_words(low_taps, taps[32 * (ALL + pair)]);
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++)
                gf_mma_16816_bf16(to.low[q], low_taps, both[2 * q], both[2 * q + 1], to.low[q]);
        }
    }

    static GF_DEVICE unsigned pack(unsigned first, unsigned second)
    {
        return gf_pack_bf16(gf_bits_float(first), gf_bits_float(second));
    }

    static GF_DEVICE kept keep(const float (&sum)[4])
    {
        return { { sum[0], sum[1], sum[2], sum[3] } };
    }

    /* The first pass leaves a lane two neighbouring rows, so those are what its taps are for. */
    template <int G, class R>
    static GF_DEVICE void down(const uint4 *from, const R &ring, gf_wide_parts<G> &to)
    {
        enum { ALL = G + GF_WIDE_TILES - 1, PAIRS = (ALL + 1) / 2 };
#pragma unroll
        for (int p = 0; p < PAIRS; p++) {
            const int first = 2 * gf_wide_inwards(p, PAIRS);
            unsigned both[4] = {}; /* tiles of the two in bfloat16 */
#pragma unroll
            for (int b = first; b < first + 2 && b < ALL; b++) {
                const kept tile = ring.at(b);
                const float(&f)[4] = tile.v;
                unsigned v[4] = { gf_float_bits(f[0]), gf_float_bits(f[2]), gf_float_bits(f[1]),
                                  gf_float_bits(f[3]) };
                unsigned rest[4];
                both[b % 2 * 2] = gf_pack_bf16(f[0], f[1]);
                both[b % 2 * 2 + 1] = gf_pack_bf16(f[2], f[3]);
#pragma unroll
                for (int i = 0; i < 4; i++) split(v[i], v[i], rest[i]);
#pragma unroll
                for (int q = 0; q < GF_WIDE_TILES; q++) {
                    const int i = b - q;
                    if (i < 0 || i >= G) continue;
                    const uint4 t = from[32 * (i + 1)];
                    gf_mma_1688(to.low[q], rest, t.x, t.y, to.low[q]);
                }
#pragma unroll
                for (int q = 0; q < GF_WIDE_TILES; q++) {
                    const int i = b - q;
                    if (i < 0 || i >= G) continue;
                    const uint4 t = from[32 * (i + 1)];
                    float(&sum)[4] = to.high(q, i, G);
                    gf_mma_1688(sum, v, t.x, t.y, sum);
                }
            }
#pragma unroll
            for (int q = 0; q < GF_WIDE_TILES; q++) {
                const int i = first + 1 - q;
                if (i < 0 || i > G) continue;
                const uint4 t = from[32 * i];
                gf_mma_16816_bf16(to.low[q], both, t.z, t.w, to.low[q]);
            }
        }
    }
};

typedef gf_wide_floats<0> gf_wide_f32;
typedef gf_wide_floats<1> gf_wide_broad;

/* ---- the strip ----------------------------------------------------------------------------- */

/* A thread's part in bringing pixels in: the group `column` of the rows row, row + TOGETHER … of
 * each step. */
template <class S, int G> struct gf_wide_flow {
    enum { BYTES = S::BYTES, BROAD = S::BROAD };
    enum { ROW = GF_WIDE_ROW_GROUPS(G, BROAD), THREADS = GF_WIDE_THREADS(G, BROAD) };
    enum { TOGETHER = THREADS / ROW, ROUNDS = (GF_WIDE_STEP + TOGETHER - 1) / TOGETHER };
    enum { PITCH = GF_WIDE_PITCH(G, BYTES, BROAD), SLOT = GF_WIDE_STEP * PITCH };
    unsigned char *slots;
    int *wild;  /* one more than the last step with a pixel that is not finite */
    void *turn; /* the barrier between steps */
    int *fold; /* the slot's column for each; -1: the border's value; else -2 - column of the source
                */
    int x, y;  /* of step 0 in the source */
    int steps;
    int columns;      /* that results depend on; a multiple of 8 */
    bool aligned;     /* groups of four pixels */
    bool inside;      /* aligned, and all columns are in the source */
    bool tame;        /* pixels that are not finite are taken out */
    bool takes_part;  /* the last few threads have no group */
    int row, column;  /* of the group's first pixel */
    bool there;       /* it lies in the source's whole groups */
    const char *from; /* in the next step to ask for */
    int to;           /* bytes in a slot */
};

/* Columns of the source that make up groups of four; with alignment the others are those at its
 * right. A copy of a part of a group would touch all of it, which may lie at the end of all memory,
 * and to fetch its pixels one by one here takes a wait for each row: gf_wide_mend has them. */
GF_DEVICE int gf_wide_grouped(const gf_wide_args &a) { return a.src.width & ~3; }

/* Ends before a barrier. */
template <class S, int G> GF_DEVICE void gf_wide_begin(const gf_wide_args &a, gf_wide_flow<S, G> &f)
{
    const long long bytes = f.BYTES; /* offsets may not fit an int */
    const long long at = reinterpret_cast<long long>(gf_row<const char>(a.src, 0)) + f.x * bytes;
    const int thread = static_cast<int>(threadIdx.x);
    f.aligned = ((at | a.src.pitch) & (4 * f.BYTES - 1)) == 0;
    f.inside = f.aligned && f.x >= 0 && f.x + 4 * f.ROW <= a.src.width;
    f.takes_part = thread < f.TOGETHER * f.ROW;
    f.row = thread / f.ROW, f.column = thread % f.ROW * 4;
    f.there = f.x + f.column >= 0 && f.x + f.column < gf_wide_grouped(a);
    f.from = gf_row<const char>(a.src, f.y + f.row) + (f.x + f.column) * bytes;
    f.to = f.row * f.PITCH + f.column * f.BYTES;
    if (f.inside) return;
    for (int i = thread; i < 4 * f.ROW; i += f.THREADS) {
        const int column = gf_border_index(f.x + i, a.src.width, a.border), at = column - f.x;
        const bool in_slot = at >= 0 && at < f.columns && column < gf_wide_grouped(a);
        f.fold[i] = column < 0 ? -1 : in_slot ? at : -2 - column;
    }
}

/* Ask for a group that is in the source, or make it zeros. */
template <class S> GF_DEVICE void gf_wide_ask_group(unsigned char *to, const char *from, bool there)
{
    typedef typename S::type T;
    if (there) {
        S::copy_async(to, from);
        return;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) reinterpret_cast<T *>(to)[k] = T(0);
}

/* The same of a row that is folded. Columns outside the groups are left to gf_wide_mend. */
template <class S, int G>
GF_DEVICE void gf_wide_ask_folded(const gf_wide_args &a, const gf_wide_flow<S, G> &f, int y,
                                  unsigned char *to)
{
    typedef typename S::type T;
    y = gf_border_index(y, a.src.height, a.border);
    if (y >= 0) {
        const T *const row = gf_row<const T>(a.src, y);
        gf_wide_ask_group<S>(
            to, reinterpret_cast<const char *>(row + (f.there ? f.x + f.column : 0)), f.there);
        return;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) reinterpret_cast<T *>(to)[k] = static_cast<T>(a.border_value);
}

/* Without alignment all pixels of a step are fetched one by one, folded; a warp takes rows in
 * turns, f32 pixels without waiting for them. */
GF_DEVICE void gf_wide_bring(float *to, const float *from) { gf_copy_async_4(to, from); }
GF_DEVICE void gf_wide_bring(unsigned short *to, const unsigned short *from) { *to = gf_ldg(from); }

template <class S, int G>
GF_DEVICE void gf_wide_ask_singly(const gf_wide_args &a, const gf_wide_flow<S, G> &f, int y,
                                  unsigned char *slot)
{
    typedef typename S::type T;
    enum { WARPS = GF_WIDE_WARPS(G, S::BROAD) };
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const bool inside = y >= 0 && y + GF_WIDE_STEP <= a.src.height;
#pragma unroll 1
    for (int i = static_cast<int>(threadIdx.x) % 32; i < f.columns; i += 32) {
        const int x = gf_border_index(f.x + i, a.src.width, a.border);
        unsigned char *to = slot + warp * f.PITCH + i * f.BYTES;
        const char *from =
            gf_row<const char>(a.src, y + warp) + static_cast<long long>(x) * f.BYTES;
#pragma unroll
        for (int row = 0; row < GF_WIDE_STEP; row += WARPS) {
            if (GF_WIDE_STEP % WARPS != 0 && warp + row >= GF_WIDE_STEP) break;
            T *const at = reinterpret_cast<T *>(to);
            const int folded = inside ? y : gf_border_index(y + warp + row, a.src.height, a.border);
            if (x < 0 || folded < 0)
                *at = static_cast<T>(a.border_value);
            else if (inside)
                gf_wide_bring(at, reinterpret_cast<const T *>(from));
            else
                gf_wide_bring(at, gf_row<const T>(a.src, folded) + x);
            to += WARPS * f.PITCH;
            from += WARPS * a.src.pitch;
        }
    }
}

/* A thread's rows of a step, none of them folded, group by group. */
template <class S, int G, class Ask>
GF_DEVICE void gf_wide_ask_rows(const gf_wide_args &a, const gf_wide_flow<S, G> &f,
                                unsigned char *to, Ask ask)
{
    const char *from = f.from;
#pragma unroll
    for (int i = 0; i < f.ROUNDS; i++) {
        if ((i + 1) * f.TOGETHER <= GF_WIDE_STEP || f.row + i * f.TOGETHER < GF_WIDE_STEP)
            ask(to, from);
        from += f.TOGETHER * a.src.pitch;
        to += f.TOGETHER * f.PITCH;
    }
}

/* Ask for the pixels of a step, or for none after the last; steps are asked for in order. */
template <class S, int G>
GF_DEVICE void gf_wide_ask(const gf_wide_args &a, gf_wide_flow<S, G> &f, int step,
                           unsigned char *slot)
{
    const int y = f.y + GF_WIDE_STEP * step;
    unsigned char *to = slot + f.to;
    if (step >= f.steps) {
    } else if (!f.aligned) {
        gf_wide_ask_singly(a, f, y, slot);
    } else if (!f.takes_part) {
    } else if (y < 0 || y + GF_WIDE_STEP > a.src.height) {
#pragma unroll 1
        for (int row = f.row; row < GF_WIDE_STEP; row += f.TOGETHER, to += f.TOGETHER * f.PITCH)
            gf_wide_ask_folded(a, f, y + row, to);
    } else if (f.inside) { /* by itself, so that there are no branches on the way */
        gf_wide_ask_rows<S, G>(
            a, f, to, [](unsigned char *at, const char *from) { S::copy_async(at, from); });
    } else {
        const bool there = f.there;
        gf_wide_ask_rows<S, G>(a, f, to, [there](unsigned char *at, const char *from) {
            gf_wide_ask_group<S>(at, from, there);
        });
    }
    gf_copy_async_commit();
    f.from += GF_WIDE_STEP * a.src.pitch;
}

GF_DEVICE bool gf_wide_is_wild(float v) { return gf_not_finite(v); }
GF_DEVICE bool gf_wide_is_wild(unsigned short) { return false; }

/* What a column outside the source's groups becomes, in one row of a step. */
template <class T> GF_DEVICE T gf_wide_folded(const gf_wide_args &a, int y, const T *line, int from)
{
    if (from >= 0) return line[from];
    y = gf_border_index(y, a.src.height, a.border);
    if (from == -1 || y < 0) return static_cast<T>(a.border_value);
    return gf_ldg(gf_row<const T>(a.src, y) - from - 2);
}

/* Make a step's columns outside the source's groups of the source's columns, which mostly are in
 * the slot too: a lane a row, a few columns at a time. */
template <class S, int G>
GF_DEVICE void gf_wide_mend(const gf_wide_args &a, const gf_wide_flow<S, G> &f, int step,
                            unsigned char *slot)
{
    typedef typename S::type T;
    enum { BATCH = 4, WARPS = GF_WIDE_WARPS(G, S::BROAD) };
    if (!f.aligned || f.inside || step >= f.steps) return;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int left = max(0, min(f.columns, -f.x));
    const int right = max(left, min(f.columns, gf_wide_grouped(a) - f.x));
    const int n = left + f.columns - right, y = f.y + GF_WIDE_STEP * step + lane;
    T *const line = reinterpret_cast<T *>(slot + lane * f.PITCH);
    bool wild = false;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x) / 32; first < n; first += BATCH * WARPS) {
        T v[BATCH];
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            const int k = min(first + u * WARPS, n - 1);
            v[u] = gf_wide_folded(a, y, line, f.fold[k < left ? k : right + k - left]);
            if (f.tame && gf_wide_is_wild(v[u])) {
                v[u] = static_cast<T>(0);
                wild = true;
            }
        }
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
            const int k = first + u * WARPS;
            if (k < n) line[k < left ? k : right + k - left] = v[u];
        }
    }
    if (wild) gf_atomic_max(f.wild, step + 1);
}

/* Wait for all pixels that this thread asked for, and take out of the step's those that are not
 * finite, if that is asked for. Ends before a barrier. */
template <class S, int G>
GF_DEVICE void gf_wide_await(const gf_wide_flow<S, G> &f, int step, unsigned char *slot)
{
    gf_copy_async_wait_but<0>();
    if (S::BYTES == 2 || !f.tame) return;
    __syncthreads();
    if (step >= f.steps || !f.takes_part) return;
    bool wild = false;
#pragma unroll 1
    for (int row = f.row; row < GF_WIDE_STEP; row += f.TOGETHER) {
        float *const v = reinterpret_cast<float *>(slot + row * f.PITCH + f.column * f.BYTES);
#pragma unroll 1
        for (int k = 0; k < 4; k++)
            if (f.column + k < f.columns && gf_not_finite(v[k])) {
                v[k] = 0.0f;
                wild = true;
            }
    }
    if (wild) gf_atomic_max(f.wild, step + 1);
}

/* The same, and as far as this thread goes others may begin the next step: it has used this step's
 * pixels. So warps need not keep together, and some make products while others ask for pixels or
 * store results. */
template <class S, int G>
GF_DEVICE void gf_wide_pass(const gf_wide_flow<S, G> &f, int step, unsigned char *slot)
{
    gf_wide_await(f, step, slot);
    gf_barrier_arrive(f.turn);
}

/* ---- results ------------------------------------------------------------------------------- */

struct gf_wide_place {
    int x, y;    /* of the lane's first result; the column is even */
    int columns; /* from there to the image's end, none or less being outside */
    bool inside; /* all of the warp's columns are in the image */
    bool pairs;  /* are aligned in its rows */
    bool plain;  /* results are stored as they are, pairs of floats */
    char *at;    /* the lane's first result */
};

GF_DEVICE bool gf_wide_pairs(const gf_kimage &im)
{
    const long long bytes = im.pixel == GF_P_U8 ? 2 : im.pixel == GF_P_U16 ? 4 : 8;
    return ((reinterpret_cast<long long>(gf_row<char>(im, 0)) | im.pitch) & (bytes - 1)) == 0;
}

GF_DEVICE gf_wide_place gf_wide_place_of(const gf_wide_args &a, int x, int y)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int first = x + lane / 4 * 2;
    const int bytes = a.dst.pixel == GF_P_U8 ? 1 : a.dst.pixel == GF_P_U16 ? 2 : 4;
    gf_wide_place place = {};
    place.x = first, place.y = y + lane % 4 * 2;
    place.columns = a.dst.width - first;
    place.inside = x + 16 <= a.dst.width;
    place.pairs = gf_wide_pairs(a.dst);
    place.plain = place.pairs && a.dst.pixel == GF_P_F32 && a.combine.points.n == 0 &&
                  a.combine.combine != GF_C_UNSHARP;
    place.at = gf_row<char>(a.dst, place.y) + static_cast<long long>(first) * bytes;
    return place;
}

/* The lane's eight rows of an image one after the other: the two of each tile. */
template <class T> struct gf_wide_rows {
    char *at;
    long long pitch;
    GF_DEVICE T *next(int i)
    {
        char *const row = at;
        at += i % 2 ? 7 * pitch : pitch;
        return reinterpret_cast<T *>(row);
    }
};

/* How a sum before it is multiplied by `factor` becomes a result, if that is not UNSHARP. */
GF_DEVICE gf_kcombine gf_wide_plain(const gf_wide_args &a)
{
    gf_kcombine combine = a.combine;
    combine.combine = GF_C_SUM; /* which the compiler does not know */
    combine.scale *= a.factor;
    return combine;
}

/* The step's pixels and those of the step before it, from the column of the lane's first result on.
 * The latter are gone if there are three slots. */
struct gf_wide_seen {
    const unsigned char *slot, *before;
    int row; /* of the lane's first result; from -32 on they are there */
};

GF_DEVICE float2 gf_wide_pair(const unsigned char *from, float)
{
    return *reinterpret_cast<const float2 *>(from);
}
GF_DEVICE float2 gf_wide_pair(const unsigned char *from, unsigned short)
{
    const unsigned two = *reinterpret_cast<const unsigned *>(from);
    return make_float2(static_cast<float>(two & 0xffffu), static_cast<float>(two >> 16));
}

/* Whether row i of the lane's eight is in an image of so many rows from the first one on. */
GF_DEVICE bool gf_wide_row_there(int rows, int i) { return i / 2 * 8 + i % 2 < rows; }

/* The pixels at a lane's results; those outside the image may be anything. */
template <class S, int G>
GF_DEVICE void gf_wide_own(const gf_wide_args &a, const gf_wide_place &place,
                           const gf_wide_seen &seen, float2 (&own)[2 * GF_WIDE_TILES])
{
    typedef typename S::type T;
    if (GF_WIDE_SLOTS(G) > 3 && a.ay - 8 * (G - 1) >= -GF_WIDE_STEP) { /* the same for all */
#pragma unroll
        for (int i = 0; i < 2 * GF_WIDE_TILES; i++) {
            const int row = seen.row + i / 2 * 8 + i % 2;
            const unsigned char *const slot = row < 0 ? seen.before : seen.slot;
            own[i] = gf_wide_pair(
                slot + (row & (GF_WIDE_STEP - 1)) * GF_WIDE_PITCH(G, S::BYTES, S::BROAD), T(0));
        }
        return;
    }
    const long long x = static_cast<long long>(place.x) * S::BYTES;
    gf_wide_rows<const T> rows = { gf_row<char>(a.src, place.y) + x, a.src.pitch };
    const int there = a.src.height - place.y;
#pragma unroll
    for (int i = 0; i < 2 * GF_WIDE_TILES; i++) {
        const T *const from = rows.next(i);
        const bool in = gf_wide_row_there(there, i);
        own[i] = make_float2(in && place.columns > 0 ? gf_get(from) : 0.0f,
                             in && place.columns > 1 ? gf_get(from + 1) : 0.0f);
    }
}

/* What gf_combine makes of sum * factor. With the product by itself the compiler might join it to
 * the difference in one place and not in another, and results would depend on where they are made.
 */
GF_DEVICE float gf_wide_sharpen(const gf_kcombine &c, float sum, float factor, float own)
{
    const float d = fmaf(-factor, sum, own);
    return fabsf(d) < c.threshold ? own : fmaf(c.amount, d, own); /* a NaN goes on */
}

/* UNSHARP: in place of the sums the results. */
template <class S, int G>
GF_DEVICE void gf_wide_unsharp(const gf_wide_args &a, const gf_wide_place &place,
                               const gf_wide_seen &seen, gf_wide_sums &v)
{
    gf_kcombine combine = a.combine;
    combine.amount = gf_shfl(combine.amount, 0); /* else it is loaded again for each pixel */
    float2 own[2 * GF_WIDE_TILES];
    gf_wide_own<S, G>(a, place, seen, own);
#pragma unroll
    for (int i = 0; i < 2 * GF_WIDE_TILES; i++) {
        float &first = v[i / 2][i % 2], &second = v[i / 2][2 + i % 2];
        first = gf_wide_sharpen(combine, first, a.factor, own[i].x);
        second = gf_wide_sharpen(combine, second, a.factor, own[i].y);
    }
}

GF_DEVICE void gf_wide_scale(const gf_wide_args &a, gf_wide_sums &v)
{
    const gf_kcombine combine = gf_wide_plain(a);
    float(&each)[GF_WIDE_MINE] = gf_wide_flat(v);
#pragma unroll
    for (int i = 0; i < GF_WIDE_MINE; i++) /* adding -0 is no addition */
        each[i] = gf_combine(combine, each[i], -0.0f, 0.0f);
}

GF_DEVICE void gf_wide_put_pair(float *to, float first, float second)
{
    *reinterpret_cast<float2 *>(to) = make_float2(first, second);
}
GF_DEVICE void gf_wide_put_pair(unsigned short *to, float first, float second)
{
    *reinterpret_cast<unsigned *>(to) = gf_pack_u16(first, second);
}
GF_DEVICE void gf_wide_put_pair(unsigned char *to, float first, float second)
{
    *reinterpret_cast<unsigned short *>(to) =
        static_cast<unsigned short>(gf_pack_u8(first, second, 0.0f, 0.0f));
}

template <class T>
GF_DEVICE void gf_wide_put_pairs(const gf_kimage &dst, const gf_wide_place &place,
                                 const gf_wide_sums &v)
{
    gf_wide_rows<T> rows = { place.at, dst.pitch };
#pragma unroll
    for (int i = 0; i < 2 * GF_WIDE_TILES; i++)
        gf_wide_put_pair(rows.next(i), v[i / 2][i % 2], v[i / 2][2 + i % 2]);
}

/* `whole`: all of the warp's results are in the image. */
template <class T>
GF_DEVICE void gf_wide_put_rows(const gf_kimage &dst, const gf_wide_place &place, bool whole,
                                const gf_wide_sums &v)
{
    if (whole && place.pairs) {
        gf_wide_put_pairs<T>(dst, place, v);
        return;
    }
    gf_wide_rows<T> rows = { place.at, dst.pitch };
    const int there = dst.height - place.y;
#pragma unroll
    for (int i = 0; i < 2 * GF_WIDE_TILES; i++) {
        T *const to = rows.next(i);
        if (!gf_wide_row_there(there, i)) continue;
        if (place.columns > 0) gf_put(to, v[i / 2][i % 2]);
        if (place.columns > 1) gf_put(to + 1, v[i / 2][2 + i % 2]);
    }
}

/* Whether any pixel under the window of the result (x, y) is not finite; then the sum, from the
 * pixels themselves. */
GF_DEVICE bool gf_wide_single(const gf_wide_args &a, int x, int y, float *sum)
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
    *sum = static_cast<float>(total);
    return wild;
}

/* Results one by one, near pixels that are not finite. Those that see none come out as they do
 * elsewhere, to the bit. */
GF_DEVICE void gf_wide_put_wild(const gf_wide_args &a, const gf_wide_place &place,
                                const gf_wide_sums &v)
{
    const bool unsharp = a.combine.combine == GF_C_UNSHARP;
    const gf_kcombine plain = gf_wide_plain(a);
    float each[GF_WIDE_MINE]; /* in memory, to be gone through by a loop */
#pragma unroll
    for (int i = 0; i < GF_WIDE_MINE; i++) each[i] = v[i / 4][i % 4];
#pragma unroll 1
    for (int i = 0; i < GF_WIDE_MINE; i++) {
        const int x = place.x + i % 4 / 2, y = place.y + i / 4 * 8 + i % 2;
        if (x >= a.dst.width || y >= a.dst.height) continue;
        const float own = unsharp ? gf_load(a.src, x, y) : 0.0f;
        float sum, result[1];
        if (gf_wide_single(a, x, y, &sum))
            result[0] = gf_combine(a.combine, sum, 0.0f, own);
        else if (unsharp)
            result[0] = gf_wide_sharpen(a.combine, each[i], a.factor, own);
        else
            result[0] = gf_combine(plain, each[i], -0.0f, 0.0f);
        gf_points(a.combine.points, result);
        gf_store(a.dst, x, y, result[0]);
    }
}

/* Make pixels of a warp's sums and store them. */
template <class S, int G>
GF_DEVICE void gf_wide_put(const gf_wide_args &a, const gf_wide_place &place,
                           const gf_wide_seen &seen, bool wild, gf_wide_sums &v)
{
    const int first = place.y - static_cast<int>(threadIdx.x) % 4 * 2; /* the same for the warp */
    const bool whole = place.inside && first + GF_WIDE_STEP <= a.dst.height;
    if (wild) {
        gf_wide_put_wild(a, place, v);
        return;
    }
    if (whole && place.plain) { /* by itself: many conditions fewer on the way */
        gf_wide_scale(a, v);
        gf_wide_put_pairs<float>(a.dst, place, v);
        return;
    }
    if (a.combine.combine == GF_C_UNSHARP)
        gf_wide_unsharp<S, G>(a, place, seen, v);
    else
        gf_wide_scale(a, v);
    gf_points(a.combine.points, gf_wide_flat(v));
    if (a.dst.pixel == GF_P_F32)
        gf_wide_put_rows<float>(a.dst, place, whole, v);
    else if (a.dst.pixel == GF_P_U16)
        gf_wide_put_rows<unsigned short>(a.dst, place, whole, v);
    else
        gf_wide_put_rows<unsigned char>(a.dst, place, whole, v);
}

/* ---- the kernels --------------------------------------------------------------------------- */

/* The first pass: the last four tiles of the ring become those of the step's pixels. */
template <class S, int G, class R>
GF_DEVICE void gf_wide_along(const uint4 *taps, const unsigned char *pixels, R &ring)
{
    gf_wide_parts<G> parts = {};
    S::template along<G>(taps, pixels, parts);
    parts.total();
#pragma unroll
    for (int q = 0; q < GF_WIDE_TILES; q++) ring.put(q, S::keep(parts.first[q]));
}

/* Whether results are not finite: then none is left NaN. A pixel that is not makes NaN of all in
 * its tiles, zero taps being no exception, so that one of each tile tells. */
GF_DEVICE float gf_wide_look(const gf_wide_sums &v, float none)
{
#pragma unroll
    for (int q = 0; q < GF_WIDE_TILES; q++) none = fmaf(v[q][0], 0.0f, none);
    return none;
}

/* A block's weights in shared memory; ends before a barrier. */
template <class S, int G> GF_DEVICE void gf_wide_load(const void *weights, uint4 *to)
{
    const uint4 *const from = static_cast<const uint4 *>(weights);
    for (int i = static_cast<int>(threadIdx.x); i < GF_WIDE_WEIGHT_BYTES(G, S::BYTES) / 16;
         i += GF_WIDE_THREADS(G, S::BROAD))
        to[i] = gf_ldg(from + i);
}

/* A block's part of the image. The first blocks make the first strip and the last ones, in turns:
 * they fold columns, and have fewer rows. */
struct gf_wide_area {
    int strip, y, rows;
};

template <class S, int G> GF_DEVICE gf_wide_area gf_wide_area_of(const gf_wide_args &a)
{
    const int block = static_cast<int>(blockIdx.x), inner = block - a.edges;
    if (a.edges == 0) return { inner % a.strips, inner / a.strips * a.rows, a.rows };
    const int n = GF_WIDE_INNER_END(G, S::BROAD, a.lead, a.dst.width) - 1, others = a.strips - n;
    if (inner >= 0) return { 1 + inner % n, inner / n * a.rows, a.rows };
    const int which = block % others;
    return { which == 0 ? 0 : n + which, block / others * a.edge_rows, a.edge_rows };
}

/* Make a block's results; tells whether this thread met any that is not finite. */
template <class S, int G>
GF_DEVICE bool gf_wide_strip(const gf_wide_args &a, unsigned char *shared, bool tame)
{
    enum { AHEAD = GF_WIDE_AHEAD(G), SLOTS = GF_WIDE_SLOTS(G) };
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int width = GF_WIDE_WIDTH(G, S::BROAD);
    const gf_wide_area area = gf_wide_area_of<S, G>(a);
    const int x = area.strip * width, y = area.y, rows = min(area.rows, a.dst.height - y);
    gf_wide_flow<S, G> flow;
    flow.slots = shared + GF_WIDE_NOTES + GF_WIDE_WEIGHT_BYTES(G, S::BYTES);
    flow.wild = reinterpret_cast<int *>(shared);
    flow.turn = shared + (tame ? 16 : 8);
    flow.fold = reinterpret_cast<int *>(flow.slots + SLOTS * flow.SLOT);
    flow.tame = tame;
    flow.x = x - a.lead, flow.y = y - a.ay + 8 * (G - 1) - GF_WIDE_STEP * AHEAD;
    flow.steps = (rows + GF_WIDE_STEP - 1) / GF_WIDE_STEP + AHEAD;
    flow.columns = (min(width, a.dst.width - x) + 15) / 16 * 16 + 8 * (G - 1);
    gf_wide_begin(a, flow);
    unsigned char *slot = flow.slots, *next = slot + flow.SLOT, *ahead = next + flow.SLOT;
    unsigned char *before = slot + (SLOTS - 1) * flow.SLOT; /* with three slots that is `ahead` */
    gf_wide_ask(a, flow, 0, slot);
    gf_wide_load<S, G>(a.weights, reinterpret_cast<uint4 *>(shared + GF_WIDE_NOTES));
    if (threadIdx.x == 0) {
        *flow.wild = 0;
        gf_barrier_begin(flow.turn, flow.THREADS);
    }
    __syncthreads(); /* before `wild` is used */
    gf_wide_await(flow, 0, slot);
    __syncthreads();
    gf_wide_ask(a, flow, 1, next);
    gf_wide_mend(a, flow, 0, slot);
    gf_wide_ring<typename S::kept, G, S::BROAD> ring;
    ring.begin(shared + GF_WIDE_RING_AT(G, S::BYTES, S::BROAD));
    gf_wide_place place = gf_wide_place_of(a, x + 16 * warp, y);
    const uint4 *const along = reinterpret_cast<const uint4 *>(shared + GF_WIDE_NOTES) + lane;
    const uint4 *const down = along + GF_WIDE_ALONG_BYTES(G, S::BYTES) / 16;
    const int from =
        (lane / 16 * 8 + lane % 8) * flow.PITCH + lane / 8 % 2 * 16 + 16 * flow.BYTES * warp;
    const int own =
        (a.lead + 16 * warp + lane / 4 * 2) * flow.BYTES; /* the first result's column */
    const bool idle = x + 16 * warp >= a.dst.width;
    float none = 0.0f; /* or NaN */
    gf_wide_pass(flow, 1, next);
    for (int step = 0; step < flow.steps; step++) {
        gf_barrier_wait(flow.turn, step); /* now `next` is there, and `ahead` is free */
        bool wild = false;
        if (S::BYTES == 4 && tame) {
            wild = *flow.wild > step - AHEAD;
            __syncthreads();
        }
        gf_wide_ask(a, flow, step + 2, ahead);
        gf_wide_mend(a, flow, step + 1, next);
        if (!idle) {
            ring.step();
            gf_wide_along<S, G>(along, slot + from, ring);
        }
        if (SLOTS == 3) gf_wide_pass(flow, step + 2, ahead);
        if (!idle && step >= AHEAD) {
            gf_wide_parts<G> parts = {};
            S::template down<G>(down, ring, parts);
            parts.total();
            gf_wide_sums &sum = parts.first;
            if (S::BYTES == 4) none = gf_wide_look(sum, none);
            const gf_wide_seen seen = { slot + own, before + own,
                                        a.ay - 8 * (G - 1) + lane % 4 * 2 };
            gf_wide_put<S, G>(a, place, seen, wild, sum);
            place.y += GF_WIDE_STEP, place.at += GF_WIDE_STEP * a.dst.pitch;
        }
        if (SLOTS > 3) gf_wide_pass(flow, step + 2, ahead);
        unsigned char *const done = SLOTS > 3 ? before : slot;
        before = slot, slot = next, next = ahead, ahead = done;
    }
    return none != 0.0f;
}

template <class S, int G> GF_DEVICE void gf_wide_block(const gf_wide_args &a, unsigned char *shared)
{
    for (int turn = 0; turn < 2; turn++) {
        const bool wild = gf_wide_strip<S, G>(a, shared, turn > 0);
        if (S::BYTES == 2 || !gf_sync_or(wild)) return; /* the same for the whole block */
    }
}

#define GF_WIDE_BODY(S, G)                                                                         \
    GF_SHARED(unsigned char, shared);                                                              \
    gf_wide_block<S, G>(a, shared);

#else /* older chips have no such instructions; they are not given these kernels */
#define GF_WIDE_BODY(S, G)
#endif

#define GF_WIDE_KERNEL(S, name, G, bytes, broad)                                                   \
    GF_KERNEL_BOUNDS(GF_WIDE_THREADS(G, broad), GF_WIDE_BLOCKS(G, bytes, broad), name##G,          \
                     gf_wide_args, a)                                                              \
    {                                                                                              \
        GF_WIDE_BODY(S, G)                                                                         \
    }
#define GF_WIDE_F32(G) GF_WIDE_KERNEL(gf_wide_f32, gf_wide_f32_, G, 4, 0)
#define GF_WIDE_BROAD(G) GF_WIDE_KERNEL(gf_wide_broad, gf_wide_broad_, G, 4, 1)
#define GF_WIDE_U16(G) GF_WIDE_KERNEL(gf_wide_u16, gf_wide_u16_, G, 2, 0)
GF_WIDE_VARIANTS_F32(GF_WIDE_F32)
GF_WIDE_VARIANTS_BROAD(GF_WIDE_BROAD)
GF_WIDE_VARIANTS_U16(GF_WIDE_U16)
