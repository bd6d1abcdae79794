#include "engine/plan.h"

#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/image.h"
#include "core/versioned.h"
#include "engine/context.h"
#include "engine/params.h"
#include "filters/impl.h"
#include "filters/window.h"

/* Cost of what surrounds the kernels. Host images pass through pinned staging, where the copy by
 * the CPU is what takes time; starting CUDA was 0.2 s on an H200. */
static const double transfer_ns_per_byte = 0.12;
static const double cuda_start_ns = 2.5e8;

/* ---- the requests ------------------------------------------------------------------------- */

static gf_status describe_stage(gf_plan *plan, int i, const gf_image_desc *in)
{
    const gfi_stage *stage = &plan->graph->stages[i];
    gfi_plan_stage *ps = &plan->stages[i];
    GFI_TRY(gfi_params_check(stage->def, stage->params));
    gfi_request *r = &ps->request;
    *r = (gfi_request){ .def = stage->def, .params = stage->params, .in = *in, .out = *in };
    r->threads = gfi_context_threads(plan->context);
    r->white = plan->params.white > 0 ? plan->params.white : gf_pixel_white(plan->in.pixel);
    r->out.pixel = i == plan->n_stages - 1 ? plan->out.pixel : GF_PIXEL_F32;
    if (stage->def->out_size)
        GFI_TRY(stage->def->out_size(stage->params, in, &r->out.width, &r->out.height));
    GFI_TRY(gfi_desc_check(&r->out));
    r->usual_images = (int)plan->params.batch;
    if (stage->def->window) GFI_TRY(stage->def->window(stage->params, in, &ps->window));
    r->window = ps->window;
    return GF_OK;
}

static gf_status describe_stages(gf_plan *plan)
{
    gf_image_desc in = plan->in;
    for (int i = 0; i < plan->n_stages; i++) {
        GFI_TRY(gfi_stage_prepend(describe_stage(plan, i, &in), plan->graph, i));
        in = plan->stages[i].request.out;
    }
    plan->out = in;
    return GF_OK;
}

/* Give the plan's impl to every stage that has one of this name. */
static gf_status spread_impl(gf_plan *plan, const char *name)
{
    bool any = false;
    for (int i = 0; i < plan->n_stages; i++) {
        gfi_stage *stage = &plan->graph->stages[i];
        const gf_impl *const *impl = stage->def->impls;
        while (*impl && strcmp((*impl)->name, name)) impl++;
        if (!*impl) continue;
        any = true;
        if (!stage->impl) GFI_TRY(gfi_stage_set(stage, "impl", name));
    }
    return any ? GF_OK
               : gfi_fail(GF_ERROR_NOT_FOUND,
                          "impl: no filter of the chain has an implementation '%s'", name);
}

/* ---- the choice --------------------------------------------------------------------------- */

/* no_cuda: why no implementation of CUDA's can be had; NULL: they are judged too, which takes
 * longer than small images do. */
static void judge_stages(gf_plan *plan, const gfi_device_facts *facts, const char *no_cuda)
{
    for (int i = 0; i < plan->n_stages; i++) {
        gfi_plan_stage *ps = &plan->stages[i];
        ps->request.facts = facts;
        ps->n_rivals =
            gfi_judge(&ps->request, gfi_context_tuning(plan->context), no_cuda, ps->rivals);
    }
}

/* The backend that the stages' forced implementations belong to; AUTO when none is forced. */
static gf_status forced_backend(const gf_plan *plan, gf_backend *out)
{
    *out = gfi_context_backend(plan->context);
    for (int i = 0; i < plan->n_stages; i++) {
        const gfi_stage *stage = &plan->graph->stages[i];
        for (const gf_impl *const *p = stage->def->impls; stage->impl && *p; p++) {
            if (strcmp((*p)->name, stage->impl)) continue;
            if (*out != GF_BACKEND_AUTO && *out != (*p)->backend)
                return gfi_fail(GF_ERROR_UNSUPPORTED,
                                "stage %d (%s): impl '%s' runs on %s, the rest on %s", i + 1,
                                stage->def->info.name, stage->impl, gf_backend_name((*p)->backend),
                                gf_backend_name(*out));
            *out = (*p)->backend;
        }
    }
    return GF_OK;
}

static gf_status choose_stages(gf_plan *plan, gf_backend backend)
{
    for (int i = 0; i < plan->n_stages; i++) {
        gfi_plan_stage *ps = &plan->stages[i];
        ps->chosen = gfi_choose(ps->rivals, ps->n_rivals, backend, plan->graph->stages[i].impl);
        if (!ps->chosen) return gfi_stage_prepend(GF_ERROR_UNSUPPORTED, plan->graph, i);
        ps->maker = ps->chosen;
    }
    return GF_OK;
}

static double chain_cost_ns(gf_plan *plan, gf_backend backend)
{
    if (choose_stages(plan, backend) != GF_OK) return INFINITY;
    double ns = 0;
    for (int i = 0; i < plan->n_stages; i++) ns += plan->stages[i].chosen->cost_ns;
    return ns;
}

static double image_bytes(const gf_image_desc *d)
{
    return (double)d->width * d->height * (double)gf_pixel_bytes(d->pixel);
}

/* The driver is asked only when CUDA could win: asking alone takes 0.1 s. */
static gf_backend cheaper_backend(gf_plan *plan)
{
    if (plan->params.memory == GF_MEMORY_CUDA) return GF_BACKEND_CUDA;
    const unsigned runs = plan->params.expected_runs ? plan->params.expected_runs : 1;
    const double start = gfi_context_device_open(plan->context) ? 0 : cuda_start_ns / runs;
    const char *why = "not looked for: the CPU is done before CUDA would have started";
    judge_stages(plan, NULL, why);
    const double cpu = chain_cost_ns(plan, GF_BACKEND_CPU);
    if (cpu < start) return GF_BACKEND_CPU;
    const bool possible = gfi_context_device_possible(plan->context, &why);
    judge_stages(plan, NULL, possible ? NULL : why);
    if (!possible) return GF_BACKEND_CPU;
    const double images = plan->params.batch > 1 ? plan->params.batch : 1;
    const double transfer =
        images * transfer_ns_per_byte * (image_bytes(&plan->in) + image_bytes(&plan->out));
    return start + transfer + chain_cost_ns(plan, GF_BACKEND_CUDA) < cpu ? GF_BACKEND_CUDA
                                                                         : GF_BACKEND_CPU;
}

/* ---- making it ready ---------------------------------------------------------------------- */

/* CPU threads that are worth waking for a stage: with less to do each, the barrier where they meet
 * takes as long as they saved, and spins meanwhile. */
static int worth_threads(const gfi_request *request, double cost_ns)
{
    static const double least_ns = 1e5;
    const double total_ns = cost_ns * request->threads;
    if (!(total_ns < least_ns * request->threads)) return request->threads;
    return total_ns < 2 * least_ns ? 1 : (int)(total_ns / least_ns);
}

static gf_status prepare_stages(gf_plan *plan)
{
    for (int i = 0; i < plan->n_stages; i++) {
        gfi_plan_stage *ps = &plan->stages[i];
        const gf_impl *impl = ps->maker->impl;
        if (!ps->next) {
            snprintf(ps->variant, sizeof ps->variant, "in the launch of the stage before");
            continue;
        }
        ps->request.queue = plan->queue;
        if (impl->backend == GF_BACKEND_CPU)
            ps->request.threads = worth_threads(&ps->request, ps->maker->cost_ns);
        GFI_TRY(
            gfi_stage_prepend(gfi_impl_prepare(impl, &ps->request, &ps->state), plan->graph, i));
        if (impl->describe) impl->describe(ps->state, ps->variant, sizeof ps->variant);
    }
    return GF_OK;
}

static void unprepare(gf_plan *plan)
{
    for (int i = 0; i < plan->n_stages; i++) {
        gfi_plan_stage *ps = &plan->stages[i];
        if (ps->state) gfi_impl_destroy(ps->maker->impl, &ps->request, &ps->state);
    }
    gfi_plan_free_scratch(plan);
    gfi_plan_unfuse(plan);
    if (!plan->queue) return;
    gfi_device_free(plan->queue, plan->device_src.data);
    gfi_device_free(plan->queue, plan->device_dst.data);
    gfi_queue_destroy(&plan->queue);
}

static gf_status open_cuda(gf_plan *plan)
{
    gfi_device *device;
    GFI_TRY(gfi_context_device(plan->context, &device));
    judge_stages(plan, gfi_device_get_facts(device), NULL);
    plan->timings.context_ns = gfi_context_start_ns(plan->context);
    return gfi_queue_create(device, plan->params.cuda_stream, &plan->queue);
}

static gf_status prepare(gf_plan *plan, gf_backend backend)
{
    plan->backend = backend;
    if (backend == GF_BACKEND_CUDA) GFI_TRY(open_cuda(plan));
    GFI_TRY(choose_stages(plan, backend));
    gfi_plan_fuse(plan);
    if (!gfi_plan_takes_batches(plan))
        for (int i = 0; i < plan->n_stages; i++) plan->stages[i].request.usual_images = 1;
    GFI_TRY(gfi_plan_alloc_scratch(plan));
    return prepare_stages(plan);
}

static gf_status choose_and_prepare(gf_plan *plan)
{
    gf_backend forced;
    GFI_TRY(forced_backend(plan, &forced));
    if (forced == GF_BACKEND_CPU) judge_stages(plan, NULL, "the CPU was asked for");
    gf_backend backend = forced != GF_BACKEND_AUTO ? forced : cheaper_backend(plan);
    gf_status status = prepare(plan, backend);
    if (status == GF_OK || forced != GF_BACKEND_AUTO || backend == GF_BACKEND_CPU ||
        plan->params.memory == GF_MEMORY_CUDA)
        return status;
    gfi_log_write(gfi_context_log(plan->context), GF_LOG_WARNING,
                  "CUDA cannot be used (%s); running on the CPU", gf_error_message());
    unprepare(plan);
    plan->timings.context_ns = 0;
    judge_stages(plan, NULL, gf_error_message());
    return prepare(plan, GF_BACKEND_CPU);
}

static gf_status build(gf_plan *plan, const gf_graph *graph)
{
    GFI_TRY(gfi_graph_copy(graph, &plan->graph));
    plan->stages = gfi_alloc_zero((size_t)plan->graph->n_stages, sizeof *plan->stages, "plan");
    if (!plan->stages) return GF_ERROR_NO_MEMORY;
    plan->n_stages = plan->graph->n_stages;
    GFI_TRY(describe_stages(plan));
    if (plan->params.impl) GFI_TRY(spread_impl(plan, plan->params.impl));
    return choose_and_prepare(plan);
}

static gf_status check_plan_params(const gf_plan_params *p)
{
    if (p->out_pixel < GF_PIXEL_NONE || p->out_pixel > GF_PIXEL_F32)
        return gfi_fail(GF_ERROR_INVALID, "out_pixel: %d is not u8, u16 or f32", (int)p->out_pixel);
    if (p->batch > GFI_MOST_BATCH)
        return gfi_fail(GF_ERROR_RANGE, "batch: %u images are more than %d", p->batch,
                        GFI_MOST_BATCH);
    if (!isfinite(p->white) || p->white < 0)
        return gfi_fail(GF_ERROR_RANGE, "white: %g is not a finite number > 0", p->white);
    return GF_OK;
}

gf_status gf_plan_create(gf_context *context, const gf_graph *graph, const gf_image_desc *in,
                         const gf_plan_params *params, gf_plan **out)
{
    if (!context || !graph || !out) return gfi_fail(GF_ERROR_INVALID, "plan: NULL");
    *out = NULL;
    gf_plan_params p;
    GFI_TRY(gfi_versioned_read(params, &p, sizeof p, "gf_plan_params"));
    GFI_TRY(check_plan_params(&p));
    GFI_TRY(gfi_desc_check(in));
    if (!graph->n_stages) return gfi_fail(GF_ERROR_INVALID, "plan: the graph has no stage");
    gf_plan *plan = gfi_alloc_zero(1, sizeof *plan, "plan");
    if (!plan) return GF_ERROR_NO_MEMORY;
    atomic_flag_clear(&plan->busy);
    plan->context = context;
    plan->params = p;
    plan->in = plan->out = *in;
    if (p.out_pixel) plan->out.pixel = p.out_pixel;
    gf_status status = build(plan, graph);
    plan->params.impl = NULL; /* the caller's text; the graph's copies hold it now */
    if (status != GF_OK) gf_plan_destroy(&plan);
    *out = plan;
    return gfi_prepend(status, "plan");
}

gf_status gf_plan_clone(const gf_plan *plan, gf_plan **out)
{
    if (!plan || !out) return gfi_fail(GF_ERROR_INVALID, "plan clone: NULL");
    *out = NULL;
    gf_graph *graph;
    GFI_TRY(gfi_graph_copy(plan->graph, &graph));
    gf_status status = GF_OK;
    for (int i = 0; i < plan->n_stages && status == GF_OK; i++)
        if (plan->stages[i].next) /* the others are fused again */
            status = gfi_stage_set(&graph->stages[i], "impl", plan->stages[i].chosen->impl->name);
    gf_plan_params p = plan->params;
    p.out_pixel = plan->out.pixel;
    p.cuda_stream = NULL; /* its own, or the two could not run at the same time */
    if (status == GF_OK) status = gf_plan_create(plan->context, graph, &plan->in, &p, out);
    gf_graph_destroy(&graph);
    return status;
}

void gf_plan_destroy(gf_plan **plan)
{
    if (!plan || !*plan) return;
    gf_plan *p = *plan;
    unprepare(p);
    for (int i = 0; i < p->n_stages; i++) gfi_window_destroy(&p->stages[i].window);
    gfi_free(p->stages);
    gf_graph_destroy(&p->graph);
    gfi_free(p);
    *plan = NULL;
}

/* ---- looking at it ------------------------------------------------------------------------ */

gf_image_desc gf_plan_output(const gf_plan *plan)
{
    return plan ? plan->out : (gf_image_desc){ 0 };
}
gf_backend gf_plan_backend(const gf_plan *plan) { return plan ? plan->backend : GF_BACKEND_AUTO; }
int gf_plan_stage_count(const gf_plan *plan) { return plan ? plan->n_stages : 0; }

int gf_plan_stage_get(const gf_plan *plan, int stage, gf_stage_info *out)
{
    if (!plan || !out || stage < 0 || stage >= plan->n_stages) return 0;
    const gfi_plan_stage *ps = &plan->stages[stage];
    const gf_impl *impl = ps->maker->impl;
    *out = (gf_stage_info){ .filter = ps->request.def->info.name,
                            .impl = impl->name,
                            .backend = impl->backend,
                            .variant = ps->variant,
                            .cost_ns = ps->maker->cost_ns };
    out->memory_bytes = impl->memory_bytes ? impl->memory_bytes(ps->state) : 0;
    if (ps->result.data)
        out->memory_bytes +=
            ps->result.pitch_bytes * (size_t)ps->result.height * (size_t)plan->scratch_images;
    return 1;
}

int gf_plan_rival_get(const gf_plan *plan, int stage, int rival, gf_rival_info *out)
{
    if (!plan || !out || stage < 0 || stage >= plan->n_stages) return 0;
    const gfi_plan_stage *ps = &plan->stages[stage];
    if (rival < 0 || rival >= ps->n_rivals) return 0;
    const gfi_rival *r = &ps->rivals[rival];
    *out = (gf_rival_info){ r->impl->name, r->impl->backend, r->usable, r->cost_ns, r->why };
    return 1;
}
