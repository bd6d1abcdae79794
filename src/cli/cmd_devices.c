#include "cmd.h"

#include <stdio.h>

#include "devices.h"
#include "json.h"

cli_exit cmd_devices(const cli_args *args)
{
    if (args->n_words) return cli_error(CLI_USAGE, NULL, "devices takes no arguments");
    if (!args->json) {
        devices_print(stdout);
        return CLI_OK;
    }
    json j = { .out = stdout };
    json_object(&j, NULL);
    devices_json(&j);
    json_end_object(&j);
    return CLI_OK;
}
