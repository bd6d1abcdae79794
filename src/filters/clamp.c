#include "filters/point.h"

typedef struct clamp {
    double low, high, white;
    int border;
    double border_value;
} clamp;

static const gf_param params[] = {
    GFI_FLOAT(clamp, low, "low", "levels", GFI_NO_MIN, GFI_NO_MAX, 0, "0", GF_PARAM_POSITIONAL,
              "Smallest result."),
    GFI_FLOAT(clamp, high, "high", "levels", GFI_NO_MIN, GFI_NO_MAX, GFI_UNSET, "white",
              GF_PARAM_OPTIONAL | GF_PARAM_POSITIONAL, "Largest result."),
    GFI_WHITE(clamp),
    GFI_BORDER_PARAMS(clamp),
};

static gf_status validate(const void *params_)
{
    const clamp *p = params_;
    if (!isnan(p->high) && p->low > p->high)
        return gfi_fail(GF_ERROR_RANGE, "low: %g is not <= high (%g)", p->low, p->high);
    return GF_OK;
}

static void point(const void *params_, double white, gfi_point *out)
{
    const clamp *p = params_;
    *out = (gfi_point){ .op = GFI_POINT_CLAMP,
                        .a = p->low,
                        .b = gfi_first_set(p->high, p->white, white) };
}

static const char *const cases[] = { "40:200", "low=0.25", "low=-5:high=5", NULL };

const gf_filter_def gfi_filter_clamp = {
    .info = { .name = "clamp",
              .group = "point",
              .summary = "Limit to a range.",
              .doc = "dst = low where src < low, high where src > high, else src; NaN stays NaN.",
              .source = "Elementary.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(clamp),
    .scope = GFI_SCOPE_POINT,
    .validate = validate,
    .point = point,
    .tolerance = gfi_point_tolerance,
    .cases = cases,
    .impls = gfi_point_impls,
};
