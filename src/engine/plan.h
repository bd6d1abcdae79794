/* The plan's inside. plan.c makes it, plan_run.c runs it. */
#ifndef GFI_ENGINE_PLAN_H
#define GFI_ENGINE_PLAN_H

#include <stdatomic.h>

#include <gpufilter/plan.h>

#include "engine/graph.h"
#include "engine/select.h"
#include "filters/point.h"

typedef struct gfi_plan_stage {
    gfi_request request;
    struct gfi_window *window; /* owned; request.window points here */
    gfi_rival rivals[GFI_MAX_RIVALS];
    int n_rivals;
    const gfi_rival *chosen;
    const gfi_rival *maker; /* what runs: chosen, or `pair` */
    gfi_rival pair;         /* chosen's pair, when it makes the next stage too */
    void *state;
    int next; /* the stage that takes its result; 0: it is fused to one before */
    gfi_point fused[GFI_MOST_FUSED]; /* of the stages between this one and that one */
    gf_view result;  /* where it writes, in the plan's scratch; data NULL for the last stage */
    int result_next; /* from there to the result of a batch's next image, in units of 16 bytes */
    char variant[160];
} gfi_plan_stage;

struct gf_plan {
    gf_context *context;
    gf_graph *graph; /* own copy: requests point into its parameters */
    gf_image_desc in, out;
    gf_plan_params params;
    gf_backend backend;
    int n_stages;
    gfi_plan_stage *stages;
    void *scratch[2]; /* results of the stages but the last, alternating; host or device */
    size_t scratch_bytes[2];
    int scratch_images;             /* of a batch that have room in the scratch memory */
    gfi_queue *queue;               /* CUDA */
    gf_view device_src, device_dst; /* CUDA, made when host images come */
    atomic_flag busy;
    gf_timings timings;
    bool marks_set; /* CUDA: times of the last run are still in the queue's marks */
};

/* Let stages take along what follows them, as their implementations allow: a small window where that
 * is faster, and point filters; or undo that. Stages are chosen. */
void gfi_plan_fuse(gf_plan *plan);
void gfi_plan_unfuse(gf_plan *plan);

/* Make the memory between the stages, and say where each writes; or give it back. */
gf_status gfi_plan_alloc_scratch(gf_plan *plan);
void gfi_plan_free_scratch(gf_plan *plan);

enum { GFI_MOST_BATCH = 65535 }; /* images in a launch: CUDA's limit of a grid's z axis */

/* Whether every stage's implementation can filter several images in a launch. */
bool gfi_plan_takes_batches(const gf_plan *plan);

/* How many of the n images, from the first on, the plan can run in one launch a stage; *batch says
 * how they lie. Their views are checked already. */
size_t gfi_batch_group(const gf_plan *plan, size_t n, const gf_view *src, const gf_view *dst,
                       gfi_batch *batch);

#endif
