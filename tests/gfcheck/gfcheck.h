/* What the parts of gfcheck share. A case is one input and one request; it is given to every
 * implementation of its filter and the results are compared with the reference's. */
#ifndef GFCHECK_H
#define GFCHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "filters/filter_def.h"
#include "filters/window.h"

/* ---- random numbers (cases.c) -------------------------------------------------------------- */

uint64_t gfc_next(uint64_t *state);
int gfc_below(uint64_t *state, int n); /* 0 … n-1 */
double gfc_unit(uint64_t *state);      /* 0 … 1, 1 excluded */

/* ---- parameters (params.c) ----------------------------------------------------------------- */

enum { GFC_TEXT = 1024 };

/* Parameter sets of a filter: the defaults, the def's cases, each minimum and maximum, random. */
int gfc_param_sets(const gf_filter_def *def);
int gfc_param_first_end(const gf_filter_def *def); /* number of the first minimum or maximum */
int gfc_param_ends(const gf_filter_def *def);      /* how many there are */

/* Write set number `set` as text; `random` draws what the set leaves open. A maximum in pixels
 * is cut to most_px: a window of millions of taps takes seconds. */
void gfc_param_text(const gf_filter_def *def, int set, double most_px, uint64_t *random,
                    char text[GFC_TEXT]);

/* Append border=…, unless the text says so already or the filter has no such parameter. */
void gfc_param_border(const gf_filter_def *def, gf_border border, double value,
                      char text[GFC_TEXT]);

/* ---- cases (cases.c) ----------------------------------------------------------------------- */

typedef enum gfc_pattern {
    GFC_NOISE,
    GFC_NEAR_ZERO,
    GFC_NEAR_MAX,
    GFC_IMPULSE,
    GFC_RAMP,
    GFC_CHECKER,
    GFC_CONSTANT,
    GFC_TINY, /* from here on f32 only */
    GFC_HUGE,
    GFC_SPIKE, /* from here on noise with a few pixels replaced */
    GFC_NAN,
    GFC_INF,
    GFC_MIXED,
    GFC_PATTERNS
} gfc_pattern;

typedef enum gfc_pitch { GFC_TIGHT, GFC_PADDED, GFC_ODD, GFC_PITCHES } gfc_pitch;

/* Where the pixels of an image lie: kind of pitch, and pixels between an aligned address and the
 * first one. */
typedef struct gfc_layout {
    gfc_pitch pitch;
    int offset_px;
} gfc_layout;

typedef struct gfc_case {
    const gf_filter_def *def;
    char params[GFC_TEXT];
    int32_t width, height;
    gf_pixel in, out;
    gfc_pattern pattern;
    gfc_layout src, dst;
    double white;
    int threads;
    uint64_t seed; /* of the pixels */
} gfc_case;

/* Text that --case reads back. */
void gfc_case_print(const gfc_case *one, char *text, size_t n_bytes);
bool gfc_case_parse(const char *text, gfc_case *one);

/* Cases that always run: corners of the input space, then every width from 1 to 300. Return false
 * past the end. */
bool gfc_corner(const gf_filter_def *def, bool quick, int index, gfc_case *one);
bool gfc_sweep(const gf_filter_def *def, bool quick, int index, gfc_case *one);

/* Draws that cover all pairs of choices first; one state a filter. */
typedef struct gfc_pairs gfc_pairs;
gfc_pairs *gfc_pairs_create(const gf_filter_def *def, uint64_t seed);
void gfc_pairs_draw(gfc_pairs *pairs, gfc_case *one);
/* Pairs seen so far and in all. */
void gfc_pairs_coverage(const gfc_pairs *pairs, int *seen, int *all);
void gfc_pairs_destroy(gfc_pairs *pairs);

/* ---- pixels (patterns.c) ------------------------------------------------------------------- */

const char *gfc_pattern_name(gfc_pattern pattern);

/* Write a case's pixels, rows without gaps. huge is the amplitude of GFC_HUGE. */
void gfc_pattern_fill(const gfc_case *one, gfc_pattern pattern, double huge, void *pixels);

/* Write an f32 image that is 0, and NaN where the pattern replaces pixels of the noise. */
void gfc_pattern_marks(const gfc_case *one, float *pixels);

/* Pixel i as a number. */
double gfc_pixel_get(const void *pixels, gf_pixel pixel, size_t i);

/* ---- buffers (buffer.c) -------------------------------------------------------------------- */

/* An image in host or device memory with guard bytes around and between its rows. */
typedef struct gfc_buffer {
    gf_view view;
    gfi_queue *queue; /* NULL: host memory */
    unsigned char *memory;
    unsigned char *before,
        *after;            /* host copies of the whole buffer; after == memory on the host */
    size_t n_bytes, first; /* size of the buffer, place of the first pixel */
} gfc_buffer;

/* guard_bytes lie before and after; 0 lets the buffer end with the last pixel, so that a memory
 * checker sees a read past it. */
gf_status gfc_buffer_create(gfi_queue *queue, const gf_image_desc *desc, const gfc_layout *layout,
                            size_t guard_bytes, gfc_buffer *out);
/* Set every byte, then the pixels (rows without gaps; NULL leaves them). */
gf_status gfc_buffer_fill(gfc_buffer *buffer, int byte, const void *pixels);
/* Get the buffer's contents into after. */
gf_status gfc_buffer_fetch(gfc_buffer *buffer);
/* Whether bytes changed since the fill; outside_only leaves the pixels out. */
bool gfc_buffer_changed(const gfc_buffer *buffer, bool outside_only, size_t *where);
/* Copy the pixels of after into rows without gaps. */
void gfc_buffer_pixels(const gfc_buffer *buffer, void *pixels);
void gfc_buffer_destroy(gfc_buffer *buffer);

/* ---- comparison (compare.c) ---------------------------------------------------------------- */

/* What is right: the reference's result before rounding, and how far off one may be. */
typedef struct gfc_expected {
    gf_image_desc out;
    const float *value;
    double allowed; /* |error| of a value before rounding; rounding of f32 itself comes on top */
    /* Unsharp with a threshold: near the threshold either branch is right. NULL otherwise. */
    const float *sharpened; /* result without a threshold */
    const void *src;
    gf_pixel src_pixel;
    double step, step_allowed; /* amount * threshold, and the error of amount * d */
} gfc_expected;

typedef struct gfc_verdict {
    size_t bad, worst; /* number of wrong pixels, index of the worst */
    double got, expected, error, allowed;
    double ratio; /* largest error in units of what is allowed, wrong or not */
} gfc_verdict;

bool gfc_compare(const gfc_expected *expected, const void *pixels, gfc_verdict *verdict);

/* ---- running (runner.c) -------------------------------------------------------------------- */

typedef struct gfc_options {
    uint64_t seed;
    double budget_s, case_ms;
    const char *filter, *impl, *one_case, *json, *compare;
    gf_backend backend;
    bool quick, draws, list, verbose, bench;
    int32_t size;
} gfc_options;

enum { GFC_MAX_ROWS = 512 };

/* How one implementation fares. */
typedef struct gfc_row {
    const gf_filter_def *def;
    const gf_impl *impl;
    unsigned long passed, failed, unusable;
    double ratio;
    char why[GFI_WHY_BYTES]; /* last reason for not being usable */
} gfc_row;

typedef struct gfc_run {
    const gfc_options *options;
    gfi_device *device; /* NULL: none */
    gfi_queue *queue;
    char no_device[256];
    gfc_row rows[GFC_MAX_ROWS];
    int n_rows;
    unsigned long cases, refused; /* drawn, and outside a range that only the filter knows */
} gfc_run;

gf_status gfc_run_open(gfc_run *run, const gfc_options *options);
void gfc_run_close(gfc_run *run);

/* Whether the options ask for an implementation, and whether this machine can run it. */
bool gfc_wanted(const gfc_run *run, const gf_filter_def *def, const gf_impl *impl);
bool gfc_runnable(const gfc_run *run, const gf_impl *impl);

/* A request with all that belongs to it. */
typedef struct gfc_request {
    gfi_request request;
    void *params;
    gfi_window *window;
} gfc_request;
gf_status gfc_request_create(const gfc_run *run, const gfc_case *one, gfc_request *out);
void gfc_request_destroy(gfc_request *request);

/* Check all implementations on one case. */
void gfc_run_case(gfc_run *run, const gfc_case *one);

/* ---- results (report.c) -------------------------------------------------------------------- */

typedef struct gfc_totals {
    unsigned long passed, failed, skipped;
} gfc_totals;

typedef struct gfc_bench_row {
    const char *filter, *impl, *backend;
    char params[GFC_TEXT];
    const char *pixel;
    int32_t size;
    double ms, gb_s, percent_of_copy, speedup;
} gfc_bench_row;

gfc_totals gfc_totals_count(const gfc_run *run);
void gfc_report_table(const gfc_run *run);
void gfc_json_text(FILE *file, const char *text); /* quoted and escaped */
bool gfc_report_json(const gfc_run *run, const gfc_totals *totals, const gfc_bench_row *rows,
                     size_t n_rows);

/* ---- benchmark (bench.c) ------------------------------------------------------------------- */

/* Time the filters' cases and write the table; *rows is freed by the caller. Returns the number of
 * failures, which are also those cases that --compare finds slower. */
unsigned long gfc_bench(gfc_run *run, gfc_bench_row **rows, size_t *n_rows);

#endif
