#include "filters/gauss.h"

typedef struct gradient {
    double sigma, truncate;
    int border;
    double border_value;
} gradient;

static const gf_param params[] = {
    GFI_SIGMA(gradient, sigma, "sigma", 1, "1", GF_PARAM_POSITIONAL, "Standard deviation."),
    GFI_TRUNCATE(gradient),
    GFI_BORDER_PARAMS(gradient),
};

static gf_status validate(const void *params_)
{
    const gradient *p = params_;
    int radius;
    return gfi_gauss_radius(p->sigma, p->truncate, GFI_UNSET_INT, &radius);
}

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const gradient *p = params_;
    (void)in;
    int r;
    GFI_TRY(gfi_gauss_radius(p->sigma, p->truncate, GFI_UNSET_INT, &r));
    GFI_TRY(gfi_window_create(2 * r + 1, 2 * r + 1, 2, out));
    const gfi_gauss smooth = { p->sigma, 0, r }, first = { p->sigma, 1, r };
    gfi_gauss_taps(&first, (*out)->term[0].row, r);
    gfi_gauss_taps(&smooth, (*out)->term[0].col, r);
    gfi_gauss_taps(&smooth, (*out)->term[1].row, r);
    gfi_gauss_taps(&first, (*out)->term[1].col, r);
    (*out)->combine = GFI_COMBINE_MAGNITUDE;
    return gfi_window_complete(*out, p->border, p->border_value, out);
}

static const char *const cases[] = { "sigma=1", "sigma=0.6", "sigma=3", NULL };

const gf_filter_def gfi_filter_gradient = {
    .info = { .name = "gradient",
              .group = "edges",
              .summary = "Gradient magnitude of the Gaussian-smoothed image.",
              .doc = "dst = sqrt(gx^2 + gy^2), where gx and gy are the first derivatives of the "
                     "image smoothed with "
                     "a sampled Gaussian (see gaussian).",
              .source = "J. Canny, A computational approach to edge detection, IEEE PAMI 8 (1986), "
                        "section V; "
                        "scipy.ndimage.gaussian_gradient_magnitude.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(gradient),
    .scope = GFI_SCOPE_WINDOW,
    .validate = validate,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
