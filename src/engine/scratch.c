/* The memory between a plan's stages: two buffers that take turns. */
#include "core/alloc.h"
#include "core/image.h"
#include "engine/plan.h"

/* Whether a stage's result goes to the next one through memory. */
static bool is_kept(const gf_plan *plan, int i)
{
    return plan->stages[i].next && plan->stages[i].next < plan->n_stages;
}

/* Set where a stage writes, but for the address; returns the bytes. */
static size_t describe_result(gf_plan *plan, int i)
{
    enum { UNIT = 16 }; /* the pitch step makes results multiples of it */
    gfi_plan_stage *ps = &plan->stages[i];
    const gf_image_desc *d = &ps->request.out;
    ps->result = (gf_view){ .width = d->width, .height = d->height, .pixel = d->pixel };
    ps->result.memory = plan->backend == GF_BACKEND_CUDA ? GF_MEMORY_CUDA : GF_MEMORY_HOST;
    ps->result.pitch_bytes = gfi_pitch(d->width, d->pixel, GFI_DEVICE_PITCH_STEP);
    const size_t bytes = ps->result.pitch_bytes * (size_t)d->height;
    ps->result_next = (int)(bytes / UNIT);
    return bytes;
}

/* How many images of a batch the buffers hold, within bounds. */
static int room(const gf_plan *plan)
{
    static const size_t most_bytes = (size_t)1 << 29;
    const size_t *bytes = plan->scratch_bytes, larger = bytes[bytes[1] > bytes[0]];
    size_t images = plan->params.batch;
    if (plan->backend != GF_BACKEND_CUDA || !larger) return 1;
    if (images > most_bytes / larger) images = most_bytes / larger;
    return images > 1 ? (int)images : 1;
}

static gf_status alloc_buffer(gf_plan *plan, int k)
{
    if (!plan->scratch_bytes[k]) return GF_OK;
    if (plan->backend == GF_BACKEND_CUDA)
        return gfi_device_alloc(plan->queue, plan->scratch_bytes[k], &plan->scratch[k]);
    plan->scratch[k] = gfi_alloc(plan->scratch_bytes[k], 1, "chain");
    return plan->scratch[k] ? GF_OK : GF_ERROR_NO_MEMORY;
}

gf_status gfi_plan_alloc_scratch(gf_plan *plan)
{
    int turn = 0;
    for (int i = 0; i < plan->n_stages; i++) {
        if (!is_kept(plan, i)) continue;
        const size_t bytes = describe_result(plan, i);
        if (bytes > plan->scratch_bytes[turn]) plan->scratch_bytes[turn] = bytes;
        turn = !turn;
    }
    plan->scratch_images = room(plan);
    for (int k = 0; k < 2; k++) {
        plan->scratch_bytes[k] *= (size_t)plan->scratch_images;
        GFI_TRY(alloc_buffer(plan, k));
    }
    turn = 0;
    for (int i = 0; i < plan->n_stages; i++) {
        if (!is_kept(plan, i)) continue;
        plan->stages[i].result.data = plan->scratch[turn];
        turn = !turn;
    }
    return GF_OK;
}

void gfi_plan_free_scratch(gf_plan *plan)
{
    for (int k = 0; k < 2; k++) {
        if (plan->queue)
            gfi_device_free(plan->queue, plan->scratch[k]);
        else
            gfi_free(plan->scratch[k]);
        plan->scratch[k] = NULL;
        plan->scratch_bytes[k] = 0;
    }
    for (int i = 0; i < plan->n_stages; i++) plan->stages[i].result.data = NULL;
}
