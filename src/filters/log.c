#include "filters/gauss.h"

typedef struct log_params {
    double sigma, truncate;
    int border;
    double border_value;
} log_params;

static const gf_param params[] = {
    GFI_SIGMA(log_params, sigma, "sigma", 1.5, "1.5", GF_PARAM_POSITIONAL, "Standard deviation."),
    GFI_TRUNCATE(log_params),
    GFI_BORDER_PARAMS(log_params),
};

static gf_status validate(const void *params_)
{
    const log_params *p = params_;
    int radius;
    return gfi_gauss_radius(p->sigma, p->truncate, GFI_UNSET_INT, &radius);
}

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const log_params *p = params_;
    (void)in;
    int r;
    GFI_TRY(gfi_gauss_radius(p->sigma, p->truncate, GFI_UNSET_INT, &r));
    GFI_TRY(gfi_window_create(2 * r + 1, 2 * r + 1, 2, out));
    const gfi_gauss smooth = { p->sigma, 0, r }, second = { p->sigma, 2, r };
    gfi_gauss_taps(&second, (*out)->term[0].row, r);
    gfi_gauss_taps(&smooth, (*out)->term[0].col, r);
    gfi_gauss_taps(&smooth, (*out)->term[1].row, r);
    gfi_gauss_taps(&second, (*out)->term[1].col, r);
    return gfi_window_complete(*out, p->border, p->border_value, out);
}

static const char *const cases[] = { "sigma=1.5", "sigma=0.7", "sigma=4", NULL };

const gf_filter_def gfi_filter_log = {
    .info = { .name = "log",
              .group = "edges",
              .summary = "Laplacian of Gaussian: blobs and zero crossings.",
              .doc = "dst = d2/dx2 (src * g) + d2/dy2 (src * g), with the second derivatives of a "
                     "sampled Gaussian "
                     "(see gaussian). Results may be negative: keep them with a float output, or "
                     "follow with abs, scale or "
                     "normalize.",
              .source = "D. Marr, E. Hildreth, Theory of edge detection, Proc. R. Soc. Lond. B 207 "
                        "(1980); "
                        "scipy.ndimage.gaussian_laplace.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(log_params),
    .scope = GFI_SCOPE_WINDOW,
    .validate = validate,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
