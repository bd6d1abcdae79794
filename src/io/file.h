/* Whole files: read at once, written so that the final name never holds half a picture. */
#ifndef GFI_IO_FILE_H
#define GFI_IO_FILE_H

#include <stdbool.h>

#include "core/status.h"
#include "io/bytes.h"

/* Read a file, or standard input for "-", to its end. On failure buffer->data is NULL. */
gf_status gfi_file_read(const char *path, gfi_buffer *buffer);

/* Write a file, or standard output for "-"; see file.c for the rules. */
gf_status gfi_file_write(const char *path, bool no_clobber, const gfi_buffer *bytes);

/* IO when something stands at the path. */
gf_status gfi_file_absent(const char *path);

#endif
