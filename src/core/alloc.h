/* Host memory with checked sizes. */
#ifndef GFI_CORE_ALLOC_H
#define GFI_CORE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* *out = a * b; false when it does not fit size_t. */
static inline bool gfi_mul(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* Allocate count elements of size bytes, 64-byte aligned, undefined (gfi_alloc) or zero
 * (gfi_alloc_zero) contents. NULL on overflow or when out of memory, with the error recorded
 * ("what: N bytes"). Released with gfi_free(). */
void *gfi_alloc(size_t count, size_t size, const char *what);
void *gfi_alloc_zero(size_t count, size_t size, const char *what);
void gfi_free(void *memory);

/* Copy a string; NULL with the error recorded when out of memory. */
char *gfi_strdup(const char *text);

#endif
