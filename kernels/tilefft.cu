/* Convolution by FFT of tiles that never leave shared memory: overlap-save in one launch.
 *
 * The lower half of a tile is taken as the imaginary part of the upper half. That makes the tile's
 * columns polynomials modulo Y^L - i, L being the lines of a half: their product with the taps is
 * right wherever no window wraps around, and nothing has to be untangled.
 *
 * The forward transform goes down a tree: modulo Y^(2m) - c^2 becomes modulo Y^m - c and Y^m + c,
 * so that a node has one root for all its butterflies, which multiplies before they add. Its result
 * stays in the order it has; so does the taps' spectrum. The inverse starts from that order and has
 * the root of a butterfly depend on the place instead, so that it multiplies before it adds, too.
 *
 * A tile of 256 columns is taken in two parts: modulo X^256 - 1 becomes modulo X^128 - 1 and
 * X^128 + 1, each of which goes through the same steps by itself; the second has its columns turned
 * before and after, which makes the one ring into the other.
 *
 * A block has a tile. Each step works in place: over columns a thread takes R points four lines
 * apart; then four lines and eight columns sixteen apart; then sixteen columns, times the spectrum
 * and back. In the middle a warp has eight lines for itself: only columns need the whole block. */
#include "kernels/gf_wild.cuh"
#include "kernels/tilefft.variants.h"

#ifndef U_IN
#define U_IN 1
#define U_MIDDLE 1
#define U_OUT 1
#endif
enum { GF_TILEFFT_UNROLL_IN = U_IN, GF_TILEFFT_UNROLL_MIDDLE = U_MIDDLE, GF_TILEFFT_UNROLL_OUT = U_OUT };
/* ---- complex numbers ----------------------------------------------------------------------- */

GF_DEVICE float2 gf_product(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
GF_DEVICE float2 gf_times_i(float2 a) { return make_float2(-a.y, a.x); }
GF_DEVICE float2 gf_times_minus_i(float2 a) { return make_float2(a.y, -a.x); }
GF_DEVICE float2 gf_conjugate(float2 a) { return make_float2(a.x, -a.y); }

/* e^(2 pi i k / 128); k is known to the compiler, and so is the result. */
enum { GF_TURN = 128 };
GF_DEVICE float gf_turn_cos(int k)
{
    const float quarter[GF_TURN / 4 + 1] = {
        1.0f, 0.998795456f, 0.995184727f, 0.98917651f, 0.98078528f, 0.970031253f, 0.956940336f,
        0.941544065f, 0.923879533f, 0.903989293f, 0.881921264f, 0.85772861f, 0.831469612f, 0.803207531f,
        0.773010453f, 0.740951125f, 0.707106781f, 0.671558955f, 0.634393284f, 0.595699304f, 0.555570233f,
        0.514102744f, 0.471396737f, 0.427555093f, 0.382683432f, 0.336889853f, 0.290284677f, 0.24298018f,
        0.195090322f, 0.146730474f, 0.0980171403f, 0.0490676743f, 0.0f,
    };
    k &= GF_TURN - 1;
    if (k > GF_TURN / 2) k = GF_TURN - k;
    return k > GF_TURN / 4 ? -quarter[GF_TURN / 2 - k] : quarter[k];
}
GF_DEVICE float2 gf_turn(int k)
{
    return make_float2(gf_turn_cos(k), gf_turn_cos(k - GF_TURN / 4));
}

/* u and v become u + c v and u - c v. */
GF_DEVICE void gf_butterfly(float2 &u, float2 &v, float2 c)
{
    const float2 sum = make_float2(fmaf(-c.y, v.y, fmaf(c.x, v.x, u.x)),
                                   fmaf(c.x, v.y, fmaf(c.y, v.x, u.y)));
    v = make_float2(fmaf(2.0f, u.x, -sum.x), fmaf(2.0f, u.y, -sum.y));
    u = sum;
}

/* The same for c = 1. */
GF_DEVICE void gf_butterfly(float2 &u, float2 &v)
{
    const float2 sum = make_float2(u.x + v.x, u.y + v.y);
    v = make_float2(u.x - v.x, u.y - v.y);
    u = sum;
}

/* The same for c = e^(2 pi i k / 128), k known to the compiler. */
GF_DEVICE void gf_butterfly_turn(float2 &u, float2 &v, int k)
{
    k &= GF_TURN - 1;
    if (k == 0) {
        gf_butterfly(u, v);
    } else if (k == GF_TURN / 4 || k == GF_TURN * 3 / 4) {
        v = k == GF_TURN / 4 ? gf_times_i(v) : gf_times_minus_i(v);
        gf_butterfly(u, v);
    } else {
        gf_butterfly(u, v, gf_turn(k));
    }
}

/* n, of so many bits, at most five, in reverse. */
GF_DEVICE int gf_reverse(int n, int bits)
{
    const int five = (n & 1) << 4 | (n & 2) << 2 | (n & 4) | (n & 8) >> 2 | (n & 16) >> 4;
    return five >> (5 - bits);
}

/* All levels of a tree over N points, `apart` in v, whose root is Y^N - e^(2 pi i quarters / 4). */
template <int N> GF_DEVICE void gf_tree(float2 *v, int quarters)
{
#pragma unroll
    for (int half = N / 2, level = 0; half > 0; half /= 2, level++) {
#pragma unroll
        for (int pair = 0; pair < N / 2; pair++) {
            const int node = pair / half, at = node * 2 * half + pair % half;
            gf_butterfly_turn(v[at], v[at + half],
                              (quarters + 4 * gf_reverse(node, level)) * (GF_TURN / 8 >> level));
        }
    }
}

/* sum over p of v[p] e^(-2 pi i reverse(p) n / N) for each n. */
template <int N> GF_DEVICE void gf_inverse(float2 *v)
{
#pragma unroll
    for (int half = 1; half < N; half *= 2) {
#pragma unroll
        for (int pair = 0; pair < N / 2; pair++) {
            const int j = pair % half, at = pair / half * 2 * half + j;
            gf_butterfly_turn(v[at], v[at + half], -j * (GF_TURN / 2 / half));
        }
    }
}

/* ---- the tile ------------------------------------------------------------------------------ */

/* A block's place: its first output pixel, and how many it makes. */
struct gf_tilefft_place {
    int x, y, width, height;
};

GF_DEVICE gf_tilefft_place gf_tilefft_find(const gf_tilefft_args &a)
{
    const int t = static_cast<int>(blockIdx.x);
    gf_tilefft_place place;
    place.x = t % a.tiles_x * a.step_x;
    place.y = t / a.tiles_x * a.step_y;
    place.width = min(a.step_x, a.dst.width - place.x);
    place.height = min(a.step_y, a.dst.height - place.y);
    return place;
}

/* A thread's part in the steps over columns: lines `line` + 4 k of one column. */
struct gf_tilefft_column {
    float2 *own; /* the first of them in shared memory */
    int line, x;
};

GF_DEVICE gf_tilefft_column gf_tilefft_take(float2 *tile, int line, int x)
{
    const gf_tilefft_column column = { tile + line * GF_TILEFFT_PITCH + x + 2 * (x >> 4), line, x };
    return column;
}

/* Read a column of a tile that lies inside the source; of two parts one has the sums of its halves'
 * pixels, the other their differences, as `sign` says. Returns whether its pixels are tame. */
template <class T, int R, int PARTS>
GF_DEVICE bool gf_tilefft_read(const gf_tilefft_args &a, const gf_tilefft_place &place,
                               const gf_tilefft_column &column, float sign, float2 *v)
{
    const char *at = reinterpret_cast<const char *>(
        gf_row<const T>(a.src, place.y - a.ay + column.line) + place.x - a.ax + column.x);
    const char *below = at + GF_TILEFFT_LINES(R) * a.src.pitch;
    float probe = 0.0f;
#pragma unroll
    for (int k = 0; k < R; k++) {
        const T *const upper = reinterpret_cast<const T *>(at);
        const T *const lower = reinterpret_cast<const T *>(below);
        v[k] = make_float2(gf_get(upper), gf_get(lower));
        if (PARTS == 2) {
            const float2 right = make_float2(gf_get(upper + GF_TILEFFT_COLUMNS),
                                             gf_get(lower + GF_TILEFFT_COLUMNS));
            v[k] = make_float2(fmaf(sign, right.x, v[k].x), fmaf(sign, right.y, v[k].y));
        }
        if (sizeof(T) == sizeof(float))
            probe = fmaf(v[k].x, a.probe, fmaf(v[k].y, a.probe, probe));
        at += 4 * a.src.pitch;
        below += 4 * a.src.pitch;
    }
    return !gf_not_finite(probe);
}

/* Pixel of any tile, folded, tamed, and zero where no output pixel needs it. */
GF_DEVICE float gf_tilefft_pixel(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                 int column, int row, bool &wild)
{
    if (column >= place.width + a.kw - 1 || row >= place.height + a.kh - 1) return 0.0f;
    return gf_wild_tame(gf_load_border(a.src, place.x - a.ax + column, place.y - a.ay + row,
                                       a.border, a.border_value),
                        a.limit, wild);
}

/* Read a column of any tile, by way of the column's own places in shared memory. Returns whether
 * all its pixels are tame. */
template <int R, int PARTS>
GF_DEVICE bool gf_tilefft_read_edge(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                    const gf_tilefft_column &column, float sign, float2 *v)
{
    bool wild = false;
#pragma unroll 1
    for (int k = 0; k < 2 * R; k++) {
        const int row = 4 * k + column.line;
        float p = gf_tilefft_pixel(a, place, column.x, row, wild);
        if (PARTS == 2)
            p = fmaf(sign,
                     gf_tilefft_pixel(a, place, column.x + GF_TILEFFT_COLUMNS, row, wild), p);
        float2 *const to = column.own + 4 * (k % R) * GF_TILEFFT_PITCH;
        if (k < R)
            to->x = p;
        else
            to->y = p;
    }
#pragma unroll
    for (int k = 0; k < R; k++) v[k] = column.own[4 * k * GF_TILEFFT_PITCH];
    return !wild;
}

/* The roots that turn the columns of the second part. */
template <int R> GF_DEVICE float2 gf_tilefft_column_root(const gf_tilefft_args &a, int x)
{
    const float2 *const roots = reinterpret_cast<const float2 *>(a.roots);
    return gf_ldg(roots + GF_TILEFFT_ROOTS(R) - GF_TILEFFT_COLUMNS + x);
}

template <int R> GF_DEVICE void gf_tilefft_turn_column(float2 *v, float2 root)
{
#pragma unroll
    for (int k = 0; k < R; k++) v[k] = gf_product(v[k], root);
}

/* Fill the tile and take the first step. Returns whether the thread met a wild pixel. */
template <class T, int R, int PARTS>
GF_DEVICE bool gf_tilefft_enter(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                float2 *tile, int line, int first, int part)
{
    const int x = place.x - a.ax, y = place.y - a.ay;
    const bool inside = x >= 0 && x <= a.src.width - PARTS * GF_TILEFFT_COLUMNS && y >= 0 &&
                        y <= a.src.height - GF_TILEFFT_HEIGHT(R);
    const float sign = part ? -1.0f : 1.0f;
    bool tame = true;
#pragma unroll GF_TILEFFT_UNROLL_IN
    for (int c = first; c < GF_TILEFFT_COLUMNS; c += 4 * R) {
        const gf_tilefft_column column = gf_tilefft_take(tile, line, c);
        float2 v[R];
        if (!inside || !gf_tilefft_read<T, R, PARTS>(a, place, column, sign, v))
            tame = gf_tilefft_read_edge<R, PARTS>(a, place, column, sign, v) && tame;
        if (part) gf_tilefft_turn_column<R>(v, gf_tilefft_column_root<R>(a, c));
        gf_tree<R>(v, 1);
#pragma unroll
        for (int k = 0; k < R; k++) column.own[4 * k * GF_TILEFFT_PITCH] = v[k];
    }
    return !tame;
}

/* ---- the middle: eight lines of a warp ----------------------------------------------------- */

GF_DEVICE float4 gf_tilefft_root_pair(const float2 *roots, int pair)
{
    return gf_ldg(reinterpret_cast<const float4 *>(roots) + pair);
}
GF_DEVICE float2 gf_first(float4 v) { return make_float2(v.x, v.y); }
GF_DEVICE float2 gf_second(float4 v) { return make_float2(v.z, v.w); }

/* Four lines, eight columns sixteen apart; `at` is the first of them. */
GF_DEVICE void gf_tilefft_get(const float2 *at, float2 (*v)[8])
{
#pragma unroll
    for (int line = 0; line < 4; line++)
#pragma unroll
        for (int h = 0; h < 8; h++) v[line][h] = at[line * GF_TILEFFT_PITCH + 18 * h];
}
GF_DEVICE void gf_tilefft_put(float2 *at, const float2 (*v)[8])
{
#pragma unroll
    for (int line = 0; line < 4; line++)
#pragma unroll
        for (int h = 0; h < 8; h++) at[line * GF_TILEFFT_PITCH + 18 * h] = v[line][h];
}

/* The last two levels over columns, the first three over rows. */
GF_DEVICE void gf_tilefft_down(float2 *at, const float2 *node_roots)
{
    float2 v[4][8];
    const float4 roots = gf_tilefft_root_pair(node_roots, 0);
    const float2 c = gf_first(roots), d = gf_second(roots);
    gf_tilefft_get(at, v);
#pragma unroll
    for (int h = 0; h < 8; h++) {
        gf_butterfly(v[0][h], v[2][h], c);
        gf_butterfly(v[1][h], v[3][h], c);
        gf_butterfly(v[0][h], v[1][h], d);
        gf_butterfly(v[2][h], v[3][h], gf_times_i(d));
    }
#pragma unroll
    for (int line = 0; line < 4; line++) gf_tree<8>(v[line], 0);
    gf_tilefft_put(at, v);
}

/* And back: three levels over rows, two over columns, and the roots for the last step. */
GF_DEVICE void gf_tilefft_up(float2 *at, const float2 *node_roots, const float2 *back_roots)
{
    float2 v[4][8];
    const float4 f = gf_tilefft_root_pair(back_roots, 0), g = gf_tilefft_root_pair(back_roots, 1);
    gf_tilefft_get(at, v);
#pragma unroll
    for (int line = 0; line < 4; line++) {
        float2 *const p = v[line];
#pragma unroll
        for (int h = 0; h < 8; h += 2) gf_butterfly(p[h], p[h + 1], gf_first(f));
#pragma unroll
        for (int h = 0; h < 8; h += 4) {
            gf_butterfly(p[h], p[h + 2], gf_second(f));
            gf_butterfly(p[h + 1], p[h + 3], gf_times_minus_i(gf_second(f)));
        }
        gf_butterfly(p[0], p[4], gf_first(g));
        gf_butterfly(p[1], p[5], gf_second(g));
        gf_butterfly(p[2], p[6], gf_times_minus_i(gf_first(g)));
        gf_butterfly(p[3], p[7], gf_times_minus_i(gf_second(g)));
    }
    const float4 roots = gf_tilefft_root_pair(node_roots, 0);
    const float2 cubed = gf_first(gf_tilefft_root_pair(node_roots, 1));
#pragma unroll
    for (int h = 0; h < 8; h++) {
        float2 column[4] = { v[0][h], v[1][h], v[2][h], v[3][h] };
        gf_inverse<4>(column);
        v[0][h] = column[0];
        v[1][h] = gf_product(column[1], gf_conjugate(gf_second(roots)));
        v[2][h] = gf_product(column[2], gf_conjugate(gf_first(roots)));
        v[3][h] = gf_product(column[3], gf_conjugate(cubed));
    }
    gf_tilefft_put(at, v);
}

/* Four levels over sixteen neighbours of a line. */
GF_DEVICE void gf_tilefft_line_tree(float2 (&v)[16], const float2 *line_roots)
{
    float2 c[GF_TILEFFT_LINE_ROOTS];
#pragma unroll
    for (int k = 0; k < GF_TILEFFT_LINE_ROOTS; k += 2) {
        const float4 pair = gf_tilefft_root_pair(line_roots, k / 2);
        c[k] = gf_first(pair);
        c[k + 1] = gf_second(pair);
    }
#pragma unroll
    for (int k = 0; k < 8; k++) gf_butterfly(v[k], v[k + 8], c[0]);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        gf_butterfly(v[k], v[k + 4], c[1]);
        gf_butterfly(v[k + 8], v[k + 12], gf_times_i(c[1]));
    }
#pragma unroll
    for (int k = 0; k < 2; k++) {
#pragma unroll
        for (int node = 0; node < 4; node++) {
            const float2 root = c[2 + node / 2];
            gf_butterfly(v[4 * node + k], v[4 * node + k + 2],
                         node % 2 ? gf_times_i(root) : root);
        }
    }
#pragma unroll
    for (int node = 0; node < 8; node++) {
        const float2 root = c[4 + node / 2];
        gf_butterfly(v[2 * node], v[2 * node + 1], node % 2 ? gf_times_i(root) : root);
    }
}

/* Sixteen neighbours of a line forward, times the spectrum, and back. */
GF_DEVICE void gf_tilefft_line(float2 *at, const float4 *spectrum, const float2 *line_roots)
{
    float4 *const pairs = reinterpret_cast<float4 *>(at);
    float2 v[16];
#pragma unroll
    for (int k = 0; k < 16; k += 2) {
        const float4 pair = pairs[k / 2];
        v[k] = gf_first(pair);
        v[k + 1] = gf_second(pair);
    }
    gf_tilefft_line_tree(v, line_roots);
#pragma unroll
    for (int k = 0; k < 16; k += 2) {
        const float4 h = gf_ldg(spectrum + 16 * k);
        v[k] = gf_product(v[k], gf_first(h));
        v[k + 1] = gf_product(v[k + 1], gf_second(h));
    }
    gf_inverse<16>(v);
#pragma unroll
    for (int k = 0; k < 16; k += 2)
        pairs[k / 2] = make_float4(v[k].x, v[k].y, v[k + 1].x, v[k + 1].y);
}

template <int R>
GF_DEVICE void gf_tilefft_middle(const gf_tilefft_args &a, float2 *tile, int warp, int lane,
                                 int part)
{
    const float2 *const node_roots = reinterpret_cast<const float2 *>(a.roots);
    const float2 *const line_roots = node_roots + GF_TILEFFT_NODE_ROOTS * R;
    const float2 *const back_roots = line_roots + GF_TILEFFT_LINE_ROOTS * 8;
    const int node = 2 * warp + (lane >> 4);
    float2 *const at = tile + 4 * node * GF_TILEFFT_PITCH + (lane & 15);
    gf_tilefft_down(at, node_roots + GF_TILEFFT_NODE_ROOTS * node);
    gf_sync_warp();
    const float4 *spectrum =
        reinterpret_cast<const float4 *>(a.spectrum) + 512 * (part * (R / 2) + warp) + lane;
    float2 *line = tile + (8 * warp + (lane >> 3)) * GF_TILEFFT_PITCH + 18 * (lane & 7);
#pragma unroll GF_TILEFFT_UNROLL_MIDDLE
    for (int turn = 0; turn < 2; turn++) {
        gf_tilefft_line(line, spectrum, line_roots + GF_TILEFFT_LINE_ROOTS * (lane & 7));
        line += 4 * GF_TILEFFT_PITCH;
        spectrum += 256;
    }
    gf_sync_warp();
    gf_tilefft_up(at, node_roots + GF_TILEFFT_NODE_ROOTS * node,
                  back_roots + GF_TILEFFT_BACK_ROOTS * (lane & 15));
}

/* ---- results ------------------------------------------------------------------------------- */

/* Store the pixels of a column of results; v lacks the root of each line's fractional turn. */
template <class T, int R>
GF_DEVICE void gf_tilefft_write_as(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                   int line, int x, const float (&upper)[R],
                                   const float (&lower)[R])
{
    char *at = reinterpret_cast<char *>(gf_row<T>(a.dst, place.y + line) + place.x + x);
    char *below = at + GF_TILEFFT_LINES(R) * a.dst.pitch;
    const int rows = place.height - line;
#pragma unroll
    for (int k = 0; k < R; k++) {
        if (4 * k < rows) gf_put(reinterpret_cast<T *>(at), upper[k]);
        if (4 * k + GF_TILEFFT_LINES(R) < rows) gf_put(reinterpret_cast<T *>(below), lower[k]);
        at += 4 * a.dst.pitch;
        below += 4 * a.dst.pitch;
    }
}

template <int R>
GF_DEVICE void gf_tilefft_write(const gf_tilefft_args &a, const gf_tilefft_place &place, int line,
                                int x, const float2 *v)
{
    if (x >= place.width) return;
    gf_kcombine combine = a.combine;
    combine.combine = GF_C_SUM;
    float upper[R], lower[R];
#pragma unroll
    for (int k = 0; k < R; k++) {
        const float2 w = gf_turn(-k * (GF_TURN / 4 / R));
        upper[k] = gf_combine(combine, w.x * v[k].x, -(w.y * v[k].y), 0.0f);
        lower[k] = gf_combine(combine, w.y * v[k].x, w.x * v[k].y, 0.0f);
    }
    gf_points(a.combine.points, upper);
    gf_points(a.combine.points, lower);
    if (a.dst.pixel == GF_P_U8)
        gf_tilefft_write_as<unsigned char, R>(a, place, line, x, upper, lower);
    else if (a.dst.pixel == GF_P_U16)
        gf_tilefft_write_as<unsigned short, R>(a, place, line, x, upper, lower);
    else
        gf_tilefft_write_as<float, R>(a, place, line, x, upper, lower);
}

/* Join a column of the second part with what the first has left: sum and difference of the two are
 * the results of the tile's halves. */
template <int R>
GF_DEVICE void gf_tilefft_join(const gf_tilefft_args &a, const gf_tilefft_place &place,
                               const gf_tilefft_column &column, float2 *v, const float2 *kept)
{
    gf_tilefft_turn_column<R>(v, gf_conjugate(gf_tilefft_column_root<R>(a, column.x)));
#pragma unroll 1
    for (int half = 0; half < 2; half++) {
        const float sign = half ? -1.0f : 1.0f;
        float2 joined[R];
#pragma unroll
        for (int k = 0; k < R; k++)
            joined[k] = make_float2(fmaf(sign, v[k].x, kept[k].x), fmaf(sign, v[k].y, kept[k].y));
        gf_tilefft_write<R>(a, place, column.line, column.x + half * GF_TILEFFT_COLUMNS, joined);
    }
}

/* Take the last step and store the results; of the first of two parts they are kept. */
template <int R, int PARTS>
GF_DEVICE void gf_tilefft_leave(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                float2 *tile, int line, int first, int part, float2 *kept)
{
    const int columns = min(place.width, static_cast<int>(GF_TILEFFT_COLUMNS));
#pragma unroll GF_TILEFFT_UNROLL_OUT
    for (int c = first; c < columns; c += 4 * R) {
        const gf_tilefft_column column = gf_tilefft_take(tile, line, c);
        float2 v[R];
#pragma unroll
        for (int k = 0; k < R; k++) v[k] = column.own[4 * k * GF_TILEFFT_PITCH];
        gf_inverse<R>(v);
        if (PARTS == 1) {
            gf_tilefft_write<R>(a, place, line, c, v);
        } else if (part == 0) {
#pragma unroll
            for (int k = 0; k < R; k++) kept[c / (4 * R) * R + k] = v[k];
        } else {
            gf_tilefft_join<R>(a, place, column, v, kept + c / (4 * R) * R);
        }
    }
}

/* Compute again what pixels spoil that the FFT did not see. */
GF_DEVICE void gf_tilefft_redo(const gf_tilefft_args &a, const gf_tilefft_place &tile)
{
    for (int v = 0; v < tile.height; v += GF_WILD_REDO) {
        for (int u = 0; u < tile.width; u += GF_WILD_REDO) {
            const gf_wild_place place = { tile.x - a.ax + u,
                                          tile.y - a.ay + v,
                                          tile.x + u,
                                          tile.y + v,
                                          tile.width - u,
                                          tile.height - v };
            gf_wild_redo(a, a.combine, place);
        }
    }
}

template <class T, int R, int PARTS> GF_DEVICE void gf_tilefft_block(const gf_tilefft_args &a)
{
    GF_SHARED(float2, tile);
    const gf_tilefft_place place = gf_tilefft_find(a);
    const int warp = static_cast<int>(threadIdx.y), lane = static_cast<int>(threadIdx.x);
    enum { WARPS = R / 8 }; /* side by side over columns */
    const int line = warp / WARPS, first = warp % WARPS * 32 + lane;
    float2 kept[GF_TILEFFT_POINTS];
    bool wild = false;
#pragma unroll 1
    for (int part = 0; part < PARTS; part++) {
        const bool met = gf_tilefft_enter<T, R, PARTS>(a, place, tile, line, first, part);
        wild = gf_sync_or(met) || wild;
        gf_tilefft_middle<R>(a, tile, warp, lane, part);
        __syncthreads();
        gf_tilefft_leave<R, PARTS>(a, place, tile, line, first, part, kept);
    }
    if (!wild) return; /* the same for the whole block */
    __syncthreads();
    gf_tilefft_redo(a, place);
}

/* Grid: tiles. Block: 32 x R/2. */
#define GF_TILEFFT_PIXEL(R, PARTS, name, T)                                                        \
    GF_KERNEL_BOUNDS(GF_TILEFFT_THREADS(R), GF_TILEFFT_BLOCKS(R), gf_tilefft_##name##_##R##_##PARTS,\
                     gf_tilefft_args, a)                                                           \
    {                                                                                              \
        gf_tilefft_block<T, R, PARTS>(a);                                                          \
    }
#define GF_TILEFFT(R, PARTS)                                                                       \
    GF_TILEFFT_PIXEL(R, PARTS, u8, unsigned char)                                                  \
    GF_TILEFFT_PIXEL(R, PARTS, u16, unsigned short)                                                \
    GF_TILEFFT_PIXEL(R, PARTS, f32, float)
GF_TILEFFT_VARIANTS(GF_TILEFFT)
