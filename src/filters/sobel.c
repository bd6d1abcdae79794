#include "filters/derivative.h"

typedef struct sobel {
    int size, direction, border;
    double border_value;
} sobel;

static const char *const sizes[] = { "3", "5", "7", NULL };
static const int size_values[] = { 3, 5, 7 };

static const gf_param params[] = {
    GFI_ENUM(sobel, size, "size", sizes, size_values, 3, "3", GF_PARAM_POSITIONAL,
             "Taps along each axis."),
    GFI_DIRECTION(sobel),
    GFI_BORDER_PARAMS(sobel),
};

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const sobel *p = params_;
    (void)in;
    /* binomials, and their differences: [-1 0 1] smoothed by the binomial of size - 2 */
    static const double difference[3][7] = { { -1, 0, 1 },
                                             { -1, -2, 0, 2, 1 },
                                             { -1, -4, -5, 0, 5, 4, 1 } };
    static const double smoothing[3][7] = { { 1, 2, 1 },
                                            { 1, 4, 6, 4, 1 },
                                            { 1, 6, 15, 20, 15, 6, 1 } };
    const int i = p->size / 2 - 1;
    return gfi_derivative_window(p->size, difference[i], smoothing[i], p->direction, p->border,
                                 p->border_value, out);
}

static const char *const cases[] = { "3",      "direction=x",        "direction=y", "5",
                                     "size=7", "size=7:direction=x", NULL };

const gf_filter_def gfi_filter_sobel = {
    .info = { .name = "sobel",
              .group = "edges",
              .summary = "Sobel edges: binomial 3x3, 5x5 or 7x7 derivatives.",
              .doc = "x = difference along rows and smoothing along columns, y the other way "
                     "round, neither divided by the sum of "
                     "its taps; dst is x, y or sqrt(x^2 + y^2). Size 3: [-1 0 1], [1 2 1]; size 5: "
                     "[-1 -2 0 2 1], "
                     "[1 4 6 4 1]; size 7: [-1 -4 -5 0 5 4 1], [1 6 15 20 15 6 1].",
              .source =
                  "I. Sobel, G. Feldman, A 3x3 isotropic gradient operator for image processing "
                  "(1968); larger sizes: "
                  "P.-E. Danielsson, O. Seger, Generalized and separable Sobel operators (1990).",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(sobel),
    .scope = GFI_SCOPE_WINDOW,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
