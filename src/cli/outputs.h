/* Where the results of several inputs go. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include "args.h"

/* Name the result of every input word in args->output: the input's own name, with the extension of
 * --format, or its own extension when that format can be written, else that of the first format
 * this build writes. Refuses two results of one name. *out is an array as long as args->words. */
cli_exit outputs_name(const cli_args *args, char ***out);
void outputs_free(const cli_args *args, char **outputs);

/* Make the folder when it is missing. */
cli_exit outputs_make_folder(const char *folder);

#endif
