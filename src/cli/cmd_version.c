#include "cmd.h"

#include <stdio.h>

#include "devices.h"
#include "json.h"

static const char *abilities(const gf_codec_info *c)
{
    return c->can_load && c->can_save ? "read, write"
           : c->can_load              ? "read"
           : c->can_save              ? "write"
                                      : "not built in";
}

static void print_text(bool verbose)
{
    const gf_codec_info *c;
    printf("gpufilter %s\n", gf_version());
    if (!verbose) return;
    printf("filters: %zu\n", gf_filter_count());
    for (size_t i = 0; (c = gf_codec_get(i)); i++)
        printf("format %-5s %-12s %s\n", c->name, abilities(c), c->summary);
    devices_print(stdout);
}

static void codec_json(json *j, const gf_codec_info *c)
{
    json_object(j, NULL);
    json_string(j, "name", c->name);
    json_string(j, "extensions", c->extensions);
    json_bool(j, "can_load", c->can_load);
    json_bool(j, "can_save", c->can_save);
    json_string(j, "summary", c->summary);
    json_end_object(j);
}

static void print_json(bool verbose)
{
    json j = { .out = stdout };
    const gf_codec_info *c;
    json_object(&j, NULL);
    json_string(&j, "version", gf_version());
    if (verbose) {
        json_integer(&j, "filters", (long long)gf_filter_count());
        json_array(&j, "formats");
        for (size_t i = 0; (c = gf_codec_get(i)); i++) codec_json(&j, c);
        json_end_array(&j);
        devices_json(&j);
    }
    json_end_object(&j);
}

cli_exit cmd_version(const cli_args *args)
{
    if (args->n_words) return cli_error(CLI_USAGE, NULL, "--version takes no arguments");
    if (args->json)
        print_json(args->verbose);
    else
        print_text(args->verbose);
    return CLI_OK;
}
