/* First derivatives made of a difference along one axis and a smoothing along the other. */
#ifndef GFI_DERIVATIVE_H
#define GFI_DERIVATIVE_H

#include "filters/window.h"

typedef enum gfi_direction {
    GFI_DIRECTION_X,
    GFI_DIRECTION_Y,
    GFI_DIRECTION_MAGNITUDE
} gfi_direction;
extern const char *const gfi_direction_choices[];
extern const int gfi_direction_values[];

#define GFI_DIRECTION(T)                                                                           \
    GFI_ENUM(T, direction, "direction", gfi_direction_choices, gfi_direction_values,               \
             GFI_DIRECTION_MAGNITUDE, "magnitude", 0,                                              \
             "x: change along rows; y: along columns; magnitude: sqrt(x^2 + y^2).")

/* n taps each of the difference (d) and the smoothing (s). */
gf_status gfi_derivative_window(int n, const double *d, const double *s, gfi_direction direction,
                                gf_border border, double border_value, gfi_window **out);

#endif
