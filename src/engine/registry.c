#include "engine/registry.h"

#include <string.h>

#include "engine/suggest.h"

#define GFI_FILTER(name) extern const gf_filter_def gfi_filter_##name;
#include "filters/registry.inc"
#undef GFI_FILTER

static const gf_filter_def *const registry[] = {
#define GFI_FILTER(name) &gfi_filter_##name,
#include "filters/registry.inc"
#undef GFI_FILTER
};

size_t gfi_registry_count(void) { return sizeof registry / sizeof *registry; }

const gf_filter_def *gfi_registry_get(size_t index)
{
    return index < gfi_registry_count() ? registry[index] : NULL;
}

const gf_filter_def *gfi_registry_find(const char *name)
{
    for (size_t i = 0; name && i < gfi_registry_count(); i++)
        if (!strcmp(registry[i]->info.name, name)) return registry[i];
    return NULL;
}

gf_status gfi_unknown_filter(const char *name)
{
    gfi_suggestion s = { .wanted = name };
    for (size_t i = 0; i < gfi_registry_count(); i++) gfi_suggest(&s, registry[i]->info.name);
    return gfi_fail(GF_ERROR_NOT_FOUND, "unknown filter '%s'%s", name, gfi_suggestion_text(&s));
}

/* ---- the public face ---------------------------------------------------------------------- */

/* info is the first member of gf_filter_def */
static const gf_filter_def *def_of(const gf_filter_info *filter)
{
    return (const gf_filter_def *)(const void *)filter;
}

size_t gf_filter_count(void) { return gfi_registry_count(); }

const gf_filter_info *gf_filter_get(size_t index)
{
    const gf_filter_def *def = gfi_registry_get(index);
    return def ? &def->info : NULL;
}

const gf_filter_info *gf_filter_find(const char *name)
{
    const gf_filter_def *def = gfi_registry_find(name);
    return def ? &def->info : NULL;
}

const gf_param_info *gf_filter_param(const gf_filter_info *filter, size_t index)
{
    return filter && index < filter->n_params ? &def_of(filter)->params[index].info : NULL;
}

const char *gf_filter_impl(const gf_filter_info *filter, size_t index, gf_backend *backend)
{
    if (!filter) return NULL;
    const gf_impl *const *impls = def_of(filter)->impls;
    for (size_t i = 0; i <= index; i++)
        if (!impls[i]) return NULL;
    if (backend) *backend = impls[index]->backend;
    return impls[index]->name;
}

const char *gf_filter_case(const gf_filter_info *filter, size_t index)
{
    if (!filter) return NULL;
    const char *const *cases = def_of(filter)->cases;
    for (size_t i = 0; i <= index; i++)
        if (!cases[i]) return NULL;
    return cases[index];
}
