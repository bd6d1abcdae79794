/* CUDA devices and their memory, without any CUDA header. */
#ifndef GPUFILTER_CUDA_H
#define GPUFILTER_CUDA_H

#include <gpufilter/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this build and this machine have. Versions as CUDA writes them: 13000 is 13.0; 0: none. */
typedef struct gf_cuda_info {
    int built;                  /* 1 when the library was built with CUDA */
    int runtime_version;        /* of the linked runtime */
    int driver_version;         /* newest CUDA the installed driver supports */
    int device_count;
    char architectures[128];    /* what the binary holds: "sm_90 compute_75" */
    char reason[256];           /* why no device can be used; "" when one can */
} gf_cuda_info;

typedef struct gf_device_info {
    char name[256];
    int major, minor;           /* compute capability */
    int multiprocessors;
    size_t memory_bytes, l2_bytes, shared_bytes_per_block;
} gf_device_info;

/* Look for CUDA and its devices. Never fails: the reason is in the struct. */
GF_API void gf_cuda_get_info(gf_cuda_info *out);

/* Describe one device. Returns OK, INVALID, NOT_FOUND, DEVICE, UNSUPPORTED. */
GF_API gf_status gf_cuda_get_device(int ordinal, gf_device_info *out);

/* Report the bytes the context's device pool holds and how many of them are in use (0 and 0 when
 * no device is open), and give unused ones back. Returns OK, INVALID, DEVICE. */
GF_API gf_status gf_cuda_memory_info(gf_context *context, size_t *held_bytes, size_t *used_bytes);
GF_API gf_status gf_cuda_memory_trim(gf_context *context);

#ifdef __cplusplus
}
#endif
#endif
