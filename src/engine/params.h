/* Parameter structs: made with defaults, set from text or numbers, checked. */
#ifndef GFI_ENGINE_PARAMS_H
#define GFI_ENGINE_PARAMS_H

#include "filters/filter_def.h"

/* Make a parameter struct with the defaults; free it with gfi_params_destroy. */
gf_status gfi_params_create(const gf_filter_def *def, void **out);
gf_status gfi_params_copy(const gf_filter_def *def, const void *params, void **out);
void gfi_params_destroy(const gf_filter_def *def, void **params);

/* Set one parameter. NOT_FOUND (key, with a suggestion), RANGE, FORMAT (kernel), IO. */
gf_status gfi_params_set(const gf_filter_def *def, void *params, const char *key, const char *text);
gf_status gfi_params_set_f64(const gf_filter_def *def, void *params, const char *key, double value);

/* Check required parameters and what the def's validate knows. */
gf_status gfi_params_check(const gf_filter_def *def, const void *params);

/* Make, set and check from "2:border=wrap", the text after a filter's name in a chain. */
gf_status gfi_params_parse(const gf_filter_def *def, const char *text, void **out);

/* Return the index-th parameter that may be given without its name, or NULL. */
const gf_param *gfi_params_positional(const gf_filter_def *def, int index);

#endif
