#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "signals.h"

static cli_exit dispatch(const cli_args *args)
{
    if (args->help) return cmd_help(args);
    switch (args->command) {
    case CMD_FILTER:
    case CMD_RUN: return cmd_pictures(args);
    case CMD_LIST: return cmd_list(args);
    case CMD_HELP: return cmd_help(args);
    case CMD_INFO: return cmd_info(args);
    case CMD_DEVICES: return cmd_devices(args);
    case CMD_COMPARE: return cmd_compare(args);
    case CMD_BENCH: return cmd_bench(args);
    case CMD_TUNE: return cmd_tune(args);
    case CMD_VERSION: return cmd_version(args);
    }
    return CLI_USAGE;
}

/* A result that did not reach standard output is not a success. */
static cli_exit finish_output(cli_exit code)
{
    bool failed = ferror(stdout);
    if (fflush(stdout) || failed) {
        cli_exit lost = cli_error(CLI_OUTPUT, NULL, "standard output: %s",
                                  errno ? strerror(errno) : "write error");
        return code ? code : lost;
    }
    return code;
}

int main(int argc, char **argv)
{
    cli_args args;
    signals_install();
    cli_exit code = cli_args_parse(argc, argv, &args);
    if (!code) code = dispatch(&args);
    code = finish_output(code);
    cli_args_free(&args);
    return code;
}
