/* A plan: a graph made ready for one image size, to be run many times. */
#ifndef GPUFILTER_PLAN_H
#define GPUFILTER_PLAN_H

#include <gpufilter/common.h>
#include <gpufilter/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default. Fields are only appended. */
typedef struct gf_plan_params {
    size_t struct_size;    /* sizeof(gf_plan_params) */
    gf_pixel out_pixel;    /* pixel type of the result; NONE: that of the input */
    double white;          /* white level of the chain; 0: by the input's pixel type */
    const char *impl;      /* implementation for every stage that has one of this name */
    gf_memory memory;      /* where src and dst will usually be; the cost model counts transfers */
    void *cuda_stream;     /* a cudaStream_t of the caller's to run on; NULL: the plan's own */
    unsigned expected_runs; /* how many runs share the start of CUDA; 0: 1 */
    unsigned batch;        /* how many images gf_plan_run_batch() will usually get, at most 65535;
                              0: 1. The choice of implementations and scratch memory follow it. */
} gf_plan_params;

/* Prepare a graph for images of a size and pixel type.
 *
 * Chooses an implementation for every stage, computes taps, and allocates all scratch memory. The
 * graph may be destroyed afterwards. *out belongs to the caller. The context must outlive it.
 * Returns OK, INVALID, RANGE (a parameter that does not fit this size: mode=valid), NOT_FOUND
 * (impl), UNSUPPORTED (impl cannot do this), NO_MEMORY, DEVICE_MEMORY, DEVICE. */
GF_API gf_status gf_plan_create(gf_context *context, const gf_graph *graph, const gf_image_desc *in,
                                const gf_plan_params *params, gf_plan **out);

/* Make another plan with the same choices, to run on another thread at the same time. */
GF_API gf_status gf_plan_clone(const gf_plan *plan, gf_plan **out);

/* Destroy a plan and set *plan to NULL. Waits for its work. NULL allowed, and a pointer to NULL. */
GF_API void gf_plan_destroy(gf_plan **plan);

/* Return size and pixel type of the result. */
GF_API gf_image_desc gf_plan_output(const gf_plan *plan);

/* Run the plan. src has the size and type the plan was made for, dst those of gf_plan_output().
 *
 * Either may be in host or CUDA memory. src and dst may not overlap. When dst is host memory the
 * result is complete on return; when dst is CUDA memory the work is queued on the plan's stream:
 * call gf_plan_wait(), or order your own work after the stream you passed. One run at a time.
 * Returns OK, INVALID (wrong view, overlap, plan busy on another thread), DEVICE,
 * DEVICE_MEMORY, NO_MEMORY. */
GF_API gf_status gf_plan_run(gf_plan *plan, const gf_view *src, const gf_view *dst);

/* Run the plan on n images of the plan's size, src[i] to dst[i].
 *
 * Views are as for gf_plan_run(); all are checked before the first image is filtered. The result is
 * as if the images were filtered one after another. Images in CUDA memory share launches where the
 * implementations can (all but those that need memory per image), as long as they have one pitch,
 * follow each other at equal distances that are multiples of 16 bytes, and no dst lies on a src or
 * on another dst; in chains also no more than gf_plan_params.batch of them. n may be any, 0 too.
 * Returns what gf_plan_run() returns; the message names the image. */
GF_API gf_status gf_plan_run_batch(gf_plan *plan, size_t n, const gf_view *src, const gf_view *dst);

/* Wait until all queued work of the plan is done. Returns OK or DEVICE. */
GF_API gf_status gf_plan_wait(gf_plan *plan);

/* One stage as it was planned. Strings live as long as the plan. */
typedef struct gf_stage_info {
    const char *filter;    /* "gaussian" */
    const char *impl;      /* "cuda-sep" */
    gf_backend backend;
    const char *variant;   /* launch or blocking details, "" when there is nothing to say */
    double cost_ns;        /* what the cost model expects */
    size_t memory_bytes;   /* scratch, taps and intermediate held for this stage */
} gf_stage_info;

/* An implementation that was considered for a stage. */
typedef struct gf_rival_info {
    const char *impl;
    gf_backend backend;
    int usable;            /* 0: why says the reason */
    double cost_ns;        /* NaN when not usable */
    const char *why;
} gf_rival_info;

/* Time of the last run, in ns; 0 where a step did not happen. GPU steps are timed by events. Of a
 * batch: of all its images when they are in CUDA memory, else of the last one. */
typedef struct gf_timings {
    double context_ns;     /* CUDA start of this plan's context, once */
    double upload_ns, kernels_ns, download_ns;
} gf_timings;

GF_API gf_backend gf_plan_backend(const gf_plan *plan);
GF_API int gf_plan_stage_count(const gf_plan *plan);
/* Return 1 and fill *out, or 0 when there is no such stage or rival. */
GF_API int gf_plan_stage_get(const gf_plan *plan, int stage, gf_stage_info *out);
GF_API int gf_plan_rival_get(const gf_plan *plan, int stage, int rival, gf_rival_info *out);

/* Report the last run's times; waits for it. Returns OK or DEVICE. */
GF_API gf_status gf_plan_timings(gf_plan *plan, gf_timings *out);

/* Apply a chain to one image in one call; *out is a host image of the same pixel type.
 * Returns what gf_graph_parse, gf_plan_create and gf_plan_run return. */
GF_API gf_status gf_apply(gf_context *context, const char *chain, const gf_view *src, gf_image **out);

#ifdef __cplusplus
}
#endif
#endif
