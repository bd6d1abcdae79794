/* One thread-local error record, written where a fault is found. */
#ifndef GFI_CORE_STATUS_H
#define GFI_CORE_STATUS_H

#include <gpufilter/error.h>

#if defined(__GNUC__)
#define GFI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define GFI_PRINTF(fmt, args)
#endif

/* Record a message on this thread and return status, so that callers can write
 * `return gfi_fail(GF_ERROR_RANGE, "sigma: %g is not > 0", v);`. */
gf_status gfi_fail(gf_status status, const char *fmt, ...) GFI_PRINTF(2, 3);

/* Put "context: " in front of the recorded message and return status. Does nothing for GF_OK. */
gf_status gfi_prepend(gf_status status, const char *fmt, ...) GFI_PRINTF(2, 3);

/* Hand another thread's message to this one. */
gf_status gfi_fail_text(gf_status status, const char *message);

/* Propagate a failure. */
#define GFI_TRY(call)                                                                              \
    do {                                                                                           \
        gf_status gfi_try_status_ = (call);                                                        \
        if (gfi_try_status_ != GF_OK) return gfi_try_status_;                                      \
    } while (0)

#endif
