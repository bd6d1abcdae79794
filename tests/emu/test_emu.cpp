/* The emulator must catch what it is there for. Every fault is planted in a kernel that runs in a
 * child process, which has to die with the right words; right kernels must pass. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "emu.hpp"

extern "C" {
#include "backend/backend.h"
}

/* ---- kernels ----------------------------------------------------------------------------------
 */

struct test_args {
    float *out;
    int n, fault;
};

enum { THREADS = 64 };

/* out[i] = the sum over i's warp + how many lanes are odd + whether any thread is the last + what
 * the opposite thread put into shared memory. */
GF_KERNEL(test_right, test_args, a)
{
    GF_SHARED(float, values);
    const int i = static_cast<int>(threadIdx.x), block = static_cast<int>(blockIdx.x);
    values[i] = static_cast<float>(100 * block + i);
    float sum = static_cast<float>(i);
    for (int by = 16; by > 0; by /= 2) sum += gf_shfl_xor(sum, by);
    const int odd = gf_popc(gf_ballot(i % 2 != 0));
    const bool any = gf_sync_or(i == a.n - 1);
    const float neighbour = gf_shfl_up(values[i], 1);
    const float opposite = values[blockDim.x - 1 - threadIdx.x];
    a.out[block * THREADS + i] = sum + static_cast<float>(odd + any) + opposite + neighbour;
    __syncthreads();
    values[i] = 0;
}

static float right_value(int block, int i)
{
    const int sum = i < 32 ? 31 * 32 / 2 : 31 * 32 / 2 + 32 * 32;
    const int neighbour = 100 * block + (i % 32 == 0 ? i : i - 1);
    return static_cast<float>(sum + 16 + 1 + 100 * block + THREADS - 1 - i + neighbour);
}

enum fault {
    SHARED_WRITE,
    SHARED_READ,
    DEVICE_WRITE,
    DEVICE_READ,
    MISALIGNED,
    BARRIER_MISSED,
    BARRIERS_MIXED,
    RETURN_BEFORE_BARRIER,
    NOT_ARRIVED,
    WARP_SPLIT,
    LANE_MISSING
};

GF_KERNEL(test_faulty, test_args, a)
{
    GF_SHARED(float, values);
    const int i = static_cast<int>(threadIdx.x);
    const bool last = i == a.n - 1;
    switch (a.fault) {
    case SHARED_WRITE: values[last ? a.n : i] = 1.0f; break;
    case SHARED_READ: a.out[i] = values[last ? a.n : i]; break;
    case DEVICE_WRITE: a.out[last ? a.n : i] = 1.0f; break;
    case DEVICE_READ: values[i] = a.out[last ? -1 : i]; break;
    case MISALIGNED: *reinterpret_cast<float4 *>(a.out + 1) = make_float4(1, 2, 3, 4); break;
    case BARRIER_MISSED:
        if (!last) __syncthreads();
        break;
    case BARRIERS_MIXED:
        if (last)
            __syncthreads();
        else
            __syncthreads();
        break;
    case RETURN_BEFORE_BARRIER:
        if (last) return;
        __syncthreads();
        break;
    case NOT_ARRIVED:
        if (i == 0) gf_barrier_begin(values, a.n);
        __syncthreads();
        if (!last) gf_barrier_arrive(values);
        gf_barrier_wait(values, 0);
        break;
    case WARP_SPLIT:
        if (!last) values[i] = gf_shfl(values[i], 0);
        break;
    case LANE_MISSING: values[i] = gf_shfl(values[i], 31); break;
    }
}

/* Reads its neighbour's value with no barrier between: the order of threads shows. */
GF_KERNEL(test_race, test_args, a)
{
    GF_SHARED(float, values);
    const unsigned i = threadIdx.x, n = blockDim.x;
    values[i] = static_cast<float>(i);
    a.out[i] = values[(i + 1) % n];
}

/* out = A * B + 1 with A(i, k) = i - k / 2 and B(k, j) = 3k + j, brought into the operands' layouts:
 * A by hand, B from rows of bytes in shared memory. A warp. */
GF_KERNEL(test_tensor, test_args, a)
{
    GF_SHARED(unsigned short, rows);
    const int lane = static_cast<int>(threadIdx.x), g = lane / 4, t = lane % 4;
    if (lane < 16)
        for (int j = 0; j < 8; j++)
            rows[8 * lane + j] =
                static_cast<unsigned short>(gf_pack_halves(static_cast<float>(3 * lane + j), 0));
    gf_sync_or(false);
    unsigned left[4], b[4];
    for (int i = 0; i < 4; i++) {
        const float row = static_cast<float>(g + i % 2 * 8);
        const float k = static_cast<float>(2 * t + i / 2 * 8);
        left[i] = gf_pack_halves(row - k / 2, row - (k + 1) / 2);
    }
    gf_ldmatrix_4_trans(b, rows + 8 * (lane % 16));
    const float ones[4] = { 1, 1, 1, 1 };
    float d[4];
    gf_mma_16816(d, left, b[0], b[1], ones);
    for (int i = 0; i < 4; i++) a.out[8 * (g + i / 2 * 8) + 2 * t + i % 2] = d[i];
}

/* ---- a device to run them on --------------------------------------------------------------------
 */

struct device {
    gfi_device *dev = nullptr;
    gfi_queue *queue = nullptr;

    explicit device(const char *order = "forward", const char *shared = "232448",
                    const char *memory = "1048576")
    {
        setenv("GF_EMU_ORDER", order, 1);
        setenv("GF_EMU_SHARED_BYTES", shared, 1);
        setenv("GF_EMU_MEMORY_BYTES", memory, 1);
        if (gfi_device_open(0, &dev) != GF_OK) return;
        if (gfi_queue_create(dev, nullptr, &queue) != GF_OK) abort();
    }
    ~device()
    {
        gfi_queue_destroy(&queue);
        gfi_device_close(&dev);
    }
    float *floats(size_t n)
    {
        void *p;
        if (gfi_device_alloc(queue, n * sizeof(float), &p) != GF_OK) abort();
        return static_cast<float *>(p);
    }
    gf_status launch(const char *name, unsigned blocks, unsigned threads, size_t shared,
                     const test_args &args, size_t args_bytes = sizeof(test_args))
    {
        const gfi_kernel *kernel;
        GFI_TRY(gfi_kernel_find(dev, name, &kernel));
        const gfi_launch l = { { blocks, 1, 1 }, { threads, 1, 1 }, shared, &args, args_bytes };
        return gfi_kernel_launch(queue, kernel, &l);
    }
    std::vector<float> run(const char *name, unsigned blocks)
    {
        std::vector<float> out(THREADS * blocks);
        float *d = floats(out.size());
        if (launch(name, blocks, THREADS, THREADS * sizeof(float), { d, THREADS, 0 }) != GF_OK ||
            gfi_download(queue, out.data(), d, out.size() * sizeof(float)) != GF_OK)
            abort();
        gfi_device_free(queue, d);
        return out;
    }
};

/* ---- checks -------------------------------------------------------------------------------------
 */

static int passed, failed;

static void check(bool good, const char *what)
{
    good ? passed++ : failed++;
    if (!good) printf("FAILED %s\n", what);
}

static void run_faulty(fault f, int threads)
{
    device d;
    float *out = d.floats(static_cast<size_t>(threads));
    const size_t shared = static_cast<size_t>(threads) * sizeof(float);
    d.launch("test_faulty", 1, static_cast<unsigned>(threads), shared, { out, threads, f });
    gfi_device_free(d.queue, out);
}

/* The child must die by itself, with these words on stderr. */
static void check_dies(fault f, int threads, const char *words, const char *what)
{
    int ends[2];
    if (pipe(ends)) abort();
    const pid_t child = fork();
    if (child < 0) abort();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        run_faulty(f, threads);
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    char part[4096];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
        said.append(part, static_cast<size_t>(n));
    close(ends[0]);
    int status;
    if (waitpid(child, &status, 0) != child) abort();
    const bool died = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    check(died && said.find(words) != std::string::npos, what);
}

static void check_faults()
{
    check_dies(SHARED_WRITE, 64, "heap-buffer-overflow", "write past shared memory");
    check_dies(SHARED_READ, 64, "heap-buffer-overflow", "read past shared memory");
    check_dies(DEVICE_WRITE, 64, "heap-buffer-overflow", "write past device memory");
    check_dies(DEVICE_READ, 64, "heap-buffer-overflow", "read before device memory");
#if !defined(__clang__) /* whose UBSan does not look at copies of whole structs */
    check_dies(MISALIGNED, 64, "misaligned address", "misaligned vector");
#endif
    check_dies(BARRIER_MISSED, 64, "divergent barrier", "barrier that one thread skips");
    check_dies(BARRIERS_MIXED, 64, "divergent barrier", "two barriers at once");
    check_dies(RETURN_BEFORE_BARRIER, 64, "divergent barrier", "return before a barrier");
    check_dies(NOT_ARRIVED, 64, "does not arrive", "barrier in halves that one thread skips");
    check_dies(WARP_SPLIT, 64, "divergent warp operation", "warp operation that one lane skips");
    check_dies(LANE_MISSING, 16, "reads lane 31", "lane that does not exist");
}

static void check_right()
{
    device forward, reverse("reverse");
    const std::vector<float> a = forward.run("test_right", 3), b = reverse.run("test_right", 3);
    bool good = true;
    for (int i = 0; i < 3 * THREADS; i++) good &= a[i] == right_value(i / THREADS, i % THREADS);
    check(good, "a right kernel's result");
    check(a == b, "a right kernel in both orders");
    const std::vector<float> c = forward.run("test_race", 1), d = reverse.run("test_race", 1);
    check(c[1] != d[1], "a race shows in the order of threads");
    check(isnan(c[1]), "shared memory that nobody wrote is NaN");
}

static void check_tensor()
{
    device d;
    std::vector<float> out(128);
    float *memory = d.floats(out.size());
    const bool ran =
        d.launch("test_tensor", 1, 32, 256, { memory, 128, 0 }) == GF_OK &&
        gfi_download(d.queue, out.data(), memory, out.size() * sizeof(float)) == GF_OK;
    check(ran, "tensor product runs");
    bool good = true;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            float sum = 1;
            for (int k = 0; k < 16; k++)
                sum += (static_cast<float>(i) - static_cast<float>(k) / 2) *
                       static_cast<float>(3 * k + j);
            good &= out[static_cast<size_t>(8 * i + j)] == sum;
        }
    check(good, "tensor product");
    gfi_device_free(d.queue, memory);
    check(emu::half_of(2049.0f) == 0x6800 && emu::half_of(2051.0f) == 0x6802 &&
              emu::half_of(65520.0f) == 0x7c00 && emu::half_of(65519.0f) == 0x7bff &&
              emu::half_of(-0x1p-24f) == 0x8001 && emu::half_of(0x1p-25f) == 0 &&
              emu::half_of(0x1.8p-24f) == 2,
          "binary16, rounded half to even");
    bool back = true;
    for (unsigned h = 0; h < 0x7c00; h++) back &= emu::half_of(emu::float_of(h)) == h;
    check(back, "binary16 there and back");
}

static void check_launches()
{
    device d("forward", "49152");
    float *out = d.floats(1);
    const test_args args = { out, 1, SHARED_WRITE };
    check(d.launch("test_faulty", 1, 1, 49152, args) == GF_OK, "a launch at the limit");
    check(d.launch("test_faulty", 1, 1, 49153, args) == GF_ERROR_DEVICE, "too much shared memory");
    check(d.launch("test_faulty", 1, 1025, 8192, args) == GF_ERROR_DEVICE, "too many threads");
    check(d.launch("test_faulty", 0, 1, 64, args) == GF_ERROR_DEVICE, "an empty grid");
    check(d.launch("test_faulty", 1, 1, 64, args, 8) == GF_ERROR_DEVICE, "another struct");
    check(d.launch("test_none", 1, 1, 64, args) == GF_ERROR_NOT_FOUND, "no such kernel");
    gfi_device_free(d.queue, out);
}

static void check_memory()
{
    device d("forward", "49152", "1000");
    void *a, *b;
    check(gfi_device_alloc(d.queue, 600, &a) == GF_OK, "device memory");
    check(gfi_device_alloc(d.queue, 600, &b) == GF_ERROR_DEVICE_MEMORY && !b, "no device memory");
    char host[601] = { 1, 2, 3 };
    check(gfi_upload(d.queue, a, host, 601) == GF_ERROR_DEVICE, "upload past device memory");
    check(gfi_upload(d.queue, host, a, 10) == GF_ERROR_DEVICE, "upload to host memory");
    check(gfi_upload(d.queue, a, host, 600) == GF_OK, "upload");
    size_t held, used;
    check(gfi_device_pool_info(d.dev, &held, &used) == GF_OK && used == 600, "memory in use");
    gfi_device_free(d.queue, a);
    device bad("sideways");
    check(!bad.dev, "an order that is none");
}

/* Against the sum that defines it, and there and back. */
static void check_fft(int ny, int nx)
{
    device d;
    const size_t n = static_cast<size_t>(ny * nx), half = static_cast<size_t>(nx / 2 + 1);
    const size_t n_spectrum = 2 * half * static_cast<size_t>(ny);
    std::vector<float> in(2 * n), spectrum(2 * n_spectrum), back(2 * n);
    for (size_t i = 0; i < in.size(); i++) in[i] = static_cast<float>((i * 7919 + 13) % 101) - 50;
    float *real = d.floats(in.size()), *freq = d.floats(spectrum.size());
    gfi_fft *fft;
    const bool ran =
        gfi_fft_create(d.queue, ny, nx, 2, &fft) == GF_OK &&
        gfi_upload(d.queue, real, in.data(), in.size() * sizeof(float)) == GF_OK &&
        gfi_fft_forward(fft, real, freq) == GF_OK &&
        gfi_download(d.queue, spectrum.data(), freq, spectrum.size() * sizeof(float)) == GF_OK &&
        gfi_fft_inverse(fft, freq, real) == GF_OK &&
        gfi_download(d.queue, back.data(), real, back.size() * sizeof(float)) == GF_OK;
    check(ran, "FFT runs");
    double worst = 0, worst_back = 0;
    const double turn = -2 * acos(-1.0);
    for (size_t v = 0; v < static_cast<size_t>(ny); v++)
        for (size_t u = 0; u < half; u++) {
            double re = 0, im = 0;
            for (size_t i = 0; i < n; i++) { /* second tile */
                const double x = static_cast<double>(i % nx), y = static_cast<double>(i / nx);
                const double phase = turn * (x * u / nx + y * v / ny);
                re += in[n + i] * cos(phase);
                im += in[n + i] * sin(phase);
            }
            const float *got = &spectrum[n_spectrum + 2 * (v * half + u)];
            worst = max(worst, max(fabs(got[0] - re), fabs(got[1] - im)));
        }
    for (size_t i = 0; i < in.size(); i++)
        worst_back = max(worst_back, fabs(static_cast<double>(back[i]) / n - in[i]));
    check(worst < 1e-3, "FFT against its definition");
    check(worst_back < 1e-4, "FFT there and back");
    gfi_fft_destroy(&fft);
    gfi_device_free(d.queue, real);
    gfi_device_free(d.queue, freq);
}

int main()
{
    check_faults();
    check_right();
    check_tensor();
    check_launches();
    check_memory();
    check_fft(8, 16);
    check_fft(6, 10);
    check_fft(1, 7);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
