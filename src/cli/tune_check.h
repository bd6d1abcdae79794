/* Whether an implementation computes what the reference computes, on a small picture. */
#ifndef CLI_TUNE_CHECK_H
#define CLI_TUNE_CHECK_H

#include <gpufilter/gpufilter.h>

#include "message.h"

/* Run graph with impl on context and with reference on the CPU context; *same is false when a pixel
 * differs by more than a level, or a float by more than 1/4096 of the largest. */
cli_exit tune_check(gf_context *context, gf_context *cpu, const gf_graph *graph, gf_pixel pixel,
                    const char *impl, const char *reference, bool *same);

#endif
