#include "engine/params.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "engine/number.h"
#include "engine/suggest.h"
#include "engine/taps.h"

static void *field(void *params, const gf_param *p) { return (char *)params + p->offset; }
static const void *cfield(const void *params, const gf_param *p)
{
    return (const char *)params + p->offset;
}

static void set_default(void *params, const gf_param *p)
{
    switch (p->info.type) {
    case GF_PARAM_FLOAT: *(double *)field(params, p) = p->info.default_value; break;
    case GF_PARAM_INT:
    case GF_PARAM_ENUM:
        *(int *)field(params, p) =
            isnan(p->info.default_value) ? GFI_UNSET_INT : (int)p->info.default_value;
        break;
    case GF_PARAM_KERNEL: *(gfi_taps **)field(params, p) = NULL; break;
    }
}

gf_status gfi_params_create(const gf_filter_def *def, void **out)
{
    *out = gfi_alloc_zero(1, def->params_bytes, "parameters");
    if (!*out) return GF_ERROR_NO_MEMORY;
    for (size_t i = 0; i < def->info.n_params; i++) set_default(*out, &def->params[i]);
    return GF_OK;
}

void gfi_params_destroy(const gf_filter_def *def, void **params)
{
    if (!*params) return;
    for (size_t i = 0; i < def->info.n_params; i++)
        if (def->params[i].info.type == GF_PARAM_KERNEL)
            gfi_free(*(gfi_taps **)field(*params, &def->params[i]));
    gfi_free(*params);
    *params = NULL;
}

gf_status gfi_params_copy(const gf_filter_def *def, const void *params, void **out)
{
    GFI_TRY(gfi_params_create(def, out));
    memcpy(*out, params, def->params_bytes);
    gf_status status = GF_OK;
    for (size_t i = 0; i < def->info.n_params; i++) {
        if (def->params[i].info.type != GF_PARAM_KERNEL) continue;
        gfi_taps **taps = field(*out, &def->params[i]), *theirs = *taps;
        *taps = NULL;
        if (theirs && status == GF_OK) status = gfi_taps_copy(theirs, taps);
    }
    if (status != GF_OK) gfi_params_destroy(def, out);
    return status;
}

static gf_status find_param(const gf_filter_def *def, const char *key, const gf_param **out)
{
    gfi_suggestion s = { .wanted = key };
    for (size_t i = 0; i < def->info.n_params; i++) {
        if (!strcmp(def->params[i].info.name, key)) {
            *out = &def->params[i];
            return GF_OK;
        }
        gfi_suggest(&s, def->params[i].info.name);
    }
    return gfi_fail(GF_ERROR_NOT_FOUND, "unknown parameter '%s'%s", key, gfi_suggestion_text(&s));
}

/* "is not in 1 … 20", "is not > 0", … */
static void range_text(const gf_param_info *info, char *out, size_t n)
{
    bool open = info->flags & GF_PARAM_MIN_OPEN;
    if (isinf(info->min))
        snprintf(out, n, "is not <= %.10g", info->max);
    else if (isinf(info->max))
        snprintf(out, n, "is not %s %.10g", open ? ">" : ">=", info->min);
    else
        snprintf(out, n, "is not in %s%.10g to %.10g", open ? "more than " : "", info->min,
                 info->max);
}

static gf_status set_number(const gf_param *p, void *params, double value)
{
    const gf_param_info *info = &p->info;
    if (!isfinite(value))
        return gfi_fail(GF_ERROR_RANGE, "%s: %g is not a finite number", info->name, value);
    bool low = info->flags & GF_PARAM_MIN_OPEN ? value <= info->min : value < info->min;
    if (low || value > info->max) {
        char right[64];
        range_text(info, right, sizeof right);
        return gfi_fail(GF_ERROR_RANGE, "%s: %.10g %s", info->name, value, right);
    }
    if (info->type == GF_PARAM_FLOAT) {
        *(double *)field(params, p) = value;
        return GF_OK;
    }
    if (value != floor(value) || fabs(value) > INT_MAX)
        return gfi_fail(GF_ERROR_RANGE, "%s: %.10g is not a whole number", info->name, value);
    if ((info->flags & GF_PARAM_ODD) && (int)value % 2 == 0)
        return gfi_fail(GF_ERROR_RANGE, "%s: %d is not odd", info->name, (int)value);
    *(int *)field(params, p) = (int)value;
    return GF_OK;
}

static gf_status set_choice(const gf_param *p, void *params, const char *text)
{
    char all[160] = "";
    size_t used = 0;
    for (int i = 0; p->info.choices[i]; i++) {
        if (!strcmp(p->info.choices[i], text)) {
            *(int *)field(params, p) = p->choice_values[i];
            return GF_OK;
        }
        int n = snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "", p->info.choices[i]);
        if (n > 0 && used + (size_t)n < sizeof all) used += (size_t)n;
    }
    return gfi_fail(GF_ERROR_RANGE, "%s: '%s' is not one of %s", p->info.name, text, all);
}

static gf_status set_kernel(const gf_param *p, void *params, const char *text)
{
    gfi_taps *taps;
    GFI_TRY(gfi_taps_parse(text, &taps));
    gfi_taps **place = field(params, p);
    gfi_free(*place);
    *place = taps;
    return GF_OK;
}

gf_status gfi_params_set(const gf_filter_def *def, void *params, const char *key, const char *text)
{
    const gf_param *p = NULL;
    GFI_TRY(find_param(def, key, &p));
    if (p->info.type == GF_PARAM_ENUM) return set_choice(p, params, text);
    if (p->info.type == GF_PARAM_KERNEL) return set_kernel(p, params, text);
    const char *end = text;
    double value;
    if (!*text) return gfi_fail(GF_ERROR_RANGE, "%s: no value given; a number is needed", key);
    if (!gfi_number_read(&end, &value) || end[strspn(end, " \t")])
        return gfi_fail(GF_ERROR_RANGE, "%s: '%s' is not a finite number", key, text);
    return set_number(p, params, value);
}

gf_status gfi_params_set_f64(const gf_filter_def *def, void *params, const char *key, double value)
{
    const gf_param *p = NULL;
    GFI_TRY(find_param(def, key, &p));
    if (p->info.type == GF_PARAM_KERNEL)
        return gfi_fail(GF_ERROR_INVALID, "%s: is a kernel, not a number", key);
    if (p->info.type == GF_PARAM_FLOAT || p->info.type == GF_PARAM_INT)
        return set_number(p, params, value);
    char text[32];
    snprintf(text, sizeof text, "%.0f", value); /* choices that are numbers: size=5 */
    return set_choice(p, params, text);
}

gf_status gfi_params_check(const gf_filter_def *def, const void *params)
{
    for (size_t i = 0; i < def->info.n_params; i++) {
        const gf_param *p = &def->params[i];
        if (!(p->info.flags & GF_PARAM_REQUIRED)) continue;
        bool unset = p->info.type == GF_PARAM_KERNEL ? !*(gfi_taps *const *)cfield(params, p)
                     : p->info.type == GF_PARAM_FLOAT
                         ? isnan(*(const double *)cfield(params, p))
                         : *(const int *)cfield(params, p) == GFI_UNSET_INT;
        if (unset) return gfi_fail(GF_ERROR_RANGE, "%s: is needed and was not given", p->info.name);
    }
    return def->validate ? def->validate(params) : GF_OK;
}

const gf_param *gfi_params_positional(const gf_filter_def *def, int index)
{
    for (size_t i = 0; i < def->info.n_params; i++)
        if ((def->params[i].info.flags & GF_PARAM_POSITIONAL) && index-- == 0)
            return &def->params[i];
    return NULL;
}
