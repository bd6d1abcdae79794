#include "core/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

void *gfi_alloc(size_t count, size_t size, const char *what)
{
    size_t bytes;
    if (!gfi_mul(count, size, &bytes) || bytes > PTRDIFF_MAX - ALIGNMENT) {
        gfi_fail(GF_ERROR_NO_MEMORY, "%s: %zu x %zu bytes cannot be addressed", what, count, size);
        return NULL;
    }
    /* aligned_alloc wants a multiple of the alignment; 0 bytes still give a pointer */
    size_t rounded = bytes ? (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
    void *memory = aligned_alloc(ALIGNMENT, rounded);
    if (!memory) gfi_fail(GF_ERROR_NO_MEMORY, "%s: out of memory for %zu bytes", what, bytes);
    return memory;
}

void *gfi_alloc_zero(size_t count, size_t size, const char *what)
{
    void *memory = gfi_alloc(count, size, what);
    if (memory) memset(memory, 0, count * size);
    return memory;
}

void gfi_free(void *memory) { free(memory); }

void gf_free(void *memory) { free(memory); }

char *gfi_strdup(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = gfi_alloc(n, 1, "text");
    return copy ? memcpy(copy, text, n) : NULL;
}
