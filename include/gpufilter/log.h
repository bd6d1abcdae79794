/* Messages that are no errors: notices, warnings, details. */
#ifndef GPUFILTER_LOG_H
#define GPUFILTER_LOG_H

#include <gpufilter/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gf_log_level { GF_LOG_WARNING = 1, GF_LOG_NOTICE = 2, GF_LOG_DETAIL = 3 } gf_log_level;

/* Receive one line without a newline. May be called from the thread that made the API call. */
typedef void (*gf_log_fn)(gf_log_level level, const char *message, void *user);

#ifdef __cplusplus
}
#endif
#endif
