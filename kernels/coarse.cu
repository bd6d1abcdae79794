/* Large smooth separable windows from a coarse grid.
 *
 * Along an axis the window is a smooth part, S, and a small rest, E, where it is cut. S is made of
 * three filters: sums of the pixels weighted by phi at every `step` pixels, the nodes' taps on
 * those sums, and phi again to spread them. What that leaves is as good as the numbers contract
 * asks; the host has the proof. In two dimensions
 *
 *     (Sx + Ex) (Sy + Ey) = Sx Sy + Ex Sy + Sx Ey + Ex Ey
 *
 * where the last is too small to count, and for Sx in the third a crude one will do. The passes:
 *
 *  - down: sums of columns, by nodes in y, of bytes as exact products; and of blocks of each row
 *  - blocks: a crude Sx of the blocks, on a grid in x
 *  - columns: the nodes' taps in y, which is Sy but for phi ("smooth")
 *  - wide: Sx and Ex of the smooth rows; and Ey of the grid ("bent")
 *  - up: phi in y on the wide rows, and the bent grid interpolated
 *
 * Of Ex and Ey a crude product will do, on tensor cores. Nodes cover what surrounds the image too,
 * so borders need no care in y after `down`. */
#include "kernels/coarse.variants.h"
#include "kernels/gf_tile.cuh"
#include "kernels/gf_wild.cuh"

#ifdef GF_HAVE_TENSOR

/* ---- down: nodes in y, blocks in x --------------------------------------------------------- */

/* C neighbouring pixels as they lie in memory. */
template <class T, int C> struct gf_coarse_pixels {
    enum { WORDS = C * static_cast<int>(sizeof(T)) / 4 };
    unsigned word[WORDS];
};

template <class T> GF_DEVICE float gf_coarse_pixel(const unsigned *words, int i);
template <> GF_DEVICE float gf_coarse_pixel<unsigned char>(const unsigned *words, int i)
{
    return gf_bits_float(gf_pick_bytes(words[i / 4], 0x4b000000u, 0x7440u | (i & 3))) - 8388608.0f;
}
template <> GF_DEVICE float gf_coarse_pixel<unsigned short>(const unsigned *words, int i)
{
    return gf_bits_float(gf_pick_bytes(words[i / 2], 0x4b000000u, i & 1 ? 0x7432u : 0x7410u)) -
           8388608.0f;
}
template <> GF_DEVICE float gf_coarse_pixel<float>(const unsigned *words, int i)
{
    return gf_bits_float(words[i]);
}

/* The bits of a value that a pixel can have. */
template <class T> GF_DEVICE unsigned gf_coarse_bits(float v) { return static_cast<unsigned>(v); }
template <> GF_DEVICE unsigned gf_coarse_bits<float>(float v) { return gf_float_bits(v); }

/* C pixels at an aligned place. */
template <class T, int C> GF_DEVICE gf_coarse_pixels<T, C> gf_coarse_read(const void *from)
{
    enum { WORDS = gf_coarse_pixels<T, C>::WORDS };
    gf_coarse_pixels<T, C> p;
    if (WORDS == 2) {
        const uint2 v = gf_ldg(static_cast<const uint2 *>(from));
        p.word[0] = v.x, p.word[1] = v.y;
    } else {
        const uint4 v = gf_ldg(static_cast<const uint4 *>(from));
        p.word[0] = v.x, p.word[1] = v.y;
        p.word[WORDS - 2] = v.z, p.word[WORDS - 1] = v.w;
    }
    return p;
}

/* Put value v at pixel i. */
template <class T, int C> GF_DEVICE void gf_coarse_insert(gf_coarse_pixels<T, C> &p, int i, float v)
{
    enum { BITS = 8 * static_cast<int>(sizeof(T)) };
    p.word[i * BITS / 32] |= gf_coarse_bits<T>(v) << i * BITS % 32;
}

/* Two floats cut to bfloat16, rounded, the first in the low half. */
GF_DEVICE unsigned gf_coarse_pack(float first, float second)
{
    return gf_pick_bytes(gf_float_bits(first) + 0x8000u, gf_float_bits(second) + 0x8000u, 0x7632);
}

/* Sum of a block, and its first moment about the block's middle. */
template <class T, int C>
GF_DEVICE unsigned gf_coarse_moments(const unsigned *, const float (&v)[C])
{
    float sum = 0.0f, moment = 0.0f;
#pragma unroll
    for (int i = 0; i < C / 2; i++) {
        sum += v[i] + v[C - 1 - i];
        moment = fmaf(0.5f * static_cast<float>(C - 1) - static_cast<float>(i), v[C - 1 - i] - v[i],
                      moment);
    }
    return gf_coarse_pack(sum, moment);
}
template <>
GF_DEVICE unsigned gf_coarse_moments<unsigned char, 8>(const unsigned *words, const float (&)[8])
{
    const unsigned sum =
        gf_dot_bytes(words[0], 0x01010101u, gf_dot_bytes(words[1], 0x01010101u, 0u));
    const unsigned twice =
        gf_dot_bytes(words[0], 0xfffdfbf9u, gf_dot_bytes(words[1], 0x07050301u, 0u));
    return gf_coarse_pack(static_cast<float>(sum),
                          0.5f * static_cast<float>(static_cast<int>(twice)));
}

/* The pixels as floats, wild ones as 0. */
template <class T, int C>
GF_DEVICE void gf_coarse_unpack(const gf_coarse_args &a, const gf_coarse_pixels<T, C> &pixels,
                                float (&v)[C], bool &wild)
{
#pragma unroll
    for (int i = 0; i < C; i++) {
        v[i] = gf_coarse_pixel<T>(pixels.word, i);
        if (sizeof(T) == 4) v[i] = gf_wild_tame(v[i], a.limit, wild);
    }
}

/* A thread's columns, all in the image but for the last thread's; whole: all of them, and aligned.
 */
template <class T, int C> struct gf_coarse_columns_of {
    int x;
    bool whole;

    /* Row y of what the image and its border are. */
    GF_DEVICE gf_coarse_pixels<T, C> any(const gf_coarse_args &a, int row) const
    {
        const int y = gf_border_index(row, a.src.height, a.border);
        const T *const from = gf_row<const T>(a.src, y < 0 ? 0 : y) + x;
        if (whole && y >= 0) return gf_coarse_read<T, C>(from);
        gf_coarse_pixels<T, C> p = {};
#pragma unroll
        for (int i = 0; i < C; i++)
            if (x + i < a.src.width)
                gf_coarse_insert(p, i, y < 0 ? a.border_value : gf_get(from + i));
        return p;
    }
};

/* Sums of nodes; [m]: of the one that began m steps ago. */
template <int C> struct gf_coarse_open {
    float sum[GF_COARSE_SPAN][C];

    /* Row p of a step. */
    GF_DEVICE void take(const gf_coarse_args &a, int p, const float (&v)[C])
    {
#pragma unroll
        for (int m = 0; m < GF_COARSE_SPAN; m++) {
            const float weight = a.phi[p * GF_COARSE_SPAN + m];
#pragma unroll
            for (int i = 0; i < C; i++) sum[m][i] = fmaf(weight, v[i], sum[m][i]);
        }
    }

    /* Begin a step; the oldest node is done. */
    GF_DEVICE void next()
    {
#pragma unroll
        for (int m = GF_COARSE_SPAN - 1; m >= 0; m--)
#pragma unroll
            for (int i = 0; i < C; i++) sum[m][i] = m > 0 ? sum[m - (m > 0)][i] : 0.0f;
    }
};

/* A thread walks down `run` steps and leaves what they add to every node that they touch: nodes it
 * began go to `down`, those that the thread above began to `more`. */
template <class T, int C> GF_DEVICE void gf_coarse_walk(const gf_coarse_args &a, int thread)
{
    enum { SPAN = GF_COARSE_SPAN, GROUP = GF_COARSE_GROUP };
    const int x = thread * C, first = static_cast<int>(blockIdx.y) * a.run;
    const int steps = min(a.run, a.nodes + SPAN - 1 - first);
    const long long at = reinterpret_cast<long long>(a.src.data) | a.src.pitch;
    const bool full = x + C <= a.src.width;
    const gf_coarse_columns_of<T, C> columns = { x, full && (at & (C * static_cast<int>(sizeof(T)) -
                                                                   1)) == 0 };
    if (x >= a.src.width) return;
    int y = (first - (SPAN - 1) - a.reach) * a.step;
    unsigned *block =
        a.blocks + static_cast<long long>(y) * a.block_pitch + a.block_left / C + thread;
    gf_coarse_open<C> open = {};
    bool wild = false;
    gf_coarse_pixels<T, C> rows[GROUP];
#pragma unroll
    for (int i = 0; i < GROUP; i++) rows[i] = columns.any(a, y + i);
    for (int step = 0; step < steps + SPAN - 1; step++) {
        for (int p = 0; p < a.step && step < steps; p += GROUP, y += GROUP) {
            const int ahead = y + GROUP;
            const bool inside = columns.whole && ahead >= 0 && ahead + GROUP <= a.src.height;
            const char *from = reinterpret_cast<const char *>(gf_row<const T>(a.src, ahead) + x);
#pragma unroll
            for (int i = 0; i < GROUP; i++, block += a.block_pitch, from += a.src.pitch) {
                float v[C];
                gf_coarse_unpack<T, C>(a, rows[i], v, wild);
                if (full && y + i >= 0 && y + i < a.src.height)
                    *block = gf_coarse_moments<T, C>(rows[i].word, v);
                rows[i] = inside ? gf_coarse_read<T, C>(from) : columns.any(a, ahead + i);
                open.take(a, p + i, v);
            }
        }
        const int node = first + step - (SPAN - 1);
        if (node >= 0 && node < a.nodes) {
            float *const to =
                (step < SPAN - 1 ? a.more : a.down) + static_cast<long long>(node) * a.pitch + x;
#pragma unroll
            for (int i = 0; i < C; i += 4)
                if (x + i < a.pitch)
                    gf_put4(to + i,
                            make_float4(open.sum[SPAN - 1][i], open.sum[SPAN - 1][i + 1],
                                        open.sum[SPAN - 1][i + 2], open.sum[SPAN - 1][i + 3]));
        }
        open.next();
    }
    if (sizeof(T) == 4 && wild) *a.wild = 1;
}

/* A block that the border makes, in whole or in part; column[i] < 0: outside. */
template <class T, int C>
GF_DEVICE unsigned gf_coarse_edge(const gf_coarse_args &a, const int (&column)[C], int y)
{
    const T *const from = gf_row<const T>(a.src, y);
    gf_coarse_pixels<T, C> p = {};
    float v[C];
    bool wild;
#pragma unroll
    for (int k = 0; k < C; k++)
        gf_coarse_insert(p, k, column[k] < 0 ? a.border_value : gf_get(from + column[k]));
    gf_coarse_unpack<T, C>(a, p, v, wild);
    return gf_coarse_moments<T, C>(p.word, v);
}

/* All of them: a thread has one of a row, and of every few rows after it; blockIdx.x: of
 * GF_COARSE_EDGES. */
template <class T, int C> GF_DEVICE void gf_coarse_edges(const gf_coarse_args &a)
{
    const int left = a.block_left / C, right = left + a.src.width / C;
    const int edges = a.block_pitch - (right - left);
    const int share = static_cast<int>(blockIdx.y) * GF_COARSE_EDGES + static_cast<int>(blockIdx.x);
    const int threads = GF_COARSE_EDGES * static_cast<int>(gridDim.y * blockDim.x);
    const int rows = max(threads / edges, 1); /* at a time */
    for (int i = share * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
         i < rows * edges; i += threads) {
        const int edge = i % edges, block = edge < left ? edge : edge + right - left;
        int column[C];
#pragma unroll
        for (int k = 0; k < C; k++)
            column[k] = gf_border_index(block * C - a.block_left + k, a.src.width, a.border);
#pragma unroll 4
        for (int y = i / edges; y < a.src.height; y += rows)
            a.blocks[static_cast<long long>(y) * a.block_pitch + block] =
                gf_coarse_edge<T, C>(a, column, y);
    }
}

/* Grid: GF_COARSE_EDGES blocks for the edges and columns / C x runs. */
GF_KERNEL_BOUNDS(GF_COARSE_DOWN_THREADS, 5, gf_coarse_down_f32, gf_coarse_args, a)
{
    enum { C = GF_COARSE_COLUMNS(GF_P_F32) };
    if (blockIdx.x < GF_COARSE_EDGES)
        gf_coarse_edges<float, C>(a);
    else
        gf_coarse_walk<float, C>(
            a, static_cast<int>((blockIdx.x - GF_COARSE_EDGES) * blockDim.x + threadIdx.x));
}

/* ---- down for u8 and u16: exact products of bytes with the digits of phi ------------------- */

/* A step of a product takes 32 rows; a group of eight nodes begins every step / 4 of them. Lane
 * 4 g + t holds eight bytes of each of the rows 4 t to 4 t + 3 and 16 + 4 t to 19 + 4 t. */
struct gf_coarse_bytes {
    uint2 row[8];
};

template <class T> struct gf_coarse_byte_columns {
    enum { C = 8 / static_cast<int>(sizeof(T)) };
    int x;      /* of the lane */
    bool whole; /* all C in the image, and aligned */

    /* Of a row of the image, or one outside, pixel by pixel. */
    GF_DEVICE uint2 slowly(const gf_coarse_args &a, int y) const
    {
        enum { BITS = 8 * static_cast<int>(sizeof(T)) };
        const T *const from = gf_row<const T>(a.src, y < 0 ? 0 : y) + x;
        unsigned long long v = 0;
#pragma unroll 1
        for (int i = 0; i < C && x + i < a.src.width; i++)
            v |= static_cast<unsigned long long>(y < 0 ? static_cast<T>(a.border_value)
                                                       : gf_ldg(from + i))
                 << BITS * i;
        return make_uint2(static_cast<unsigned>(v), static_cast<unsigned>(v >> 32));
    }

    /* Of a row at any address, by words that reach at most three bytes to either side. */
    static GF_DEVICE uint2 shifted(const void *from)
    {
        const unsigned long long at = reinterpret_cast<unsigned long long>(from);
        const unsigned shift = static_cast<unsigned>(at & 3) * 8;
        const unsigned *const word = reinterpret_cast<const unsigned *>(at - (at & 3));
        const unsigned b = gf_ldg(word + 1), c = shift ? gf_ldg(word + 2) : 0u;
        return make_uint2(gf_shift_words(gf_ldg(word), b, shift), gf_shift_words(b, c, shift));
    }

    /* Ask for the rows of a step from row y on, one group of copies. */
    GF_DEVICE void ask(const gf_coarse_args &a, int y, uint2 *to) const
    {
        const int own = y + static_cast<int>(threadIdx.x) % 4 * 4;
        const bool inside = y >= 0 && y + 32 <= a.src.height;
        const char *from = reinterpret_cast<const char *>(gf_row<const T>(a.src, own) + x);
        if (whole && inside) {
#pragma unroll
            for (int i = 0; i < 8; i++, from += i == 4 ? 13 * a.src.pitch : a.src.pitch)
                gf_copy_async_8(to + 32 * i, from);
        } else if (inside && x >= 3 && x + C + 3 <= a.src.width) {
#pragma unroll
            for (int i = 0; i < 8; i++, from += i == 4 ? 13 * a.src.pitch : a.src.pitch)
                to[32 * i] = shifted(from);
        } else {
#pragma unroll 1
            for (int i = 0; i < 8; i++) {
                const int row = gf_border_index(own + i + i / 4 * 12, a.src.height, a.border);
                if (whole && row >= 0)
                    gf_copy_async_8(to + 32 * i, gf_row<const T>(a.src, row) + x);
                else
                    to[32 * i] = slowly(a, row);
            }
        }
        gf_copy_async_commit();
    }
};

/* Sums of eight nodes in 64 columns of bytes by digit of phi: [tile][digit]. The tile's rows g and
 * g + 8 are the lane's bytes 2 tile and 2 tile + 1; its columns are nodes. */
struct gf_coarse_group {
    int sum[4][GF_COARSE_DIGITS][4];
};

/* Columns 0 and 1 of four rows, or 2 and 3, as bytes of a word each. */
GF_DEVICE void gf_coarse_turn(unsigned a, unsigned b, unsigned c, unsigned d, bool second,
                              unsigned (&to)[2])
{
    const unsigned low = gf_pick_bytes(a, b, second ? 0x7362 : 0x5140);
    const unsigned high = gf_pick_bytes(c, d, second ? 0x7362 : 0x5140);
    to[0] = gf_pick_bytes(low, high, 0x5410);
    to[1] = gf_pick_bytes(low, high, 0x7632);
}

/* The operand for a tile. */
GF_DEVICE void gf_coarse_operand(const gf_coarse_bytes &p, int tile, unsigned (&v)[4])
{
    unsigned low[2], high[2];
#define GF_COARSE_WORD(i) (tile < 2 ? p.row[i].x : p.row[i].y)
    gf_coarse_turn(GF_COARSE_WORD(0), GF_COARSE_WORD(1), GF_COARSE_WORD(2), GF_COARSE_WORD(3),
                   tile % 2, low);
    gf_coarse_turn(GF_COARSE_WORD(4), GF_COARSE_WORD(5), GF_COARSE_WORD(6), GF_COARSE_WORD(7),
                   tile % 2, high);
#undef GF_COARSE_WORD
    v[0] = low[0], v[1] = low[1], v[2] = high[0], v[3] = high[1];
}

/* Let a step's rows take part in a group, of which they are step k. */
GF_DEVICE void gf_coarse_take(const unsigned *digits, int k, const unsigned (&bytes)[4][4],
                              gf_coarse_group &group)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    digits += GF_COARSE_STEP_WORDS * k;
    const uint4 low = *reinterpret_cast<const uint4 *>(digits + 4 * lane);
    const uint2 high = *reinterpret_cast<const uint2 *>(digits + 128 + 2 * lane);
    const unsigned digit[GF_COARSE_DIGITS][2] = { { low.x, low.y },
                                                  { low.z, low.w },
                                                  { high.x, high.y } };
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int d = 0; d < GF_COARSE_DIGITS; d++)
            gf_mma_16832_u8(group.sum[i][d], bytes[i], digit[d][0], digit[d][1], group.sum[i][d]);
}

GF_DEVICE float gf_coarse_node(const gf_coarse_args &a, const int (&sum)[GF_COARSE_DIGITS][4],
                               int i)
{
    const float low = fmaf(static_cast<float>(sum[1][i]), 256.0f, static_cast<float>(sum[0][i]));
    return a.digit_unit * fmaf(static_cast<float>(sum[2][i]), 65536.0f, low);
}

/* Node n of the lane's two, for its four pixels from i on. */
template <class T>
GF_DEVICE float4 gf_coarse_nodes(const gf_coarse_args &a, const gf_coarse_group &group, int i,
                                 int n)
{
    float v[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if (sizeof(T) == 1)
            v[k] = gf_coarse_node(a, group.sum[(i + k) / 2], n + (i + k) % 2 * 2);
        else /* of its low and its high byte */
            v[k] = fmaf(256.0f, gf_coarse_node(a, group.sum[k], n + 2),
                        gf_coarse_node(a, group.sum[k], n));
    }
    return make_float4(v[0], v[1], v[2], v[3]);
}

/* Nodes of a group, of which the first is `node`. */
template <class T>
GF_DEVICE void gf_coarse_put_group(const gf_coarse_args &a, int x, int node,
                                   const gf_coarse_group &group)
{
    node += static_cast<int>(threadIdx.x) % 4 * 2;
#pragma unroll
    for (int n = 0; n < 2; n++, node++) {
        float *const to = a.down + static_cast<long long>(node) * a.pitch + x;
        if (node >= a.nodes) continue;
#pragma unroll
        for (int i = 0; i < gf_coarse_byte_columns<T>::C; i += 4)
            if (x + i < a.pitch) gf_put4(to + i, gf_coarse_nodes<T>(a, group, i, n));
    }
}

template <class T, int C> GF_DEVICE unsigned gf_coarse_block(uint2 pixels)
{
    const unsigned words[2] = { pixels.x, pixels.y };
    float v[C];
#pragma unroll
    for (int k = 0; k < C; k++) v[k] = gf_coarse_pixel<T>(words, k);
    return gf_coarse_moments<T, C>(words, v);
}

/* The blocks of a step's rows. */
template <class T>
GF_DEVICE void gf_coarse_put_blocks(const gf_coarse_args &a, int x, int y, const gf_coarse_bytes &p)
{
    enum { C = gf_coarse_byte_columns<T>::C };
    if (x + C > a.src.width) return;
    const bool inside = y >= 0 && y + 32 <= a.src.height;
    y += static_cast<int>(threadIdx.x) % 4 * 4;
    unsigned *const to =
        a.blocks + static_cast<long long>(y) * a.block_pitch + (a.block_left + x) / C;
    unsigned block[8];
#pragma unroll
    for (int i = 0; i < 8; i++) block[i] = gf_coarse_block<T, C>(p.row[i]);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int row = i + i / 4 * 12;
        if (inside || (y + row >= 0 && y + row < a.src.height)) to[row * a.block_pitch] = block[i];
    }
}

/* A warp walks down 64 columns of bytes and makes `run` groups; ring: the lane's rows of the step
 * and those on their way. */
template <class T>
GF_DEVICE void gf_coarse_walk_bytes(const gf_coarse_args &a, const unsigned *digits, uint2 *ring,
                                    int warp)
{
    enum { C = gf_coarse_byte_columns<T>::C, STAGES = GF_COARSE_STAGES, STAGE = 8 * 32 };
    const int x = 8 * C * warp + static_cast<int>(threadIdx.x) % 32 / 4 * C;
    const int first = static_cast<int>(blockIdx.y) * a.run;
    const int groups = min(a.run, (a.nodes + 7) / 8 - first);
    const long long at = reinterpret_cast<long long>(a.src.data) | a.src.pitch;
    const gf_coarse_byte_columns<T> columns = { x, x + C <= a.src.width && (at & 7) == 0 };
    const int apart = a.step / 4; /* steps from group to group */
    int y = (8 * first - (GF_COARSE_SPAN - 1) - a.reach) * a.step, stage = 0;
    gf_coarse_group young = {}, old = {};
#pragma unroll
    for (int i = 0; i < STAGES - 1; i++) columns.ask(a, y + 32 * i, ring + STAGE * i);
    for (int group = 0; group <= groups; group++) {
        const int steps = group < groups ? apart : a.group_steps - apart;
#pragma unroll 1
        for (int k = 0; k < steps; k++, y += 32) {
            gf_coarse_bytes rows;
            unsigned bytes[4][4];
            gf_copy_async_wait_but<STAGES - 2>();
#pragma unroll
            for (int i = 0; i < 8; i++) rows.row[i] = ring[STAGE * stage + 32 * i];
            columns.ask(a, y + 32 * (STAGES - 1), ring + STAGE * (stage ? stage - 1 : STAGES - 1));
            stage = stage + 1 < STAGES ? stage + 1 : 0;
#pragma unroll
            for (int i = 0; i < 4; i++) gf_coarse_operand(rows, i, bytes[i]);
            if (group < groups) {
                gf_coarse_put_blocks<T>(a, x, y, rows);
                gf_coarse_take(digits, k, bytes, young);
            }
            if (group > 0 && k + apart < a.group_steps)
                gf_coarse_take(digits, k + apart, bytes, old);
        }
        if (group > 0) gf_coarse_put_group<T>(a, x, 8 * (first + group - 1), old);
        old = young;
        young = {};
    }
    gf_copy_async_wait();
}

/* Grid: GF_COARSE_EDGES blocks for the edges and bytes of a row / 64 / warps x runs. */
template <class T> GF_DEVICE void gf_coarse_down_bytes(const gf_coarse_args &a, unsigned *memory)
{
    const int block = static_cast<int>(blockIdx.x) - GF_COARSE_EDGES;
    if (block < 0) {
        gf_coarse_edges<T, gf_coarse_byte_columns<T>::C>(a);
        return; /* all of the block */
    }
    const int thread = static_cast<int>(threadIdx.x), n = GF_COARSE_STEP_WORDS * a.group_steps;
    const int warp = block * GF_COARSE_DOWN_THREADS / 32 + thread / 32;
    for (int i = 4 * thread; i < n; i += 4 * GF_COARSE_DOWN_THREADS)
        *reinterpret_cast<uint4 *>(memory + i) =
            gf_ldg(reinterpret_cast<const uint4 *>(static_cast<const unsigned *>(a.digits) + i));
    __syncthreads();
    if (8 * gf_coarse_byte_columns<T>::C * warp >= a.src.width) return;
    uint2 *const ring = reinterpret_cast<uint2 *>(memory + n);
    gf_coarse_walk_bytes<T>(a, memory, ring + thread / 32 * GF_COARSE_STAGES * 8 * 32 + thread % 32,
                            warp);
}

GF_KERNEL_BOUNDS(GF_COARSE_DOWN_THREADS, 3, gf_coarse_down_u8, gf_coarse_args, a)
{
    GF_SHARED(unsigned, memory);
    gf_coarse_down_bytes<unsigned char>(a, memory);
}
GF_KERNEL_BOUNDS(GF_COARSE_DOWN_THREADS, 3, gf_coarse_down_u16, gf_coarse_args, a)
{
    GF_SHARED(unsigned, memory);
    gf_coarse_down_bytes<unsigned short>(a, memory);
}

/* ---- sums along columns -------------------------------------------------------------------- */

/* N floats at an aligned place in device memory. */
template <int N> GF_DEVICE void gf_coarse_load(const float *from, float (&to)[N])
{
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        const float4 v = gf_ldg(reinterpret_cast<const float4 *>(from + i));
        to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
    }
}

/* Let n rows take part in GF_COARSE_ROWS results, which are a row apart: result j has tap i - j for
 * row i. n is a multiple of four; four rows are read ahead. */
template <class Rows>
GF_DEVICE void gf_coarse_sum(const float *taps, int n, Rows &rows, float4 (&sum)[GF_COARSE_ROWS])
{
    enum { N = GF_COARSE_ROWS, BATCH = 4 };
    float last[N - 1] = {};
    float4 row[BATCH];
#pragma unroll
    for (int u = 0; u < BATCH; u++) row[u] = rows.next();
#pragma unroll 2
    for (int first = 0; first < n; first += BATCH) {
        float now[BATCH];
        float4 later[BATCH];
        gf_coarse_load<BATCH>(taps + first, now);
#pragma unroll
        for (int u = 0; u < BATCH; u++) later[u] = rows.next();
#pragma unroll
        for (int u = 0; u < BATCH; u++) {
#pragma unroll
            for (int j = 0; j < N; j++) {
                const float tap = u < j ? last[u < j ? u - j + N - 1 : 0] : now[u < j ? 0 : u - j];
                sum[j].x = fmaf(tap, row[u].x, sum[j].x);
                sum[j].y = fmaf(tap, row[u].y, sum[j].y);
                sum[j].z = fmaf(tap, row[u].z, sum[j].z);
                sum[j].w = fmaf(tap, row[u].w, sum[j].w);
            }
            row[u] = later[u];
        }
#pragma unroll
        for (int i = 0; i < N - 1; i++)
            last[i] = i + BATCH < N - 1 ? last[i + BATCH < N - 1 ? i + BATCH : 0]
                                        : now[i + BATCH < N - 1 ? 0 : i + BATCH - (N - 1)];
    }
}

GF_DEVICE void gf_coarse_put_rows(float *to, int pitch, int rows,
                                  const float4 (&sum)[GF_COARSE_ROWS])
{
#pragma unroll
    for (int j = 0; j < GF_COARSE_ROWS; j++)
        if (j < rows) gf_put4(to + static_cast<long long>(j) * pitch, sum[j]);
}

/* Rows of `down` that are whole, one after the other; after the last one taps are 0. */
struct gf_coarse_whole_rows {
    const float *down;
    int pitch, left;

    GF_DEVICE float4 next()
    {
        const float4 v = gf_ldg(reinterpret_cast<const float4 *>(down));
        if (--left > 0) down += pitch;
        return v;
    }
};

/* The same where the thread below may have more of a row. */
struct gf_coarse_down_rows {
    const float *down;
    long long more; /* from a row to what is to be added, in floats */
    int pitch, left, run;
    int in_run; /* place of the row in its run */

    GF_DEVICE float4 next()
    {
        float4 v = gf_ldg(reinterpret_cast<const float4 *>(down));
        if (in_run > run - GF_COARSE_SPAN) {
            const float4 w = gf_ldg(reinterpret_cast<const float4 *>(down + more));
            v.x += w.x, v.y += w.y, v.z += w.z, v.w += w.w;
        }
        if (--left > 0) { /* after the last one taps are 0, any row will do */
            down += pitch;
            in_run = in_run + 1 < run ? in_run + 1 : 0;
        }
        return v;
    }
};

/* The nodes' taps in y: 128 columns, and GF_COARSE_ROWS rows a warp. */
GF_DEVICE void gf_coarse_node_columns(const gf_coarse_args &a, int block)
{
    const int across = (a.src.width + 127) / 128, thread = static_cast<int>(threadIdx.x);
    const int x = 128 * (block % across) + 4 * (thread % 32);
    const int row = (block / across * GF_COARSE_COLUMN_WARPS + thread / 32) * GF_COARSE_ROWS;
    if (row >= a.wide_rows || x >= a.src.width) return;
    const long long at = static_cast<long long>(row) * a.pitch + x;
    float4 sum[GF_COARSE_ROWS] = {};
    if (a.more) {
        gf_coarse_down_rows rows = { a.down + at,   a.more - a.down, a.pitch,
                                     a.nodes - row, a.run,           row % a.run };
        gf_coarse_sum(a.column_taps, a.node_n, rows, sum);
    } else {
        gf_coarse_whole_rows rows = { a.down + at, a.pitch, a.nodes - row };
        gf_coarse_sum(a.column_taps, a.node_n, rows, sum);
    }
    gf_coarse_put_rows(a.smooth + at, a.pitch, a.wide_rows - row, sum);
}

/* Grid: tiles of 128 columns and GF_COARSE_ROWS rows a warp. */
GF_KERNEL_BOUNDS(32 * GF_COARSE_COLUMN_WARPS, 5, gf_coarse_columns, gf_coarse_args, a)
{
    gf_coarse_node_columns(a, static_cast<int>(blockIdx.x));
}

/* ---- the rest in y ------------------------------------------------------------------------- */

/* Four columns of a row of the grid, as it is surrounded by the border. */
GF_DEVICE float4 gf_coarse_grid_row(const gf_coarse_args &a, int x, int row)
{
    const int y = gf_border_index(row, a.src.height, a.border);
    if (y < 0) return make_float4(a.bent_outside, a.bent_outside, a.bent_outside, a.bent_outside);
    return gf_ldg(
        reinterpret_cast<const float4 *>(a.grid + static_cast<long long>(y) * a.grid_pitch + x));
}

/* One step of the products for four tiles of columns: lane 4 g + t has columns 4 g to 4 g + 3, one
 * for each. */
GF_DEVICE void gf_coarse_bend_step(const uint4 &taps, const float4 &first, const float4 &second,
                                   float (&sum)[4][4])
{
    const unsigned rows[4] = { taps.x, taps.y, taps.z, taps.w };
    gf_mma_1688(sum[0], rows, gf_float_bits(first.x), gf_float_bits(second.x), sum[0]);
    gf_mma_1688(sum[1], rows, gf_float_bits(first.y), gf_float_bits(second.y), sum[1]);
    gf_mma_1688(sum[2], rows, gf_float_bits(first.z), gf_float_bits(second.z), sum[2]);
    gf_mma_1688(sum[3], rows, gf_float_bits(first.w), gf_float_bits(second.w), sum[3]);
}

/* The rest of the window in y: a warp makes 16 rows of 32 columns of the grid. Taps times rows. */
GF_DEVICE void gf_coarse_bend(const gf_coarse_args &a, int block)
{
    const int across = (a.grid_pitch + 31) / 32, thread = static_cast<int>(threadIdx.x);
    const int lane = thread % 32, g = lane / 4, t = lane % 4;
    const int x = 32 * (block % across) + 4 * g;
    const int row = 16 * (block / across * (GF_COARSE_WIDE_THREADS / 32) + thread / 32);
    if (row >= a.dst.height) return;
    const int from = min(x, a.grid_pitch - 4);
    float sum[4][4] = {};
#pragma unroll 1
    for (int side = 0; side < 2; side++) {
        const uint4 *taps =
            static_cast<const uint4 *>(a.bend_parts) + side * a.rest_steps * 32 + lane;
        int y = row + a.rest_from[side] + t;
        const bool inside = y - t >= 0 && y - t + 8 * a.rest_steps <= a.src.height;
        const float *grid = a.grid + static_cast<long long>(y) * a.grid_pitch + from;
#pragma unroll 2
        for (int k = 0; k < a.rest_steps; k++, taps += 32, y += 8, grid += 8 * a.grid_pitch) {
            float4 first, second;
            if (inside) {
                first = gf_ldg(reinterpret_cast<const float4 *>(grid));
                second = gf_ldg(reinterpret_cast<const float4 *>(grid + 4 * a.grid_pitch));
            } else {
                first = gf_coarse_grid_row(a, from, y);
                second = gf_coarse_grid_row(a, from, y + 4);
            }
            gf_coarse_bend_step(gf_ldg(taps), first, second, sum);
        }
    }
    /* a tile's columns 2 t and 2 t + 1 are 8 t and 8 t + 4, and one more from tile to tile */
    const int column = 32 * (block % across) + 8 * t;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int y = row + g + i / 2 * 8, to = column + i % 2 * 4;
        if (y < a.dst.height && to < a.grid_pitch)
            gf_put4(a.bent + static_cast<long long>(y) * a.grid_pitch + to,
                    make_float4(sum[0][i], sum[1][i], sum[2][i], sum[3][i]));
    }
}

/* ---- wide: the window along a row ---------------------------------------------------------- */

/* What a block of `wide` holds in shared memory; every list begins at a multiple of four. */
struct gf_coarse_row {
    float *pixels;       /* from column x - lead on, at GF_COARSE_AT */
    float *parts;        /* sums of steps by step of phi, each list part_n long */
    float *sums, *nodes; /* before the nodes' taps and after them */
    float *phi;          /* by pixel of a node */
    float *taps, *rest;  /* the nodes'; and the rest's, two lists */
    int y, x, end;       /* row and columns of the block */
    int first, n;        /* node of nodes[0]; how many */
    int part_n;
};

GF_DEVICE float gf_coarse_dot(float4 a, float4 b, float sum)
{
    return fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
}

GF_DEVICE void gf_coarse_row_fill(const gf_coarse_args &a, const gf_coarse_row &row)
{
    const int thread = static_cast<int>(threadIdx.x), from = row.x - a.lead;
    const float *const line = a.smooth + static_cast<long long>(row.y) * a.pitch;
    for (int i = 4 * thread; i < row.end - row.x + a.held - a.segment;
         i += 4 * GF_COARSE_WIDE_THREADS) {
        float *const to = row.pixels + GF_COARSE_AT(i);
        if (from + i >= 0 && from + i + 4 <= a.src.width) {
            gf_put4(to, gf_ldg(reinterpret_cast<const float4 *>(line + from + i)));
            continue;
        }
        for (int k = 0; k < 4; k++) {
            const int x = gf_border_index(from + i + k, a.src.width, a.border);
            to[k] = x < 0 ? a.outside : gf_ldg(line + x);
        }
    }
    for (int i = thread; i < a.step * GF_COARSE_SPAN; i += GF_COARSE_WIDE_THREADS)
        row.phi[i] = a.phi[i % a.step * GF_COARSE_SPAN + i / a.step];
    for (int i = thread; i < a.node_n; i += GF_COARSE_WIDE_THREADS)
        row.taps[i] = gf_ldg(a.node_taps + i);
    for (int i = thread; i < 2 * GF_COARSE_REST_N(a.rest_steps); i += GF_COARSE_WIDE_THREADS)
        row.rest[i] = gf_ldg(a.rest_taps + i);
}

/* What each step of pixels adds to the nodes that it is part of; the first step is that of node
 * first - reach. */
GF_DEVICE void gf_coarse_row_parts(const gf_coarse_args &a, const gf_coarse_row &row)
{
    for (int i = static_cast<int>(threadIdx.x); i < row.part_n; i += GF_COARSE_WIDE_THREADS) {
        const int at = (row.first - a.reach + i) * a.step - row.x + a.lead;
        float part[GF_COARSE_SPAN] = {};
#pragma unroll 1
        for (int p = 0; p < a.step; p += 4) {
            const float4 v = gf_get4(row.pixels + GF_COARSE_AT(at + p));
#pragma unroll
            for (int m = 0; m < GF_COARSE_SPAN; m++)
                part[m] = gf_coarse_dot(gf_get4(row.phi + m * a.step + p), v, part[m]);
        }
#pragma unroll
        for (int m = 0; m < GF_COARSE_SPAN; m++) row.parts[m * row.part_n + i] = part[m];
    }
}

/* sums[i]: node first - reach + i. */
GF_DEVICE void gf_coarse_row_sums(const gf_coarse_args &a, const gf_coarse_row &row)
{
    const int n = row.n + 2 * a.reach;
    for (int i = static_cast<int>(threadIdx.x); i < n + 8; i += GF_COARSE_WIDE_THREADS) {
        float sum = 0.0f;
        if (i < n) { /* taps that are 0 meet the rest */
#pragma unroll
            for (int m = 0; m < GF_COARSE_SPAN; m++) sum += row.parts[m * row.part_n + i + m];
        }
        row.sums[i] = sum;
    }
}

/* Let n taps, a multiple of four, take part in N results that are a place apart: result j has tap
 * i - j for place i. */
template <int N> struct gf_coarse_slide {
    float last[N - 1];

    GF_DEVICE void take(float4 taps, float4 places, float (&sum)[N])
    {
        const float now[4] = { taps.x, taps.y, taps.z, taps.w };
        const float v[4] = { places.x, places.y, places.z, places.w };
#pragma unroll
        for (int u = 0; u < 4; u++)
#pragma unroll
            for (int j = 0; j < N; j++)
                sum[j] = fmaf(u < j ? last[u < j ? u - j + N - 1 : 0] : now[u < j ? 0 : u - j],
                              v[u], sum[j]);
#pragma unroll
        for (int i = 0; i < N - 1; i++)
            last[i] = i + 4 < N - 1 ? last[i + 4 < N - 1 ? i + 4 : 0]
                                    : now[i + 4 < N - 1 ? 0 : i + 5 - N];
    }
};

/* Four nodes a thread. */
GF_DEVICE void gf_coarse_row_nodes(const gf_coarse_args &a, const gf_coarse_row &row)
{
    for (int i = 4 * static_cast<int>(threadIdx.x); i < row.n; i += 4 * GF_COARSE_WIDE_THREADS) {
        gf_coarse_slide<4> slide = {};
        float sum[4] = {};
        for (int k = 0; k < 2 * a.reach + 4; k += 4)
            slide.take(gf_get4(row.taps + k), gf_get4(row.sums + i + k), sum);
        gf_put4(row.nodes + i, make_float4(sum[0], sum[1], sum[2], sum[3]));
    }
}

/* The rest's taps at one side, for 256 results of the warp: rows of the left operand are pixels
 * from every sixteenth on, and the right one has the taps that results 4 (g / 2) + g % 2 of
 * sixteen, and those two more, meet there. from: the place that the first tap has for the first
 * result. */
GF_DEVICE void gf_coarse_row_rest(const gf_coarse_args &a, const gf_coarse_row &row,
                                  const float *taps, int from, float (&sum)[2][4])
{
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4;
    from += lane % 16 * 16 + lane / 16 * 4;
    taps += GF_COARSE_REST_ZEROS + lane % 4 - g / 2 * 4 - g % 2;
#pragma unroll 2
    for (int k = 0; k < a.rest_steps; k++, from += 8, taps += 8) {
        unsigned pixels[4];
        gf_ldmatrix_4(pixels, row.pixels + GF_COARSE_AT(from));
        gf_mma_1688(sum[0], pixels, gf_float_bits(taps[0]), gf_float_bits(taps[4]), sum[0]);
        gf_mma_1688(sum[1], pixels, gf_float_bits(taps[-2]), gf_float_bits(taps[2]), sum[1]);
    }
}

/* Phi in x, for four columns from x on, which are of one step. */
GF_DEVICE float4 gf_coarse_row_spread(const gf_coarse_args &a, const gf_coarse_row &row, int x,
                                      float4 sum)
{
    const int first = row.first + GF_COARSE_SPAN - 1, within = x - first * a.step;
    const int step = within * a.step_inverse >> GF_COARSE_INVERSE_BITS, p = within - step * a.step;
    const float *const nodes = row.nodes + step + GF_COARSE_SPAN - 1;
#pragma unroll
    for (int m = 0; m < GF_COARSE_SPAN; m++) {
        const float4 weight = gf_get4(row.phi + m * a.step + p);
        const float v = nodes[-m];
        sum.x = fmaf(weight.x, v, sum.x);
        sum.y = fmaf(weight.y, v, sum.y);
        sum.z = fmaf(weight.z, v, sum.z);
        sum.w = fmaf(weight.w, v, sum.w);
    }
    return sum;
}

/* The window along a row, for a segment. */
GF_DEVICE void gf_coarse_segment(const gf_coarse_args &a, float *memory, int block)
{
    gf_coarse_row row;
    row.y = block / a.segments;
    row.x = (block - row.y * a.segments) * a.segment;
    row.end = min(row.x + a.segment, a.pitch);
    row.first = row.x / a.step - (GF_COARSE_SPAN - 1);
    row.n = (row.end - 1) / a.step + 1 - row.first;
    row.pixels = memory;
    row.phi = row.pixels + GF_COARSE_AT(a.held);
    row.taps = row.phi + a.step * GF_COARSE_SPAN;
    row.rest = row.taps + a.node_n;
    row.nodes = row.rest + 2 * GF_COARSE_REST_N(a.rest_steps);
    row.sums = row.nodes + (row.n + 3) / 4 * 4;
    row.part_n = row.n + 2 * a.reach + GF_COARSE_SPAN - 1;
    row.parts = row.sums + (row.n + 3) / 4 * 4 + 2 * a.reach + 8;
    gf_coarse_row_fill(a, row);
    __syncthreads();
    gf_coarse_row_parts(a, row);
    __syncthreads();
    gf_coarse_row_sums(a, row);
    __syncthreads();
    gf_coarse_row_nodes(a, row);
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const float *const after = row.rest + GF_COARSE_REST_N(a.rest_steps);
    float *const to = a.wide + static_cast<long long>(row.y) * a.pitch;
    for (int x = row.x + static_cast<int>(threadIdx.x) / 32 * 256; x < row.end;
         x += 8 * GF_COARSE_WIDE_THREADS) {
        const int at = x - row.x + a.lead;
        float sum[2][4] = {};
        gf_coarse_row_rest(a, row, row.rest, at + a.rest_from[0], sum);
        gf_coarse_row_rest(a, row, after, at + a.rest_from[1], sum);
        const int own = x + lane / 4 * 16 + lane % 4 * 4;
#pragma unroll
        for (int i = 0; i < 2; i++)
            if (own + 128 * i < row.end)
                gf_put4(to + own + 128 * i,
                        gf_coarse_row_spread(a, row, own + 128 * i,
                                             make_float4(sum[0][2 * i], sum[0][2 * i + 1],
                                                         sum[1][2 * i], sum[1][2 * i + 1])));
    }
}

/* Grid: blocks for the rest in y, tiles of 32 columns and 16 rows a warp; then for segments. */
GF_KERNEL_BOUNDS(GF_COARSE_WIDE_THREADS, 8, gf_coarse_wide, gf_coarse_args, a)
{
    GF_SHARED(float, memory);
    const int block = static_cast<int>(blockIdx.x);
    if (block < a.bend_blocks)
        gf_coarse_bend(a, block);
    else
        gf_coarse_segment(a, memory, block - a.bend_blocks);
}

/* ---- blocks: a crude Sx -------------------------------------------------------------------- */

/* Sum and first moment of the blocks between two grid points, taken together, for every 32nd
 * interval from `blocks` on, of which `left` are left. */
template <int C, int N>
GF_DEVICE void gf_coarse_merge(const gf_coarse_args &a, const unsigned *blocks, int left,
                               float (&sum)[N], float (&moment)[N])
{
    float middle = -0.5f * static_cast<float>(C * (a.block_step - 1));
#pragma unroll 1
    for (int i = 0; i < a.block_step; i++, middle += static_cast<float>(C), blocks++) {
#pragma unroll
        for (int n = 0; n < N; n++) {
            const unsigned v = 32 * n < left ? gf_ldg(blocks + 32 * n * a.block_step) : 0u;
            const float own = gf_bits_float(v << 16);
            sum[n] += own;
            moment[n] += fmaf(middle, own, gf_bits_float(v & 0xffff0000u));
        }
    }
}

/* One list of taps on what the warp's lanes have taken together: rows of the left operand begin at
 * every eighth interval. */
GF_DEVICE void gf_coarse_smooth_part(const gf_coarse_args &a, const uint2 *taps,
                                     const float *intervals, float (&sum)[4])
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int from = lane % 16 * 8 + lane / 16 * 4;
    for (int k = 0; k < a.block_steps; k++) {
        const uint2 tap = gf_ldg(taps + 32 * k + lane);
        unsigned v[4];
        gf_ldmatrix_4(v, intervals + GF_COARSE_AT(from + 8 * k));
        gf_mma_1688(sum, v, tap.x, tap.y, sum);
    }
}

/* A warp makes a row of the grid: it takes intervals together, and makes points of those that have
 * what follows. Grid: columns of the grid / (GF_COARSE_BLOCK_COLUMNS - 8 block_steps) x rows /
 * GF_COARSE_BLOCK_ROWS. */
template <int C> GF_DEVICE void gf_coarse_smooth(const gf_coarse_args &a, float *memory)
{
    enum { COLUMNS = GF_COARSE_BLOCK_COLUMNS, ROWS = GF_COARSE_BLOCK_ROWS };
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int most = COLUMNS - 8 * a.block_steps, first = static_cast<int>(blockIdx.x) * most;
    const int row = static_cast<int>(blockIdx.y) * ROWS + warp;
    const int held = GF_COARSE_AT(COLUMNS + 8 * a.block_steps);
    float *const sums = memory + 2 * held * warp, *const moments = sums + held;
    if (row >= a.src.height) return;
    float level[COLUMNS / 32] = {}, slope[COLUMNS / 32] = {};
    gf_coarse_merge<C>(
        a, a.blocks + static_cast<long long>(row) * a.block_pitch + (first + lane) * a.block_step,
        a.block_pitch / a.block_step - first - lane, level, slope);
#pragma unroll
    for (int i = 0; i < COLUMNS / 32; i++) {
        const int at = lane + 32 * i;
        sums[GF_COARSE_AT(at)] = level[i];
        moments[GF_COARSE_AT(at)] = slope[i];
    }
    gf_sync_warp();
    const uint2 *const parts = static_cast<const uint2 *>(a.block_parts);
    float sum[4] = {};
    gf_coarse_smooth_part(a, parts, sums, sum);
    gf_coarse_smooth_part(a, parts + 32 * a.block_steps, moments, sum);
#pragma unroll
    for (int i = 0; i < 2; i++) {
        const int own = lane / 4 * 8 + lane % 4 * 2 + 64 * i;
        if (own < most && first + own < a.grid_pitch)
            *reinterpret_cast<float2 *>(a.grid + static_cast<long long>(row) * a.grid_pitch +
                                        first + own) = make_float2(sum[2 * i], sum[2 * i + 1]);
    }
}

GF_KERNEL(gf_coarse_blocks_u8, gf_coarse_args, a)
{
    GF_SHARED(float, memory);
    gf_coarse_smooth<GF_COARSE_COLUMNS(GF_P_U8)>(a, memory);
}
GF_KERNEL(gf_coarse_blocks, gf_coarse_args, a)
{
    GF_SHARED(float, memory);
    gf_coarse_smooth<GF_COARSE_COLUMNS(GF_P_F32)>(a, memory);
}

/* ---- up ------------------------------------------------------------------------------------ */

/* A thread's columns of the bent grid: a straight line over them, from four grid points. */
struct gf_coarse_bend_line {
    float level[4], slope[4];
};

/* C results at an aligned place; u8: scale and offset are in the sums already. */
template <int C>
GF_DEVICE void gf_coarse_put_whole(const gf_coarse_args &a, char *to, float (&v)[C])
{
    if (C == 8)
        *reinterpret_cast<uint2 *>(to) = make_uint2(
            gf_pack_u8(v[0], v[1], v[2], v[3]), gf_pack_u8(v[C - 4], v[C - 3], v[C - 2], v[C - 1]));
    else if (a.dst.pixel == GF_P_F32)
        *reinterpret_cast<float4 *>(to) = make_float4(v[0], v[1], v[2], v[3]);
    else
        *reinterpret_cast<uint2 *>(to) =
            make_uint2(gf_pack_u16(v[0], v[1]), gf_pack_u16(v[2], v[3]));
}

/* A row of a thread's results, at `to`; whole: all of them are in the image, and aligned. */
template <int C>
GF_DEVICE void gf_coarse_put(const gf_coarse_args &a, char *to, int x, int y, bool whole,
                             float (&v)[C])
{
    if (C < 8) {
        gf_kcombine combine = a.combine;
        combine.combine = GF_C_SUM; /* no other is served */
#pragma unroll
        for (int i = 0; i < C; i++) v[i] = gf_combine(combine, v[i], 0.0f, 0.0f);
    }
    if (whole) {
        gf_coarse_put_whole<C>(a, to, v);
        return;
    }
#pragma unroll 1
    for (int k = 0; k < C && x + k < a.dst.width; k++) {
        float one = 0.0f;
#pragma unroll
        for (int i = 0; i < C; i++)
            if (i == k) one = v[i];
        gf_store(a.dst, x + k, y, one);
    }
}

/* Four points of each of GF_COARSE_GROUP rows of the grid, of which `left` are left. */
GF_DEVICE void gf_coarse_grid_group(const float *bent, int pitch, int left,
                                    float (&grid)[GF_COARSE_GROUP][4])
{
#pragma unroll
    for (int k = 0; k < GF_COARSE_GROUP; k++) {
#pragma unroll
        for (int i = 0; i < 4; i++) grid[k][i] = gf_ldg(bent + i);
        if (k + 1 < left) bent += pitch;
    }
}

GF_DEVICE int gf_coarse_bytes_of(int pixel)
{
    return pixel == GF_P_U8 ? 1 : pixel == GF_P_U16 ? 2 : 4;
}

/* A thread walks down `up_run` steps of C columns. */
template <int C> GF_DEVICE void gf_coarse_spread(const gf_coarse_args &a)
{
    enum { SPAN = GF_COARSE_SPAN, GROUP = GF_COARSE_GROUP };
    const int x = C * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    const int first = static_cast<int>(blockIdx.y) * a.up_run;
    if (x >= a.dst.width) return;
    const int end = min((first + a.up_run) * a.step, a.dst.height);
    const long long at = reinterpret_cast<long long>(a.dst.data) | a.dst.pitch;
    const bool whole = x + C <= a.dst.width && (C == 8 ? (at & 7) == 0 : gf_aligned4(a.dst));
    const float start = C == 8 ? a.combine.offset : 0.0f;
    gf_coarse_bend_line line;
    const float *bends = a.bends + 8 * (x % a.grid_step / C);
    gf_coarse_load(bends, line.level);
    gf_coarse_load(bends + 4, line.slope);
    const float *rows = a.wide + static_cast<long long>(first) * a.pitch + x;
    float ring[SPAN][C]; /* [m]: the node that began m steps ago */
#pragma unroll
    for (int m = SPAN - 1; m >= 0; m--) {
        gf_coarse_load(rows, ring[m]);
        if (m > 0) rows += a.pitch;
    }
    int y = first * a.step;
    const float *bent = a.bent + static_cast<long long>(y) * a.grid_pitch + x / a.grid_step;
    char *to = gf_row<char>(a.dst, y) + static_cast<long long>(x) * gf_coarse_bytes_of(a.dst.pixel);
    float grid[GROUP][4];
    gf_coarse_grid_group(bent, a.grid_pitch, end - y, grid);
    while (y < end) {
        float later[C]; /* the next step's */
        if (y + a.step < end) rows += a.pitch;
        gf_coarse_load(rows, later);
        for (int p = 0; p < a.step && y < end; p += GROUP) {
            float level[GROUP], slope[GROUP];
#pragma unroll
            for (int k = 0; k < GROUP; k++) {
                level[k] = start, slope[k] = 0.0f;
#pragma unroll
                for (int i = 0; i < 4; i++) {
                    level[k] = fmaf(line.level[i], grid[k][i], level[k]);
                    slope[k] = fmaf(line.slope[i], grid[k][i], slope[k]);
                }
            }
            if (y + GROUP < end) bent += static_cast<long long>(GROUP) * a.grid_pitch;
            gf_coarse_grid_group(bent, a.grid_pitch, end - y - GROUP, grid);
#pragma unroll
            for (int k = 0; k < GROUP; k++, y++, to += a.dst.pitch) {
                float v[C];
#pragma unroll
                for (int i = 0; i < C; i++)
                    v[i] = fmaf(slope[k], static_cast<float>(i) - 0.5f * static_cast<float>(C - 1),
                                level[k]);
#pragma unroll
                for (int m = 0; m < SPAN; m++) {
                    const float weight = a.phi[(p + k) * SPAN + m];
#pragma unroll
                    for (int i = 0; i < C; i++) v[i] = fmaf(weight, ring[m][i], v[i]);
                }
                if (y < end) gf_coarse_put<C>(a, to, x, y, whole, v);
            }
        }
#pragma unroll
        for (int m = SPAN - 1; m >= 0; m--)
#pragma unroll
            for (int i = 0; i < C; i++) ring[m][i] = m > 0 ? ring[m - (m > 0)][i] : later[i];
    }
}

GF_KERNEL_BOUNDS(GF_COARSE_UP_THREADS, 4, gf_coarse_up_u8, gf_coarse_args, a)
{
    gf_coarse_spread<GF_COARSE_COLUMNS(GF_P_U8)>(a);
}
GF_KERNEL_BOUNDS(GF_COARSE_UP_THREADS, 4, gf_coarse_up, gf_coarse_args, a)
{
    gf_coarse_spread<GF_COARSE_COLUMNS(GF_P_F32)>(a);
}

/* Compute again, directly, the pixels whose window holds a wild one. Grid: columns / 32 x any.
 * Block: 32 x 8. */
GF_KERNEL(gf_coarse_redo, gf_coarse_args, a)
{
    if (!*a.wild) return; /* the same for the whole block */
    const int side = GF_WILD_REDO, x = static_cast<int>(blockIdx.x) * side;
    const int step = static_cast<int>(gridDim.y) * side;
    for (int y = static_cast<int>(blockIdx.y) * side; y < a.dst.height; y += step) {
        const gf_wild_place place = {
            x - a.ax, y - a.ay, x, y, min(side, a.dst.width - x), min(side, a.dst.height - y)
        };
        gf_wild_redo(a, a.combine, place);
    }
}

#endif
