#include "io/bytes.h"

#include <string.h>

#include "core/alloc.h"

uint8_t *gfi_buffer_reserve(gfi_buffer *buffer, size_t n)
{
    if (buffer->capacity - buffer->size >= n) return buffer->data + buffer->size;
    size_t capacity = buffer->capacity + buffer->capacity / 2;
    if (capacity < buffer->capacity || n > SIZE_MAX - buffer->size) {
        gfi_fail(GF_ERROR_NO_MEMORY, "file: %zu bytes more than %zu cannot be addressed", n,
                 buffer->size);
        return NULL;
    }
    if (capacity < buffer->size + n) capacity = buffer->size + n;
    uint8_t *data = gfi_alloc(capacity, 1, "file");
    if (!data) return NULL;
    if (buffer->size) memcpy(data, buffer->data, buffer->size);
    gfi_free(buffer->data);
    buffer->data = data;
    buffer->capacity = capacity;
    return data + buffer->size;
}

bool gfi_buffer_append(gfi_buffer *buffer, const void *bytes, size_t n)
{
    uint8_t *room = gfi_buffer_reserve(buffer, n);
    if (!room) return false;
    if (n) memcpy(room, bytes, n);
    buffer->size += n;
    return true;
}
