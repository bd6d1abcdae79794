/* The filters this library has, as data: names, parameters, ranges, defaults, texts. */
#ifndef GPUFILTER_FILTER_H
#define GPUFILTER_FILTER_H

#include <gpufilter/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gf_param_type {
    GF_PARAM_FLOAT = 1,
    GF_PARAM_INT = 2,
    GF_PARAM_ENUM = 3,
    GF_PARAM_KERNEL = 4 /* rows "1 2 1;2 4 2;1 2 1", or @FILE: text, PFM or PGM */
} gf_param_type;

enum {
    GF_PARAM_POSITIONAL = 1, /* may be given without its name, in the order of the table */
    GF_PARAM_MIN_OPEN = 2,   /* the minimum itself is not allowed */
    GF_PARAM_OPTIONAL = 4,   /* may stay unset; default_text says what happens then */
    GF_PARAM_REQUIRED = 8,
    GF_PARAM_ODD = 16        /* only odd values */
};

/* One parameter of a filter. An infinite min or max means no limit. Static storage. */
typedef struct gf_param_info {
    const char *name;
    const char *unit;          /* "px", "levels", "deg", "%" or "" */
    gf_param_type type;
    unsigned flags;
    double min, max;
    double default_value;      /* for ENUM the value of the default choice; NaN when unset */
    const char *default_text;  /* as a person would write it */
    const char *const *choices;/* ENUM: names, NULL-terminated (aliases after the main names) */
    const char *summary;
} gf_param_info;

/* One filter. Static storage. */
typedef struct gf_filter_info {
    const char *name;
    const char *group;         /* "smoothing", "edges", "kernel", "point", … */
    const char *summary;       /* one line */
    const char *doc;           /* formula and rules, several lines */
    const char *source;        /* where the mathematics comes from */
    size_t n_params;
} gf_filter_info;

/* Return the number of filters, the i-th in alphabetical order, or one by name (else NULL). */
GF_API size_t gf_filter_count(void);
GF_API const gf_filter_info *gf_filter_get(size_t index);
GF_API const gf_filter_info *gf_filter_find(const char *name);

/* Return the i-th parameter of a filter, NULL past the end. */
GF_API const gf_param_info *gf_filter_param(const gf_filter_info *filter, size_t index);

/* Return the name of the i-th implementation of a filter and its backend; NULL past the end.
 * Implementation 0 is the plain reference. */
GF_API const char *gf_filter_impl(const gf_filter_info *filter, size_t index, gf_backend *backend);

/* Return the i-th of the filter's representative parameter sets ("sigma=2"), used by tests, docs
 * and the benchmark; NULL past the end. */
GF_API const char *gf_filter_case(const gf_filter_info *filter, size_t index);

#ifdef __cplusplus
}
#endif
#endif
