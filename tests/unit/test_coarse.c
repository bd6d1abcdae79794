/* The coarse-grid filter of one axis: what its parts make of a signal, done as the header says,
 * against the window itself. */
#include <math.h>

#include "filters/coarse_fit.h"
#include "kernels/gf_kargs.h"
#include "suite.h"

enum { LENGTH = 4096, MARGIN = 1536 };

static double *gaussian(double sigma, int radius)
{
    double *taps = calloc((size_t)(2 * radius + 1), sizeof *taps), sum = 0;
    ck_assert_ptr_nonnull(taps);
    for (int k = -radius; k <= radius; k++)
        sum += taps[radius + k] = exp(-0.5 * k * k / (sigma * sigma));
    for (int k = 0; k <= 2 * radius; k++) taps[k] /= sum;
    return taps;
}

/* Noise of -1 and 1. */
static void make_signal(double *signal)
{
    unsigned state = 20261130;
    for (int i = 0; i < LENGTH; i++) {
        state = state * 1664525u + 1013904223u;
        signal[i] = state >> 31 ? 1 : -1;
    }
}

static double node_sum(const gfi_coarse_fit *f, const double *signal, int node)
{
    double sum = 0;
    for (int i = 0; i < GF_COARSE_SPAN * f->step; i++)
        sum += f->phi[i] * signal[node * f->step + i];
    return sum;
}

static double node_value(const gfi_coarse_fit *f, const double *signal, int node)
{
    double sum = 0;
    for (int k = -f->reach; k <= f->reach; k++)
        sum += f->node[f->reach + k] * node_sum(f, signal, node + k);
    return sum;
}

static double coarse(const gfi_coarse_fit *f, const double *signal, int x)
{
    double sum = 0;
    for (int m = 0; m < GF_COARSE_SPAN; m++)
        sum += f->phi[x % f->step + m * f->step] * node_value(f, signal, x / f->step - m);
    for (int i = 0; i < f->rest_n; i++) {
        const int k = f->radius + 1 + i;
        sum += f->rest[i] * (signal[x + k] + signal[x - k]);
    }
    return sum;
}

static double direct(const double *taps, int radius, const double *signal, int x)
{
    double sum = 0;
    for (int k = -radius; k <= radius; k++) sum += taps[radius + k] * signal[x + k];
    return sum;
}

static const struct {
    double sigma;
    int radius, step;
    double most; /* error */
} windows[] = {
    { 8, 32, 3, 4e-7 },    { 10, 40, 4, 4e-7 },    { 10, 40, 5, 8e-7 },
    { 10, 60, 4, 4e-7 },   { 20, 80, 8, 4e-7 },    { 20, 80, 10, 8e-7 },
    { 30, 120, 12, 4e-7 }, { 100, 400, 40, 4e-7 }, { 100, 400, 50, 1e-6 },
};

/* phi is as exact as floats are, or made of whole numbers that fit the digits. */
static void expect_digits(const gfi_coarse_fit *f, int digits)
{
    const double most = digits == 3 ? 127 * 65536.0 + 127 * 256 + 127 : 127 * 256.0 + 127;
    for (int i = 0; i < GF_COARSE_SPAN * f->step; i++) {
        const double whole = f->phi[i] / (digits ? f->unit : 1);
        ck_assert_double_eq(whole, digits ? rint(whole) : (double)(float)whole);
        if (digits) ck_assert_double_le(whole, most);
    }
}

static void expect_error_holds(int window, int digits)
{
    static double signal[LENGTH];
    const int radius = windows[window].radius, step = windows[window].step;
    double *taps = gaussian(windows[window].sigma, radius);
    gfi_coarse_fit *f;
    make_signal(signal);
    expect_ok(gfi_coarse_fit_create(taps, 2 * radius + 1, step, 1.15, digits, &f));
    expect_digits(f, digits);
    if (digits != 2) ck_assert_double_lt(f->error, windows[window].most);
    for (int x = MARGIN; x < MARGIN + 3 * step; x++) {
        const double error = fabs(coarse(f, signal, x) - direct(taps, radius, signal, x));
        ck_assert_double_le(error, f->error + 1e-12);
    }
    gfi_coarse_fit_destroy(&f);
    free(taps);
}

START_TEST(test_error_holds)
{
    expect_error_holds(_i, 0);
    expect_error_holds(_i, 2);
    expect_error_holds(_i, 3);
}
END_TEST

/* A box is not smooth, and the error says so. */
START_TEST(test_box_is_refused)
{
    double taps[81];
    gfi_coarse_fit *f;
    for (int k = 0; k < 81; k++) taps[k] = 1.0 / 81;
    expect_ok(gfi_coarse_fit_create(taps, 81, 8, 1.15, 0, &f));
    ck_assert_double_gt(f->error, 1e-3);
    gfi_coarse_fit_destroy(&f);
}
END_TEST

/* What tensor cores cut, they make at most 2^-11 too small or too large of it. */
START_TEST(test_cut)
{
    for (int i = 0; i < 4096; i++) {
        const float v = 1 + (float)i / 4096, cut = floorf(v * 1024) / 1024;
        const double tap = 0.7, sum = (double)cut * (double)gfi_coarse_part(tap);
        ck_assert_double_le(fabs(sum / gfi_coarse_met(tap) / (double)v - 1),
                            1.001 * GFI_COARSE_CUT);
        ck_assert_double_le(fabs(gfi_coarse_met(tap) / tap - 1), 0x1p-12);
    }
}
END_TEST

START_TEST(test_sigma)
{
    double *taps = gaussian(5, 40);
    ck_assert_double_eq_tol(gfi_coarse_sigma(taps, 81), 5, 1e-6);
    ck_assert_double_eq(gfi_coarse_sigma(taps, 80), 0); /* even */
    taps[80] = 0.5;                                     /* not symmetric */
    ck_assert_double_eq(gfi_coarse_sigma(taps, 81), 0);
    free(taps);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coarse");
    TCase *tests = tcase_create("coarse");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, test_error_holds, 0, (int)(sizeof windows / sizeof *windows));
    tcase_add_test(tests, test_box_is_refused);
    tcase_add_test(tests, test_cut);
    tcase_add_test(tests, test_sigma);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
