#include "describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void join(const char *const *choices, const char *separator, char *out, size_t n_bytes)
{
    size_t used = 0;
    *out = '\0';
    for (int i = 0; choices[i] && used < n_bytes; i++)
        used +=
            (size_t)snprintf(out + used, n_bytes - used, "%s%s", i ? separator : "", choices[i]);
}

static void number_range(const gf_param_info *p, char *out, size_t n_bytes)
{
    const char *more = p->flags & GF_PARAM_MIN_OPEN ? ">" : ">=";
    if (isinf(p->min) && isinf(p->max))
        snprintf(out, n_bytes, "any number%s", p->unit[0] ? "," : "");
    else if (isinf(p->max))
        snprintf(out, n_bytes, "%s %.10g", more, p->min);
    else if (isinf(p->min))
        snprintf(out, n_bytes, "<= %.10g", p->max);
    else if (p->flags & GF_PARAM_MIN_OPEN)
        snprintf(out, n_bytes, "> %.10g, <= %.10g", p->min, p->max);
    else
        snprintf(out, n_bytes, "%.10g to %.10g", p->min, p->max);
}

void describe_wrap(const char *text, int indent, FILE *out)
{
    enum { COLUMNS = 90 };
    int column = indent;
    while (*text) {
        int n = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + n > COLUMNS) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", n, text);
        column += n;
        text += n;
        if (*text == '\n') {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
        }
        if (*text) text++;
    }
    fputc('\n', out);
}

const char *describe_range(const gf_param_info *p, char *out, size_t n_bytes)
{
    char range[64];
    switch (p->type) {
    case GF_PARAM_ENUM: join(p->choices, ", ", out, n_bytes); break;
    case GF_PARAM_KERNEL: snprintf(out, n_bytes, "rows of numbers, or @FILE"); break;
    default:
        number_range(p, range, sizeof range);
        snprintf(out, n_bytes, "%s%s%s%s", range, p->flags & GF_PARAM_ODD ? ", odd" : "",
                 p->unit[0] ? " " : "", p->unit);
    }
    return out;
}

const char *describe_argument(const gf_param_info *p, char *out, size_t n_bytes)
{
    switch (p->type) {
    case GF_PARAM_ENUM: join(p->choices, "|", out, n_bytes); break;
    case GF_PARAM_KERNEL: snprintf(out, n_bytes, "KERNEL"); break;
    case GF_PARAM_INT: snprintf(out, n_bytes, "N"); break;
    default: snprintf(out, n_bytes, "X");
    }
    return out;
}

static const char *type_name(gf_param_type type)
{
    switch (type) {
    case GF_PARAM_FLOAT: return "float";
    case GF_PARAM_INT: return "int";
    case GF_PARAM_ENUM: return "enum";
    default: return "kernel";
    }
}

static void param_json(const gf_param_info *p, json *j)
{
    json_object(j, NULL);
    json_string(j, "name", p->name);
    json_string(j, "type", type_name(p->type));
    json_string(j, "unit", p->unit);
    json_bool(j, "positional", p->flags & GF_PARAM_POSITIONAL);
    json_bool(j, "required", p->flags & GF_PARAM_REQUIRED);
    json_bool(j, "optional", p->flags & GF_PARAM_OPTIONAL);
    if (p->type == GF_PARAM_FLOAT || p->type == GF_PARAM_INT) {
        json_number(j, "min", p->min);
        json_bool(j, "min_open", p->flags & GF_PARAM_MIN_OPEN);
        json_number(j, "max", p->max);
        json_bool(j, "odd", p->flags & GF_PARAM_ODD);
        json_number(j, "default", p->default_value);
    }
    json_string(j, "default_text", p->default_text);
    if (p->type == GF_PARAM_ENUM) {
        json_array(j, "choices");
        for (int i = 0; p->choices[i]; i++) json_string(j, NULL, p->choices[i]);
        json_end_array(j);
    }
    json_string(j, "summary", p->summary);
    json_end_object(j);
}

static void impls_json(const gf_filter_info *filter, json *j)
{
    const char *name;
    gf_backend backend;
    json_array(j, "impls");
    for (size_t i = 0; (name = gf_filter_impl(filter, i, &backend)); i++) {
        json_object(j, NULL);
        json_string(j, "name", name);
        json_string(j, "backend", gf_backend_name(backend));
        json_end_object(j);
    }
    json_end_array(j);
}

void describe_json(const gf_filter_info *filter, json *j, const char *key)
{
    const gf_param_info *p;
    const char *text;
    json_object(j, key);
    json_string(j, "name", filter->name);
    json_string(j, "group", filter->group);
    json_string(j, "summary", filter->summary);
    json_string(j, "doc", filter->doc);
    json_string(j, "source", filter->source);
    json_array(j, "params");
    for (size_t i = 0; (p = gf_filter_param(filter, i)); i++) param_json(p, j);
    json_end_array(j);
    impls_json(filter, j);
    json_array(j, "cases");
    for (size_t i = 0; (text = gf_filter_case(filter, i)); i++) json_string(j, NULL, text);
    json_end_array(j);
    json_end_object(j);
}
