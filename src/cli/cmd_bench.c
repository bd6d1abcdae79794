#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "json.h"
#include "setup.h"

/* ---- what to measure ---------------------------------------------------------------------- */

typedef struct chains {
    char **text;
    gf_graph **graph;
    size_t n, room;
    size_t n_without_impl; /* left out: no implementation of the name --impl gives */
} chains;

static cli_exit grow(chains *c)
{
    if (c->n < c->room) return CLI_OK;
    size_t room = c->room ? 2 * c->room : 64;
    char **text = realloc(c->text, room * sizeof *text);
    if (text) c->text = text;
    gf_graph **graph = text ? realloc(c->graph, room * sizeof *graph) : NULL;
    if (!graph) return cli_error(CLI_FAILED, NULL, "out of memory");
    c->graph = graph;
    c->room = room;
    return CLI_OK;
}

/* Add name, or name:parameters. */
static cli_exit add(const cli_args *args, chains *c, const char *name, const char *parameters)
{
    cli_exit code = grow(c);
    if (code) return code;
    size_t bytes = strlen(name) + strlen(parameters) + 2;
    char *text = malloc(bytes);
    if (!text) return cli_error(CLI_FAILED, NULL, "out of memory");
    snprintf(text, bytes, "%s%s%s", name, *parameters ? ":" : "", parameters);
    gf_graph *graph;
    code = setup_graph(text, "gpufilter bench [FILTER | CHAIN]...", &graph);
    if (!code && args->impl && setup_impl_backend(graph, args->impl, NULL) == GF_BACKEND_AUTO) {
        c->n_without_impl++;
        gf_graph_destroy(&graph);
    }
    if (code || !graph) {
        free(text);
        return code;
    }
    c->text[c->n] = text;
    c->graph[c->n++] = graph;
    return CLI_OK;
}

static cli_exit add_filter(const cli_args *args, chains *c, const gf_filter_info *filter)
{
    const char *parameters;
    cli_exit code = CLI_OK;
    for (size_t i = 0; !code && (parameters = gf_filter_case(filter, i)); i++)
        code = add(args, c, filter->name, parameters);
    return code;
}

static cli_exit collect(const cli_args *args, chains *c)
{
    cli_exit code = CLI_OK;
    for (size_t i = 0; !code && !args->n_words && i < gf_filter_count(); i++)
        code = add_filter(args, c, gf_filter_get(i));
    for (size_t i = 0; !code && i < args->n_words; i++) {
        const gf_filter_info *filter = gf_filter_find(args->words[i]);
        code = filter ? add_filter(args, c, filter) : add(args, c, args->words[i], "");
    }
    if (code) return code;
    if (!c->n)
        return cli_error(CLI_USAGE, "gpufilter help FILTER lists its implementations",
                         "--impl: none of these has an implementation '%s'",
                         args->impl ? args->impl : "");
    if (c->n_without_impl && !args->quiet)
        cli_notice("%zu cases left out: they have no implementation '%s'", c->n_without_impl,
                   args->impl);
    return CLI_OK;
}

static void free_chains(chains *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->text[i]);
        gf_graph_destroy(&c->graph[i]);
    }
    free(c->text);
    free(c->graph);
}

/* ---- what came out ------------------------------------------------------------------------ */

static int longest(const chains *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (strlen(c->text[i]) > n) n = strlen(c->text[i]);
    return (int)n;
}

static void print_head(const bench *b, int width)
{
    if (b->batch > 1) printf("%d pictures of ", b->batch);
    printf("%dx%d %s, %s memory; copy %.1f GB/s\n", b->desc.width, b->desc.height,
           gf_pixel_name(b->desc.pixel), b->memory == GF_MEMORY_CUDA ? "GPU" : "host",
           1 / b->copy_ns_per_byte);
    printf("%-*s %-16s %10s %10s %8s %8s\n", width, "chain", "impl", "ms", "MPix/s", "GB/s",
           "% copy");
}

static void print_row(const char *chain, int width, const bench_result *r)
{
    printf("%-*s %-16s %10.3f %10.1f %8.2f %8.1f\n", width, chain, r->impls, r->ns / 1e6,
           r->pixels_per_s / 1e6, r->bytes_per_s / 1e9, 100 * r->copy_share);
    fflush(stdout);
}

static void json_head(const bench *b, json *j)
{
    json_object(j, NULL);
    json_string(j, "command", "bench");
    json_integer(j, "width", b->desc.width);
    json_integer(j, "height", b->desc.height);
    json_integer(j, "batch", b->batch);
    json_string(j, "pixel", gf_pixel_name(b->desc.pixel));
    json_string(j, "memory", b->memory == GF_MEMORY_CUDA ? "cuda" : "host");
    json_number(j, "copy_gb_per_s", 1 / b->copy_ns_per_byte);
    json_array(j, "results");
}

static void json_row(const char *chain, const bench_result *r, cli_exit code, json *j)
{
    json_object(j, NULL);
    json_string(j, "chain", chain);
    json_bool(j, "ok", !code);
    json_string(j, "error", code ? gf_error_message() : NULL);
    if (!code) {
        json_string(j, "impl", r->impls);
        json_string(j, "backend", gf_backend_name(r->backend));
        json_integer(j, "runs", r->runs);
        json_number(j, "ms", r->ns / 1e6);
        json_number(j, "mpix_per_s", r->pixels_per_s / 1e6);
        json_number(j, "gb_per_s", r->bytes_per_s / 1e9);
        json_number(j, "percent_of_copy", 100 * r->copy_share);
    }
    json_end_object(j);
}

/* ---- all ---------------------------------------------------------------------------------- */

static cli_exit measure_all(bench *b, const chains *c)
{
    json writer = { .out = stdout }, *j = b->args->json ? &writer : NULL;
    cli_exit code = CLI_OK;
    int width = longest(c);
    if (j)
        json_head(b, j);
    else
        print_head(b, width);
    for (size_t i = 0; i < c->n; i++) {
        bench_result r;
        cli_exit failed = bench_chain(b, c->graph[i], &r);
        if (j)
            json_row(c->text[i], &r, failed, j);
        else if (!failed)
            print_row(c->text[i], width, &r);
        if (failed) code = c->n > 1 ? CLI_FAILED : failed;
    }
    if (j) {
        json_end_array(j);
        json_end_object(j);
    }
    return code;
}

/* Pictures live where they are filtered. --backend auto means where --impl runs, else the GPU when
 * there is one. */
static void choose_backend(cli_args *args, const chains *c)
{
    gf_cuda_info info;
    if (args->backend == GF_BACKEND_AUTO && args->impl)
        args->backend = setup_impl_backend(c->graph[0], args->impl, NULL);
    if (args->backend != GF_BACKEND_AUTO) return;
    gf_cuda_get_info(&info);
    args->backend = info.built && !info.reason[0] ? GF_BACKEND_CUDA : GF_BACKEND_CPU;
}

static void choose_picture(const cli_args *args, bench *b)
{
    enum { GPU_SIZE = 8192, CPU_SIZE = 2048 };
    b->memory = args->backend == GF_BACKEND_CUDA ? GF_MEMORY_CUDA : GF_MEMORY_HOST;
    int32_t usual = b->memory == GF_MEMORY_CUDA ? GPU_SIZE : CPU_SIZE;
    b->desc.width = args->width ? args->width : usual;
    b->desc.height = args->height ? args->height : usual;
    b->batch = args->batch ? args->batch : 1;
    b->desc.pixel = args->pixel ? args->pixel : GF_PIXEL_U8;
}

cli_exit cmd_bench(const cli_args *given)
{
    cli_args args = *given;
    chains c = { 0 };
    cli_log log;
    bench b = { .args = &args };
    cli_exit code = collect(&args, &c);
    if (!code) {
        choose_backend(&args, &c);
        choose_picture(&args, &b);
        code = setup_context(&args, &log, &b.context);
    }
    if (!code) code = bench_start(&b);
    if (!code) code = measure_all(&b, &c);
    bench_end(&b);
    gf_context_destroy(&b.context);
    free_chains(&c);
    return code;
}
