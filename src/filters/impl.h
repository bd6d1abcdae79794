/* The life of an implementation's state. */
#ifndef GFI_IMPL_H
#define GFI_IMPL_H

#include "filters/filter_def.h"

/* Make and prepare the state; NULL when the implementation needs none, or on failure. */
gf_status gfi_impl_prepare(const gf_impl *impl, const gfi_request *request, void **state);

/* Give it back and set it to NULL; NULL is allowed. */
void gfi_impl_destroy(const gf_impl *impl, const gfi_request *request, void **state);

#endif
