/* Runs the shipped kernels on the CPU: the twins of what gf_device.cuh offers a kernel, and the
 * machine below them. One coroutine a thread, one block after another.
 *
 * What it finds, built with ASan and UBSan: accesses outside shared or device memory, misaligned
 * vector accesses (gcc only), barriers that not all threads reach, launches a device would refuse,
 * use of memory nobody wrote (poisoned with NaN patterns), results that depend on the order of
 * threads (GF_EMU_ORDER=reverse). What it does not find: races between warps, and speed. */
#ifndef GF_EMU_HPP
#define GF_EMU_HPP

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>

#define GF_EMULATOR 1

struct uint3 {
    unsigned x, y, z;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline int2 make_int2(int x, int y) { return { x, y }; }
inline uint2 make_uint2(unsigned x, unsigned y) { return { x, y }; }
inline float2 make_float2(float x, float y) { return { x, y }; }
inline int4 make_int4(int x, int y, int z, int w) { return { x, y, z, w }; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return { x, y, z, w }; }
inline float4 make_float4(float x, float y, float z, float w) { return { x, y, z, w }; }
using std::max;
using std::min;

/* A kernel, as GF_KERNEL registers it. */
struct gfi_kernel {
    const char *name;
    size_t args_bytes;
    unsigned max_threads; /* of GF_KERNEL_BOUNDS; 1024 without */
    void (*body)(const void *args);
    const gfi_kernel *next;
};

namespace emu
{
inline const gfi_kernel *kernels; /* all that are linked in; filled before main() */

/* The thread that runs now. */
struct position {
    uint3 thread, block, block_dim, grid_dim;
    unsigned char *shared;
};
extern position now;

/* Run a kernel over a grid. args and shared memory are copied to, or made with, their exact size.
 * Aborts with a message on a divergent barrier or warp operation. */
struct grid {
    uint3 blocks, threads;
    size_t shared_bytes;
    bool reverse; /* last block and thread first */
};
void run(const gfi_kernel &kernel, const grid &grid, const void *args);

/* Wait until every thread of the block is at the same line; true when any of them had b. */
bool sync(bool b, const char *file, int line);
/* Wait until every lane of the warp is at the same line; then the value of one of them. */
uint64_t exchange(uint64_t value, int lane, const char *file, int line);
unsigned ballot(bool b, const char *file, int line);
/* Wait likewise; then what each of the 32 lanes has put in, valid until the next such call. */
struct message {
    uint32_t word[6];
};
const message *gather(const message &own, const char *file, int line);
int lane_id();

struct registrar : gfi_kernel {
    registrar(const char *n, size_t bytes, unsigned threads, void (*f)(const void *))
        : gfi_kernel{ n, bytes, threads, f, kernels }
    {
        kernels = this;
    }
};

template <class T> T shuffle(T v, int lane, const char *file, int line)
{
    static_assert(sizeof(T) <= sizeof(uint64_t), "shuffles move at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    bits = exchange(bits, lane, file, line);
    memcpy(&v, &bits, sizeof v);
    return v;
}

template <class T, class F> T replace(T *p, F f)
{
    const T old = *p;
    *p = f(old);
    return old;
}
} // namespace emu

#define threadIdx emu::now.thread
#define blockIdx emu::now.block
#define blockDim emu::now.block_dim
#define gridDim emu::now.grid_dim
#define __syncthreads() emu::sync(false, __FILE__, __LINE__)

/* The twins of gf_device.cuh's first section. */
#define GF_DEVICE inline
#define GF_KERNEL_BOUNDS(threads, blocks, name, Args, a)                                           \
    static void name(const Args &a);                                                               \
    static emu::registrar name##_registrar(#name, sizeof(Args), threads, [](const void *args) {    \
        name(*static_cast<const Args *>(args));                                                    \
    });                                                                                            \
    static void name(const Args &a)
#define GF_KERNEL(name, Args, a) GF_KERNEL_BOUNDS(1024, 1, name, Args, a)
#define GF_SHARED(T, name) T *const name = reinterpret_cast<T *>(emu::now.shared)

#define GF_EMU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()
template <class T> T gf_shfl(T v, int lane, GF_EMU_HERE)
{
    return emu::shuffle(v, lane & 31, file, line);
}
template <class T> T gf_shfl_up(T v, int by, GF_EMU_HERE)
{
    const int own = emu::lane_id();
    return emu::shuffle(v, own - by < 0 ? own : own - by, file, line);
}
template <class T> T gf_shfl_down(T v, int by, GF_EMU_HERE)
{
    const int own = emu::lane_id();
    return emu::shuffle(v, own + by > 31 ? own : own + by, file, line);
}
template <class T> T gf_shfl_xor(T v, int mask, GF_EMU_HERE)
{
    return emu::shuffle(v, (emu::lane_id() ^ mask) & 31, file, line);
}
inline unsigned gf_ballot(bool b, GF_EMU_HERE) { return emu::ballot(b, file, line); }
inline void gf_sync_warp(GF_EMU_HERE) { emu::ballot(false, file, line); }
inline unsigned gf_warp_sum(unsigned v, GF_EMU_HERE)
{
    const emu::message *all = emu::gather({ { v } }, file, line);
    unsigned sum = 0;
    for (int lane = 0; lane < 32; lane++) sum += all[lane].word[0];
    return sum;
}
inline bool gf_sync_or(bool b, GF_EMU_HERE) { return emu::sync(b, file, line); }
#undef GF_EMU_HERE

template <class T> T gf_atomic_add(T *p, T v)
{
    return emu::replace(p, [=](T old) { return static_cast<T>(old + v); });
}
template <class T> T gf_atomic_min(T *p, T v)
{
    return emu::replace(p, [=](T old) { return min(old, v); });
}
template <class T> T gf_atomic_max(T *p, T v)
{
    return emu::replace(p, [=](T old) { return max(old, v); });
}
template <class T> T gf_atomic_or(T *p, T v)
{
    return emu::replace(p, [=](T old) { return static_cast<T>(old | v); });
}
template <class T> T gf_ldg(const T *p) { return *p; }

inline unsigned gf_float_bits(float v)
{
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
inline float gf_bits_float(unsigned bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
inline float gf_rsqrt(float v) { return 1.0f / sqrtf(v); }
inline float gf_sqrt(float v) { return sqrtf(v); }
inline int gf_popc(unsigned v) { return __builtin_popcount(v); }
inline int gf_dot_low(unsigned halves, int bytes, int sum)
{
    return sum + static_cast<int16_t>(halves) * static_cast<int8_t>(bytes) +
           static_cast<int16_t>(halves >> 16) * static_cast<int8_t>(bytes >> 8);
}
inline int gf_dot_high(unsigned halves, int bytes, int sum)
{
    return gf_dot_low(halves, bytes >> 16, sum);
}
inline int gf_clz(unsigned v) { return v ? __builtin_clz(v) : 32; }

#include "tensor.hpp"
#include "warpgroup.hpp"

#include "kernels/gf_device.cuh"

#endif
