#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "describe.h"

static bool wanted(const gf_filter_info *f, const char *group)
{
    return !group || !strcmp(f->group, group);
}

/* Is f the first filter of its group in the registry's order? */
static bool opens_group(size_t index)
{
    const gf_filter_info *f = gf_filter_get(index);
    for (size_t i = 0; i < index; i++)
        if (!strcmp(gf_filter_get(i)->group, f->group)) return false;
    return true;
}

static cli_exit check_group(const char *group)
{
    char hint[96];
    cli_nearest nearest = { .wanted = group };
    const gf_filter_info *f;
    for (size_t i = 0; (f = gf_filter_get(i)); i++) {
        if (!strcmp(f->group, group)) return CLI_OK;
        cli_nearest_offer(&nearest, f->group);
    }
    cli_nearest_hint(&nearest, "gpufilter list shows all groups", hint, sizeof hint);
    return cli_error(CLI_USAGE, hint, "'%s' is not a group of filters", group);
}

static void print_group(const char *group)
{
    const gf_filter_info *f;
    printf("%s\n", group);
    for (size_t i = 0; (f = gf_filter_get(i)); i++)
        if (wanted(f, group)) printf("  %-12s %s\n", f->name, f->summary);
}

static void print_text(const char *group)
{
    for (size_t i = 0; i < gf_filter_count(); i++)
        if (opens_group(i) && wanted(gf_filter_get(i), group)) print_group(gf_filter_get(i)->group);
}

static void print_json(const char *group)
{
    json j = { .out = stdout };
    const gf_filter_info *f;
    json_object(&j, NULL);
    json_array(&j, "filters");
    for (size_t i = 0; (f = gf_filter_get(i)); i++)
        if (wanted(f, group)) describe_json(f, &j, NULL);
    json_end_array(&j);
    json_end_object(&j);
}

cli_exit cmd_list(const cli_args *args)
{
    const char *group = args->n_words ? args->words[0] : NULL;
    if (args->n_words > 1)
        return cli_error(CLI_USAGE, NULL, "list takes one group of filters at most");
    cli_exit code = group ? check_group(group) : CLI_OK;
    if (code) return code;
    if (args->json)
        print_json(group);
    else
        print_text(group);
    return CLI_OK;
}
