#include "backend/cuda/internal.h"

#include <stdio.h>

#include "core/alloc.h"

static gf_status read_facts(gfi_device *device)
{
    gf_device_info info;
    GFI_TRY(gf_cuda_get_device(device->ordinal, &info));
    snprintf(device->name, sizeof device->name, "%.60s", info.name);
    gfi_device_facts *facts = &device->facts;
    facts->sm = info.major * 10 + info.minor;
    facts->multiprocessors = info.multiprocessors;
    facts->shared_bytes_block = info.shared_bytes_per_block;
    facts->memory_bytes = info.memory_bytes;
    facts->l2_bytes = info.l2_bytes;
    int per_sm = 0;
    GFI_TRY(
        gfi_cuda_check(cudaDeviceGetAttribute(&per_sm, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                              device->ordinal),
                       "cudaDeviceGetAttribute"));
    facts->shared_bytes_sm = (size_t)per_sm;
    return GF_OK;
}

static gf_status open_parts(gfi_device *device)
{
    GFI_TRY(read_facts(device));
    GFI_TRY(gfi_cuda_context_open(device));
    GFI_TRY(gfi_cuda_enter(device));
    gf_status status = gfi_cuda_pool_create(device);
    if (status == GF_OK) status = gfi_cuda_modules_load(device);
    gfi_cuda_leave(device);
    return status;
}

gf_status gfi_device_open(int ordinal, gfi_device **out)
{
    *out = NULL;
    GFI_TRY(gfi_cuda_probe(ordinal));
    gfi_device *device = gfi_alloc_zero(1, sizeof *device, "CUDA device");
    if (!device) return GF_ERROR_NO_MEMORY;
    device->ordinal = ordinal;
    pthread_mutex_init(&device->lock, NULL);
    gf_status status = open_parts(device);
    if (status == GF_OK)
        *out = device;
    else
        gfi_device_close(&device);
    return status;
}

void gfi_device_close(gfi_device **device_at)
{
    gfi_device *device = *device_at;
    *device_at = NULL;
    if (!device) return;
    if (device->context && gfi_cuda_enter(device) == GF_OK) {
        gfi_cuda_modules_unload(device);
        if (device->pool) cudaMemPoolDestroy(device->pool);
        gfi_cuda_leave(device);
    }
    gfi_cuda_context_close(device);
    pthread_mutex_destroy(&device->lock);
    gfi_free(device);
}

const gfi_device_facts *gfi_device_get_facts(const gfi_device *device) { return &device->facts; }
