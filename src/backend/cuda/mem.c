#include "backend/cuda/internal.h"

gf_status gfi_cuda_pool_create(gfi_device *device)
{
    int supported = 0;
    GFI_TRY(gfi_cuda_check(
        cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device->ordinal),
        "cudaDeviceGetAttribute"));
    if (!supported)
        return gfi_fail(GF_ERROR_UNSUPPORTED, "CUDA: device %d (%s) has no memory pools",
                        device->ordinal, device->name);
    struct cudaMemPoolProps props = { .allocType = cudaMemAllocationTypePinned,
                                      .location = { .type = cudaMemLocationTypeDevice,
                                                    .id = device->ordinal } };
    GFI_TRY(gfi_cuda_check(cudaMemPoolCreate(&device->pool, &props), "cudaMemPoolCreate"));
    /* keep what was freed for the next plan; gfi_device_pool_trim gives it back */
    cuuint64_t keep = UINT64_MAX;
    return gfi_cuda_check(
        cudaMemPoolSetAttribute(device->pool, cudaMemPoolAttrReleaseThreshold, &keep),
        "cudaMemPoolSetAttribute");
}

static gf_status read_size(const gfi_device *device, enum cudaMemPoolAttr attribute, size_t *out)
{
    cuuint64_t value = 0;
    GFI_TRY(gfi_cuda_check(cudaMemPoolGetAttribute(device->pool, attribute, &value),
                           "cudaMemPoolGetAttribute"));
    *out = (size_t)value;
    return GF_OK;
}

gf_status gfi_device_pool_info(gfi_device *device, size_t *held_bytes, size_t *used_bytes)
{
    GFI_TRY(gfi_cuda_enter(device));
    gf_status status = read_size(device, cudaMemPoolAttrReservedMemCurrent, held_bytes);
    if (status == GF_OK) status = read_size(device, cudaMemPoolAttrUsedMemCurrent, used_bytes);
    gfi_cuda_leave(device);
    return status;
}

gf_status gfi_device_pool_trim(gfi_device *device)
{
    GFI_TRY(gfi_cuda_enter(device));
    cudaError_t error = cudaMemPoolTrimTo(device->pool, 0);
    gfi_cuda_leave(device);
    return gfi_cuda_check(error, "cudaMemPoolTrimTo");
}

static gf_status out_of_memory(size_t bytes)
{
    cudaGetLastError();
    size_t available = 0, total = 0;
    cudaMemGetInfo(&available, &total);
    return gfi_fail(GF_ERROR_DEVICE_MEMORY,
                    "CUDA: out of device memory for %zu bytes; %zu of %zu are free", bytes,
                    available, total);
}

static gf_status alloc_entered(gfi_queue *queue, size_t bytes, void **out)
{
    cudaMemPool_t pool = queue->device->pool;
    cudaError_t error = cudaMallocFromPoolAsync(out, bytes, pool, queue->stream);
    if (error == cudaErrorMemoryAllocation) {
        /* frees that are still queued, and blocks of the wrong size, may be all that is missing */
        cudaGetLastError();
        cudaStreamSynchronize(queue->stream);
        cudaMemPoolTrimTo(pool, 0);
        error = cudaMallocFromPoolAsync(out, bytes, pool, queue->stream);
    }
    if (error == cudaErrorMemoryAllocation) return out_of_memory(bytes);
    return gfi_cuda_check(error, "cudaMallocFromPoolAsync");
}

gf_status gfi_device_alloc(gfi_queue *queue, size_t bytes, void **out)
{
    *out = NULL;
    GFI_TRY(gfi_cuda_enter(queue->device));
    void *memory = NULL;
    gf_status status = alloc_entered(queue, bytes ? bytes : 1, &memory);
    gfi_cuda_leave(queue->device);
    if (status == GF_OK) *out = memory;
    return status;
}

void gfi_device_free(gfi_queue *queue, void *memory)
{
    if (!memory || gfi_cuda_enter(queue->device) != GF_OK) return;
    cudaFreeAsync(memory, queue->stream);
    gfi_cuda_leave(queue->device);
}

gf_status gfi_fill(gfi_queue *queue, void *device_dst, int byte, size_t bytes)
{
    if (bytes == 0) return GF_OK;
    GFI_TRY(gfi_cuda_enter(queue->device));
    cudaError_t error = cudaMemsetAsync(device_dst, byte, bytes, queue->stream);
    gfi_cuda_leave(queue->device);
    return gfi_cuda_check(error, "cudaMemsetAsync");
}
