/* backend.h on an emulated device: takes the place of src/backend/cuda in the tests.
 *
 * Everything is done at once, so a queue is always idle. Device memory is malloc'ed at its exact
 * size and poisoned. The environment describes the device:
 *   GF_EMU_SHARED_BYTES  dynamic shared memory a block may have (default 232448, an H200's)
 *   GF_EMU_MEMORY_BYTES  device memory (default 4 GiB)
 *   GF_EMU_ORDER         "forward" (default) or "reverse": order of threads and blocks */
#include <stdio.h>
#include <stdlib.h>

#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#include "emu.hpp"
#include "fft.hpp"

extern "C" {
#include "backend/backend.h"
#include "core/clock.h"
#include "core/image.h"
}

struct gfi_device {
    gfi_device_facts facts;
    bool reverse;
};

struct gfi_queue {
    gfi_device *device;
    double marks[GFI_MARKS]; /* 0: not set */
};

struct gfi_fft {
    emu::real_fft_2d transform;
    size_t batch;
};

namespace
{
enum { SM = 90, MULTIPROCESSORS = 4, MOST_ARGS_BYTES = 32764, ALIGNMENT = 256 };
const size_t DEFAULT_SHARED_BYTES = 232448, DEFAULT_MEMORY_BYTES = size_t(4) << 30;

/* Device memory in use, by address; shared by all devices and queues, as is the machine of emu.cpp.
 */
std::mutex lock;
std::map<uintptr_t, size_t> blocks;
size_t used_bytes;

gf_status size_from_environment(const char *name, size_t otherwise, size_t *out)
{
    const char *text = getenv(name);
    *out = otherwise;
    if (!text || !*text) return GF_OK;
    char *end;
    const unsigned long long v = strtoull(text, &end, 10);
    if (*end || v == 0)
        return gfi_fail(GF_ERROR_INVALID, "%s: '%s' is not a number of bytes > 0", name, text);
    *out = static_cast<size_t>(v);
    return GF_OK;
}

gf_status check_ordinal(int ordinal)
{
    if (ordinal == 0) return GF_OK;
    return gfi_fail(GF_ERROR_NOT_FOUND, "device %d: there is 1 device, number 0", ordinal);
}

gf_status read_environment(gfi_device *device)
{
    gfi_device_facts f = {};
    f.sm = f.loaded_sm = SM;
    f.multiprocessors = MULTIPROCESSORS;
    GFI_TRY(
        size_from_environment("GF_EMU_SHARED_BYTES", DEFAULT_SHARED_BYTES, &f.shared_bytes_block));
    GFI_TRY(size_from_environment("GF_EMU_MEMORY_BYTES", DEFAULT_MEMORY_BYTES, &f.memory_bytes));
    f.shared_bytes_sm = f.shared_bytes_block + 1024;
    f.l2_bytes = size_t(32) << 20;
    const char *order = getenv("GF_EMU_ORDER");
    device->reverse = order && !strcmp(order, "reverse");
    if (order && !device->reverse && strcmp(order, "forward"))
        return gfi_fail(GF_ERROR_INVALID, "GF_EMU_ORDER: '%s' is not forward or reverse", order);
    device->facts = f;
    return GF_OK;
}

/* Whether [p, p + bytes) lies in one allocation. A real device would fault or read nonsense. */
gf_status check_device_range(const void *p, size_t bytes, const char *what)
{
    const uintptr_t at = reinterpret_cast<uintptr_t>(p);
    std::lock_guard<std::mutex> guard(lock);
    auto it = blocks.upper_bound(at);
    if (it != blocks.begin()) {
        --it;
        if (at - it->first <= it->second && bytes <= it->second - (at - it->first)) return GF_OK;
    }
    return gfi_fail(GF_ERROR_DEVICE, "%s: %zu bytes at %p are not device memory", what, bytes, p);
}

size_t view_bytes(const gf_view *view)
{
    return static_cast<size_t>(view->height - 1) * view->pitch_bytes +
           static_cast<size_t>(view->width) * gf_pixel_bytes(view->pixel);
}

gf_status check_view(const gf_view *view, const char *name)
{
    GFI_TRY(gfi_view_check(view, name));
    if (view->memory == GF_MEMORY_HOST) return GF_OK;
    return check_device_range(view->data, view_bytes(view), name);
}

gf_status check_launch(const gfi_device_facts &facts, const gfi_kernel &k, const gfi_launch &l)
{
    const unsigned *g = l.grid, *b = l.block;
    if (l.args_bytes != k.args_bytes || l.args_bytes > MOST_ARGS_BYTES)
        return gfi_fail(GF_ERROR_DEVICE,
                        "%s: %zu bytes of arguments, but it takes %zu (at most %d)", k.name,
                        l.args_bytes, k.args_bytes, MOST_ARGS_BYTES);
    if (!g[0] || !g[1] || !g[2] || g[0] > 0x7fffffffu || g[1] > 65535 || g[2] > 65535)
        return gfi_fail(GF_ERROR_DEVICE,
                        "%s: grid %ux%ux%u is not within 1 to 2147483647x65535x65535", k.name, g[0],
                        g[1], g[2]);
    if (!b[0] || !b[1] || !b[2] || b[0] > 1024 || b[1] > 1024 || b[2] > 64 ||
        b[0] * b[1] * b[2] > k.max_threads)
        return gfi_fail(GF_ERROR_DEVICE, "%s: block %ux%ux%u is not within 1 to %u threads", k.name,
                        b[0], b[1], b[2], k.max_threads);
    if (l.shared_bytes > facts.shared_bytes_block)
        return gfi_fail(GF_ERROR_DEVICE, "%s: %zu bytes of shared memory, but a block has %zu",
                        k.name, l.shared_bytes, facts.shared_bytes_block);
    return GF_OK;
}
} // namespace

extern "C" {

void gf_cuda_get_info(gf_cuda_info *out)
{
    *out = gf_cuda_info{};
    out->built = 1;
    out->runtime_version = out->driver_version = 13000;
    out->device_count = 1;
    snprintf(out->architectures, sizeof out->architectures, "emulator");
}

gf_status gf_cuda_get_device(int ordinal, gf_device_info *out)
{
    if (!out) return gfi_fail(GF_ERROR_INVALID, "device info: NULL");
    GFI_TRY(check_ordinal(ordinal));
    gfi_device device;
    GFI_TRY(read_environment(&device));
    *out = gf_device_info{};
    snprintf(out->name, sizeof out->name, "emulated device");
    out->major = SM / 10;
    out->minor = SM % 10;
    out->multiprocessors = device.facts.multiprocessors;
    out->memory_bytes = device.facts.memory_bytes;
    out->l2_bytes = device.facts.l2_bytes;
    out->shared_bytes_per_block = device.facts.shared_bytes_block;
    return GF_OK;
}

gf_status gfi_device_open(int ordinal, gfi_device **out)
{
    *out = nullptr;
    GFI_TRY(check_ordinal(ordinal));
    auto device = std::make_unique<gfi_device>();
    GFI_TRY(read_environment(device.get()));
    *out = device.release();
    return GF_OK;
}

void gfi_device_close(gfi_device **device)
{
    if (!device) return;
    delete *device;
    *device = nullptr;
}

const gfi_device_facts *gfi_device_get_facts(const gfi_device *device) { return &device->facts; }

bool gfi_driver_present() { return true; }

bool gfi_device_possible(int ordinal, const char **why)
{
    if (ordinal == 0) return true;
    if (why) *why = "there is one emulated device, number 0";
    return false;
}

gf_status gfi_device_pool_info(gfi_device *, size_t *held, size_t *used)
{
    std::lock_guard<std::mutex> guard(lock);
    *held = *used = used_bytes;
    return GF_OK;
}

gf_status gfi_device_pool_trim(gfi_device *) { return GF_OK; }

gf_status gfi_kernel_find(gfi_device *, const char *name, const gfi_kernel **out)
{
    *out = nullptr;
    for (const gfi_kernel *k = emu::kernels; k && !*out; k = k->next)
        if (!strcmp(k->name, name)) *out = k;
    return *out ? GF_OK : gfi_fail(GF_ERROR_NOT_FOUND, "kernel %s: is not in this build", name);
}

gf_status gfi_queue_create(gfi_device *device, void *, gfi_queue **out)
{
    *out = new gfi_queue{ device, {} };
    return GF_OK;
}

void gfi_queue_destroy(gfi_queue **queue)
{
    if (!queue) return;
    delete *queue;
    *queue = nullptr;
}

gfi_device *gfi_queue_device(const gfi_queue *queue) { return queue->device; }

gf_status gfi_queue_wait(gfi_queue *) { return GF_OK; }

gf_status gfi_device_alloc(gfi_queue *queue, size_t bytes, void **out)
{
    *out = nullptr;
    std::lock_guard<std::mutex> guard(lock);
    const size_t total = queue->device->facts.memory_bytes;
    void *memory = nullptr;
    if (used_bytes > total || bytes > total - used_bytes ||
        posix_memalign(&memory, ALIGNMENT, bytes ? bytes : 1))
        return gfi_fail(GF_ERROR_DEVICE_MEMORY,
                        "device memory: %zu bytes asked for, %zu of %zu are in use", bytes,
                        used_bytes, total);
    memset(memory, 0xff, bytes); /* NaN to whoever reads before writing */
    blocks[reinterpret_cast<uintptr_t>(memory)] = bytes;
    used_bytes += bytes;
    *out = memory;
    return GF_OK;
}

void gfi_device_free(gfi_queue *, void *memory)
{
    if (!memory) return;
    std::lock_guard<std::mutex> guard(lock);
    auto it = blocks.find(reinterpret_cast<uintptr_t>(memory));
    if (it == blocks.end()) {
        fprintf(stderr, "emulator: free of %p, which is not device memory\n", memory);
        abort();
    }
    used_bytes -= it->second;
    blocks.erase(it);
    free(memory);
}

gf_status gfi_upload(gfi_queue *, void *dst, const void *src, size_t bytes)
{
    GFI_TRY(check_device_range(dst, bytes, "upload"));
    memcpy(dst, src, bytes);
    return GF_OK;
}

gf_status gfi_download(gfi_queue *, void *dst, const void *src, size_t bytes)
{
    GFI_TRY(check_device_range(src, bytes, "download"));
    memcpy(dst, src, bytes);
    return GF_OK;
}

gf_status gfi_fill(gfi_queue *, void *dst, int byte, size_t bytes)
{
    GFI_TRY(check_device_range(dst, bytes, "fill"));
    memset(dst, byte, bytes);
    return GF_OK;
}

gf_status gfi_copy_image(gfi_queue *, const gf_view *src, const gf_view *dst)
{
    GFI_TRY(check_view(src, "src"));
    GFI_TRY(check_view(dst, "dst"));
    if (src->width != dst->width || src->height != dst->height || src->pixel != dst->pixel)
        return gfi_fail(GF_ERROR_INVALID, "copy: src is %dx%d %s, dst is %dx%d %s", src->width,
                        src->height, gf_pixel_name(src->pixel), dst->width, dst->height,
                        gf_pixel_name(dst->pixel));
    const size_t row_bytes = static_cast<size_t>(src->width) * gf_pixel_bytes(src->pixel);
    for (int32_t y = 0; y < src->height; y++) memcpy(gfi_row(dst, y), gfi_row(src, y), row_bytes);
    return GF_OK;
}

unsigned long gf_emu_launches; /* for tests that count them; one thread */

gf_status gfi_kernel_launch(gfi_queue *queue, const gfi_kernel *kernel, const gfi_launch *launch)
{
    gf_emu_launches++;
    const gfi_device *device = queue->device;
    GFI_TRY(check_launch(device->facts, *kernel, *launch));
    const unsigned *g = launch->grid, *b = launch->block;
    const emu::grid grid = {
        { g[0], g[1], g[2] }, { b[0], b[1], b[2] }, launch->shared_bytes, device->reverse
    };
    static std::mutex machine; /* the emulator plays one grid at a time */
    std::lock_guard<std::mutex> guard(machine);
    emu::run(*kernel, grid, launch->args);
    return GF_OK;
}

gf_status gfi_queue_mark(gfi_queue *queue, int mark)
{
    queue->marks[mark] = gfi_clock_ns();
    return GF_OK;
}

gf_status gfi_queue_elapsed_ns(gfi_queue *queue, int from, int to, double *ns)
{
    if (queue->marks[from] == 0 || queue->marks[to] == 0)
        return gfi_fail(GF_ERROR_INVALID, "queue: mark %d or %d was never set", from, to);
    *ns = queue->marks[to] - queue->marks[from];
    return GF_OK;
}

gf_status gfi_fft_create(gfi_queue *, int ny, int nx, int batch, gfi_fft **out)
{
    *out = nullptr;
    if (ny < 1 || nx < 1 || batch < 1)
        return gfi_fail(GF_ERROR_INVALID, "FFT: %d tiles of %dx%d", batch, nx, ny);
    *out = new gfi_fft{ { static_cast<size_t>(ny), static_cast<size_t>(nx) },
                        static_cast<size_t>(batch) };
    return GF_OK;
}

static gf_status check_fft(const gfi_fft *fft, const float *real, const float *spectrum)
{
    const emu::real_fft_2d &t = fft->transform;
    GFI_TRY(
        check_device_range(real, fft->batch * t.real_count() * sizeof(float), "FFT: real tiles"));
    return check_device_range(spectrum, fft->batch * t.spectrum_count() * 2 * sizeof(float),
                              "FFT: spectra");
}

gf_status gfi_fft_forward(gfi_fft *fft, const float *real, float *spectrum)
{
    GFI_TRY(check_fft(fft, real, spectrum));
    const emu::real_fft_2d &t = fft->transform;
    auto *s = reinterpret_cast<std::complex<float> *>(spectrum);
    for (size_t i = 0; i < fft->batch; i++)
        t.forward(real + i * t.real_count(), s + i * t.spectrum_count());
    return GF_OK;
}

gf_status gfi_fft_inverse(gfi_fft *fft, float *spectrum, float *real)
{
    GFI_TRY(check_fft(fft, real, spectrum));
    const emu::real_fft_2d &t = fft->transform;
    auto *s = reinterpret_cast<std::complex<float> *>(spectrum);
    for (size_t i = 0; i < fft->batch; i++)
        t.inverse(s + i * t.spectrum_count(), real + i * t.real_count());
    /* a real FFT may leave anything there */
    memset(spectrum, 0xff, fft->batch * t.spectrum_count() * sizeof *s);
    return GF_OK;
}

void gfi_fft_destroy(gfi_fft **fft)
{
    if (!fft) return;
    delete *fft;
    *fft = nullptr;
}

size_t gfi_fft_bytes(const gfi_fft *) { return 0; }

bool gfi_fft_possible(const char **) { return true; }

} /* extern "C" */
