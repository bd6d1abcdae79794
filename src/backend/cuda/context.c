#include "backend/cuda/internal.h"

/* Fetch one function of the driver, in the version of CUDA 12.0. */
static gf_status driver_function(const char *name, void **out)
{
    enum cudaDriverEntryPointQueryResult found;
    cudaError_t error =
        cudaGetDriverEntryPointByVersion(name, out, 12000, cudaEnableDefault, &found);
    if (error != cudaSuccess) return gfi_cuda_check(error, "cudaGetDriverEntryPointByVersion");
    if (found != cudaDriverEntryPointSuccess || !*out)
        return gfi_fail(GF_ERROR_DEVICE, "CUDA: the driver has no %s", name);
    return GF_OK;
}

static gf_status load_driver(gfi_cuda_driver *driver)
{
    GFI_TRY(driver_function("cuDeviceGet", (void **)&driver->device_get));
    GFI_TRY(driver_function("cuDevicePrimaryCtxRetain", (void **)&driver->retain));
    GFI_TRY(driver_function("cuDevicePrimaryCtxRelease", (void **)&driver->release));
    GFI_TRY(driver_function("cuCtxPushCurrent", (void **)&driver->push));
    return driver_function("cuCtxPopCurrent", (void **)&driver->pop);
}

static gf_status check(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS) return GF_OK;
    gf_status status =
        result == CUDA_ERROR_OUT_OF_MEMORY ? GF_ERROR_DEVICE_MEMORY : GF_ERROR_DEVICE;
    return gfi_fail(status, "CUDA: %s: driver error %d", call, (int)result);
}

gf_status gfi_cuda_context_open(gfi_device *device)
{
    GFI_TRY(load_driver(&device->driver));
    GFI_TRY(check(device->driver.device_get(&device->handle, device->ordinal), "cuDeviceGet"));
    return check(device->driver.retain(&device->context, device->handle),
                 "cuDevicePrimaryCtxRetain");
}

void gfi_cuda_context_close(gfi_device *device)
{
    if (device->context) device->driver.release(device->handle);
    device->context = NULL;
}

gf_status gfi_cuda_enter(const gfi_device *device)
{
    return check(device->driver.push(device->context), "cuCtxPushCurrent");
}

void gfi_cuda_leave(const gfi_device *device)
{
    CUcontext popped;
    device->driver.pop(&popped);
}
