/* Sums over rectangles of taps that are all equal, rows and columns in one launch.
 *
 * u8 and u16, to the same type: a block walks along a strip of the source, eight rows a step. Some
 * of its threads keep the sums of their columns' kh rows: a row enters, another leaves. Rows come
 * by asynchronous copies to a ring in shared memory, where those of a window stay, so that the
 * source is read once. Where there is no room for them, rows are read into registers, a second time
 * when they leave. Eight rows of such sums lie in shared memory; the other threads make a run of
 * one row's results each, of the step before: they add up the first window, then a column enters
 * and another leaves. Integers leave nothing behind, so all is exact until the one multiplication
 * at the end.
 *
 * All else: a block makes eight rows of sums of columns, then a warp each row of windows. Nothing
 * is ever subtracted, so a value that is huge, or not finite, is felt by its windows only. */
#include "kernels/gf_tile.cuh"
#include "kernels/box.variants.h"

#ifdef GF_HAVE_TENSOR /* asynchronous copies */
/* A walking kernel whose blocks have so many groups of columns and whose threads make so many
 * results of a row: its rows in shared memory; whether rows that leave are read again. */
template <int GROUPS, int RUN_, bool AGAIN_> struct gf_box_shape {
    enum { RING_PITCH = GF_BOX_RING_PITCH(GROUPS), PITCH_OF_SUMS = GF_BOX_PITCH_OF_SUMS(GROUPS) };
    enum { RUN = RUN_, AGAIN = AGAIN_ };
};

/* ---- walking: sums of columns --------------------------------------------------------------- */

/* Where a thread's columns are: a group of 8 bytes of pixels of type T. */
template <class T> struct gf_box_group {
    enum { N = 8 / sizeof(T) };
    int x;      /* the first; where the border wraps, of those they are the same as */
    bool reads; /* the source has some of them, perhaps not the last ones */
    bool whole; /* or all */

    GF_DEVICE gf_box_group(const gf_boxwalk_args &a, int x_, bool needed) : x(x_)
    {
        if (a.border == GF_B_WRAP) x = gf_border_index(x, a.src.width, GF_B_WRAP);
        reads = needed && x >= 0 && x < a.src.width;
        whole = reads && x + N <= a.src.width;
    }
    /* Copy eight rows from y on, wherever they are, to rows of the ring. Columns that the source
     * has not may have any value. */
    template <int PITCH>
    GF_DEVICE void copy(const gf_boxwalk_args &a, int y, unsigned char *to) const
    {
        if (y >= 0 && y + GF_BOX_STEP < a.src.height) {
            const char *at = reinterpret_cast<const char *>(gf_row<const T>(a.src, y) + x);
#pragma unroll
            for (int r = 0; r < GF_BOX_STEP; r++, at += a.src.pitch)
                if (reads) gf_copy_async_8(to + r * PITCH, at);
        } else {
            copy_folded<PITCH>(a, y, to);
        }
    }
    /* Behind the last row's end there may be nothing. */
    GF_DEVICE static void copy_some(const T *at, int n, unsigned char *to)
    {
#pragma unroll 1
        for (int i = 0; i < n; i++) reinterpret_cast<T *>(to)[i] = gf_ldg(at + i);
    }
    template <int PITCH>
    GF_DEVICE void copy_folded(const gf_boxwalk_args &a, int y, unsigned char *to) const
    {
        const int own = static_cast<int>(threadIdx.x) % GF_BOX_STEP;
        const int folded = gf_border_index(y + own, a.src.height, a.border);
#pragma unroll 1
        for (int r = 0; r < GF_BOX_STEP; r++, to += PITCH) {
            const int row = gf_shfl(folded, r);
            if (!reads) continue;
            const T *const at = gf_row<const T>(a.src, max(row, 0)) + x;
            if (row < 0)
                *reinterpret_cast<uint2 *>(to) = make_uint2(a.outside_pixels, a.outside_pixels);
            else if (whole || row < a.src.height - 1)
                gf_copy_async_8(to, at);
            else
                copy_some(at, a.src.width - x, to);
        }
    }
};

/* Sums of a group's columns in four words: u8 two in the halves of a word, u16 one in a word. */
template <class T> struct gf_box_columns {
    unsigned sum[4];

    GF_DEVICE void change(uint2 enters, uint2 leaves)
    {
        const unsigned in[2] = { enters.x, enters.y }, out[2] = { leaves.x, leaves.y };
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned which =
                sizeof(T) == 1 ? (i % 2 ? 0x4342u : 0x4140u) : (i % 2 ? 0x4432u : 0x4410u);
            sum[i] += gf_pick_bytes(in[i / 2], 0u, which) - gf_pick_bytes(out[i / 2], 0u, which);
        }
    }
};

/* A thread's group of the ring's rows. Steps take eight rows of it, the next ones are under way to
 * rows behind those; those that leave a step's windows are still there. A thread copies and reads
 * its own group only, so nobody waits for anybody. */
template <class T, class Shape> struct gf_box_ring {
    enum { ROW = Shape::RING_PITCH, STEP = GF_BOX_STEP * ROW, AHEAD = GF_BOX_STEP * GF_BOX_AHEAD };
    const gf_boxwalk_args &a;
    const gf_box_group<T> &group;
    unsigned char *const begin;
    const int size; /* bytes */
    gf_box_columns<T> columns;
    int at;          /* where the step's first row is, from `begin` on */
    int y;           /* that row of the source */
    const int start; /* the first one of a step with results */

    GF_DEVICE gf_box_ring(const gf_boxwalk_args &a_, const gf_box_group<T> &group_,
                          unsigned char *begin_, int y_, int start_)
        : a(a_), group(group_), begin(begin_), size(a_.ring_rows * ROW), columns(), at(0), y(y_),
          start(start_)
    {
#pragma unroll 1
        for (int i = 0; i < AHEAD; i += GF_BOX_STEP) copy(y + i, i * ROW);
    }
    GF_DEVICE int wrapped(int from) const { return from < size ? from : from - size; }
    GF_DEVICE uint2 pixels(int from) const
    {
        return *reinterpret_cast<const uint2 *>(begin + from);
    }
    /* Rows of a step that begins with row from. */
    GF_DEVICE void copy(int from, int to) const
    {
        group.template copy<ROW>(a, from, begin + to);
        gf_copy_async_commit();
    }
    /* Go on; the rows that have left make room for those of a later step. */
    GF_DEVICE void next()
    {
        copy(y + AHEAD, wrapped(at + AHEAD * ROW));
        at = wrapped(at + STEP);
        y += GF_BOX_STEP;
    }
    /* Steps before the first results: add up eight rows but for the first `skip`. */
    GF_DEVICE void fill(int skip)
    {
        gf_copy_async_wait_but<GF_BOX_AHEAD - 1>();
        if (group.reads) {
#pragma unroll
            for (int r = 0; r < GF_BOX_STEP; r++)
                if (r >= skip) columns.change(pixels(at + r * ROW), make_uint2(0, 0));
        }
        next();
    }
    /* The rows that leave; `rest` bytes on, the ring begins anew. */
    GF_DEVICE void leaving(uint2 (&out)[GF_BOX_STEP]) const
    {
        const int from = wrapped(at - a.kh * ROW + size), rest = size - from;
        if (rest >= STEP) {
#pragma unroll
            for (int r = 0; r < GF_BOX_STEP; r++) out[r] = pixels(from + r * ROW);
        } else {
#pragma unroll
            for (int r = 0; r < GF_BOX_STEP; r++)
                out[r] = pixels((r * ROW < rest ? from : from - size) + r * ROW);
        }
        if (y == start) out[0] = make_uint2(0, 0); /* was never in */
    }
    /* Eight rows of sums. */
    GF_DEVICE void step(unsigned char *to)
    {
        gf_copy_async_wait_but<GF_BOX_AHEAD - 1>();
        if (group.reads) {
            uint2 in[GF_BOX_STEP], out[GF_BOX_STEP];
#pragma unroll
            for (int r = 0; r < GF_BOX_STEP; r++) in[r] = pixels(at + r * ROW);
            leaving(out);
#pragma unroll
            for (int r = 0; r < GF_BOX_STEP; r++, to += Shape::PITCH_OF_SUMS) {
                columns.change(in[r], out[r]);
                const unsigned *const sum = columns.sum;
                *reinterpret_cast<uint4 *>(to) = make_uint4(sum[0], sum[1], sum[2], sum[3]);
            }
        }
        next();
    }
};

/* ---- walking: a block ----------------------------------------------------------------------- */

template <class T> struct gf_box_sum; /* of a window */

/* Where a block is, and what its threads share. */
template <class T, class Shape> struct gf_box_walker {
    enum { SUMS = GF_BOX_STEP * Shape::PITCH_OF_SUMS };
    typedef typename gf_box_sum<T>::column S;
    const gf_boxwalk_args &a;
    int x, width;    /* of its results */
    int y, by, rows; /* the first row, from it to the next one, how many */
    int first, used; /* the source's columns it needs */
    unsigned *list;  /* see list_folds() */
    unsigned char *sums, *ring, *results;
    int folds;

    /* Segments whose rows are read again are walked in pairs, up and down from where they meet, so
     * that both find the first windows' rows in the second-level cache; one that is left, down. */
    GF_DEVICE gf_box_walker(const gf_boxwalk_args &a_, unsigned char *shared) : a(a_)
    {
        const int strip = static_cast<int>(blockIdx.x) % a.strips;
        const int segment = static_cast<int>(blockIdx.x) / a.strips;
        x = strip * a.step, width = min(a.step, a.dst.width - x);
        const int segments = static_cast<int>(gridDim.x) / a.strips;
        /* rows outside take longer: the first segment and the last one are shorter than others */
        const int spare = Shape::AGAIN ? segments * a.rows - a.dst.height : 0;
        const int end = min((segment + 1) * a.rows - spare / 2, a.dst.height);
        y = max(segment * a.rows - spare / 2, 0), rows = end - y;
        by = Shape::AGAIN && segment % 2 == 0 && segment + 1 < segments ? -1 : 1;
        if (by < 0) y += rows - 1;
        first = x - a.ax - a.left, used = a.left + width + a.kw - 1;
        list = reinterpret_cast<unsigned *>(shared);
        sums = shared + GF_BOX_LIST_BYTES;
        ring = sums + 2 * SUMS;
        results = ring + a.ring_rows * Shape::RING_PITCH;
        folds = a.border == GF_B_WRAP ? 0 : list_folds();
    }
    /* Columns that the source has not, from those that are the same: how many there are. An entry
     * is a column's place among the block's and in its high half that of the other, or
     * GF_BOX_OUTSIDE. */
    GF_DEVICE int list_folds() const
    {
        const int before = max(-first, 0), behind = max(first + used - a.src.width, 0);
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < before + behind;
             i += static_cast<int>(blockDim.x)) {
            const int place = i < before ? i : a.src.width - first + i - before;
            const int column = gf_border_index(first + place, a.src.width, a.border);
            const unsigned other = static_cast<unsigned>(
                column < 0 ? static_cast<int>(GF_BOX_OUTSIDE) : column - first);
            list[i] = static_cast<unsigned>(place) | other << 16;
        }
        return before + behind;
    }
    /* The eight rows of sums of the step that makes rows i … of the results; two steps'
     * are there. */
    GF_DEVICE unsigned char *sums_of(int i) const { return sums + i / GF_BOX_STEP % 2 * SUMS; }
    /* Wait until they are complete, and all results of the step before. */
    GF_DEVICE void wait(int i) const
    {
        __syncthreads();
        if (!folds) return;
        fold(sums_of(i));
        __syncthreads();
    }
    GF_DEVICE void fold(unsigned char *to) const
    {
#pragma unroll 1
        for (int i = static_cast<int>(threadIdx.x); i < folds * GF_BOX_STEP;
             i += static_cast<int>(blockDim.x)) {
            const unsigned entry = list[i / GF_BOX_STEP], other = entry >> 16;
            S *const row = reinterpret_cast<S *>(to + i % GF_BOX_STEP * Shape::PITCH_OF_SUMS);
            row[entry & 0xffffu] =
                other == GF_BOX_OUTSIDE ? static_cast<S>(a.outside_sum) : row[other];
        }
    }
};

/* What the threads do that keep sums of columns. */
template <class T, class Shape>
GF_DEVICE void gf_box_sum_columns(const gf_box_walker<T, Shape> &block)
{
    enum { STEP = GF_BOX_STEP, N = gf_box_group<T>::N };
    const gf_boxwalk_args &a = block.a;
    const int thread = static_cast<int>(threadIdx.x);
    /* of the rows that are added up before the first results only whole steps are read */
    const int ahead = (a.kh - 1 + STEP - 1) / STEP * STEP;
    const gf_box_group<T> group(a, block.first + N * thread, N * thread < block.used);
    /* the row that enters the first results' windows */
    const int start = block.y - a.ay + a.kh - 1;
    gf_box_ring<T, Shape> ring(a, group, block.ring + 8 * thread, start - ahead, start);
#pragma unroll 1
    for (int i = -ahead; i < 0; i += STEP) ring.fill(1 - a.kh - i);
#pragma unroll 1
    for (int i = 0; i < block.rows; i += STEP) {
        ring.step(block.sums_of(i) + 16 * thread);
        block.wait(i);
    }
}

/* ---- walking: sums of columns from rows that are read again ---------------------------------- */

/* The rows of a thread's group, eight at a time. */
template <class T> struct gf_box_rows {
    const gf_boxwalk_args &a;
    const gf_box_group<T> &group;
    const int by;         /* rows from one to the next, 1 or -1 */
    const long long down; /* the same in bytes */
    const char *top;      /* its pixels of row 0; if it reads none, the source's first ones */

    GF_DEVICE gf_box_rows(const gf_boxwalk_args &a_, const gf_box_group<T> &group_, int by_)
        : a(a_), group(group_), by(by_), down(by_ * a_.src.pitch)
    {
        top =
            reinterpret_cast<const char *>(gf_row<const T>(a.src, 0) + (group.reads ? group.x : 0));
    }
    GF_DEVICE const char *at(int y) const { return top + y * a.src.pitch; }
    /* How many times eight rows from y on can be read as they are, also past their last column. */
    GF_DEVICE int inside(int y) const
    {
        if (y < 0 || y >= a.src.height - 1) return 0;
        return (by > 0 ? a.src.height - 1 - y : y + 1) / GF_BOX_STEP;
    }
    /* Eight rows from y on, wherever they are. Columns that the source has not may have any value.
     */
    GF_DEVICE void read(int y, uint2 (&to)[GF_BOX_STEP]) const
    {
        const int own = static_cast<int>(threadIdx.x) % GF_BOX_STEP;
        const int folded = gf_border_index(y + by * own, a.src.height, a.border);
#pragma unroll
        for (int r = 0; r < GF_BOX_STEP; r++) {
            const int row = gf_shfl(folded, r);
            to[r] = make_uint2(a.outside_pixels, a.outside_pixels);
            if (row < 0 || !group.reads) continue;
            if (group.whole || row < a.src.height - 1)
                to[r] = gf_ldg(reinterpret_cast<const uint2 *>(at(row)));
            else
                to[r] = some(at(row), (a.src.width - group.x) * static_cast<int>(sizeof(T)));
        }
    }
    /* The first n of 8 bytes, 0 < n < 8: behind the last row's end there may be nothing. */
    GF_DEVICE static uint2 some(const char *at, int n)
    {
        const unsigned word = n & 4 ? gf_ldg(reinterpret_cast<const unsigned *>(at)) : 0;
        if (n & 4) at += 4;
        unsigned rest = n & 2 ? gf_ldg(reinterpret_cast<const unsigned short *>(at)) : 0;
        if (n & 1) {
            const unsigned char *const last = reinterpret_cast<const unsigned char *>(at + (n & 2));
            rest |= static_cast<unsigned>(gf_ldg(last)) << 8 * (n & 2);
        }
        return n & 4 ? make_uint2(word, rest) : make_uint2(rest, 0);
    }
};

/* What the threads do that keep sums of columns. The rows that enter and leave in the next step are
 * in registers. */
template <class T, class Shape> struct gf_box_column_sums {
    enum { STEP = GF_BOX_STEP };
    const gf_box_walker<T, Shape> &block;
    const gf_box_rows<T> &rows;
    gf_box_columns<T> columns;
    uint2 in[STEP], out[STEP];

    GF_DEVICE gf_box_column_sums(const gf_box_walker<T, Shape> &block_, const gf_box_rows<T> &rows_)
        : block(block_), rows(rows_), columns(), in(), out()
    {
    }
    GF_DEVICE uint2 next(const char *&at) const
    {
        const uint2 v = gf_ldg(reinterpret_cast<const uint2 *>(at));
        at += rows.down;
        return v;
    }
    /* A step before the first results: add up eight rows but for the first `skip`. y: the first row
     * of the next step. INSIDE: its rows are read as they are, each when its registers are free. */
    template <bool INSIDE> GF_DEVICE void fill(int y, int skip)
    {
        const char *enters = INSIDE ? rows.at(y) : nullptr;
#pragma unroll
        for (int r = 0; r < STEP; r++) {
            if (r >= skip) columns.change(in[r], make_uint2(0, 0));
            if (INSIDE) in[r] = next(enters);
        }
        if (!INSIDE) rows.read(y, in);
    }
    GF_DEVICE void write(int i, int r) const
    {
        unsigned char *const to = block.sums_of(i) + 16 * static_cast<int>(threadIdx.x);
        const unsigned *const sum = columns.sum;
        *reinterpret_cast<uint4 *>(to + r * Shape::PITCH_OF_SUMS) =
            make_uint4(sum[0], sum[1], sum[2], sum[3]);
    }
    /* Steps for rows i … end - 1 of the block's results; y: as before, and all rows are inside. A
     * loop of its own, whose rows' registers are never copied: that would wait for them. */
    GF_DEVICE void steps_inside(int y, int i, int end)
    {
        const char *enters = rows.at(y), *leaves = rows.at(y - rows.by * block.a.kh);
#pragma unroll 1
        for (; i < end; i += STEP) {
#pragma unroll
            for (int r = 0; r < STEP; r++) {
                columns.change(in[r], out[r]);
                in[r] = next(enters), out[r] = next(leaves);
                write(i, r);
            }
            block.wait(i);
        }
    }
    GF_DEVICE void step_folded(int y, int i)
    {
#pragma unroll
        for (int r = 0; r < STEP; r++) {
            columns.change(in[r], out[r]);
            write(i, r);
        }
        if (i + STEP < block.rows) {
            rows.read(y, in);
            rows.read(y - rows.by * block.a.kh, out);
        }
        block.wait(i);
    }
};

template <class T, class Shape>
GF_DEVICE void gf_box_sum_columns_again(const gf_box_walker<T, Shape> &block)
{
    enum { STEP = GF_BOX_STEP, N = gf_box_group<T>::N };
    const gf_boxwalk_args &a = block.a;
    const int thread = static_cast<int>(threadIdx.x), by = block.by;
    const int ahead = (a.kh - 1 + STEP - 1) / STEP * STEP; /* as in the other form */
    const gf_box_group<T> group(a, block.first + N * thread, N * thread < block.used);
    const gf_box_rows<T> rows(a, group, by);
    gf_box_column_sums<T, Shape> sums(block, rows);
    /* the row that enters the first results' windows */
    const int start = block.y - a.ay + (by > 0 ? a.kh - 1 : 0);
    rows.read(start - by * ahead, sums.in);
#pragma unroll 1
    for (int i = -ahead; i < 0; i += STEP) {
        const int y = start + by * (i + STEP);
        if (rows.inside(y) > 0)
            sums.template fill<true>(y, 1 - a.kh - i);
        else
            sums.template fill<false>(y, 1 - a.kh - i);
    }
    rows.read(start - by * a.kh, sums.out);
    sums.out[0] = make_uint2(0, 0); /* was never in */
    int i = 0;
#pragma unroll 1
    while (i < block.rows) {
        const int y = start + by * (i + STEP);
        const int most = rows.inside(y - by * a.kh) > 0 ? rows.inside(y) : 0;
        const int n = min(most, (block.rows - i + STEP - 1) / STEP);
        if (n > 0)
            sums.steps_inside(y, i, i + n * STEP);
        else
            sums.step_folded(y, i);
        i += max(n, 1) * STEP;
    }
}

/* ---- walking: sums of windows --------------------------------------------------------------- */

/* How columns enter and leave the sum of a window, and what becomes of it: the low bits of a float
 * that lies so high that adding has rounded it, half to even. w: four words of sums of columns.
 *
 * u8: the sum's bits are those of a float of the same value, which begins at a number whose result
 * is whole; so there is nothing to convert. */
template <> struct gf_box_sum<unsigned char> {
    typedef unsigned short column;
    const gf_boxwalk_args &a;
    int bits;

    GF_DEVICE gf_box_sum(const gf_boxwalk_args &a_) : a(a_), bits(a_.start) {}
    GF_DEVICE void enter_all(const unsigned (&w)[4])
    {
        const int half = gf_dot_low(w[1], a.both, gf_dot_low(w[0], a.both, 0));
        bits = gf_dot_low(w[3], a.both, gf_dot_low(w[2], a.both, bits)) + half;
    }
    GF_DEVICE void enter(const unsigned (&w)[4], int i)
    {
        bits = i % 2 ? gf_dot_high(w[i / 2], a.enters, bits) : gf_dot_low(w[i / 2], a.enters, bits);
    }
    GF_DEVICE void leave(const unsigned (&w)[4], int i)
    {
        bits = i % 2 ? gf_dot_high(w[i / 2], a.leaves, bits) : gf_dot_low(w[i / 2], a.leaves, bits);
    }
    GF_DEVICE unsigned result() const
    {
        return gf_float_bits(fmaf(gf_bits_float(static_cast<unsigned>(bits)), a.factor, a.rounds));
    }
    GF_DEVICE static uint2 pack(const unsigned (&v)[8])
    {
        unsigned pair[4];
#pragma unroll
        for (int i = 0; i < 4; i++) pair[i] = gf_pick_bytes(v[2 * i], v[2 * i + 1], 0x0040);
        return make_uint2(gf_pick_bytes(pair[0], pair[1], 0x5410),
                          gf_pick_bytes(pair[2], pair[3], 0x5410));
    }
};

template <> struct gf_box_sum<unsigned short> {
    typedef unsigned column;
    const gf_boxwalk_args &a;
    unsigned sum;

    GF_DEVICE gf_box_sum(const gf_boxwalk_args &a_) : a(a_), sum(0) {}
    GF_DEVICE void enter_all(const unsigned (&w)[4]) { sum += (w[0] + w[1]) + (w[2] + w[3]); }
    GF_DEVICE void enter(const unsigned (&w)[4], int i) { sum += w[i]; }
    GF_DEVICE void leave(const unsigned (&w)[4], int i) { sum -= w[i]; }
    GF_DEVICE unsigned result() const
    {
        return gf_float_bits(fmaf(static_cast<float>(sum), a.factor, a.rounds));
    }
    GF_DEVICE static uint2 pack(const unsigned (&v)[4])
    {
        return make_uint2(gf_pick_bytes(v[0], v[1], 0x5410), gf_pick_bytes(v[2], v[3], 0x5410));
    }
};

/* Four words of sums, moved at once. */
struct gf_box_words {
    unsigned w[4];

    GF_DEVICE void load(const uint4 *at)
    {
        const uint4 v = *at;
        w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
    }
};

/* A run of results. row: sums of the columns from that on of which column LEFT is the first
 * window's first; column RIGHT of a later group is the first behind it. */
template <class T, int LEFT, int RIGHT, int RUN>
GF_DEVICE void gf_box_along(const gf_boxwalk_args &a, const unsigned char *row, unsigned char *to)
{
    enum { N = gf_box_group<T>::N };
    const uint4 *left_at = reinterpret_cast<const uint4 *>(row), *right_at = left_at;
    gf_box_sum<T> sum(a);
    gf_box_words left[2], right[2];
    left[0].load(left_at);
    right[0] = left[0];
#pragma unroll
    for (int i = 0; i < LEFT; i++) sum.leave(left[0].w, i);
#pragma unroll 4
    for (int i = (LEFT + a.kw) / N; i > 0; i--) {
        sum.enter_all(right[0].w);
        right[0].load(++right_at);
    }
#pragma unroll
    for (int i = 0; i < RIGHT; i++) sum.enter(right[0].w, i);
#pragma unroll
    for (int i = 0; i < RUN; i += 2 * N, to += 16) {
        uint2 pixels[2];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned results[N];
            left[1].load(++left_at);
            right[1].load(++right_at);
#pragma unroll
            for (int k = 0; k < N; k++) {
                results[k] = sum.result();
                sum.enter(right[(RIGHT + k) / N].w, (RIGHT + k) % N);
                sum.leave(left[(LEFT + k) / N].w, (LEFT + k) % N);
            }
            pixels[half] = gf_box_sum<T>::pack(results);
            left[0] = left[1], right[0] = right[1];
        }
        *reinterpret_cast<uint4 *>(to) =
            make_uint4(pixels[0].x, pixels[0].y, pixels[1].x, pixels[1].y);
    }
}

/* The first n of 16 bytes. */
GF_DEVICE void gf_box_put_some(char *to, uint4 v, int n)
{
    const unsigned word[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (4 * i + 4 <= n) {
            reinterpret_cast<unsigned *>(to)[i] = word[i];
            continue;
        }
#pragma unroll
        for (int k = 4 * i; k < 4 * i + 3; k++)
            if (k < n) to[k] = static_cast<char>(word[i] >> k % 4 * 8);
    }
}

/* What the other threads do: a thread makes a run of row lane % 8 of a step, a warp four of each
 * row, which it gathers and stores. */
template <class T, int LEFT, int RIGHT, class Shape>
GF_DEVICE void gf_box_sum_windows(const gf_box_walker<T, Shape> &block)
{
    enum { STEP = GF_BOX_STEP, RUN = Shape::RUN, BYTES = RUN * sizeof(T), N = 16 / sizeof(T) };
    enum { LANES = 4 * RUN / N, AT_ONCE = 32 / LANES, PITCH = 4 * BYTES + 16 };
    const gf_boxwalk_args &a = block.a;
    const int number = static_cast<int>(threadIdx.x) - a.walkers, lane = number % 32;
    const int run = number / STEP * RUN, column = number / 32 * 4 * RUN + lane % LANES * N;
    const int in_row = lane % STEP * Shape::PITCH_OF_SUMS + 16 * (run / gf_box_group<T>::N);
    unsigned char *const results = block.results + number / 32 * STEP * PITCH;
    unsigned char *const own = results + lane % STEP * PITCH + lane / STEP * BYTES;
    const unsigned char *const from = results + lane / LANES * PITCH + lane % LANES * 16;
    const int n = min(block.width - column, static_cast<int>(N)); /* that the lane stores */
    const long long pitch = block.by * a.dst.pitch;
    char *to = reinterpret_cast<char *>(gf_row<T>(a.dst, block.y + block.by * (lane / LANES)) +
                                        block.x + column);
#pragma unroll 1
    for (int i = 0; i < block.rows; i += STEP) {
        block.wait(i);
        if (run < block.width) gf_box_along<T, LEFT, RIGHT, RUN>(a, block.sums_of(i) + in_row, own);
        gf_sync_warp();
#pragma unroll
        for (int r = 0; r < STEP; r += AT_ONCE, to += AT_ONCE * pitch) {
            if (i + r + lane / LANES >= block.rows) continue;
            const uint4 v = *reinterpret_cast<const uint4 *>(from + r * PITCH);
            if (n == N)
                *reinterpret_cast<uint4 *>(to) = v;
            else
                gf_box_put_some(to, v, n * static_cast<int>(sizeof(T)));
        }
        gf_sync_warp(); /* until all have read, nobody writes */
    }
}

/* The same for the windows at hand, whose results lie over column kw / 2. */
template <class T, int LEFT, class Shape>
GF_DEVICE void gf_box_sum_windows_by_width(const gf_box_walker<T, Shape> &block)
{
    enum { N = gf_box_group<T>::N };
    if (block.a.left != LEFT) return;
    if (block.a.kw % 2)
        gf_box_sum_windows<T, LEFT, (N + 1 - LEFT) % N>(block);
    else
        gf_box_sum_windows<T, LEFT, (N - LEFT) % N>(block);
}
template <class Shape>
GF_DEVICE void gf_box_sum_windows_any(const gf_box_walker<unsigned char, Shape> &block)
{
    gf_box_sum_windows_by_width<unsigned char, 0>(block);
    gf_box_sum_windows_by_width<unsigned char, 1>(block);
    gf_box_sum_windows_by_width<unsigned char, 2>(block);
    gf_box_sum_windows_by_width<unsigned char, 3>(block);
    gf_box_sum_windows_by_width<unsigned char, 4>(block);
    gf_box_sum_windows_by_width<unsigned char, 5>(block);
    gf_box_sum_windows_by_width<unsigned char, 6>(block);
    gf_box_sum_windows_by_width<unsigned char, 7>(block);
}
template <class Shape>
GF_DEVICE void gf_box_sum_windows_any(const gf_box_walker<unsigned short, Shape> &block)
{
    gf_box_sum_windows_by_width<unsigned short, 0>(block);
    gf_box_sum_windows_by_width<unsigned short, 1>(block);
    gf_box_sum_windows_by_width<unsigned short, 2>(block);
    gf_box_sum_windows_by_width<unsigned short, 3>(block);
}

template <class T, class Shape>
GF_DEVICE void gf_box_walk(const gf_boxwalk_args &a, unsigned char *shared)
{
    const gf_box_walker<T, Shape> block(a, shared);
    if (static_cast<int>(threadIdx.x) >= a.walkers)
        gf_box_sum_windows_any(block);
    else if (Shape::AGAIN)
        gf_box_sum_columns_again(block);
    else
        gf_box_sum_columns(block);
}
#endif

#ifdef GF_HAVE_TENSOR
#define GF_BOX_WALK(T, SHAPE, AGAIN, a, shared)                                                    \
    gf_box_walk<T, gf_box_shape<GF_BOX_##SHAPE##_GROUPS, GF_BOX_##SHAPE##_RUN, AGAIN>>(a, shared)
#else
#define GF_BOX_WALK(T, SHAPE, AGAIN, a, shared) static_cast<void>(shared)
#endif
#define GF_BOX_WALK_KERNEL(name, T, SHAPE, AGAIN)                                                  \
    GF_KERNEL_BOUNDS(GF_BOX_##SHAPE##_THREADS, 2, gf_box_walk_##name, gf_boxwalk_args, a)          \
    {                                                                                              \
        GF_SHARED(unsigned char, shared);                                                          \
        GF_BOX_WALK(T, SHAPE, AGAIN, a, shared);                                                   \
    }
GF_BOX_WALK_KERNEL(u8, unsigned char, WALK, false)
GF_BOX_WALK_KERNEL(u8_narrow, unsigned char, NARROW, false)
GF_BOX_WALK_KERNEL(u8_again, unsigned char, AGAIN, true)
GF_BOX_WALK_KERNEL(u16, unsigned short, WALK, false)
GF_BOX_WALK_KERNEL(u16_again, unsigned short, AGAIN, true)

/* ---- any pixels and larger windows: columns ------------------------------------------------- */

/* Four neighbouring pixels as they are read, as sums, and as pixels one by one. Sums of integers
 * are integers. */
struct gf_box_four_u8 {
    typedef unsigned char type;
    typedef unsigned raw, sum;
    static GF_DEVICE raw join(const type (&v)[4])
    {
        return v[0] | v[1] << 8 | v[2] << 16 | static_cast<unsigned>(v[3]) << 24;
    }
    static GF_DEVICE void split(raw v, sum (&out)[4])
    {
        out[0] = v & 255u, out[1] = v >> 8 & 255u, out[2] = v >> 16 & 255u, out[3] = v >> 24;
    }
};

struct gf_box_four_u16 {
    typedef unsigned short type;
    typedef uint2 raw;
    typedef unsigned sum;
    static GF_DEVICE raw join(const type (&v)[4])
    {
        return make_uint2(v[0] | static_cast<unsigned>(v[1]) << 16,
                          v[2] | static_cast<unsigned>(v[3]) << 16);
    }
    static GF_DEVICE void split(raw v, sum (&out)[4])
    {
        out[0] = v.x & 0xffffu, out[1] = v.x >> 16, out[2] = v.y & 0xffffu, out[3] = v.y >> 16;
    }
};

struct gf_box_four_f32 {
    typedef float type, sum;
    typedef float4 raw;
    static GF_DEVICE raw join(const type (&v)[4]) { return make_float4(v[0], v[1], v[2], v[3]); }
    static GF_DEVICE void split(raw v, sum (&out)[4])
    {
        out[0] = v.x, out[1] = v.y, out[2] = v.z, out[3] = v.w;
    }
};

/* Four sums, moved at once. */
template <class S> struct alignas(16) gf_box_quad {
    S at[4];
};

/* A thread's four columns; from: what they are folded to, or -1, unless whole. */
template <class P> struct gf_box_four {
    int x, from[4];
    bool whole;

    GF_DEVICE gf_box_four(const gf_box_args &a, int x_) : x(x_)
    {
        whole = a.aligned && x >= 0 && x + 4 <= a.src.width;
#pragma unroll
        for (int i = 0; i < 4; i++) from[i] = gf_border_index(x + i, a.src.width, a.border);
    }
    /* Of eight rows from y on, wherever they are. Loads do not depend on each other, nor on
     * branches, so that all are under way together. */
    GF_DEVICE void read_step(const gf_box_args &a, int y, typename P::raw (&out)[GF_BOX_STEP]) const
    {
        if (whole && y >= 0 && y + GF_BOX_STEP <= a.src.height)
            read_inside(a, y, out);
        else
            read_folded(a, y, out);
    }
    GF_DEVICE void read_inside(const gf_box_args &a, int y,
                               typename P::raw (&out)[GF_BOX_STEP]) const
    {
        const char *at =
            reinterpret_cast<const char *>(gf_row<const typename P::type>(a.src, y) + x);
#pragma unroll
        for (int r = 0; r < GF_BOX_STEP; r++, at += a.src.pitch)
            out[r] = gf_ldg(reinterpret_cast<const typename P::raw *>(at));
    }
    GF_DEVICE void read_folded(const gf_box_args &a, int y,
                               typename P::raw (&out)[GF_BOX_STEP]) const
    {
        int rows[GF_BOX_STEP];
#pragma unroll
        for (int r = 0; r < GF_BOX_STEP; r++)
            rows[r] = gf_border_index(y + r, a.src.height, a.border);
#pragma unroll
        for (int r = 0; r < GF_BOX_STEP; r++) {
            const typename P::type *const at =
                gf_row<const typename P::type>(a.src, max(rows[r], 0));
            typename P::type v[4];
#pragma unroll
            for (int i = 0; i < 4; i++) v[i] = gf_ldg(at + max(from[i], 0));
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (rows[r] < 0 || from[i] < 0)
                    v[i] = static_cast<typename P::type>(a.border_value);
            out[r] = P::join(v);
        }
    }
};

/* Sums of kh rows, eight output rows a step. Rows are taken in groups of eight that begin at the
 * step's first window: a window is the end of group 0, whole groups, and the begin of another.
 * Nothing is ever subtracted, so a value is gone when its row is. Shorter windows are added up row
 * by row. */
template <class P> struct gf_box_down {
    typedef typename P::sum sum;
    typedef gf_box_quad<sum> quad;
    quad begin; /* of the group that is being entered */
    quad *groups;
    int slots, done; /* done: after this row of a step the group is whole */
    int slot;        /* of the step's group 0 */

    GF_DEVICE gf_box_down(sum *shared, int kh)
        : begin(), groups(reinterpret_cast<quad *>(shared) + threadIdx.x), slot(0)
    {
        slots = GF_BOX_GROUPS(kh);
        done = GF_BOX_STEP - 1 - (kh - 1) % GF_BOX_STEP;
    }
    GF_DEVICE quad &at(int group)
    {
        const int i = slot + group;
        return groups[(i < slots ? i : i - slots) * GF_BOX_THREADS];
    }
    GF_DEVICE static void add(quad &to, const sum (&v)[4])
    {
#pragma unroll
        for (int i = 0; i < 4; i++) to.at[i] += v[i];
    }
    GF_DEVICE void enter(typename P::raw raw)
    {
        sum v[4];
        P::split(raw, v);
        add(begin, v);
    }
    GF_DEVICE void close(int group)
    {
        at(group) = begin;
        begin = quad();
    }
    /* The groups that all windows of the step have. */
    GF_DEVICE quad middle()
    {
        quad out = {};
#pragma unroll 4
        for (int g = 1; g < slots; g++) {
            const quad v = at(g);
            add(out, v.at);
        }
        return out;
    }
    GF_DEVICE void step(const typename P::raw (&in)[GF_BOX_STEP],
                        const typename P::raw (&out)[GF_BOX_STEP], sum *to)
    {
        enum { LAST = GF_BOX_STEP - 1 };
        quad end[GF_BOX_STEP];
        P::split(out[LAST], end[LAST].at);
#pragma unroll
        for (int r = LAST - 1; r >= 0; r--) {
            P::split(out[r], end[r].at);
            add(end[r], end[r + 1].at);
        }
        quad whole = middle();
#pragma unroll
        for (int r = 0; r < GF_BOX_STEP; r++, to += GF_BOX_PITCH) {
            enter(in[r]);
            quad all = whole;
            add(all, begin.at);
            add(all, end[r].at);
            *reinterpret_cast<quad *>(to) = all;
            if (r != done) continue;
            add(whole, begin.at);
            close(slots);
        }
        if (++slot >= slots) slot = 0;
    }
};

/* Windows of at most eight rows: rows 0 … 14 of the step. */
template <class P>
GF_DEVICE void gf_box_few_rows(const typename P::raw (&first)[GF_BOX_STEP],
                               const typename P::raw (&then)[GF_BOX_STEP], int kh,
                               typename P::sum *to)
{
#pragma unroll
    for (int r = 0; r < GF_BOX_STEP; r++, to += GF_BOX_PITCH) {
        gf_box_quad<typename P::sum> sum = {};
#pragma unroll
        for (int j = 0; j < GF_BOX_STEP; j++) {
            typename P::sum v[4];
            const int row = (r + j) % GF_BOX_STEP;
            P::split(r + j < GF_BOX_STEP ? first[row] : then[row], v);
            if (j < kh) gf_box_down<P>::add(sum, v);
        }
        *reinterpret_cast<gf_box_quad<typename P::sum> *>(to) = sum;
    }
}

/* ---- any pixels and larger windows: rows ---------------------------------------------------- */

/* A lane's results: windows of kw sums, from `row` on, G at a time; kw >= G. Each is the end of the
 * first G sums, the middle that all G windows have, and the begin of what follows. */
template <class S, int G> GF_DEVICE void gf_box_along(const S *row, int kw, S (&out)[GF_BOX_RUN])
{
#pragma unroll
    for (int g = 0; g < GF_BOX_RUN; g += G, row += G) {
        S end = 0, begin = 0, middle[4] = {};
        int done = G;
#pragma unroll 2
        for (; done + 4 <= kw; done += 4)
#pragma unroll
            for (int k = 0; k < 4; k++) middle[k] += row[done + k];
#pragma unroll 1
        for (; done < kw; done++) middle[0] += row[done];
        const S all = (middle[0] + middle[1]) + (middle[2] + middle[3]);
#pragma unroll
        for (int i = G - 1; i >= 0; i--) out[g + i] = end += row[i];
#pragma unroll
        for (int i = 0; i < G; i++) {
            out[g + i] += all + begin;
            begin += row[kw + i];
        }
    }
}

/* Results of a row of sums, which are overwritten. x, y: the first one's pixel; n of them. */
template <class S>
GF_DEVICE void gf_box_finish_row(const gf_box_args &a, S *row, int x, int y, int n)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool any = GF_BOX_RUN * lane < n;
    S out[GF_BOX_RUN];
    const S *const own = row + a.lead + GF_BOX_RUN * lane;
    if (any) {
        if (a.kw >= GF_BOX_RUN)
            gf_box_along<S, GF_BOX_RUN>(own, a.kw, out);
        else if (a.kw >= 11)
            gf_box_along<S, 11>(own, a.kw, out);
        else if (a.kw >= 3)
            gf_box_along<S, 3>(own, a.kw, out);
        else
            gf_box_along<S, 1>(own, a.kw, out);
    }
    gf_sync_warp();
#pragma unroll
    for (int i = 0; i < GF_BOX_RUN; i++)
        if (any) row[GF_BOX_RUN * lane + i] = out[i];
    gf_sync_warp();
    for (int i = 4 * lane; i < n; i += 4 * 32) {
        const gf_box_quad<S> sums = *reinterpret_cast<const gf_box_quad<S> *>(row + i);
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = fmaf(a.combine.scale, static_cast<float>(sums.at[k]), a.combine.offset);
        gf_points(a.combine.points, v);
        gf_store_up_to4(a.dst, a.aligned, x + i, y, make_float4(v[0], v[1], v[2], v[3]));
    }
}

template <class P> GF_DEVICE void gf_box_block(const gf_box_args &a, unsigned char *shared)
{
    typedef typename P::sum sum;
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    const int strip = static_cast<int>(blockIdx.x) % a.strips;
    const int y = static_cast<int>(blockIdx.x) / a.strips * a.rows;
    const int x = a.first + a.lead + a.ax + strip * a.step; /* of the first result */
    const int n = min(a.step, a.dst.width - x), rows = min(a.rows, a.dst.height - y);
    sum *const sums = reinterpret_cast<sum *>(shared);
    const gf_box_four<P> four(a, a.first + strip * a.step + 4 * thread);
    const bool few = a.kh <= GF_BOX_STEP;
    gf_box_down<P> down(sums + GF_BOX_STEP * GF_BOX_PITCH, a.kh);
    typename P::raw in[GF_BOX_STEP], out[GF_BOX_STEP];
    int top = y - a.ay; /* of the step's first window */
    for (int i = 0; !few && i < a.kh - 1; i += GF_BOX_STEP) {
        four.read_step(a, top + i, in);
#pragma unroll
        for (int r = 0; r < GF_BOX_STEP; r++)
            if (i + r < a.kh - 1) down.enter(in[r]);
        if (i + GF_BOX_STEP <= a.kh - 1) down.close(i / GF_BOX_STEP);
    }
    const int enters = few ? GF_BOX_STEP : a.kh - 1;
    four.read_step(a, top + enters, in);
    for (int i = 0; i < rows; i += GF_BOX_STEP) {
        four.read_step(a, top, out);
        if (few)
            gf_box_few_rows<P>(out, in, a.kh, sums + 4 * thread);
        else
            down.step(in, out, sums + 4 * thread);
        top += GF_BOX_STEP;
        if (i + GF_BOX_STEP < rows) four.read_step(a, top + enters, in);
        __syncthreads();
        if (i + warp < rows) gf_box_finish_row(a, sums + warp * GF_BOX_PITCH, x, y + i + warp, n);
        __syncthreads();
    }
}

#define GF_BOX_KERNEL(pixel)                                                                       \
    GF_KERNEL_BOUNDS(GF_BOX_THREADS, 2, gf_box_##pixel, gf_box_args, a)                            \
    {                                                                                              \
        GF_SHARED(unsigned char, shared);                                                          \
        gf_box_block<gf_box_four_##pixel>(a, shared);                                              \
    }
GF_BOX_KERNEL(u8)
GF_BOX_KERNEL(u16)
GF_BOX_KERNEL(f32)
