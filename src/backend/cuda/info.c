#include "backend/cuda/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/images.h"

gf_status gfi_cuda_check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return GF_OK;
    cudaGetLastError(); /* an error that does not stick must not show up in someone else's call */
    gf_status status =
        error == cudaErrorMemoryAllocation ? GF_ERROR_DEVICE_MEMORY : GF_ERROR_DEVICE;
    return gfi_fail(status, "CUDA: %s: %s (%s)", call, cudaGetErrorName(error),
                    cudaGetErrorString(error));
}

bool gfi_cuda_serves(const char *architectures, int sm)
{
    /* machine code runs on its own generation, from its minor version up; PTX on all later chips */
    for (const char *at = architectures; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        int built;
        if (sscanf(at, "sm_%d", &built) == 1 && built / 10 == sm / 10 && built <= sm) return true;
        if (sscanf(at, "compute_%d", &built) == 1 && built <= sm) return true;
    }
    return false;
}

static gf_status no_driver(void)
{
    int driver = 0, runtime = 0;
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    int major = runtime / 1000; /* any driver of the runtime's generation serves it */
    if (driver == 0)
        return gfi_fail(GF_ERROR_DEVICE,
                        "CUDA: no NVIDIA driver found; one for CUDA %d.0 or newer is needed",
                        major);
    return gfi_fail(
        GF_ERROR_DEVICE,
        "CUDA: the NVIDIA driver is for CUDA %d.%d; one for CUDA %d.0 or newer is needed",
        driver / 1000, driver % 1000 / 10, major);
}

static gf_status count_devices(int *count)
{
    *count = 0;
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaErrorInsufficientDriver) {
        cudaGetLastError();
        return no_driver();
    }
    if (error == cudaErrorNoDevice || (error == cudaSuccess && *count == 0)) {
        cudaGetLastError();
        const char *visible = getenv("CUDA_VISIBLE_DEVICES");
        if (visible)
            return gfi_fail(GF_ERROR_DEVICE,
                            "CUDA: no device found; CUDA_VISIBLE_DEVICES is \"%s\"", visible);
        return gfi_fail(GF_ERROR_DEVICE, "CUDA: no device found");
    }
    return gfi_cuda_check(error, "cudaGetDeviceCount");
}

gf_status gfi_cuda_probe(int ordinal)
{
    int count, major = 0, minor = 0;
    GFI_TRY(count_devices(&count));
    if (ordinal < 0 || ordinal >= count)
        return gfi_fail(GF_ERROR_NOT_FOUND, "CUDA: device %d: not in 0 … %d", ordinal, count - 1);
    GFI_TRY(
        gfi_cuda_check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal),
                       "cudaDeviceGetAttribute"));
    GFI_TRY(
        gfi_cuda_check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal),
                       "cudaDeviceGetAttribute"));
    if (!gfi_cuda_serves(gfi_cuda_architectures, major * 10 + minor))
        return gfi_fail(GF_ERROR_UNSUPPORTED,
                        "CUDA: device %d is of architecture sm_%d%d; this build holds %s", ordinal,
                        major, minor, gfi_cuda_architectures);
    return GF_OK;
}

bool gfi_device_possible(int ordinal, const char **why)
{
    /* a copy: the caller may want to put the reason into an error message of its own */
    static _Thread_local char reason[256];
    if (gfi_cuda_probe(ordinal) == GF_OK) return true;
    snprintf(reason, sizeof reason, "%s", gf_error_message());
    if (why) *why = reason;
    return false;
}

bool gfi_driver_present(void)
{
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess && version > 0;
}

void gf_cuda_get_info(gf_cuda_info *out)
{
    memset(out, 0, sizeof *out);
    out->built = 1;
    cudaRuntimeGetVersion(&out->runtime_version);
    cudaDriverGetVersion(&out->driver_version);
    snprintf(out->architectures, sizeof out->architectures, "%s", gfi_cuda_architectures);
    bool usable = count_devices(&out->device_count) == GF_OK;
    for (int i = 0; usable && i < out->device_count; i++)
        if (gfi_cuda_probe(i) == GF_OK) return;
    snprintf(out->reason, sizeof out->reason, "%s", gf_error_message());
}

gf_status gf_cuda_get_device(int ordinal, gf_device_info *out)
{
    if (!out) return gfi_fail(GF_ERROR_INVALID, "out: is NULL");
    memset(out, 0, sizeof *out);
    int count;
    GFI_TRY(count_devices(&count));
    if (ordinal < 0 || ordinal >= count)
        return gfi_fail(GF_ERROR_NOT_FOUND, "CUDA: device %d: not in 0 … %d", ordinal, count - 1);
    struct cudaDeviceProp prop;
    GFI_TRY(gfi_cuda_check(cudaGetDeviceProperties(&prop, ordinal), "cudaGetDeviceProperties"));
    snprintf(out->name, sizeof out->name, "%s", prop.name);
    out->major = prop.major;
    out->minor = prop.minor;
    out->multiprocessors = prop.multiProcessorCount;
    out->memory_bytes = prop.totalGlobalMem;
    out->l2_bytes = (size_t)prop.l2CacheSize;
    out->shared_bytes_per_block = prop.sharedMemPerBlockOptin;
    return GF_OK;
}
