#include "cmd.h"

#include <string.h>

#include "difference.h"
#include "picture.h"

static cli_exit check(const cli_args *args)
{
    if (args->n_words != 2)
        return cli_error(CLI_USAGE, "gpufilter compare A B", "compare takes two pictures, not %zu",
                         args->n_words);
    if (!strcmp(args->words[0], "-") && !strcmp(args->words[1], "-"))
        return cli_error(CLI_USAGE, NULL, "only one of the two pictures can be standard input");
    if (args->diff && !strcmp(args->diff, "-") && args->json)
        return cli_error(CLI_USAGE, NULL,
                         "--json and the difference picture both want standard output");
    return args->diff ? picture_check_output(args, args->diff) : CLI_OK;
}

/* The difference keeps the wider pixel type of the two, unless --depth says otherwise. */
static cli_exit write_diff(const cli_args *args, const gf_view *a, const gf_view *b)
{
    gf_pixel wider = a->pixel > b->pixel ? a->pixel : b->pixel;
    gf_image_desc desc = { a->width, a->height, picture_out_pixel(args, args->diff, wider) };
    gf_image *image;
    if (gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image) != GF_OK)
        return cli_library_error(CLI_FAILED, NULL);
    gf_view view = gf_image_view(image);
    difference_image(a, b, &view);
    cli_exit code = picture_save(args, args->diff, &view);
    gf_image_destroy(&image);
    return code;
}

static void print(const cli_args *args, const difference *d)
{
    json j = { .out = stdout };
    if (args->json) {
        difference_json(d, &j, NULL);
        return;
    }
    /* where the difference picture itself goes to standard output, figures go beside it */
    difference_print(d, args->diff && !strcmp(args->diff, "-") ? stderr : stdout);
}

static cli_exit compare(const cli_args *args, const gf_image *first, const gf_image *second)
{
    gf_view a = gf_image_view(first), b = gf_image_view(second);
    difference d;
    if (a.width != b.width || a.height != b.height)
        return cli_error(CLI_DIFFERS, NULL, "'%s' is %dx%d, but '%s' is %dx%d", args->words[0],
                         a.width, a.height, args->words[1], b.width, b.height);
    difference_measure(&a, &b, args->tolerance, &d);
    print(args, &d);
    cli_exit code = args->diff ? write_diff(args, &a, &b) : CLI_OK;
    return code ? code : d.beyond ? CLI_DIFFERS : CLI_OK;
}

cli_exit cmd_compare(const cli_args *args)
{
    gf_image *a = NULL, *b = NULL;
    gf_file_info info;
    cli_exit code = check(args);
    if (!code) code = picture_load(args, args->words[0], &info, &a);
    if (!code) code = picture_load(args, args->words[1], &info, &b);
    if (!code) code = compare(args, a, b);
    gf_image_destroy(&a);
    gf_image_destroy(&b);
    return code;
}
