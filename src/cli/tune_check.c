#include "tune_check.h"

#include <math.h>

#include "bench.h"

/* Run a graph with one implementation on a picture in host memory; *out is a new picture. */
static gf_status run(gf_context *context, const gf_graph *graph, const gf_image *in,
                     const char *impl, gf_image **out)
{
    gf_view src = gf_image_view(in), dst;
    gf_image_desc desc = { src.width, src.height, src.pixel };
    gf_plan_params params = { .struct_size = sizeof params, .impl = impl };
    gf_plan *plan;
    gf_status status = gf_plan_create(context, graph, &desc, &params, &plan);
    if (status != GF_OK) return status;
    desc = gf_plan_output(plan);
    status = gf_image_create(NULL, &desc, GF_MEMORY_HOST, out);
    if (status == GF_OK) {
        dst = gf_image_view(*out);
        status = gf_plan_run(plan, &src, &dst);
    }
    gf_plan_destroy(&plan);
    return status;
}

static double pixel_at(const gf_view *v, int32_t x, int32_t y)
{
    const char *row = (const char *)v->data + (size_t)y * v->pitch_bytes;
    switch (v->pixel) {
    case GF_PIXEL_U8: return ((const uint8_t *)row)[x];
    case GF_PIXEL_U16: return ((const uint16_t *)row)[x];
    default: return ((const float *)row)[x];
    }
}

static bool alike(const gf_image *a, const gf_image *b)
{
    static const double float_share = 1.0 / 4096;
    const gf_view va = gf_image_view(a), vb = gf_image_view(b);
    double largest = 0, difference = 0;
    for (int32_t y = 0; y < va.height; y++)
        for (int32_t x = 0; x < va.width; x++) {
            const double p = pixel_at(&va, x, y), q = pixel_at(&vb, x, y);
            if (isnan(p) || isnan(q)) return false; /* noise holds none */
            largest = fmax(largest, fabs(p));
            difference = fmax(difference, fabs(p - q));
        }
    return difference <= (va.pixel == GF_PIXEL_F32 ? float_share * largest : 1);
}

cli_exit tune_check(gf_context *context, gf_context *cpu, const gf_graph *graph, gf_pixel pixel,
                    const char *impl, const char *reference, bool *same)
{
    const gf_image_desc desc = { 211, 157, pixel };
    gf_image *in, *got = NULL, *right = NULL;
    gf_status status = gf_image_create(NULL, &desc, GF_MEMORY_HOST, &in);
    if (status != GF_OK) return cli_library_error(CLI_FAILED, NULL);
    const gf_view noise = gf_image_view(in);
    bench_noise(&noise);
    status = run(context, graph, in, impl, &got);
    if (status == GF_OK) status = run(cpu, graph, in, reference, &right);
    *same = status == GF_OK && alike(right, got);
    gf_image_destroy(&in);
    gf_image_destroy(&got);
    gf_image_destroy(&right);
    return status == GF_OK ? CLI_OK : cli_library_error(CLI_FAILED, NULL);
}
