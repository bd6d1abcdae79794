/* Fusing: a CUDA kernel applies the point filters that follow its stage to its results, while they
 * are in registers. Values are the same as through memory, which holds floats between stages. */
#include "engine/plan.h"

/* Gamma is a kernel of its own; a stage whose implementation was asked for is left alone. */
static bool can_follow(const gf_plan *plan, int i, gfi_point *point)
{
    const gfi_request *r = &plan->stages[i].request;
    if (!r->def->point || plan->graph->stages[i].impl) return false;
    r->def->point(r->params, r->white, point);
    return point->op != GFI_POINT_GAMMA;
}

/* Let stage i make what stage next - 1 would. */
static void set_next(gf_plan *plan, int i, int next)
{
    gfi_plan_stage *ps = &plan->stages[i];
    ps->request.fused = ps->fused;
    ps->request.n_fused = next - i - 1;
    ps->request.out.pixel = next == plan->n_stages ? plan->out.pixel : GF_PIXEL_F32;
    ps->next = next;
}

/* Take along what follows; returns the next stage that is not. */
static int fuse_at(gf_plan *plan, int i)
{
    gfi_plan_stage *ps = &plan->stages[i];
    const gf_impl *impl = ps->chosen->impl;
    char why[GFI_WHY_BYTES];
    int next = i + 1;
    while (impl->fuses && next < plan->n_stages && next - i - 1 < GFI_MOST_FUSED &&
           can_follow(plan, next, &ps->fused[next - i - 1]))
        next++;
    set_next(plan, i, next);
    /* it may not be able to make the last one's pixels */
    if (next > i + 1 && impl->usable && !impl->usable(&ps->request, why))
        set_next(plan, i, next = i + 1);
    for (int k = i + 1; k < next; k++) plan->stages[k].next = 0;
    return next;
}

void gfi_plan_fuse(gf_plan *plan)
{
    for (int i = 0; i < plan->n_stages;) i = fuse_at(plan, i);
}

void gfi_plan_unfuse(gf_plan *plan)
{
    for (int i = 0; i < plan->n_stages; i++) set_next(plan, i, i + 1);
}
