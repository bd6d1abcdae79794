#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "setup.h"
#include "timer.h"

enum { MIN_RUNS = 5, MAX_RUNS = 200 };
static const double enough_ns = 2e8; /* of one chain, after MIN_RUNS */

/* ---- pictures ----------------------------------------------------------------------------- */

static cli_exit create_stack(const bench *b, const gf_image_desc *one, gf_image **out)
{
    gf_image_desc all = *one;
    if (one->height > INT32_MAX / b->n_pictures)
        return cli_error(CLI_USAGE, NULL, "--size: %d rows are too many; at most %d", one->height,
                         INT32_MAX / b->n_pictures);
    all.height *= b->n_pictures;
    gf_status status = gf_image_create(b->context, &all, b->memory, out);
    return status == GF_OK ? CLI_OK
                           : cli_library_error(CLI_FAILED, "a smaller --size needs less memory");
}

/* The i-th picture of a stack. */
static gf_view slice(const bench *b, const gf_image *stack, int i)
{
    gf_view view = gf_image_view(stack);
    view.height /= b->n_pictures;
    view.data = (char *)view.data + (size_t)i * (size_t)view.height * view.pitch_bytes;
    return view;
}

/* xorshift32 (G. Marsaglia, Xorshift RNGs, 2003) */
static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

void bench_noise(const gf_view *view)
{
    uint32_t state = 2463534242u;
    for (int32_t y = 0; y < view->height; y++) {
        char *row = (char *)view->data + (size_t)y * view->pitch_bytes;
        for (int32_t x = 0; x < view->width; x++) {
            uint32_t r = next_random(&state);
            if (view->pixel == GF_PIXEL_U8)
                ((uint8_t *)row)[x] = (uint8_t)(r >> 24);
            else if (view->pixel == GF_PIXEL_U16)
                ((uint16_t *)row)[x] = (uint16_t)(r >> 16);
            else
                ((float *)row)[x] = (float)(r >> 8) * 0x1p-24f;
        }
    }
}

static cli_exit fill_source(bench *b)
{
    gf_image *noise;
    if (gf_image_create(NULL, &b->desc, GF_MEMORY_HOST, &noise) != GF_OK)
        return cli_library_error(CLI_FAILED, NULL);
    gf_view from = gf_image_view(noise);
    bench_noise(&from);
    gf_status status = GF_OK;
    for (int i = 0; i < b->n_pictures && status == GF_OK; i++) {
        gf_view to = slice(b, b->source, i);
        status = gf_view_copy(b->context, &from, &to);
    }
    gf_image_destroy(&noise);
    return status == GF_OK ? CLI_OK : cli_library_error(CLI_FAILED, NULL);
}

/* ---- times -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double view_bytes(const gf_view *v)
{
    return (double)v->width * v->height * (double)gf_pixel_bytes(v->pixel);
}

/* Copy the whole stack at once, so that the start of a copy weighs little. */
static cli_exit measure_copy(bench *b)
{
    enum { RUNS = 5 };
    double ns[RUNS];
    gf_image *target;
    cli_exit code = create_stack(b, &b->desc, &target);
    if (code) return code;
    gf_view from = gf_image_view(b->source), to = gf_image_view(target);
    gf_status status = gf_view_copy(b->context, &from, &to); /* warm-up */
    for (int i = 0; i < RUNS && status == GF_OK; i++) {
        double begin = timer_now_ns();
        status = gf_view_copy(b->context, &from, &to);
        ns[i] = timer_now_ns() - begin;
    }
    gf_image_destroy(&target);
    if (status != GF_OK) return cli_library_error(CLI_FAILED, NULL);
    b->copy_ns_per_byte = median(ns, RUNS) / (2 * view_bytes(&from));
    return CLI_OK;
}

/* Runs take turns with the pictures of a stack, so that a cache does not hold the whole of them from
 * one run to the next. */
static int round_up_to_batches(const bench *b)
{
    enum { LEAST_PICTURES = 8, LEAST_TURNS = 2 };
    const int turns = (LEAST_PICTURES + b->batch - 1) / b->batch;
    return b->batch * (turns > LEAST_TURNS ? turns : LEAST_TURNS);
}

cli_exit bench_start(bench *b)
{
    b->n_pictures = round_up_to_batches(b);
    cli_exit code = create_stack(b, &b->desc, &b->source);
    if (!code) code = fill_source(b);
    if (!code) code = measure_copy(b);
    return code;
}

void bench_end(bench *b) { gf_image_destroy(&b->source); }

/* ---- one chain ---------------------------------------------------------------------------- */

/* All pictures of a stack pair; views[i] and views[n_pictures + i] go together. */
static gf_view *slices(const bench *b, const gf_image *target)
{
    gf_view *views = malloc(2 * (size_t)b->n_pictures * sizeof *views);
    for (int i = 0; views && i < b->n_pictures; i++) {
        views[i] = slice(b, b->source, i);
        views[b->n_pictures + i] = slice(b, target, i);
    }
    return views;
}

static gf_status run_once(gf_plan *plan, const bench *b, const gf_view *views, int i, double *ns)
{
    const gf_view *from = views + i * b->batch % b->n_pictures, *to = from + b->n_pictures;
    gf_timings t;
    double begin = timer_now_ns();
    gf_status status = gf_plan_run_batch(plan, (size_t)b->batch, from, to);
    if (status == GF_OK) status = gf_plan_wait(plan);
    *ns = timer_now_ns() - begin;
    if (status != GF_OK || b->memory != GF_MEMORY_CUDA) return status;
    status = gf_plan_timings(plan, &t);
    *ns = t.kernels_ns;
    return status;
}

static gf_status run_many(gf_plan *plan, const bench *b, const gf_view *views, bench_result *out)
{
    double ns[MAX_RUNS], spent = 0;
    gf_status status = run_once(plan, b, views, 0, &ns[0]); /* warm-up */
    for (out->runs = 0; out->runs < MAX_RUNS && status == GF_OK; spent += ns[out->runs++]) {
        if (out->runs >= MIN_RUNS && spent > enough_ns) break;
        status = run_once(plan, b, views, out->runs, &ns[out->runs]);
        if (status != GF_OK) break;
    }
    if (status == GF_OK) out->ns = median(ns, out->runs);
    return status;
}

static void name_impls(const gf_plan *plan, bench_result *out)
{
    gf_stage_info s;
    size_t used = 0;
    for (int i = 0; used < sizeof out->impls && gf_plan_stage_get(plan, i, &s); i++) {
        used += (size_t)snprintf(out->impls + used, sizeof out->impls - used, "%s%s", i ? "+" : "",
                                 s.impl);
        out->expected_ns += s.cost_ns;
    }
    out->backend = gf_plan_backend(plan);
}

static cli_exit run_plan(bench *b, gf_plan *plan, bench_result *out)
{
    gf_image_desc desc = gf_plan_output(plan);
    gf_image *target;
    cli_exit code = create_stack(b, &desc, &target);
    if (code) return code;
    gf_view *views = slices(b, target);
    gf_status status = views ? run_many(plan, b, views, out) : GF_ERROR_NO_MEMORY;
    gf_view from = slice(b, b->source, 0), to = slice(b, target, 0);
    double bytes = b->batch * (view_bytes(&from) + view_bytes(&to));
    free(views);
    gf_image_destroy(&target);
    if (status != GF_OK) return cli_library_error(CLI_FAILED, NULL);
    out->pixels_per_s = (double)b->batch * to.width * to.height / (out->ns * 1e-9);
    out->bytes_per_s = bytes / (out->ns * 1e-9);
    out->copy_share = bytes * b->copy_ns_per_byte / out->ns;
    name_impls(plan, out);
    return CLI_OK;
}

cli_exit bench_chain(bench *b, const gf_graph *graph, bench_result *out)
{
    gf_plan *plan;
    gf_plan_params params = { .struct_size = sizeof params,
                              .impl = b->args->impl,
                              .memory = b->memory,
                              .expected_runs = MAX_RUNS,
                              .batch = (unsigned)b->batch };
    *out = (bench_result){ 0 };
    gf_status status = gf_plan_create(b->context, graph, &b->desc, &params, &plan);
    if (status != GF_OK) return cli_library_error(setup_plan_exit(status), NULL);
    cli_exit code = run_plan(b, plan, out);
    gf_plan_destroy(&plan);
    return code;
}
