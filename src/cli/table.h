/* The commands and options of the tool, as data: parser, help, man page and completion walk them.
 * Filters are not here; they come from the library's registry. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stddef.h>

/* The one chain that texts show; a test runs it. */
#define CLI_EXAMPLE_CHAIN "gaussian=2,sobel"

typedef enum cli_command_id {
    CMD_FILTER, /* any filter's name */
    CMD_RUN,
    CMD_LIST,
    CMD_HELP,
    CMD_INFO,
    CMD_DEVICES,
    CMD_COMPARE,
    CMD_BENCH,
    CMD_TUNE,
    CMD_VERSION /* --version */
} cli_command_id;

typedef struct cli_command {
    cli_command_id id;
    const char *name;      /* "FILTER" stands for every filter's name */
    const char *arguments; /* "IN OUT" */
    const char *summary;
    const char *details;
} cli_command;

typedef enum cli_option_id {
    OPT_CHAIN,
    OPT_OUTPUT,
    OPT_BACKEND,
    OPT_DEVICE,
    OPT_IMPL,
    OPT_THREADS,
    OPT_DEPTH,
    OPT_FORMAT,
    OPT_QUALITY,
    OPT_WHITE,
    OPT_MAX_PIXELS,
    OPT_NO_CLOBBER,
    OPT_VERIFY,
    OPT_TOLERANCE,
    OPT_DIFF,
    OPT_SIZE,
    OPT_BATCH,
    OPT_PIXEL,
    OPT_DRY_RUN,
    OPT_TIMINGS,
    OPT_EXPLAIN,
    OPT_JSON,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_HELP,
    OPT_VERSION
} cli_option_id;

typedef struct cli_option {
    cli_option_id id;
    const char *name;
    char letter;          /* 0: none */
    const char *argument; /* NULL: a switch; "a|b|c": one of these words */
    unsigned commands;    /* bit i: command of id i takes it */
    const char *summary;
} cli_option;

typedef struct cli_exit_text {
    int code;
    const char *meaning;
} cli_exit_text;

/* All three end with an entry whose text is NULL. */
extern const cli_command cli_commands[];
extern const cli_option cli_options[];
extern const cli_exit_text cli_exit_texts[];

const cli_command *cli_command_find(const char *name);
const cli_command *cli_command_get(cli_command_id id);
const cli_option *cli_option_find(const char *name, size_t n_chars);
const cli_option *cli_option_find_letter(char letter);

#endif
