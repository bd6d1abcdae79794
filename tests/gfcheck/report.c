/* Totals, the table at the end, and the JSON record. */
#include "gfcheck.h"

#include <string.h>

gfc_totals gfc_totals_count(const gfc_run *run)
{
    gfc_totals totals = { 0 };
    for (int i = 0; i < run->n_rows; i++) {
        const gfc_row *row = &run->rows[i];
        if (!gfc_wanted(run, row->def, row->impl)) continue;
        totals.passed += row->passed;
        totals.failed += row->failed;
        totals.skipped += row->passed + row->failed == 0;
    }
    return totals;
}

/* Why an implementation never ran. */
static const char *reason(const gfc_run *run, const gfc_row *row)
{
    if (!gfc_runnable(run, row->impl)) return run->no_device;
    return row->unusable ? row->why : "no case drawn";
}

void gfc_report_table(const gfc_run *run)
{
    printf("%-12s %-14s %8s %8s %8s  worst error of allowed\n", "filter", "implementation",
           "passed", "failed", "unfit");
    for (int i = 0; i < run->n_rows; i++) {
        const gfc_row *row = &run->rows[i];
        if (!gfc_wanted(run, row->def, row->impl)) continue;
        printf("%-12s %-14s ", row->def->info.name, row->impl->name);
        if (row->passed + row->failed == 0)
            printf("skipped: %s\n", reason(run, row));
        else
            printf("%8lu %8lu %8lu  %.3f\n", row->passed, row->failed, row->unusable, row->ratio);
    }
}

void gfc_json_text(FILE *file, const char *text)
{
    putc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 32)
            fprintf(file, "\\u%04x", *c);
        else
            putc(*c, file);
    }
    putc('"', file);
}

/* JSON has no infinity. */
static void json_number(FILE *file, const char *key, double value)
{
    if (value >= 0 && value < 1e300)
        fprintf(file, ",\"%s\":%.6g", key, value);
    else
        fprintf(file, ",\"%s\":null", key);
}

static void json_rows(const gfc_run *run, FILE *file)
{
    const char *comma = "";
    fprintf(file, "\"checks\":[");
    for (int i = 0; i < run->n_rows; i++) {
        const gfc_row *row = &run->rows[i];
        if (!gfc_wanted(run, row->def, row->impl)) continue;
        fprintf(file, "%s\n{\"filter\":\"%s\",\"impl\":\"%s\",\"backend\":\"%s\"", comma,
                row->def->info.name, row->impl->name, gf_backend_name(row->impl->backend));
        fprintf(file, ",\"passed\":%lu,\"failed\":%lu,\"unfit\":%lu", row->passed, row->failed,
                row->unusable);
        json_number(file, "worst_of_allowed", row->ratio);
        if (row->passed + row->failed == 0) {
            fprintf(file, ",\"skipped\":");
            gfc_json_text(file, reason(run, row));
        }
        putc('}', file);
        comma = ",";
    }
    fprintf(file, "]");
}

static void json_bench(const gfc_bench_row *rows, size_t n_rows, FILE *file)
{
    fprintf(file, "\"bench\":[");
    for (size_t i = 0; i < n_rows; i++) {
        const gfc_bench_row *r = &rows[i];
        fprintf(file, "%s\n{\"filter\":\"%s\",\"params\":", i ? "," : "", r->filter);
        gfc_json_text(file, r->params);
        fprintf(file, ",\"impl\":\"%s\",\"backend\":\"%s\",\"pixel\":\"%s\",\"size\":%d", r->impl,
                r->backend, r->pixel, (int)r->size);
        json_number(file, "ms", r->ms);
        json_number(file, "gb_s", r->gb_s);
        json_number(file, "percent_of_copy", r->percent_of_copy);
        json_number(file, "speedup", r->speedup);
        putc('}', file);
    }
    fprintf(file, "]");
}

bool gfc_report_json(const gfc_run *run, const gfc_totals *totals, const gfc_bench_row *rows,
                     size_t n_rows)
{
    FILE *file = fopen(run->options->json, "w");
    if (!file) return false;
    gf_device_info device = { .name = "" };
    if (run->queue && gf_cuda_get_device(0, &device) != GF_OK) device.name[0] = 0;
    fprintf(file,
            "{\"program\":\"gfcheck\",\"version\":\"%s\",\"seed\":%llu,\"device\":", gf_version(),
            (unsigned long long)run->options->seed);
    gfc_json_text(file, device.name);
    fprintf(file, ",\n\"passed\":%lu,\"failed\":%lu,\"skipped\":%lu,\n", totals->passed,
            totals->failed, totals->skipped);
    json_rows(run, file);
    fprintf(file, ",\n");
    json_bench(rows, n_rows, file);
    fprintf(file, "}\n");
    bool written = !ferror(file);
    return !fclose(file) && written;
}
