#include "engine/select.h"

#include <stdio.h>
#include <string.h>

/* Implementations that take no batches run one image after another. */
static double run_ns(const gfi_request *request, const gf_impl *impl)
{
    if (request->usual_images <= 1 || impl->batches) return impl->cost_ns(request);
    gfi_request one = *request;
    one.usual_images = 1;
    return request->usual_images * impl->cost_ns(&one);
}

static double cost_ns(const gfi_request *request, const gfi_tuning *tuning, const gf_impl *impl)
{
    const gfi_device_facts *facts = request->facts;
    if (!impl->cost_ns) return INFINITY;
    const double ns = run_ns(request, impl);
    if (!tuning) return ns;
    /* another GPU's times say nothing about this one */
    if (impl->backend == GF_BACKEND_CUDA && facts &&
        !gfi_tuning_fits(tuning, facts->sm, facts->multiprocessors))
        return ns;
    return gfi_tuning_correct(tuning, impl->name, request->in.pixel, ns);
}

void gfi_judge_one(const gfi_request *request, const gfi_tuning *tuning, const gf_impl *impl,
                   gfi_rival *rival)
{
    *rival = (gfi_rival){ .impl = impl, .cost_ns = NAN };
    rival->usable = !impl->usable || impl->usable(request, rival->why);
    if (rival->usable) rival->cost_ns = cost_ns(request, tuning, impl);
}

int gfi_judge(const gfi_request *request, const gfi_tuning *tuning, const char *no_cuda,
              gfi_rival rivals[GFI_MAX_RIVALS])
{
    int n = 0;
    for (const gf_impl *const *p = request->def->impls; *p && n < GFI_MAX_RIVALS; p++) {
        const gf_impl *impl = *p;
        gfi_rival *rival = &rivals[n++];
        if (no_cuda && impl->backend == GF_BACKEND_CUDA) {
            *rival = (gfi_rival){ .impl = impl, .cost_ns = NAN };
            snprintf(rival->why, sizeof rival->why, "%s", no_cuda);
        } else {
            gfi_judge_one(request, tuning, impl, rival);
        }
    }
    return n;
}

static const gfi_rival *choose_forced(const gfi_rival *rivals, int n, const char *forced)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(rivals[i].impl->name, forced)) continue;
        if (rivals[i].usable) return &rivals[i];
        gfi_fail(GF_ERROR_UNSUPPORTED, "impl '%s': %s", forced, rivals[i].why);
        return NULL;
    }
    gfi_fail(GF_ERROR_UNSUPPORTED, "impl '%s': not on this backend", forced);
    return NULL;
}

const gfi_rival *gfi_choose(const gfi_rival *rivals, int n, gf_backend backend, const char *forced)
{
    if (forced) return choose_forced(rivals, n, forced);
    const gfi_rival *best = NULL;
    for (int i = 0; i < n; i++) {
        const gfi_rival *r = &rivals[i];
        if (!r->usable || r->impl->backend != backend || !strcmp(r->impl->name, "ref")) continue;
        if (!best || r->cost_ns < best->cost_ns) best = r;
    }
    if (!best) {
        const char *why = "none exists";
        for (int i = 0; i < n; i++)
            if (rivals[i].impl->backend == backend && rivals[i].why[0]) why = rivals[i].why;
        gfi_fail(GF_ERROR_UNSUPPORTED, "no usable implementation on backend %s: %s",
                 gf_backend_name(backend), why);
    }
    return best;
}
