/* A context: which backend may be used, with which device and how many threads. */
#ifndef GPUFILTER_CONTEXT_H
#define GPUFILTER_CONTEXT_H

#include <gpufilter/common.h>
#include <gpufilter/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero means default everywhere. Fields are only appended. */
typedef struct gf_context_params {
    size_t struct_size;   /* sizeof(gf_context_params) */
    gf_backend backend;   /* AUTO: whichever is expected to be faster */
    int device;           /* CUDA device ordinal */
    int threads;          /* CPU threads; 0: what OpenMP chooses */
    gf_log_fn log;        /* NULL: silent */
    void *log_user;
    int background_start; /* non-zero, with GF_BACKEND_CUDA, where there is a driver: look for the
                             device and start it on a thread; what fails there is reported by
                             gf_context_wait() or the first call that needs the device */
    const char *tuning;   /* file that `gpufilter tune` wrote on this machine: its times correct
                             those that implementations are chosen by. NULL: the file that the
                             environment variable GPUFILTER_TUNE names, if any; "": none */
} gf_context_params;

/* Create a context.
 *
 * With GF_BACKEND_CUDA the device is opened here (or in the background, so that files can be read
 * meanwhile); with AUTO only when a plan wants it.
 * params may be NULL. *out belongs to the caller, NULL on failure. Any thread.
 * Returns OK, INVALID, RANGE (threads < 0, device < 0), NO_MEMORY, NOT_FOUND (no such device),
 * DEVICE (no GPU, no driver, or a driver that is too old), UNSUPPORTED (built without CUDA), IO and
 * FORMAT (the tuning file). */
GF_API gf_status gf_context_create(const gf_context_params *params, gf_context **out);

/* Wait for what was begun in the background; at once where nothing was. Any thread.
 * Returns OK, or what gf_context_create() says when the device is opened there. */
GF_API gf_status gf_context_wait(gf_context *context);

/* Destroy a context and set *context to NULL. Plans and CUDA images made from it must be gone.
 * NULL and a pointer to NULL are allowed. */
GF_API void gf_context_destroy(gf_context **context);

#ifdef __cplusplus
}
#endif
#endif
