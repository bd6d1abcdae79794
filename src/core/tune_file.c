#include "core/tune_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"

enum { MOST_ROWS = 4096, NAME_BYTES = 32 };

typedef struct row {
    char impl[NAME_BYTES];
    gf_pixel pixel;
    double log_expected, log_ratio; /* of ns; of measured over expected */
} row;

struct gfi_tuning {
    char version[NAME_BYTES];
    int sm, multiprocessors; /* 0: written without a GPU */
    int n;
    row rows[MOST_ROWS];
};

static gf_pixel pixel_by_name(const char *name)
{
    static const gf_pixel pixels[] = { GF_PIXEL_U8, GF_PIXEL_U16, GF_PIXEL_F32 };
    for (int i = 0; i < 3; i++)
        if (!strcmp(gf_pixel_name(pixels[i]), name)) return pixels[i];
    return GF_PIXEL_NONE;
}

/* Whole nanoseconds, so that no locale matters. */
static bool read_row(const char *line, row *out)
{
    char pixel[8], rest;
    long long expected, measured;
    if (sscanf(line, "%31s %7s %lld %lld %c", out->impl, pixel, &expected, &measured, &rest) != 4)
        return false;
    out->pixel = pixel_by_name(pixel);
    if (out->pixel == GF_PIXEL_NONE || expected < 1 || measured < 1) return false;
    out->log_expected = log((double)expected);
    out->log_ratio = log((double)measured / (double)expected);
    return true;
}

static gf_status read_line(const char *path, int number, const char *line, gfi_tuning *t)
{
    char rest;
    int version;
    if (number == 1) {
        if (sscanf(line, "gpufilter-tune %d %c", &version, &rest) == 1 && version == 1)
            return GF_OK;
        return gfi_fail(GF_ERROR_FORMAT, "%s: the first line is not 'gpufilter-tune 1'", path);
    }
    if (line[0] == '#' || !line[strspn(line, " \t\r\n")]) return GF_OK;
    if (sscanf(line, "gpu %d %d %c", &t->sm, &t->multiprocessors, &rest) == 2) return GF_OK;
    if (sscanf(line, "version %31s %c", t->version, &rest) == 1) return GF_OK;
    if (t->n == MOST_ROWS)
        return gfi_fail(GF_ERROR_FORMAT, "%s: more than %d rows", path, MOST_ROWS);
    if (!read_row(line, &t->rows[t->n]))
        return gfi_fail(GF_ERROR_FORMAT,
                        "%s: line %d is not 'implementation pixels expected_ns measured_ns'", path,
                        number);
    t->n++;
    return GF_OK;
}

static gf_status read_lines(const char *path, FILE *file, gfi_tuning *t)
{
    char line[256];
    int number = 0;
    gf_status status = GF_OK;
    while (status == GF_OK && fgets(line, sizeof line, file))
        status = read_line(path, ++number, line, t);
    if (status == GF_OK && ferror(file))
        return gfi_fail(GF_ERROR_IO, "%s: %s", path, strerror(errno));
    if (status == GF_OK && number == 0)
        return gfi_fail(GF_ERROR_FORMAT, "%s: is empty, not a tuning file", path);
    return status;
}

gf_status gfi_tuning_read(const char *path, gfi_tuning **out)
{
    *out = NULL;
    FILE *file = fopen(path, "r");
    if (!file) return gfi_fail(GF_ERROR_IO, "%s: %s", path, strerror(errno));
    gfi_tuning *t = gfi_alloc_zero(1, sizeof *t, "tuning file");
    gf_status status = t ? read_lines(path, file, t) : GF_ERROR_NO_MEMORY;
    fclose(file);
    if (status != GF_OK) gfi_tuning_destroy(&t);
    *out = t;
    return status;
}

void gfi_tuning_destroy(gfi_tuning **tuning)
{
    gfi_free(*tuning);
    *tuning = NULL;
}

const char *gfi_tuning_version(const gfi_tuning *t) { return t->version; }

bool gfi_tuning_fits(const gfi_tuning *t, int sm, int multiprocessors)
{
    return t->sm == sm && t->multiprocessors == multiprocessors;
}

double gfi_tuning_correct(const gfi_tuning *t, const char *impl, gf_pixel pixel, double expected_ns)
{
    /* Rows as near as a tenth weigh about the same. */
    static const double NEAR = 0.01;
    double weights = 0, sum = 0;
    if (!(expected_ns > 0) || isinf(expected_ns)) return expected_ns;
    const double at = log(expected_ns);
    for (const row *r = t->rows; r < t->rows + t->n; r++) {
        if (r->pixel != pixel || strcmp(r->impl, impl)) continue;
        const double distance = at - r->log_expected;
        const double weight = 1 / (distance * distance + NEAR);
        weights += weight;
        sum += weight * r->log_ratio;
    }
    return weights > 0 ? expected_ns * exp(sum / weights) : expected_ns;
}
