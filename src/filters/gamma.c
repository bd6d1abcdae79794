#include "filters/point.h"

typedef struct gamma {
    double gamma, white;
    int border;
    double border_value;
} gamma;

static const gf_param params[] = {
    GFI_FLOAT(gamma, gamma, "gamma", "", 0, 100, 1, "1", GF_PARAM_MIN_OPEN | GF_PARAM_POSITIONAL,
              "Exponent: below 1 brightens, above 1 darkens."),
    GFI_WHITE(gamma),
    GFI_BORDER_PARAMS(gamma),
};

static void point(const void *params_, double white, gfi_point *out)
{
    const gamma *p = params_;
    *out = (gfi_point){ .op = GFI_POINT_GAMMA,
                        .a = p->gamma,
                        .b = isnan(p->white) ? white : p->white };
}

static const char *const cases[] = { "2", "gamma=0.45", "gamma=0.5:white=1000", NULL };

const gf_filter_def gfi_filter_gamma = {
    .info = { .name = "gamma",
              .group = "point",
              .summary = "Power curve.",
              .doc = "dst = white * (max(src, 0) / white)^gamma. Negative pixels give 0.",
              .source = "C. Poynton, Digital Video and HD, 2nd ed. (2012), chapter 27.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(gamma),
    .scope = GFI_SCOPE_POINT,
    .point = point,
    .tolerance = gfi_point_tolerance,
    .cases = cases,
    .impls = gfi_point_impls,
};
