#include "filters/point.h"

typedef struct threshold {
    double value, low, high, white;
    int border;
    double border_value;
} threshold;

static const gf_param params[] = {
    GFI_FLOAT(threshold, value, "value", "levels", GFI_NO_MIN, GFI_NO_MAX, GFI_UNSET,
              "half of white", GF_PARAM_OPTIONAL | GF_PARAM_POSITIONAL,
              "Pixels above it become high."),
    GFI_FLOAT(threshold, low, "low", "levels", GFI_NO_MIN, GFI_NO_MAX, 0, "0", 0,
              "Result at or below the value."),
    GFI_FLOAT(threshold, high, "high", "levels", GFI_NO_MIN, GFI_NO_MAX, GFI_UNSET, "white",
              GF_PARAM_OPTIONAL, "Result above the value."),
    GFI_WHITE(threshold),
    GFI_BORDER_PARAMS(threshold),
};

static void point(const void *params_, double white, gfi_point *out)
{
    const threshold *p = params_;
    const double level = isnan(p->white) ? white : p->white;
    *out = (gfi_point){ .op = GFI_POINT_THRESHOLD,
                        .a = p->low,
                        .b = isnan(p->high) ? level : p->high,
                        .c = isnan(p->value) ? level / 2 : p->value };
}

static const char *const cases[] = { "40", "value=100:low=10:high=20", "value=0.5", NULL };

const gf_filter_def gfi_filter_threshold = {
    .info = { .name = "threshold",
              .group = "point",
              .summary = "Two levels: above a value or not.",
              .doc = "dst = src > value ? high : low; NaN stays NaN.",
              .source = "Elementary.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(threshold),
    .scope = GFI_SCOPE_POINT,
    .point = point,
    .tolerance = gfi_point_tolerance,
    .cases = cases,
    .impls = gfi_point_impls,
};
