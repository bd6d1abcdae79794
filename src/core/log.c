#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

void gfi_log_write(const gfi_log *log, gf_log_level level, const char *fmt, ...)
{
    if (!log->fn) return;
    char line[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    log->fn(level, line, log->user);
}
