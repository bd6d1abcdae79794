/* gfcheck: checks and times every implementation of every filter.
 *
 * It walks the registry, so that a new filter is checked as soon as it is registered. The first
 * implementation of a filter is its plain float64 reference; all others are compared with it. */
#include <stdlib.h>
#include <string.h>

#include "gfcheck.h"

#include "core/clock.h"
#include "engine/registry.h"

static const char usage[] =
    "usage: gfcheck [options]\n"
    "  --seed N           of the random draws (default: 1)\n"
    "  --budget SECONDS   for random draws, after the corner cases (default: 10); for --bench\n"
    "                     (default: no end)\n"
    "  --filter NAME      one filter only\n"
    "  --impl NAME        one implementation only\n"
    "  --backend NAME     auto, cpu or cuda (default: auto, all that this machine has)\n"
    "  --case TEXT        one case, as a failure prints it\n"
    "  --case-ms MS       shrink images until the reference takes no longer (default: 50;\n"
    "                     with --case: no limit)\n"
    "  --quick            fewer corner cases; with --bench fewer pixel types\n"
    "  --draws            random draws only, no corner cases\n"
    "  --list             list filters, implementations and parameter sets\n"
    "  --verbose          print every case and every failure\n"
    "  --json FILE        write a record\n"
    "  --bench            time the filters' cases instead of checking\n"
    "  --size N           image side for --bench (default: 8192 on CUDA, 2048 on the CPU)\n"
    "  --compare FILE     with --bench: fail what is more than 10 % slower than in that record\n"
    "exit status: 0 all passed (no GPU is a skip), 1 something failed, 2 usage\n";

/* ---- options -----------------------------------------------------------------------------------
 */

static bool number(const char *text, double least, double most, double *out)
{
    char *end;
    double value = text ? strtod(text, &end) : 0;
    if (!text || !*text || *end || !(value >= least && value <= most)) return false;
    *out = value;
    return true;
}

static bool set_number(gfc_options *o, const char *key, const char *value, bool *known)
{
    double v = 0;
    *known = true;
    if (strcmp(key, "--seed") == 0) {
        char *end = NULL;
        if (value && *value) o->seed = strtoull(value, &end, 10);
        return end && !*end;
    }
    if (strcmp(key, "--budget") == 0) return number(value, 0, 1e6, &o->budget_s);
    if (strcmp(key, "--case-ms") == 0) return number(value, 1e-3, 1e6, &o->case_ms);
    if (strcmp(key, "--size") == 0) {
        bool good = number(value, 1, 65536, &v);
        o->size = (int32_t)v;
        return good;
    }
    *known = false;
    return true;
}

static bool set_text(gfc_options *o, const char *key, const char *value, bool *known)
{
    *known = true;
    const char **place = strcmp(key, "--filter") == 0    ? &o->filter
                         : strcmp(key, "--impl") == 0    ? &o->impl
                         : strcmp(key, "--case") == 0    ? &o->one_case
                         : strcmp(key, "--json") == 0    ? &o->json
                         : strcmp(key, "--compare") == 0 ? &o->compare
                                                         : NULL;
    if (place) return *place = value, value != NULL;
    if (strcmp(key, "--backend") != 0) return *known = false, true;
    for (gf_backend b = GF_BACKEND_AUTO; value && b <= GF_BACKEND_CUDA; b++)
        if (strcmp(value, gf_backend_name(b)) == 0) return o->backend = b, true;
    return false;
}

static bool set_flag(gfc_options *o, const char *key)
{
    bool *place = strcmp(key, "--quick") == 0     ? &o->quick
                  : strcmp(key, "--draws") == 0   ? &o->draws
                  : strcmp(key, "--list") == 0    ? &o->list
                  : strcmp(key, "--verbose") == 0 ? &o->verbose
                  : strcmp(key, "--bench") == 0   ? &o->bench
                                                  : NULL;
    if (place) *place = true;
    return place != NULL;
}

static bool read_options(int argc, char **argv, gfc_options *o)
{
    *o = (gfc_options){ .seed = 1, .budget_s = NAN, .case_ms = NAN };
    for (int i = 1; i < argc; i++) {
        if (set_flag(o, argv[i])) continue;
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool known, good = set_number(o, argv[i], value, &known);
        if (!known) good = set_text(o, argv[i], value, &known);
        if (!known || !good) {
            fprintf(stderr, "gfcheck: %s %s is not understood\n%s", argv[i],
                    known && value ? value : "", usage);
            return false;
        }
        i++;
    }
    /* a case that failed whole must not pass because it is run smaller */
    if (isnan(o->case_ms)) o->case_ms = o->one_case ? INFINITY : 50;
    return true;
}

/* ---- what is asked for
 * --------------------------------------------------------------------------- */

static void list(void)
{
    for (size_t f = 0; f < gfi_registry_count(); f++) {
        const gf_filter_def *def = gfi_registry_get(f);
        printf("%-12s", def->info.name);
        for (int i = 0; def->impls[i]; i++) printf(" %s", def->impls[i]->name);
        printf("\n");
        uint64_t random = 1;
        for (int set = 0; set < gfc_param_sets(def); set++) {
            char text[GFC_TEXT];
            gfc_param_text(def, set, INFINITY, &random, text);
            printf("    %s\n", *text ? text : "(defaults)");
        }
    }
}

static bool wants_filter(const gfc_options *o, const gf_filter_def *def)
{
    return !o->filter || strcmp(o->filter, def->info.name) == 0;
}

static void run_fixed(gfc_run *run)
{
    gfc_case one;
    for (size_t f = 0; f < gfi_registry_count(); f++) {
        const gf_filter_def *def = gfi_registry_get(f);
        if (!wants_filter(run->options, def)) continue;
        for (int i = 0; gfc_corner(def, run->options->quick, i, &one); i++) gfc_run_case(run, &one);
        for (int i = 0; gfc_sweep(def, run->options->quick, i, &one); i++) gfc_run_case(run, &one);
    }
}

static void print_coverage(gfc_pairs *const *pairs, size_t n, double seconds)
{
    double seen = 0, all = 0;
    for (size_t f = 0; f < n; f++) {
        int s, a;
        if (!pairs[f]) continue;
        gfc_pairs_coverage(pairs[f], &s, &a);
        seen += s, all += a;
    }
    if (all > 0)
        printf("random draws: %.1f s, %.1f %% of all pairs of choices\n", seconds,
               100 * seen / all);
}

/* One draw of each filter in turn, until the time is over. */
static gf_status run_random(gfc_run *run)
{
    size_t n = gfi_registry_count();
    gfc_pairs **pairs = calloc(n, sizeof *pairs);
    if (!pairs) return gfi_fail(GF_ERROR_NO_MEMORY, "gfcheck: out of memory");
    gf_status status = GF_OK;
    for (size_t f = 0; f < n && status == GF_OK; f++) {
        if (!wants_filter(run->options, gfi_registry_get(f))) continue;
        pairs[f] = gfc_pairs_create(gfi_registry_get(f), run->options->seed);
        if (!pairs[f]) status = gfi_fail(GF_ERROR_NO_MEMORY, "gfcheck: out of memory");
    }
    const double budget_s = isnan(run->options->budget_s) ? 10 : run->options->budget_s;
    double start = gfi_clock_ns(), end = start + budget_s * 1e9;
    for (size_t f = 0; status == GF_OK && gfi_clock_ns() < end; f = (f + 1) % n) {
        gfc_case one;
        if (!pairs[f]) continue;
        gfc_pairs_draw(pairs[f], &one);
        gfc_run_case(run, &one);
    }
    print_coverage(pairs, n, (gfi_clock_ns() - start) * 1e-9);
    for (size_t f = 0; f < n; f++) gfc_pairs_destroy(pairs[f]);
    free(pairs);
    return status;
}

static gf_status check(gfc_run *run)
{
    const gfc_options *o = run->options;
    gf_status status = GF_OK;
    if (o->one_case) {
        gfc_case one;
        if (!gfc_case_parse(o->one_case, &one))
            return gfi_fail(GF_ERROR_INVALID, "--case: '%s' is not a case", o->one_case);
        gfc_run_case(run, &one);
    } else {
        double start = gfi_clock_ns();
        if (!o->draws) run_fixed(run);
        printf("corner cases: %.1f s\n", (gfi_clock_ns() - start) * 1e-9);
        fflush(stdout);
        status = run_random(run);
    }
    printf("%lu cases, %lu of them outside what a filter accepts\n", run->cases, run->refused);
    gfc_report_table(run);
    return status;
}

static void print_start(const gfc_run *run)
{
    gf_device_info device;
    printf("gfcheck %s, seed %llu, device: ", gf_version(), (unsigned long long)run->options->seed);
    if (run->queue && gf_cuda_get_device(0, &device) == GF_OK)
        printf("%s\n", device.name);
    else
        printf("none (%s)\n", run->no_device);
    fflush(stdout);
}

static gf_status run_all(gfc_run *run, gfc_totals *totals)
{
    gfc_bench_row *rows = NULL;
    size_t n_rows = 0;
    unsigned long failed = 0;
    gf_status status = GF_OK;
    print_start(run);
    if (run->options->bench)
        failed = gfc_bench(run, &rows, &n_rows);
    else
        status = check(run);
    *totals = gfc_totals_count(run);
    if (run->options->bench)
        *totals = (gfc_totals){ .passed = n_rows, .failed = failed, .skipped = !run->queue };
    if (status == GF_OK && run->options->json && !gfc_report_json(run, totals, rows, n_rows))
        status = gfi_fail(GF_ERROR_IO, "%s: cannot be written", run->options->json);
    free(rows);
    return status;
}

int main(int argc, char **argv)
{
    static gfc_options options;
    static gfc_run run;
    if (!read_options(argc, argv, &options)) return 2;
    if (options.list) return list(), 0;
    gf_status status = gfc_run_open(&run, &options);
    gfc_totals totals = { 0 };
    if (status == GF_OK) status = run_all(&run, &totals);
    gfc_run_close(&run);
    if (status != GF_OK) {
        fprintf(stderr, "gfcheck: %s\n", gf_error_message());
        return status == GF_ERROR_INVALID || status == GF_ERROR_NOT_FOUND ? 2 : 1;
    }
    printf("%lu passed, %lu failed, %lu skipped\n", totals.passed, totals.failed, totals.skipped);
    return totals.failed || totals.passed + totals.skipped == 0;
}
