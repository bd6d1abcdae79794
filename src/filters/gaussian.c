#include "filters/gauss.h"

typedef struct gaussian {
    double sigma, sigma_x, sigma_y, truncate;
    int order_x, order_y, radius, border;
    double border_value;
} gaussian;

static const gf_param params[] = {
    GFI_SIGMA(gaussian, sigma, "sigma", 1.5, "1.5", GF_PARAM_POSITIONAL, "Standard deviation."),
    GFI_FLOAT(gaussian, sigma_x, "sigma-x", "px", 0, GFI_MOST_SIGMA, GFI_UNSET, "sigma",
              GF_PARAM_OPTIONAL, "Standard deviation along rows; 0: no smoothing there."),
    GFI_FLOAT(gaussian, sigma_y, "sigma-y", "px", 0, GFI_MOST_SIGMA, GFI_UNSET, "sigma",
              GF_PARAM_OPTIONAL, "Standard deviation along columns; 0: no smoothing there."),
    GFI_INT(gaussian, order_x, "order-x", "", 0, 3, 0, "0", 0, "Derivative along x, 0 to 3."),
    GFI_INT(gaussian, order_y, "order-y", "", 0, 3, 0, "0", 0, "Derivative along y, 0 to 3."),
    GFI_TRUNCATE(gaussian),
    GFI_INT(gaussian, radius, "radius", "px", 0, (1 << 23) - 1, GFI_UNSET, "by truncate",
            GF_PARAM_OPTIONAL, "Taps each side of the centre, instead of truncate."),
    GFI_BORDER_PARAMS(gaussian),
};

static gf_status axis(const gaussian *p, double own, int order, const char *name, gfi_gauss *out)
{
    *out = (gfi_gauss){ .sigma = isnan(own) ? p->sigma : own, .order = order };
    if (out->sigma > 0 && out->sigma < GFI_LEAST_SIGMA)
        return gfi_fail(GF_ERROR_RANGE, "sigma-%s: %g is neither 0 nor in %g to %g", name, own,
                        GFI_LEAST_SIGMA, GFI_MOST_SIGMA);
    if (order && out->sigma <= 0)
        return gfi_fail(GF_ERROR_RANGE, "order-%s: %d needs sigma-%s > 0", name, order, name);
    if (out->sigma <= 0) return GF_OK;
    return gfi_gauss_radius(out->sigma, p->truncate, p->radius, &out->radius);
}

static gf_status validate(const void *params_)
{
    const gaussian *p = params_;
    gfi_gauss x, y;
    GFI_TRY(axis(p, p->sigma_x, p->order_x, "x", &x));
    return axis(p, p->sigma_y, p->order_y, "y", &y);
}

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const gaussian *p = params_;
    (void)in;
    gfi_gauss x, y;
    GFI_TRY(axis(p, p->sigma_x, p->order_x, "x", &x));
    GFI_TRY(axis(p, p->sigma_y, p->order_y, "y", &y));
    GFI_TRY(gfi_window_create(2 * x.radius + 1, 2 * y.radius + 1, 1, out));
    gfi_gauss_taps(&x, (*out)->term[0].row, x.radius);
    gfi_gauss_taps(&y, (*out)->term[0].col, y.radius);
    return gfi_window_complete(*out, p->border, p->border_value, out);
}

static const char *const cases[] = { "sigma=2",
                                     "sigma=0.5",
                                     "sigma=1:order-x=1",
                                     "sigma=5",
                                     "sigma=1.3:order-x=2:order-y=3",
                                     "sigma=2:sigma-x=0",
                                     "sigma=3:radius=4",
                                     "sigma=1:sigma-y=4",
                                     "sigma=3:order-y=1:radius=9",
                                     "sigma=20",
                                     NULL };

const gf_filter_def gfi_filter_gaussian = {
    .info = { .name = "gaussian",
              .group = "smoothing",
              .summary = "Smooth with a Gaussian, or take its derivatives.",
              .doc = "dst = src * g_x * g_y with g(t) = exp(-t^2 / (2 sigma^2)) sampled at whole "
                     "pixels, cut at "
                     "(int)(truncate * sigma + 0.5) and normalised to sum 1. With order-x or "
                     "order-y the "
                     "derivative of that order is taken along the axis.",
              .source = gfi_gauss_source,
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(gaussian),
    .scope = GFI_SCOPE_WINDOW,
    .validate = validate,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
