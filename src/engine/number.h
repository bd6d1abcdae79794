/* Numbers in text, read in the C locale whatever LC_NUMERIC says. */
#ifndef GFI_ENGINE_NUMBER_H
#define GFI_ENGINE_NUMBER_H

#include <stdbool.h>

/* Read one finite decimal number at *text and advance it; false (and *text unmoved) when there is
 * none. */
bool gfi_number_read(const char **text, double *out);

#endif
