/* The backend of a build without CUDA: no device can be opened, so only the questions whether one
 * is there have anything to say. */
#include "backend/backend.h"

#include <stdio.h>
#include <string.h>

/* Every function here ignores what it is given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static const char reason[] = "built without CUDA";

static gf_status unsupported(void) { return gfi_fail(GF_ERROR_UNSUPPORTED, "CUDA: %s", reason); }

static bool impossible(const char **why)
{
    if (why) *why = reason;
    return false;
}

void gf_cuda_get_info(gf_cuda_info *out)
{
    memset(out, 0, sizeof *out);
    snprintf(out->reason, sizeof out->reason, "%s", reason);
}

gf_status gf_cuda_get_device(int ordinal, gf_device_info *out)
{
    if (!out) return gfi_fail(GF_ERROR_INVALID, "out: is NULL");
    memset(out, 0, sizeof *out);
    return unsupported();
}

bool gfi_device_possible(int ordinal, const char **why) { return impossible(why); }
bool gfi_driver_present(void) { return false; }
bool gfi_fft_possible(const char **why) { return impossible(why); }

gf_status gfi_device_open(int ordinal, gfi_device **out)
{
    *out = NULL;
    return unsupported();
}

void gfi_device_close(gfi_device **device) { *device = NULL; }
const gfi_device_facts *gfi_device_get_facts(const gfi_device *device) { return NULL; }

gf_status gfi_device_pool_info(gfi_device *device, size_t *held_bytes, size_t *used_bytes)
{
    return unsupported();
}

gf_status gfi_device_pool_trim(gfi_device *device) { return unsupported(); }

gf_status gfi_kernel_find(gfi_device *device, const char *name, const gfi_kernel **out)
{
    *out = NULL;
    return unsupported();
}

gf_status gfi_queue_create(gfi_device *device, void *foreign_stream, gfi_queue **out)
{
    *out = NULL;
    return unsupported();
}

void gfi_queue_destroy(gfi_queue **queue) { *queue = NULL; }
gfi_device *gfi_queue_device(const gfi_queue *queue) { return NULL; }
gf_status gfi_queue_wait(gfi_queue *queue) { return unsupported(); }

gf_status gfi_device_alloc(gfi_queue *queue, size_t bytes, void **out)
{
    *out = NULL;
    return unsupported();
}

void gfi_device_free(gfi_queue *queue, void *memory) {}

gf_status gfi_upload(gfi_queue *queue, void *device_dst, const void *host_src, size_t bytes)
{
    return unsupported();
}

gf_status gfi_download(gfi_queue *queue, void *host_dst, const void *device_src, size_t bytes)
{
    return unsupported();
}

gf_status gfi_fill(gfi_queue *queue, void *device_dst, int byte, size_t bytes)
{
    return unsupported();
}

gf_status gfi_copy_image(gfi_queue *queue, const gf_view *src, const gf_view *dst)
{
    return unsupported();
}

gf_status gfi_kernel_launch(gfi_queue *queue, const gfi_kernel *kernel, const gfi_launch *launch)
{
    return unsupported();
}

gf_status gfi_queue_mark(gfi_queue *queue, int mark) { return unsupported(); }

gf_status gfi_queue_elapsed_ns(gfi_queue *queue, int from, int to, double *ns)
{
    return unsupported();
}

gf_status gfi_fft_create(gfi_queue *queue, int ny, int nx, int batch, gfi_fft **out)
{
    *out = NULL;
    return unsupported();
}

gf_status gfi_fft_forward(gfi_fft *fft, const float *real, float *spectrum)
{
    return unsupported();
}

gf_status gfi_fft_inverse(gfi_fft *fft, float *spectrum, float *real) { return unsupported(); }
void gfi_fft_destroy(gfi_fft **fft) { *fft = NULL; }
size_t gfi_fft_bytes(const gfi_fft *fft) { return 0; }
