/* gfcheck must find what it is there to find: a filter with planted faults goes through the runner,
 * and each faulty implementation has to fail. */
#include <stdlib.h>
#include <string.h>

#include "gfcheck.h"

#include "core/image.h"

typedef struct none {
    double unused;
} none;

static const gf_param params[] = {
    GFI_FLOAT(none, unused, "unused", "", GFI_NO_MIN, GFI_NO_MAX, 0, "0", 0, "Nothing."),
};

/* ---- the identity, right and wrong
 * --------------------------------------------------------------- */

static double load(const gf_view *view, int32_t x, int32_t y)
{
    return gfc_pixel_get(gfi_row(view, y), view->pixel, (size_t)x);
}

static void store(const gf_view *view, int32_t x, int32_t y, double value)
{
    void *row = gfi_row(view, y);
    double most = view->pixel == GF_PIXEL_U8 ? 255 : 65535;
    double level = isnan(value) ? 0 : rint(fmin(fmax(value, 0), most));
    if (view->pixel == GF_PIXEL_U8)
        ((uint8_t *)row)[x] = (uint8_t)level;
    else if (view->pixel == GF_PIXEL_U16)
        ((uint16_t *)row)[x] = (uint16_t)level;
    else
        ((float *)row)[x] = (float)value;
}

static gf_status copy(const gf_view *src, const gf_view *dst)
{
    for (int32_t y = 0; y < src->height; y++)
        for (int32_t x = 0; x < src->width; x++) store(dst, x, y, load(src, x, y));
    return GF_OK;
}

#define RUN(name)                                                                                  \
    static gf_status name(const gfi_request *r, void *state, const gf_view *src, const gf_view *dst)

RUN(right)
{
    (void)r, (void)state;
    return copy(src, dst);
}

RUN(off_by_a_level)
{
    (void)r, (void)state;
    copy(src, dst);
    int32_t x = src->width - 1, y = src->height - 1;
    double step = dst->pixel == GF_PIXEL_F32 ? r->white * 1e-5 : 1, v = load(src, x, y);
    store(dst, x, y, v > 0 ? v - step : v + step);
    return GF_OK;
}

RUN(last_pixel_missing)
{
    (void)r, (void)state;
    int32_t x = dst->width - 1, y = dst->height - 1;
    double before = load(dst, x, y);
    copy(src, dst);
    store(dst, x, y, before);
    return GF_OK;
}

RUN(writes_past_the_row)
{
    (void)r, (void)state;
    copy(src, dst);
    ((unsigned char *)gfi_row(dst, dst->height -
                                       1))[(size_t)dst->width * gf_pixel_bytes(dst->pixel)] ^= 1;
    return GF_OK;
}

RUN(writes_before_the_image)
{
    (void)r, (void)state;
    copy(src, dst);
    ((unsigned char *)dst->data)[-1] ^= 1;
    return GF_OK;
}

RUN(writes_the_padding)
{
    (void)r, (void)state;
    copy(src, dst);
    size_t row = (size_t)dst->width * gf_pixel_bytes(dst->pixel);
    if (dst->height > 1 && dst->pitch_bytes > row) ((unsigned char *)dst->data)[row] ^= 1;
    return GF_OK;
}

RUN(writes_the_source)
{
    (void)r, (void)state;
    copy(src, dst);
    *(unsigned char *)src->data ^= 1;
    return GF_OK;
}

RUN(depends_on_padding)
{
    (void)r, (void)state;
    copy(src, dst);
    size_t row = (size_t)src->width * gf_pixel_bytes(src->pixel);
    if (src->height > 1 && src->pitch_bytes > row && ((unsigned char *)src->data)[row] == 0)
        store(dst, 0, 0, 1 + load(src, 0, 0));
    return GF_OK;
}

RUN(depends_on_threads)
{
    (void)state;
    copy(src, dst);
    /* within the tolerance, but not the same bits */
    if (dst->pixel == GF_PIXEL_F32 && r->threads > 2)
        store(dst, 0, 0, load(src, 0, 0) * (1 + 0x1p-22));
    return GF_OK;
}

RUN(swallows_nan)
{
    (void)r, (void)state;
    copy(src, dst);
    for (int32_t y = 0; y < src->height; y++)
        for (int32_t x = 0; x < src->width; x++)
            if (isnan(load(src, x, y))) store(dst, x, y, 1);
    return GF_OK;
}

RUN(spreads_nan)
{
    (void)r, (void)state;
    copy(src, dst);
    for (int32_t y = 0; y < src->height; y++)
        for (int32_t x = 1; x < src->width; x++)
            if (isnan(load(src, x, y))) store(dst, x - 1, y, NAN);
    return GF_OK;
}

/* A running sum over a pixel and the one before: after a spike the difference has lost digits. */
RUN(remembers_spikes)
{
    (void)r, (void)state;
    for (int32_t y = 0; y < src->height; y++) {
        float before = 0;
        for (int32_t x = 0; x < src->width; x++) {
            float v = (float)load(src, x, y);
            volatile float sum = before + v;
            store(dst, x, y, isfinite(v) && isfinite(before) ? (double)(sum - before) : (double)v);
            before = v;
        }
    }
    return GF_OK;
}

RUN(wraps_round)
{
    (void)r, (void)state;
    copy(src, dst);
    for (int32_t y = 0; y < src->height; y++)
        for (int32_t x = 0; x < src->width; x++)
            if (dst->pixel == GF_PIXEL_U8) {
                double v = load(src, x, y);
                if (isfinite(v)) store(dst, x, y, fmod(fabs(rint(v)), 256));
            }
    return GF_OK;
}

RUN(fails)
{
    (void)r, (void)state, (void)src, (void)dst;
    return gfi_fail(GF_ERROR_INTERNAL, "planted");
}

#define FAULT(fault)                                                                               \
    {                                                                                              \
        .name = #fault, .backend = GF_BACKEND_CPU, .run = fault                                    \
    }
static const gf_impl faults[] = {
    { .name = "ref", .backend = GF_BACKEND_CPU, .run = right },
    FAULT(right),
    FAULT(off_by_a_level),
    FAULT(last_pixel_missing),
    FAULT(writes_past_the_row),
    FAULT(writes_before_the_image),
    FAULT(writes_the_padding),
    FAULT(writes_the_source),
    FAULT(depends_on_padding),
    FAULT(depends_on_threads),
    FAULT(swallows_nan),
    FAULT(spreads_nan),
    FAULT(remembers_spikes),
    FAULT(wraps_round),
    FAULT(fails),
};
enum { N_IMPLS = sizeof faults / sizeof *faults, FIRST_FAULT = 2, CASES = 400 };

static const gf_impl *impls[N_IMPLS + 1];
static const gf_filter_def def = {
    .info = { .name = "identity", .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(none),
    .scope = GFI_SCOPE_POINT,
    .impls = impls,
};

/* ---- the run
 * ---------------------------------------------------------------------------------------- */

static void run_cases(gfc_run *run)
{
    gfc_case one;
    for (int i = 0; gfc_corner(&def, false, i, &one); i++) gfc_run_case(run, &one);
    gfc_pairs *pairs = gfc_pairs_create(&def, 1);
    for (int i = 0; pairs && i < CASES; i++) {
        gfc_pairs_draw(pairs, &one);
        gfc_run_case(run, &one);
    }
    gfc_pairs_destroy(pairs);
}

int main(void)
{
    static gfc_run run;
    gfc_options options = { .backend = GF_BACKEND_CPU, .case_ms = 1 };
    run.options = &options;
    for (int i = 0; i < N_IMPLS; i++) {
        impls[i] = &faults[i];
        run.rows[run.n_rows++] = (gfc_row){ .def = &def, .impl = &faults[i] };
    }
    run_cases(&run);
    printf("\n");
    int wrong = 0;
    for (int i = 0; i < N_IMPLS; i++) {
        const gfc_row *row = &run.rows[i];
        bool good = i < FIRST_FAULT ? row->failed == 0 && row->passed > CASES / 2 : row->failed > 0;
        printf("%-4s %-24s %lu passed, %lu failed\n", good ? "ok" : "BAD", row->impl->name,
               row->passed, row->failed);
        wrong += !good;
    }
    printf("%d of %d planted faults missed or false alarms\n", wrong, N_IMPLS);
    return wrong != 0;
}
