/* Parameters of filters as text; for help and for the generated docs. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

#include <stddef.h>

#include <gpufilter/filter.h>

#include "json.h"

/* Write text and a newline, broken into lines; the first begins where the cursor stands, at column
 * indent, and the others are indented to it. */
void describe_wrap(const char *text, int indent, FILE *out);

/* "> 0 px", "3, 5, 7", "-1 to 20, odd"; written to out, which is returned. */
const char *describe_range(const gf_param_info *param, char *out, size_t n_bytes);

/* "N", "X", "x|y|magnitude", "KERNEL": what stands after --name. */
const char *describe_argument(const gf_param_info *param, char *out, size_t n_bytes);

/* All that is known of a filter, as one object. */
void describe_json(const gf_filter_info *filter, json *j, const char *key);

#endif
