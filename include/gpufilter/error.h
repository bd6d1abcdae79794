/* Status codes and the message that belongs to the last failure. */
#ifndef GPUFILTER_ERROR_H
#define GPUFILTER_ERROR_H

#include <gpufilter/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return a status's name ("RANGE"). Static storage; any thread. */
GF_API const char *gf_status_name(gf_status status);

/* Return the message of the last call that failed on this thread, "" before the first.
 *
 * It names the thing, its value and what would be right, and is only meaningful right after a
 * call returned something other than GF_OK. The text belongs to the library and lives until the
 * next failing call on the same thread. */
GF_API const char *gf_error_message(void);

#ifdef __cplusplus
}
#endif
#endif
