/* Separable windows of one term, K x K, rows and columns in one launch, by multiply-adds.
 *
 * A block goes down a strip of columns, four of them a thread, GF_RING_ROWS source rows a step.
 * These lie in a slot of shared memory as floats, with the margin that the window adds; those of
 * the next steps are on their way to the other slots. A thread makes the four sums along each row,
 * two rows at a time, and keeps the sums down the columns that they belong to in registers. Only
 * taps of the window touch a pixel: there is no padding with zeros. */
#include "kernels/gf_tile.cuh"
#include "kernels/ring.variants.h"

/* Where a group of four pixels comes from that a thread brings in. */
struct gf_ring_item {
    int x;     /* of the source, of the first one */
    int place; /* of the slot */
    bool needed;
    bool whole; /* an aligned group inside the source */
};

GF_DEVICE gf_ring_item gf_ring_item_at(const gf_ring_args &a, int from_x, int place)
{
    const int shift = a.src.pixel - 1, x = from_x + place;
    const long long at =
        reinterpret_cast<long long>(a.src.data) + static_cast<long long>(x) * (1 << shift);
    const bool aligned = ((at | a.src.pitch) & ((GF_RING_COLUMNS << shift) - 1)) == 0;
    return { x, place, true, aligned && x >= 0 && x + GF_RING_COLUMNS <= a.src.width };
}

/* What a thread brings in: a group of every row of a step, and one of the margin in margin_row. A
 * strip's last results, less than four, have theirs in the margin: where they end the image it is
 * gathered, which would take a single thread long for all rows. */
struct gf_ring_feed {
    gf_ring_item own, margin;
    int margin_row;
    const int *columns; /* of the source, by place; -1 for the border's value */
};

/* Bring four pixels of source row y to shared memory, each from its own column; y < 0 is the
 * border's value. */
template <class T>
GF_DEVICE void gf_ring_gather_as(const gf_ring_args &a, const int *columns, int y, float *to)
{
    const T *const row = gf_row<const T>(a.src, y < 0 ? 0 : y);
    float v[GF_RING_COLUMNS];
#pragma unroll
    for (int c = 0; c < GF_RING_COLUMNS; c++) {
        const int x = columns[c];
        v[c] = (x | y) < 0 ? a.border_value : gf_get(row + x);
    }
    gf_put4(to, make_float4(v[0], v[1], v[2], v[3]));
}

/* Bring a group of source row y to shared memory wherever it lies. */
GF_DEVICE void gf_ring_gather(const gf_ring_args &a, const int *columns, const gf_ring_item &item,
                              int y, float *to)
{
    columns += item.place;
    if (a.src.pixel == GF_P_U8) {
        gf_ring_gather_as<unsigned char>(a, columns, y, to);
    } else if (a.src.pixel == GF_P_U16) {
        gf_ring_gather_as<unsigned short>(a, columns, y, to);
    } else {
#ifdef GF_HAVE_TENSOR
        const float *const row = gf_row<const float>(a.src, y < 0 ? 0 : y);
        if (item.whole && y >= 0) {
            gf_copy_async_16(to, row + item.x);
            return;
        }
#pragma unroll
        for (int c = 0; c < GF_RING_COLUMNS; c++) {
            const int x = columns[c];
            if ((x | y) < 0)
                to[c] = a.border_value;
            else
                gf_copy_async_4(to + c, row + x);
        }
#else
        gf_ring_gather_as<float>(a, columns, y, to);
#endif
    }
}

/* A whole group of pixels of BYTES bytes. */
template <int BYTES> struct gf_ring_words;
template <> struct gf_ring_words<1> {
    typedef unsigned type;
};
template <> struct gf_ring_words<2> {
    typedef uint2 type;
};
template <> struct gf_ring_words<4> {
    typedef uint4 type;
};

/* Start to copy a whole group of pixels of BYTES bytes to its place, where gf_ring_widen turns
 * integers into floats. */
template <int BYTES> GF_DEVICE void gf_ring_copy(const char *from, float *to)
{
#ifdef GF_HAVE_TENSOR
    if (BYTES == 4)
        gf_copy_async_16(to, from);
    else if (BYTES == 2)
        gf_copy_async_8(to, from);
    else
        gf_copy_async_4(to, from);
#else
    typedef typename gf_ring_words<BYTES>::type words;
    *reinterpret_cast<words *>(to) = gf_ldg(reinterpret_cast<const words *>(from));
#endif
}

template <int BYTES> GF_DEVICE void gf_ring_widen(float *at)
{
    if (BYTES == 2) {
        const uint2 v = *reinterpret_cast<const uint2 *>(at);
        gf_put4(at, make_float4(static_cast<float>(v.x & 0xffffu), static_cast<float>(v.x >> 16),
                                static_cast<float>(v.y & 0xffffu), static_cast<float>(v.y >> 16)));
    } else {
        const unsigned v = *reinterpret_cast<const unsigned *>(at);
        gf_put4(at, make_float4(static_cast<float>(v & 255u), static_cast<float>(v >> 8 & 255u),
                                static_cast<float>(v >> 16 & 255u), static_cast<float>(v >> 24)));
    }
}

/* The same for a group of all rows. */
template <int BYTES, int PITCH>
GF_DEVICE void gf_ring_copy_rows(const char *from, long long pitch, float *to)
{
#pragma unroll
    for (int r = 0; r < GF_RING_ROWS; r++, from += pitch) gf_ring_copy<BYTES>(from, to + r * PITCH);
}

template <int BYTES, int PITCH> GF_DEVICE void gf_ring_widen_rows(float *at)
{
#pragma unroll
    for (int r = 0; r < GF_RING_ROWS; r++) gf_ring_widen<BYTES>(at + r * PITCH);
}

/* Start to bring the source rows y … into a slot; gf_ring_end is to follow. */
template <int PITCH>
GF_DEVICE void gf_ring_begin(const gf_ring_args &a, const gf_ring_feed &feed, int y, float *slot)
{
    const int pixel = a.src.pixel, row = feed.margin_row;
    const bool inside = y >= 0 && y + GF_RING_ROWS <= a.src.height;
    const char *const from = gf_row<const char>(a.src, y);
    if (feed.own.needed) {
        const char *const at = from + static_cast<long long>(feed.own.x) * (1 << (pixel - 1));
        float *const to = slot + feed.own.place;
        if (!inside || !feed.own.whole)
#pragma unroll 2
            for (int r = 0; r < GF_RING_ROWS; r++)
                gf_ring_gather(a, feed.columns, feed.own,
                               gf_border_index(y + r, a.src.height, a.border), to + r * PITCH);
        else if (pixel == GF_P_F32)
            gf_ring_copy_rows<4, PITCH>(at, a.src.pitch, to);
        else if (pixel == GF_P_U16)
            gf_ring_copy_rows<2, PITCH>(at, a.src.pitch, to);
        else
            gf_ring_copy_rows<1, PITCH>(at, a.src.pitch, to);
    }
    if (feed.margin.needed) {
        const char *const at =
            from + row * a.src.pitch + static_cast<long long>(feed.margin.x) * (1 << (pixel - 1));
        float *const to = slot + row * PITCH + feed.margin.place;
        if (!inside || !feed.margin.whole)
            gf_ring_gather(a, feed.columns, feed.margin,
                           gf_border_index(y + row, a.src.height, a.border), to);
        else if (pixel == GF_P_F32)
            gf_ring_copy<4>(at, to);
        else if (pixel == GF_P_U16)
            gf_ring_copy<2>(at, to);
        else
            gf_ring_copy<1>(at, to);
    }
}

/* Turn integers that gf_ring_begin has copied into floats. */
template <int PITCH>
GF_DEVICE void gf_ring_end(const gf_ring_args &a, const gf_ring_feed &feed, int y, float *slot)
{
    if (a.src.pixel == GF_P_F32 || y < 0 || y + GF_RING_ROWS > a.src.height) return;
#ifdef GF_HAVE_TENSOR
    gf_copy_async_wait();
#endif
    const bool own = feed.own.needed && feed.own.whole;
    const bool margin = feed.margin.needed && feed.margin.whole;
    float *const own_at = slot + feed.own.place;
    float *const margin_at = slot + feed.margin_row * PITCH + feed.margin.place;
    if (a.src.pixel == GF_P_U16) {
        if (own) gf_ring_widen_rows<2, PITCH>(own_at);
        if (margin) gf_ring_widen<2>(margin_at);
    } else {
        if (own) gf_ring_widen_rows<1, PITCH>(own_at);
        if (margin) gf_ring_widen<1>(margin_at);
    }
}

/* Pixels of a row that a thread's sums need. */
template <int N> GF_DEVICE void gf_ring_get(const float *from, float (&v)[N])
{
#pragma unroll
    for (int i = 0; i < N; i += 4) {
        const float4 q = gf_get4(from + i);
        v[i] = q.x, v[i + 1] = q.y, v[i + 2] = q.z, v[i + 3] = q.w;
    }
}

/* Four neighbouring sums of K taps along each of two rows. */
template <int K>
GF_DEVICE void gf_ring_along_rows(const float *taps, const float (&v)[2][GF_RING_READS(K)],
                                  float (&sum)[2][GF_RING_COLUMNS])
{
#pragma unroll
    for (int k = 0; k < K; k++)
#pragma unroll
        for (int r = 0; r < 2; r++)
#pragma unroll
            for (int o = 0; o < GF_RING_COLUMNS; o++)
                sum[r][o] = k > 0 ? fmaf(taps[k], v[r][GF_RING_LEAD(K) + o + k], sum[r][o])
                                  : taps[0] * v[r][GF_RING_LEAD(K) + o];
}

/* Let the sums of two rows take part in those down the columns: acc[j] is the sum of the taps 0 …
 * j, so each moves on by two places, which is no extra work: every sum is written to its new place.
 * The rows complete a sum each. */
template <int K>
GF_DEVICE void gf_ring_down_columns(const float *taps, const float (&sum)[2][GF_RING_COLUMNS],
                                    float (&acc)[K - 1][GF_RING_COLUMNS],
                                    float (&done)[2][GF_RING_COLUMNS])
{
#pragma unroll
    for (int c = 0; c < GF_RING_COLUMNS; c++)
        done[0][c] = fmaf(taps[K - 1], sum[0][c], acc[K - 2][c]);
#pragma unroll
    for (int j = K - 1; j >= 0; j--)
#pragma unroll
        for (int c = 0; c < GF_RING_COLUMNS; c++) {
            const float first = j > 1 ? fmaf(taps[j - (j > 0)], sum[0][c], acc[j - 2 * (j > 1)][c])
                                : j > 0 ? taps[0] * sum[0][c]
                                        : 0.0f;
            (j == K - 1 ? done[1] : acc[j - (j == K - 1)])[c] =
                j > 0 ? fmaf(taps[j], sum[1][c], first) : taps[0] * sum[1][c];
        }
}

/* The two rows' own pixels take part too in the sums that have them half way down the window. */
template <int K>
GF_DEVICE void gf_ring_add_centre(float weight, const float (&v)[2][GF_RING_READS(K)],
                                  float (&acc)[K - 1][GF_RING_COLUMNS])
{
    enum { AT = GF_RING_LEAD(K) + K / 2 };
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int c = 0; c < GF_RING_COLUMNS; c++)
            acc[K / 2 + 1 - r][c] = fmaf(weight, v[r][AT + c], acc[K / 2 + 1 - r][c]);
}

/* Store four neighbouring results where they have an aligned place. */
GF_DEVICE void gf_ring_put(const gf_kimage &dst, char *to, const float (&v)[GF_RING_COLUMNS])
{
    if (dst.pixel == GF_P_F32)
        gf_put4(reinterpret_cast<float *>(to), make_float4(v[0], v[1], v[2], v[3]));
    else if (dst.pixel == GF_P_U16)
        *reinterpret_cast<uint2 *>(to) =
            make_uint2(gf_pack_u16(v[0], v[1]), gf_pack_u16(v[2], v[3]));
    else
        *reinterpret_cast<unsigned *>(to) = gf_pack_u8(v[0], v[1], v[2], v[3]);
}

/* Store the first of them one by one. */
template <class T>
GF_DEVICE void gf_ring_put_some_as(char *to, int count, const float (&v)[GF_RING_COLUMNS])
{
#pragma unroll
    for (int c = 0; c < GF_RING_COLUMNS; c++)
        if (c < count) gf_put(reinterpret_cast<T *>(to) + c, v[c]);
}

GF_DEVICE void gf_ring_put_some(const gf_kimage &dst, char *to, int count,
                                const float (&v)[GF_RING_COLUMNS])
{
    if (dst.pixel == GF_P_F32)
        gf_ring_put_some_as<float>(to, count, v);
    else if (dst.pixel == GF_P_U16)
        gf_ring_put_some_as<unsigned short>(to, count, v);
    else
        gf_ring_put_some_as<unsigned char>(to, count, v);
}

/* The source at the pixels of four neighbouring results, of which the first is in the image. */
GF_DEVICE void gf_ring_own(const gf_kimage &src, int x, int y, float (&own)[GF_RING_COLUMNS])
{
    if (gf_aligned4(src) && x + GF_RING_COLUMNS <= src.width) {
        const float4 v = gf_load4(src, x, y);
        own[0] = v.x, own[1] = v.y, own[2] = v.z, own[3] = v.w;
        return;
    }
#pragma unroll 1
    for (int c = 0; c < GF_RING_COLUMNS; c++)
        own[c] = gf_load(src, x + c < src.width ? x + c : src.width - 1, y);
}

/* Turn a window's sums at four neighbouring pixels into results. */
GF_DEVICE void gf_ring_finish(const gf_ring_args &a, int x, int y, float (&sum)[GF_RING_COLUMNS])
{
    const gf_kcombine &c = a.combine;
    float own[GF_RING_COLUMNS] = {};
    if (c.combine == GF_C_UNSHARP) gf_ring_own(a.src, x, y, own);
#pragma unroll
    for (int i = 0; i < GF_RING_COLUMNS; i++) sum[i] = gf_combine(c, sum[i], 0.0f, own[i]);
    gf_points(c.points, sum);
}

/* How a strip's results are stored: of those of a thread and two rows the first pixel is (x, y). */
struct gf_ring_exit {
    int x, y;
    char *to;      /* where that pixel lies */
    int row, rows; /* y in the block's results, not always among them; and their rows */
    int singles;   /* results of a row to be stored one by one; 0: four have an aligned place */
};

/* Store what two rows have completed where not both are stored. */
GF_DEVICE void gf_ring_out_ragged(const gf_ring_args &a, const gf_ring_exit &at,
                                  float (&done)[2][GF_RING_COLUMNS])
{
    float(&sum)[GF_RING_COLUMNS] = done[0];
#pragma unroll 1
    for (int i = 0; i < 2; i++) {
        if (static_cast<unsigned>(at.row + i) < static_cast<unsigned>(at.rows)) {
            if (!a.plain) gf_ring_finish(a, at.x, at.y + i, sum);
            gf_store_up_to4(a.dst, false, at.x, at.y + i,
                            make_float4(sum[0], sum[1], sum[2], sum[3]));
        }
#pragma unroll
        for (int c = 0; c < GF_RING_COLUMNS; c++) sum[c] = done[1][c];
    }
}

GF_DEVICE void gf_ring_out(const gf_ring_args &a, const gf_ring_exit &at,
                           float (&done)[2][GF_RING_COLUMNS])
{
    if (static_cast<unsigned>(at.row) < static_cast<unsigned>(at.rows - 1)) {
        if (!a.plain) {
            gf_ring_finish(a, at.x, at.y, done[0]);
            gf_ring_finish(a, at.x, at.y + 1, done[1]);
        }
        if (at.singles == 0) {
            gf_ring_put(a.dst, at.to, done[0]);
            gf_ring_put(a.dst, at.to + a.dst.pitch, done[1]);
        } else {
            gf_ring_put_some(a.dst, at.to, at.singles, done[0]);
            gf_ring_put_some(a.dst, at.to + a.dst.pitch, at.singles, done[1]);
        }
    } else {
        gf_ring_out_ragged(a, at, done);
    }
}

/* A step's rows, no more than results need; from the first pixel that the thread's sums need on. */
template <int K>
GF_DEVICE void gf_ring_step(const gf_ring_args &a, const float *from,
                            float (&acc)[K - 1][GF_RING_COLUMNS], gf_ring_exit &exit)
{
#pragma unroll 1
    for (int r = 0; r < GF_RING_ROWS && exit.row < exit.rows;
         r += 2, from += 2 * GF_RING_PITCH(K)) {
        float v[2][GF_RING_READS(K)], sum[2][GF_RING_COLUMNS], done[2][GF_RING_COLUMNS];
        gf_ring_get(from, v[0]);
        gf_ring_get(from + GF_RING_PITCH(K), v[1]);
        gf_ring_along_rows<K>(a.row, v, sum);
        gf_ring_down_columns<K>(a.col, sum, acc, done);
        if (a.centre != 0.0f) gf_ring_add_centre<K>(a.centre, v, acc);
        gf_ring_out(a, exit, done);
        exit.row += 2, exit.y += 2, exit.to += 2 * a.dst.pitch;
    }
}

/* A block's results. */
struct gf_ring_block {
    int x, y, columns, rows;
};

/* Blocks of a strip follow each other. The last strip comes second: those at the image's sides take
 * longer. */
GF_DEVICE gf_ring_block gf_ring_block_of(const gf_ring_args &a)
{
    const int segments = (a.dst.height + a.rows - 1) / a.rows;
    const int strips = static_cast<int>(gridDim.x) / segments;
    const int order = static_cast<int>(blockIdx.x) / segments;
    const int x = (order == 0 ? 0 : order == 1 ? strips - 1 : order - 1) * a.strip;
    const int y = (static_cast<int>(blockIdx.x) - order * segments) * a.rows;
    return { x, y, a.strip < a.dst.width - x ? a.strip : a.dst.width - x,
             a.rows < a.dst.height - y ? a.rows : a.dst.height - y };
}

/* Fills the table of columns; a barrier is to follow. */
template <int K>
GF_DEVICE gf_ring_feed gf_ring_feed_of(const gf_ring_args &a, const gf_ring_block &block,
                                       int *table)
{
    enum { MARGIN = GF_RING_MARGIN_THREADS(K) / GF_RING_ROWS };
    enum { LEFT = (GF_RING_LEAD(K) + K / 2) / GF_RING_COLUMNS }; /* groups of the margin */
    const int thread = static_cast<int>(threadIdx.x), margin = thread % MARGIN;
    const int from_x = block.x - a.ax - GF_RING_LEAD(K);
    const int used = GF_RING_LEAD(K) + block.columns + K - 1;
    const int groups = block.columns / GF_RING_COLUMNS;
#pragma unroll 1
    for (int c = thread; c < GF_RING_PITCH(K); c += static_cast<int>(blockDim.x))
        table[c] = c < used ? gf_border_index(from_x + c, a.src.width, a.border) : -1;
    /* A thread's own groups are those of its results, so that they begin lines as these do. */
    gf_ring_feed feed;
    feed.columns = table;
    feed.own = gf_ring_item_at(a, from_x, GF_RING_COLUMNS * (LEFT + thread));
    feed.own.needed = thread < groups;
    feed.margin =
        gf_ring_item_at(a, from_x, GF_RING_COLUMNS * (margin < LEFT ? margin : groups + margin));
    feed.margin_row = thread / MARGIN;
    feed.margin.needed = feed.margin.place < used && feed.margin_row < GF_RING_ROWS;
    return feed;
}

/* Before the first row; the results that rows complete lie K - 1 rows behind them. */
template <int K>
GF_DEVICE gf_ring_exit gf_ring_exit_of(const gf_ring_args &a, const gf_ring_block &block)
{
    const int x = block.x + GF_RING_COLUMNS * static_cast<int>(threadIdx.x);
    const int y = block.y - (K - 1);
    const int left = a.dst.width - x, count = left < GF_RING_COLUMNS ? left : GF_RING_COLUMNS;
    const bool has_place = gf_aligned4(a.dst) && count == GF_RING_COLUMNS;
    char *const to = gf_row<char>(a.dst, y) + static_cast<long long>(x) * (1 << (a.dst.pixel - 1));
    return { x, y, to, 1 - K, block.rows, has_place ? 0 : count };
}

template <int K> GF_DEVICE void gf_ring_strip(const gf_ring_args &a, float *shared)
{
    enum { ROWS = GF_RING_ROWS, SLOT = ROWS * GF_RING_PITCH(K), AHEAD = GF_RING_SLOTS - 1 };
    const gf_ring_block block = gf_ring_block_of(a);
    const gf_ring_feed feed =
        gf_ring_feed_of<K>(a, block, reinterpret_cast<int *>(shared + GF_RING_SLOTS * SLOT));
    gf_ring_exit exit = gf_ring_exit_of<K>(a, block);
    const bool has_results = GF_RING_COLUMNS * static_cast<int>(threadIdx.x) < block.columns;
    const int steps = (block.rows + K - 1 + ROWS - 1) / ROWS;
    float acc[K - 1][GF_RING_COLUMNS] = {};
    float *slot = shared, *next = shared; /* of the step, and of the last one that is on its way */
    __syncthreads();
#pragma unroll 1
    for (int s = -AHEAD; s < steps; s++) {
        const int y = block.y - a.ay + (s + AHEAD) * ROWS;
        const bool more = s + AHEAD < steps;
        if (s >= 0) {
#ifdef GF_HAVE_TENSOR
            gf_copy_async_wait_but<AHEAD - 1>();
#endif
            __syncthreads();
        }
        if (more) gf_ring_begin<GF_RING_PITCH(K)>(a, feed, y, next);
#ifdef GF_HAVE_TENSOR
        gf_copy_async_commit();
#endif
        if (s >= 0) {
            if (has_results)
                gf_ring_step<K>(a, slot + GF_RING_COLUMNS * static_cast<int>(threadIdx.x), acc,
                                exit);
            slot = slot == shared + AHEAD * SLOT ? shared : slot + SLOT;
        }
        if (more) gf_ring_end<GF_RING_PITCH(K)>(a, feed, y, next);
        next = next == shared + AHEAD * SLOT ? shared : next + SLOT;
    }
}

#define GF_RING_KERNEL(K)                                                                          \
    GF_KERNEL_BOUNDS(GF_RING_THREADS, GF_RING_BLOCKS(K), gf_ring_##K, gf_ring_args, a)             \
    {                                                                                              \
        GF_SHARED(float, shared);                                                                  \
        gf_ring_strip<K>(a, shared);                                                               \
    }
GF_RING_VARIANTS(GF_RING_KERNEL)
