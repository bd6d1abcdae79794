/* What the files of the CUDA backend share. */
#ifndef GFI_CUDA_INTERNAL_H
#define GFI_CUDA_INTERNAL_H

#include <pthread.h>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cudaTypedefs.h>

#include "backend/backend.h"

/* Turn a result of the runtime into a status; call is the function's name. OK records nothing. */
gf_status gfi_cuda_check(cudaError_t error, const char *call);

/* ---- the driver's contexts ----------------------------------------------------------------- */

typedef struct gfi_cuda_driver {
    PFN_cuDeviceGet_v2000 device_get;
    PFN_cuDevicePrimaryCtxRetain_v7000 retain;
    PFN_cuDevicePrimaryCtxRelease_v11000 release;
    PFN_cuCtxPushCurrent_v4000 push;
    PFN_cuCtxPopCurrent_v4000 pop;
} gfi_cuda_driver;

struct gfi_device {
    int ordinal;
    char name[64];
    gfi_device_facts facts;
    gfi_cuda_driver driver;
    CUdevice handle;
    CUcontext context; /* the device's primary context, shared with the runtime */
    cudaMemPool_t pool;
    cudaLibrary_t *libraries; /* one for each embedded image */
    size_t n_libraries;
    pthread_mutex_t lock; /* guards kernels */
    gfi_kernel *kernels;  /* those asked for so far */
};

/* Retain the primary context of device->ordinal, and let it go. */
gf_status gfi_cuda_context_open(gfi_device *device);
void gfi_cuda_context_close(gfi_device *device);

/* Make the device current on this thread for a few calls. The thread's own current device is
 * untouched: contexts nest, and setting a device back would start CUDA on it. */
gf_status gfi_cuda_enter(const gfi_device *device);
void gfi_cuda_leave(const gfi_device *device);

/* ---- device facts -------------------------------------------------------------------------- */

/* Check that a device is there and that the binary has code for it; starts no context. */
gf_status gfi_cuda_probe(int ordinal);

/* Whether an architecture list such as "sm_90 compute_75" serves compute capability sm. */
bool gfi_cuda_serves(const char *architectures, int sm);

/* ---- parts of a device --------------------------------------------------------------------- */

struct gfi_kernel {
    char *name;
    cudaKernel_t handle;
    size_t args_bytes;
    size_t max_shared_bytes; /* dynamic; already opted in */
    gfi_kernel *next;
};

/* All three run inside gfi_cuda_enter. */
gf_status gfi_cuda_modules_load(gfi_device *device);
void gfi_cuda_modules_unload(gfi_device *device);
gf_status gfi_cuda_pool_create(gfi_device *device);

/* ---- parts of a queue ---------------------------------------------------------------------- */

enum { GFI_STAGES = 2 };

struct gfi_queue {
    gfi_device *device;
    cudaStream_t stream;
    bool owns_stream;
    unsigned char *stage[GFI_STAGES];   /* pinned buffers, made on first use */
    cudaEvent_t stage_done[GFI_STAGES]; /* the last copy from or to each */
    cudaEvent_t marks[GFI_MARKS];       /* made on first use */
};

/* Free the staging buffers, when the queue's work is done; inside gfi_cuda_enter. */
void gfi_cuda_staging_free(gfi_queue *queue);

#endif
