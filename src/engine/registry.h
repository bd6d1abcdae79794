/* The list of all filters, sorted by name. */
#ifndef GFI_ENGINE_REGISTRY_H
#define GFI_ENGINE_REGISTRY_H

#include "filters/filter_def.h"

size_t gfi_registry_count(void);
const gf_filter_def *gfi_registry_get(size_t index);      /* NULL past the end */
const gf_filter_def *gfi_registry_find(const char *name); /* NULL when there is none */

/* NOT_FOUND with the nearest name as a suggestion. */
gf_status gfi_unknown_filter(const char *name);

#endif
