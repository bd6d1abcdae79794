#include "filters/window_cuda.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/alloc.h"
#include "filters/point_cuda.h"

gfi_chip gfi_window_whole_chip(const gfi_request *request)
{
    const gfi_device_facts *facts = request->facts;
    if (!facts) return gfi_tune_average_chip();
    return (gfi_chip){ .multiprocessors = facts->multiprocessors,
                       .shared_bytes_block = facts->shared_bytes_block,
                       .shared_bytes_sm = facts->shared_bytes_sm };
}

gfi_chip gfi_window_chip(const gfi_request *request)
{
    const int images = request->usual_images > 1 ? request->usual_images : 1;
    gfi_chip chip = gfi_window_whole_chip(request);
    chip.multiprocessors = (chip.multiprocessors + images / 2) / images;
    if (chip.multiprocessors < 1) chip.multiprocessors = 1;
    return chip;
}

static double image_bytes(const gf_image_desc *desc)
{
    return (double)desc->width * desc->height * (double)gf_pixel_bytes(desc->pixel);
}

double gfi_window_bytes(const gfi_request *request)
{
    return image_bytes(&request->in) + image_bytes(&request->out);
}

bool gfi_window_unusable(char why[GFI_WHY_BYTES], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, GFI_WHY_BYTES, fmt, args);
    va_end(args);
    return false;
}

bool gfi_window_has_tensor(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    enum { LEAST_SM = 80 };
    if (!request->facts || request->facts->loaded_sm >= LEAST_SM) return true;
    return gfi_window_unusable(why, "the code loaded is for sm_%d, sm_%d is needed",
                               request->facts->loaded_sm, LEAST_SM);
}

bool gfi_window_has_warpgroup(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    enum { SM = 90 };
    const gfi_device_facts *facts = request->facts;
    if (!facts || (facts->sm == SM && facts->loaded_sm == SM)) return true;
    return gfi_window_unusable(
        why, "the chip is of sm_%d and the code loaded for sm_%d, both are to be of sm_%d",
        facts->sm, facts->loaded_sm, SM);
}

static bool all_dyadic(const double *taps, int n)
{
    enum { BITS = 12 };
    for (int i = 0; i < n; i++)
        if (ldexp(taps[i], BITS) != rint(ldexp(taps[i], BITS))) return false;
    return true;
}

bool gfi_window_may_tie(const gfi_window *w)
{
    return all_dyadic(&w->scale, 1) && all_dyadic(w->term[0].row, w->kw) &&
           all_dyadic(w->term[0].col, w->kh);
}

bool gfi_window_none_negative(const gfi_window *w)
{
    for (int i = 0; i < w->kw; i++)
        if (w->term[0].row[i] < 0) return false;
    for (int i = 0; i < w->kh; i++)
        if (w->term[0].col[i] < 0) return false;
    return true;
}

bool gfi_window_is_narrow(const gfi_window *w, double white)
{
    static const double ROUNDED_DOWN = 0.4;
    return gfi_window_none_negative(w) && w->scale >= 0 && w->offset >= 0 &&
           white * w->abs_sum + w->offset < white + ROUNDED_DOWN;
}

bool gfi_window_border_whole(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const double v = request->window->border_value;
    const int white = request->in.pixel == GF_PIXEL_U8 ? 255 : 65535;
    if (request->in.pixel == GF_PIXEL_F32 || request->window->border != GF_BORDER_CONSTANT)
        return true;
    if (v >= 0 && v <= white && v == rint(v)) return true;
    return gfi_window_unusable(why, "border value %g is not a whole number from 0 to %d", v, white);
}

bool gfi_window_one_term(const gfi_window *w, char why[GFI_WHY_BYTES])
{
    if (w->force_direct || w->force_fft)
        return gfi_window_unusable(why, "another method is asked for");
    if (w->n_terms == 0) return gfi_window_unusable(why, "the window is not separable");
    if (w->n_terms > 1) return gfi_window_unusable(why, "%d terms, only 1 serves", w->n_terms);
    if (w->combine == GFI_COMBINE_MAGNITUDE)
        return gfi_window_unusable(why, "a magnitude is not made here");
    return true;
}

bool gfi_window_anchor_inside(const gfi_window *w, char why[GFI_WHY_BYTES])
{
    if (w->ax >= 0 && w->ax < w->kw && w->ay >= 0 && w->ay < w->kh) return true;
    return gfi_window_unusable(why, "the anchor %d,%d is outside the window", w->ax, w->ay);
}

gf_status gfi_window_no_launch(const gfi_window *window, const char *kernel)
{
    return gfi_fail(GF_ERROR_INTERNAL, "%s: no launch for a window of %dx%d", kernel, window->kw,
                    window->kh);
}

static int longer(int a, int b) { return a > b ? a : b; }

bool gfi_window_countable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    const int64_t x = (int64_t)longer(request->in.width, request->out.width) + w->kw;
    const int64_t y = (int64_t)longer(request->in.height, request->out.height) + w->kh;
    if (x <= GFI_LAUNCH_AXIS && y <= GFI_LAUNCH_AXIS) return true;
    return gfi_window_unusable(why, "image and window together are %lld x %lld, at most %d serves",
                               (long long)x, (long long)y, GFI_LAUNCH_AXIS);
}

gf_kcombine gfi_window_combine(const gfi_request *request)
{
    const gfi_window *window = request->window;
    gf_kcombine combine = { .combine = (int)window->combine,
                            .scale = (float)window->scale,
                            .offset = (float)window->offset,
                            .amount = (float)window->amount,
                            .threshold = (float)window->threshold };
    gfi_kpoints_add_fused(&combine.points, request);
    return combine;
}

void gfi_window_taps(const double *taps, size_t n, float *out)
{
    for (size_t i = 0; i < n; i++) out[i] = (float)taps[i];
}

gf_status gfi_window_upload_bytes(gfi_queue *queue, const void *bytes, size_t n, void **out)
{
    *out = NULL;
    void *device = NULL;
    GFI_TRY(gfi_device_alloc(queue, n, &device));
    const gf_status status = gfi_upload(queue, device, bytes, n);
    if (status == GF_OK)
        *out = device;
    else
        gfi_device_free(queue, device);
    return status;
}

gf_status gfi_window_upload(gfi_queue *queue, const double *taps, size_t n, float **out)
{
    *out = NULL;
    void *device = NULL;
    float *host = gfi_alloc(n, sizeof *host, "taps");
    if (!host) return GF_ERROR_NO_MEMORY;
    gfi_window_taps(taps, n, host);
    const gf_status status = gfi_window_upload_bytes(queue, host, n * sizeof *host, &device);
    *out = device;
    gfi_free(host);
    return status;
}

gf_status gfi_window_launch(const gfi_request *request, const gfi_kernel *kernel,
                            const gfi_launch_config *config, const void *args, size_t args_bytes)
{
    const unsigned *grid = config->grid, *block = config->block;
    const gfi_launch launch = { .grid = { grid[0], grid[1], grid[2] * gfi_batch_images(request) },
                                .block = { block[0], block[1], block[2] },
                                .shared_bytes = config->shared_bytes,
                                .args = args,
                                .args_bytes = args_bytes };
    return gfi_kernel_launch(request->queue, kernel, &launch);
}

/* ---- by FFT -------------------------------------------------------------------------------- */

static double term_tap(const gfi_term *term, int i, int j) { return term->col[j] * term->row[i]; }

double gfi_window_tap(const gfi_window *w, int i, int j)
{
    if (w->full) return w->full[(size_t)j * (size_t)w->kw + (size_t)i];
    double sum = 0;
    for (int t = 0; t < w->n_terms; t++) sum += term_tap(&w->term[t], i, j);
    return sum;
}

gf_status gfi_window_planes(const gfi_window *w, float **out, size_t *n, double *abs_sum)
{
    const int planes = w->n_terms > 1 ? 1 + w->n_terms : 1;
    *n = (size_t)planes * (size_t)w->kw * (size_t)w->kh;
    *abs_sum = 0;
    float *to = *out = gfi_alloc(*n, sizeof *to, "taps");
    if (!to) return GF_ERROR_NO_MEMORY;
    for (int plane = 0; plane < planes; plane++) {
        for (int j = 0; j < w->kh; j++) {
            for (int i = 0; i < w->kw; i++, to++) {
                *to =
                    (float)(plane ? term_tap(&w->term[plane - 1], i, j) : gfi_window_tap(w, i, j));
                if (plane == 0) *abs_sum += fabs((double)*to);
            }
        }
    }
    return GF_OK;
}

float gfi_window_wild_limit(double points, double abs_sum)
{
    return (float)(0x1p126 / (points * (abs_sum > 1 ? abs_sum : 1)));
}

bool gfi_window_may_be_wild(const gfi_request *request, float limit)
{
    enum { WHITE_U16 = 65535 };
    const gfi_window *w = request->window;
    if (request->in.pixel == GF_PIXEL_F32 || limit <= WHITE_U16) return true;
    return w->border == GF_BORDER_CONSTANT && !(fabs(w->border_value) < (double)limit);
}
