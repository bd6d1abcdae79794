#include "core/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 1024 };
static _Thread_local char message[MESSAGE_BYTES];

const char *gf_status_name(gf_status status)
{
    switch (status) {
    case GF_OK: return "OK";
    case GF_ERROR_INVALID: return "INVALID";
    case GF_ERROR_RANGE: return "RANGE";
    case GF_ERROR_NOT_FOUND: return "NOT_FOUND";
    case GF_ERROR_UNSUPPORTED: return "UNSUPPORTED";
    case GF_ERROR_FORMAT: return "FORMAT";
    case GF_ERROR_IO: return "IO";
    case GF_ERROR_NO_MEMORY: return "NO_MEMORY";
    case GF_ERROR_DEVICE_MEMORY: return "DEVICE_MEMORY";
    case GF_ERROR_DEVICE: return "DEVICE";
    case GF_ERROR_INTERNAL: return "INTERNAL";
    }
    return "UNKNOWN";
}

const char *gf_error_message(void) { return message; }

gf_status gfi_fail(gf_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    return status;
}

gf_status gfi_fail_text(gf_status status, const char *text) { return gfi_fail(status, "%s", text); }

gf_status gfi_prepend(gf_status status, const char *fmt, ...)
{
    if (status == GF_OK) return status;
    char old[MESSAGE_BYTES];
    memcpy(old, message, sizeof old);
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (n >= 0 && n < MESSAGE_BYTES - 2)
        snprintf(message + n, sizeof message - (size_t)n, ": %.*s", MESSAGE_BYTES - n - 3, old);
    return status;
}
