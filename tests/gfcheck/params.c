/* Parameter sets drawn from a filter's table of parameters. */
#include "gfcheck.h"

#include <string.h>

enum { RANDOM_SETS = 6 };

static int n_cases(const gf_filter_def *def)
{
    int n = 0;
    while (def->cases && def->cases[n]) n++;
    return n;
}

static bool is_border(const gf_param_info *info)
{
    return strcmp(info->name, "border") == 0 || strcmp(info->name, "border-value") == 0;
}

/* The index-th end of a range: *which parameter, and whether it is the maximum. False past the
 * last. */
static bool range_end(const gf_filter_def *def, int index, size_t *which, bool *max)
{
    for (size_t i = 0; i < def->info.n_params; i++) {
        const gf_param_info *info = &def->params[i].info;
        bool number = info->type == GF_PARAM_FLOAT || info->type == GF_PARAM_INT;
        for (int end = 0; end < 2 && number && !is_border(info); end++) {
            if (!isfinite(end ? info->max : info->min) || index-- > 0) continue;
            *which = i, *max = end;
            return true;
        }
    }
    return false;
}

static int n_ends(const gf_filter_def *def)
{
    int n = 0;
    size_t which;
    bool max;
    while (range_end(def, n, &which, &max)) n++;
    return n;
}

int gfc_param_first_end(const gf_filter_def *def) { return 1 + n_cases(def); }

int gfc_param_ends(const gf_filter_def *def) { return n_ends(def); }

int gfc_param_sets(const gf_filter_def *def)
{
    return 1 + n_cases(def) + n_ends(def) + RANDOM_SETS;
}

static void append(char text[GFC_TEXT], const char *name, const char *value)
{
    size_t used = strlen(text);
    snprintf(text + used, GFC_TEXT - used, "%s%s=%s", used ? ":" : "", name, value);
}

static void append_number(char text[GFC_TEXT], const char *name, double value)
{
    char number[40];
    snprintf(number, sizeof number, "%.10g", value);
    append(text, name, number);
}

/* A kernel: whole numbers, any numbers, or an outer product; seldom a wide one, often a square. */
static void append_kernel(char text[GFC_TEXT], const char *name, uint64_t *random)
{
    int wide = gfc_below(random, 8) == 0, kind = gfc_below(random, 3);
    int kw = 1 + gfc_below(random, wide ? 23 : 6), kh = 1 + gfc_below(random, wide ? 3 : 6);
    int row[23], col[6];
    if (!wide && gfc_below(random, 3) == 0) kh = kw;
    for (int i = 0; i < kw; i++) row[i] = gfc_below(random, 9) - 4;
    for (int j = 0; j < kh; j++) col[j] = gfc_below(random, 9) - 4;
    size_t used = strlen(text);
    int n = snprintf(text + used, GFC_TEXT - used, "%s%s='", used ? ":" : "", name);
    for (int j = 0; j < kh; j++) {
        for (int i = 0; i < kw; i++) {
            used += (size_t)n;
            double tap = kind == 0 ? row[i] * col[j] : gfc_below(random, 9) - 4;
            if (kind == 2) tap = gfc_unit(random) - 0.25;
            n = snprintf(text + used, GFC_TEXT - used, "%.4g%s", tap,
                         i + 1 < kw   ? " "
                         : j + 1 < kh ? ";"
                                      : "'");
        }
    }
}

/* The smallest value allowed; above an open minimum, some small amount above it. */
static double smallest(const gf_param_info *info, uint64_t *random)
{
    static const double above[] = { 1e-3, 1e-9, 1e-30 };
    if (!(info->flags & GF_PARAM_MIN_OPEN)) return info->min;
    if (info->type == GF_PARAM_INT) return info->min + 1;
    return info->min + above[gfc_below(random, 3)];
}

/* A number inside the range, of the default's size where the range has no end. */
static double inside(const gf_param_info *info, uint64_t *random)
{
    double start = isnan(info->default_value) ? 2 : info->default_value;
    double reach = 4 + 3 * fabs(start);
    double low = fmax(info->min, start - reach), high = fmin(info->max, start + reach);
    double value = low + gfc_unit(random) * (high - low);
    if (info->type == GF_PARAM_INT) {
        value = rint(value);
        if (info->flags & GF_PARAM_ODD && fmod(value, 2) == 0)
            value += value + 1 <= info->max ? 1 : -1;
    }
    if (info->flags & GF_PARAM_MIN_OPEN && value <= info->min) value = smallest(info, random);
    return value;
}

static void append_choice(char text[GFC_TEXT], const gf_param_info *info, uint64_t *random)
{
    int n = 0;
    while (info->choices[n]) n++;
    append(text, info->name, info->choices[gfc_below(random, n)]);
}

static void append_random(char text[GFC_TEXT], const gf_param_info *info, uint64_t *random)
{
    if (info->type == GF_PARAM_KERNEL)
        append_kernel(text, info->name, random);
    else if (info->type == GF_PARAM_ENUM)
        append_choice(text, info, random);
    else
        append_number(text, info->name, inside(info, random));
}

static void random_set(const gf_filter_def *def, uint64_t *random, char text[GFC_TEXT])
{
    for (size_t i = 0; i < def->info.n_params; i++) {
        const gf_param_info *info = &def->params[i].info;
        if (is_border(info)) continue;
        if (info->flags & GF_PARAM_REQUIRED || gfc_below(random, 2))
            append_random(text, info, random);
    }
}

/* One parameter at its end, the others at their defaults. */
static void end_set(const gf_filter_def *def, int index, double most_px, uint64_t *random,
                    char text[GFC_TEXT])
{
    size_t which = 0;
    bool max = false;
    range_end(def, index, &which, &max);
    for (size_t i = 0; i < def->info.n_params; i++) {
        const gf_param_info *info = &def->params[i].info;
        double most = strcmp(info->unit, "px") == 0 ? fmin(info->max, most_px) : info->max;
        if (i == which)
            append_number(text, info->name, max ? most : smallest(info, random));
        else if (info->flags & GF_PARAM_REQUIRED)
            append_random(text, info, random);
    }
}

void gfc_param_text(const gf_filter_def *def, int set, double most_px, uint64_t *random,
                    char text[GFC_TEXT])
{
    text[0] = 0;
    int cases = n_cases(def), ends = n_ends(def);
    if (set == 0) {
        for (size_t i = 0; i < def->info.n_params; i++)
            if (def->params[i].info.flags & GF_PARAM_REQUIRED)
                append_random(text, &def->params[i].info, random);
    } else if (set <= cases) {
        snprintf(text, GFC_TEXT, "%s", def->cases[set - 1]);
    } else if (set <= cases + ends) {
        end_set(def, set - cases - 1, most_px, random, text);
    } else {
        random_set(def, random, text);
    }
}

void gfc_param_border(const gf_filter_def *def, gf_border border, double value, char text[GFC_TEXT])
{
    static const char *const names[] = { "constant", "replicate", "reflect", "mirror", "wrap" };
    bool known = false;
    for (size_t i = 0; i < def->info.n_params; i++)
        known = known || strcmp(def->params[i].info.name, "border") == 0;
    if (!known || strstr(text, "border=")) return;
    append(text, "border", names[border]);
    if (border == GF_BORDER_CONSTANT && value != 0) append_number(text, "border-value", value);
}
