#include "filters/window.h"

typedef struct box {
    int size, size_x, size_y, border;
    double border_value;
} box;

enum { MOST_TAPS = (1 << 24) - 1 };

static const gf_param params[] = {
    GFI_INT(box, size, "size", "px", 1, MOST_TAPS, 3, "3", GF_PARAM_POSITIONAL,
            "Width and height of the window."),
    GFI_INT(box, size_x, "size-x", "px", 1, MOST_TAPS, GFI_UNSET, "size", GF_PARAM_OPTIONAL,
            "Width of the window."),
    GFI_INT(box, size_y, "size-y", "px", 1, MOST_TAPS, GFI_UNSET, "size", GF_PARAM_OPTIONAL,
            "Height of the window."),
    GFI_BORDER_PARAMS(box),
};

static gf_status window(const void *params_, const gf_image_desc *in, gfi_window **out)
{
    const box *p = params_;
    (void)in;
    const int kw = p->size_x == GFI_UNSET_INT ? p->size : p->size_x;
    const int kh = p->size_y == GFI_UNSET_INT ? p->size : p->size_y;
    GFI_TRY(gfi_window_create(kw, kh, 1, out));
    /* whole taps and one division: sums of integers stay exact */
    for (int i = 0; i < kw; i++) (*out)->term[0].row[i] = 1;
    for (int j = 0; j < kh; j++) (*out)->term[0].col[j] = 1;
    (*out)->scale = 1 / ((double)kw * kh);
    return gfi_window_complete(*out, p->border, p->border_value, out);
}

static const char *const cases[] = { "3",       "5",   "size=4", "15", "size-x=1:size-y=9",
                                     "size=31", "101", NULL };

const gf_filter_def gfi_filter_box = {
    .info = { .name = "box",
              .group = "smoothing",
              .summary = "Mean of a rectangle.",
              .doc = "dst = mean of the size-x * size-y pixels around a pixel. An even window "
                     "reaches one pixel further "
                     "to the left and up, as in scipy.ndimage.uniform_filter.",
              .source = "M. J. McDonnell, Box-filtering techniques, Computer Graphics and Image "
                        "Processing 17 (1981).",
              .n_params = GFI_N_PARAMS(params) },
    .params = params,
    .params_bytes = sizeof(box),
    .scope = GFI_SCOPE_WINDOW,
    .window = window,
    .cases = cases,
    .impls = gfi_window_impls,
};
