#include "cmd.h"

#include <stdio.h>

#include "json.h"
#include "picture.h"

static void print_text(const char *path, const gf_file_info *info)
{
    printf("%s: %s, %dx%d, %d bit%s, %d channel%s, as %s; gray: %s\n", path, info->format,
           info->width, info->height, info->bit_depth, info->bit_depth == 1 ? "" : "s",
           info->channels, info->channels == 1 ? "" : "s", gf_pixel_name(info->pixel), info->gray);
    if (info->notice[0]) printf("  notice: %s\n", info->notice);
}

static void print_json(json *j, const char *path, const gf_file_info *info, cli_exit code)
{
    json_object(j, NULL);
    json_string(j, "file", path);
    json_bool(j, "ok", !code);
    json_string(j, "error", code ? gf_error_message() : NULL);
    if (!code) {
        json_string(j, "format", info->format);
        json_integer(j, "width", info->width);
        json_integer(j, "height", info->height);
        json_integer(j, "bit_depth", info->bit_depth);
        json_integer(j, "channels", info->channels);
        json_integer(j, "maxval", info->maxval);
        json_string(j, "pixel", gf_pixel_name(info->pixel));
        json_string(j, "gray", info->gray);
        json_string(j, "notice", info->notice);
    }
    json_end_object(j);
}

static cli_exit one(const cli_args *args, const char *path, json *j)
{
    cli_args quiet = *args; /* notices are part of what is printed here */
    quiet.quiet = true;
    gf_image *image = NULL;
    gf_file_info info;
    cli_exit code = picture_load(&quiet, path, &info, &image);
    gf_image_destroy(&image);
    if (j)
        print_json(j, path, &info, code);
    else if (!code)
        print_text(path, &info);
    return code;
}

cli_exit cmd_info(const cli_args *args)
{
    json writer = { .out = stdout }, *j = args->json ? &writer : NULL;
    cli_exit code = CLI_OK;
    if (!args->n_words) return cli_error(CLI_USAGE, "gpufilter info FILE...", "no file named");
    if (j) {
        json_object(j, NULL);
        json_array(j, "files");
    }
    for (size_t i = 0; i < args->n_words; i++) {
        cli_exit c = one(args, args->words[i], j);
        if (c) code = args->n_words > 1 ? CLI_FAILED : c;
    }
    if (j) {
        json_end_array(j);
        json_end_object(j);
    }
    return code;
}
