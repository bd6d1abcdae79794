#include "setup.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copy text, each character that could mean something to the chain's grammar behind a backslash. */
static char *append_escaped(char *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x80 && !isalnum(c)) *out++ = '\\';
        *out++ = *text;
    }
    return out;
}

char *setup_chain_text(const cli_args *args)
{
    size_t n = strlen(args->filter->name) + 1;
    for (size_t i = 0; i < args->n_settings; i++)
        n += strlen(args->settings[i].key) + 2 * strlen(args->settings[i].value) + 2;
    char *text = malloc(n);
    if (!text) return NULL;
    char *end = text + sprintf(text, "%s", args->filter->name);
    for (size_t i = 0; i < args->n_settings; i++) {
        end += sprintf(end, ":%s=", args->settings[i].key);
        end = append_escaped(end, args->settings[i].value);
    }
    *end = '\0';
    return text;
}

cli_exit setup_graph(const char *chain, const char *hint, gf_graph **out)
{
    gf_status status = gf_graph_parse(chain, out);
    switch (status) {
    case GF_OK: return CLI_OK;
    case GF_ERROR_IO: return cli_library_error(CLI_INPUT, hint); /* a kernel file */
    case GF_ERROR_NO_MEMORY:
    case GF_ERROR_INTERNAL: return cli_library_error(CLI_FAILED, NULL);
    default: return cli_library_error(CLI_USAGE, hint);
    }
}

/* Look in one filter; what it has is offered to nearest. Return its backend, or AUTO. */
static gf_backend find_impl(const char *filter, const char *name, cli_nearest *nearest)
{
    const gf_filter_info *info = gf_filter_find(filter);
    const char *impl;
    gf_backend backend;
    for (size_t i = 0; info && (impl = gf_filter_impl(info, i, &backend)); i++) {
        if (!strcmp(impl, name)) return backend;
        if (nearest) cli_nearest_offer(nearest, impl);
    }
    return GF_BACKEND_AUTO;
}

gf_backend setup_impl_backend(const gf_graph *graph, const char *name, cli_nearest *nearest)
{
    gf_backend backend = GF_BACKEND_AUTO;
    for (int i = 0; i < gf_graph_size(graph) && backend == GF_BACKEND_AUTO; i++)
        backend = find_impl(gf_graph_filter(graph, i), name, nearest);
    return backend;
}

static cli_exit check_cuda(const cli_args *args)
{
    gf_cuda_info info;
    gf_cuda_get_info(&info);
    if (!info.reason[0]) return CLI_OK;
    return cli_error(CLI_BACKEND, "gpufilter devices says what was found", "--impl %s: %s",
                     args->impl, info.reason);
}

cli_exit setup_check_impl(const cli_args *args, const gf_graph *graph)
{
    char hint[128];
    if (!args->impl) return CLI_OK;
    cli_nearest nearest = { .wanted = args->impl };
    gf_backend backend = setup_impl_backend(graph, args->impl, &nearest);
    if (backend == GF_BACKEND_AUTO) {
        cli_nearest_hint(&nearest, "gpufilter help FILTER lists its implementations", hint,
                         sizeof hint);
        return cli_error(CLI_USAGE, hint, "--impl: no filter here has an implementation '%s'",
                         args->impl);
    }
    if (args->backend != GF_BACKEND_AUTO && args->backend != backend)
        return cli_error(CLI_USAGE, NULL, "--impl: '%s' runs on %s, but --backend %s was given",
                         args->impl, gf_backend_name(backend), gf_backend_name(args->backend));
    if (backend == GF_BACKEND_CUDA) return check_cuda(args);
    return CLI_OK;
}

static cli_exit context_exit(gf_status status)
{
    switch (status) {
    case GF_OK: return CLI_OK;
    case GF_ERROR_INVALID:
    case GF_ERROR_RANGE: return cli_library_error(CLI_USAGE, NULL);
    case GF_ERROR_NO_MEMORY:
    case GF_ERROR_INTERNAL: return cli_library_error(CLI_FAILED, NULL);
    case GF_ERROR_IO:
    case GF_ERROR_FORMAT:
        return cli_library_error(CLI_INPUT, "GPUFILTER_TUNE names it; gpufilter tune writes one");
    default:
        return cli_library_error(CLI_BACKEND, "gpufilter devices says what was found; "
                                              "--backend auto or cpu runs without a GPU");
    }
}

cli_exit setup_context_begin(const cli_args *args, cli_log *log, gf_context **out)
{
    log->level = args->quiet ? 0 : args->verbose ? GF_LOG_DETAIL : GF_LOG_NOTICE;
    gf_context_params params = { .struct_size = sizeof params,
                                 .backend = args->backend,
                                 .device = args->device,
                                 .threads = args->threads,
                                 .log = cli_log_line,
                                 .log_user = log,
                                 .background_start = 1,
                                 .tuning = args->tuning };
    return context_exit(gf_context_create(&params, out));
}

cli_exit setup_context_end(gf_context *context) { return context_exit(gf_context_wait(context)); }

cli_exit setup_context(const cli_args *args, cli_log *log, gf_context **out)
{
    cli_exit code = setup_context_begin(args, log, out);
    if (!code) code = setup_context_end(*out);
    if (code) gf_context_destroy(out);
    return code;
}

cli_exit setup_plan_exit(gf_status status)
{
    switch (status) {
    case GF_ERROR_INVALID:
    case GF_ERROR_RANGE:
    case GF_ERROR_NOT_FOUND:
    case GF_ERROR_FORMAT:
    case GF_ERROR_UNSUPPORTED: return CLI_USAGE;
    case GF_ERROR_DEVICE: return CLI_BACKEND; /* where CUDA was left to choice, the CPU ran */
    default: return CLI_FAILED;
    }
}
