/* The twins of gf_device.cuh's tensor core part. */
#ifndef GF_EMU_TENSOR_HPP
#define GF_EMU_TENSOR_HPP

#include <stdio.h>
#include <stdlib.h>

#define GF_HAVE_TENSOR 1
#define GF_EMU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace emu
{
/* binary16, rounded half to even; a subnormal's exponent field of 0 comes out by itself. */
inline unsigned half_of(float v)
{
    const unsigned sign = signbit(v) ? 0x8000u : 0u;
    const float size = fabsf(v);
    if (isnan(v)) return 0x7fffu;
    if (size >= 65520.0f) return sign | 0x7c00u;
    const int exponent = size > 0x1p-14f ? ilogbf(size) : -14;
    return sign | (static_cast<unsigned>(exponent + 14) * 1024u +
                   static_cast<unsigned>(nearbyintf(ldexpf(size, 10 - exponent))));
}

inline float float_of(unsigned half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float size = exponent == 31  ? (fraction ? NAN : INFINITY)
                       : exponent == 0 ? ldexpf(static_cast<float>(fraction), -24)
                                       : ldexpf(static_cast<float>(1024 + fraction), exponent - 25);
    return half & 0x8000u ? -size : size;
}

/* What is lost at the end of a sum goes towards zero, as in the device's tensor cores. */
inline float truncated(double v)
{
    const float f = static_cast<float>(v);
    return fabs(static_cast<double>(f)) > fabs(v) ? nextafterf(f, 0.0f) : f;
}

inline double half_product(uint32_t a, uint32_t b)
{
    return static_cast<double>(float_of(a & 0xffffu)) * float_of(b & 0xffffu) +
           static_cast<double>(float_of(a >> 16)) * float_of(b >> 16);
}

/* Of four u8 and four s8, modulo 2^32 as all that is made of it. */
inline unsigned byte_product(uint32_t a, uint32_t b)
{
    int sum = 0;
    for (int i = 0; i < 32; i += 8)
        sum += static_cast<uint8_t>(a >> i) * static_cast<int8_t>(b >> i);
    return static_cast<unsigned>(sum);
}

inline double tf32_product(uint32_t a, uint32_t b)
{
    float x, y;
    a &= 0xffffe000u, b &= 0xffffe000u;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return static_cast<double>(x) * y;
}

/* bfloat16, rounded half to even: the upper half of a float. */
inline unsigned bf16_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

inline double bf16_product(uint32_t a, uint32_t b)
{
    return tf32_product(a << 16, b << 16) + tf32_product(a & 0xffff0000u, b & 0xffff0000u);
}
} // namespace emu

inline unsigned gf_pick_bytes(unsigned a, unsigned b, unsigned which)
{
    const uint64_t bytes = static_cast<uint64_t>(b) << 32 | a;
    unsigned v = 0;
    for (int i = 0; i < 4; i++)
        v |= static_cast<unsigned>(bytes >> (which >> 4 * i & 7) * 8 & 255u) << 8 * i;
    return v;
}
inline unsigned gf_shift_words(unsigned a, unsigned b, unsigned shift)
{
    return static_cast<unsigned>((static_cast<uint64_t>(b) << 32 | a) >> (shift & 31));
}
inline unsigned gf_dot_bytes(unsigned bytes, unsigned with_sign, unsigned sum)
{
    for (int i = 0; i < 32; i += 8)
        sum += (bytes >> i & 255u) * static_cast<unsigned>(static_cast<int8_t>(with_sign >> i));
    return sum;
}
inline unsigned gf_clamp_halves(unsigned v, unsigned top)
{
    unsigned result = 0;
    for (int i = 0; i < 32; i += 16) {
        const int least = min<int>(static_cast<int16_t>(v >> i), static_cast<int16_t>(top >> i));
        result |= static_cast<unsigned>(max(least, 0)) << i;
    }
    return result;
}

inline unsigned gf_pack_halves(float low, float high)
{
    return emu::half_of(low) | emu::half_of(high) << 16;
}
inline float2 gf_unpack_halves(unsigned v)
{
    return { emu::float_of(v & 0xffffu), emu::float_of(v >> 16) };
}
inline unsigned gf_sub_halves(unsigned a, unsigned b)
{
    const float2 x = gf_unpack_halves(a), y = gf_unpack_halves(b);
    return gf_pack_halves(x.x - y.x, x.y - y.y);
}

inline unsigned gf_add_halves(unsigned a, unsigned b)
{
    const float2 x = gf_unpack_halves(a), y = gf_unpack_halves(b);
    return gf_pack_halves(x.x + y.x, x.y + y.y);
}
inline unsigned gf_mul_halves(unsigned a, unsigned b)
{
    const float2 x = gf_unpack_halves(a), y = gf_unpack_halves(b);
    return gf_pack_halves(x.x * y.x, x.y * y.y);
}
inline unsigned gf_low_bytes(unsigned a, unsigned b)
{
    if (a >> 31) abort();
    return (a & 255u) | (b & 255u) << 16;
}

inline unsigned gf_fma_halves(unsigned a, unsigned b, unsigned c)
{
    const float2 x = gf_unpack_halves(a), y = gf_unpack_halves(b), z = gf_unpack_halves(c);
    return gf_pack_halves(x.x * y.x + z.x, x.y * y.y + z.y);
}
inline unsigned gf_round_tf32(unsigned bits) { return (bits + 0x1000u) & 0xffffe000u; }

namespace emu
{
/* Add A * B to a lane's four sums: its words of A are rows g and g + 8 of one half of the columns,
 * then of the other; those of B these halves. product() multiplies and adds up what words hold. */
template <class Sum, class Product>
inline void multiply(Sum (&sum)[4], const message &own, Product product, const char *file, int line)
{
    const message *all = gather(own, file, line);
    const int row = lane_id() / 4, column = lane_id() % 4 * 2;
    for (int i = 0; i < 4; i++)
        for (int t = 0; t < 4; t++) {
            const message &x = all[4 * row + t], &y = all[4 * (column + i % 2) + t];
            sum[i] += product(x.word[i / 2], y.word[4]) + product(x.word[i / 2 + 2], y.word[5]);
        }
}

template <class Product>
inline void multiply_floats(float (&d)[4], const message &own, const float (&c)[4], Product product,
                            const char *file, int line)
{
    double sum[4] = { c[0], c[1], c[2], c[3] };
    multiply(sum, own, product, file, line);
    for (int i = 0; i < 4; i++) d[i] = truncated(sum[i]);
}

/* The sixteen bytes that lane `lane` points to, aligned. */
inline const unsigned char *matrix_row(const message *all, int lane)
{
    const unsigned char *from;
    memcpy(&from, all[lane].word, sizeof from);
    if (reinterpret_cast<uintptr_t>(from) % 16) abort();
    return from;
}
}

inline void gf_mma_16816(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                         const float (&c)[4], GF_EMU_HERE)
{
    const emu::message own = { { a[0], a[1], a[2], a[3], b0, b1 } };
    emu::multiply_floats(d, own, c, emu::half_product, file, line);
}

inline void gf_mma_1688_halves(float (&d)[4], unsigned a0, unsigned a1, unsigned b,
                               const float (&c)[4], GF_EMU_HERE)
{
    const emu::message own = { { a0, a1, 0, 0, b, 0 } }; /* there is no second half */
    emu::multiply_floats(d, own, c, emu::half_product, file, line);
}

inline void gf_mma_1688(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                        const float (&c)[4], GF_EMU_HERE)
{
    const emu::message own = { { a[0], a[1], a[2], a[3], b0, b1 } };
    emu::multiply_floats(d, own, c, emu::tf32_product, file, line);
}

inline unsigned gf_pack_bf16(float low, float high)
{
    return emu::bf16_of(low) | emu::bf16_of(high) << 16;
}

inline void gf_mma_16816_bf16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                              const float (&c)[4], GF_EMU_HERE)
{
    const emu::message own = { { a[0], a[1], a[2], a[3], b0, b1 } };
    emu::multiply_floats(d, own, c, emu::bf16_product, file, line);
}

inline void gf_mma_16832_u8(int (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                            const int (&c)[4], GF_EMU_HERE)
{
    const emu::message own = { { a[0], a[1], a[2], a[3], b0, b1 } };
    unsigned sum[4];
    for (int i = 0; i < 4; i++) sum[i] = static_cast<unsigned>(c[i]);
    emu::multiply(sum, own, emu::byte_product, file, line);
    for (int i = 0; i < 4; i++) d[i] = static_cast<int>(sum[i]);
}

inline void gf_ldmatrix_4_trans(unsigned (&v)[4], const void *row, GF_EMU_HERE)
{
    emu::message own = {};
    memcpy(own.word, &row, sizeof row);
    const emu::message *all = emu::gather(own, file, line);
    const int column = emu::lane_id() / 4, first = emu::lane_id() % 4 * 2;
    const auto half = [&](int lane) {
        return reinterpret_cast<const uint16_t *>(emu::matrix_row(all, lane))[column];
    };
    for (int i = 0; i < 4; i++)
        v[i] = half(8 * i + first) | static_cast<unsigned>(half(8 * i + first + 1)) << 16;
}

inline void gf_ldmatrix_4(unsigned (&v)[4], const void *row, GF_EMU_HERE)
{
    emu::message own = {};
    memcpy(own.word, &row, sizeof row);
    const emu::message *all = emu::gather(own, file, line);
    const int from_row = emu::lane_id() / 4, word = emu::lane_id() % 4;
    for (int i = 0; i < 4; i++)
        v[i] = reinterpret_cast<const unsigned *>(emu::matrix_row(all, 8 * i + from_row))[word];
}

/* The barrier's bytes count who has arrived. All wait here for the last to come, not just for the
 * others to arrive: that is one of the orders that a device may take. */
inline void gf_barrier_begin(void *barrier, int arrivals)
{
    *static_cast<int2 *>(barrier) = { arrivals, 0 };
}
inline void gf_barrier_arrive(void *barrier) { static_cast<int2 *>(barrier)->y++; }
inline void gf_barrier_wait(void *barrier, int turn, GF_EMU_HERE)
{
    emu::sync(false, file, line);
    const int2 state = *static_cast<const int2 *>(barrier);
    if (state.y >= state.x * (turn + 1)) return;
    fprintf(stderr, "emulator: %s:%d waits for who does not arrive\n", file, line);
    abort();
}

inline void gf_copy_async_4(void *shared, const void *global)
{
    *static_cast<unsigned *>(shared) = *static_cast<const unsigned *>(global);
}
inline void gf_copy_async_8(void *shared, const void *global)
{
    *static_cast<uint2 *>(shared) = *static_cast<const uint2 *>(global);
}
inline void gf_copy_async_16(void *shared, const void *global)
{
    *static_cast<uint4 *>(shared) = *static_cast<const uint4 *>(global);
}
inline void gf_copy_async_wait() {}
inline void gf_copy_async_commit() {}
template <int GROUPS> void gf_copy_async_wait_but() {}

#undef GF_EMU_HERE

#endif
