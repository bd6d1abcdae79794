#include "filters/gauss.h"

typedef struct dog {
    double sigma1, sigma2, truncate;
    int border;
    double border_value;
} dog;

static const gf_param params[] = {
    GFI_SIGMA(dog, sigma1, "sigma1", 1, "1", GF_PARAM_POSITIONAL,
              "Standard deviation of the first Gaussian."),
    GFI_SIGMA(dog, sigma2, "sigma2", 1.6, "1.6", GF_PARAM_POSITIONAL,
              "Standard deviation of the one subtracted."),
    GFI_TRUNCATE(dog),
    GFI_BORDER_PARAMS(dog),
};

static gf_status radii(const dog *p, gfi_gauss g[2])
{
    g[0] = (gfi_gauss){ .sigma = p->sigma1 };
    g[1] = (gfi_gauss){ .sigma = p->sigma2 };
    GFI_TRY(gfi_gauss_radius(p->sigma1, p->truncate, GFI_UNSET_INT, &g[0].radius));
    return gfi_gauss_radius(p->sigma2, p->truncate, GFI_UNSET_INT, &g[1].radius);
}

static gf_status validate(const void *params_)
{
    gfi_gauss g[2];
    return radii(params_, g);
}

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const dog *p = params_;
    (void)in;
    gfi_gauss g[2];
    GFI_TRY(radii(p, g));
    const int r = g[0].radius > g[1].radius ? g[0].radius : g[1].radius, n = 2 * r + 1;
    GFI_TRY(gfi_window_create(n, n, 2, out));
    for (int t = 0; t < 2; t++) {
        gfi_gauss_taps(&g[t], (*out)->term[t].row, r);
        gfi_gauss_taps(&g[t], (*out)->term[t].col, r);
    }
    for (int i = 0; i < n; i++) (*out)->term[1].col[i] *= -1;
    return gfi_window_complete(*out, p->border, p->border_value, out);
}

static const char *const cases[] = { "1:1.6", "sigma1=3:sigma2=1", "sigma1=2:sigma2=6", NULL };

const gf_filter_def gfi_filter_dog = {
    .info = { .name = "dog",
              .group = "edges",
              .summary = "Difference of two Gaussians: a band of scales.",
              .doc = "dst = (src * g_sigma1) - (src * g_sigma2) with sampled Gaussians (see "
                     "gaussian). Results may be "
                     "negative.",
              .source = "D. Marr, E. Hildreth, Theory of edge detection, Proc. R. Soc. Lond. B 207 "
                        "(1980), appendix B.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(dog),
    .scope = GFI_SCOPE_WINDOW,
    .validate = validate,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
