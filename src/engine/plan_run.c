/* Running a plan: host images through the CPU, or through the GPU with copies around the kernels.
 */
#include "engine/plan.h"

#include "core/clock.h"
#include "core/image.h"
#include "engine/context.h"

enum { MARK_BEGIN, MARK_UPLOADED, MARK_FILTERED };

static gf_status check_view(const gf_plan *plan, const gf_view *view, const gf_image_desc *want,
                            const char *name)
{
    GFI_TRY(gfi_view_check(view, name));
    if (view->width != want->width || view->height != want->height || view->pixel != want->pixel)
        return gfi_fail(GF_ERROR_INVALID, "%s: %dx%d %s, but the plan was made for %dx%d %s", name,
                        (int)view->width, (int)view->height, gf_pixel_name(view->pixel),
                        (int)want->width, (int)want->height, gf_pixel_name(want->pixel));
    if (view->memory == GF_MEMORY_CUDA && plan->backend != GF_BACKEND_CUDA)
        return gfi_fail(GF_ERROR_INVALID, "%s: is in CUDA memory, but the plan runs on the CPU",
                        name);
    return GF_OK;
}

static gf_status run_stages(gf_plan *plan, const gf_view *src, const gf_view *dst,
                            const gfi_batch *batch)
{
    int next = batch->src_next;
    for (int i = 0; i < plan->n_stages; i = plan->stages[i].next) {
        gfi_plan_stage *ps = &plan->stages[i];
        const bool last = ps->next == plan->n_stages;
        const gf_view *to = last ? dst : &ps->result;
        ps->request.batch = (gfi_batch){ batch->n, next, last ? batch->dst_next : ps->result_next };
        next = ps->request.batch.dst_next;
        GFI_TRY(gfi_stage_prepend(ps->maker->impl->run(&ps->request, ps->state, src, to),
                                  plan->graph, i));
        src = to;
    }
    return GF_OK;
}

static gf_status run_cpu(gf_plan *plan, const gf_view *src, const gf_view *dst)
{
    const gfi_batch one = { .n = 1 };
    double begin = gfi_clock_ns();
    GFI_TRY(run_stages(plan, src, dst, &one));
    plan->timings.kernels_ns = gfi_clock_ns() - begin;
    return GF_OK;
}

/* A device twin of a host view, made once a plan. */
static gf_status device_twin(gf_plan *plan, const gf_view *host, gf_view *twin)
{
    if (twin->data) return GF_OK;
    gf_view made = *host;
    made.memory = GF_MEMORY_CUDA;
    made.pitch_bytes = gfi_pitch(host->width, host->pixel, GFI_DEVICE_PITCH_STEP);
    GFI_TRY(gfi_device_alloc(plan->queue, made.pitch_bytes * (size_t)made.height, &made.data));
    *twin = made;
    return GF_OK;
}

/* The images of a batch are in CUDA memory. go_on: the time of the run before counts too. */
static gf_status run_cuda(gf_plan *plan, const gf_view *src, const gf_view *dst,
                          const gfi_batch *batch, bool go_on)
{
    const gf_view *from = src, *to = dst;
    if (src->memory == GF_MEMORY_HOST) {
        GFI_TRY(device_twin(plan, src, &plan->device_src));
        from = &plan->device_src;
    }
    if (dst->memory == GF_MEMORY_HOST) {
        GFI_TRY(device_twin(plan, dst, &plan->device_dst));
        to = &plan->device_dst;
    }
    if (!go_on) GFI_TRY(gfi_queue_mark(plan->queue, MARK_BEGIN));
    if (from != src) GFI_TRY(gfi_copy_image(plan->queue, src, from));
    if (!go_on) GFI_TRY(gfi_queue_mark(plan->queue, MARK_UPLOADED));
    GFI_TRY(run_stages(plan, from, to, batch));
    GFI_TRY(gfi_queue_mark(plan->queue, MARK_FILTERED));
    plan->marks_set = true;
    plan->timings.download_ns = 0;
    if (to == dst) return GF_OK;
    GFI_TRY(gfi_queue_wait(plan->queue)); /* so that the copy alone is timed */
    double begin = gfi_clock_ns();
    GFI_TRY(gfi_copy_image(plan->queue, to, dst));
    plan->timings.download_ns = gfi_clock_ns() - begin;
    return GF_OK;
}

static gf_status check_views(const gf_plan *plan, const gf_view *src, const gf_view *dst)
{
    GFI_TRY(check_view(plan, src, &plan->in, "src"));
    GFI_TRY(check_view(plan, dst, &plan->out, "dst"));
    if (gfi_views_overlap(src, dst))
        return gfi_fail(GF_ERROR_INVALID, "src and dst overlap; give dst memory of its own");
    return GF_OK;
}

static bool is_on_device(const gf_view *src, const gf_view *dst)
{
    return src->memory == GF_MEMORY_CUDA && dst->memory == GF_MEMORY_CUDA;
}

/* Run the first images, as many as share a launch. Their views are checked. */
static gf_status run_group(gf_plan *plan, size_t n, const gf_view *src, const gf_view *dst,
                           bool first, size_t *n_done)
{
    gfi_batch batch;
    *n_done = gfi_batch_group(plan, n, src, dst, &batch);
    if (plan->backend == GF_BACKEND_CPU) return run_cpu(plan, src, dst);
    gf_status status = run_cuda(plan, src, dst, &batch,
                                !first && is_on_device(src - 1, dst - 1) && is_on_device(src, dst));
    if (status == GF_ERROR_DEVICE) gfi_context_poison(plan->context);
    return status;
}

static gf_status run_all(gf_plan *plan, size_t n, const gf_view *src, const gf_view *dst)
{
    gf_status status = GF_OK;
    size_t i, done;
    for (i = 0; i < n && status == GF_OK; i++) status = check_views(plan, &src[i], &dst[i]);
    if (status != GF_OK) return n > 1 ? gfi_prepend(status, "image %zu", i - 1) : status;
    for (i = 0; i < n && status == GF_OK; i += done)
        status = run_group(plan, n - i, src + i, dst + i, i == 0, &done);
    return status != GF_OK && n > 1 ? gfi_prepend(status, "image %zu", i - done) : status;
}

gf_status gf_plan_run_batch(gf_plan *plan, size_t n, const gf_view *src, const gf_view *dst)
{
    if (!plan || (n && (!src || !dst))) return gfi_fail(GF_ERROR_INVALID, "plan run: NULL");
    if (atomic_flag_test_and_set(&plan->busy))
        return gfi_fail(GF_ERROR_INVALID,
                        "plan: is running on another thread; use gf_plan_clone()");
    const gf_status status = run_all(plan, n, src, dst);
    atomic_flag_clear(&plan->busy);
    return status;
}

gf_status gf_plan_run(gf_plan *plan, const gf_view *src, const gf_view *dst)
{
    return gf_plan_run_batch(plan, 1, src, dst);
}

gf_status gf_plan_wait(gf_plan *plan)
{
    if (!plan) return gfi_fail(GF_ERROR_INVALID, "plan wait: NULL");
    gf_status status = plan->queue ? gfi_queue_wait(plan->queue) : GF_OK;
    if (status == GF_ERROR_DEVICE) gfi_context_poison(plan->context);
    return status;
}

gf_status gf_plan_timings(gf_plan *plan, gf_timings *out)
{
    if (!plan || !out) return gfi_fail(GF_ERROR_INVALID, "plan timings: NULL");
    if (plan->marks_set) {
        GFI_TRY(
            gfi_queue_elapsed_ns(plan->queue, MARK_BEGIN, MARK_UPLOADED, &plan->timings.upload_ns));
        GFI_TRY(gfi_queue_elapsed_ns(plan->queue, MARK_UPLOADED, MARK_FILTERED,
                                     &plan->timings.kernels_ns));
    }
    *out = plan->timings;
    return GF_OK;
}

gf_status gf_apply(gf_context *context, const char *chain, const gf_view *src, gf_image **out)
{
    if (!context || !chain || !out) return gfi_fail(GF_ERROR_INVALID, "apply: NULL");
    *out = NULL;
    GFI_TRY(gfi_view_check(src, "src"));
    gf_graph *graph = NULL;
    gf_plan *plan = NULL;
    gf_image *image = NULL;
    gf_image_desc in = { src->width, src->height, src->pixel };
    gf_plan_params params = { .struct_size = sizeof params, .memory = src->memory };
    gf_status status = gf_graph_parse(chain, &graph);
    if (status == GF_OK) status = gf_plan_create(context, graph, &in, &params, &plan);
    if (status == GF_OK) {
        gf_image_desc desc = gf_plan_output(plan);
        status = gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image);
    }
    if (status == GF_OK) {
        gf_view dst = gf_image_view(image);
        status = gf_plan_run(plan, src, &dst);
    }
    if (status != GF_OK) gf_image_destroy(&image);
    gf_plan_destroy(&plan);
    gf_graph_destroy(&graph);
    *out = image;
    return status;
}
