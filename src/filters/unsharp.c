#include "filters/gauss.h"

typedef struct unsharp {
    double sigma, amount, threshold, truncate;
    int border;
    double border_value;
} unsharp;

static const gf_param params[] = {
    GFI_SIGMA(unsharp, sigma, "sigma", 1.5, "1.5", GF_PARAM_POSITIONAL,
              "Standard deviation of the blur."),
    GFI_FLOAT(unsharp, amount, "amount", "", GFI_NO_MIN, GFI_NO_MAX, 1, "1", GF_PARAM_POSITIONAL,
              "How much of the difference to the blur is added."),
    GFI_FLOAT(unsharp, threshold, "threshold", "levels", 0, GFI_NO_MAX, 0, "0", GF_PARAM_POSITIONAL,
              "Smaller differences leave a pixel as it is."),
    GFI_TRUNCATE(unsharp),
    GFI_BORDER_PARAMS(unsharp),
};

static gf_status validate(const void *params_)
{
    const unsharp *p = params_;
    int radius;
    return gfi_gauss_radius(p->sigma, p->truncate, GFI_UNSET_INT, &radius);
}

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const unsharp *p = params_;
    (void)in;
    gfi_gauss g = { .sigma = p->sigma };
    GFI_TRY(gfi_gauss_radius(p->sigma, p->truncate, GFI_UNSET_INT, &g.radius));
    GFI_TRY(gfi_window_create(2 * g.radius + 1, 2 * g.radius + 1, 1, out));
    gfi_gauss_taps(&g, (*out)->term[0].row, g.radius);
    gfi_gauss_taps(&g, (*out)->term[0].col, g.radius);
    (*out)->combine = GFI_COMBINE_UNSHARP;
    (*out)->amount = p->amount;
    (*out)->threshold = p->threshold;
    return gfi_window_complete(*out, p->border, p->border_value, out);
}

static const char *const cases[] = { "2", "sigma=1:amount=0.5", "sigma=3:amount=1.5:threshold=8",
                                     NULL };

const gf_filter_def gfi_filter_unsharp = {
    .info = { .name = "unsharp",
              .group = "sharpening",
              .summary = "Sharpen by adding the difference to a Gaussian blur.",
              .doc = "d = src - (src * g_sigma); dst = |d| < threshold ? src : src + amount * d, "
                     "with a sampled Gaussian (see gaussian).",
              .source = "R. Gonzalez, R. Woods, Digital Image Processing, 4th ed. (2018), section "
                        "3.6, unsharp masking.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(unsharp),
    .scope = GFI_SCOPE_WINDOW,
    .validate = validate,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
