#include "backend/cuda/internal.h"

#include <stdint.h>

#include "backend/cuda/cufft_load.h"
#include "core/alloc.h"

struct gfi_fft {
    gfi_queue *queue;
    const gfi_cufft *lib;
    cufftHandle forward, inverse;
    void *work; /* one area for both directions: they run one after the other */
    size_t work_bytes;
};

static gf_status check(cufftResult result, const char *call)
{
    if (result == CUFFT_SUCCESS) return GF_OK;
    gf_status status = result == CUFFT_ALLOC_FAILED ? GF_ERROR_DEVICE_MEMORY : GF_ERROR_DEVICE;
    return gfi_fail(status, "cuFFT: %s: result %d", call, (int)result);
}

/* A tile is ny rows of nx floats, a spectrum ny rows of nx/2+1 pairs; nothing between them. */
typedef struct tiles {
    int ny, nx, batch;
} tiles;

static gf_status make_plan(const gfi_fft *fft, const tiles *shape, cufftType type,
                           cufftHandle *plan, size_t *work_bytes)
{
    int size[2] = { shape->ny, shape->nx };
    int real[2] = { shape->ny, shape->nx }, spectrum[2] = { shape->ny, shape->nx / 2 + 1 };
    int real_step = real[0] * real[1], spectrum_step = spectrum[0] * spectrum[1];
    bool forward = type == CUFFT_R2C;
    GFI_TRY(check(fft->lib->cufftCreate(plan), "cufftCreate"));
    GFI_TRY(check(fft->lib->cufftSetAutoAllocation(*plan, 0), "cufftSetAutoAllocation"));
    GFI_TRY(check(fft->lib->cufftMakePlanMany(
                      *plan, 2, size, forward ? real : spectrum, 1,
                      forward ? real_step : spectrum_step, forward ? spectrum : real, 1,
                      forward ? spectrum_step : real_step, type, shape->batch, work_bytes),
                  "cufftMakePlanMany"));
    return check(fft->lib->cufftSetStream(*plan, fft->queue->stream), "cufftSetStream");
}

static gf_status make_plans(gfi_fft *fft, const tiles *shape)
{
    size_t forward_bytes = 0, inverse_bytes = 0;
    GFI_TRY(make_plan(fft, shape, CUFFT_R2C, &fft->forward, &forward_bytes));
    GFI_TRY(make_plan(fft, shape, CUFFT_C2R, &fft->inverse, &inverse_bytes));
    fft->work_bytes = forward_bytes > inverse_bytes ? forward_bytes : inverse_bytes;
    if (fft->work_bytes == 0) return GF_OK;
    GFI_TRY(gfi_device_alloc(fft->queue, fft->work_bytes, &fft->work));
    GFI_TRY(check(fft->lib->cufftSetWorkArea(fft->forward, fft->work), "cufftSetWorkArea"));
    return check(fft->lib->cufftSetWorkArea(fft->inverse, fft->work), "cufftSetWorkArea");
}

static gf_status check_shape(const tiles *shape)
{
    size_t pairs;
    if (shape->ny < 1 || shape->nx < 2 || shape->nx % 2 != 0 || shape->batch < 1 ||
        !gfi_mul((size_t)shape->ny, (size_t)shape->nx / 2 + 1, &pairs) ||
        !gfi_mul(pairs, 2 * (size_t)shape->batch, &pairs) || pairs > INT32_MAX)
        return gfi_fail(GF_ERROR_INTERNAL, "fft: %d tiles of %dx%d cannot be transformed",
                        shape->batch, shape->nx, shape->ny);
    return GF_OK;
}

gf_status gfi_fft_create(gfi_queue *queue, int ny, int nx, int batch, gfi_fft **out)
{
    *out = NULL;
    const tiles shape = { ny, nx, batch };
    const gfi_cufft *lib;
    GFI_TRY(check_shape(&shape));
    GFI_TRY(gfi_cufft_get(&lib));
    gfi_fft *fft = gfi_alloc_zero(1, sizeof *fft, "FFT");
    if (!fft) return GF_ERROR_NO_MEMORY;
    *fft = (gfi_fft){
        .queue = queue, .lib = lib, .forward = CUFFT_PLAN_NULL, .inverse = CUFFT_PLAN_NULL
    };
    gf_status status = gfi_cuda_enter(queue->device);
    if (status == GF_OK) {
        status = make_plans(fft, &shape);
        gfi_cuda_leave(queue->device);
    }
    if (status == GF_OK)
        *out = fft;
    else
        gfi_fft_destroy(&fft);
    return gfi_prepend(status, "%d tiles of %dx%d", batch, nx, ny);
}

gf_status gfi_fft_forward(gfi_fft *fft, const float *real, float *spectrum)
{
    GFI_TRY(gfi_cuda_enter(fft->queue->device));
    cufftResult result = fft->lib->cufftExecR2C(fft->forward, (cufftReal *)real,
                                                (cufftComplex *)spectrum); /* reads real only */
    gfi_cuda_leave(fft->queue->device);
    return check(result, "cufftExecR2C");
}

gf_status gfi_fft_inverse(gfi_fft *fft, float *spectrum, float *real)
{
    GFI_TRY(gfi_cuda_enter(fft->queue->device));
    cufftResult result = fft->lib->cufftExecC2R(fft->inverse, (cufftComplex *)spectrum, real);
    gfi_cuda_leave(fft->queue->device);
    return check(result, "cufftExecC2R");
}

void gfi_fft_destroy(gfi_fft **fft_at)
{
    gfi_fft *fft = *fft_at;
    *fft_at = NULL;
    if (!fft) return;
    if (gfi_cuda_enter(fft->queue->device) == GF_OK) {
        /* tables of the plans are freed at once, so nothing may still be reading them */
        cudaStreamSynchronize(fft->queue->stream);
        if (fft->forward != CUFFT_PLAN_NULL) fft->lib->cufftDestroy(fft->forward);
        if (fft->inverse != CUFFT_PLAN_NULL) fft->lib->cufftDestroy(fft->inverse);
        gfi_cuda_leave(fft->queue->device);
    }
    gfi_device_free(fft->queue, fft->work);
    gfi_free(fft);
}

size_t gfi_fft_bytes(const gfi_fft *fft) { return fft->work_bytes; }
