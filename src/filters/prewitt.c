#include "filters/derivative.h"

typedef struct prewitt {
    int direction, border;
    double border_value;
} prewitt;

static const gf_param params[] = {
    GFI_DIRECTION(prewitt),
    GFI_BORDER_PARAMS(prewitt),
};

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const prewitt *p = params_;
    (void)in;
    static const double difference[] = { -1, 0, 1 }, smoothing[] = { 1, 1, 1 };
    return gfi_derivative_window(3, difference, smoothing, p->direction, p->border, p->border_value,
                                 out);
}

static const char *const cases[] = { "direction=magnitude", "direction=x", "direction=y", NULL };

const gf_filter_def gfi_filter_prewitt = {
    .info = { .name = "prewitt",
              .group = "edges",
              .summary = "Prewitt edges: 3x3 derivatives with equal weights.",
              .doc = "x = [-1 0 1] along rows and [1 1 1] along columns, y the other way round, "
                     "neither divided by the "
                     "sum of its taps; dst is x, y or sqrt(x^2 + y^2).",
              .source = "J. Prewitt, Object enhancement and extraction, in: Picture Processing and "
                        "Psychopictorics (1970); scipy.ndimage.prewitt.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(prewitt),
    .scope = GFI_SCOPE_WINDOW,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
