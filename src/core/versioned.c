#include "core/versioned.h"

#include <string.h>

gf_status gfi_versioned_read(const void *given, void *out, size_t size, const char *name)
{
    memset(out, 0, size);
    memcpy(out, &size, sizeof size);
    if (!given) return GF_OK;
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs)
        return gfi_fail(GF_ERROR_INVALID, "%s: struct_size is %zu, not sizeof(%s)", name, theirs,
                        name);
    memcpy(out, given, theirs < size ? theirs : size);
    return GF_OK;
}
