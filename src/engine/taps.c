#include "engine/taps.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gpufilter/io.h>

#include "core/alloc.h"
#include "core/image.h"
#include "engine/number.h"
#include "filters/pixels.h"

static gf_status taps_create(size_t kw, size_t kh, gfi_taps **out)
{
    size_t n, bytes;
    if (!gfi_mul(kw, kh, &n) || n > (1u << 28) || !gfi_mul(n, sizeof(double), &bytes))
        return gfi_fail(GF_ERROR_RANGE, "kernel: %zux%zu is more than %u taps", kw, kh, 1u << 28);
    *out = gfi_alloc(1, sizeof(gfi_taps) + bytes, "kernel");
    if (!*out) return GF_ERROR_NO_MEMORY;
    (*out)->kw = (int)kw;
    (*out)->kh = (int)kh;
    return GF_OK;
}

gf_status gfi_taps_copy(const gfi_taps *taps, gfi_taps **out)
{
    GFI_TRY(taps_create((size_t)taps->kw, (size_t)taps->kh, out));
    memcpy((*out)->v, taps->v, (size_t)taps->kw * (size_t)taps->kh * sizeof(double));
    return GF_OK;
}

/* Walk the numbers of a text; row ends are reported through *row. Returns 1 for a number, 0 at the
 * end, -1 for something that is neither. */
static int next_tap(const char **p, size_t *row, double *value)
{
    for (;; (*p)++) {
        if (**p == '#') *p += strcspn(*p, "\n");
        if (**p == ';' || **p == '\n')
            (*row)++;
        else if (!**p || !strchr(" \t\r,", **p))
            break;
    }
    if (!**p) return 0;
    return gfi_number_read(p, value) && (!**p || strchr(" \t\r\n,;#", **p)) ? 1 : -1;
}

/* One pass over the text: counts rows and columns, and stores the taps when there is a place. */
static gf_status scan_text(const char *text, size_t *kw, size_t *kh, double *out)
{
    size_t row = 0, last_row = 0, n_row = 0, n = 0;
    const char *p = text;
    double value;
    int got;
    *kw = *kh = 0;
    while ((got = next_tap(&p, &row, &value)) == 1) {
        if (n && row != last_row) {
            if (*kw && n_row != *kw) break;
            *kw = n_row;
            n_row = 0;
            ++*kh;
        }
        last_row = row;
        if (out) out[n] = value;
        n++;
        n_row++;
    }
    if (got < 0)
        return gfi_fail(GF_ERROR_FORMAT, "kernel: '%.20s' in row %zu is not a finite number", p,
                        *kh + (n && row != last_row ? 2 : 1));
    if (!n)
        return gfi_fail(GF_ERROR_FORMAT,
                        "kernel: '%.40s' holds no number; write rows like \"1 2 1;2 4 2;1 2 1\"",
                        text);
    if (*kw && n_row != *kw)
        return gfi_fail(GF_ERROR_FORMAT, "kernel: row %zu has %zu numbers, the row before has %zu",
                        *kh + 1, n_row, *kw);
    *kw = n_row;
    ++*kh;
    return GF_OK;
}

static gf_status parse_text(const char *text, gfi_taps **out)
{
    size_t kw, kh;
    GFI_TRY(scan_text(text, &kw, &kh, NULL));
    GFI_TRY(taps_create(kw, kh, out));
    return scan_text(text, &kw, &kh, (*out)->v);
}

static gf_status from_image(const char *path, const char *bytes, size_t size, gfi_taps **out)
{
    gf_image *image;
    GFI_TRY(gf_image_load_memory(path, bytes, size, NULL, &image));
    gf_view view = gf_image_view(image);
    gf_status status = taps_create((size_t)view.width, (size_t)view.height, out);
    for (int y = 0; status == GF_OK && y < view.height; y++)
        for (int x = 0; x < view.width && status == GF_OK; x++) {
            double v = gfi_get(gfi_row(&view, y), view.pixel, x);
            if (!isfinite(v))
                status = gfi_fail(GF_ERROR_RANGE, "kernel: tap (%d, %d) of '%s' is not finite", x,
                                  y, path);
            (*out)->v[(size_t)y * (size_t)view.width + (size_t)x] = v;
        }
    gf_image_destroy(&image);
    return status;
}

/* Read a whole file and put a 0 behind it; once only, because it may be a pipe. */
static gf_status read_all(const char *path, char **out, size_t *n_bytes)
{
    enum { MOST_BYTES = 1 << 30 };
    FILE *file = fopen(path, "rb");
    if (!file)
        return gfi_fail(errno == ENOENT ? GF_ERROR_NOT_FOUND : GF_ERROR_IO, "kernel file '%s': %s",
                        path, strerror(errno));
    size_t size = 0, room = 4096;
    char *bytes = malloc(room);
    while (bytes) {
        size += fread(bytes + size, 1, room - 1 - size, file);
        if (size < room - 1 || room > MOST_BYTES) break;
        char *bigger = realloc(bytes, room *= 2);
        if (!bigger) free(bytes);
        bytes = bigger;
    }
    gf_status status = GF_OK;
    if (!bytes)
        status = gfi_fail(GF_ERROR_NO_MEMORY, "kernel file '%s': out of memory", path);
    else if (ferror(file))
        status = gfi_fail(GF_ERROR_IO, "kernel file '%s': %s", path, strerror(errno));
    else if (size >= MOST_BYTES)
        status = gfi_fail(GF_ERROR_RANGE, "kernel file '%s': more than %d bytes", path, MOST_BYTES);
    fclose(file);
    if (status != GF_OK) {
        free(bytes);
        return status;
    }
    bytes[size] = '\0';
    *out = bytes;
    *n_bytes = size;
    return GF_OK;
}

static gf_status from_bytes(const char *path, const char *bytes, size_t size, gfi_taps **out)
{
    if (size > 2 && bytes[0] == 'P' && strchr("25f", bytes[1]))
        return from_image(path, bytes, size, out);
    if (memchr(bytes, 0, size))
        return gfi_fail(GF_ERROR_FORMAT, "kernel file '%s': neither text nor a PGM or PFM image",
                        path);
    return gfi_prepend(parse_text(bytes, out), "'%s'", path);
}

static gf_status from_file(const char *path, gfi_taps **out)
{
    char *bytes = NULL;
    size_t size = 0;
    GFI_TRY(read_all(path, &bytes, &size));
    gf_status status = from_bytes(path, bytes, size, out);
    free(bytes);
    return status;
}

gf_status gfi_taps_parse(const char *text, gfi_taps **out)
{
    *out = NULL;
    gf_status status = text[0] == '@' ? from_file(text + 1, out) : parse_text(text, out);
    if (status != GF_OK) {
        gfi_free(*out);
        *out = NULL;
    }
    return status;
}
