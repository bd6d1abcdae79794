/* Markdown: a page for every filter, and their index. */
#include <string.h>

#include "gen.h"

#include "describe.h"

static const char *const origin =
    "<!-- Written by docs/gen/gendocs.c (`ninja docs`); changes here are lost. -->\n";

/* Plain text: what Markdown would take for markup is escaped, also inside a table's cell. */
static void text(const char *s, FILE *out)
{
    for (; *s; s++) {
        if (*s == '<')
            fputs("&lt;", out);
        else {
            if (strchr("*_`[]|\\#", *s)) fputc('\\', out);
            fputc(*s, out);
        }
    }
}

static void parameter_row(const gf_param_info *p, FILE *out)
{
    char range[256];
    fprintf(out, "| `%s`%s | ", p->name, p->flags & GF_PARAM_POSITIONAL ? " \u00b9" : "");
    text(describe_range(p, range, sizeof range), out);
    fputs(" | ", out);
    text(p->flags & GF_PARAM_REQUIRED ? "required" : p->default_text, out);
    fputs(" | ", out);
    text(p->summary, out);
    fputs(" |\n", out);
}

static void parameters(const gf_filter_info *filter, FILE *out)
{
    const gf_param_info *p;
    int positional = 0;
    fprintf(out, "## Parameters\n\n| name | values | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; (p = gf_filter_param(filter, i)); i++) {
        parameter_row(p, out);
        positional += (p->flags & GF_PARAM_POSITIONAL) != 0;
    }
    if (positional)
        fprintf(out, "\n\u00b9 In a chain this may be given without its name, in this order.\n");
}

static int needs_parameters(const gf_filter_info *filter)
{
    const gf_param_info *p;
    for (size_t i = 0; (p = gf_filter_param(filter, i)); i++)
        if (p->flags & GF_PARAM_REQUIRED) return 1;
    return 0;
}

static void examples(const gf_filter_info *filter, FILE *out)
{
    const char *c;
    fprintf(out, "## Examples\n\n```sh\n");
    if (!needs_parameters(filter)) fprintf(out, "gpufilter %s in.png out.png\n", filter->name);
    for (size_t i = 0; (c = gf_filter_case(filter, i)); i++)
        if (*c) fprintf(out, "gpufilter run -f \"%s:%s\" in.png out.png\n", filter->name, c);
    fprintf(out, "```\n");
}

static void implementations(const gf_filter_info *filter, FILE *out)
{
    const char *name;
    gf_backend backend;
    fprintf(out, "## Implementations\n\nThe first is the plain reference that all others are "
                 "tested against.\n\n");
    for (size_t i = 0; (name = gf_filter_impl(filter, i, &backend)); i++)
        fprintf(out, "- `%s` (%s)\n", name, gf_backend_name(backend));
}

void gen_filter_page(const gf_filter_info *filter, FILE *out)
{
    fprintf(out, "%s\n# %s\n\n", origin, filter->name);
    text(filter->summary, out);
    fprintf(out, " Group: %s.\n\n", filter->group);
    if (filter->doc[0]) {
        text(filter->doc, out);
        fputs("\n\n", out);
    }
    parameters(filter, out);
    fputc('\n', out);
    examples(filter, out);
    fputc('\n', out);
    implementations(filter, out);
    if (!filter->source[0]) return;
    fprintf(out, "\n## Source\n\n");
    text(filter->source, out);
    fputc('\n', out);
}

static int opens_group(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (!strcmp(gf_filter_get(i)->group, gf_filter_get(index)->group)) return 0;
    return 1;
}

static void group(const char *name, FILE *out)
{
    const gf_filter_info *f;
    fprintf(out, "\n## %s\n\n| filter | what it does |\n|---|---|\n", name);
    for (size_t i = 0; (f = gf_filter_get(i)); i++) {
        if (strcmp(f->group, name)) continue;
        fprintf(out, "| [%s](%s.md) | ", f->name, f->name);
        text(f->summary, out);
        fprintf(out, " |\n");
    }
}

void gen_filter_index(FILE *out)
{
    fprintf(out,
            "%s\n# Filters\n\nEvery filter takes 8-bit, 16-bit and float images of any size, "
            "and every border mode.\n",
            origin);
    for (size_t i = 0; i < gf_filter_count(); i++)
        if (opens_group(i)) group(gf_filter_get(i)->group, out);
}
