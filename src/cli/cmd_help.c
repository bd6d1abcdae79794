#include "cmd.h"

#include <stdio.h>
#include <string.h>

#include "describe.h"

/* ---- options ------------------------------------------------------------------------------ */

static void print_row(const char *left, const char *text)
{
    enum { COLUMN = 27 };
    int used = printf("  %s ", left);
    if (used > COLUMN)
        printf("\n%*s", COLUMN, "");
    else
        printf("%*s", COLUMN - used, "");
    describe_wrap(text, COLUMN, stdout);
}

static void print_paragraph(const char *text)
{
    if (!*text) return;
    printf("\n");
    describe_wrap(text, 0, stdout);
}

static void print_options(cli_command_id command)
{
    char left[96];
    for (const cli_option *o = cli_options; o->name; o++) {
        if (!(o->commands >> command & 1)) continue;
        int n = o->letter ? snprintf(left, sizeof left, "-%c, --%s", o->letter, o->name)
                          : snprintf(left, sizeof left, "--%s", o->name);
        if (o->argument) snprintf(left + n, sizeof left - (size_t)n, " %s", o->argument);
        print_row(left, o->summary);
    }
}

static void print_param(const gf_param_info *p)
{
    char left[96], argument[64], range[160], text[640];
    if (p->type == GF_PARAM_ENUM)
        snprintf(argument, sizeof argument, "NAME");
    else
        describe_argument(p, argument, sizeof argument);
    snprintf(left, sizeof left, "--%s %s", p->name, argument);
    describe_range(p, range, sizeof range);
    snprintf(text, sizeof text, "%s [%s; %s%s]", p->summary, range,
             p->flags & GF_PARAM_REQUIRED ? "required" : "default ",
             p->flags & GF_PARAM_REQUIRED ? "" : p->default_text);
    print_row(left, text);
}

/* ---- what there is to describe ------------------------------------------------------------ */

static void print_impls(const gf_filter_info *f)
{
    const char *name;
    gf_backend backend;
    printf("\nImplementations (the first is the plain reference):\n");
    for (size_t i = 0; (name = gf_filter_impl(f, i, &backend)); i++)
        print_row(name, gf_backend_name(backend));
}

static void print_positional(const gf_filter_info *f)
{
    const gf_param_info *p;
    for (size_t i = 0; (p = gf_filter_param(f, i)); i++)
        if (p->flags & GF_PARAM_POSITIONAL) printf(" %s", p->name);
}

static void help_filter(const gf_filter_info *f)
{
    const gf_param_info *p;
    const char *text = gf_filter_case(f, 0);
    printf("%s: %s\n\n  gpufilter %s IN OUT [options]\n  gpufilter run -f \"%s%s%s\" IN OUT\n",
           f->name, f->summary, f->name, f->name, text && *text ? ":" : "", text ? text : "");
    print_paragraph(f->doc);
    printf("\nParameters (in a chain without a name:");
    print_positional(f);
    printf("):\n");
    for (size_t i = 0; (p = gf_filter_param(f, i)); i++) print_param(p);
    print_impls(f);
    if (f->source[0]) printf("\nSource:");
    print_paragraph(f->source);
    printf("\nOptions:\n");
    print_options(CMD_FILTER);
}

static void help_command(const cli_command *c)
{
    printf("%s\n\n  gpufilter %s%s%s\n", c->summary, c->name, *c->arguments ? " " : "",
           c->arguments);
    print_paragraph(c->details);
    printf("\nOptions:\n");
    print_options(c->id);
}

static void help_all(void)
{
    printf("Filter grayscale images on NVIDIA GPUs, and on any CPU with the same "
           "answer.\n\nCommands:\n");
    for (const cli_command *c = cli_commands; c->name; c++) {
        char left[96];
        snprintf(left, sizeof left, "%s %s", c->name, c->arguments);
        print_row(left, c->summary);
    }
    printf(
        "\nOptions stand anywhere; -- ends them; --name=value is the same as --name value.\n"
        "gpufilter list shows the filters, gpufilter help NAME describes a filter or command.\n\n"
        "  gpufilter --version [--verbose]\n\nExit codes:\n");
    for (const cli_exit_text *e = cli_exit_texts; e->meaning; e++)
        printf("  %-4d %s\n", e->code, e->meaning);
}

static cli_exit unknown(const char *word)
{
    char hint[96];
    const gf_filter_info *f;
    cli_nearest nearest = { .wanted = word };
    for (size_t i = 0; (f = gf_filter_get(i)); i++) cli_nearest_offer(&nearest, f->name);
    for (const cli_command *c = cli_commands; c->name; c++) cli_nearest_offer(&nearest, c->name);
    cli_nearest_hint(&nearest, "gpufilter list shows the filters", hint, sizeof hint);
    return cli_error(CLI_USAGE, hint, "'%s' is neither a filter nor a command", word);
}

/* What to describe: help NAME, or NAME --help. */
static const char *topic(const cli_args *args)
{
    if (args->command != CMD_HELP) return args->filter || !args->chain ? args->word : "run";
    return args->n_words ? args->words[0] : NULL;
}

static cli_exit help_topic(const cli_args *args, const char *name)
{
    const cli_command *command = cli_command_find(name);
    const gf_filter_info *filter = gf_filter_find(name);
    json j = { .out = stdout };
    if (filter && args->json)
        describe_json(filter, &j, NULL);
    else if (filter)
        help_filter(filter);
    else if (!command)
        return unknown(name);
    else if (args->json)
        return cli_error(CLI_USAGE, "gpufilter list --json describes all filters",
                         "help --json describes filters, and '%s' is a command", name);
    else
        help_command(command);
    return CLI_OK;
}

cli_exit cmd_help(const cli_args *args)
{
    const char *name = topic(args);
    if (args->command == CMD_HELP && args->n_words > 1)
        return cli_error(CLI_USAGE, NULL, "help takes one name, not %zu", args->n_words);
    if (name) return help_topic(args, name);
    if (args->json)
        return cli_error(CLI_USAGE, "gpufilter list --json describes all filters",
                         "help --json needs a filter's name");
    if (!args->word && !args->help)
        return cli_error(CLI_USAGE, "gpufilter help lists the commands, gpufilter list the filters",
                         "no command given");
    help_all();
    return CLI_OK;
}
