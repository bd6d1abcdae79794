/* The man page gpufilter(1). */
#include <string.h>

#include "gen.h"

#include "describe.h"
#include "table.h"

/* Text of troff: nothing in it is a request or an escape, and - stays a minus for copying. */
static void text(const char *s, FILE *out)
{
    const char *line = s;
    for (; *s; s++) {
        if (s == line && strchr(".'", *s)) fputs("\\&", out);
        if (*s == '\\')
            fputs("\\e", out);
        else if (*s == '-')
            fputs("\\-", out);
        else
            fputc(*s, out);
        if (*s == '\n') line = s + 1;
    }
}

static void paragraph(const char *s, FILE *out)
{
    text(s, out);
    fputc('\n', out);
}

/* A tagged paragraph: bold tag, italic argument, text. */
static void item(const char *tag, const char *argument, const char *s, FILE *out)
{
    fputs(".TP\n\\fB", out);
    text(tag, out);
    fputs("\\fR", out);
    if (argument && *argument) {
        fputs(" \\fI", out);
        text(argument, out);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    paragraph(s, out);
}

static void commands(FILE *out)
{
    fputs(".SH COMMANDS\n", out);
    for (const cli_command *c = cli_commands; c->name; c++) {
        item(c->name, c->arguments, c->summary, out);
        if (c->details[0]) paragraph(c->details, out);
    }
}

/* "all commands", or "run, bench" */
static void option_commands(const cli_option *o, char *text_out, size_t n_bytes)
{
    size_t used = 0;
    int taking = 0, all = 0;
    *text_out = '\0';
    for (const cli_command *c = cli_commands; c->name; c++, all++) {
        if (!(o->commands >> c->id & 1)) continue;
        used += (size_t)snprintf(text_out + used, n_bytes - used, "%s%s", taking++ ? ", " : "",
                                 c->name);
    }
    if (taking == all) snprintf(text_out, n_bytes, "all commands");
}

static void options(FILE *out)
{
    char tag[64], where[128], s[512];
    fputs(".SH OPTIONS\n", out);
    paragraph("Options stand anywhere; -- ends them; --name=value is the same as --name value. A "
              "filter's "
              "parameters are options too, and come before an option of the same name.",
              out);
    for (const cli_option *o = cli_options; o->name; o++) {
        if (o->letter)
            snprintf(tag, sizeof tag, "-%c, --%s", o->letter, o->name);
        else
            snprintf(tag, sizeof tag, "--%s", o->name);
        option_commands(o, where, sizeof where);
        snprintf(s, sizeof s, "%s%s%s%s", o->summary, *where ? " (" : "", where, *where ? ")" : "");
        item(tag, o->argument, s, out);
    }
}

static void filter(const gf_filter_info *f, FILE *out)
{
    const gf_param_info *p;
    char tag[64], argument[64], range[256], s[1024];
    fprintf(out, ".SS %s\n", f->name);
    paragraph(f->summary, out);
    for (size_t i = 0; (p = gf_filter_param(f, i)); i++) {
        snprintf(tag, sizeof tag, "--%s", p->name);
        if (p->type == GF_PARAM_ENUM)
            snprintf(argument, sizeof argument, "NAME");
        else
            describe_argument(p, argument, sizeof argument);
        describe_range(p, range, sizeof range);
        snprintf(s, sizeof s, "%s Values: %s. %s%s.", p->summary, range,
                 p->flags & GF_PARAM_REQUIRED ? "Required" : "Default: ",
                 p->flags & GF_PARAM_REQUIRED ? "" : p->default_text);
        item(tag, argument, s, out);
    }
}

static void exit_codes(FILE *out)
{
    char tag[16];
    fputs(".SH EXIT STATUS\n", out);
    for (const cli_exit_text *e = cli_exit_texts; e->meaning; e++) {
        snprintf(tag, sizeof tag, "%d", e->code);
        item(tag, NULL, e->meaning, out);
    }
}

static void files(FILE *out)
{
    fputs(".SH FILES\n", out);
    paragraph("The format of an input is found by its contents, that of an output by --format or "
              "its name. "
              "An output is written under a temporary name in its folder and renamed when "
              "complete; symbolic "
              "links are followed, the mode of an existing file is kept, a hard link is broken. "
              "What is no "
              "regular file is written directly. Colour becomes gray, and metadata is dropped.",
              out);
}

static void examples(FILE *out)
{
    fputs(".SH EXAMPLES\n", out);
    item("gpufilter run -f \"" CLI_EXAMPLE_CHAIN "\" in.png out.png", NULL,
         "Filter a picture with a chain.", out);
    item("gpufilter run -f \"" CLI_EXAMPLE_CHAIN "\" *.png -o results", NULL,
         "Filter many pictures into a folder.", out);
    item("gpufilter run -f \"" CLI_EXAMPLE_CHAIN "\" --format pgm - - < in.png > out.pgm", NULL,
         "Read standard input, write standard output.", out);
    item("gpufilter run -f \"" CLI_EXAMPLE_CHAIN "\" in.png --dry-run --explain", NULL,
         "Show how the chain would run.", out);
}

void gen_man(FILE *out)
{
    const gf_filter_info *f;
    fprintf(out,
            ".\\\" Written by docs/gen/gendocs.c (ninja docs); changes here are lost.\n"
            ".TH GPUFILTER 1 \"\" \"gpufilter %s\" \"User Commands\"\n"
            ".SH NAME\ngpufilter \\- filter grayscale images on NVIDIA GPUs, and on any CPU with "
            "the same answer\n"
            ".SH SYNOPSIS\n",
            gf_version());
    for (const cli_command *c = cli_commands; c->name; c++) {
        fprintf(out, "%s.B gpufilter %s\n", c == cli_commands ? "" : ".br\n", c->name);
        if (c->arguments[0]) paragraph(c->arguments, out);
    }
    fputs(".br\n.B gpufilter \\-\\-version\n[\\-\\-verbose]\n", out);
    commands(out);
    options(out);
    fputs(".SH FILTERS\n", out);
    for (size_t i = 0; (f = gf_filter_get(i)); i++) filter(f, out);
    files(out);
    exit_codes(out);
    examples(out);
}
