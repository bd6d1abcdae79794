/* What a filter may ask of a GPU. No CUDA type appears here: the same filter files build against
 * the CUDA backend, against stubs where there is no CUDA, and against the emulator of the tests. */
#ifndef GFI_BACKEND_H
#define GFI_BACKEND_H

#include <stdbool.h>

#include <gpufilter/cuda.h>
#include <gpufilter/image.h>

#include "core/status.h"

typedef struct gfi_device gfi_device; /* an opened GPU with its loaded kernels; shared, any thread */
typedef struct gfi_queue gfi_queue;   /* an ordered stream of work on it; one thread at a time */
typedef struct gfi_kernel gfi_kernel; /* a kernel of the loaded image; lives as long as the device */
typedef struct gfi_fft gfi_fft;       /* a batched 2-D real FFT on a queue */

/* Facts that selection and launch configuration need. */
typedef struct gfi_device_facts {
    int sm;                     /* compute capability, 90 for 9.0 */
    int loaded_sm;              /* architecture the loaded code was compiled for */
    int multiprocessors;
    size_t shared_bytes_block;  /* most dynamic shared memory a block may ask for */
    size_t shared_bytes_sm;
    size_t memory_bytes, l2_bytes;
} gfi_device_facts;

/* Open a device (starts CUDA and loads the kernels), and close it when no queue is left.
 * Returns OK, NOT_FOUND, DEVICE, UNSUPPORTED (built without CUDA, or no code for this chip). */
gf_status gfi_device_open(int ordinal, gfi_device **out);
void gfi_device_close(gfi_device **device);
const gfi_device_facts *gfi_device_get_facts(const gfi_device *device);

/* Tell whether gfi_device_open could work, without starting CUDA's context; else give the reason. */
bool gfi_device_possible(int ordinal, const char **why);

/* Tell whether a driver is installed. Asks no device, which would take 0.1 s. */
bool gfi_driver_present(void);

/* Bytes held by the device's pool and in use; give back what is unused. */
gf_status gfi_device_pool_info(gfi_device *device, size_t *held_bytes, size_t *used_bytes);
gf_status gfi_device_pool_trim(gfi_device *device);

/* Find a kernel by its extern "C" name. NOT_FOUND names it. */
gf_status gfi_kernel_find(gfi_device *device, const char *name, const gfi_kernel **out);

/* Create a queue; foreign_stream is a cudaStream_t of the caller's to use, or NULL for an own one.
 * Destroying waits for its work. */
gf_status gfi_queue_create(gfi_device *device, void *foreign_stream, gfi_queue **out);
void gfi_queue_destroy(gfi_queue **queue);
gfi_device *gfi_queue_device(const gfi_queue *queue);
gf_status gfi_queue_wait(gfi_queue *queue);

/* Device memory from the pool, in the queue's order. Aligned to 256 bytes. */
gf_status gfi_device_alloc(gfi_queue *queue, size_t bytes, void **out);
void gfi_device_free(gfi_queue *queue, void *memory);

/* Copy bytes to the device, in order; the source may be reused on return. */
gf_status gfi_upload(gfi_queue *queue, void *device_dst, const void *host_src, size_t bytes);
/* Copy bytes to the host; complete on return. */
gf_status gfi_download(gfi_queue *queue, void *host_dst, const void *device_src, size_t bytes);
/* Set bytes on the device, in order. */
gf_status gfi_fill(gfi_queue *queue, void *device_dst, int byte, size_t bytes);
/* Copy an image between host and device or on the device, in order. Host memory goes through
 * pinned staging buffers of the queue. From the host: the source may be reused on return. To the
 * host: complete on return. */
gf_status gfi_copy_image(gfi_queue *queue, const gf_view *src, const gf_view *dst);

/* A launch. args is one struct of gf_kargs.h, copied on the call. */
typedef struct gfi_launch {
    unsigned grid[3], block[3];
    size_t shared_bytes;
    const void *args;
    size_t args_bytes;
} gfi_launch;
gf_status gfi_kernel_launch(gfi_queue *queue, const gfi_kernel *kernel, const gfi_launch *launch);

/* Mark points in the queue and read the time between two marks (waits for the later one). */
enum { GFI_MARKS = 4 };
gf_status gfi_queue_mark(gfi_queue *queue, int mark);
gf_status gfi_queue_elapsed_ns(gfi_queue *queue, int from, int to, double *ns);

/* Real 2-D FFTs of `batch` tiles of ny x nx, out of place, unnormalised.
 * Real tiles: ny*nx floats each; spectra: ny*(nx/2+1) pairs of floats each; both contiguous.
 * gfi_fft_inverse may overwrite its input. Returns UNSUPPORTED when no FFT library can be loaded. */
gf_status gfi_fft_create(gfi_queue *queue, int ny, int nx, int batch, gfi_fft **out);
gf_status gfi_fft_forward(gfi_fft *fft, const float *real, float *spectrum);
gf_status gfi_fft_inverse(gfi_fft *fft, float *spectrum, float *real);
void gfi_fft_destroy(gfi_fft **fft);
size_t gfi_fft_bytes(const gfi_fft *fft); /* work memory it holds */
bool gfi_fft_possible(const char **why);  /* whether the FFT library is there */

#endif
