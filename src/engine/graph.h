/* The graph's inside: stages with complete parameters. */
#ifndef GFI_ENGINE_GRAPH_H
#define GFI_ENGINE_GRAPH_H

#include <gpufilter/graph.h>

#include "filters/filter_def.h"

typedef struct gfi_stage {
    const gf_filter_def *def;
    void *params;
    char *impl; /* implementation asked for with impl=, or NULL */
} gfi_stage;

struct gf_graph {
    int n_stages;
    gfi_stage *stages;
};

/* Add a stage and return it in *out, still without checks of required parameters. */
gf_status gfi_graph_add(gf_graph *graph, const gf_filter_def *def, gfi_stage **out);
gf_status gfi_graph_copy(const gf_graph *graph, gf_graph **out);

/* Set a parameter, or impl. */
gf_status gfi_stage_set(gfi_stage *stage, const char *key, const char *value);

/* Prefix for messages: "stage 2 (gaussian)". */
gf_status gfi_stage_prepend(gf_status status, const gf_graph *graph, int stage);

#endif
