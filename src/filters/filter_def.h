/* What a filter is: one definition that drives API, command line, help, docs, tests, benchmark. */
#ifndef GFI_FILTER_DEF_H
#define GFI_FILTER_DEF_H

#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include <gpufilter/filter.h>
#include <gpufilter/image.h>

#include "backend/backend.h"
#include "core/status.h"

struct gfi_window;
struct gfi_point;

/* A matrix of taps given by the user; kh rows of kw. Owned by the parameter struct. */
typedef struct gfi_taps {
    int kw, kh;
    double v[];
} gfi_taps;

/* ---- parameters ------------------------------------------------------------------------- */

/* A parameter: its public face and where it lives in the filter's parameter struct. FLOAT is a
 * double, INT and ENUM an int, KERNEL a gfi_taps pointer. */
typedef struct gf_param {
    gf_param_info info;
    size_t offset;
    const int *choice_values; /* ENUM: value of each choice */
} gf_param;

#define GFI_NO_MIN (-INFINITY)
#define GFI_NO_MAX INFINITY
#define GFI_UNSET NAN         /* default_value of a parameter that stays unset … */
#define GFI_UNSET_INT INT_MIN /* … and what an INT field then holds; a FLOAT field holds NaN */

/* offsetof with a compile-time check of the field's type. */
#define GFI_FIELD(T, field, type)                                                                  \
    (offsetof(T, field) + 0 * sizeof(char[_Generic(((T *)0)->field, type: 1, default: -1)]))

/* clang-format off */
#define GFI_FLOAT(T, field, name, unit, min, max, def, def_text, flags, summary)                   \
    { { name, unit, GF_PARAM_FLOAT, flags, min, max, def, def_text, NULL, summary }, GFI_FIELD(T, field, double), NULL }
#define GFI_INT(T, field, name, unit, min, max, def, def_text, flags, summary)                     \
    { { name, unit, GF_PARAM_INT, flags, min, max, def, def_text, NULL, summary }, GFI_FIELD(T, field, int), NULL }
#define GFI_ENUM(T, field, name, choices, values, def, def_text, flags, summary)                   \
    { { name, "", GF_PARAM_ENUM, flags, 0, 0, def, def_text, choices, summary }, GFI_FIELD(T, field, int), values }
#define GFI_KERNEL(T, field, name, flags, summary)                                                 \
    { { name, "", GF_PARAM_KERNEL, flags, 0, 0, NAN, "", NULL, summary }, GFI_FIELD(T, field, gfi_taps *), NULL }
/* clang-format on */

/* ---- a request: one stage of a plan ------------------------------------------------------- */

typedef struct gf_filter_def gf_filter_def;

/* Images that one launch filters: n of them, a multiple of 16 bytes from each to the next one. */
typedef struct gfi_batch {
    int n; /* 0: as 1 */
    int src_next, dst_next; /* in units of 16 bytes */
} gfi_batch;

typedef struct gfi_request {
    const gf_filter_def *def;
    const void *params;              /* the def's parameter struct, complete and validated */
    gf_image_desc in, out;           /* as this stage sees them: f32 between stages */
    double white;                    /* white level of the chain */
    const struct gfi_window *window; /* for window filters; owned by the plan */
    int threads;                     /* CPU threads, >= 1 */
    const gfi_device_facts *facts;   /* CUDA implementations: facts of the device; NULL when it is
                                        not open yet and a cost is asked for */
    gfi_queue *queue;                /* CUDA implementations in prepare: the plan's queue */
    int usual_images;                /* how many images a launch will usually get; 0: 1 */
    gfi_batch batch;                 /* the images of this run; for implementations with `batches` */
    const struct gfi_point *fused;   /* point filters to apply to the result, in float; for those */
    int n_fused;                     /* with `fuses` */
    const struct gfi_window *follower; /* before them, the window of the stage after this one; for a
                                          `pair` only, else NULL */
} gfi_request;

/* ---- implementations ---------------------------------------------------------------------- */

enum { GFI_WHY_BYTES = 160 };

/* One way to run a filter. State made by prepare belongs to one plan; run is called by one thread
 * at a time. The request outlives the state. CPU implementations get host views, CUDA
 * implementations device views of any pitch, and queue their work without waiting. src and dst
 * never overlap. */
typedef struct gf_impl {
    const char *name; /* "sep", "cuda-sep"; [0] of a filter is "ref" */
    gf_backend backend;
    bool batches;      /* CUDA: run serves request->batch; needs no memory but the images */
    bool fuses;        /* CUDA: run applies request->fused */
    const struct gf_impl *pair; /* CUDA: makes this stage and its request's follower; NULL: none */
    double tol_factor; /* times the filter's tolerance; 0 means 1 (an FFT states its own) */
    /* NULL: always. False with a reason when this request cannot be served. */
    bool (*usable)(const gfi_request *request, char why[GFI_WHY_BYTES]);
    /* Expected time of one run; with `batches`, of all usual_images. */
    double (*cost_ns)(const gfi_request *request);
    /* The state is state_bytes of zeroed memory that the caller makes and frees, see impl.h; prepare
     * fills it in, destroy gives back what it holds, also after prepare has failed half way. */
    size_t state_bytes;
    gf_status (*prepare)(const gfi_request *request, void *state); /* NULL: nothing to do */
    gf_status (*run)(const gfi_request *request, void *state, const gf_view *src, const gf_view *dst);
    void (*destroy)(const gfi_request *request, void *state); /* NULL: nothing to do */
    size_t (*memory_bytes)(const void *state);                     /* NULL: 0 */
    void (*describe)(const void *state, char *out, size_t n_bytes); /* variant; NULL: "" */
} gf_impl;

typedef enum gfi_scope { GFI_SCOPE_POINT, GFI_SCOPE_WINDOW, GFI_SCOPE_IMAGE } gfi_scope;

struct gf_filter_def {
    gf_filter_info info; /* first: the public pointer is cast to the def */
    const gf_param *params;
    size_t params_bytes; /* size of the parameter struct */
    gfi_scope scope;
    /* Check what a single range cannot say; NULL: nothing. */
    gf_status (*validate)(const void *params);
    /* Size of the result; NULL: that of the input. RANGE when it would be empty. */
    gf_status (*out_size)(const void *params, const gf_image_desc *in, int32_t *width, int32_t *height);
    /* Window filters: the taps. *out is freed with gfi_window_destroy. */
    gf_status (*window)(const void *params, const gf_image_desc *in, struct gfi_window **out);
    /* Point filters: the function to apply. */
    void (*point)(const void *params, double white, struct gfi_point *out);
    /* Largest allowed |error| of an f32 result against float64 for inputs up to max_abs; NULL: by
     * the numbers contract, 2^-20 * sum|taps| * max_abs. */
    double (*tolerance)(const gfi_request *request, double max_abs);
    const char *const *cases; /* parameter sets for tests, docs and bench; NULL-terminated */
    const gf_impl *const *impls; /* [0] is the reference; NULL-terminated; order breaks cost ties */
};

#define GFI_N_PARAMS(table) (sizeof(table) / sizeof *(table))

/* ---- rows that many filters share --------------------------------------------------------- */

extern const char *const gfi_border_choices[]; /* aliases included */
extern const int gfi_border_values[];

/* Every filter takes these; a point filter looks at no neighbour, so there they change nothing. */
#define GFI_BORDER_PARAMS(T)                                                                       \
    GFI_ENUM(T, border, "border", gfi_border_choices, gfi_border_values, GF_BORDER_MIRROR,         \
             "mirror", 0, "How pixels outside the image are made."),                               \
        GFI_FLOAT(T, border_value, "border-value", "levels", GFI_NO_MIN, GFI_NO_MAX, 0, "0", 0,    \
                  "Value outside the image for border=constant.")

/* Filters that speak of white take the chain's level unless told otherwise. */
#define GFI_WHITE(T)                                                                               \
    GFI_FLOAT(T, white, "white", "levels", 0, GFI_NO_MAX, GFI_UNSET, "the chain's",                \
              GF_PARAM_OPTIONAL | GF_PARAM_MIN_OPEN, "White level: 255, 65535 or 1 by the input's pixel type.")

/* The first that is set (not NaN), else the last. */
static inline double gfi_first_set(double a, double b, double c)
{
    return !isnan(a) ? a : !isnan(b) ? b : c;
}

#endif
