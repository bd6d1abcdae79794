/* Parameters, for every filter of the registry: defaults, ranges, messages, the public table. */
#include "suite.h"

#include <locale.h>
#include <math.h>

#include <gpufilter/gpufilter.h>

#include "engine/params.h"
#include "engine/registry.h"

/* Room for one more parameter beside those that a filter needs. */
enum { TEXT = 256 };

static bool is_number(const gf_param_info *info)
{
    return info->type == GF_PARAM_FLOAT || info->type == GF_PARAM_INT;
}

/* Set one parameter of a fresh struct. */
static gf_status set(const gf_filter_def *def, const char *name, const char *text)
{
    void *params;
    expect_ok(gfi_params_create(def, &params));
    gf_status status = gfi_params_set(def, params, name, text);
    gfi_params_destroy(def, &params);
    ck_assert_ptr_null(params);
    return status;
}

static gf_status set_f64(const gf_filter_def *def, const char *name, double value)
{
    void *params;
    expect_ok(gfi_params_create(def, &params));
    gf_status status = gfi_params_set_f64(def, params, name, value);
    gfi_params_destroy(def, &params);
    return status;
}

#define each_param(def, info)                                                                      \
    for (size_t f_ = 0; f_ < gfi_registry_count(); f_++)                                           \
        for (const gf_filter_def *def = gfi_registry_get(f_); def; def = NULL)                     \
            for (size_t p_ = 0; p_ < def->info.n_params; p_++)                                     \
                for (const gf_param_info *info = &def->params[p_].info; info; info = NULL)

START_TEST(registry_is_sorted_and_complete)
{
    ck_assert_uint_eq(gfi_registry_count(), gf_filter_count());
    ck_assert_uint_gt(gf_filter_count(), 0);
    for (size_t f = 0; f < gf_filter_count(); f++) {
        const gf_filter_def *def = gfi_registry_get(f);
        const gf_filter_info *info = gf_filter_get(f);
        ck_assert_str_eq(info->name, def->info.name);
        ck_assert_ptr_eq(gf_filter_find(info->name), info);
        ck_assert_ptr_eq(gfi_registry_find(info->name), def);
        if (f) ck_assert_int_lt(strcmp(gf_filter_get(f - 1)->name, info->name), 0);
        ck_assert(*info->group && *info->summary && *info->doc && *info->source);
        ck_assert_str_eq(def->impls[0]->name, "ref");
        ck_assert_int_eq(def->impls[0]->backend, GF_BACKEND_CPU);
        gf_backend backend;
        ck_assert_str_eq(gf_filter_impl(info, 0, &backend), "ref");
        ck_assert_int_eq(backend, GF_BACKEND_CPU);
        ck_assert_msg(gf_filter_case(info, 0) != NULL, "%s has no cases", info->name);
    }
    ck_assert_ptr_null(gf_filter_get(gf_filter_count()));
    ck_assert_ptr_null(gf_filter_find("no-such-filter"));
    ck_assert_ptr_null(gf_filter_find(NULL));
}
END_TEST

START_TEST(every_filter_runs_on_both_backends)
{
    for (size_t f = 0; f < gf_filter_count(); f++) {
        int cpu = 0, cuda = 0;
        gf_backend backend;
        for (size_t i = 0; gf_filter_impl(gf_filter_get(f), i, &backend); i++) {
            cpu += backend == GF_BACKEND_CPU;
            cuda += backend == GF_BACKEND_CUDA;
        }
        ck_assert_msg(cpu > 1, "%s: nothing but the reference on the CPU", gf_filter_get(f)->name);
        ck_assert_msg(cuda > 0, "%s: nothing on CUDA", gf_filter_get(f)->name);
    }
}
END_TEST

START_TEST(cases_are_accepted)
{
    for (size_t f = 0; f < gfi_registry_count(); f++) {
        const gf_filter_def *def = gfi_registry_get(f);
        for (int i = 0; def->cases && def->cases[i]; i++) {
            void *params;
            gf_status status = gfi_params_parse(def, def->cases[i], &params);
            ck_assert_msg(status == GF_OK, "%s=%s: %s", def->info.name, def->cases[i],
                          gf_error_message());
            gfi_params_destroy(def, &params);
        }
    }
}
END_TEST

START_TEST(table_is_sound)
{
    each_param(def, info)
    {
        ck_assert(*info->name && *info->summary && info->unit && info->default_text);
        ck_assert_ptr_eq(gf_filter_param(&def->info, p_), info);
        ck_assert_msg(strspn(info->name, "abcdefghijklmnopqrstuvwxyz0123456789-") ==
                          strlen(info->name),
                      "%s %s", def->info.name, info->name);
        ck_assert_str_ne(info->name, "impl");
        if (is_number(info)) {
            ck_assert_double_lt(info->min, info->max);
            if (!isnan(info->default_value)) {
                ck_assert_double_ge(info->default_value, info->min);
                ck_assert_double_le(info->default_value, info->max);
            } else {
                ck_assert_msg(info->flags & (GF_PARAM_OPTIONAL | GF_PARAM_REQUIRED), "%s %s",
                              def->info.name, info->name);
            }
        }
        if (info->type == GF_PARAM_ENUM) ck_assert_ptr_nonnull(info->choices[0]);
    }
    ck_assert_ptr_null(gf_filter_param(gf_filter_get(0), 1000));
    ck_assert_ptr_null(gf_filter_param(NULL, 0));
}
END_TEST

START_TEST(defaults_are_what_the_text_says)
{
    each_param(def, info)
    {
        if (!is_number(info) || isnan(info->default_value)) continue;
        void *params, *given;
        expect_ok(gfi_params_create(def, &params));
        expect_ok(gfi_params_create(def, &given));
        expect_ok(gfi_params_set(def, given, info->name, info->default_text));
        const char *a = params, *b = given;
        size_t offset = def->params[p_].offset;
        size_t n = info->type == GF_PARAM_FLOAT ? sizeof(double) : sizeof(int);
        ck_assert_msg(memcmp(a + offset, b + offset, n) == 0,
                      "%s %s: default_text \"%s\" is not %g", def->info.name, info->name,
                      info->default_text, info->default_value);
        gfi_params_destroy(def, &params);
        gfi_params_destroy(def, &given);
    }
}
END_TEST

START_TEST(ends_of_ranges)
{
    each_param(def, info)
    {
        if (!is_number(info)) continue;
        bool open = info->flags & GF_PARAM_MIN_OPEN, odd = info->flags & GF_PARAM_ODD;
        char value[40];
        if (isfinite(info->min)) {
            snprintf(value, sizeof value, "%.17g", info->min - 1);
            expect_fail(set(def, info->name, value), GF_ERROR_RANGE, info->name);
            expect_fail(set_f64(def, info->name, info->min - 1), GF_ERROR_RANGE, info->name);
            if (open)
                expect_fail(set_f64(def, info->name, info->min), GF_ERROR_RANGE, "not");
            else if (!odd || fmod(info->min, 2) != 0)
                expect_ok(set_f64(def, info->name, info->min));
        }
        if (isfinite(info->max)) {
            double above = info->max + fmax(1, fabs(info->max) * 1e-3);
            expect_fail(set_f64(def, info->name, above), GF_ERROR_RANGE, info->name);
            if (!odd || fmod(info->max, 2) != 0) expect_ok(set_f64(def, info->name, info->max));
        }
        if (odd) {
            double even = isfinite(info->min) ? 2 * floor(info->min / 2) + 2 : 4;
            if (even <= info->max)
                expect_fail(set_f64(def, info->name, even), GF_ERROR_RANGE, "odd");
        }
    }
}
END_TEST

/* What people type where a number is needed. */
START_TEST(silly_values)
{
    static const char *const silly[] = {
        "",    " ",   "nan", "inf", "-inf", "1e999", "abc", "1,5",
        "2px", "--3", "1 2", "0x",  "1e",   "+-1",   ".",   "1.5.2"
    };
    each_param(def, info)
    {
        if (!is_number(info)) continue;
        for (size_t i = 0; i < sizeof silly / sizeof *silly; i++)
            expect_fail(set(def, info->name, silly[i]), GF_ERROR_RANGE, info->name);
        expect_fail(set_f64(def, info->name, NAN), GF_ERROR_RANGE, info->name);
        expect_fail(set_f64(def, info->name, INFINITY), GF_ERROR_RANGE, info->name);
        if (info->type == GF_PARAM_INT) {
            expect_fail(set(def, info->name, "3.5"), GF_ERROR_RANGE, "3.5");
            expect_fail(set(def, info->name, "1e10"), GF_ERROR_RANGE, info->name);
        }
    }
}
END_TEST

START_TEST(choices)
{
    each_param(def, info)
    {
        if (info->type != GF_PARAM_ENUM) continue;
        for (int i = 0; info->choices[i]; i++) expect_ok(set(def, info->name, info->choices[i]));
        expect_fail(set(def, info->name, "sideways"), GF_ERROR_RANGE, "'sideways'");
        expect_fail(set(def, info->name, "sideways"), GF_ERROR_RANGE, info->choices[0]);
        expect_fail(set(def, info->name, ""), GF_ERROR_RANGE, info->name);
    }
}
END_TEST

START_TEST(border_aliases)
{
    static const char *const names[][2] = { { "nearest", "replicate" },
                                            { "symmetric", "reflect" },
                                            { "reflect101", "mirror" } };
    const gf_filter_def *def = gfi_registry_find("gaussian");
    ck_assert_ptr_nonnull(def);
    for (int i = 0; i < 3; i++) {
        void *alias, *name;
        char text[TEXT];
        snprintf(text, sizeof text, "border=%s", names[i][0]);
        expect_ok(gfi_params_parse(def, text, &alias));
        snprintf(text, sizeof text, "border=%s", names[i][1]);
        expect_ok(gfi_params_parse(def, text, &name));
        ck_assert_mem_eq(alias, name, def->params_bytes);
        gfi_params_destroy(def, &alias);
        gfi_params_destroy(def, &name);
    }
}
END_TEST

START_TEST(unknown_names_get_a_suggestion)
{
    expect_fail(set(gfi_registry_find("gaussian"), "sigam", "1"), GF_ERROR_NOT_FOUND, "'sigam'");
    expect_fail(set(gfi_registry_find("gaussian"), "sigam", "1"), GF_ERROR_NOT_FOUND, "'sigma'");
    expect_fail(gfi_unknown_filter("gausian"), GF_ERROR_NOT_FOUND, "'gaussian'");
    gfi_unknown_filter("zzzzzzzzzzzz");
    ck_assert_ptr_null(strstr(gf_error_message(), "did you mean"));
    char longest[201];
    for (size_t n = 12; n < sizeof longest; n += 4) {
        memset(longest, 'z', n);
        longest[n] = 0;
        gfi_unknown_filter(longest);
        ck_assert_ptr_null(strstr(gf_error_message(), "did you mean"));
    }
}
END_TEST

START_TEST(needed_parameters)
{
    each_param(def, info)
    {
        if (!(info->flags & GF_PARAM_REQUIRED)) continue;
        void *params;
        expect_fail(gfi_params_parse(def, "", &params), GF_ERROR_RANGE, info->name);
        ck_assert_ptr_null(params);
    }
}
END_TEST

START_TEST(kernels)
{
    const gf_filter_def *def = gfi_registry_find("correlate");
    ck_assert_ptr_nonnull(def);
    expect_ok(set(def, "kernel", "1 2 1;2 4 2;1 2 1"));
    expect_ok(set(def, "kernel", " 1,2 ; 3,4 "));
    expect_ok(set(def, "kernel", "1e-3"));
    expect_fail(set(def, "kernel", "1 2;3"), GF_ERROR_FORMAT, "row 2");
    expect_fail(set(def, "kernel", ""), GF_ERROR_FORMAT, "kernel");
    expect_fail(set(def, "kernel", "1 x;2 3"), GF_ERROR_FORMAT, "x");
    expect_fail(set(def, "kernel", "1 nan"), GF_ERROR_FORMAT, "'nan' in row 1");
    expect_fail(set(def, "kernel", "1 2;nan 4"), GF_ERROR_FORMAT, "'nan 4' in row 2");
    expect_fail(set(def, "kernel", "1 2;3 nan"), GF_ERROR_FORMAT, "'nan' in row 2");
    expect_fail(set(def, "kernel", "1 2;3 4;nan"), GF_ERROR_FORMAT, "'nan' in row 3");
    expect_fail(set(def, "kernel", "@/no/such/file"), GF_ERROR_NOT_FOUND, "/no/such/file");
    expect_fail(set_f64(def, "kernel", 3), GF_ERROR_INVALID, "kernel");
}
END_TEST

/* sigma^2 of such a sigma is 0 or no normal number. */
START_TEST(sigmas_of_one_axis)
{
    const gf_filter_def *def = gfi_registry_find("gaussian");
    void *params;
    const char *const bad[] = { "sigma-x=1e-9", "sigma-y=1e-200:radius=2",
                                "sigma-x=1e-160:order-x=3" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char axis[8];
        snprintf(axis, sizeof axis, "%.7s", bad[i]);
        expect_fail(gfi_params_parse(def, bad[i], &params), GF_ERROR_RANGE, axis);
    }
    expect_ok(gfi_params_parse(def, "sigma-x=0:sigma-y=0.001", &params));
    gfi_params_destroy(def, &params);
}
END_TEST

START_TEST(copies_own_their_kernels)
{
    const gf_filter_def *def = gfi_registry_find("correlate");
    void *params, *copy;
    expect_ok(gfi_params_parse(def, "kernel=1 2 3;4 5 6", &params));
    expect_ok(gfi_params_copy(def, params, &copy));
    gfi_params_destroy(def, &params);
    expect_ok(gfi_params_check(def, copy));
    gfi_params_destroy(def, &copy);
}
END_TEST

/* A point is a point, whatever the user's language. */
START_TEST(numbers_ignore_the_locale)
{
    const char *const locales[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "C.UTF-8", "C" };
    const char *used = NULL;
    for (size_t i = 0; !used && i < sizeof locales / sizeof *locales; i++)
        used = setlocale(LC_ALL, locales[i]);
    ck_assert_ptr_nonnull(used);
    const gf_filter_def *def = gfi_registry_find("gaussian");
    void *params;
    expect_ok(gfi_params_parse(def, "sigma=1.5", &params));
    for (size_t i = 0; i < def->info.n_params; i++)
        if (strcmp(def->params[i].info.name, "sigma") == 0)
            ck_assert_double_eq(*(double *)((char *)params + def->params[i].offset), 1.5);
    gfi_params_destroy(def, &params);
    expect_fail(set(def, "sigma", "1,5"), GF_ERROR_RANGE, "'1,5'");
    setlocale(LC_ALL, "C");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("params");
    suite_add(s, "registry", registry_is_sorted_and_complete);
    suite_add(s, "backends", every_filter_runs_on_both_backends);
    suite_add(s, "cases", cases_are_accepted);
    suite_add(s, "table", table_is_sound);
    suite_add(s, "defaults", defaults_are_what_the_text_says);
    suite_add(s, "ends", ends_of_ranges);
    suite_add(s, "silly", silly_values);
    suite_add(s, "choices", choices);
    suite_add(s, "aliases", border_aliases);
    suite_add(s, "suggestions", unknown_names_get_a_suggestion);
    suite_add(s, "needed", needed_parameters);
    suite_add(s, "kernels", kernels);
    suite_add(s, "sigmas", sigmas_of_one_axis);
    suite_add(s, "copies", copies_own_their_kernels);
    suite_add(s, "locale", numbers_ignore_the_locale);
    return suite_run(s);
}
