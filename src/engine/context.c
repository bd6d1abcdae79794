#define _POSIX_C_SOURCE 200809L
#include "engine/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <gpufilter/version.h>

#include "core/alloc.h"
#include "core/clock.h"
#include "core/versioned.h"

struct gf_context {
    gf_context_params params;
    gfi_log log;
    gfi_tuning *tuning;   /* NULL: none */
    pthread_mutex_t lock; /* guards the rest */
    gfi_device *device;
    gfi_queue *queue; /* for images outside plans */
    double start_ns;
    atomic_bool poisoned;
    /* background start; the thread writes device, start_ns and these until it is joined */
    bool starting;
    pthread_t starter;
    gf_status start_status;
    char start_error[1024];
};

static gf_status check_params(const gf_context_params *p)
{
    if (p->backend < GF_BACKEND_AUTO || p->backend > GF_BACKEND_CUDA)
        return gfi_fail(GF_ERROR_INVALID, "backend: %d is not auto, cpu or cuda", (int)p->backend);
    if (p->threads < 0 || p->threads > 4096)
        return gfi_fail(GF_ERROR_RANGE, "threads: %d is not in 0 to 4096", p->threads);
    if (p->device < 0) return gfi_fail(GF_ERROR_RANGE, "device: %d is not >= 0", p->device);
    return GF_OK;
}

/* ---- the device --------------------------------------------------------------------------- */

static gf_status start_device(gf_context *c)
{
    double begin = gfi_clock_ns();
    GFI_TRY(gfi_device_open(c->params.device, &c->device));
    c->start_ns = gfi_clock_ns() - begin;
    return GF_OK;
}

static void *start_on_thread(void *context)
{
    gf_context *c = context;
    c->start_status = start_device(c);
    if (c->start_status != GF_OK)
        snprintf(c->start_error, sizeof c->start_error, "%s", gf_error_message());
    return NULL;
}

static gf_status join_starter(gf_context *c)
{
    if (!c->starting) return GF_OK;
    pthread_join(c->starter, NULL);
    c->starting = false;
    return c->start_status == GF_OK ? GF_OK : gfi_fail_text(c->start_status, c->start_error);
}

/* With the lock held. */
static gf_status open_device(gf_context *c)
{
    if (c->poisoned)
        return gfi_fail(GF_ERROR_DEVICE,
                        "context: an earlier device error made it unusable; make a new one");
    GFI_TRY(join_starter(c));
    return c->device ? GF_OK : start_device(c);
}

/* Without a driver there is nothing to wait for: that is told at once. */
static gf_status begin_cuda(gf_context *c)
{
    gfi_device *device;
    if (c->params.background_start && gfi_driver_present()) {
        c->starting = !pthread_create(&c->starter, NULL, start_on_thread, c);
        if (c->starting) return GF_OK;
    }
    return gfi_context_device(c, &device);
}

/* ---- create, destroy ---------------------------------------------------------------------- */

static gf_status read_tuning(gf_context *c)
{
    const char *path = c->params.tuning ? c->params.tuning : getenv("GPUFILTER_TUNE");
    c->params.tuning = NULL; /* the caller's string need not live on */
    if (!path || !*path) return GF_OK;
    GFI_TRY(gfi_prepend(gfi_tuning_read(path, &c->tuning), "tuning file"));
    const char *version = gfi_tuning_version(c->tuning);
    if (!strcmp(version, GF_VERSION_STRING)) return GF_OK;
    /* its expected times are those of other cost models */
    gfi_log_write(&c->log, GF_LOG_NOTICE,
                  "tuning file: %s is of version '%s', this is %s: not used; run gpufilter tune "
                  "again",
                  path, version, GF_VERSION_STRING);
    gfi_tuning_destroy(&c->tuning);
    return GF_OK;
}

gf_status gf_context_create(const gf_context_params *params, gf_context **out)
{
    if (!out) return gfi_fail(GF_ERROR_INVALID, "context: out is NULL");
    *out = NULL;
    gf_context_params p;
    GFI_TRY(gfi_versioned_read(params, &p, sizeof p, "gf_context_params"));
    GFI_TRY(check_params(&p));
    gf_context *c = gfi_alloc_zero(1, sizeof *c, "context");
    if (!c) return GF_ERROR_NO_MEMORY;
    c->params = p;
    c->log = (gfi_log){ p.log, p.log_user };
    if (pthread_mutex_init(&c->lock, NULL)) {
        gfi_free(c);
        return gfi_fail(GF_ERROR_NO_MEMORY, "context: no mutex");
    }
    gf_status status = read_tuning(c);
    if (status == GF_OK && p.backend == GF_BACKEND_CUDA) status = begin_cuda(c);
    if (status != GF_OK) gf_context_destroy(&c);
    *out = c;
    return status;
}

void gf_context_destroy(gf_context **context)
{
    if (!context || !*context) return;
    gf_context *c = *context;
    if (c->starting) pthread_join(c->starter, NULL);
    gfi_queue_destroy(&c->queue);
    gfi_device_close(&c->device);
    pthread_mutex_destroy(&c->lock);
    gfi_tuning_destroy(&c->tuning);
    gfi_free(c);
    *context = NULL;
}

gf_status gf_context_wait(gf_context *context)
{
    if (!context) return gfi_fail(GF_ERROR_INVALID, "context wait: NULL");
    pthread_mutex_lock(&context->lock);
    const gf_status status = join_starter(context);
    pthread_mutex_unlock(&context->lock);
    return status;
}

static gf_status open_queue(gf_context *c)
{
    GFI_TRY(open_device(c));
    return c->queue ? GF_OK : gfi_queue_create(c->device, NULL, &c->queue);
}

gf_status gfi_context_device(gf_context *c, gfi_device **out)
{
    pthread_mutex_lock(&c->lock);
    gf_status status = open_device(c);
    *out = c->device;
    pthread_mutex_unlock(&c->lock);
    return status;
}

bool gfi_context_device_open(gf_context *c)
{
    pthread_mutex_lock(&c->lock);
    bool open = c->starting || c->device; /* a start under way costs nothing more */
    pthread_mutex_unlock(&c->lock);
    return open;
}

bool gfi_context_device_possible(gf_context *c, const char **why)
{
    if (c->poisoned) {
        *why = "an earlier device error made this context unusable";
        return false;
    }
    return gfi_context_device_open(c) || gfi_device_possible(c->params.device, why);
}

double gfi_context_start_ns(gf_context *c)
{
    pthread_mutex_lock(&c->lock);
    double ns = c->start_ns;
    pthread_mutex_unlock(&c->lock);
    return ns;
}

void gfi_context_poison(gf_context *c) { c->poisoned = true; }
gf_backend gfi_context_backend(const gf_context *c) { return c->params.backend; }
const gfi_log *gfi_context_log(const gf_context *c) { return &c->log; }
const gfi_tuning *gfi_context_tuning(const gf_context *c) { return c->tuning; }

int gfi_context_threads(const gf_context *c)
{
    if (c->params.threads) return c->params.threads;
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

gf_status gfi_context_copy(gf_context *c, const gf_view *src, const gf_view *dst)
{
    pthread_mutex_lock(&c->lock);
    gf_status status = open_queue(c);
    if (status == GF_OK) status = gfi_copy_image(c->queue, src, dst);
    if (status == GF_OK) status = gfi_queue_wait(c->queue);
    pthread_mutex_unlock(&c->lock);
    return status;
}

gf_status gfi_context_alloc(gf_context *c, size_t bytes, void **out)
{
    pthread_mutex_lock(&c->lock);
    gf_status status = open_queue(c);
    if (status == GF_OK) status = gfi_device_alloc(c->queue, bytes, out);
    /* other streams may use it at once */
    if (status == GF_OK) status = gfi_queue_wait(c->queue);
    pthread_mutex_unlock(&c->lock);
    return status;
}

void gfi_context_free(gf_context *c, void *memory)
{
    pthread_mutex_lock(&c->lock);
    if (c->queue) gfi_device_free(c->queue, memory);
    pthread_mutex_unlock(&c->lock);
}

/* The device when it is open, NULL when it never was asked for. */
static gf_status device_if_open(gf_context *c, gfi_device **out)
{
    *out = NULL;
    return gfi_context_device_open(c) ? gfi_context_device(c, out) : GF_OK;
}

gf_status gf_cuda_memory_info(gf_context *c, size_t *held_bytes, size_t *used_bytes)
{
    if (!c || !held_bytes || !used_bytes) return gfi_fail(GF_ERROR_INVALID, "memory info: NULL");
    gfi_device *device;
    *held_bytes = *used_bytes = 0;
    GFI_TRY(device_if_open(c, &device));
    return device ? gfi_device_pool_info(device, held_bytes, used_bytes) : GF_OK;
}

gf_status gf_cuda_memory_trim(gf_context *c)
{
    if (!c) return gfi_fail(GF_ERROR_INVALID, "memory trim: context is NULL");
    gfi_device *device;
    GFI_TRY(device_if_open(c, &device));
    return device ? gfi_device_pool_trim(device) : GF_OK;
}
