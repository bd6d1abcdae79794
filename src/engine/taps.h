/* Kernels given by the user as text or as a file. */
#ifndef GFI_ENGINE_TAPS_H
#define GFI_ENGINE_TAPS_H

#include "filters/filter_def.h"

/* Parse "1 2 1;2 4 2;1 2 1" (rows by ; or newline, numbers by blanks or commas, # comments) or read
 * "@FILE" (the same text, or a PGM or PFM image). Returns OK, FORMAT, RANGE, NOT_FOUND, IO,
 * NO_MEMORY. Freed with gfi_free. */
gf_status gfi_taps_parse(const char *text, gfi_taps **out);

gf_status gfi_taps_copy(const gfi_taps *taps, gfi_taps **out);

#endif
