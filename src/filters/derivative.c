#include "filters/derivative.h"

#include <string.h>

const char *const gfi_direction_choices[] = { "x", "y", "magnitude", NULL };
const int gfi_direction_values[] = { GFI_DIRECTION_X, GFI_DIRECTION_Y, GFI_DIRECTION_MAGNITUDE };

gf_status gfi_derivative_window(int n, const double *d, const double *s, gfi_direction direction,
                                gf_border border, double border_value, gfi_window **out)
{
    const size_t bytes = (size_t)n * sizeof(double);
    const int terms = direction == GFI_DIRECTION_MAGNITUDE ? 2 : 1;
    GFI_TRY(gfi_window_create(n, n, terms, out));
    for (int t = 0; t < terms; t++) {
        const bool along_x = terms == 2 ? t == 0 : direction == GFI_DIRECTION_X;
        memcpy((*out)->term[t].row, along_x ? d : s, bytes);
        memcpy((*out)->term[t].col, along_x ? s : d, bytes);
    }
    if (terms == 2) (*out)->combine = GFI_COMBINE_MAGNITUDE;
    return gfi_window_complete(*out, border, border_value, out);
}
