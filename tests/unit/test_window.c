/* The window engine on the CPU: every implementation against the float64 reference, and the
 * reference against figures worked out by hand. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/image.h"
#include "filters/impl.h"
#include "filters/window.h"

/* ---- random -------------------------------------------------------------------------------- */

static uint64_t random_state = 20261130;

static unsigned random_below(unsigned n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)((random_state >> 33) % n);
}

static double random_between(double lo, double hi)
{
    return lo + (hi - lo) * random_below(1u << 24) / (double)(1u << 24);
}

/* ---- images with guarded pitches ----------------------------------------------------------- */

enum { GUARD = 0xA5 };

typedef struct image {
    gf_view view;
    unsigned char *memory;
    size_t bytes;
} image;

static image make_image(int width, int height, gf_pixel pixel, int spare)
{
    image im = { .view = { NULL, width, height, 0, pixel, GF_MEMORY_HOST } };
    im.view.pitch_bytes = ((size_t)width + (size_t)spare) * gf_pixel_bytes(pixel);
    im.bytes = im.view.pitch_bytes * (size_t)height;
    im.memory = malloc(im.bytes);
    ck_assert_ptr_nonnull(im.memory);
    memset(im.memory, GUARD, im.bytes);
    im.view.data = im.memory;
    return im;
}

static void put_pixel(const gf_view *v, int x, int y, double value)
{
    void *row = gfi_row(v, y);
    switch (v->pixel) {
    case GF_PIXEL_U8: ((uint8_t *)row)[x] = (uint8_t)value; break;
    case GF_PIXEL_U16: ((uint16_t *)row)[x] = (uint16_t)value; break;
    default: ((float *)row)[x] = (float)value; break;
    }
}

static double get_pixel(const gf_view *v, int x, int y)
{
    const void *row = gfi_row(v, y);
    switch (v->pixel) {
    case GF_PIXEL_U8: return ((const uint8_t *)row)[x];
    case GF_PIXEL_U16: return ((const uint16_t *)row)[x];
    default: return ((const float *)row)[x];
    }
}

static void fill_noise(const gf_view *v)
{
    const unsigned top = v->pixel == GF_PIXEL_U8 ? 256 : 65536;
    for (int y = 0; y < v->height; y++)
        for (int x = 0; x < v->width; x++) {
            if (v->pixel == GF_PIXEL_F32)
                put_pixel(v, x, y, random_between(-1, 1));
            else
                put_pixel(v, x, y, random_below(top));
        }
}

static void check_guards(const image *im, const char *name)
{
    const size_t row_bytes = (size_t)im->view.width * gf_pixel_bytes(im->view.pixel);
    for (int y = 0; y < im->view.height; y++)
        for (size_t b = row_bytes; b < im->view.pitch_bytes; b++)
            ck_assert_msg(im->memory[(size_t)y * im->view.pitch_bytes + b] == GUARD,
                          "%s wrote beside row %d", name, y);
}

/* ---- running ------------------------------------------------------------------------------- */

static const gf_impl *const impls[] = { &gfi_window_direct, &gfi_window_sep, &gfi_window_fft,
                                        NULL };

static gfi_request make_request(const gfi_window *w, const image *in, const image *out, int threads)
{
    gfi_request q = { .window = w, .threads = threads };
    q.in = (gf_image_desc){ in->view.width, in->view.height, in->view.pixel };
    q.out = (gf_image_desc){ out->view.width, out->view.height, out->view.pixel };
    return q;
}

/* False when the implementation says that it cannot serve this window. */
static bool run(const gf_impl *impl, const gfi_window *w, const image *in, const image *out,
                int threads)
{
    const gfi_request q = make_request(w, in, out, threads);
    char why[GFI_WHY_BYTES] = "";
    if (impl->usable && !impl->usable(&q, why)) {
        ck_assert_msg(why[0], "%s gives no reason", impl->name);
        return false;
    }
    void *state = NULL;
    ck_assert_msg(!gfi_impl_prepare(impl, &q, &state), "%s", gf_error_message());
    ck_assert_msg(!impl->run(&q, state, &in->view, &out->view), "%s", gf_error_message());
    gfi_impl_destroy(impl, &q, &state);
    return true;
}

static double largest(const gfi_window *w, const gf_view *v)
{
    double top = w->border == GF_BORDER_CONSTANT ? fabs(w->border_value) : 0;
    for (int y = 0; y < v->height; y++)
        for (int x = 0; x < v->width; x++) {
            const double a = fabs(get_pixel(v, x, y));
            if (isfinite(a) && a > top) top = a;
        }
    return top;
}

static int compare_f32(const gf_impl *impl, const image *want, const image *got, double bound)
{
    int wrong = 0;
    for (int y = 0; y < want->view.height; y++)
        for (int x = 0; x < want->view.width; x++) {
            const double a = get_pixel(&want->view, x, y), b = get_pixel(&got->view, x, y);
            const bool same = isnan(a)   ? isnan(b)
                              : isinf(a) ? a == b
                                         : fabs(a - b) <= bound + fabs(a) * 0x1p-24;
            if (!same && !wrong++)
                fprintf(stderr, "%s (%d, %d): %.9g is not %.9g within %g\n", impl->name, x, y, b, a,
                        bound);
        }
    return wrong;
}

/* One level off is right only next to a tie; exact holds the results before rounding. */
static int compare_levels(const gf_impl *impl, const image *exact, const image *got, double bound)
{
    const double top = gf_pixel_white(got->view.pixel);
    int wrong = 0;
    for (int y = 0; y < exact->view.height; y++)
        for (int x = 0; x < exact->view.width; x++) {
            const double v = get_pixel(&exact->view, x, y), b = get_pixel(&got->view, x, y);
            const double slack = fmax(bound, 1e-3) + fabs(v) * 0x1p-24;
            const double lo = fmin(fmax(nearbyint(v - slack), 0), top);
            const double hi = fmin(fmax(nearbyint(v + slack), 0), top);
            if ((b < lo || b > hi) && !wrong++)
                fprintf(stderr, "%s (%d, %d): %g is not %.9g rounded\n", impl->name, x, y, b, v);
        }
    return wrong;
}

static void describe(const gfi_window *w, const image *in, const image *out, char text[256])
{
    snprintf(text, 256,
             "%dx%d %s to %dx%d %s, kernel %dx%d anchor %d,%d terms %d combine %d border %d",
             in->view.width, in->view.height, gf_pixel_name(in->view.pixel), out->view.width,
             out->view.height, gf_pixel_name(out->view.pixel), w->kw, w->kh, w->ax, w->ay,
             w->n_terms, (int)w->combine, (int)w->border);
}

/* Run one implementation and hold it to the numbers contract. Returns whether it was usable. */
static bool check_impl(const gf_impl *impl, const gfi_window *w, const image *in, const image *want,
                       gf_pixel pixel)
{
    image out = make_image(want->view.width, want->view.height, pixel, (int)random_below(3));
    const bool usable = run(impl, w, in, &out, 1 + (int)random_below(3));
    if (usable) {
        const double factor = impl->tol_factor > 0 ? impl->tol_factor : 1;
        const double bound = factor * 0x1p-20 * w->abs_sum * largest(w, &in->view);
        char text[256];
        describe(w, in, &out, text);
        const int wrong = pixel == GF_PIXEL_F32 ? compare_f32(impl, want, &out, bound)
                                                : compare_levels(impl, want, &out, bound);
        ck_assert_msg(!wrong, "%s: %d pixels wrong: %s", impl->name, wrong, text);
        check_guards(&out, impl->name);
    }
    free(out.memory);
    return usable;
}

/* ---- windows ------------------------------------------------------------------------------- */

static void fill_taps(double *taps, int n, bool zeros)
{
    for (int i = 0; i < n; i++) taps[i] = zeros && random_below(4) == 0 ? 0 : random_between(-1, 1);
}

static gfi_window *make_window(int kw, int kh, int n_terms, gfi_combine combine)
{
    gfi_window *w;
    ck_assert_int_eq(gfi_window_create(kw, kh, n_terms, &w), GF_OK);
    const bool zeros = random_below(2) == 0;
    for (int t = 0; t < n_terms; t++) {
        fill_taps(w->term[t].row, kw, zeros);
        fill_taps(w->term[t].col, kh, zeros);
    }
    if (!n_terms) fill_taps(w->full, kw * kh, zeros);
    w->combine = combine;
    w->amount = 1.5;
    ck_assert_int_eq(gfi_window_finish(w), GF_OK);
    return w;
}

static gfi_window *random_window(int kw, int kh)
{
    const gfi_combine combine = (gfi_combine)random_below(3);
    const int n_terms = combine == GFI_COMBINE_UNSHARP ? 1 : (int)random_below(3);
    gfi_window *w = make_window(kw, kh, n_terms, combine);
    w->border = (gf_border)random_below(5);
    w->border_value = random_below(2) ? 0 : 0.75;
    if (combine != GFI_COMBINE_UNSHARP && random_below(2)) {
        w->offset = 0.5;
        w->scale = 0.125;
        w->abs_sum *= 0.125;
    }
    return w;
}

/* Sizes of mode=same, valid and full. */
static void choose_mode(gfi_window *w, const gf_view *in, int *width, int *height)
{
    const unsigned mode = w->combine == GFI_COMBINE_UNSHARP ? 0 : random_below(4);
    *width = in->width;
    *height = in->height;
    if (mode == 1 && in->width >= w->kw && in->height >= w->kh) {
        w->ax = w->ay = 0;
        *width = in->width - w->kw + 1;
        *height = in->height - w->kh + 1;
    } else if (mode == 2) {
        w->ax = w->kw - 1;
        w->ay = w->kh - 1;
        *width = in->width + w->kw - 1;
        *height = in->height + w->kh - 1;
    } else if (mode == 3) {
        w->ax = (int)random_below((unsigned)w->kw);
        w->ay = (int)random_below((unsigned)w->kh);
    }
}

static int random_size(void)
{
    const unsigned kind = random_below(8);
    return 1 + (int)random_below(kind == 0 ? 1 : kind == 1 ? 200 : kind < 4 ? 12 : 40);
}

static void add_specials(const gf_view *v, unsigned n)
{
    static const float specials[] = { NAN, INFINITY, -INFINITY };
    if (v->pixel != GF_PIXEL_F32) return;
    for (unsigned i = 0; i < n; i++)
        put_pixel(v, (int)random_below((unsigned)v->width), (int)random_below((unsigned)v->height),
                  specials[random_below(3)]);
}

static void random_case(int usable[])
{
    const int kernel_kind = (int)random_below(8), most = kernel_kind == 0 ? 60 : 9;
    gfi_window *w =
        random_window(1 + (int)random_below((unsigned)most), 1 + (int)random_below((unsigned)most));
    image in = make_image(random_size(), random_size(), (gf_pixel)(1 + random_below(3)),
                          (int)random_below(4));
    fill_noise(&in.view);
    if (random_below(3) == 0) add_specials(&in.view, 1 + random_below(2));
    int width, height;
    choose_mode(w, &in.view, &width, &height);
    image want = make_image(width, height, GF_PIXEL_F32, 0);
    ck_assert(run(&gfi_window_ref, w, &in, &want, 1));
    const gf_pixel pixel = random_below(2) ? GF_PIXEL_F32 : (gf_pixel)(1 + random_below(2));
    for (int i = 0; impls[i]; i++) usable[i] += check_impl(impls[i], w, &in, &want, pixel);
    free(want.memory);
    free(in.memory);
    gfi_window_destroy(&w);
}

START_TEST(test_random)
{
    int usable[3] = { 0 };
    random_state += (uint64_t)_i;
    for (int i = 0; i < 250; i++) random_case(usable);
    ck_assert_int_gt(usable[0], 50);
    ck_assert_int_gt(usable[1], 50);
}
END_TEST

/* ---- the reference, by hand ---------------------------------------------------------------- */

/* Filter one row of n pixels with a row of kw taps and compare exactly, with all implementations.
 */
static void check_row(gfi_window *w, int n, const double *pixels, const double *want,
                      gf_pixel out_pixel)
{
    image in = make_image(n, 1, GF_PIXEL_F32, 0), out = make_image(n, 1, out_pixel, 0);
    for (int x = 0; x < n; x++) put_pixel(&in.view, x, 0, pixels[x]);
    const gf_impl *const exact[] = { &gfi_window_ref, &gfi_window_direct, &gfi_window_sep };
    for (int i = 0; i < 3; i++) {
        if (!run(exact[i], w, &in, &out, 1)) continue;
        for (int x = 0; x < n; x++)
            ck_assert_msg(get_pixel(&out.view, x, 0) == want[x],
                          "%s border %d: pixel %d is %g, not %g", exact[i]->name, (int)w->border, x,
                          get_pixel(&out.view, x, 0), want[x]);
    }
    free(in.memory);
    free(out.memory);
}

static gfi_window *row_window(int kw, const double *taps)
{
    gfi_window *w;
    ck_assert_int_eq(gfi_window_create(kw, 1, 0, &w), GF_OK);
    memcpy(w->full, taps, (size_t)kw * sizeof *taps);
    w->border = GF_BORDER_CONSTANT;
    ck_assert_int_eq(gfi_window_finish(w), GF_OK);
    return w;
}

START_TEST(test_borders_by_hand)
{
    static const double ones[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 }, row[3] = { 10, 20, 30 };
    static const double want[5][3] = {
        { 60, 60, 60 }, { 160, 180, 200 }, { 200, 180, 160 }, { 170, 180, 190 }, { 180, 180, 180 }
    };
    gfi_window *w = row_window(9, ones);
    for (int b = 0; b < 5; b++) {
        w->border = (gf_border)b;
        check_row(w, 3, row, want[b], GF_PIXEL_F32);
    }
    gfi_window_destroy(&w);
}
END_TEST

START_TEST(test_anchor_by_hand)
{
    static const double delta[5] = { 0, 0, 1, 0, 0 };
    gfi_window *w = row_window(3, (const double[]){ 1, 2, 3 });
    check_row(w, 5, delta, (const double[]){ 0, 3, 2, 1, 0 }, GF_PIXEL_F32);
    gfi_window_destroy(&w);
    w = row_window(2, (const double[]){ 1, 2 });
    check_row(w, 5, delta, (const double[]){ 0, 0, 2, 1, 0 }, GF_PIXEL_F32);
    gfi_window_destroy(&w);
}
END_TEST

START_TEST(test_rounding_by_hand)
{
    static const double row[8] = { 0, 1, 2, 3, 254, 255, -5, 300 };
    gfi_window *w = row_window(2, (const double[]){ .5, .5 });
    w->ax = 0;
    /* 0.5 1.5 2.5 128.5 254.5 125 147.5 150 */
    check_row(w, 8, row, (const double[]){ 0, 2, 2, 128, 254, 125, 148, 150 }, GF_PIXEL_U8);
    gfi_window_destroy(&w);
    w = row_window(1, (const double[]){ 1 });
    check_row(w, 4, (const double[]){ -0.6, 255.6, NAN, INFINITY },
              (const double[]){ 0, 255, 0, 255 }, GF_PIXEL_U8);
    check_row(w, 4, (const double[]){ 65534.5, 65536, NAN, -INFINITY },
              (const double[]){ 65534, 65535, 0, 0 }, GF_PIXEL_U16);
    gfi_window_destroy(&w);
}
END_TEST

START_TEST(test_unsharp_threshold)
{
    gfi_window *w;
    ck_assert_int_eq(gfi_window_create(3, 1, 1, &w), GF_OK);
    for (int i = 0; i < 3; i++) w->term[0].row[i] = i == 1 ? 0.5 : 0.25;
    w->term[0].col[0] = 1;
    w->combine = GFI_COMBINE_UNSHARP;
    w->amount = 2;
    w->threshold = 2;
    w->border = GF_BORDER_REPLICATE;
    ck_assert_int_eq(gfi_window_finish(w), GF_OK);
    ck_assert_double_eq(w->abs_sum, 1 + 2 * (1 + 1));
    /* d = 0 -2 4 -2 -0.75 0.75 */
    check_row(w, 6, (const double[]){ 0, 0, 8, 0, 0, 3 }, (const double[]){ 0, -4, 16, -4, 0, 3 },
              GF_PIXEL_F32);
    gfi_window_destroy(&w);
}
END_TEST

/* ---- sums that must hold ------------------------------------------------------------------- */

START_TEST(test_constant_stays)
{
    static const int sizes[] = { 3, 9, 17, 33, 127 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        gfi_window *w;
        ck_assert_int_eq(gfi_window_create(sizes[k], sizes[k], 1, &w), GF_OK);
        for (int i = 0; i < sizes[k]; i++) w->term[0].row[i] = w->term[0].col[i] = 1.0 / sizes[k];
        ck_assert_int_eq(gfi_window_finish(w), GF_OK);
        for (int i = 0; i < 20; i++) {
            image in = make_image(9, 5, GF_PIXEL_F32, 0), want = make_image(9, 5, GF_PIXEL_F32, 0);
            const double level = random_between(0.5, 1);
            for (int y = 0; y < 5; y++)
                for (int x = 0; x < 9; x++) {
                    put_pixel(&in.view, x, y, level);
                    put_pixel(&want.view, x, y, level);
                }
            for (int m = 0; impls[m]; m++) check_impl(impls[m], w, &in, &want, GF_PIXEL_F32);
            free(in.memory);
            free(want.memory);
        }
        gfi_window_destroy(&w);
    }
}
END_TEST

START_TEST(test_same_on_any_threads)
{
    static const gf_impl *const all[] = { &gfi_window_direct, &gfi_window_sep, &gfi_window_fft };
    image in = make_image(301, 203, GF_PIXEL_F32, 0);
    fill_noise(&in.view);
    gfi_window *w = make_window(19, 21, 1, GFI_COMBINE_SUM);
    for (int i = 0; i < 3; i++) {
        image one = make_image(301, 203, GF_PIXEL_F32, 0);
        if (!run(all[i], w, &in, &one, 1)) continue;
        for (int threads = 2; threads < 6; threads++) {
            image many = make_image(301, 203, GF_PIXEL_F32, 0);
            ck_assert(run(all[i], w, &in, &many, threads));
            ck_assert_msg(!memcmp(one.memory, many.memory, one.bytes), "%s with %d threads",
                          all[i]->name, threads);
            free(many.memory);
        }
        free(one.memory);
    }
    gfi_window_destroy(&w);
    free(in.memory);
}
END_TEST

START_TEST(test_magnitude_range)
{
    gfi_window *w;
    ck_assert_int_eq(gfi_window_create(2, 1, 2, &w), GF_OK);
    w->ax = 0;
    w->term[0].row[0] = w->term[1].row[1] = w->term[0].col[0] = w->term[1].col[0] = 1;
    w->combine = GFI_COMBINE_MAGNITUDE;
    w->border = GF_BORDER_CONSTANT;
    ck_assert_int_eq(gfi_window_finish(w), GF_OK);
    ck_assert_ptr_null(w->full);
    ck_assert_double_eq_tol(w->abs_sum, sqrt(2), 1e-12);
    const double row[] = { 3e37f, 4e37f, 0, -1e38f, 0, 1e-38f, 0, 3e-30f, 4e-30f };
    image in = make_image(9, 1, GF_PIXEL_F32, 0), out = make_image(9, 1, GF_PIXEL_F32, 0);
    for (int x = 0; x < 9; x++) put_pixel(&in.view, x, 0, row[x]);
    ck_assert(run(&gfi_window_sep, w, &in, &out, 1));
    for (int x = 0; x < 9; x++) {
        const double want = hypot(row[x], x < 8 ? row[x + 1] : 0);
        ck_assert_double_eq(get_pixel(&out.view, x, 0), (double)(float)want);
    }
    gfi_window_destroy(&w);
    free(in.memory);
    free(out.memory);
}
END_TEST

/* ---- separable or not ---------------------------------------------------------------------- */

static gfi_window *full_window(int kw, int kh, const double *taps)
{
    gfi_window *w;
    ck_assert_int_eq(gfi_window_create(kw, kh, 0, &w), GF_OK);
    memcpy(w->full, taps, (size_t)(kw * kh) * sizeof *taps);
    ck_assert_int_eq(gfi_window_finish(w), GF_OK);
    return w;
}

static void check_whole(const double *taps, int n)
{
    for (int i = 0; i < n; i++)
        ck_assert_msg(taps[i] == rint(taps[i]), "tap %d is %.17g", i, taps[i]);
}

START_TEST(test_rank_1_of_whole_numbers)
{
    static const int five[5] = { 1, 4, 6, 4, 1 }, six[6] = { 3, -6, 9, 0, 12, 15 };
    double taps[30];
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 6; i++) taps[j * 6 + i] = five[j] * six[i];
    gfi_window *w = full_window(6, 5, taps);
    ck_assert_int_eq(w->n_terms, 1);
    check_whole(w->term[0].row, 6);
    check_whole(w->term[0].col, 5);
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 6; i++)
            ck_assert_double_eq(w->term[0].col[j] * w->term[0].row[i], taps[j * 6 + i]);
    ck_assert_double_eq(w->abs_sum, 16 * 45);
    gfi_window_destroy(&w);
}
END_TEST

START_TEST(test_rank_1_limits)
{
    double taps[9] = { 1, 2, 1, 2, 4, 2, 1, 2, 1 };
    gfi_window *w = full_window(3, 3, taps);
    ck_assert_int_eq(w->n_terms, 1);
    gfi_window_destroy(&w);

    taps[8] = 1 + 1e-5; /* far more than the contract leaves */
    w = full_window(3, 3, taps);
    ck_assert_int_eq(w->n_terms, 0);
    gfi_window_destroy(&w);

    for (int i = 0; i < 9; i++)
        taps[i] = (float)(0.1 * (1 + i / 3) * (1 + i % 3)); /* as PFM holds it */
    w = full_window(3, 3, taps);
    ck_assert_int_eq(w->n_terms, 1);
    gfi_window_destroy(&w);

    w = full_window(3, 3, (const double[9]){ 0, 1, 0, 1, -4, 1, 0, 1, 0 });
    ck_assert_int_eq(w->n_terms, 0);
    gfi_window_destroy(&w);

    w = full_window(3, 3, (const double[9]){ 0 });
    ck_assert_int_eq(w->n_terms, 1);
    ck_assert_double_eq(w->abs_sum, 0);
    gfi_window_destroy(&w);
}
END_TEST

START_TEST(test_method)
{
    image in = make_image(8, 8, GF_PIXEL_F32, 0);
    gfi_window *w = make_window(3, 3, 1, GFI_COMBINE_SUM);
    for (int m = 0; m < 3; m++) {
        w->force_direct = m == 0;
        w->force_separable = m == 1;
        w->force_fft = m == 2;
        const gfi_request q = make_request(w, &in, &in, 1);
        for (int i = 0; i < 3; i++) {
            char why[GFI_WHY_BYTES] = "";
            const bool usable = impls[i]->usable(&q, why);
            if (i == m)
                ck_assert_msg(usable || strstr(why, "built without"), "%s", why);
            else
                ck_assert_msg(!usable && (strstr(why, "method=") || strstr(why, "built without")),
                              "%s: %s", impls[i]->name, why);
        }
    }
    gfi_window_destroy(&w);
    free(in.memory);
}
END_TEST

START_TEST(test_create_checks)
{
    gfi_window *w;
    ck_assert_int_eq(gfi_window_create(0, 3, 0, &w), GF_ERROR_RANGE);
    ck_assert_ptr_null(w);
    ck_assert_int_eq(gfi_window_create(2147483647, 2147483647, 0, &w), GF_ERROR_NO_MEMORY);
    ck_assert_ptr_null(w);
    gfi_window_destroy(&w);
    gfi_window_destroy(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("window");
    TCase *tests = tcase_create("window");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, test_random, 0, 8);
    tcase_add_test(tests, test_borders_by_hand);
    tcase_add_test(tests, test_anchor_by_hand);
    tcase_add_test(tests, test_rounding_by_hand);
    tcase_add_test(tests, test_unsharp_threshold);
    tcase_add_test(tests, test_constant_stays);
    tcase_add_test(tests, test_same_on_any_threads);
    tcase_add_test(tests, test_magnitude_range);
    tcase_add_test(tests, test_rank_1_of_whole_numbers);
    tcase_add_test(tests, test_rank_1_limits);
    tcase_add_test(tests, test_method);
    tcase_add_test(tests, test_create_checks);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
