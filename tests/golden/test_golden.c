/* Runs every case of the manifest through every implementation that can do it, and compares decoded
 * pixels with the oracle's float64 results under the numbers contract.
 *
 * usage: test_golden FOLDER [FAILURES]
 * FOLDER holds manifest.txt; for every failure the actual pixels and the difference are written to
 * FAILURES as PFM. The program does not let Check fork: CUDA does not survive it. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <check.h>
#include <gpufilter/gpufilter.h>

#include "engine/registry.h"

enum { MAX_LINE = 1024, MAX_PATH = 1024, MAX_NAMES = 64 };

typedef struct golden {
    char *line; /* owns the texts */
    const char *expected, *input, *chain;
    double tolerance, levels; /* levels 0: exact */
} golden;

/* One name of an implementation, and what became of it over the whole run. */
typedef struct tally {
    const char *impl;
    gf_backend backend;
    int runs;
} tally;

static struct {
    const char *folder, *failures;
    golden *cases;
    int n_cases;
    gf_context *context[3]; /* by gf_backend; NULL: not on this machine */
    tally tallies[MAX_NAMES];
    int n_tallies;
    int passed, failed, skipped;
} test;

/* ---- manifest --------------------------------------------------------------------------- */

static bool parse_line(char *line, golden *out)
{
    char *field[5];
    for (int i = 0; i < 5; i++) {
        field[i] = line;
        line += strcspn(line, "\t\n");
        if ((*line != '\t') != (i == 4)) return false;
        *line++ = '\0';
    }
    *out = (golden){ .expected = field[0],
                     .input = field[1],
                     .tolerance = strtod(field[2], NULL),
                     .levels = strtod(field[3], NULL),
                     .chain = field[4] };
    return true;
}

static bool read_manifest(void)
{
    char path[MAX_PATH], line[MAX_LINE];
    snprintf(path, sizeof path, "%s/manifest.txt", test.folder);
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return false;
    }
    bool fine = true;
    while (fine && fgets(line, sizeof line, file)) {
        if (line[0] == '#') continue;
        golden *more = realloc(test.cases, (size_t)(test.n_cases + 1) * sizeof *more);
        char *copy = strdup(line);
        fine = more && copy && parse_line(copy, &more[test.n_cases]);
        if (more) test.cases = more;
        if (!fine) {
            fprintf(stderr, "%s: no case: %s\n", path, line);
            free(copy);
            break;
        }
        test.cases[test.n_cases++].line = copy;
    }
    fclose(file);
    return fine && test.n_cases > 0;
}

/* ---- the contract ----------------------------------------------------------------------- */

static double pixel_at(const gf_view *view, int x, int y)
{
    const char *row = (const char *)view->data + (size_t)y * view->pitch_bytes;
    switch (view->pixel) {
    case GF_PIXEL_U8: return ((const uint8_t *)row)[x];
    case GF_PIXEL_U16: return ((const uint16_t *)row)[x];
    default: return (double)((const float *)row)[x];
    }
}

/* Round half to even, saturate, NaN to 0. */
static double to_level(double value, double white)
{
    if (isnan(value)) return 0;
    return fmin(fmax(nearbyint(value), 0), white);
}

/* How far this run of a case may be off; all zero: not at all. */
typedef struct allowance {
    double tolerance, levels;
} allowance;

/* A tolerance has room for the last bit that the expected value lost as a float32. */
static bool float_fits(double actual, double expected, const allowance *may)
{
    if (actual == expected || (isnan(expected) && isnan(actual))) return true;
    if (!isfinite(expected) || !isfinite(actual) || may->levels == 0) return false;
    return fabs(actual - expected) <= may->tolerance + ldexp(fabs(expected), -23);
}

static bool integer_fits(double actual, double expected, const allowance *may, double white)
{
    double middle = to_level(expected, white);
    double delta = may->tolerance + (isfinite(expected) ? ldexp(fabs(expected), -24) : 0);
    return fabs(actual - middle) <= may->levels && actual >= to_level(expected - delta, white) &&
           actual <= to_level(expected + delta, white);
}

typedef struct worst {
    int count, x, y;
    double off;
} worst;

static worst compare(const gf_view *actual, const gf_view *expected, const allowance *may)
{
    worst w = { 0 };
    bool is_float = actual->pixel == GF_PIXEL_F32;
    double white = gf_pixel_white(actual->pixel);
    for (int y = 0; y < actual->height; y++)
        for (int x = 0; x < actual->width; x++) {
            double a = pixel_at(actual, x, y), e = pixel_at(expected, x, y);
            if (is_float ? float_fits(a, e, may) : integer_fits(a, e, may, white)) continue;
            double off = isfinite(a - e) ? fabs(a - e) : INFINITY;
            if (!w.count++ || off > w.off) {
                w.x = x;
                w.y = y;
                w.off = off;
            }
        }
    return w;
}

/* ---- failures --------------------------------------------------------------------------- */

/* Save actual (expected NULL) or actual - expected. */
static void save_pfm(const char *path, const gf_view *actual, const gf_view *expected)
{
    gf_image *image;
    gf_image_desc desc = { actual->width, actual->height, GF_PIXEL_F32 };
    if (gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image) == GF_OK) {
        gf_view view = gf_image_view(image);
        for (int y = 0; y < view.height; y++)
            for (int x = 0; x < view.width; x++)
                ((float *)((char *)view.data + (size_t)y * view.pitch_bytes))[x] =
                    (float)(pixel_at(actual, x, y) - (expected ? pixel_at(expected, x, y) : 0));
        gf_save_params params = { .struct_size = sizeof params, .format = "pfm" };
        if (gf_image_save(path, &view, &params) != GF_OK)
            fprintf(stderr, "%s\n", gf_error_message());
    }
    gf_image_destroy(&image);
}

static void report(const golden *c, const char *what, const worst *w, const allowance *may,
                   const gf_view *actual, const gf_view *expected)
{
    printf("FAIL %s %s: %d of %d pixels; worst at column %d row %d: %.9g, expected %.9g +- %.3g\n"
           "     chain %s on %s\n",
           c->expected, what, w->count, actual->width * actual->height, w->x, w->y,
           pixel_at(actual, w->x, w->y), pixel_at(expected, w->x, w->y), may->tolerance, c->chain,
           c->input);
    if (!test.failures) return;
    char name[MAX_PATH], path[2 * MAX_PATH];
    snprintf(name, sizeof name, "%.*s-%s", (int)(strlen(c->expected) - 4), c->expected, what);
    for (char *p = name; *p; p++)
        if (strchr("/ ", *p)) *p = '-';
    mkdir(test.failures, 0777);
    snprintf(path, sizeof path, "%s/%s-actual.pfm", test.failures, name);
    save_pfm(path, actual, NULL);
    snprintf(path, sizeof path, "%s/%s-diff.pfm", test.failures, name);
    save_pfm(path, actual, expected);
}

/* ---- running ---------------------------------------------------------------------------- */

static const gf_impl *find_impl(const char *filter, const char *name)
{
    for (const gf_impl *const *p = gfi_registry_find(filter)->impls; *p; p++)
        if (!strcmp((*p)->name, name)) return *p;
    return NULL;
}

/* The widest of the bounds that the chosen implementations state. Exact arithmetic is exact only
 * without an FFT, which may also be off by more than a level where its bound is wider than one. */
static allowance plan_allowance(const gf_plan *plan, const golden *c)
{
    double factor = 1;
    bool fft = false;
    gf_stage_info stage;
    for (int i = 0; gf_plan_stage_get(plan, i, &stage); i++) {
        factor = fmax(factor, find_impl(stage.filter, stage.impl)->tol_factor);
        fft |= strstr(stage.impl, "fft") != NULL;
    }
    if (c->levels == 0 && !fft) return (allowance){ 0, 0 };
    allowance may = { c->tolerance * factor, fmax(c->levels, 1) };
    if (may.levels > 1 || fft) may.levels = fmax(may.levels, ceil(may.tolerance));
    return may;
}

static bool run_plan(gf_plan *plan, const golden *c, const char *what, const gf_view *src,
                     const gf_view *expected)
{
    gf_image *image;
    gf_image_desc desc = gf_plan_output(plan);
    ck_assert_msg(desc.width == expected->width && desc.height == expected->height,
                  "%s %s: result is %dx%d, expected %dx%d", c->expected, what, desc.width,
                  desc.height, expected->width, expected->height);
    ck_assert_msg(gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image) == GF_OK, "%s",
                  gf_error_message());
    gf_view dst = gf_image_view(image);
    gf_status status = gf_plan_run(plan, src, &dst);
    ck_assert_msg(status == GF_OK, "%s %s: %s", c->expected, what, gf_error_message());
    allowance may = plan_allowance(plan, c);
    worst w = compare(&dst, expected, &may);
    if (w.count) report(c, what, &w, &may, &dst, expected);
    gf_image_destroy(&image);
    return !w.count;
}

/* Run a case as one implementation (NULL: as the library chooses), to its own pixel type and to
 * f32. Returns how often it ran: 0 when the implementation cannot do this case. */
static int run_impl(const golden *c, const gf_graph *graph, gf_backend backend, const char *impl,
                    const gf_view *src, const gf_view *expected)
{
    const gf_pixel outputs[] = { src->pixel, GF_PIXEL_F32 };
    int n = src->pixel == GF_PIXEL_F32 ? 1 : 2;
    for (int i = 0; i < n; i++) {
        gf_image_desc in = { src->width, src->height, src->pixel };
        gf_plan_params params = { .struct_size = sizeof params,
                                  .out_pixel = outputs[i],
                                  .impl = impl };
        gf_plan *plan;
        char what[128];
        snprintf(what, sizeof what, "%s %s to %s", gf_backend_name(backend), impl ? impl : "auto",
                 gf_pixel_name(outputs[i]));
        gf_status status = gf_plan_create(test.context[backend], graph, &in, &params, &plan);
        if (impl && status == GF_ERROR_UNSUPPORTED) return 0;
        ck_assert_msg(status == GF_OK, "%s %s: %s", c->expected, what, gf_error_message());
        if (run_plan(plan, c, what, src, expected))
            test.passed++;
        else
            test.failed++;
        gf_plan_destroy(&plan);
    }
    return n;
}

static tally *find_tally(const gf_impl *impl)
{
    for (int i = 0; i < test.n_tallies; i++)
        if (!strcmp(test.tallies[i].impl, impl->name)) return &test.tallies[i];
    ck_assert_int_lt(test.n_tallies, MAX_NAMES);
    test.tallies[test.n_tallies] = (tally){ .impl = impl->name, .backend = impl->backend };
    return &test.tallies[test.n_tallies++];
}

/* Every implementation that some stage lists, each name once. */
static void run_case(const golden *c, const gf_graph *graph, const gf_view *src,
                     const gf_view *expected)
{
    const tally *done[MAX_NAMES];
    int n_done = 0;
    for (gf_backend b = GF_BACKEND_CPU; b <= GF_BACKEND_CUDA; b++)
        if (test.context[b]) run_impl(c, graph, b, NULL, src, expected);
    for (int stage = 0; stage < gf_graph_size(graph); stage++) {
        const gf_filter_def *def = gfi_registry_find(gf_graph_filter(graph, stage));
        for (const gf_impl *const *p = def->impls; *p; p++) {
            tally *t = find_tally(*p);
            bool again = false;
            for (int i = 0; i < n_done; i++) again |= done[i] == t;
            if (again) continue;
            done[n_done++] = t;
            if (test.context[t->backend])
                t->runs += run_impl(c, graph, t->backend, t->impl, src, expected);
            else
                test.skipped++;
        }
    }
}

static void load(const char *name, gf_image **out)
{
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", test.folder, name);
    ck_assert_msg(gf_image_load(path, NULL, out) == GF_OK, "%s", gf_error_message());
}

START_TEST(golden_case)
{
    const golden *c = &test.cases[_i];
    gf_graph *graph;
    gf_image *input, *expected;
    int failed = test.failed;
    ck_assert_msg(gf_graph_parse(c->chain, &graph) == GF_OK, "%s: %s", c->expected,
                  gf_error_message());
    load(c->input, &input);
    load(c->expected, &expected);
    gf_view src = gf_image_view(input), want = gf_image_view(expected);
    run_case(c, graph, &src, &want);
    gf_image_destroy(&input);
    gf_image_destroy(&expected);
    gf_graph_destroy(&graph);
    ck_assert_msg(test.failed == failed, "%s: see above", c->expected);
}
END_TEST

/* An implementation that never ran is not tested: say so. */
static void count_idle(void)
{
    for (int i = 0; i < test.n_tallies; i++) {
        const tally *t = &test.tallies[i];
        if (t->runs || !test.context[t->backend]) continue;
        printf("skipped: implementation %s could do none of the cases\n", t->impl);
        test.skipped++;
    }
}

static void open_contexts(void)
{
    for (gf_backend b = GF_BACKEND_CPU; b <= GF_BACKEND_CUDA; b++) {
        gf_context_params params = { .struct_size = sizeof params, .backend = b };
        if (gf_context_create(&params, &test.context[b]) != GF_OK)
            printf("skipped: all of backend %s: %s\n", gf_backend_name(b), gf_error_message());
    }
}

static int run_all(void)
{
    Suite *suite = suite_create("golden");
    TCase *tcase = tcase_create("golden");
    tcase_set_timeout(tcase, 0);
    tcase_add_loop_test(tcase, golden_case, 0, test.n_cases);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int broken = srunner_ntests_failed(runner);
    srunner_free(runner);
    return broken;
}

static void tidy(void)
{
    for (gf_backend b = GF_BACKEND_CPU; b <= GF_BACKEND_CUDA; b++)
        gf_context_destroy(&test.context[b]);
    for (int i = 0; i < test.n_cases; i++) free(test.cases[i].line);
    free(test.cases);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s FOLDER [FAILURES]\n", argv[0]);
        return 2;
    }
    test.folder = argv[1];
    test.failures = argc > 2 ? argv[2] : NULL;
    if (!read_manifest()) return 2;
    open_contexts();
    int broken = test.context[GF_BACKEND_CPU] ? run_all() : 1;
    count_idle();
    /* a case that broke off counts, although none of its pixels were compared */
    if (test.failed < broken) test.failed = broken;
    printf("%d passed, %d failed, %d skipped\n", test.passed, test.failed, test.skipped);
    tidy();
    return test.failed ? 1 : 0;
}
