/* Copies between host and device. Host memory of the caller is pageable: it goes through two
 * pinned buffers in turn, so that one is filled or emptied while the other is on its way. */
#include "backend/cuda/internal.h"

#include <string.h>

enum { STAGE_BYTES = 4 << 20, DIRECT_BYTES = 64 << 10 };

/* Two pitched blocks of bytes. */
typedef struct block_copy {
    unsigned char *dst;
    const unsigned char *src;
    size_t dst_pitch, src_pitch, row_bytes, rows;
} block_copy;

/* A part of a block that fits a stage: whole rows, or a piece of one row. */
typedef struct piece {
    size_t row, n_rows, byte, n_bytes;
} piece;

static size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

/* Step to the next piece; start from { 0 }. */
static bool next_piece(const block_copy *copy, piece *at)
{
    at->byte += at->n_bytes;
    if (at->byte >= copy->row_bytes) {
        at->row += at->n_rows;
        at->byte = 0;
    }
    if (at->row >= copy->rows) return false;
    at->n_bytes = min_size(copy->row_bytes - at->byte, STAGE_BYTES);
    at->n_rows = min_size(copy->rows - at->row,
                          copy->row_bytes > STAGE_BYTES ? 1 : STAGE_BYTES / copy->row_bytes);
    return true;
}

/* Rows that follow each other without a gap on both sides are one row. */
static void join_rows(block_copy *copy)
{
    if (copy->rows == 1 ||
        (copy->dst_pitch == copy->row_bytes && copy->src_pitch == copy->row_bytes)) {
        copy->row_bytes *= copy->rows;
        copy->rows = 1;
    }
}

static void copy_rows(unsigned char *dst, size_t dst_pitch, const unsigned char *src,
                      size_t src_pitch, const piece *at)
{
    for (size_t i = 0; i < at->n_rows; i++)
        memcpy(dst + i * dst_pitch, src + i * src_pitch, at->n_bytes);
}

static cudaError_t copy_async(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                              const piece *at, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    if (at->n_rows == 1) return cudaMemcpyAsync(dst, src, at->n_bytes, kind, stream);
    return cudaMemcpy2DAsync(dst, dst_pitch, src, src_pitch, at->n_bytes, at->n_rows, kind, stream);
}

static cudaError_t make_stages(gfi_queue *queue)
{
    for (int i = 0; i < GFI_STAGES; i++) {
        cudaError_t error = cudaSuccess;
        if (!queue->stage_done[i])
            error = cudaEventCreateWithFlags(&queue->stage_done[i], cudaEventDisableTiming);
        if (error == cudaSuccess && !queue->stage[i])
            error = cudaHostAlloc((void **)&queue->stage[i], STAGE_BYTES, cudaHostAllocDefault);
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

void gfi_cuda_staging_free(gfi_queue *queue)
{
    for (int i = 0; i < GFI_STAGES; i++) {
        if (queue->stage[i]) cudaFreeHost(queue->stage[i]);
        if (queue->stage_done[i]) cudaEventDestroy(queue->stage_done[i]);
    }
}

static cudaError_t upload_piece(gfi_queue *queue, const block_copy *copy, const piece *at, int s)
{
    cudaError_t error = cudaEventSynchronize(queue->stage_done[s]);
    if (error != cudaSuccess) return error;
    copy_rows(queue->stage[s], at->n_bytes, copy->src + at->row * copy->src_pitch + at->byte,
              copy->src_pitch, at);
    error = copy_async(copy->dst + at->row * copy->dst_pitch + at->byte, copy->dst_pitch,
                       queue->stage[s], at->n_bytes, at, cudaMemcpyHostToDevice, queue->stream);
    if (error != cudaSuccess) return error;
    return cudaEventRecord(queue->stage_done[s], queue->stream);
}

static cudaError_t upload(gfi_queue *queue, const block_copy *copy)
{
    cudaError_t error = make_stages(queue);
    piece at = { 0 };
    for (int s = 0; error == cudaSuccess && next_piece(copy, &at); s = (s + 1) % GFI_STAGES)
        error = upload_piece(queue, copy, &at, s);
    return error;
}

/* Start a piece's way to stage s. */
static cudaError_t fetch_piece(gfi_queue *queue, const block_copy *copy, const piece *at, int s)
{
    cudaError_t error =
        copy_async(queue->stage[s], at->n_bytes, copy->src + at->row * copy->src_pitch + at->byte,
                   copy->src_pitch, at, cudaMemcpyDeviceToHost, queue->stream);
    if (error != cudaSuccess) return error;
    return cudaEventRecord(queue->stage_done[s], queue->stream);
}

/* Wait for it and hand it on. */
static cudaError_t empty_stage(gfi_queue *queue, const block_copy *copy, const piece *at, int s)
{
    cudaError_t error = cudaEventSynchronize(queue->stage_done[s]);
    if (error == cudaSuccess)
        copy_rows(copy->dst + at->row * copy->dst_pitch + at->byte, copy->dst_pitch,
                  queue->stage[s], at->n_bytes, at);
    return error;
}

static cudaError_t download(gfi_queue *queue, const block_copy *copy)
{
    cudaError_t error = make_stages(queue);
    piece at = { 0 }, before = at;
    bool pending = false;
    int s = 0;
    while (error == cudaSuccess && next_piece(copy, &at)) {
        error = fetch_piece(queue, copy, &at, s);
        if (error == cudaSuccess && pending) error = empty_stage(queue, copy, &before, 1 - s);
        before = at;
        pending = true;
        s = 1 - s;
    }
    if (error == cudaSuccess && pending) error = empty_stage(queue, copy, &before, 1 - s);
    return error;
}

static cudaError_t copy_on_device(gfi_queue *queue, const block_copy *copy)
{
    piece all = { 0, copy->rows, 0, copy->row_bytes };
    return copy_async(copy->dst, copy->dst_pitch, copy->src, copy->src_pitch, &all,
                      cudaMemcpyDeviceToDevice, queue->stream);
}

static gf_status run_copy(gfi_queue *queue, block_copy copy,
                          cudaError_t (*how)(gfi_queue *, const block_copy *), const char *what)
{
    if (copy.row_bytes == 0 || copy.rows == 0) return GF_OK;
    join_rows(&copy);
    GFI_TRY(gfi_cuda_enter(queue->device));
    cudaError_t error = how(queue, &copy);
    gfi_cuda_leave(queue->device);
    return gfi_cuda_check(error, what);
}

static cudaError_t upload_direct(gfi_queue *queue, const block_copy *copy)
{
    /* the driver copies pageable memory aside before it returns; cheap when it is little */
    return cudaMemcpyAsync(copy->dst, copy->src, copy->row_bytes, cudaMemcpyHostToDevice,
                           queue->stream);
}

gf_status gfi_upload(gfi_queue *queue, void *device_dst, const void *host_src, size_t bytes)
{
    block_copy copy = { device_dst, host_src, bytes, bytes, bytes, 1 };
    return run_copy(queue, copy, bytes <= DIRECT_BYTES ? upload_direct : upload, "upload");
}

gf_status gfi_download(gfi_queue *queue, void *host_dst, const void *device_src, size_t bytes)
{
    block_copy copy = { host_dst, device_src, bytes, bytes, bytes, 1 };
    return run_copy(queue, copy, download, "download");
}

gf_status gfi_copy_image(gfi_queue *queue, const gf_view *src, const gf_view *dst)
{
    if (src->width != dst->width || src->height != dst->height || src->pixel != dst->pixel)
        return gfi_fail(GF_ERROR_INTERNAL, "copy: source and destination differ in size or type");
    block_copy copy = { dst->data,
                        src->data,
                        dst->pitch_bytes,
                        src->pitch_bytes,
                        (size_t)src->width * gf_pixel_bytes(src->pixel),
                        (size_t)src->height };
    bool from_host = src->memory == GF_MEMORY_HOST, to_host = dst->memory == GF_MEMORY_HOST;
    if (from_host && to_host)
        return gfi_fail(GF_ERROR_INTERNAL, "copy: source and destination are both in host memory");
    if (from_host) return run_copy(queue, copy, upload, "upload");
    if (to_host) return run_copy(queue, copy, download, "download");
    return run_copy(queue, copy, copy_on_device, "copy on the device");
}
