#include "filters/point.h"

typedef struct invert {
    double white;
    int border;
    double border_value;
} invert;

static const gf_param params[] = {
    GFI_WHITE(invert),
    GFI_BORDER_PARAMS(invert),
};

static void point(const void *params_, double white, gfi_point *out)
{
    const invert *p = params_;
    *out = (gfi_point){ .op = GFI_POINT_AFFINE, .a = -1, .b = isnan(p->white) ? white : p->white };
}

static const char *const cases[] = { "", "white=100", NULL };

const gf_filter_def gfi_filter_invert = {
    .info = { .name = "invert",
              .group = "point",
              .summary = "Negative: white minus the pixel.",
              .doc = "dst = white - src.",
              .source = "Elementary.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(invert),
    .scope = GFI_SCOPE_POINT,
    .point = point,
    .tolerance = gfi_point_tolerance,
    .cases = cases,
    .impls = gfi_point_impls,
};
