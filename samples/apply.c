/* The shortest useful program: filter one file.
 *
 *   apply CHAIN IN OUT */
#include <stdio.h>

#include <gpufilter/gpufilter.h>

int main(int argc, char **argv)
{
    gf_context *context = NULL;
    gf_image *in = NULL, *out = NULL;
    if (argc != 4) return fprintf(stderr, "usage: apply CHAIN IN OUT\n"), 2;
    gf_status status = gf_context_create(NULL, &context);
    if (status == GF_OK) status = gf_image_load(argv[2], NULL, &in);
    gf_view src = gf_image_view(in), dst;
    if (status == GF_OK) status = gf_apply(context, argv[1], &src, &out);
    dst = gf_image_view(out);
    if (status == GF_OK) status = gf_image_save(argv[3], &dst, NULL);
    if (status != GF_OK) fprintf(stderr, "apply: %s\n", gf_error_message());
    gf_image_destroy(&out);
    gf_image_destroy(&in);
    gf_context_destroy(&context);
    return status != GF_OK;
}
