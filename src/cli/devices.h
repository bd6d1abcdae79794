/* What this build and this machine have of CUDA; for `devices` and `--version --verbose`. */
#ifndef CLI_DEVICES_H
#define CLI_DEVICES_H

#include "json.h"

void devices_print(FILE *out);
void devices_json(json *j); /* keys of the object that is open */

#endif
