/* Where a context's notices go. */
#ifndef GFI_CORE_LOG_H
#define GFI_CORE_LOG_H

#include <gpufilter/log.h>

#include "core/status.h"

typedef struct gfi_log {
    gf_log_fn fn;
    void *user;
} gfi_log;

void gfi_log_write(const gfi_log *log, gf_log_level level, const char *fmt, ...) GFI_PRINTF(3, 4);

#endif
