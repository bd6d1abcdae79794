#include "engine/graph.h"

#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "engine/params.h"
#include "engine/registry.h"

gf_status gf_graph_create(gf_graph **out)
{
    if (!out) return gfi_fail(GF_ERROR_INVALID, "graph: out is NULL");
    *out = gfi_alloc_zero(1, sizeof **out, "graph");
    return *out ? GF_OK : GF_ERROR_NO_MEMORY;
}

static void stage_clear(gfi_stage *stage)
{
    gfi_params_destroy(stage->def, &stage->params);
    gfi_free(stage->impl);
}

void gf_graph_destroy(gf_graph **graph)
{
    if (!graph || !*graph) return;
    for (int i = 0; i < (*graph)->n_stages; i++) stage_clear(&(*graph)->stages[i]);
    free((*graph)->stages);
    gfi_free(*graph);
    *graph = NULL;
}

/* Append a stage that owns params (and frees them on failure). */
static gf_status append(gf_graph *graph, const gf_filter_def *def, void *params, gfi_stage **out)
{
    gfi_stage *grown = realloc(graph->stages, ((size_t)graph->n_stages + 1) * sizeof *grown);
    if (!grown) {
        gfi_params_destroy(def, &params);
        return gfi_fail(GF_ERROR_NO_MEMORY, "graph: out of memory");
    }
    graph->stages = grown;
    *out = &grown[graph->n_stages++];
    **out = (gfi_stage){ .def = def, .params = params };
    return GF_OK;
}

gf_status gfi_graph_add(gf_graph *graph, const gf_filter_def *def, gfi_stage **out)
{
    void *params;
    GFI_TRY(gfi_params_create(def, &params));
    return append(graph, def, params, out);
}

gf_status gfi_graph_copy(const gf_graph *graph, gf_graph **out)
{
    gf_status status = gf_graph_create(out);
    for (int i = 0; status == GF_OK && i < graph->n_stages; i++) {
        const gfi_stage *from = &graph->stages[i];
        gfi_stage *to = NULL;
        void *params;
        status = gfi_params_copy(from->def, from->params, &params);
        if (status == GF_OK) status = append(*out, from->def, params, &to);
        if (status == GF_OK && from->impl && !(to->impl = gfi_strdup(from->impl)))
            status = GF_ERROR_NO_MEMORY;
    }
    if (status != GF_OK) gf_graph_destroy(out);
    return status;
}

gf_status gfi_stage_prepend(gf_status status, const gf_graph *graph, int stage)
{
    return gfi_prepend(status, "stage %d (%s)", stage + 1, graph->stages[stage].def->info.name);
}

gf_status gfi_stage_set(gfi_stage *stage, const char *key, const char *value)
{
    if (strcmp(key, "impl")) return gfi_params_set(stage->def, stage->params, key, value);
    const gf_impl *const *impl = stage->def->impls;
    while (*impl && strcmp((*impl)->name, value)) impl++;
    if (!*impl)
        return gfi_fail(GF_ERROR_NOT_FOUND, "impl: %s has no implementation '%s'",
                        stage->def->info.name, value);
    char *copy = gfi_strdup(value);
    if (!copy) return GF_ERROR_NO_MEMORY;
    gfi_free(stage->impl);
    stage->impl = copy;
    return GF_OK;
}

gf_status gf_graph_append(gf_graph *graph, const char *filter)
{
    if (!graph || !filter) return gfi_fail(GF_ERROR_INVALID, "graph append: NULL");
    const gf_filter_def *def = gfi_registry_find(filter);
    if (!def) return gfi_unknown_filter(filter);
    gfi_stage *stage;
    return gfi_graph_add(graph, def, &stage);
}

static gf_status stage_at(gf_graph *graph, int *stage, const char *key)
{
    if (!graph || !key) return gfi_fail(GF_ERROR_INVALID, "graph set: NULL");
    if (*stage == -1) *stage = graph->n_stages - 1;
    if (*stage < 0 || *stage >= graph->n_stages)
        return gfi_fail(GF_ERROR_INVALID, "graph set: stage %d of %d", *stage, graph->n_stages);
    return GF_OK;
}

gf_status gf_graph_set(gf_graph *graph, int stage, const char *key, const char *value)
{
    GFI_TRY(stage_at(graph, &stage, key));
    if (!value) return gfi_fail(GF_ERROR_INVALID, "%s: value is NULL", key);
    return gfi_stage_prepend(gfi_stage_set(&graph->stages[stage], key, value), graph, stage);
}

gf_status gf_graph_set_f64(gf_graph *graph, int stage, const char *key, double value)
{
    GFI_TRY(stage_at(graph, &stage, key));
    gfi_stage *s = &graph->stages[stage];
    return gfi_stage_prepend(gfi_params_set_f64(s->def, s->params, key, value), graph, stage);
}

int gf_graph_size(const gf_graph *graph) { return graph ? graph->n_stages : 0; }

const char *gf_graph_filter(const gf_graph *graph, int stage)
{
    return graph && stage >= 0 && stage < graph->n_stages ? graph->stages[stage].def->info.name
                                                          : NULL;
}
