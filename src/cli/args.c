#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The program never calls setlocale(), so strtod() reads as in the C locale. */
bool cli_read_number(const char *text, double *out)
{
    char *end;
    if (!*text || isspace((unsigned char)*text)) return false;
    *out = strtod(text, &end);
    return end != text && !*end && isfinite(*out);
}

bool cli_read_integer(const char *text, long long min, long long max, long long *out)
{
    char *end;
    if (!*text || isspace((unsigned char)*text)) return false;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return end != text && !*end && !errno && *out >= min && *out <= max;
}

/* ---- values of options -------------------------------------------------------------------- */

static cli_exit bad_value(const cli_option *o, const char *value, const char *right)
{
    return cli_error(CLI_USAGE, NULL, "--%s: '%s' is not %s", o->name, value, right);
}

static cli_exit set_int(const cli_option *o, const char *value, int min, int max, int *out)
{
    char right[64];
    long long v;
    if (!cli_read_integer(value, min, max, &v)) {
        if (max == INT32_MAX)
            snprintf(right, sizeof right, "a whole number of %d or more", min);
        else
            snprintf(right, sizeof right, "a whole number of %d to %d", min, max);
        return bad_value(o, value, right);
    }
    *out = (int)v;
    return CLI_OK;
}

/* Find value among the words of "a|b|c" and return its place, or -1. */
static int choice_index(const char *choices, const char *value)
{
    size_t n = strlen(value);
    for (int i = 0; choices; i++) {
        const char *end = strchr(choices, '|');
        size_t length = end ? (size_t)(end - choices) : strlen(choices);
        if (length == n && !memcmp(choices, value, n)) return i;
        choices = end ? end + 1 : NULL;
    }
    return -1;
}

static cli_exit set_choice(const cli_option *o, const char *value, int *out)
{
    char right[64];
    *out = choice_index(o->argument, value);
    if (*out >= 0) return CLI_OK;
    snprintf(right, sizeof right, "one of %s", o->argument);
    return bad_value(o, value, right);
}

static cli_exit set_pixel(const cli_option *o, const char *value, gf_pixel *out)
{
    static const gf_pixel pixels[] = { GF_PIXEL_U8, GF_PIXEL_U16, GF_PIXEL_F32 };
    int index;
    if (set_choice(o, value, &index)) return CLI_USAGE;
    *out = pixels[index];
    return CLI_OK;
}

static cli_exit set_backend(const cli_option *o, const char *value, gf_backend *out)
{
    static const gf_backend backends[] = { GF_BACKEND_AUTO, GF_BACKEND_CPU, GF_BACKEND_CUDA };
    int index;
    if (set_choice(o, value, &index)) return CLI_USAGE;
    *out = backends[index];
    return CLI_OK;
}

static cli_exit set_format(const cli_option *o, const char *value, const char **out)
{
    char hint[128];
    cli_nearest nearest = { .wanted = value };
    const gf_codec_info *codec;
    for (size_t i = 0; (codec = gf_codec_get(i)); i++) {
        if (!strcmp(codec->name, value) && codec->can_save) {
            *out = codec->name;
            return CLI_OK;
        }
        if (codec->can_save) cli_nearest_offer(&nearest, codec->name);
    }
    cli_nearest_hint(&nearest, "gpufilter --version --verbose lists the formats", hint,
                     sizeof hint);
    return cli_error(CLI_USAGE, hint, "--%s: '%s' is not a format this build writes", o->name,
                     value);
}

static cli_exit set_size(const cli_option *o, const char *value, cli_args *args)
{
    const char *x = strchr(value, 'x');
    long long w, h;
    char first[16];
    if (!x) {
        if (!cli_read_integer(value, 1, INT32_MAX, &w))
            return bad_value(o, value, "N or WxH, each 1 or more");
        h = w;
    } else {
        snprintf(first, sizeof first, "%.*s", (int)(x - value), value);
        if (x - value >= (int)sizeof first || !cli_read_integer(first, 1, INT32_MAX, &w) ||
            !cli_read_integer(x + 1, 1, INT32_MAX, &h))
            return bad_value(o, value, "N or WxH, each 1 or more");
    }
    args->width = (int32_t)w;
    args->height = (int32_t)h;
    return CLI_OK;
}

static cli_exit set_value(const cli_option *o, const char *value, cli_args *args)
{
    long long n;
    switch (o->id) {
    case OPT_CHAIN: args->chain = value; break;
    case OPT_OUTPUT: args->output = value; break;
    case OPT_IMPL: args->impl = value; break;
    case OPT_VERIFY: args->verify = value; break;
    case OPT_DIFF: args->diff = value; break;
    case OPT_BACKEND: return set_backend(o, value, &args->backend);
    case OPT_FORMAT: return set_format(o, value, &args->format);
    case OPT_DEPTH: return set_pixel(o, value, &args->depth);
    case OPT_PIXEL: return set_pixel(o, value, &args->pixel);
    case OPT_SIZE: return set_size(o, value, args);
    case OPT_DEVICE: return set_int(o, value, 0, INT32_MAX, &args->device);
    case OPT_THREADS: return set_int(o, value, 1, 4096, &args->threads);
    case OPT_BATCH: return set_int(o, value, 1, 65535, &args->batch);
    case OPT_QUALITY: return set_int(o, value, 1, 100, &args->quality);
    case OPT_WHITE:
        if (!cli_read_number(value, &args->white) || args->white <= 0)
            return bad_value(o, value, "a number > 0");
        break;
    case OPT_TOLERANCE:
        if (!cli_read_number(value, &args->tolerance) || args->tolerance < 0)
            return bad_value(o, value, "a number >= 0");
        break;
    case OPT_MAX_PIXELS:
        if (!cli_read_integer(value, 1, INT64_MAX, &n))
            return bad_value(o, value, "a whole number of 1 or more");
        args->max_pixels = (uint64_t)n;
        break;
    default: break;
    }
    return CLI_OK;
}

static void set_switch(const cli_option *o, cli_args *args)
{
    switch (o->id) {
    case OPT_NO_CLOBBER: args->no_clobber = true; break;
    case OPT_DRY_RUN: args->dry_run = true; break;
    case OPT_TIMINGS: args->timings = true; break;
    case OPT_EXPLAIN: args->explain = true; break;
    case OPT_JSON: args->json = true; break;
    case OPT_QUIET: args->quiet = true; break;
    case OPT_VERBOSE: args->verbose = true; break;
    case OPT_HELP: args->help = true; break;
    default: break;
    }
}

/* ---- one option --------------------------------------------------------------------------- */

/* An option as it stands on the command line. */
typedef struct given {
    const char *dashes; /* "--" or "-" */
    const char *name;
    size_t n_name;
    const char *value; /* NULL: not attached */
} given;

/* A long option, or the letter at text[at] of a short one; false: no option. */
static bool split_option(const char *text, given *g)
{
    if (text[0] != '-' || !text[1]) return false;
    g->dashes = text[1] == '-' ? "--" : "-";
    g->name = text + strlen(g->dashes);
    if (text[1] != '-') {
        g->n_name = 1;
        g->value = text[2] ? text + 2 : NULL;
        return true;
    }
    const char *equals = strchr(g->name, '=');
    g->n_name = equals ? (size_t)(equals - g->name) : strlen(g->name);
    g->value = equals ? equals + 1 : NULL;
    return true;
}

static const cli_option *find_option(const given *g)
{
    return g->dashes[1] ? cli_option_find(g->name, g->n_name) : cli_option_find_letter(g->name[0]);
}

static const gf_param_info *find_param(const gf_filter_info *filter, const given *g)
{
    const gf_param_info *p;
    if (!filter || !g->dashes[1]) return NULL;
    for (size_t i = 0; (p = gf_filter_param(filter, i)); i++)
        if (strlen(p->name) == g->n_name && !memcmp(p->name, g->name, g->n_name)) return p;
    return NULL;
}

static cli_exit unknown_option(const cli_args *args, const given *g)
{
    char wanted[64], best[80] = "", hint[160], fallback[80];
    snprintf(wanted, sizeof wanted, "%.*s", (int)(g->n_name < 60 ? g->n_name : 60), g->name);
    cli_nearest nearest = { .wanted = wanted };
    const gf_param_info *p;
    for (size_t i = 0; args->filter && (p = gf_filter_param(args->filter, i)); i++)
        cli_nearest_offer(&nearest, p->name);
    for (const cli_option *o = cli_options; o->name; o++)
        if (o->commands >> args->command & 1) cli_nearest_offer(&nearest, o->name);
    if (nearest.best && g->dashes[1]) snprintf(best, sizeof best, "--%s", nearest.best);
    nearest.best = *best ? best : NULL;
    bool chain_word = args->command == CMD_FILTER && !args->filter;
    snprintf(fallback, sizeof fallback, "gpufilter help %s lists the options",
             chain_word   ? "run"
             : args->word ? args->word
                          : "COMMAND");
    cli_nearest_hint(&nearest, fallback, hint, sizeof hint);
    return cli_error(CLI_USAGE, hint, "unknown option '%s%s'", g->dashes, wanted);
}

/* Take the value of an option: attached, or the next argument. */
static cli_exit take_value(const given *g, int argc, char **argv, int *i, const char **value)
{
    *value = g->value;
    if (*value) return CLI_OK;
    bool next_is_option = *i + 1 < argc && !strncmp(argv[*i + 1], "--", 2);
    if (*i + 1 >= argc || next_is_option)
        return cli_error(CLI_USAGE,
                         next_is_option ? "a value that begins with -- is written --option=value"
                                        : NULL,
                         "option '%s%.*s' needs a value", g->dashes, (int)g->n_name, g->name);
    *value = argv[++*i];
    return CLI_OK;
}

/* -qv is -q -v. */
static cli_exit parse_switches(const char *letters, cli_args *args)
{
    for (; *letters; letters++) {
        const cli_option *o = cli_option_find_letter(*letters);
        given g = { .dashes = "-", .name = letters, .n_name = 1 };
        if (!o || !(o->commands >> args->command & 1)) return unknown_option(args, &g);
        if (o->argument)
            return cli_error(CLI_USAGE, NULL, "option '-%c' needs a value and must stand alone",
                             *letters);
        set_switch(o, args);
    }
    return CLI_OK;
}

static cli_exit parse_option(const given *g, int argc, char **argv, int *i, cli_args *args)
{
    const char *value;
    const gf_param_info *param = find_param(args->filter, g);
    const cli_option *o = find_option(g);
    if (param) { /* a filter's own parameter comes before a common option of that name */
        if (take_value(g, argc, argv, i, &value)) return CLI_USAGE;
        args->settings[args->n_settings++] = (cli_setting){ param->name, value };
        return CLI_OK;
    }
    if (!o || !(o->commands >> args->command & 1)) return unknown_option(args, g);
    if (o->argument) {
        if (take_value(g, argc, argv, i, &value)) return CLI_USAGE;
        return set_value(o, value, args);
    }
    if (!g->dashes[1]) return parse_switches(g->name, args);
    if (g->value) return cli_error(CLI_USAGE, NULL, "option '--%s' takes no value", o->name);
    set_switch(o, args);
    return CLI_OK;
}

/* ---- the whole line ----------------------------------------------------------------------- */

/* Find the command: the first argument that is neither an option nor an option's value. Options
 * not in the table are parameters of the filter that is still to come, and those take a value. */
static int find_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        given g;
        if (!strcmp(argv[i], "--")) return i + 1 < argc ? i + 1 : 0;
        if (!split_option(argv[i], &g)) return i;
        const cli_option *o = find_option(&g);
        if (!g.value && (!o || o->argument)) i++;
    }
    return 0;
}

static cli_exit unknown_command(const char *word)
{
    char hint[128];
    cli_nearest nearest = { .wanted = word };
    const gf_filter_info *filter;
    for (size_t i = 0; (filter = gf_filter_get(i)); i++) cli_nearest_offer(&nearest, filter->name);
    for (const cli_command *c = cli_commands; c->name; c++)
        if (c->id != CMD_FILTER) cli_nearest_offer(&nearest, c->name);
    cli_nearest_hint(&nearest, "gpufilter list shows the filters, gpufilter help the commands",
                     hint, sizeof hint);
    return cli_error(CLI_USAGE, hint, "'%s' is neither a filter nor a command", word);
}

static cli_exit resolve_command(const char *word, cli_args *args)
{
    const cli_command *command = cli_command_find(word);
    args->word = word;
    if (command) {
        args->command = command->id;
        return CLI_OK;
    }
    args->command = CMD_FILTER;
    args->filter = gf_filter_find(word);
    if (args->filter) return CLI_OK;
    if (!word[strcspn(word, "=,")]) return unknown_command(word);
    args->chain = word; /* gaussian=2 or gaussian,sobel: a chain */
    return CLI_OK;
}

static bool given_version(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
        if (!strcmp(argv[i], "--version")) return true;
    return false;
}

static cli_exit parse_rest(int argc, char **argv, int at_command, cli_args *args)
{
    bool options = true;
    for (int i = 1; i < argc; i++) {
        given g;
        if (options && !strcmp(argv[i], "--"))
            options = false;
        else if (i == at_command)
            continue;
        else if (options && split_option(argv[i], &g)) {
            cli_exit code = parse_option(&g, argc, argv, &i, args);
            if (code) return code;
        } else
            args->words[args->n_words++] = argv[i];
    }
    return CLI_OK;
}

cli_exit cli_args_parse(int argc, char **argv, cli_args *args)
{
    *args = (cli_args){ 0 };
    size_t n = (size_t)argc + 1;
    args->words = calloc(n, sizeof *args->words);
    args->settings = calloc(n, sizeof *args->settings);
    if (!args->words || !args->settings) return cli_error(CLI_FAILED, NULL, "out of memory");
    int at = given_version(argc, argv) ? 0 : find_command(argc, argv);
    if (given_version(argc, argv))
        args->command = CMD_VERSION;
    else if (!at)
        args->command = CMD_HELP;
    else {
        cli_exit code = resolve_command(argv[at], args);
        if (code) return code;
    }
    return parse_rest(argc, argv, at, args);
}

void cli_args_free(cli_args *args)
{
    free(args->words);
    free(args->settings);
    *args = (cli_args){ 0 };
}
