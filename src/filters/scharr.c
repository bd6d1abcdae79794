#include "filters/derivative.h"

typedef struct scharr {
    int direction, border;
    double border_value;
} scharr;

static const gf_param params[] = {
    GFI_DIRECTION(scharr),
    GFI_BORDER_PARAMS(scharr),
};

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const scharr *p = params_;
    (void)in;
    static const double difference[] = { -1, 0, 1 }, smoothing[] = { 3, 10, 3 };
    return gfi_derivative_window(3, difference, smoothing, p->direction, p->border, p->border_value,
                                 out);
}

static const char *const cases[] = { "direction=magnitude", "direction=x", "direction=y", NULL };

const gf_filter_def gfi_filter_scharr = {
    .info = { .name = "scharr",
              .group = "edges",
              .summary = "Scharr edges: 3x3 derivatives with little dependence on the direction.",
              .doc = "x = [-1 0 1] along rows and [3 10 3] along columns, y the other way round, "
                     "neither divided by the "
                     "sum of its taps; dst is x, y or sqrt(x^2 + y^2).",
              .source = "H. Scharr, Optimal operators in digital image processing, dissertation, "
                        "Heidelberg (2000), chapter 9.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(scharr),
    .scope = GFI_SCOPE_WINDOW,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
