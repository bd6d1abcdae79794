#include "filters/window.h"

typedef struct emboss {
    double angle, strength;
    int border;
    double border_value;
} emboss;

static const gf_param params[] = {
    GFI_FLOAT(emboss, angle, "angle", "deg", -360, 360, 45, "45", GF_PARAM_POSITIONAL,
              "Direction in which brightness rising gives light; 0: right, 90: down."),
    GFI_FLOAT(emboss, strength, "strength", "", GFI_NO_MIN, GFI_NO_MAX, 1, "1", GF_PARAM_POSITIONAL,
              "Depth of the relief."),
    GFI_BORDER_PARAMS(emboss),
};

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const emboss *p = params_;
    (void)in;
    const double radians = p->angle * 3.14159265358979323846 / 180, step = p->strength * sqrt(2);
    GFI_TRY(gfi_window_create(3, 3, 0, out));
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            (*out)->full[(dy + 1) * 3 + dx + 1] = step * (dx * cos(radians) + dy * sin(radians));
    (*out)->full[4] = 1;
    return gfi_window_complete(*out, p->border, p->border_value, out);
}

static const char *const cases[] = { "45", "angle=0", "angle=200:strength=0.5", NULL };

const gf_filter_def gfi_filter_emboss = {
    .info = { .name = "emboss",
              .group = "effects",
              .summary = "Relief lit from one side.",
              .doc = "dst = src + directional difference: the centre tap is 1, the tap at (dx, dy) "
                     "is sqrt(2) * strength * "
                     "(dx * cos(angle) + dy * sin(angle)). The defaults give [-2 -1 0; -1 1 1; 0 1 "
                     "2].",
              .source = "J. Schlag, Fast embossing effects on raster image data, in: Graphics Gems "
                        "IV (1994), for the idea; the "
                        "kernel is this library's.",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(emboss),
    .scope = GFI_SCOPE_WINDOW,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
