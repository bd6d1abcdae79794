/* What every kernel file may use of the device beyond plain C++.
 *
 * A test build compiles the same kernel files for the CPU. It defines GF_EMULATOR and its own twins
 * of the first section (and of threadIdx, blockIdx, blockDim, gridDim, __syncthreads, uint2, uint4,
 * float2, float4, make_*) before it includes a kernel file; so kernels use these names only. */
#ifndef GF_DEVICE_CUH
#define GF_DEVICE_CUH

#include "kernels/gf_border.h"
#include "kernels/gf_kargs.h"

#ifndef GF_EMULATOR

#define GF_DEVICE __device__ __forceinline__

/* Define a kernel: its C name, the struct it takes, what the body calls that struct. The struct is
 * read from constant memory. */
#define GF_KERNEL(name, Args, a) extern "C" __global__ void name(const __grid_constant__ Args a)
/* The same with the most threads a block and the least blocks a multiprocessor it is built for. */
#define GF_KERNEL_BOUNDS(max_threads, min_blocks, name, Args, a)                                   \
    extern "C" __global__ void __launch_bounds__(max_threads, min_blocks)                          \
        name(const __grid_constant__ Args a)

/* The block's dynamic shared memory as T *name; aligned to 16 bytes. */
#define GF_SHARED(T, name)                                                                         \
    extern __shared__ __align__(16) unsigned char gf_shared_memory[];                              \
    T *const name = reinterpret_cast<T *>(gf_shared_memory)

/* Warp exchange; all 32 lanes must take part. */
template <class T> GF_DEVICE T gf_shfl(T v, int lane) { return __shfl_sync(~0u, v, lane); }
template <class T> GF_DEVICE T gf_shfl_up(T v, int by) { return __shfl_up_sync(~0u, v, by); }
template <class T> GF_DEVICE T gf_shfl_down(T v, int by) { return __shfl_down_sync(~0u, v, by); }
template <class T> GF_DEVICE T gf_shfl_xor(T v, int mask) { return __shfl_xor_sync(~0u, v, mask); }
GF_DEVICE unsigned gf_ballot(bool b) { return __ballot_sync(~0u, b); }
/* Barrier of the warp: what its lanes wrote before is seen by all of them after it. */
GF_DEVICE void gf_sync_warp() { __syncwarp(); }
/* The sum of v over the warp. */
GF_DEVICE unsigned gf_warp_sum(unsigned v)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0u, v);
#else
    for (int mask = 16; mask > 0; mask /= 2) v += gf_shfl_xor(v, mask);
    return v;
#endif
}

/* Barrier that also tells whether any thread of the block had b. */
GF_DEVICE bool gf_sync_or(bool b) { return __syncthreads_or(b) != 0; }

/* Atomics on shared or device memory; they return the old value. */
template <class T> GF_DEVICE T gf_atomic_add(T *p, T v) { return atomicAdd(p, v); }
template <class T> GF_DEVICE T gf_atomic_min(T *p, T v) { return atomicMin(p, v); }
template <class T> GF_DEVICE T gf_atomic_max(T *p, T v) { return atomicMax(p, v); }
template <class T> GF_DEVICE T gf_atomic_or(T *p, T v) { return atomicOr(p, v); }

/* Load through the read-only path: the kernel must not write that memory. */
template <class T> GF_DEVICE T gf_ldg(const T *p) { return __ldg(p); }

GF_DEVICE unsigned gf_float_bits(float v) { return __float_as_uint(v); }
GF_DEVICE float gf_bits_float(unsigned v) { return __uint_as_float(v); }
/* 1 / sqrt(v) with an error of a few units in the last place; v is a normal number. */
GF_DEVICE float gf_rsqrt(float v)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
/* sqrt(v) with an error of a few units in the last place; v is 0 or a normal number. */
GF_DEVICE float gf_sqrt(float v)
{
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(v));
    return r;
}
GF_DEVICE int gf_popc(unsigned v) { return __popc(v); }
GF_DEVICE int gf_clz(unsigned v) { return __clz(static_cast<int>(v)); }

/* Four bytes of the eight in b:a, picked by the digits of `which`; the low word of b:a >> shift,
 * shift < 32; min(v, top) and then no less than 0, on signed halves. */
GF_DEVICE unsigned gf_pick_bytes(unsigned a, unsigned b, unsigned which)
{
    return __byte_perm(a, b, which);
}
GF_DEVICE unsigned gf_shift_words(unsigned a, unsigned b, unsigned shift)
{
    return __funnelshift_r(a, b, shift);
}
/* sum plus the products of four bytes without sign and four with. */
GF_DEVICE unsigned gf_dot_bytes(unsigned bytes, unsigned with_sign, unsigned sum)
{
    unsigned r;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(bytes), "r"(with_sign), "r"(sum));
    return r;
}
GF_DEVICE unsigned gf_clamp_halves(unsigned v, unsigned top) { return __vimin_s16x2_relu(v, top); }

/* sum + the signed halves of a word times the signed bytes 0 and 1 of another, or 2 and 3. */
GF_DEVICE int gf_dot_low(unsigned halves, int bytes, int sum)
{
    return __dp2a_lo(static_cast<int>(halves), bytes, sum);
}
GF_DEVICE int gf_dot_high(unsigned halves, int bytes, int sum)
{
    return __dp2a_hi(static_cast<int>(halves), bytes, sum);
}

/* Tensor cores; what is in this part exists on sm_80 and up only. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define GF_HAVE_TENSOR 1

/* Two values rounded to binary16 in a word, the first in its low half; the halves as floats; the
 * difference of two such pairs. */
GF_DEVICE unsigned gf_pack_halves(float low, float high)
{
    unsigned v;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(high), "f"(low));
    return v;
}
GF_DEVICE float2 gf_unpack_halves(unsigned v)
{
    float2 f;
    asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
        : "=f"(f.x), "=f"(f.y)
        : "r"(v));
    return f;
}
GF_DEVICE unsigned gf_sub_halves(unsigned a, unsigned b)
{
    unsigned v;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
    return v;
}

GF_DEVICE unsigned gf_add_halves(unsigned a, unsigned b)
{
    unsigned v;
    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
    return v;
}
GF_DEVICE unsigned gf_mul_halves(unsigned a, unsigned b)
{
    unsigned v;
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(v) : "r"(a), "r"(b));
    return v;
}
/* a * b + c of each half. */
GF_DEVICE unsigned gf_fma_halves(unsigned a, unsigned b, unsigned c)
{
    unsigned v;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(v) : "r"(a), "r"(b), "r"(c));
    return v;
}
/* The lowest bytes of a and b, each in 16 bits; the sign bit of a is 0. */
GF_DEVICE unsigned gf_low_bytes(unsigned a, unsigned b)
{
    unsigned v;
    asm("prmt.b32 %0, %1, %2, 0xb4b0;" : "=r"(v) : "r"(a), "r"(b));
    return v;
}

/* d = a * b + c for a 16x16, b 16x8, in the layout of the instruction of that name. */
GF_DEVICE void gf_mma_16816(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                            const float (&c)[4])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
          "f"(c[2]), "f"(c[3]));
}

/* The same for whole numbers: a 16x32 of u8, b 32x8 of s8. */
GF_DEVICE void gf_mma_16832_u8(int (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                               const int (&c)[4])
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(c[0]), "r"(c[1]),
          "r"(c[2]), "r"(c[3]));
}

/* The same for a 16x8, b 8x8. */
GF_DEVICE void gf_mma_1688_halves(float (&d)[4], unsigned a0, unsigned a1, unsigned b,
                                  const float (&c)[4])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
        "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a0), "r"(a1), "r"(b), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
}

/* A float's bits rounded to those that tf32 has; halfway cases either way. */
GF_DEVICE unsigned gf_round_tf32(unsigned bits)
{
#if __CUDA_ARCH__ >= 900
    unsigned rounded;
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(bits)));
    return rounded;
#else
    return (bits + 0x1000u) & 0xffffe000u;
#endif
}

/* The same for a 16x8, b 8x8 of tf32: floats of which the lower 13 bits do not count. */
GF_DEVICE void gf_mma_1688(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                           const float (&c)[4])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
          "f"(c[2]), "f"(c[3]));
}

/* Two values rounded to bfloat16 in a word, the first in its low half. */
GF_DEVICE unsigned gf_pack_bf16(float low, float high)
{
    unsigned v;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(v) : "f"(high), "f"(low));
    return v;
}

/* The same for a 16x16, b 16x8 of bfloat16. */
GF_DEVICE void gf_mma_16816_bf16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                                 const float (&c)[4])
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "f"(c[0]), "f"(c[1]),
          "f"(c[2]), "f"(c[3]));
}

/* Load four 8x8 matrices of halves from shared memory, transposed; each lane points to a row of 16
 * bytes, eight lanes to a matrix. */
GF_DEVICE void gf_ldmatrix_4_trans(unsigned (&v)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row))));
}

/* The same as they lie. */
GF_DEVICE void gf_ldmatrix_4(unsigned (&v)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))
                 : "memory");
}

/* A barrier in two halves, eight aligned bytes of shared memory: threads arrive, and wait later on
 * until `arrivals` have. What was written before is seen after that. The turns 0, 1 … follow each
 * other. One thread begins it, before a barrier of the block. */
GF_DEVICE void gf_barrier_begin(void *barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(barrier))),
                 "r"(arrivals)
                 : "memory");
}
GF_DEVICE void gf_barrier_arrive(void *barrier)
{
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; }" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(barrier)))
                 : "memory");
}
#if __CUDA_ARCH__ >= 900
#define GF_BARRIER_TEST "mbarrier.try_wait.parity.shared.b64" /* sleeps for a while */
#else
#define GF_BARRIER_TEST "mbarrier.test_wait.parity.shared.b64"
#endif
GF_DEVICE void gf_barrier_wait(void *barrier, int turn)
{
    unsigned passed;
    do {
        asm volatile("{ .reg .pred p; " GF_BARRIER_TEST " p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(passed)
                     : "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "r"(turn & 1)
                     : "memory");
    } while (!passed);
}
#undef GF_BARRIER_TEST

/* Copy 4 or 8 aligned bytes from device to shared memory without waiting; wait for all such copies
 * of this thread. */
GF_DEVICE void gf_copy_async_4(void *shared, const void *global)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(shared))),
                 "l"(global)
                 : "memory");
}
GF_DEVICE void gf_copy_async_8(void *shared, const void *global)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(shared))),
                 "l"(global)
                 : "memory");
}
GF_DEVICE void gf_copy_async_16(void *shared, const void *global)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(shared))),
                 "l"(global)
                 : "memory");
}
GF_DEVICE void gf_copy_async_wait() { asm volatile("cp.async.wait_all;" ::: "memory"); }
/* Close a group of them; wait for all groups of this thread but the last few. */
GF_DEVICE void gf_copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int GROUPS> GF_DEVICE void gf_copy_async_wait_but()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(GROUPS) : "memory");
}
#endif

#endif /* GF_EMULATOR */

/* NaN and the infinities have all exponent bits set. */
GF_DEVICE bool gf_not_finite(float v) { return (gf_float_bits(v) & 0x7f800000u) == 0x7f800000u; }

/* Round half to even and saturate to 0 … top (255 or 65535); NaN gives 0. Adding 2^23 leaves the
 * rounded value in the low bits, at the speed of an addition; a conversion instruction runs at a
 * quarter of that. fmaxf drops a NaN. */
GF_DEVICE unsigned gf_round_sat(float v, float top)
{
    return gf_float_bits(fminf(fmaxf(v, 0.0f), top) + 8388608.0f) & 0xffffu;
}

/* Load and store by element type, where the type is known at compile time. */
GF_DEVICE float gf_get(const unsigned char *p) { return static_cast<float>(gf_ldg(p)); }
GF_DEVICE float gf_get(const unsigned short *p) { return static_cast<float>(gf_ldg(p)); }
GF_DEVICE float gf_get(const float *p) { return gf_ldg(p); }
GF_DEVICE void gf_put(unsigned char *p, float v)
{
    *p = static_cast<unsigned char>(gf_round_sat(v, 255.0f));
}
GF_DEVICE void gf_put(unsigned short *p, float v)
{
    *p = static_cast<unsigned short>(gf_round_sat(v, 65535.0f));
}
GF_DEVICE void gf_put(float *p, float v) { *p = v; }

/* Row y of an image, that of the block's place in a batch, as elements of T. */
template <class T> GF_DEVICE T *gf_row(const gf_kimage &im, int y)
{
    const long long image = static_cast<long long>(blockIdx.z) * im.next * 16;
    return reinterpret_cast<T *>(static_cast<char *>(im.data) + image +
                                 static_cast<long long>(y) * im.pitch);
}

/* Pixel of any type as float, and back; the type is the same for all threads. */
GF_DEVICE float gf_load(const gf_kimage &im, int x, int y)
{
    if (im.pixel == GF_P_U8) return gf_get(gf_row<const unsigned char>(im, y) + x);
    if (im.pixel == GF_P_U16) return gf_get(gf_row<const unsigned short>(im, y) + x);
    return gf_get(gf_row<const float>(im, y) + x);
}

GF_DEVICE void gf_store(const gf_kimage &im, int x, int y, float v)
{
    if (im.pixel == GF_P_U8)
        gf_put(gf_row<unsigned char>(im, y) + x, v);
    else if (im.pixel == GF_P_U16)
        gf_put(gf_row<unsigned short>(im, y) + x, v);
    else
        gf_put(gf_row<float>(im, y) + x, v);
}

/* Pixel at any distance from the image: folded by the border, or border_value outside. */
GF_DEVICE float gf_load_border(const gf_kimage &im, int x, int y, int border, float border_value)
{
    x = gf_border_index(x, im.width, border);
    y = gf_border_index(y, im.height, border);
    return x < 0 || y < 0 ? border_value : gf_load(im, x, y);
}

/* Four values rounded into the bytes of a word, first lowest; two into its halves. */
#ifdef GF_EMULATOR
GF_DEVICE unsigned gf_pack_u8(float a, float b, float c, float d)
{
    return gf_round_sat(a, 255.0f) | gf_round_sat(b, 255.0f) << 8 | gf_round_sat(c, 255.0f) << 16 |
           gf_round_sat(d, 255.0f) << 24;
}

GF_DEVICE unsigned gf_pack_u16(float a, float b)
{
    return gf_round_sat(a, 65535.0f) | gf_round_sat(b, 65535.0f) << 16;
}
#else
/* Conversions round to even, saturate and make NaN 0; with the packing they are one instruction for
 * two values on sm_90. */
GF_DEVICE unsigned gf_pack_u8(float a, float b, float c, float d)
{
    unsigned low, all;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;"
        : "=r"(low)
        : "r"(__float2int_rn(d)), "r"(__float2int_rn(c)));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;"
        : "=r"(all)
        : "r"(__float2int_rn(b)), "r"(__float2int_rn(a)), "r"(low));
    return all;
}

GF_DEVICE unsigned gf_pack_u16(float a, float b)
{
    unsigned both;
    asm("cvt.pack.sat.u16.s32 %0, %1, %2;"
        : "=r"(both)
        : "r"(__float2int_rn(b)), "r"(__float2int_rn(a)));
    return both;
}
#endif

/* Load or store four neighbouring pixels; x*bytes and the row must be aligned to four pixels
 * (gf_aligned4 tells for a whole image). */
GF_DEVICE bool gf_aligned4(const gf_kimage &im)
{
    const long long bytes = im.pixel == GF_P_U8 ? 4 : im.pixel == GF_P_U16 ? 8 : 16;
    return ((reinterpret_cast<long long>(im.data) | im.pitch) & (bytes - 1)) == 0;
}

GF_DEVICE float4 gf_load4(const gf_kimage &im, int x, int y)
{
    if (im.pixel == GF_P_U8) {
        const unsigned v =
            gf_ldg(reinterpret_cast<const unsigned *>(gf_row<const unsigned char>(im, y) + x));
        return make_float4(static_cast<float>(v & 255u), static_cast<float>(v >> 8 & 255u),
                           static_cast<float>(v >> 16 & 255u), static_cast<float>(v >> 24));
    }
    if (im.pixel == GF_P_U16) {
        const uint2 v =
            gf_ldg(reinterpret_cast<const uint2 *>(gf_row<const unsigned short>(im, y) + x));
        return make_float4(static_cast<float>(v.x & 0xffffu), static_cast<float>(v.x >> 16),
                           static_cast<float>(v.y & 0xffffu), static_cast<float>(v.y >> 16));
    }
    return gf_ldg(reinterpret_cast<const float4 *>(gf_row<const float>(im, y) + x));
}

GF_DEVICE void gf_store4(const gf_kimage &im, int x, int y, float4 v)
{
    if (im.pixel == GF_P_U8)
        *reinterpret_cast<unsigned *>(gf_row<unsigned char>(im, y) + x) =
            gf_pack_u8(v.x, v.y, v.z, v.w);
    else if (im.pixel == GF_P_U16)
        *reinterpret_cast<uint2 *>(gf_row<unsigned short>(im, y) + x) =
            make_uint2(gf_pack_u16(v.x, v.y), gf_pack_u16(v.z, v.w));
    else
        *reinterpret_cast<float4 *>(gf_row<float>(im, y) + x) = v;
}

#endif
