#include "backend/cuda/internal.h"

#include "core/alloc.h"

static gf_status open_stream(gfi_queue *queue, void *foreign_stream)
{
    if (foreign_stream) {
        queue->stream = foreign_stream;
        return GF_OK;
    }
    GFI_TRY(gfi_cuda_enter(queue->device));
    cudaError_t error = cudaStreamCreateWithFlags(&queue->stream, cudaStreamNonBlocking);
    gfi_cuda_leave(queue->device);
    queue->owns_stream = error == cudaSuccess;
    return gfi_cuda_check(error, "cudaStreamCreateWithFlags");
}

gf_status gfi_queue_create(gfi_device *device, void *foreign_stream, gfi_queue **out)
{
    *out = NULL;
    gfi_queue *queue = gfi_alloc_zero(1, sizeof *queue, "CUDA queue");
    if (!queue) return GF_ERROR_NO_MEMORY;
    queue->device = device;
    gf_status status = open_stream(queue, foreign_stream);
    if (status == GF_OK)
        *out = queue;
    else
        gfi_free(queue);
    return status;
}

void gfi_queue_destroy(gfi_queue **queue_at)
{
    gfi_queue *queue = *queue_at;
    *queue_at = NULL;
    if (!queue) return;
    if (gfi_cuda_enter(queue->device) == GF_OK) {
        cudaStreamSynchronize(queue->stream);
        gfi_cuda_staging_free(queue);
        for (int i = 0; i < GFI_MARKS; i++)
            if (queue->marks[i]) cudaEventDestroy(queue->marks[i]);
        if (queue->owns_stream) cudaStreamDestroy(queue->stream);
        gfi_cuda_leave(queue->device);
    }
    gfi_free(queue);
}

gfi_device *gfi_queue_device(const gfi_queue *queue) { return queue->device; }

gf_status gfi_queue_wait(gfi_queue *queue)
{
    GFI_TRY(gfi_cuda_enter(queue->device));
    cudaError_t error = cudaStreamSynchronize(queue->stream);
    gfi_cuda_leave(queue->device);
    return gfi_cuda_check(error, "cudaStreamSynchronize");
}

static gf_status check_launch(const gfi_kernel *kernel, const gfi_launch *launch)
{
    if (launch->args_bytes != kernel->args_bytes)
        return gfi_fail(GF_ERROR_INTERNAL, "kernel %s: takes %zu bytes of arguments, not %zu",
                        kernel->name, kernel->args_bytes, launch->args_bytes);
    if (launch->shared_bytes > kernel->max_shared_bytes)
        return gfi_fail(GF_ERROR_INTERNAL, "kernel %s: may use %zu bytes of shared memory, not %zu",
                        kernel->name, kernel->max_shared_bytes, launch->shared_bytes);
    return GF_OK;
}

gf_status gfi_kernel_launch(gfi_queue *queue, const gfi_kernel *kernel, const gfi_launch *launch)
{
    GFI_TRY(check_launch(kernel, launch));
    const unsigned *grid = launch->grid, *block = launch->block;
    cudaLaunchConfig_t config = { .gridDim = { grid[0], grid[1], grid[2] },
                                  .blockDim = { block[0], block[1], block[2] },
                                  .dynamicSmemBytes = launch->shared_bytes,
                                  .stream = queue->stream };
    void *args[] = { (void *)launch->args };
    GFI_TRY(gfi_cuda_enter(queue->device));
    cudaError_t error = cudaLaunchKernelExC(&config, (const void *)kernel->handle, args);
    gfi_cuda_leave(queue->device);
    if (error == cudaSuccess) return GF_OK;
    gf_status status = gfi_cuda_check(error, "cudaLaunchKernelExC");
    return gfi_prepend(status, "kernel %s, grid %ux%ux%u, block %ux%ux%u, %zu shared bytes",
                       kernel->name, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                       launch->shared_bytes);
}

gf_status gfi_queue_mark(gfi_queue *queue, int mark)
{
    GFI_TRY(gfi_cuda_enter(queue->device));
    cudaEvent_t *event = &queue->marks[mark];
    cudaError_t error = *event ? cudaSuccess : cudaEventCreate(event);
    if (error == cudaSuccess) error = cudaEventRecord(*event, queue->stream);
    gfi_cuda_leave(queue->device);
    return gfi_cuda_check(error, "cudaEventRecord");
}

gf_status gfi_queue_elapsed_ns(gfi_queue *queue, int from, int to, double *ns)
{
    if (!queue->marks[from] || !queue->marks[to])
        return gfi_fail(GF_ERROR_INTERNAL, "queue: mark %d or %d was not set", from, to);
    GFI_TRY(gfi_cuda_enter(queue->device));
    float ms = 0;
    cudaError_t error = cudaEventSynchronize(queue->marks[to]);
    if (error == cudaSuccess)
        error = cudaEventElapsedTime(&ms, queue->marks[from], queue->marks[to]);
    gfi_cuda_leave(queue->device);
    *ns = (double)ms * 1e6;
    return gfi_cuda_check(error, "cudaEventElapsedTime");
}
