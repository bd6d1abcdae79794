#include "backend/cuda/internal.h"

#include <string.h>

#include "backend/cuda/images.h"
#include "core/alloc.h"

/* Say what the binary holds when none of it runs here. */
static gf_status load_check(const gfi_device *device, cudaError_t error, const char *call)
{
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorUnsupportedPtxVersion ||
        error == cudaErrorInvalidPtx) {
        cudaGetLastError();
        return gfi_fail(GF_ERROR_UNSUPPORTED,
                        "CUDA: device %d (%s) is of architecture sm_%d; this build holds %s, which "
                        "it cannot run with this driver (%s)",
                        device->ordinal, device->name, device->facts.sm, gfi_cuda_architectures,
                        cudaGetErrorName(error));
    }
    return gfi_cuda_check(error, call);
}

/* Learn which of the embedded architectures the driver took, from any kernel. */
static gf_status read_loaded_sm(gfi_device *device)
{
    cudaKernel_t kernel;
    struct cudaFuncAttributes attributes;
    GFI_TRY(load_check(device, cudaLibraryEnumerateKernels(&kernel, 1, device->libraries[0]),
                       "cudaLibraryEnumerateKernels"));
    GFI_TRY(load_check(device, cudaFuncGetAttributes(&attributes, (const void *)kernel),
                       "cudaFuncGetAttributes"));
    /* code made from PTX on the way reports the chip it was made for, and the PTX it came from */
    device->facts.loaded_sm = attributes.ptxVersion < attributes.binaryVersion
                                  ? attributes.ptxVersion
                                  : attributes.binaryVersion;
    return GF_OK;
}

/* Load image i on first use: a run needs one or two of them. */
static gf_status load_image(gfi_device *device, size_t i)
{
    if (device->libraries[i]) return GF_OK;
    const gfi_cuda_image *image = &gfi_cuda_images[i];
    cudaError_t error =
        cudaLibraryLoadData(&device->libraries[i], image->data, NULL, NULL, 0, NULL, NULL, 0);
    if (error != cudaSuccess) device->libraries[i] = NULL;
    return gfi_prepend(load_check(device, error, "cudaLibraryLoadData"), "kernels/%s.cu",
                       image->name);
}

gf_status gfi_cuda_modules_load(gfi_device *device)
{
    while (gfi_cuda_images[device->n_libraries].name) device->n_libraries++;
    device->libraries =
        gfi_alloc_zero(device->n_libraries, sizeof *device->libraries, "CUDA libraries");
    if (!device->libraries) return GF_ERROR_NO_MEMORY;
    GFI_TRY(load_image(device, 0));
    return read_loaded_sm(device);
}

static void kernel_free(gfi_kernel *kernel)
{
    gfi_free(kernel->name);
    gfi_free(kernel);
}

void gfi_cuda_modules_unload(gfi_device *device)
{
    for (gfi_kernel *next, *kernel = device->kernels; kernel; kernel = next) {
        next = kernel->next;
        kernel_free(kernel);
    }
    device->kernels = NULL;
    while (device->n_libraries > 0)
        if (device->libraries[--device->n_libraries])
            cudaLibraryUnload(device->libraries[device->n_libraries]);
    gfi_free(device->libraries);
    device->libraries = NULL;
}

/* kernels/FAMILY.cu defines gf_FAMILY and gf_FAMILY_…. */
static bool belongs_to(const char *kernel, const char *family)
{
    const size_t n = strlen(family);
    return !strncmp(kernel, "gf_", 3) && !strncmp(kernel + 3, family, n) &&
           (kernel[3 + n] == '\0' || kernel[3 + n] == '_');
}

static gf_status find_handle(gfi_device *device, const char *name, cudaKernel_t *out)
{
    for (size_t i = 0; i < device->n_libraries; i++) {
        if (!belongs_to(name, gfi_cuda_images[i].name)) continue;
        GFI_TRY(load_image(device, i));
        return load_check(device, cudaLibraryGetKernel(out, device->libraries[i], name),
                          "cudaLibraryGetKernel");
    }
    return gfi_fail(GF_ERROR_NOT_FOUND, "CUDA: kernel \"%s\": not in this build", name);
}

/* Read the kernel's argument size, and let it use all the shared memory a block may have. */
static gf_status complete_kernel(const gfi_device *device, gfi_kernel *kernel)
{
    size_t offset;
    struct cudaFuncAttributes attributes;
    const void *function = (const void *)kernel->handle;
    GFI_TRY(
        load_check(device, cudaFuncGetAttributes(&attributes, function), "cudaFuncGetAttributes"));
    GFI_TRY(gfi_cuda_check(cudaFuncGetParamInfo(function, 0, &offset, &kernel->args_bytes),
                           "cudaFuncGetParamInfo"));
    kernel->max_shared_bytes = device->facts.shared_bytes_block - attributes.sharedSizeBytes;
    return gfi_cuda_check(
        cudaKernelSetAttributeForDevice(kernel->handle, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        (int)kernel->max_shared_bytes, device->ordinal),
        "cudaKernelSetAttributeForDevice");
}

static gf_status kernel_create(gfi_device *device, const char *name, gfi_kernel **out)
{
    gfi_kernel *kernel = gfi_alloc_zero(1, sizeof *kernel, "CUDA kernel");
    if (!kernel) return GF_ERROR_NO_MEMORY;
    gf_status status = GF_ERROR_NO_MEMORY;
    kernel->name = gfi_strdup(name);
    if (kernel->name) status = find_handle(device, name, &kernel->handle);
    if (status == GF_OK) status = complete_kernel(device, kernel);
    if (status == GF_OK)
        *out = kernel;
    else
        kernel_free(kernel);
    return gfi_prepend(status, "kernel %s", name);
}

static gf_status find_locked(gfi_device *device, const char *name, const gfi_kernel **out)
{
    for (gfi_kernel *kernel = device->kernels; kernel; kernel = kernel->next) {
        if (strcmp(kernel->name, name) == 0) {
            *out = kernel;
            return GF_OK;
        }
    }
    gfi_kernel *kernel = NULL;
    GFI_TRY(gfi_cuda_enter(device));
    gf_status status = kernel_create(device, name, &kernel);
    gfi_cuda_leave(device);
    if (status != GF_OK) return status;
    kernel->next = device->kernels;
    *out = device->kernels = kernel;
    return GF_OK;
}

gf_status gfi_kernel_find(gfi_device *device, const char *name, const gfi_kernel **out)
{
    *out = NULL;
    pthread_mutex_lock(&device->lock);
    gf_status status = find_locked(device, name, out);
    pthread_mutex_unlock(&device->lock);
    return status;
}
