#define _POSIX_C_SOURCE 200809L
#include "engine/number.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>

bool gfi_number_read(const char **text, double *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c) return false;
    locale_t old = uselocale(c);
    char *end;
    double value = strtod(*text, &end);
    uselocale(old);
    freelocale(c);
    if (end == *text || !isfinite(value)) return false;
    *text = end;
    *out = value;
    return true;
}
