/* Sums over rectangles of taps that are all equal, rows and columns in one launch.
 *
 * u8 and u16, to the same type: a warp owns neighbouring columns of the source, 16 bytes a lane,
 * and walks down them. It keeps the sum of each column's kh rows: a row enters, another leaves.
 * Along the row a result differs from its neighbour by two of those sums. A lane adds up the
 * differences of its own columns; where it begins is what the lanes before it have added up, and
 * the warp's first window. Integers leave nothing behind, so all is exact until the one
 * multiplication at the end. Nothing is shared between warps, so there are no barriers.
 *
 * All else: a block makes eight rows of sums of columns, then a warp each row of windows. Nothing
 * is ever subtracted, so a value that is huge, or not finite, is felt by its windows only. */
#include "kernels/gf_tile.cuh"
#include "kernels/box.variants.h"

/* ---- a row of pixels ------------------------------------------------------------------------ */

/* What a lane has of a row, 16 bytes, as pixels of type T; sums of its columns take eight words. */
template <class T> struct gf_box_pixels {
    enum {
        LANE = GF_BOX_LANE_BYTES / sizeof(T),
        WARP = 32 * LANE,
        HALF = LANE / 2 /* columns whose sums take 16 bytes */
    };
};

/* A lane's columns. */
struct gf_box_lane {
    int x;      /* the first of them; where the border wraps, of those they are the same as */
    bool reads; /* the source has some of them, perhaps not the last ones */
    bool whole; /* or all */
};

GF_DEVICE uint4 gf_box_all(unsigned word) { return make_uint4(word, word, word, word); }

/* The first n of a lane's pixels: past the end of the last row there may be nothing. */
template <class T> GF_DEVICE uint4 gf_box_read_some(const T *from, int n)
{
    enum { EACH = 4 / sizeof(T), BITS = 8 * sizeof(T) };
    unsigned word[4] = {};
#pragma unroll
    for (int i = 0; i < gf_box_pixels<T>::LANE; i++)
        if (i < n) word[i / EACH] |= static_cast<unsigned>(gf_ldg(from + i)) << i % EACH * BITS;
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* The lane's pixels of row y, which may lie anywhere; those it has not may have any value. */
template <class T> GF_DEVICE uint4 gf_box_read(const gf_box_args &a, const gf_box_lane &lane, int y)
{
    const int row = gf_border_index(y, a.src.height, a.border);
    if (row < 0)
        return gf_box_all(static_cast<unsigned>(a.border_value) *
                          (sizeof(T) == 1 ? 0x01010101u : 0x00010001u));
    if (!lane.reads) return gf_box_all(0);
    const T *const from = gf_row<const T>(a.src, row) + lane.x;
    if (lane.whole || row < a.src.height - 1) return gf_ldg(reinterpret_cast<const uint4 *>(from));
    return gf_box_read_some(from, a.src.width - lane.x);
}

/* Rows one after the other. INSIDE: all of them lie in the source, and all lanes are whole. */
template <class T, bool INSIDE> struct gf_box_rows {
    const gf_box_args &a;
    const gf_box_lane &lane;
    int y;
    const char *at;

    GF_DEVICE gf_box_rows(const gf_box_args &a_, const gf_box_lane &lane_, int y_)
        : a(a_), lane(lane_), y(y_)
    {
        if (INSIDE) at = reinterpret_cast<const char *>(gf_row<const T>(a.src, y) + lane.x);
    }
    GF_DEVICE uint4 next()
    {
        if (!INSIDE) return gf_box_read<T>(a, lane, y++);
        const uint4 v = gf_ldg(reinterpret_cast<const uint4 *>(at));
        at += a.src.pitch;
        return v;
    }
};

/* ---- sums of columns ------------------------------------------------------------------------ */

/* Of a lane's columns: u8 two in the halves of a word, u16 one in a word. */
template <class T> struct gf_box_columns {
    unsigned sum[8];

    GF_DEVICE void clear()
    {
#pragma unroll
        for (int i = 0; i < 8; i++) sum[i] = 0;
    }
    GF_DEVICE void change(uint4 enters, uint4 leaves)
    {
        const unsigned in[4] = { enters.x, enters.y, enters.z, enters.w };
        const unsigned out[4] = { leaves.x, leaves.y, leaves.z, leaves.w };
#pragma unroll
        for (int i = 0; i < 8; i++) {
            const unsigned which =
                sizeof(T) == 1 ? (i % 2 ? 0x4342u : 0x4140u) : (i % 2 ? 0x4432u : 0x4410u);
            sum[i] += gf_pick_bytes(in[i / 2], 0u, which) - gf_pick_bytes(out[i / 2], 0u, which);
        }
    }
};

/* Sums that columns are folded to: places of the lane's columns, two in a word, -1 for the border's
 * value. */
template <class T>
GF_DEVICE void gf_box_fold(const unsigned short *sums, const unsigned *places, unsigned outside,
                           unsigned (&out)[8]);
template <>
GF_DEVICE void gf_box_fold<unsigned char>(const unsigned short *sums, const unsigned *places,
                                          unsigned outside, unsigned (&out)[8])
{
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int low = static_cast<short>(places[i] & 0xffffu);
        const int high = static_cast<int>(places[i]) >> 16;
        out[i] = (low < 0 ? outside : sums[low]) | (high < 0 ? outside : sums[high]) << 16;
    }
}
template <>
GF_DEVICE void gf_box_fold<unsigned short>(const unsigned short *sums, const unsigned *places,
                                           unsigned outside, unsigned (&out)[8])
{
    const unsigned *const words = reinterpret_cast<const unsigned *>(sums);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int place = i % 2 ? static_cast<int>(places[i / 2]) >> 16
                                : static_cast<short>(places[i / 2] & 0xffffu);
        out[i] = place < 0 ? outside : words[place];
    }
}

/* A warp's sums of columns in shared memory, each row's in two planes of every other 16 bytes. */
template <class T> struct gf_box_exchange {
    enum { PLANE = GF_BOX_PLANE / 16, HALF = gf_box_pixels<T>::HALF };
    uint4 *own;
    const uint4 *right[3];

    GF_DEVICE gf_box_exchange(unsigned char *shared, int lane, int kw)
    {
        uint4 *const first = reinterpret_cast<uint4 *>(shared);
        own = first + lane;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const int group = kw / HALF + i;
            right[i] = first + group % 2 * PLANE + lane + group / 2;
        }
    }
    /* Where the warp's column i is, counted in sums. */
    GF_DEVICE static int at(int i)
    {
        return i / HALF % 2 * PLANE * HALF + i / HALF / 2 * HALF + i % HALF;
    }
    GF_DEVICE void write(const gf_box_columns<T> (&rows)[GF_BOX_ROWS]) const
    {
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++) {
            const unsigned *const s = rows[r].sum;
            own[2 * r * PLANE] = make_uint4(s[0], s[1], s[2], s[3]);
            own[(2 * r + 1) * PLANE] = make_uint4(s[4], s[5], s[6], s[7]);
        }
        gf_sync_warp();
    }
    /* Columns that the source has not, from those that are the same. */
    GF_DEVICE void fold(bool folds, const unsigned *places, unsigned outside,
                        gf_box_columns<T> (&rows)[GF_BOX_ROWS]) const
    {
        const uint4 *const first = own - threadIdx.x % 32;
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++)
            if (folds)
                gf_box_fold<T>(reinterpret_cast<const unsigned short *>(first + 2 * r * PLANE),
                               places, outside, rows[r].sum);
        gf_sync_warp();
        write(rows);
    }
    /* The sums of row r's columns kw to the right; SHIFT is kw % HALF. */
    template <int SHIFT> GF_DEVICE void read(int r, unsigned (&out)[8]) const
    {
        unsigned word[12];
#pragma unroll
        for (int i = 0; i < (SHIFT ? 3 : 2); i++) {
            const uint4 v = right[i][2 * r * PLANE];
            word[4 * i] = v.x, word[4 * i + 1] = v.y, word[4 * i + 2] = v.z, word[4 * i + 3] = v.w;
        }
#pragma unroll
        for (int i = 0; i < 8; i++) {
            if (sizeof(T) == 2)
                out[i] = word[SHIFT + i];
            else
                out[i] = SHIFT % 2
                             ? gf_pick_bytes(word[SHIFT / 2 + i], word[SHIFT / 2 + i + 1], 0x5432)
                             : word[SHIFT / 2 + i];
        }
    }
};

/* ---- sums of windows ------------------------------------------------------------------------ */

/* For each row the sum of what the lanes before this one have. The rows' chains of exchanges run
 * side by side. */
GF_DEVICE void gf_box_before(unsigned (&v)[GF_BOX_ROWS])
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    unsigned sum[GF_BOX_ROWS];
#pragma unroll
    for (int r = 0; r < GF_BOX_ROWS; r++) sum[r] = v[r];
#pragma unroll
    for (int by = 1; by < 32; by *= 2) {
        unsigned got[GF_BOX_ROWS];
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++) got[r] = gf_shfl_up(sum[r], by);
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++) sum[r] += lane >= by ? got[r] : 0u;
    }
#pragma unroll
    for (int r = 0; r < GF_BOX_ROWS; r++) v[r] = sum[r] - v[r];
}

/* first(): adds up those of the lane's columns that the warp's first window has. along(): sums of
 * the lane's windows less that of the first one, from the sums of its columns and of those kw to
 * the right; returns that of the next lane's first one. pixels(): results, given the first one's
 * sum. */
template <class T> struct gf_box_windows;

/* Sums are counted from 1.5 * 2^23, whose bits are those of a float of the same value; adding that
 * number rounds, half to even, and leaves the result in the low bits. */
template <> struct gf_box_windows<unsigned char> {
    int in[4]; /* bytes of 0 and 1 */

    GF_DEVICE gf_box_windows(int lane, int kw)
    {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int n = min(max(kw - 16 * lane - 4 * i, 0), 4);
            in[i] = n ? static_cast<int>(0x01010101u >> 8 * (4 - n)) : 0;
        }
    }
    GF_DEVICE unsigned first(const unsigned (&own)[8]) const
    {
        int sum = 0;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            sum = gf_dot_low(own[2 * i], in[i], sum);
            sum = gf_dot_high(own[2 * i + 1], in[i], sum);
        }
        return static_cast<unsigned>(sum);
    }
    GF_DEVICE static unsigned along(const unsigned (&own)[8], const unsigned (&right)[8],
                                    unsigned (&sums)[16])
    {
        static const unsigned SIGNS = 0x80008000u;
        const int zero = 0x4b400000;
        int sum = zero;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            /* with the sign bits nothing is borrowed from one half by the other */
            const unsigned change = (right[i] + SIGNS - own[i]) ^ SIGNS;
            sums[2 * i] = static_cast<unsigned>(sum);
            sums[2 * i + 1] = static_cast<unsigned>(gf_dot_low(change, 0x0001, sum));
            sum = gf_dot_low(change, 0x0101, sum);
        }
        return static_cast<unsigned>(sum - zero);
    }
    GF_DEVICE static uint4 pixels(const unsigned (&sums)[16], unsigned begin, float factor)
    {
        const float zero = 12582912.0f, base = static_cast<float>(static_cast<int>(begin)) - zero;
        unsigned bytes[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            unsigned bits[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                bits[k] = gf_float_bits(fmaf(gf_bits_float(sums[4 * i + k]) + base, factor, zero));
            bytes[i] = gf_pick_bytes(gf_pick_bytes(bits[0], bits[1], 0x0040),
                                     gf_pick_bytes(bits[2], bits[3], 0x0040), 0x5410);
        }
        return make_uint4(bytes[0], bytes[1], bytes[2], bytes[3]);
    }
};

template <> struct gf_box_windows<unsigned short> {
    unsigned in[8]; /* 0 or 1 */

    GF_DEVICE gf_box_windows(int lane, int kw)
    {
#pragma unroll
        for (int i = 0; i < 8; i++) in[i] = 8 * lane + i < kw;
    }
    GF_DEVICE unsigned first(const unsigned (&own)[8]) const
    {
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) sum += own[i] * in[i];
        return sum;
    }
    GF_DEVICE static unsigned along(const unsigned (&own)[8], const unsigned (&right)[8],
                                    unsigned (&sums)[8])
    {
        unsigned sum = 0;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            sums[i] = sum;
            sum += right[i] - own[i];
        }
        return sum;
    }
    GF_DEVICE static uint4 pixels(const unsigned (&sums)[8], unsigned begin, float factor)
    {
        const float rounds = 12582912.0f;
        unsigned words[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const float low = static_cast<float>(sums[2 * i] + begin);
            const float high = static_cast<float>(sums[2 * i + 1] + begin);
            words[i] = gf_pick_bytes(gf_float_bits(fmaf(low, factor, rounds)),
                                     gf_float_bits(fmaf(high, factor, rounds)), 0x5410);
        }
        return make_uint4(words[0], words[1], words[2], words[3]);
    }
};

/* ---- storing -------------------------------------------------------------------------------- */

/* A lane makes the results of LANE columns from x on and stores the group of as many that begins at
 * or before x: `past` pixels of it are the last ones of the lane before. */
struct gf_box_place {
    int x, past;
    bool store; /* the group is this warp's to store */
    bool whole; /* at once */
};

GF_DEVICE uint4 gf_box_group(uint4 v, int past_bytes)
{
    unsigned w[8] = { gf_shfl_up(v.x, 1),
                      gf_shfl_up(v.y, 1),
                      gf_shfl_up(v.z, 1),
                      gf_shfl_up(v.w, 1),
                      v.x,
                      v.y,
                      v.z,
                      v.w };
    const unsigned shift = static_cast<unsigned>(16 - past_bytes) % 4 * 8;
    const int first = (16 - past_bytes) / 4; /* of the words that the group begins in; or 4 */
#pragma unroll
    for (int i = 0; i < 6; i++) w[i] = first & 2 ? w[i + 2] : w[i];
#pragma unroll
    for (int i = 0; i < 5; i++) w[i] = first & 1 ? w[i + 1] : w[i];
    if (first == 4) return v;
    return make_uint4(gf_shift_words(w[0], w[1], shift), gf_shift_words(w[1], w[2], shift),
                      gf_shift_words(w[2], w[3], shift), gf_shift_words(w[3], w[4], shift));
}

template <class T> GF_DEVICE void gf_box_put_some(T *to, uint4 v, int n)
{
    enum { EACH = 4 / sizeof(T), BITS = 8 * sizeof(T) };
    const unsigned word[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
    for (int i = 0; i < gf_box_pixels<T>::LANE; i++)
        if (i < n) to[i] = static_cast<T>(word[i / EACH] >> i % EACH * BITS);
}

template <class T>
GF_DEVICE void gf_box_put(const gf_kimage &dst, const gf_box_place &place, T *row, uint4 v)
{
    if (!place.store) return;
    if (place.whole)
        *reinterpret_cast<uint4 *>(row) = v;
    else
        gf_box_put_some(row, v, dst.width - (place.x - place.past));
}

/* ---- the kernel ----------------------------------------------------------------------------- */

/* Sum up the first kh - 1 rows of the window of output row y. */
template <class T, bool INSIDE>
GF_DEVICE void gf_box_begin(const gf_box_args &a, const gf_box_lane &lane, int y,
                            gf_box_columns<T> &columns)
{
    enum { BATCH = 8 };
    gf_box_rows<T, INSIDE> rows(a, lane, y - a.ay);
    columns.clear();
#pragma unroll 1
    for (int i = 0; i < a.kh - 1; i += BATCH) {
        uint4 v[BATCH];
#pragma unroll
        for (int k = 0; k < BATCH; k++) v[k] = i + k < a.kh - 1 ? rows.next() : gf_box_all(0);
#pragma unroll
        for (int k = 0; k < BATCH; k++) columns.change(v[k], gf_box_all(0));
    }
}

/* Output rows y … y + n - 1 of a strip. shared: the warp's, the places of columns first. */
template <class T, int SHIFT, bool INSIDE>
GF_DEVICE void gf_box_walk(const gf_box_args &a, const gf_box_lane &lane, const gf_box_place &place,
                           unsigned char *shared, int y, int n)
{
    enum { LANE = gf_box_pixels<T>::LANE };
    const int id = static_cast<int>(threadIdx.x) % 32;
    const unsigned *const places = reinterpret_cast<const unsigned *>(shared) + id * LANE / 2;
    const unsigned outside = static_cast<unsigned>(a.kh) * static_cast<unsigned>(a.border_value);
    const bool folds = !INSIDE && gf_ballot(!lane.whole) != 0;
    const int past_bytes = place.past * static_cast<int>(sizeof(T));
    gf_box_columns<T> columns;
    gf_box_begin<T, INSIDE>(a, lane, y, columns);
    gf_box_rows<T, INSIDE> enter(a, lane, y - a.ay + a.kh - 1), leave(a, lane, y - a.ay);
    gf_box_exchange<T> exchange(shared + GF_BOX_PLACES, id, a.kw);
    const gf_box_windows<T> windows(id, a.kw);
    char *row = reinterpret_cast<char *>(gf_row<T>(a.dst, y) + (place.x - place.past));
    uint4 in[GF_BOX_ROWS], out[GF_BOX_ROWS];
#pragma unroll
    for (int r = 0; r < GF_BOX_ROWS; r++) {
        in[r] = enter.next();
        out[r] = r > 0 ? leave.next() : gf_box_all(0);
    }
#pragma unroll 1
    for (int i = 0; i < n; i += GF_BOX_ROWS) {
        gf_box_columns<T> own[GF_BOX_ROWS];
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++) {
            columns.change(in[r], out[r]);
            own[r] = columns;
        }
        if (i + GF_BOX_ROWS < n) {
#pragma unroll
            for (int r = 0; r < GF_BOX_ROWS; r++) in[r] = enter.next(), out[r] = leave.next();
        }
        exchange.write(own);
        if (folds) exchange.fold(!lane.whole, places, outside, own);
        unsigned sums[GF_BOX_ROWS][LANE], begin[GF_BOX_ROWS];
        uint4 pixels[GF_BOX_ROWS];
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++) {
            unsigned right[8];
            exchange.template read<SHIFT>(r, right);
            begin[r] = windows.along(own[r].sum, right, sums[r]);
        }
        gf_box_before(begin);
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++) begin[r] += gf_warp_sum(windows.first(own[r].sum));
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++)
            pixels[r] =
                gf_box_group(windows.pixels(sums[r], begin[r], a.combine.scale), past_bytes);
#pragma unroll
        for (int r = 0; r < GF_BOX_ROWS; r++, row += a.dst.pitch)
            if (i + r < n) gf_box_put(a.dst, place, reinterpret_cast<T *>(row), pixels[r]);
        gf_sync_warp(); /* until all have read, nobody writes */
    }
}

/* The places of the lane's columns, or of those they are folded to; first: the warp's first one. */
template <class T> GF_DEVICE void gf_box_find(const gf_box_args &a, int first, short *places)
{
    const int id = static_cast<int>(threadIdx.x) % 32, most = gf_box_pixels<T>::WARP - 1;
#pragma unroll 1
    for (int i = id * gf_box_pixels<T>::LANE, k = 0; k < gf_box_pixels<T>::LANE; i++, k++) {
        const int x = gf_border_index(first + i, a.src.width, a.border);
        places[i] =
            static_cast<short>(x < 0 ? -1 : gf_box_exchange<T>::at(min(max(x - first, 0), most)));
    }
}

template <class T, int SHIFT>
GF_DEVICE void gf_box_warp(const gf_box_args &a, unsigned char *shared)
{
    enum { LANE = gf_box_pixels<T>::LANE };
    const int id = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    const int number = static_cast<int>(blockIdx.x) * GF_BOX_WARPS + warp;
    if (number >= a.segments) return;
    /* first the segments of the two strips at the ends, which are shorter */
    const int inner = number - a.edges, ends = min(a.strips, 2);
    const int strip = inner < 0 ? number % ends * (a.strips - 1) : 1 + inner % (a.strips - 2);
    const int rows = inner < 0 ? a.edge_rows : a.rows;
    const int x = a.first + strip * a.step;
    const int y = (inner < 0 ? number / ends : inner / (a.strips - 2)) * rows;
    const int n = min(rows, a.dst.height - y);
    unsigned char *const own = shared + warp * GF_BOX_WARP_SHARED;
    gf_box_find<T>(a, x, reinterpret_cast<short *>(own));
    gf_box_lane lane;
    lane.x = x + LANE * id;
    if (a.border == GF_B_WRAP) lane.x = gf_border_index(lane.x, a.src.width, GF_B_WRAP);
    lane.reads = lane.x >= 0 && lane.x < a.src.width;
    lane.whole = lane.reads && lane.x + LANE <= a.src.width;
    gf_box_place place;
    place.x = x + LANE * id + a.ax;
    place.past = (a.ax - a.first) % LANE; /* a.first is a multiple of that */
    const int group = place.x - place.past;
    const int begin = x + a.ax - place.past + (place.past ? LANE : 0);
    place.store = group >= begin && group < begin + a.step && group < a.dst.width;
    place.whole = group + LANE <= a.dst.width;
    const bool inside =
        x >= 0 && x + gf_box_pixels<T>::WARP <= a.src.width && y >= a.ay &&
        y - a.ay + a.kh - 1 + (n + GF_BOX_ROWS - 1) / GF_BOX_ROWS * GF_BOX_ROWS <= a.src.height;
    if (inside)
        gf_box_walk<T, SHIFT, true>(a, lane, place, own, y, n);
    else
        gf_box_walk<T, SHIFT, false>(a, lane, place, own, y, n);
}

#define GF_BOX_WARP_KERNEL(pixel, T, SHIFT)                                                        \
    GF_KERNEL_BOUNDS(32 * GF_BOX_WARPS, GF_BOX_BLOCKS, gf_box_##pixel##_##SHIFT, gf_box_args, a)   \
    {                                                                                              \
        GF_SHARED(unsigned char, shared);                                                          \
        gf_box_warp<T, SHIFT>(a, shared);                                                          \
    }
GF_BOX_WARP_KERNEL(u8, unsigned char, 0)
GF_BOX_WARP_KERNEL(u8, unsigned char, 1)
GF_BOX_WARP_KERNEL(u8, unsigned char, 2)
GF_BOX_WARP_KERNEL(u8, unsigned char, 3)
GF_BOX_WARP_KERNEL(u8, unsigned char, 4)
GF_BOX_WARP_KERNEL(u8, unsigned char, 5)
GF_BOX_WARP_KERNEL(u8, unsigned char, 6)
GF_BOX_WARP_KERNEL(u8, unsigned char, 7)
GF_BOX_WARP_KERNEL(u16, unsigned short, 0)
GF_BOX_WARP_KERNEL(u16, unsigned short, 1)
GF_BOX_WARP_KERNEL(u16, unsigned short, 2)
GF_BOX_WARP_KERNEL(u16, unsigned short, 3)

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
