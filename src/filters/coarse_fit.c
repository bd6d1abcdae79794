#include "filters/coarse_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "kernels/gf_kargs.h"

enum { SPAN = GF_COARSE_SPAN };

double gfi_coarse_sigma(const double *taps, int n)
{
    double sum = 0, squares = 0;
    const int r = n / 2;
    if (n % 2 == 0) return 0;
    for (int k = -r; k <= r; k++) {
        if (taps[r + k] != taps[r - k]) return 0;
        sum += taps[r + k];
        squares += taps[r + k] * k * (double)k;
    }
    return sum > 0 && squares > 0 && isfinite(squares) ? sqrt(squares / sum) : 0;
}

static double to_float(double v) { return (double)(float)v; }

/* ---- phi ----------------------------------------------------------------------------------- */

/* Modified Bessel function of the first kind, order 0. */
static double bessel_i0(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; term > sum * 1e-17; k++) {
        term *= x * x / (4.0 * k * k);
        sum += term;
    }
    return sum;
}

/* A Kaiser window. What it lets through of the frequencies that the coarse grid takes for lower
 * ones is least, over all that the taps keep, with these parameters (by experiment, sigma / step 2
 * to 4). */
static void make_phi(gfi_coarse_fit *f)
{
    const int n = SPAN * f->step;
    const double ratio = f->sigma / f->step;
    const double beta = fmin(16.4 + 2.4 * (ratio - 2), 19.2);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double t = (2.0 * i - (n - 1)) / n;
        f->phi[i] = bessel_i0(beta * sqrt(1 - t * t));
        sum += f->phi[i];
    }
    for (int i = 0; i < n; i++) f->phi[i] = to_float(f->phi[i] / sum);
}

/* ---- the nodes' taps ----------------------------------------------------------------------- */

/* Least squares for the taps from the middle on: matrix x = right, order unknowns. */
typedef struct normal_equations {
    int order;
    double *matrix, *right;
} normal_equations;

/* Solve by Cholesky; the matrix is positive definite. right becomes x. */
static void solve(normal_equations *e)
{
    const int n = e->order;
    double *a = e->matrix, *b = e->right;
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / a[j * n + j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) b[i] -= a[i * n + k] * b[k];
        b[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= a[k * n + i] * b[k];
        b[i] /= a[i * n + i];
    }
}

/* What one node makes of a pixel `offset` away from position p of a step. */
static double one_node(const gfi_coarse_fit *f, int p, int offset)
{
    const int n = SPAN * f->step;
    double sum = 0;
    for (int i = p; i < n; i += f->step)
        if (i + offset >= 0 && i + offset < n) sum += f->phi[i] * f->phi[i + offset];
    return sum;
}

/* The same, mean of all positions, by offset from 0 to n - 1; and for each distance of nodes the
 * sum, over positions and offsets, of the products of what two nodes deviate from it. */
static void make_mean(const gfi_coarse_fit *f, double *mean, double *deviation)
{
    enum { LAGS = 2 * SPAN };
    const int n = SPAN * f->step;
    for (int k = 0; k < n; k++) {
        mean[k] = 0;
        for (int p = 0; p < f->step; p++) mean[k] += one_node(f, p, k) / f->step;
    }
    memset(deviation, 0, LAGS * sizeof *deviation);
    for (int p = 0; p < f->step; p++)
        for (int k = -n + 1; k < n; k++) {
            const double own = one_node(f, p, k) - mean[abs(k)];
            for (int lag = 0; lag < LAGS; lag++) {
                const int other = k - lag * f->step;
                if (other <= -n) break;
                deviation[lag] += own * (one_node(f, p, other) - mean[abs(other)]);
            }
        }
}

static double at_distance(const double *values, int n, int distance)
{
    return abs(distance) < n ? values[abs(distance)] : 0;
}

/* What unknown j, a tap on both sides, adds to the smooth filter at k. */
static double basis(const double *mean, int n, int step, int j, int k)
{
    const double right = at_distance(mean, n, k - j * step);
    return j ? right + at_distance(mean, n, k + j * step) : right;
}

/* Meet the taps inside the window and nothing well outside; where the rest may help, hardly
 * anything is asked; and let the positions of a step be alike. */
static void add_taps(const gfi_coarse_fit *f, const double *taps, const double *mean,
                     normal_equations *e)
{
    static const double FREE = 1e-6;
    const int n = SPAN * f->step, order = e->order;
    for (int k = 0; k <= f->smooth_reach; k++) {
        const bool free = k > f->radius && k <= f->radius + f->rest_n;
        const double weight = (k ? 2 : 1) * (free ? FREE : 1);
        const int first = (k - n) / f->step > 0 ? (k - n) / f->step : 0;
        const int last = (k + n) / f->step < order - 1 ? (k + n) / f->step : order - 1;
        for (int i = first; i <= last; i++) {
            const double own = weight * basis(mean, n, f->step, i, k);
            if (k <= f->radius) e->right[i] += own * taps[k];
            for (int j = first; j <= i; j++)
                e->matrix[i * order + j] += own * basis(mean, n, f->step, j, k);
        }
    }
}

static void add_deviation(const double *deviation, normal_equations *e)
{
    for (int i = 0; i < e->order; i++)
        for (int j = 0; j <= i; j++) {
            const double near = at_distance(deviation, 2 * SPAN, i - j);
            const double far = at_distance(deviation, 2 * SPAN, i + j);
            e->matrix[i * e->order + j] += i && j ? 2 * (near + far) : i || j ? 2 * near : near;
        }
}

static gf_status make_nodes(gfi_coarse_fit *f, const double *taps)
{
    normal_equations e = { .order = f->reach + 1 };
    const size_t order = (size_t)e.order, n = (size_t)(SPAN * f->step);
    double *memory = gfi_alloc_zero(order * order + order + n + 2 * SPAN, sizeof *memory, "fit");
    if (!memory) return GF_ERROR_NO_MEMORY;
    e.matrix = memory;
    e.right = e.matrix + order * order;
    double *mean = e.right + order, *deviation = mean + n;
    make_mean(f, mean, deviation);
    add_taps(f, taps, mean, &e);
    add_deviation(deviation, &e);
    solve(&e);
    for (int k = 0; k <= f->reach; k++)
        f->node[f->reach + k] = f->node[f->reach - k] = to_float(e.right[k]);
    gfi_free(memory);
    return GF_OK;
}

/* ---- what comes of it ---------------------------------------------------------------------- */

/* The first filter's tap at offset k for position p; spread[i]: nodes' taps on phi, from the first
 * pixel that they reach on. */
static double position_tap(const gfi_coarse_fit *f, const double *spread, int p, int k)
{
    const int n = SPAN * f->step, most = 2 * f->reach * f->step + n;
    double sum = 0;
    for (int i = p; i < n; i += f->step) {
        const int at = k + i + f->reach * f->step;
        if (at >= 0 && at < most) sum += f->phi[i] * spread[at];
    }
    return sum;
}

static void make_spread(const gfi_coarse_fit *f, double *spread)
{
    for (int j = 0; j <= 2 * f->reach; j++)
        for (int i = 0; i < SPAN * f->step; i++) spread[j * f->step + i] += f->node[j] * f->phi[i];
}

static void make_rest(gfi_coarse_fit *f)
{
    f->rest_sum = 0;
    for (int i = 0; i < f->rest_n; i++) {
        f->rest[i] = to_float(-f->smooth[f->radius + 1 + i]);
        f->rest_sum += 2 * fabs(f->rest[i]);
    }
}

static double rest_at(const gfi_coarse_fit *f, int k)
{
    return k > f->radius && k <= f->radius + f->rest_n ? f->rest[k - f->radius - 1] : 0;
}

static gf_status judge(gfi_coarse_fit *f, const double *taps, int n_side)
{
    double *spread =
        gfi_alloc_zero((size_t)((2 * f->reach + SPAN) * f->step), sizeof *spread, "fit");
    if (!spread) return GF_ERROR_NO_MEMORY;
    make_spread(f, spread);
    for (int k = 0; k <= f->smooth_reach; k++) {
        f->smooth[k] = 0;
        for (int p = 0; p < f->step; p++) f->smooth[k] += position_tap(f, spread, p, k) / f->step;
    }
    make_rest(f);
    f->error = 0;
    for (int p = 0; p < f->step; p++) {
        double sum = 0;
        for (int k = -f->smooth_reach; k <= f->smooth_reach; k++) {
            const double tap = abs(k) <= n_side ? taps[abs(k)] : 0;
            sum += fabs(position_tap(f, spread, p, k) + rest_at(f, abs(k)) - tap);
        }
        f->error = fmax(f->error, sum);
    }
    for (int k = f->smooth_reach + 1; k <= n_side; k++) f->error += 2 * fabs(taps[k]);
    gfi_free(spread);
    return GF_OK;
}

/* ---- create, destroy ----------------------------------------------------------------------- */

/* The radius outside of which the taps do not count; taps from the middle on. */
static int counting_radius(const double *taps, int n_side)
{
    static const double NEGLIGIBLE = 1e-8;
    double all = fabs(taps[0]), outside = 0;
    int r = n_side;
    for (int k = 1; k <= n_side; k++) all += 2 * fabs(taps[k]);
    while (r > 0 && outside + 2 * fabs(taps[r]) <= NEGLIGIBLE * all) outside += 2 * fabs(taps[r--]);
    return r;
}

static gf_status fill(gfi_coarse_fit *f, const double *taps, int n_side, double rest)
{
    f->radius = counting_radius(taps, n_side);
    f->rest_n = (int)ceil(rest * f->sigma);
    f->reach = (f->radius + f->rest_n + f->step) / f->step + 1;
    f->smooth_reach = (f->reach + SPAN) * f->step;
    const size_t n = (size_t)(SPAN * f->step);
    f->phi = gfi_alloc_zero(n, sizeof(double), "fit");
    f->node = gfi_alloc_zero(2 * (size_t)f->reach + 1, sizeof(double), "fit");
    f->rest = gfi_alloc_zero((size_t)f->rest_n, sizeof(double), "fit");
    f->smooth = gfi_alloc_zero((size_t)f->smooth_reach + 1, sizeof(double), "fit");
    if (!f->phi || !f->node || !f->rest || !f->smooth) return GF_ERROR_NO_MEMORY;
    make_phi(f);
    GFI_TRY(make_nodes(f, taps));
    return judge(f, taps, n_side);
}

gf_status gfi_coarse_fit_create(const double *taps, int n, int step, double rest,
                                gfi_coarse_fit **out)
{
    *out = NULL;
    gfi_coarse_fit *f = gfi_alloc_zero(1, sizeof *f, "fit");
    if (!f) return GF_ERROR_NO_MEMORY;
    f->step = step;
    f->sigma = gfi_coarse_sigma(taps, n);
    gf_status status = fill(f, taps + n / 2, n / 2, rest);
    if (status == GF_OK)
        *out = f;
    else
        gfi_coarse_fit_destroy(&f);
    return status;
}

void gfi_coarse_fit_destroy(gfi_coarse_fit **fit)
{
    gfi_coarse_fit *f = *fit;
    if (!f) return;
    gfi_free(f->phi);
    gfi_free(f->node);
    gfi_free(f->rest);
    gfi_free(f->smooth);
    gfi_free(f);
    *fit = NULL;
}
