/* One plan for many pictures of one size: taps, scratch memory and the choice of implementation
 * are made once. Prints what was chosen and the time of each run.
 *
 *   sequence CHAIN RUNS IN OUT */
#include <stdio.h>
#include <stdlib.h>

#include <gpufilter/gpufilter.h>

static gf_status run(gf_plan *plan, int runs, const gf_view *src, const char *path)
{
    gf_image_desc desc = gf_plan_output(plan);
    gf_image *out = NULL;
    gf_status status = gf_image_create(NULL, &desc, GF_MEMORY_HOST, &out);
    gf_view dst = gf_image_view(out);
    gf_stage_info stage;
    for (int i = 0; gf_plan_stage_get(plan, i, &stage); i++)
        printf("%s: %s %s\n", stage.filter, stage.impl, stage.variant);
    for (int i = 0; i < runs && status == GF_OK; i++) {
        gf_timings t;
        status = gf_plan_run(plan, src, &dst);
        if (status == GF_OK) status = gf_plan_timings(plan, &t);
        if (status == GF_OK)
            printf("run %d: upload %.3f ms, filters %.3f ms, download %.3f ms\n", i + 1,
                   t.upload_ns * 1e-6, t.kernels_ns * 1e-6, t.download_ns * 1e-6);
    }
    if (status == GF_OK) status = gf_image_save(path, &dst, NULL);
    gf_image_destroy(&out);
    return status;
}

int main(int argc, char **argv)
{
    gf_context *context = NULL;
    gf_graph *graph = NULL;
    gf_plan *plan = NULL;
    gf_image *in = NULL;
    const int runs = argc == 5 ? atoi(argv[2]) : 0;
    if (runs < 1) return fprintf(stderr, "usage: sequence CHAIN RUNS IN OUT\n"), 2;
    gf_plan_params params = { .struct_size = sizeof params, .expected_runs = (unsigned)runs };
    gf_status status = gf_context_create(NULL, &context);
    if (status == GF_OK) status = gf_graph_parse(argv[1], &graph);
    if (status == GF_OK) status = gf_image_load(argv[3], NULL, &in);
    gf_view src = gf_image_view(in);
    gf_image_desc desc = { src.width, src.height, src.pixel };
    if (status == GF_OK) status = gf_plan_create(context, graph, &desc, &params, &plan);
    if (status == GF_OK) status = run(plan, runs, &src, argv[4]);
    if (status != GF_OK) fprintf(stderr, "sequence: %s\n", gf_error_message());
    gf_plan_destroy(&plan);
    gf_image_destroy(&in);
    gf_graph_destroy(&graph);
    gf_context_destroy(&context);
    return status != GF_OK;
}
