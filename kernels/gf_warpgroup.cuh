/* Products by a warpgroup, the four warps of 128 threads in a row, as sm_90a has them: a has 64
 * rows, sixteen a warp; b lies in shared memory; they run beside the code that comes after. The
 * emulator has twins of all of this. */
#ifndef GF_WARPGROUP_CUH
#define GF_WARPGROUP_CUH

#include "kernels/gf_device.cuh"

#if !defined(GF_EMULATOR) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define GF_HAVE_WARPGROUP 1

/* A matrix in shared memory, at a multiple of sixteen bytes: groups of eight of its rows, or of its
 * columns where it is b, lie together, sixteen bytes of each. `across` bytes on are the next
 * sixteen of each, `down` bytes on the next group. */
typedef unsigned long long gf_matrix;

GF_DEVICE gf_matrix gf_matrix_at(const void *shared, unsigned across, unsigned down)
{
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    return at >> 4 | static_cast<unsigned long long>(across >> 4) << 16 |
           static_cast<unsigned long long>(down >> 4) << 32;
}
/* The same matrix so many bytes on, a multiple of sixteen. */
GF_DEVICE gf_matrix gf_matrix_move(gf_matrix m, int bytes)
{
    return m + static_cast<unsigned long long>(bytes >> 4);
}

/* Products come between begin and end; they have been made after a wait for all but the last LEFT
 * such groups. Meanwhile their operands and sums must not be touched. */
GF_DEVICE void gf_products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
GF_DEVICE void gf_products_end() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int LEFT = 0> GF_DEVICE void gf_products_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}
/* What this thread has written to shared memory is for products after the next barrier. */
GF_DEVICE void gf_products_may_read()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

#define GF_8(kind, d, i)                                                                           \
    kind(d[i]), kind(d[i + 1]), kind(d[i + 2]), kind(d[i + 3]), kind(d[i + 4]), kind(d[i + 5]),    \
        kind(d[i + 6]), kind(d[i + 7])
#define GF_16(kind, d, i) GF_8(kind, d, i), GF_8(kind, d, i + 8)
#define GF_TEXT_16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define GF_TEXT_32 GF_TEXT_16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"

/* d = a * b, or d + a * b when `add`, of u8: a 64x32 in registers or in shared memory, b 32x64. */
GF_DEVICE void gf_product_64_32(int (&d)[32], const unsigned (&a)[4], gf_matrix b, bool add)
{
    asm volatile("{.reg .pred p; setp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 {" GF_TEXT_32
                 "}, {%32,%33,%34,%35}, %36, p;}"
                 : GF_16("+r", d, 0), GF_16("+r", d, 16)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

GF_DEVICE void gf_product_64_32(int (&d)[32], gf_matrix a, gf_matrix b, bool add)
{
    asm volatile("{.reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 {" GF_TEXT_32 "}, %32, %33, p;}"
                 : GF_16("+r", d, 0), GF_16("+r", d, 16)
                 : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

/* The same of binary16: a 64x16 in registers, b 16x32. */
GF_DEVICE void gf_product_32_16(float (&d)[16], const unsigned (&a)[4], gf_matrix b, bool add)
{
    asm volatile("{.reg .pred p; setp.ne.b32 p, %21, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {" GF_TEXT_16
                 "}, {%16,%17,%18,%19}, %20, p, 1, 1, 0;}"
                 : GF_16("+f", d, 0)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}
#undef GF_8
#undef GF_16
#undef GF_TEXT_16
#undef GF_TEXT_32

/* The second bytes of two words below 2^31, as halves. */
GF_DEVICE unsigned gf_second_bytes(unsigned v, unsigned w)
{
    unsigned r; /* the digit b stands for the sign of byte 3, eight times */
    asm("prmt.b32 %0, %1, %2, 0xb5b1;" : "=r"(r) : "r"(v), "r"(w));
    return r;
}
/* Four numbers with signs as bytes, the first one lowest; what does not fit is brought to 0 or 255.
 */
GF_DEVICE unsigned gf_saturate_4(int a, int b, int c, int d)
{
    unsigned r;
    asm("{.reg .b32 t; cvt.pack.sat.u8.s32.b32 t, %4, %3, 0;\n"
        "cvt.pack.sat.u8.s32.b32 %0, %2, %1, t;}"
        : "=r"(r)
        : "r"(a), "r"(b), "r"(c), "r"(d));
    return r;
}

/* Two as halves, brought to 0 or 65535. */
GF_DEVICE unsigned gf_saturate_2(int a, int b)
{
    unsigned r;
    asm("cvt.pack.sat.u16.s32 %0, %2, %1;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

/* Four matrices of 8x8 halves, as products have them in registers, turned and put in shared memory:
 * lane 8 i + r gives the place of row r of the i-th, sixteen bytes. */
GF_DEVICE void gf_stmatrix_4_trans(void *row, const unsigned (&v)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(row))),
                 "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                 : "memory");
}

/* Sixteen bytes asynchronously, of which the first n come from device memory and others are 0. */
GF_DEVICE void gf_copy_async_first(void *shared, const void *global, int n)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(shared))),
                 "l"(global), "r"(n)
                 : "memory");
}
#endif

#endif
