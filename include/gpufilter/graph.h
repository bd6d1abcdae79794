/* A graph: the chain of filters to run, as text or built step by step. */
#ifndef GPUFILTER_GRAPH_H
#define GPUFILTER_GRAPH_H

#include <gpufilter/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Parse a chain: name[=value][:key=value]… with stages separated by commas.
 *
 * "gaussian=2,sobel,threshold=40". Values without a key are positional, in the order of the
 * filter's table. '…' and "…" quote, \ escapes the next character. Numbers are read in the C
 * locale. Every stage also takes impl=NAME. Parameters are checked here, and kernel files (@FILE)
 * are read here. *out belongs to the caller. Any thread.
 * Returns OK, INVALID, FORMAT (grammar), NOT_FOUND (unknown filter or key, no such kernel file),
 * RANGE (a value), IO, NO_MEMORY. */
GF_API gf_status gf_graph_parse(const char *text, gf_graph **out);

/* Create an empty graph, and append stages with default parameters.
 * gf_graph_append returns OK, INVALID, NOT_FOUND, NO_MEMORY. */
GF_API gf_status gf_graph_create(gf_graph **out);
GF_API gf_status gf_graph_append(gf_graph *graph, const char *filter);

/* Set a parameter of a stage (0 is the first; -1 the last) from text or from a number.
 * Returns OK, INVALID, NOT_FOUND (key), RANGE, FORMAT, IO, NO_MEMORY. */
GF_API gf_status gf_graph_set(gf_graph *graph, int stage, const char *key, const char *value);
GF_API gf_status gf_graph_set_f64(gf_graph *graph, int stage, const char *key, double value);

/* Return the number of stages, and the filter's name of one (NULL outside). */
GF_API int gf_graph_size(const gf_graph *graph);
GF_API const char *gf_graph_filter(const gf_graph *graph, int stage);

/* Destroy a graph and set *graph to NULL. NULL and a pointer to NULL are allowed. */
GF_API void gf_graph_destroy(gf_graph **graph);

#ifdef __cplusplus
}
#endif
#endif
