/* Sampled Gaussians and their derivatives, as scipy.ndimage makes them. */
#ifndef GFI_GAUSS_H
#define GFI_GAUSS_H

#include "filters/window.h"

/* The parameters that Gaussian filters share; one axis of them. */
typedef struct gfi_gauss {
    double sigma; /* px, >= 0; 0: no smoothing on this axis */
    int order;    /* derivative, 0 … 3 */
    int radius;   /* taps each side of the centre */
} gfi_gauss;

/* (int)(truncate * sigma + 0.5), or the radius given (when not GFI_UNSET_INT). RANGE when it is too
 * large. */
gf_status gfi_gauss_radius(double sigma, double truncate, int given, int *out);

/* Write 2 * radius + 1 correlation taps around out[centre]: for order 0 exp(-x^2 / 2 sigma^2)
 * normalised to sum 1, else that times the derivative's Hermite polynomial, mirrored so that
 * correlating with it differentiates. */
void gfi_gauss_taps(const gfi_gauss *g, double *out, int centre);

extern const char gfi_gauss_source[];

/* Rows of the parameter table. The square of a smaller sigma may be no number to divide by. */
#define GFI_LEAST_SIGMA 0.001
#define GFI_MOST_SIGMA 1e6
#define GFI_SIGMA(T, field, name, def, def_text, flags, summary)                                   \
    GFI_FLOAT(T, field, name, "px", GFI_LEAST_SIGMA, GFI_MOST_SIGMA, def, def_text, flags, summary)
#define GFI_TRUNCATE(T)                                                                            \
    GFI_FLOAT(T, truncate, "truncate", "sigma", 0, 1000, 4, "4", GF_PARAM_MIN_OPEN,                \
              "Taps reach (int)(truncate * sigma + 0.5) px from the centre.")

#endif
