/* Convolution by FFT of tiles that never leave shared memory: overlap-save in one launch.
 *
 * The lower half of a tile is taken as the imaginary part of the upper half. That makes the tile's
 * columns polynomials modulo Y^L - i, L being the lines of a half: their product with the taps is
 * right wherever no window wraps around, and nothing has to be untangled.
 *
 * The forward transform is a tree of halves, in which a node has one root for all its butterflies,
 * which multiplies before they add. Its result stays in the order it has; so does the taps'
 * spectrum. The inverse starts from that order and has the root of a butterfly depend on the place
 * instead, so that it multiplies before it adds, too.
 *
 * A tile of 256 columns is taken in two parts: modulo X^256 - 1 becomes modulo X^128 - 1 and
 * X^128 + 1, each of which goes through the same steps by itself; the second has its columns turned
 * before and after, which makes the one ring into the other.
 *
 * A block has a tile. Each step works in place: over columns a thread takes R points four lines
 * apart, of one or two columns; then four lines and eight columns sixteen apart; then sixteen
 * columns, times the spectrum and back. In the middle a warp has eight lines for itself: only
 * columns need the whole block. */
#include "kernels/gf_fft.cuh"
#include "kernels/gf_wild.cuh"
#include "kernels/tilefft.variants.h"

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

/* A thread's part in the steps over columns: lines `line` + 4 k of the N columns from x on. */
struct gf_tilefft_part {
    float2 *own; /* the first of them in shared memory */
    int line, x;
};

template <int R> GF_DEVICE gf_tilefft_part gf_tilefft_take(float2 *tile)
{
    enum { N = GF_TILEFFT_NEIGHBOURS(R), WARPS = GF_TILEFFT_COLUMNS / (32 * N) };
    const int warp = static_cast<int>(threadIdx.y), lane = static_cast<int>(threadIdx.x);
    gf_tilefft_part part;
    part.line = warp / WARPS;
    part.x = N * (warp % WARPS * 32 + lane);
    part.own = tile + part.line * GF_TILEFFT_PITCH + part.x + 2 * (part.x >> 4);
    return part;
}

GF_DEVICE float2 gf_first(float4 v) { return make_float2(v.x, v.y); }
GF_DEVICE float2 gf_second(float4 v) { return make_float2(v.z, v.w); }

/* A thread's part from shared memory and back. */
template <int R> GF_DEVICE void gf_tilefft_get(const gf_tilefft_part &part, float2 (&v)[1][R])
{
#pragma unroll
    for (int k = 0; k < R; k++) v[0][k] = part.own[4 * k * GF_TILEFFT_PITCH];
}
template <int R> GF_DEVICE void gf_tilefft_get(const gf_tilefft_part &part, float2 (&v)[2][R])
{
#pragma unroll
    for (int k = 0; k < R; k++) {
        const float4 pair = *reinterpret_cast<const float4 *>(part.own + 4 * k * GF_TILEFFT_PITCH);
        v[0][k] = gf_first(pair);
        v[1][k] = gf_second(pair);
    }
}
template <int R> GF_DEVICE void gf_tilefft_put(const gf_tilefft_part &part, float2 (&v)[1][R])
{
#pragma unroll
    for (int k = 0; k < R; k++) part.own[4 * k * GF_TILEFFT_PITCH] = v[0][k];
}
template <int R> GF_DEVICE void gf_tilefft_put(const gf_tilefft_part &part, float2 (&v)[2][R])
{
#pragma unroll
    for (int k = 0; k < R; k++)
        *reinterpret_cast<float4 *>(part.own + 4 * k * GF_TILEFFT_PITCH) =
            make_float4(v[0][k].x, v[0][k].y, v[1][k].x, v[1][k].y);
}

/* Two neighbouring pixels in one word. */
GF_DEVICE float2 gf_get_pair(const unsigned char *p)
{
    const unsigned v = gf_ldg(reinterpret_cast<const unsigned short *>(p));
    return make_float2(static_cast<float>(v & 255u), static_cast<float>(v >> 8));
}
GF_DEVICE float2 gf_get_pair(const unsigned short *p)
{
    const unsigned v = gf_ldg(reinterpret_cast<const unsigned *>(p));
    return make_float2(static_cast<float>(v & 0xffffu), static_cast<float>(v >> 16));
}
GF_DEVICE float2 gf_get_pair(const float *p) { return gf_ldg(reinterpret_cast<const float2 *>(p)); }

GF_DEVICE void gf_put_pair(unsigned char *p, float a, float b)
{
    *reinterpret_cast<unsigned short *>(p) =
        static_cast<unsigned short>(gf_round_sat(a, 255.0f) | gf_round_sat(b, 255.0f) << 8);
}
GF_DEVICE void gf_put_pair(unsigned short *p, float a, float b)
{
    *reinterpret_cast<unsigned *>(p) = gf_round_sat(a, 65535.0f) | gf_round_sat(b, 65535.0f) << 16;
}
GF_DEVICE void gf_put_pair(float *p, float a, float b)
{
    *reinterpret_cast<float2 *>(p) = make_float2(a, b);
}

/* Whether pairs of pixels from an even column on lie in one word. */
GF_DEVICE bool gf_tilefft_paired(const gf_kimage &image)
{
    const long long bytes = image.pixel == GF_P_U8 ? 2 : image.pixel == GF_P_U16 ? 4 : 8;
    return ((reinterpret_cast<long long>(image.data) | image.pitch) & (bytes - 1)) == 0;
}

template <class T> GF_DEVICE void gf_tilefft_pixels(const T *p, float (&v)[1]) { v[0] = gf_get(p); }
template <class T> GF_DEVICE void gf_tilefft_pixels(const T *p, float (&v)[2])
{
    const float2 both = gf_get_pair(p);
    v[0] = both.x;
    v[1] = both.y;
}

/* Whether no pixel is wild. */
template <int R, int N> GF_DEVICE bool gf_tilefft_tame(const float2 (&v)[N][R], float probe)
{
    float sum = 0.0f;
#pragma unroll
    for (int n = 0; n < N; n++)
#pragma unroll
        for (int k = 0; k < R; k++) sum = fmaf(v[n][k].x, probe, fmaf(v[n][k].y, probe, sum));
    return !gf_not_finite(sum);
}

/* Read a thread's part of a tile that lies inside the source, whose pairs of pixels are words if
 * there are two columns; of two parts of a tile the first has
 * the sums of its halves' pixels, the second their differences, as `sign` says. Returns whether all
 * pixels are tame. */
template <class T, int R, int PARTS, int N>
GF_DEVICE bool gf_tilefft_read(const gf_tilefft_args &a, const gf_tilefft_place &place,
                               const gf_tilefft_part &part, float sign, float2 (&v)[N][R])
{
    const char *at = reinterpret_cast<const char *>(
        gf_row<const T>(a.src, place.y - a.ay + part.line) + place.x - a.ax + part.x);
    const char *below = at + GF_TILEFFT_LINES(R) * a.src.pitch;
#pragma unroll
    for (int k = 0; k < R; k++) {
        float upper[2][N], lower[2][N];
#pragma unroll
        for (int half = 0; half < PARTS; half++) {
            const int x = half * GF_TILEFFT_COLUMNS;
            gf_tilefft_pixels(reinterpret_cast<const T *>(at) + x, upper[half]);
            gf_tilefft_pixels(reinterpret_cast<const T *>(below) + x, lower[half]);
        }
#pragma unroll
        for (int n = 0; n < N; n++) {
            v[n][k] = make_float2(upper[0][n], lower[0][n]);
            if (PARTS == 2)
                v[n][k] = make_float2(fmaf(sign, upper[1][n], upper[0][n]),
                                      fmaf(sign, lower[1][n], lower[0][n]));
        }
        at += 4 * a.src.pitch;
        below += 4 * a.src.pitch;
    }
    return sizeof(T) < sizeof(float) || gf_tilefft_tame(v, a.probe);
}

/* Columns of any tile: those of the source they are folded to, or these. */
enum { GF_TILEFFT_OUTSIDE = -1, GF_TILEFFT_UNUSED = -2 };

GF_DEVICE int gf_tilefft_fold(const gf_tilefft_args &a, const gf_tilefft_place &place, int column)
{
    if (column >= place.width + a.shift + a.kw - 1) return GF_TILEFFT_UNUSED;
    return gf_border_index(place.x - a.ax + column, a.src.width, a.border);
}

/* Pixel in a row of any tile, tamed, and zero where no output pixel needs it; y < 0 outside. */
template <class T>
GF_DEVICE float gf_tilefft_pixel(const gf_tilefft_args &a, int column, int y, bool used, bool &wild)
{
    const float p = gf_get(gf_row<const T>(a.src, max(y, 0)) + max(column, 0));
    if (!used || column == GF_TILEFFT_UNUSED) return 0.0f;
    return gf_wild_tame(column < 0 || y < 0 ? a.border_value : p, a.limit, wild);
}

/* Read a thread's part of any tile, by way of its places in shared memory. Returns whether all its
 * pixels are tame. */
template <class T, int R, int PARTS, int N>
GF_DEVICE bool gf_tilefft_read_any(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                   const gf_tilefft_part &part, float sign, float2 (&v)[N][R])
{
    int left[N], right[N];
#pragma unroll
    for (int n = 0; n < N; n++) {
        left[n] = gf_tilefft_fold(a, place, part.x + n);
        right[n] = gf_tilefft_fold(a, place, part.x + n + GF_TILEFFT_COLUMNS);
    }
    bool wild = false;
#pragma unroll 4
    for (int k = 0; k < 2 * R; k++) {
        const int row = 4 * k + part.line;
        const int y = gf_border_index(place.y - a.ay + row, a.src.height, a.border);
        const bool used = row < place.height + a.kh - 1;
        float *const to = &part.own[4 * (k % R) * GF_TILEFFT_PITCH].x + k / R;
#pragma unroll
        for (int n = 0; n < N; n++) {
            float p = gf_tilefft_pixel<T>(a, left[n], y, used, wild);
            if (PARTS == 2) p = fmaf(sign, gf_tilefft_pixel<T>(a, right[n], y, used, wild), p);
            to[2 * n] = p;
        }
    }
    gf_tilefft_get(part, v);
    return !wild;
}

/* Whether a tile lies inside the source. */
template <int R, int PARTS>
GF_DEVICE bool gf_tilefft_inside(const gf_tilefft_args &a, const gf_tilefft_place &place)
{
    const int x = place.x - a.ax, y = place.y - a.ay;
    return x >= 0 && x <= a.src.width - PARTS * GF_TILEFFT_COLUMNS && y >= 0 &&
           y <= a.src.height - GF_TILEFFT_HEIGHT(R);
}

/* The root that turns a column of the second part of a tile. */
template <int R> GF_DEVICE float2 gf_tilefft_column_root(const gf_tilefft_args &a, int x)
{
    const float2 *const roots = reinterpret_cast<const float2 *>(a.roots);
    return gf_ldg(roots + GF_TILEFFT_ROOTS(R) - GF_TILEFFT_COLUMNS + x);
}

template <int R> GF_DEVICE void gf_tilefft_turn(float2 (&v)[R], float2 root)
{
#pragma unroll
    for (int k = 0; k < R; k++) v[k] = gf_product(v[k], root);
}

/* Fill the tile and take the first step. Returns whether the thread met a wild pixel. */
template <class T, int R, int PARTS>
GF_DEVICE bool gf_tilefft_enter(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                float2 *tile, int half)
{
    enum { N = GF_TILEFFT_NEIGHBOURS(R) };
    const gf_tilefft_part part = gf_tilefft_take<R>(tile);
    const float sign = half ? -1.0f : 1.0f;
    float2 v[N][R];
    bool wild = false;
    if (!gf_tilefft_inside<R, PARTS>(a, place) || (N == 2 && !gf_tilefft_paired(a.src)) ||
        !gf_tilefft_read<T, R, PARTS>(a, place, part, sign, v))
        wild = !gf_tilefft_read_any<T, R, PARTS>(a, place, part, sign, v);
#pragma unroll
    for (int n = 0; n < N; n++) {
        if (half) gf_tilefft_turn(v[n], gf_tilefft_column_root<R>(a, part.x + n));
        gf_tree<R>(v[n], 1);
    }
    gf_tilefft_put(part, v);
    return wild;
}

/* ---- the middle: eight lines of a warp ----------------------------------------------------- */

GF_DEVICE float4 gf_tilefft_root_pair(const float2 *roots, int pair)
{
    return gf_ldg(reinterpret_cast<const float4 *>(roots) + pair);
}
/* Four lines, eight columns sixteen apart; `at` is the first of them. */
GF_DEVICE void gf_tilefft_get_square(const float2 *at, float2 (*v)[8])
{
#pragma unroll
    for (int line = 0; line < 4; line++)
#pragma unroll
        for (int h = 0; h < 8; h++) v[line][h] = at[line * GF_TILEFFT_PITCH + 18 * h];
}
GF_DEVICE void gf_tilefft_put_square(float2 *at, const float2 (*v)[8])
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
    gf_tilefft_get_square(at, v);
#pragma unroll
    for (int h = 0; h < 8; h++) {
        gf_butterfly(v[0][h], v[2][h], c);
        gf_butterfly(v[1][h], v[3][h], c);
        gf_butterfly(v[0][h], v[1][h], d);
        gf_butterfly(v[2][h], v[3][h], gf_times_i(d));
    }
#pragma unroll
    for (int line = 0; line < 4; line++) gf_tree<8>(v[line], 0);
    gf_tilefft_put_square(at, v);
}

/* And back: three levels over rows, two over columns, and the roots for the last step. */
GF_DEVICE void gf_tilefft_up(float2 *at, const float2 *node_roots, const float2 *back_roots)
{
    float2 v[4][8];
    const float4 f = gf_tilefft_root_pair(back_roots, 0), g = gf_tilefft_root_pair(back_roots, 1);
    gf_tilefft_get_square(at, v);
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
    gf_tilefft_put_square(at, v);
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
            gf_butterfly(v[4 * node + k], v[4 * node + k + 2], node % 2 ? gf_times_i(root) : root);
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

template <int R> GF_DEVICE void gf_tilefft_middle(const gf_tilefft_args &a, float2 *tile, int half)
{
    const int warp = static_cast<int>(threadIdx.y), lane = static_cast<int>(threadIdx.x);
    const float2 *const node_roots = reinterpret_cast<const float2 *>(a.roots);
    const float2 *const line_roots = node_roots + GF_TILEFFT_NODE_ROOTS * R;
    const float2 *const back_roots = line_roots + GF_TILEFFT_LINE_ROOTS * 8;
    const int node = 2 * warp + (lane >> 4);
    float2 *const at = tile + 4 * node * GF_TILEFFT_PITCH + (lane & 15);
    gf_tilefft_down(at, node_roots + GF_TILEFFT_NODE_ROOTS * node);
    gf_sync_warp();
    const float4 *spectrum =
        reinterpret_cast<const float4 *>(a.spectrum) + 512 * (half * (R / 2) + warp) + lane;
    float2 *line = tile + (8 * warp + (lane >> 3)) * GF_TILEFFT_PITCH + 18 * (lane & 7);
#pragma unroll 1
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

/* Take the fractional turn out of a column of results: rows of the upper and lower half. */
template <int R>
GF_DEVICE void gf_tilefft_untwist(const float2 *v, float (&upper)[R], float (&lower)[R])
{
#pragma unroll
    for (int k = 0; k < R; k++) {
        const float2 w = gf_turn(-k * (GF_TURN / 4 / R));
        upper[k] = w.x * v[k].x - w.y * v[k].y;
        lower[k] = w.y * v[k].x + w.x * v[k].y;
    }
}

/* Store row k of one column or two; paired: of both in one word. */
template <bool PAIRED, class T, int R>
GF_DEVICE void gf_tilefft_store(T *to, bool, const float (&v)[1][R], int k)
{
    gf_put(to, v[0][k]);
}
template <bool PAIRED, class T, int R>
GF_DEVICE void gf_tilefft_store(T *to, bool both, const float (&v)[2][R], int k)
{
    if (PAIRED) {
        gf_put_pair(to, v[0][k], v[1][k]);
    } else {
        gf_put(to, v[0][k]);
        if (both) gf_put(to + 1, v[1][k]);
    }
}

/* Store the rows of one column, or of two as far as they are results, from x on. */
template <bool PAIRED, class T, int R, int N>
GF_DEVICE void gf_tilefft_write_as(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                   int line, int x, const float (&upper)[N][R],
                                   const float (&lower)[N][R])
{
    char *at = reinterpret_cast<char *>(gf_row<T>(a.dst, place.y + line) + place.x + x);
    char *below = at + GF_TILEFFT_LINES(R) * a.dst.pitch;
    const bool both = x + 1 < place.width;
    const int rows = place.height - line;
#pragma unroll
    for (int k = 0; k < R; k++) {
        if (4 * k < rows) gf_tilefft_store<PAIRED>(reinterpret_cast<T *>(at), both, upper, k);
        if (4 * k + GF_TILEFFT_LINES(R) < rows)
            gf_tilefft_store<PAIRED>(reinterpret_cast<T *>(below), both, lower, k);
        at += 4 * a.dst.pitch;
        below += 4 * a.dst.pitch;
    }
}

template <bool PAIRED, int R, int N>
GF_DEVICE void gf_tilefft_write_pixels(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                       int line, int x, const float (&upper)[N][R],
                                       const float (&lower)[N][R])
{
    if (a.dst.pixel == GF_P_U8)
        gf_tilefft_write_as<PAIRED, unsigned char>(a, place, line, x, upper, lower);
    else if (a.dst.pixel == GF_P_U16)
        gf_tilefft_write_as<PAIRED, unsigned short>(a, place, line, x, upper, lower);
    else
        gf_tilefft_write_as<PAIRED, float>(a, place, line, x, upper, lower);
}

/* Make sums into results and store them. */
template <int R, int N>
GF_DEVICE void gf_tilefft_write(const gf_tilefft_args &a, const gf_tilefft_place &place, int line,
                                int x, float (&upper)[N][R], float (&lower)[N][R])
{
    gf_kcombine combine = a.combine;
    combine.combine = GF_C_SUM;
#pragma unroll
    for (int n = 0; n < N; n++) {
#pragma unroll
        for (int k = 0; k < R; k++) {
            upper[n][k] = gf_combine(combine, upper[n][k], 0.0f, 0.0f);
            lower[n][k] = gf_combine(combine, lower[n][k], 0.0f, 0.0f);
        }
        gf_points(a.combine.points, upper[n]);
        gf_points(a.combine.points, lower[n]);
    }
    if (N == 1 || (x + 1 < place.width && gf_tilefft_paired(a.dst)))
        gf_tilefft_write_pixels<true>(a, place, line, x, upper, lower);
    else
        gf_tilefft_write_pixels<false>(a, place, line, x, upper, lower);
}

/* f(place in `kept`, value) for each row of a column that is a result. */
template <int R, class F>
GF_DEVICE void gf_tilefft_each(const gf_tilefft_place &place, int line, float (&upper)[R],
                               float (&lower)[R], F f)
{
#pragma unroll
    for (int k = 0; k < R; k++) {
        if (line + 4 * k < place.height) f(k, upper[k]);
        if (line + 4 * k + GF_TILEFFT_LINES(R) < place.height) f(k + R, lower[k]);
    }
}

/* Join a column of the second half of the ring with what the first has left: sum and difference of
 * the two are the results of the tile's left and right half. */
template <int R>
GF_DEVICE void gf_tilefft_join(const gf_tilefft_args &a, const gf_tilefft_place &place, int line,
                               int x, float (&upper)[1][R], float (&lower)[1][R],
                               float (*kept)[2 * R])
{
    const bool both = x + GF_TILEFFT_COLUMNS < place.width;
    if (both)
        gf_tilefft_each(place, line, upper[0], lower[0],
                        [&](int k, float &v) { kept[1][k] = kept[0][k] - v; });
    gf_tilefft_each(place, line, upper[0], lower[0], [&](int k, float &v) { v += kept[0][k]; });
#pragma unroll 1
    for (; x < place.width; x += GF_TILEFFT_COLUMNS) {
        gf_tilefft_write(a, place, line, x, upper, lower);
        if (both)
            gf_tilefft_each(place, line, upper[0], lower[0],
                            [&](int k, float &v) { v = kept[1][k]; });
    }
}
template <int R>
GF_DEVICE void gf_tilefft_join(const gf_tilefft_args &, const gf_tilefft_place &, int, int,
                               float (&)[2][R], float (&)[2][R], float (*)[2 * R])
{
    /* no tile of two parts has threads with two columns */
}

/* Take the last step and store the results; of the first of two parts they are kept. */
template <int R, int PARTS>
GF_DEVICE void gf_tilefft_leave(const gf_tilefft_args &a, const gf_tilefft_place &place,
                                float2 *tile, int half, float (*kept)[2 * R])
{
    enum { N = GF_TILEFFT_NEIGHBOURS(R) };
    const gf_tilefft_part part = gf_tilefft_take<R>(tile);
    if (part.x >= place.width) return;
    float2 v[N][R];
    float upper[N][R], lower[N][R];
    gf_tilefft_get(part, v);
#pragma unroll
    for (int n = 0; n < N; n++) {
        gf_inverse<R>(v[n]);
        if (half) gf_tilefft_turn(v[n], gf_conjugate(gf_tilefft_column_root<R>(a, part.x + n)));
        gf_tilefft_untwist(v[n], upper[n], lower[n]);
    }
    if (PARTS == 1)
        gf_tilefft_write(a, place, part.line, part.x, upper, lower);
    else if (half == PARTS - 1)
        gf_tilefft_join(a, place, part.line, part.x, upper, lower, kept);
    else /* kept[half] is memory; at a place known beforehand it would be registers */
        gf_tilefft_each(place, part.line, upper[0], lower[0],
                        [&](int k, float &value) { kept[half][k] = value; });
}

/* Compute again what pixels spoil that the FFT did not see. */
GF_DEVICE void gf_tilefft_redo(const gf_tilefft_args &a, const gf_tilefft_place &tile)
{
    for (int v = 0; v < tile.height; v += GF_WILD_REDO) {
        for (int u = 0; u < tile.width; u += GF_WILD_REDO) {
            const gf_wild_place place = { tile.x - a.ax + a.shift + u,
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
    float kept[2][2 * R];
    bool wild = false;
#pragma unroll 1
    for (int half = 0; half < PARTS; half++) {
        const bool met = gf_tilefft_enter<T, R, PARTS>(a, place, tile, half);
        wild = gf_sync_or(met) || wild;
        gf_tilefft_middle<R>(a, tile, half);
        __syncthreads();
        gf_tilefft_leave<R, PARTS>(a, place, tile, half, kept);
    }
    if (!wild) return; /* the same for the whole block */
    __syncthreads();
    gf_tilefft_redo(a, place);
}

/* Grid: tiles. Block: 32 x R/2. */
#define GF_TILEFFT_PIXEL(R, PARTS, name, T)                                                        \
    GF_KERNEL_BOUNDS(GF_TILEFFT_THREADS(R), GF_TILEFFT_BLOCKS(R, sizeof(T)),                       \
                     gf_tilefft_##name##_##R##_##PARTS, gf_tilefft_args, a)                        \
    {                                                                                              \
        gf_tilefft_block<T, R, PARTS>(a);                                                          \
    }
#define GF_TILEFFT(R, PARTS)                                                                       \
    GF_TILEFFT_PIXEL(R, PARTS, u8, unsigned char)                                                  \
    GF_TILEFFT_PIXEL(R, PARTS, u16, unsigned short)                                                \
    GF_TILEFFT_PIXEL(R, PARTS, f32, float)
GF_TILEFFT_VARIANTS(GF_TILEFFT)
