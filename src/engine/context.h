/* The context's inside. */
#ifndef GFI_ENGINE_CONTEXT_H
#define GFI_ENGINE_CONTEXT_H

#include <gpufilter/context.h>

#include "backend/backend.h"
#include "core/log.h"
#include "core/tune_file.h"

/* The device is opened once, on first use; *out lives as long as the context. */
gf_status gfi_context_device(gf_context *context, gfi_device **out);

/* Whether a device is open, could be opened, or cannot be used (why). */
bool gfi_context_device_open(gf_context *context);
bool gfi_context_device_possible(gf_context *context, const char **why);

/* Time it took to start CUDA; 0 when it was not started. */
double gfi_context_start_ns(gf_context *context);

/* A device error leaves CUDA in an unknown state: later CUDA plans of this context are refused. */
void gfi_context_poison(gf_context *context);

gf_backend gfi_context_backend(const gf_context *context);
int gfi_context_threads(const gf_context *context);
const gfi_log *gfi_context_log(const gf_context *context);
const gfi_tuning *gfi_context_tuning(const gf_context *context); /* NULL: none */

/* Run work on the context's own queue, one caller at a time. */
gf_status gfi_context_copy(gf_context *context, const gf_view *src, const gf_view *dst);
gf_status gfi_context_alloc(gf_context *context, size_t bytes, void **out);
void gfi_context_free(gf_context *context, void *memory);

#endif
