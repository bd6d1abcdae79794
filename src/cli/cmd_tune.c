#define _XOPEN_SOURCE 700 /* realpath */
#include "cmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "json.h"
#include "setup.h"
#include "signals.h"
#include "tune_check.h"

enum { MOST_ROWS = 2000 };

typedef struct row {
    const char *impl;
    gf_pixel pixel;
    double expected_ns, ns;
} row;

typedef struct tune {
    cli_args args; /* as given, but for what each measurement sets */
    gf_context *cpu;
    gf_device_info gpu; /* multiprocessors 0: none is measured */
    int n;
    row rows[MOST_ROWS];
} tune;

/* ---- measuring ---------------------------------------------------------------------------- */

/* Whether there is a row so near that another would say nothing new. */
static bool known(const tune *t, const char *impl, gf_pixel pixel, double expected_ns)
{
    static const double near = 0.05;
    for (const row *r = t->rows; r < t->rows + t->n; r++)
        if (!strcmp(r->impl, impl) && r->pixel == pixel &&
            fabs(log(expected_ns / r->expected_ns)) < near)
            return true;
    return false;
}

/* Check and measure one implementation. */
static cli_exit measure(tune *t, bench *b, const gf_graph *graph, const char *chain,
                        const char *impl, const char *reference)
{
    bool same = false;
    bench_result result;
    t->args.impl = impl;
    cli_exit code = tune_check(b->context, t->cpu, graph, b->desc.pixel, impl, reference, &same);
    if (!code && !same)
        code = cli_error(CLI_FAILED, "no file is written; gfcheck shows where it differs",
                         "%s: '%s' on %s pixels does not give what the reference gives", impl,
                         chain, gf_pixel_name(b->desc.pixel));
    if (!code) code = bench_chain(b, graph, &result);
    t->args.impl = NULL;
    if (code) return code;
    t->rows[t->n++] = (row){ impl, b->desc.pixel, result.expected_ns, result.ns };
    return CLI_OK;
}

/* The static name of a rival: what a plan says lives only as long as the plan. */
static const char *impl_name(const gf_filter_info *filter, const char *name)
{
    const char *impl;
    for (size_t i = 0; (impl = gf_filter_impl(filter, i, NULL)); i++)
        if (!strcmp(impl, name)) return impl;
    return NULL;
}

/* Measure the implementations that could be chosen: those expected to take a few times as long as
 * the best at most. */
static cli_exit measure_rivals(tune *t, bench *b, const gf_filter_info *filter, const char *chain,
                               const gf_graph *graph, const gf_plan *plan)
{
    static const double hopeless = 8;
    const char *reference = gf_filter_impl(filter, 0, NULL);
    gf_rival_info r;
    double best_ns = INFINITY;
    for (int i = 0; gf_plan_rival_get(plan, 0, i, &r); i++)
        if (r.usable && r.backend == b->args->backend) best_ns = fmin(best_ns, r.cost_ns);
    cli_exit code = CLI_OK;
    for (int i = 0; !code && gf_plan_rival_get(plan, 0, i, &r); i++) {
        const bool rival = r.usable && r.backend == b->args->backend && strcmp(r.impl, reference) &&
                           r.cost_ns <= hopeless * best_ns;
        if (rival && t->n < MOST_ROWS && !known(t, r.impl, b->desc.pixel, r.cost_ns))
            code = measure(t, b, graph, chain, impl_name(filter, r.impl), reference);
    }
    return code;
}

static cli_exit measure_case(tune *t, bench *b, const gf_filter_info *filter, const char *setting)
{
    char chain[512];
    gf_graph *graph;
    gf_plan *plan;
    gf_plan_params params = { .struct_size = sizeof params,
                              .memory = b->memory,
                              .expected_runs = 1000 };
    snprintf(chain, sizeof chain, "%s%s%s", filter->name, *setting ? ":" : "", setting);
    cli_exit code = setup_graph(chain, NULL, &graph);
    if (code) return code;
    if (gf_plan_create(b->context, graph, &b->desc, &params, &plan) == GF_OK) {
        code = measure_rivals(t, b, filter, chain, graph, plan);
        gf_plan_destroy(&plan);
    } else
        code = cli_library_error(CLI_FAILED, NULL);
    gf_graph_destroy(&graph);
    return code;
}

/* All cases of the filters named, or of all filters. */
static cli_exit measure_cases(tune *t, bench *b)
{
    const gf_filter_info *filter;
    const char *setting;
    const size_t n = t->args.n_words ? t->args.n_words : gf_filter_count();
    cli_exit code = CLI_OK;
    for (size_t i = 0; !code && i < n; i++) {
        filter = t->args.n_words ? gf_filter_find(t->args.words[i]) : gf_filter_get(i);
        for (size_t k = 0; !code && (setting = gf_filter_case(filter, k)); k++)
            code = measure_case(t, b, filter, setting);
    }
    return code;
}

static cli_exit measure_pictures(tune *t, gf_context *context, gf_pixel pixel, int32_t size)
{
    bench b = { .args = &t->args,
                .context = context,
                .memory = t->args.backend == GF_BACKEND_CUDA ? GF_MEMORY_CUDA : GF_MEMORY_HOST,
                .desc = { size, size, pixel },
                .batch = 1 };
    if (!t->args.quiet)
        cli_notice("measuring %s, %s %dx%d", gf_backend_name(t->args.backend), gf_pixel_name(pixel),
                   (int)size, (int)size);
    cli_exit code = bench_start(&b);
    if (!code) code = measure_cases(t, &b);
    bench_end(&b);
    return code;
}

static cli_exit measure_backend(tune *t, gf_backend backend)
{
    static const gf_pixel pixels[] = { GF_PIXEL_U8, GF_PIXEL_U16, GF_PIXEL_F32 };
    static const int32_t sizes[][2] = {
        [GF_BACKEND_CPU] = { 256, 1024 }, [GF_BACKEND_CUDA] = { 512, 4096 }
    };
    gf_context *context;
    cli_log log;
    t->args.backend = backend;
    cli_exit code = setup_context(&t->args, &log, &context);
    for (int p = 0; p < 3; p++)
        for (int s = 0; !code && s < 2; s++)
            code = measure_pictures(t, context, pixels[p], sizes[backend][s]);
    gf_context_destroy(&context);
    return code;
}

/* ---- the file ----------------------------------------------------------------------------- */

static void write_rows(const tune *t, FILE *out)
{
    fprintf(out, "gpufilter-tune 1\nversion %s\n", GF_VERSION_STRING);
    if (t->gpu.multiprocessors)
        fprintf(out, "# %s\ngpu %d %d\n", t->gpu.name, 10 * t->gpu.major + t->gpu.minor,
                t->gpu.multiprocessors);
    fprintf(out, "# implementation, pixels, expected ns, measured ns\n");
    for (const row *r = t->rows; r < t->rows + t->n; r++)
        fprintf(out, "%s %s %.0f %.0f\n", r->impl, gf_pixel_name(r->pixel), r->expected_ns, r->ns);
}

static void write_json(const tune *t)
{
    json writer = { .out = stdout }, *j = &writer;
    json_object(j, NULL);
    json_string(j, "command", "tune");
    json_string(j, "gpu", t->gpu.multiprocessors ? t->gpu.name : NULL);
    json_array(j, "rows");
    for (const row *r = t->rows; r < t->rows + t->n; r++) {
        json_object(j, NULL);
        json_string(j, "impl", r->impl);
        json_string(j, "pixel", gf_pixel_name(r->pixel));
        json_number(j, "expected_ns", r->expected_ns);
        json_number(j, "measured_ns", r->ns);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

/* Write the rows to a file; an existing one only where fresh is not asked for. */
static bool write_rows_to(const tune *t, const char *path, bool fresh)
{
    FILE *file = fopen(path, fresh ? "wx" : "w");
    if (!file) return false;
    write_rows(t, file);
    bool good = !ferror(file);
    return !fclose(file) && good;
}

/* Under a temporary name, then renamed: a program that starts meanwhile reads a whole file. */
static bool replace_file(const tune *t, const char *path)
{
    size_t n = strlen(path) + sizeof ".part";
    char *part = malloc(n);
    if (!part) return false;
    snprintf(part, n, "%s.part", path);
    signals_hold();
    bool good = write_rows_to(t, part, true);
    const bool made = good || errno != EEXIST; /* another's file stays */
    good = good && !rename(part, path);
    const int reason = errno;
    if (!good && made) remove(part);
    signals_release();
    free(part);
    errno = reason;
    return good;
}

/* A device or a pipe is written as it is, because a file renamed to its name would replace it; of a
 * symbolic link the file it leads to is replaced. */
static cli_exit write_file(const tune *t, const char *path)
{
    struct stat s;
    const bool exists = !stat(path, &s);
    char *target = exists ? realpath(path, NULL) : NULL;
    const bool good = exists && !S_ISREG(s.st_mode) ? write_rows_to(t, path, false)
                                                    : replace_file(t, target ? target : path);
    const int reason = errno;
    free(target);
    return good ? CLI_OK : cli_error(CLI_OUTPUT, NULL, "%s: %s", path, strerror(reason));
}

static cli_exit write_result(const tune *t)
{
    if (t->args.json) write_json(t);
    if (t->args.output) return write_file(t, t->args.output);
    if (!t->args.json) write_rows(t, stdout);
    return CLI_OK;
}

/* ---- all ---------------------------------------------------------------------------------- */

/* The GPU is measured when there is one, and must be there when it is asked for. */
static cli_exit find_gpu(tune *t)
{
    if (t->args.backend == GF_BACKEND_CPU) return CLI_OK;
    gf_cuda_info info;
    gf_cuda_get_info(&info);
    if (!info.reason[0] && gf_cuda_get_device(t->args.device, &t->gpu) == GF_OK) return CLI_OK;
    t->gpu.multiprocessors = 0;
    if (t->args.backend == GF_BACKEND_AUTO) {
        if (!t->args.quiet) cli_notice("no GPU is measured: %s", info.reason);
        return CLI_OK;
    }
    if (!info.reason[0]) return cli_library_error(CLI_BACKEND, NULL);
    return cli_error(CLI_BACKEND, "gpufilter devices says what was found", "%s", info.reason);
}

static cli_exit measure_all(tune *t, gf_backend wanted)
{
    cli_log log;
    t->args.backend = GF_BACKEND_CPU;
    cli_exit code = setup_context(&t->args, &log, &t->cpu);
    if (!code && wanted != GF_BACKEND_CUDA) code = measure_backend(t, GF_BACKEND_CPU);
    if (!code && t->gpu.multiprocessors) code = measure_backend(t, GF_BACKEND_CUDA);
    gf_context_destroy(&t->cpu);
    return code;
}

cli_exit cmd_tune(const cli_args *args)
{
    for (size_t i = 0; i < args->n_words; i++)
        if (!gf_filter_find(args->words[i]))
            return cli_error(CLI_USAGE, "gpufilter list shows the filters; -o FILE names the file",
                             "'%s' is not a filter", args->words[i]);
    tune *t = calloc(1, sizeof *t);
    if (!t) return cli_error(CLI_FAILED, NULL, "out of memory");
    t->args = *args;
    t->args.tuning = ""; /* times as the models expect them */
    cli_exit code = find_gpu(t);
    if (!code) code = measure_all(t, args->backend);
    if (!code) code = write_result(t);
    free(t);
    return code;
}
