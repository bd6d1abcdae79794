/* A separable window of u8 images on tensor cores and a 3x3 window of its results, in one launch.
 *
 * Warps make rows of the first window's results as gf_tensor.cuh does, but put them into a buffer
 * in shared memory. Every GF_PAIR_STEP columns all go over it again: a lane walks down four
 * columns, with the unfinished sums of the second window in registers. */
#include "kernels/gf_tensor.cuh"
#include "kernels/pair.variants.h"

#ifdef GF_HAVE_TENSOR

/* What a block makes: rows of the first window's results from image row y on, `rows` rows of pixels
 * from row y + 1 on, in the columns first … end - 1. */
struct gf_pair_place {
    int y, rows, first, end;
    bool beside; /* the second window reaches outside the image to the left or right, */
    bool beyond; /* or upwards or downwards */
    bool words;  /* four neighbouring pixels can be stored together */
};

/* ---- the second window ---------------------------------------------------------------------- */

/* Let a row of pixels and their neighbours take part in a term's sums of four columns: acc has
 * those of its first row, and of its first two. */
GF_DEVICE void gf_pair_step(const float (&row)[4], const float (&col)[4], const float (&v)[6],
                            float (&acc)[2][4], float (&sum)[4])
{
#pragma unroll
    for (int c = 0; c < 4; c++) {
        const float across = fmaf(row[2], v[c + 2], fmaf(row[1], v[c + 1], row[0] * v[c]));
        sum[c] = fmaf(col[2], across, acc[1][c]);
        acc[1][c] = fmaf(col[1], across, acc[0][c]);
        acc[0][c] = col[0] * across;
    }
}

/* The same of both terms where they are known to be EDGES: by the operations that are left, in
 * their order. */
GF_DEVICE void gf_pair_step_edges(const gf_pair_args &a, const float (&v)[6], float (&acc)[2][2][4],
                                  float (&sum)[2][4])
{
#pragma unroll
    for (int c = 0; c < 4; c++) {
        const float difference = v[c + 2] - v[c];
        sum[0][c] = acc[0][1][c] + difference;
        acc[0][1][c] = fmaf(a.col[0][1], difference, acc[0][0][c]);
        acc[0][0][c] = difference;
        const float smooth = fmaf(a.row[1][1], v[c + 1], v[c]) + v[c + 2];
        sum[1][c] = smooth - acc[1][1][c];
        acc[1][1][c] = acc[1][0][c];
        acc[1][0][c] = smooth;
    }
}

/* The root of the sum of two squares, which the host has seen to need no scaling. */
GF_DEVICE float gf_pair_magnitude(float a, float b) { return gf_sqrt(fmaf(a, a, b * b)); }

/* Four pixels of the terms' sums. */
template <int KIND>
GF_DEVICE void gf_pair_finish(const gf_pair_args &a, const float (&sum)[2][4], float (&out)[4])
{
    const gf_kcombine &how = a.first.combine;
    const bool magnitude =
        KIND == GF_PAIR_EDGES || (KIND == GF_PAIR_ANY && how.combine == GF_C_MAGNITUDE);
#pragma unroll
    for (int c = 0; c < 4; c++) {
        if (KIND == GF_PAIR_GATED)
            out[c] = fmaf(sum[0][c], sum[0][c], sum[1][c] * sum[1][c]) > a.gate ? a.above : a.below;
        else if (magnitude)
            out[c] = fmaf(how.scale, gf_pair_magnitude(sum[0][c], sum[1][c]), how.offset);
        else
            out[c] = fmaf(how.scale, KIND == GF_PAIR_ONE ? sum[0][c] : sum[0][c] + sum[1][c],
                          how.offset);
    }
    if (KIND != GF_PAIR_GATED) gf_points(how.points, out);
}

/* Store the pixels x … x + 3 of a row that lie before column place.end. */
GF_DEVICE void gf_pair_store(const gf_kimage &dst, const gf_pair_place &place, int x, int y,
                             const float (&v)[4])
{
    if (place.words) {
        gf_store4(dst, x, y, make_float4(v[0], v[1], v[2], v[3]));
        return;
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
        if (x + c < place.end) gf_store(dst, x + c, y, v[c]);
}

/* The columns x … x + GF_PAIR_STEP - 1; the buffer begins GF_PAIR_LEAD columns before. But for ANY
 * pixels are u8 and words. */
template <int KIND>
GF_DEVICE void gf_pair_walk(const gf_pair_args &a, const gf_pair_place &place, const float *buffer,
                            int x)
{
    enum { ACROSS = GF_PAIR_STEP / 4, RUN = GF_PAIR_MADE * ACROSS / GF_PAIR_THREADS };
    const int thread = static_cast<int>(threadIdx.x), t = thread % ACROSS;
    const int first = thread / ACROSS * RUN, own = x + 4 * t;
    const float *from = buffer + first * GF_PAIR_PITCH + GF_PAIR_LEAD + 4 * t;
    /* beside the lanes at the ends; the others read the same, so that it takes no branch */
    const float *beside =
        buffer + first * GF_PAIR_PITCH + GF_PAIR_LEAD + (t < ACROSS / 2 ? -1 : GF_PAIR_STEP);
    const int rows = own >= place.first && own < place.end ? place.rows - first : 0;
    const gf_kimage &dst = a.first.dst;
    int y = place.y + 1 + first;
    unsigned char *to = gf_row<unsigned char>(dst, y) + own;
    float acc[2][2][4] = {}, sum[2][4];
#pragma unroll(KIND == GF_PAIR_ANY ? 1 : RUN + 2)
    for (int r = -2; r < RUN; r++, from += GF_PAIR_PITCH, beside += GF_PAIR_PITCH) {
        const float4 four = *reinterpret_cast<const float4 *>(from);
        const float edge = *beside;
        const float left = gf_shfl_up(four.w, 1), right = gf_shfl_down(four.x, 1);
        const float v[6] = { t == 0 ? edge : left,          four.x, four.y, four.z, four.w,
                             t == ACROSS - 1 ? edge : right };
        if (KIND == GF_PAIR_EDGES || KIND == GF_PAIR_GATED)
            gf_pair_step_edges(a, v, acc, sum);
        else
            gf_pair_step(a.row[0], a.col[0], v, acc[0], sum[0]);
        if (KIND == GF_PAIR_ANY) gf_pair_step(a.row[1], a.col[1], v, acc[1], sum[1]);
        if (r < 0) continue;
        float out[4];
        gf_pair_finish<KIND>(a, sum, out);
        if (KIND == GF_PAIR_ANY && r < rows) gf_pair_store(dst, place, own, y, out);
        if (KIND != GF_PAIR_ANY && r < rows)
            *reinterpret_cast<unsigned *>(to) = gf_pack_u8(out[0], out[1], out[2], out[3]);
        to += dst.pitch, y++;
    }
}

/* ---- between the windows -------------------------------------------------------------------- */

/* Make the border of a warp's rows of the first window's results, the buffer beginning at column x.
 */
GF_DEVICE void gf_pair_fold_columns(const gf_pair_args &a, float *rows, int x)
{
    const int lane = static_cast<int>(threadIdx.x) % 32, width = a.first.dst.width;
    gf_sync_warp();
#pragma unroll
    for (int side = 0; side < 2; side++) {
        const int outside = side ? width : -1, at = outside - x;
        if (at < GF_PAIR_KEPT || at >= GF_PAIR_PITCH || lane >= 16) continue;
        float *const row = rows + lane * GF_PAIR_PITCH;
        const int from = gf_border_index(outside, width, a.border);
        row[at] = from < 0 ? a.border_value : row[from - x];
    }
}

/* And the rows of it, when all columns are there; y: the row of the image of the buffer's first. */
GF_DEVICE void gf_pair_fold_rows(const gf_pair_args &a, float *buffer, int y)
{
    const int height = a.first.dst.height, column = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int side = 0; side < 2; side++) {
        const int outside = side ? height : -1, at = outside - y;
        if (at < 0 || at >= GF_PAIR_MADE || column >= GF_PAIR_PITCH) continue;
        const int from = gf_border_index(outside, height, a.border);
        buffer[at * GF_PAIR_PITCH + column] =
            from < 0 ? a.border_value : buffer[(from - y) * GF_PAIR_PITCH + column];
    }
}

/* Put a group's results into a warp's rows of the buffer. */
GF_DEVICE void gf_pair_keep(const float (&v)[2][4], float *rows, int column)
{
    const int lane = static_cast<int>(threadIdx.x) % 32, g = lane / 4;
    float *const to = rows + column + GF_PAIR_KEPT + lane % 4 * 2;
#pragma unroll
    for (int i = 0; i < 8; i += 2)
        *reinterpret_cast<float2 *>(to + (i / 2 % 2 ? 15 - g : g) * GF_PAIR_PITCH + i / 4 * 8) =
            make_float2(v[i / 4][i % 4], v[i / 4][i % 4 + 1]);
}

/* ---- a block -------------------------------------------------------------------------------- */

/* Make pixels of the columns before x + GF_PAIR_STEP - GF_PAIR_LEAD, those from x on being new in
 * the buffer. */
GF_DEVICE void gf_pair_turn(const gf_pair_args &a, const gf_pair_place &place, float *buffer,
                            float *rows, int x)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool u8 = place.words && a.first.dst.pixel == GF_P_U8;
    if (place.beside) gf_pair_fold_columns(a, rows, x - GF_PAIR_KEPT);
    __syncthreads();
    if (place.beyond) {
        gf_pair_fold_rows(a, buffer, place.y);
        __syncthreads();
    }
    float *const kept = rows + lane / 2 * GF_PAIR_PITCH + lane % 2 * 4;
    const float4 last = *reinterpret_cast<const float4 *>(kept + GF_PAIR_STEP);
    if (u8 && a.kind == GF_PAIR_GATED)
        gf_pair_walk<GF_PAIR_GATED>(a, place, buffer, x - GF_PAIR_LEAD);
    else if (u8 && a.kind == GF_PAIR_EDGES)
        gf_pair_walk<GF_PAIR_EDGES>(a, place, buffer, x - GF_PAIR_LEAD);
    else if (u8 && a.kind == GF_PAIR_ONE)
        gf_pair_walk<GF_PAIR_ONE>(a, place, buffer, x - GF_PAIR_LEAD);
    else
        gf_pair_walk<GF_PAIR_ANY>(a, place, buffer, x - GF_PAIR_LEAD);
    __syncthreads();
    *reinterpret_cast<float4 *>(kept) = last;
}

/* A block's rows, from column x of the first window's results on: as gf_tensor_rows. */
template <int S>
GF_DEVICE void gf_pair_rows(const gf_pair_args &a, const gf_pair_place &place, int x, int steps,
                            const unsigned char *tile, float *buffer,
                            const gf_tensor_bands<S, true> &bands)
{
    enum {
        N = GF_TENSOR_GROUPS(S),
        RING = GF_TENSOR_RING(S),
        DOWN = GF_TENSOR_DOWN_STEPS(S, true)
    };
    enum { GROUPS = GF_PAIR_STEP / 16 };
    static_assert(GROUPS % RING == 0, "a step is made of whole turns of the ring");
    const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
    gf_tensor_split ring[RING];
    gf_tensor_pixels<S, true> pixels;
    const unsigned char *from =
        tile + (16 * warp + gf_tensor_lane_row<S, true>()) * GF_TENSOR_PITCH(S);
    const int step = (lane < 16 ? 16 : -16) * GF_TENSOR_PITCH(S);
    float *const rows = buffer + 16 * warp * GF_PAIR_PITCH;
#pragma unroll
    for (int k = 0; k < N; k++, from += 16) {
        float sum[2][2][4] = {};
        gf_tensor_look<S, true, true>(from, step, pixels);
#pragma unroll
        for (int i = 0; i < DOWN; i++) gf_tensor_down<S, true, true>(bands, pixels, i, sum);
        gf_tensor_halves<true, true>(a.first, sum, ring[k]);
    }
#pragma unroll 1
    for (int left = steps; left > 0; left--, x += GF_PAIR_STEP) {
#pragma unroll 1
        for (int turn = 0; turn < GROUPS; turn += RING, from += 16 * RING) {
#pragma unroll
            for (int u = 0; u < RING; u++) {
                float sum[2][4] = {}, next[2][2][4] = {};
                /* after the last group there is none; any will do */
                const bool more = left > 1 || turn + u + 1 < GROUPS;
                gf_tensor_look<S, true, true>(from + 16 * (more ? u : u - 1), step, pixels);
#pragma unroll
                for (int i = 0; i < 3 * N; i++) {
                    gf_tensor_along<S>(bands.along, ring, u, i, sum);
                    if (i < DOWN) gf_tensor_down<S, true, true>(bands, pixels, i, next);
                }
                gf_tensor_halves<true, true>(a.first, next, ring[(u + N) % RING]);
                gf_pair_keep(sum, rows, 16 * (turn + u));
            }
        }
        gf_pair_turn(a, place, buffer, rows, x);
    }
}

template <int S> GF_DEVICE void gf_pair_block(const gf_pair_args &a, unsigned char *shared)
{
    enum { N = GF_TENSOR_GROUPS(S), STEP_CHUNKS = GF_PAIR_STEP / 16 };
    const int block = static_cast<int>(blockIdx.x);
    const gf_kimage &dst = a.first.dst;
    const int most_rows = GF_PAIR_HEIGHT;
    const int x = block % a.first.tiles_x * GF_PAIR_WIDTH - GF_PAIR_LEAD;
    const int y = block / a.first.tiles_x * GF_PAIR_HEIGHT;
    gf_pair_place place;
    place.y = y - 1, place.rows = min(most_rows, dst.height - y);
    place.first = max(x, 0), place.end = min(x + GF_PAIR_WIDTH, dst.width);
    place.beside = x < 0 || place.end == dst.width;
    place.beyond = y == 0 || y + place.rows == dst.height;
    place.words = gf_aligned4(dst) && place.end % 4 == 0;
    const int steps = (place.end - x + 2 * GF_PAIR_LEAD + GF_PAIR_STEP - 1) / GF_PAIR_STEP;
    gf_tensor_tile tile;
    tile.data = shared;
    tile.x = x - GF_PAIR_LEAD - a.first.lead, tile.y = y - 1 - a.first.rise;
    tile.chunks = steps * STEP_CHUNKS + N - 1;
    tile.rows = GF_TENSOR_ROWS(S);
    gf_tensor_bands<S, true> bands;
    gf_tensor_load(a.first.weights, bands);
    gf_tensor_fill<S>(a.first, tile);
    __syncthreads();
    gf_pair_rows<S>(a, place, x - GF_PAIR_LEAD, steps, shared,
                    reinterpret_cast<float *>(shared + GF_TENSOR_SHARED_BYTES(S)), bands);
}

#define GF_PAIR_BODY(S)                                                                            \
    GF_SHARED(unsigned char, tile);                                                                \
    gf_pair_block<S>(a, tile);

#else /* older chips have no such instructions; they are not given these kernels */
#define GF_PAIR_BODY(S)
#endif

#define GF_PAIR_KERNEL(S, BLOCKS)                                                                  \
    GF_KERNEL_BOUNDS(GF_PAIR_THREADS, BLOCKS, gf_pair_##S, gf_pair_args, a) { GF_PAIR_BODY(S) }
GF_PAIR_VARIANTS(GF_PAIR_KERNEL)
