#include "filters/impl.h"

#include "core/alloc.h"

gf_status gfi_impl_prepare(const gf_impl *impl, const gfi_request *request, void **state)
{
    *state = NULL;
    if (!impl->prepare) return GF_OK;
    *state = gfi_alloc_zero(1, impl->state_bytes, impl->name);
    if (!*state) return GF_ERROR_NO_MEMORY;
    const gf_status status = impl->prepare(request, *state);
    if (status != GF_OK) gfi_impl_destroy(impl, request, state);
    return status;
}

void gfi_impl_destroy(const gf_impl *impl, const gfi_request *request, void **state)
{
    if (!*state) return;
    if (impl->destroy) impl->destroy(request, *state);
    gfi_free(*state);
    *state = NULL;
}
