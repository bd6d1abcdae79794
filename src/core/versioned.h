/* Structs whose first member is their size, as callers of another version may pass them. */
#ifndef GFI_CORE_VERSIONED_H
#define GFI_CORE_VERSIONED_H

#include "core/status.h"

/* Copy the struct a caller passed, NULL for all defaults, into one of this version's `size` bytes,
 * which must be sizeof *out: fields the caller's version lacks become 0. INVALID when its first
 * member cannot be a size. */
gf_status gfi_versioned_read(const void *given, void *out, size_t size, const char *name);

#endif
