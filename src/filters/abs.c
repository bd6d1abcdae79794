#include "filters/point.h"

typedef struct abs_params {
    int border;
    double border_value;
} abs_params;

static const gf_param params[] = {
    GFI_BORDER_PARAMS(abs_params),
};

static void point(const void *params_, double white, gfi_point *out)
{
    (void)params_;
    (void)white;
    *out = (gfi_point){ .op = GFI_POINT_ABS };
}

static const char *const cases[] = { "", NULL };

const gf_filter_def gfi_filter_abs = {
    .info = { .name = "abs",
              .group = "point",
              .summary = "Absolute value.",
              .doc = "dst = |src|. Useful after filters whose results may be negative, such as "
                     "sobel with a direction or laplacian.",
              .source = "Elementary.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(abs_params),
    .scope = GFI_SCOPE_POINT,
    .point = point,
    .tolerance = gfi_point_tolerance,
    .cases = cases,
    .impls = gfi_point_impls,
};
