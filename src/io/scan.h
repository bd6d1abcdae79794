/* Tokens of the headers of PGM, its kin and PFM. */
#ifndef GFI_IO_SCAN_H
#define GFI_IO_SCAN_H

#include <stdbool.h>

#include "io/codec.h"

typedef struct gfi_scan {
    const uint8_t *at, *end;
} gfi_scan;

static inline bool gfi_scan_is_space(uint8_t c) { return c == ' ' || (c >= 9 && c <= 13); }

/* Skip white space and comments, which run from # to the end of the line. */
void gfi_scan_skip(gfi_scan *scan);

/* Read a decimal number; FORMAT naming what was looked for when there is none or when it is above
 * max. Says "truncated" at the end of the file. */
gf_status gfi_scan_number(gfi_scan *scan, const char *what, uint32_t max, uint32_t *out);

/* Skip the one separator between the header and binary pixels, for n bytes of them: a white-space
 * character, CR LF, or a comment with its newline. */
gf_status gfi_scan_raster(gfi_scan *scan, size_t n);

/* Say in the notice when bytes are left. */
void gfi_scan_rest(const gfi_scan *scan, gf_file_info *info);

#endif
