/* One function a command; each writes its own messages and returns the exit code. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

#include "args.h"

cli_exit cmd_pictures(const cli_args *args); /* run, and every filter */
cli_exit cmd_list(const cli_args *args);
cli_exit cmd_help(const cli_args *args);
cli_exit cmd_info(const cli_args *args);
cli_exit cmd_devices(const cli_args *args);
cli_exit cmd_compare(const cli_args *args);
cli_exit cmd_bench(const cli_args *args);
cli_exit cmd_tune(const cli_args *args);
cli_exit cmd_version(const cli_args *args);

#endif
