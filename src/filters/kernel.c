#include "filters/kernel.h"

typedef gfi_kernel_params kp;

enum { MODE_SAME, MODE_VALID, MODE_FULL };
enum { METHOD_AUTO, METHOD_DIRECT, METHOD_SEPARABLE, METHOD_FFT };

static const char *const modes[] = { "same", "valid", "full", NULL };
static const int mode_values[] = { MODE_SAME, MODE_VALID, MODE_FULL };
static const char *const methods[] = { "auto", "direct", "separable", "fft", NULL };
static const int method_values[] = { METHOD_AUTO, METHOD_DIRECT, METHOD_SEPARABLE, METHOD_FFT };

const gf_param gfi_kernel_param_table[] = {
    GFI_KERNEL(
        kp, kernel, "kernel", GF_PARAM_POSITIONAL | GF_PARAM_REQUIRED,
        "Taps, rows from top to bottom: \"1 2 1;2 4 2;1 2 1\", or @FILE (text, PGM or PFM)."),
    GFI_FLOAT(kp, scale, "scale", "", GFI_NO_MIN, GFI_NO_MAX, 1, "1", 0, "Factor on the sum."),
    GFI_FLOAT(kp, offset, "offset", "levels", GFI_NO_MIN, GFI_NO_MAX, 0, "0", 0,
              "Added to the scaled sum."),
    GFI_INT(kp, anchor, "anchor", "px", 0, INT_MAX, GFI_UNSET, "centre", GF_PARAM_OPTIONAL,
            "Column and row of the tap that falls on the pixel (mode=same)."),
    GFI_INT(kp, anchor_x, "anchor-x", "px", 0, INT_MAX, GFI_UNSET, "anchor", GF_PARAM_OPTIONAL,
            "Column of that tap."),
    GFI_INT(kp, anchor_y, "anchor-y", "px", 0, INT_MAX, GFI_UNSET, "anchor", GF_PARAM_OPTIONAL,
            "Row of that tap."),
    GFI_ENUM(kp, mode, "mode", modes, mode_values, MODE_SAME, "same", 0,
             "same: size of the image; valid: only where the kernel fits; full: wherever it "
             "touches, zeros outside."),
    GFI_ENUM(kp, method, "method", methods, method_values, METHOD_AUTO, "auto", 0,
             "How to compute it; auto: the fastest."),
    GFI_BORDER_PARAMS(kp),
};
_Static_assert(GFI_N_PARAMS(gfi_kernel_param_table) == GFI_KERNEL_N_PARAMS, "table");

const char *const gfi_kernel_cases[] = {
    "kernel=1 2 1;2 4 2;1 2 1:scale=0.0625",
    "kernel=1 2",
    "kernel=3 -1 2;0 5 1",
    "kernel=1 0 2 0 3;0 4 0 5 0;6 0 7 0 8;0 9 0 1 0;2 0 3 0 4:scale=0.01:offset=3",
    "kernel=1;-2;1:offset=100",
    "kernel=.3 -1.7 .01;.5 4.25 .2;-.1 .6 .77:scale=.3",
    "kernel=1 2 3 4 3 2 1;0 -9 8 7 6 5 4;1 1 -127 1 1 1 1;9 8 7 127 5 4 3;2 2 2 2 -3 2 2;"
    "5 4 3 2 1 0 -1;1 0 0 0 0 0 -1:scale=.02",
    "kernel=1 2 3;4 5 6;7 8 10:mode=full:scale=0.02",
    "kernel=1 2;3 5:mode=full",
    "kernel=1 2 3;4 5 6:anchor=0:anchor-x=2",
    NULL
};

/* The anchor of one axis: the tap, as written, that falls on the output pixel. */
static int anchor_of(int own, int both, int n)
{
    return own != GFI_UNSET_INT ? own : both != GFI_UNSET_INT ? both : n / 2;
}

gf_status gfi_kernel_validate(const void *params)
{
    const kp *p = params;
    const int x = anchor_of(p->anchor_x, p->anchor, p->kernel->kw),
              y = anchor_of(p->anchor_y, p->anchor, p->kernel->kh);
    if (x >= p->kernel->kw)
        return gfi_fail(GF_ERROR_RANGE, "anchor-x: %d is not in 0 to %d (the kernel's columns)", x,
                        p->kernel->kw - 1);
    if (y >= p->kernel->kh)
        return gfi_fail(GF_ERROR_RANGE, "anchor-y: %d is not in 0 to %d (the kernel's rows)", y,
                        p->kernel->kh - 1);
    const bool given =
        p->anchor != GFI_UNSET_INT || p->anchor_x != GFI_UNSET_INT || p->anchor_y != GFI_UNSET_INT;
    if (given && p->mode != MODE_SAME)
        return gfi_fail(GF_ERROR_RANGE, "anchor: has no meaning for mode=%s; only for mode=same",
                        modes[p->mode]);
    return GF_OK;
}

gf_status gfi_kernel_out_size(const void *params, const gf_image_desc *in, int32_t *width,
                              int32_t *height)
{
    const kp *p = params;
    const int kw = p->kernel->kw, kh = p->kernel->kh;
    if (p->mode == MODE_SAME) return GF_OK;
    if (p->mode == MODE_VALID && (kw > in->width || kh > in->height))
        return gfi_fail(GF_ERROR_RANGE,
                        "mode=valid: the %dx%d kernel does not fit into the %dx%d image", kw, kh,
                        (int)in->width, (int)in->height);
    const int64_t w = (int64_t)in->width + (p->mode == MODE_FULL ? kw - 1 : 1 - kw);
    const int64_t h = (int64_t)in->height + (p->mode == MODE_FULL ? kh - 1 : 1 - kh);
    if (w > INT32_MAX || h > INT32_MAX)
        return gfi_fail(GF_ERROR_RANGE, "mode=full: a side of the result exceeds 2^31-1");
    *width = (int32_t)w;
    *height = (int32_t)h;
    return GF_OK;
}

gf_status gfi_kernel_window(const kp *p, bool flip, gfi_window **out)
{
    const int kw = p->kernel->kw, kh = p->kernel->kh;
    const size_t n = (size_t)kw * (size_t)kh;
    GFI_TRY(gfi_window_create(kw, kh, 0, out));
    gfi_window *w = *out;
    for (size_t i = 0; i < n; i++) w->full[i] = p->kernel->v[flip ? n - 1 - i : i];
    w->scale = p->scale;
    w->offset = p->offset;
    w->force_direct = p->method == METHOD_DIRECT;
    w->force_separable = p->method == METHOD_SEPARABLE;
    w->force_fft = p->method == METHOD_FFT;
    w->ax = anchor_of(p->anchor_x, p->anchor, kw);
    w->ay = anchor_of(p->anchor_y, p->anchor, kh);
    if (flip) w->ax = kw - 1 - w->ax, w->ay = kh - 1 - w->ay;
    if (p->mode == MODE_VALID) w->ax = w->ay = 0;
    if (p->mode == MODE_FULL) w->ax = kw - 1, w->ay = kh - 1;
    const bool full = p->mode == MODE_FULL;
    GFI_TRY(gfi_window_complete(w, full ? GF_BORDER_CONSTANT : (gf_border)p->border,
                                full ? 0 : p->border_value, out));
    if (!w->force_separable || w->n_terms) return GF_OK;
    gfi_window_destroy(out);
    return gfi_fail(GF_ERROR_RANGE,
                    "method=separable: the %dx%d kernel is not the product of a column and a row",
                    kw, kh);
}
