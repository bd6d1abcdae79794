/* The command line, parsed. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <gpufilter/gpufilter.h>

#include "message.h"
#include "table.h"

/* A filter's parameter as given: --key value. */
typedef struct cli_setting {
    const char *key, *value;
} cli_setting;

typedef struct cli_args {
    cli_command_id command;
    const char *word;             /* the command as typed */
    const gf_filter_info *filter; /* for CMD_FILTER; NULL when the word is a chain (gaussian=2) */
    const char **words;           /* what is neither option nor value, the command left out */
    size_t n_words;
    cli_setting *settings;
    size_t n_settings;

    const char *chain, *output, *impl, *format, *verify, *diff;
    const char *tuning; /* no option: "" leaves a tuning file unread */
    gf_backend backend;
    gf_pixel depth, pixel;
    int device, threads, quality, batch;
    int32_t width, height;
    double white, tolerance;
    uint64_t max_pixels;
    bool no_clobber, dry_run, timings, explain, json, quiet, verbose, help;
} cli_args;

/* Parse the command line. Strings are those of argv; free with cli_args_free. On a fault the
 * message is written and CLI_USAGE (or CLI_FAILED without memory) returned. */
cli_exit cli_args_parse(int argc, char **argv, cli_args *args);
void cli_args_free(cli_args *args);

/* Read a whole number of min … max, or a number, from text; false when it is none. */
bool cli_read_integer(const char *text, long long min, long long max, long long *out);
bool cli_read_number(const char *text, double *out);

#endif
