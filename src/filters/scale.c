#include "filters/point.h"

typedef struct scale {
    double factor, offset;
    int border;
    double border_value;
} scale;

static const gf_param params[] = {
    GFI_FLOAT(scale, factor, "factor", "", GFI_NO_MIN, GFI_NO_MAX, 1, "1", GF_PARAM_POSITIONAL,
              "Factor."),
    GFI_FLOAT(scale, offset, "offset", "levels", GFI_NO_MIN, GFI_NO_MAX, 0, "0",
              GF_PARAM_POSITIONAL, "Added after the factor."),
    GFI_BORDER_PARAMS(scale),
};

static void point(const void *params_, double white, gfi_point *out)
{
    const scale *p = params_;
    (void)white;
    *out = (gfi_point){ .op = GFI_POINT_AFFINE, .a = p->factor, .b = p->offset };
}

static const char *const cases[] = { "factor=1", "factor=0.5:offset=64", "factor=-2:offset=300",
                                     NULL };

const gf_filter_def gfi_filter_scale = {
    .info = { .name = "scale",
              .group = "point",
              .summary = "Multiply and add.",
              .doc = "dst = factor * src + offset.",
              .source = "Elementary.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(scale),
    .scope = GFI_SCOPE_POINT,
    .point = point,
    .tolerance = gfi_point_tolerance,
    .cases = cases,
    .impls = gfi_point_impls,
};
