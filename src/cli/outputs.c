#define _POSIX_C_SOURCE 200809L
#include "outputs.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Is extension one of a codec's "jpg jpeg"? */
static bool has_extension(const gf_codec_info *codec, const char *extension)
{
    size_t n = strlen(extension);
    for (const char *p = codec->extensions; n && *p;) {
        size_t length = strcspn(p, " "), i = 0;
        while (i < n && i < length && tolower((unsigned char)extension[i]) == p[i]) i++;
        if (i == n && i == length) return true;
        p += length + strspn(p + length, " ");
    }
    return false;
}

/* The codec for one result: the one asked for, that of the extension, or the first that writes. */
static const gf_codec_info *choose_codec(const char *format, const char *extension)
{
    const gf_codec_info *codec, *first = NULL;
    for (size_t i = 0; (codec = gf_codec_get(i)); i++) {
        if (!codec->can_save) continue;
        if (!first) first = codec;
        if (format ? !strcmp(format, codec->name) : has_extension(codec, extension)) return codec;
    }
    return first;
}

static char *name_result(const cli_args *args, const char *input)
{
    const char *base = base_name(input), *dot = strrchr(base, '.');
    size_t n_stem = dot && dot != base ? (size_t)(dot - base) : strlen(base);
    const char *extension = base[n_stem] ? base + n_stem + 1 : "";
    const gf_codec_info *codec = choose_codec(args->format, extension);
    if (!codec) return NULL;
    int n_extension = (int)strcspn(codec->extensions, " ");
    if (has_extension(codec, extension)) { /* its own way to write it: .jpeg, .PNG */
        codec = NULL;
        n_extension = (int)strlen(extension);
    }
    size_t n = strlen(args->output) + n_stem + (size_t)n_extension + 3;
    char *name = malloc(n);
    if (name)
        snprintf(name, n, "%s/%.*s.%.*s", args->output, (int)n_stem, base, n_extension,
                 codec ? codec->extensions : extension);
    return name;
}

/* ---- no two of one name ------------------------------------------------------------------- */

typedef struct mapping {
    const char *input, *output;
} mapping;

static int by_output(const void *a, const void *b)
{
    return strcmp(((const mapping *)a)->output, ((const mapping *)b)->output);
}

static cli_exit refuse_clashes(const cli_args *args, char *const *outputs)
{
    cli_exit code = CLI_OK;
    mapping *map = malloc(args->n_words * sizeof *map);
    if (!map) return cli_error(CLI_FAILED, NULL, "out of memory");
    for (size_t i = 0; i < args->n_words; i++) map[i] = (mapping){ args->words[i], outputs[i] };
    qsort(map, args->n_words, sizeof *map, by_output);
    for (size_t i = 1; i < args->n_words && !code; i++)
        if (!strcmp(map[i - 1].output, map[i].output))
            code = cli_error(CLI_USAGE,
                             "give them different names, or run them into different folders",
                             "'%s' and '%s' would both be written to '%s'", map[i - 1].input,
                             map[i].input, map[i].output);
    free(map);
    return code;
}

static cli_exit name_all(const cli_args *args, char **outputs)
{
    for (size_t i = 0; i < args->n_words; i++) {
        const char *input = args->words[i];
        if (!strcmp(input, "-"))
            return cli_error(CLI_USAGE, NULL, "standard input has no name to write under in '%s'",
                             args->output);
        if (!*base_name(input))
            return cli_error(CLI_USAGE, NULL, "'%s' names a folder, not a picture", input);
        outputs[i] = name_result(args, input);
        if (!outputs[i]) return cli_error(CLI_FAILED, NULL, "out of memory");
    }
    return refuse_clashes(args, outputs);
}

cli_exit outputs_name(const cli_args *args, char ***out)
{
    *out = calloc(args->n_words, sizeof **out);
    if (!*out) return cli_error(CLI_FAILED, NULL, "out of memory");
    cli_exit code = name_all(args, *out);
    if (!code) return CLI_OK;
    outputs_free(args, *out);
    *out = NULL;
    return code;
}

void outputs_free(const cli_args *args, char **outputs)
{
    for (size_t i = 0; outputs && i < args->n_words; i++) free(outputs[i]);
    free(outputs);
}

cli_exit outputs_make_folder(const char *folder)
{
    struct stat s;
    if (!stat(folder, &s))
        return S_ISDIR(s.st_mode)
                   ? CLI_OK
                   : cli_error(CLI_OUTPUT, "for one picture write IN OUT, without -o",
                               "'%s' is there and is no folder", folder);
    if (!mkdir(folder, 0777)) return CLI_OK;
    return cli_error(CLI_OUTPUT, NULL, "cannot make the folder '%s': %s", folder, strerror(errno));
}
