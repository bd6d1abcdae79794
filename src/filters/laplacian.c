#include "filters/window.h"

#include <string.h>

typedef struct laplacian {
    int neighbours, border;
    double border_value;
} laplacian;

static const char *const neighbours[] = { "4", "8", NULL };
static const int neighbour_values[] = { 4, 8 };

static const gf_param params[] = {
    GFI_ENUM(laplacian, neighbours, "neighbours", neighbours, neighbour_values, 4, "4",
             GF_PARAM_POSITIONAL, "Neighbours that are compared with the pixel."),
    GFI_BORDER_PARAMS(laplacian),
};

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const laplacian *p = params_;
    (void)in;
    static const double four[] = { 0, 1, 0, 1, -4, 1, 0, 1, 0 },
                        eight[] = { 1, 1, 1, 1, -8, 1, 1, 1, 1 };
    GFI_TRY(gfi_window_create(3, 3, 0, out));
    memcpy((*out)->full, p->neighbours == 4 ? four : eight, sizeof four);
    return gfi_window_complete(*out, p->border, p->border_value, out);
}

static const char *const cases[] = { "4", "8", NULL };

const gf_filter_def gfi_filter_laplacian = {
    .info = { .name = "laplacian",
              .group = "edges",
              .summary = "Sum of the second derivatives.",
              .doc = "dst = sum of the 4 or 8 neighbours minus 4 or 8 times the pixel: taps [0 1 "
                     "0; 1 -4 1; 0 1 0] or "
                     "[1 1 1; 1 -8 1; 1 1 1]. Results may be negative.",
              .source = "A. Rosenfeld, A. Kak, Digital Picture Processing (1976), section 6.2; "
                        "scipy.ndimage.laplace.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(laplacian),
    .scope = GFI_SCOPE_WINDOW,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
