#include "filters/gauss.h"

const char gfi_gauss_source[] =
    "Sampled Gaussian, truncated and normalised, derivatives by Hermite polynomials: as "
    "scipy.ndimage.gaussian_filter. L. Florack et al., Scale and the differential structure of "
    "images, Image and Vision Computing 10 (1992), section 3.";

gf_status gfi_gauss_radius(double sigma, double truncate, int given, int *out)
{
    enum { MOST = (1 << 23) - 1 };
    double radius = given != GFI_UNSET_INT ? given : floor(truncate * sigma + 0.5);
    if (radius > MOST)
        return gfi_fail(GF_ERROR_RANGE,
                        "sigma: %g with truncate %g needs %.0f taps each side; at most %d", sigma,
                        truncate, radius, MOST);
    *out = (int)radius;
    return GF_OK;
}

/* q(x) of the derivative q(x) * phi(x) of a Gaussian phi. */
static double hermite(double x, double s2, int order)
{
    switch (order) {
    case 1: return -x / s2;
    case 2: return (x * x / s2 - 1) / s2;
    case 3: return (3 - x * x / s2) * x / (s2 * s2);
    default: return 1;
    }
}

/* Taps this far below the largest become 0. They change no result within the numbers contract, and
 * whether such a tap, or the product of two, still is a float32 number decides what an infinity
 * under it does: 0 on every path. */
static const double negligible = 1e-16;

void gfi_gauss_taps(const gfi_gauss *g, double *out, int centre)
{
    if (g->sigma <= 0) {
        out[centre] = 1;
        return;
    }
    const double s2 = g->sigma * g->sigma;
    double sum = 0, most = 0;
    for (int x = -g->radius; x <= g->radius; x++) sum += exp(-0.5 * x * (double)x / s2);
    for (int x = -g->radius; x <= g->radius; x++) {
        out[centre + x] = hermite(-x, s2, g->order) * exp(-0.5 * x * (double)x / s2) / sum;
        most = fmax(most, fabs(out[centre + x]));
    }
    for (int x = -g->radius; x <= g->radius; x++)
        if (fabs(out[centre + x]) < negligible * most) out[centre + x] = 0;
}
