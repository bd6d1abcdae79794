/* Fusing: a CUDA kernel makes what follows its stage from its results, while they are on the chip:
 * a small window, point filters. Between stages there are floats, as in memory: point filters give
 * the same values, the sums of windows may be added up in another order. A stage is not taken along
 * when its implementation was asked for. */
#include "engine/context.h"
#include "engine/plan.h"

/* Whether stage i makes the window of the next one too sooner than they would both apart. */
static bool pays_as_pair(gf_plan *plan, int i)
{
    gfi_plan_stage *ps = &plan->stages[i];
    const gfi_plan_stage *after = ps + 1;
    if (!ps->chosen->impl->pair || i + 1 == plan->n_stages) return false;
    if (!after->window || plan->graph->stages[i + 1].impl) return false;
    gfi_request request = ps->request;
    request.follower = after->window;
    request.out = after->request.out;
    gfi_judge_one(&request, gfi_context_tuning(plan->context), ps->chosen->impl->pair, &ps->pair);
    return ps->pair.usable && ps->pair.cost_ns < ps->chosen->cost_ns + after->chosen->cost_ns;
}

/* Gamma is a kernel of its own. */
static bool can_follow(const gf_plan *plan, int i, gfi_point *point)
{
    const gfi_request *r = &plan->stages[i].request;
    if (!r->def->point || plan->graph->stages[i].impl) return false;
    r->def->point(r->params, r->white, point);
    return point->op != GFI_POINT_GAMMA;
}

/* Let stage i make what stage next - 1 would. */
static void set_next(gf_plan *plan, int i, int next, int n_points)
{
    gfi_plan_stage *ps = &plan->stages[i];
    ps->request.fused = ps->fused;
    ps->request.n_fused = n_points;
    ps->request.out.pixel = next == plan->n_stages ? plan->out.pixel : GF_PIXEL_F32;
    ps->next = next;
}

/* Take along what follows; returns the next stage that is not. */
static int fuse_at(gf_plan *plan, int i)
{
    gfi_plan_stage *ps = &plan->stages[i];
    char why[GFI_WHY_BYTES];
    int next = i + 1, n = 0;
    if (pays_as_pair(plan, i)) {
        ps->maker = &ps->pair;
        ps->request.follower = plan->stages[next++].window;
    }
    const gf_impl *impl = ps->maker->impl;
    while (impl->fuses && next + n < plan->n_stages && n < GFI_MOST_FUSED &&
           can_follow(plan, next + n, &ps->fused[n]))
        n++;
    set_next(plan, i, next + n, n);
    /* it may not be able to make the last one's pixels */
    if (n > 0 && impl->usable && !impl->usable(&ps->request, why)) set_next(plan, i, next, n = 0);
    for (int k = i + 1; k < next + n; k++) plan->stages[k].next = 0;
    return next + n;
}

void gfi_plan_fuse(gf_plan *plan)
{
    for (int i = 0; i < plan->n_stages;) i = fuse_at(plan, i);
}

void gfi_plan_unfuse(gf_plan *plan)
{
    for (int i = 0; i < plan->n_stages; i++) {
        plan->stages[i].maker = plan->stages[i].chosen;
        plan->stages[i].request.follower = NULL;
        set_next(plan, i, i + 1, 0);
    }
}
