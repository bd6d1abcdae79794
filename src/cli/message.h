/* What the tool says on standard error, and the exit codes. */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <stdbool.h>

#include <gpufilter/error.h>
#include <gpufilter/log.h>

typedef enum cli_exit {
    CLI_OK = 0,
    CLI_FAILED = 1, /* also: some of several inputs */
    CLI_USAGE = 2,  /* usage, or a parameter out of range */
    CLI_INPUT = 3,
    CLI_OUTPUT = 4,
    CLI_BACKEND = 5, /* the backend asked for is not there */
    CLI_DIFFERS = 6  /* --verify or compare */
} cli_exit;

#if defined(__GNUC__)
#define CLI_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CLI_PRINTF(fmt, args)
#endif

/* Write "gpufilter: error: …", and with a hint (NULL: none) a second line. Return code, so that
 * callers can write `return cli_error(CLI_USAGE, "…", "…");`. */
cli_exit cli_error(cli_exit code, const char *hint, const char *fmt, ...) CLI_PRINTF(3, 4);

/* The same with the library's message of the call that just failed. */
cli_exit cli_library_error(cli_exit code, const char *hint);

/* Write "gpufilter: notice: …". */
void cli_notice(const char *fmt, ...) CLI_PRINTF(1, 2);

/* How much the library's log may say. */
typedef struct cli_log {
    gf_log_level level; /* 0: nothing */
} cli_log;

/* A gf_log_fn; user is a cli_log. */
void cli_log_line(gf_log_level level, const char *message, void *user);

/* The nearest of several names by edit distance. */
typedef struct cli_nearest {
    const char *wanted;
    const char *best; /* NULL: nothing near enough */
    int distance;
} cli_nearest;

void cli_nearest_offer(cli_nearest *nearest, const char *candidate);

/* Write "did you mean 'x'?", or fallback, into out and return out. */
const char *cli_nearest_hint(const cli_nearest *nearest, const char *fallback, char *out,
                             unsigned n_bytes);

#endif
