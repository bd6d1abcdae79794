/* What several commands need before they can run a filter: chain text, graph, context. */
#ifndef CLI_SETUP_H
#define CLI_SETUP_H

#include "args.h"

/* Write the chain of a filter command, "gaussian:sigma=2", with every value escaped. NULL without
 * memory; free() it. */
char *setup_chain_text(const cli_args *args);

/* Parse the chain that the arguments name; all parameters are checked. */
cli_exit setup_graph(const char *chain, const char *hint, gf_graph **out);

/* Return the backend of the implementation of this name in any stage, or AUTO when no stage has
 * one. What there is instead is offered to nearest, which may be NULL. */
gf_backend setup_impl_backend(const gf_graph *graph, const char *name, cli_nearest *nearest);

/* Check that --impl names an implementation of a stage, and one that this machine can run. */
cli_exit setup_check_impl(const cli_args *args, const gf_graph *graph);

/* Create the context; begin leaves the start of CUDA running, which end waits for. log must outlive
 * the context. */
cli_exit setup_context_begin(const cli_args *args, cli_log *log, gf_context **out);
cli_exit setup_context_end(gf_context *context);
cli_exit setup_context(const cli_args *args, cli_log *log, gf_context **out);

/* The exit code of a plan that could not be made. */
cli_exit setup_plan_exit(gf_status status);

#endif
