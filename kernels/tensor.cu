/* Separable windows of u8 images on tensor cores: the kernels. How they work is in gf_tensor.cuh.
 */
#include "kernels/gf_tensor.cuh"

#ifdef GF_HAVE_TENSOR

template <int S, bool SYM, bool EXACT>
GF_DEVICE void gf_tensor_block(const gf_tensor_args &a, unsigned char *shared)
{
    enum { N = GF_TENSOR_GROUPS(S) };
    const int block = static_cast<int>(blockIdx.x), warp = static_cast<int>(threadIdx.x) / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int x = block % a.tiles_x * GF_TENSOR_WIDTH, y = block / a.tiles_x * GF_TENSOR_HEIGHT;
    const int most_columns = GF_TENSOR_WIDTH, most_rows = GF_TENSOR_HEIGHT;
    const int columns = min(most_columns, a.dst.width - x), groups = (columns + 31) / 32 * 2;
    const int rows = min(most_rows, a.dst.height - y);
    gf_tensor_tile tile;
    tile.data = shared;
    tile.x = x - a.lead, tile.y = y - a.rise;
    tile.chunks = groups + N - 1;
    tile.rows = (rows + 15) / 16 * 16 + 16 * (N - 1);
    gf_tensor_bands<S, SYM> bands;
    gf_tensor_load(a.weights, bands);
    gf_tensor_fill<S>(a, tile);
    __syncthreads();
    if (16 * warp >= rows) return;
    const long long at = reinterpret_cast<long long>(a.dst.data) | a.dst.pitch;
    gf_tensor_place place;
    place.x = x;
    place.y[0] = y + 16 * warp + lane / 4;
    place.y[1] = y + 16 * warp + (SYM ? 15 - lane / 4 : lane / 4 + 8);
    place.groups = groups;
    place.inside = columns % 32 == 0 && 16 * warp + 16 <= rows;
    place.whole = place.inside && (at & 7) == 0;
    const unsigned char *const first = shared + 16 * warp * GF_TENSOR_PITCH(S);
    const bool is_sum = a.combine.combine == GF_C_SUM;
    if (EXACT && place.whole && is_sum && a.dst.pixel == GF_P_F32)
        gf_tensor_rows<S, SYM, GF_TENSOR_F32>(a, place, first, bands);
    else if (EXACT)
        gf_tensor_rows<S, SYM, GF_TENSOR_ANY>(a, place, first, bands);
    else if (SYM && !is_sum)
        gf_tensor_rows<S, SYM, GF_TENSOR_U8_UNSHARP>(a, place, first, bands);
    else if (place.whole && a.narrow)
        gf_tensor_rows<S, SYM, GF_TENSOR_U8_WHOLE>(a, place, first, bands);
    else
        gf_tensor_rows<S, SYM, GF_TENSOR_U8>(a, place, first, bands);
}

#define GF_TENSOR_BODY(S, SYM, EXACT)                                                              \
    GF_SHARED(unsigned char, tile);                                                                \
    gf_tensor_block<S, SYM, EXACT>(a, tile);

#else /* older chips have no such instructions; they are not given these kernels */
#define GF_TENSOR_BODY(S, SYM, EXACT)
#endif

/* gf_tensor_u8_… makes u8 pixels of sums whose result fits 16 bits. */
#define GF_TENSOR_KERNELS(S, U8_BLOCKS, BLOCKS, NAME, SYM)                                         \
    GF_KERNEL_BOUNDS(GF_TENSOR_THREADS, U8_BLOCKS, gf_tensor_u8_##NAME, gf_tensor_args, a){        \
        GF_TENSOR_BODY(S, SYM, false)                                                              \
    } GF_KERNEL_BOUNDS(GF_TENSOR_THREADS, BLOCKS, gf_tensor_##NAME, gf_tensor_args, a)             \
    {                                                                                              \
        GF_TENSOR_BODY(S, SYM, true)                                                               \
    }
#define GF_TENSOR_PLAIN(S, U8_BLOCKS, BLOCKS) GF_TENSOR_KERNELS(S, U8_BLOCKS, BLOCKS, S, false)
#define GF_TENSOR_SYM(S, U8_BLOCKS, BLOCKS) GF_TENSOR_KERNELS(S, U8_BLOCKS, BLOCKS, S##_sym, true)
GF_TENSOR_VARIANTS(GF_TENSOR_PLAIN)
GF_TENSOR_SYM_VARIANTS(GF_TENSOR_SYM)
