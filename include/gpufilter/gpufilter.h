/* libgpufilter: filter grayscale images on NVIDIA GPUs, and on any CPU with the same answer.
 *
 *   gf_context *context;  gf_image *in, *out;
 *   gf_context_create(NULL, &context);
 *   gf_image_load("in.png", NULL, &in);
 *   gf_view src = gf_image_view(in);
 *   gf_apply(context, "gaussian=2,sobel", &src, &out);
 *
 * Every call that can fail returns a gf_status; gf_error_message() says what was wrong. What comes
 * back through an out pointer belongs to the caller. A context may be used from any thread, a
 * plan from one thread at a time. */
#ifndef GPUFILTER_GPUFILTER_H
#define GPUFILTER_GPUFILTER_H

#include <gpufilter/common.h>
#include <gpufilter/context.h>
#include <gpufilter/cuda.h>
#include <gpufilter/error.h>
#include <gpufilter/filter.h>
#include <gpufilter/graph.h>
#include <gpufilter/image.h>
#include <gpufilter/io.h>
#include <gpufilter/log.h>
#include <gpufilter/plan.h>
#include <gpufilter/version.h>

#endif
