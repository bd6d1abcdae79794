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

float gfi_coarse_tf32(double tap)
{
    enum { BITS = 11 };
    int exponent;
    const double fraction = frexp(tap, &exponent);
    return (float)ldexp(rint(ldexp(fraction, BITS)), exponent - BITS);
}

float gfi_coarse_part(double tap) { return gfi_coarse_tf32(tap * (1 + GFI_COARSE_CUT)); }

double gfi_coarse_met(double tap) { return (double)gfi_coarse_part(tap) / (1 + GFI_COARSE_CUT); }

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

/* The smallest power of two of which the digits can count up to `most`. */
static double unit_for(double most, int digits)
{
    enum { BASE = 256, LARGEST = 127 };
    double range = 0;
    for (int i = 0; i < digits; i++) range = BASE * range + LARGEST;
    int exponent;
    frexp(most / range, &exponent);
    return ldexp(1, exponent);
}

/* Positions of a step from here on mirror those before. How much a position stands for, with what
 * mirrors it. */
static int halves(const gfi_coarse_fit *f) { return (f->step + 1) / 2; }
static double share(const gfi_coarse_fit *f, int p) { return 2 * p + 1 == f->step ? 1 : 2; }

/* How much errors of phi at one position of a step matter: their sum, and what they weigh about the
 * middle, as far as neighbouring nodes differ. */
static double position_cost(const gfi_coarse_fit *f, const double *error)
{
    const double ratio = f->step / f->sigma;
    double moment[3] = { 0 };
    for (int m = 0; m < SPAN; m++) {
        const double at = (m - SPAN / 2) * ratio;
        moment[0] += error[m];
        moment[1] += error[m] * at;
        moment[2] += error[m] * at * at / 2;
    }
    return moment[0] * moment[0] + moment[1] * moment[1] + moment[2] * moment[2];
}

/* Round phi at position p of a step and at that which mirrors it, each value up or down as is best
 * together. */
static void round_position(gfi_coarse_fit *f, int p)
{
    double down[SPAN], best_cost = INFINITY;
    int best = 0;
    for (int m = 0; m < SPAN; m++) down[m] = floor(f->phi[p + m * f->step] / f->unit);
    for (int ups = 0; ups < 1 << SPAN; ups++) {
        double error[SPAN];
        for (int m = 0; m < SPAN; m++)
            error[m] = down[m] + (ups >> m & 1) - f->phi[p + m * f->step] / f->unit;
        const double cost = position_cost(f, error);
        if (cost < best_cost) best_cost = cost, best = ups;
    }
    for (int m = 0; m < SPAN; m++) {
        const int at = p + m * f->step;
        f->phi[at] = f->phi[SPAN * f->step - 1 - at] = f->unit * (down[m] + (best >> m & 1));
    }
}

/* A Kaiser window. What it lets through of the frequencies that the coarse grid takes for lower
 * ones is least, over all that the taps keep, with these parameters (by experiment, sigma / step 2
 * to 4). */
static void make_phi(gfi_coarse_fit *f, int digits)
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
    f->unit = digits ? unit_for(f->phi[n / 2] / sum, digits) : 0;
    for (int i = 0; i < n; i++) f->phi[i] = digits ? f->phi[i] / sum : to_float(f->phi[i] / sum);
    for (int p = 0; digits && p < halves(f); p++) round_position(f, p);
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

static double dot(const double *a, const double *b, int n)
{
    double sum[4] = { 0 };
    int i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* Add weight * from to n values. */
static void add(double *to, double weight, const double *from, int n)
{
    for (int i = 0; i < n; i++) to[i] += weight * from[i];
}

/* What one node makes of the pixels around position p of a step: own[n + offset]. */
static void one_node(const gfi_coarse_fit *f, int p, double *own)
{
    const int n = SPAN * f->step;
    for (int i = p; i < n; i += f->step) add(own + n - i, f->phi[i], f->phi, n);
}

/* The same, mean of all positions, by offset from 0 to n - 1; and for each distance of nodes the
 * sum, over positions and offsets, of the products of what two nodes deviate from it. */
static gf_status make_mean(const gfi_coarse_fit *f, double *mean, double *deviation)
{
    enum { LAGS = 2 * SPAN };
    const int n = SPAN * f->step;
    double *all = gfi_alloc_zero((size_t)halves(f) * 2 * (size_t)n, sizeof *all, "fit");
    if (!all) return GF_ERROR_NO_MEMORY;
    double *own = all;
    for (int p = 0; p < halves(f); p++, own += 2 * n) {
        one_node(f, p, own);
        for (int k = 0; k < n; k++)
            mean[k] += share(f, p) / 2 * (own[n + k] + own[n - k]) / f->step;
    }
    own = all;
    for (int p = 0; p < halves(f); p++, own += 2 * n) {
        for (int k = -n + 1; k < n; k++) own[n + k] -= mean[abs(k)];
        for (int lag = 0; lag < LAGS; lag++)
            deviation[lag] += share(f, p) * dot(own + lag * f->step, own, 2 * n - lag * f->step);
    }
    gfi_free(all);
    return GF_OK;
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
 * anything is asked. row: room for as many as there are unknowns. */
static void add_taps(const gfi_coarse_fit *f, const double *taps, const double *mean,
                     normal_equations *e, double *row)
{
    static const double FREE = 1e-6;
    const int n = SPAN * f->step, order = e->order;
    for (int k = 0; k <= f->smooth_reach; k++) {
        const bool free = k > f->radius && k <= f->radius + f->rest_n;
        const double weight = (k ? 2 : 1) * (free ? FREE : 1);
        const int first = (k - n) / f->step > 0 ? (k - n) / f->step : 0;
        const int last = (k + n) / f->step < order - 1 ? (k + n) / f->step : order - 1;
        for (int i = first; i <= last; i++) row[i] = basis(mean, n, f->step, i, k);
        for (int i = first; i <= last; i++) {
            if (k <= f->radius) e->right[i] += weight * row[i] * taps[k];
            add(e->matrix + i * order + first, weight * row[i], row + first, i - first + 1);
        }
    }
}

/* Let the positions of a step be alike. */
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
    double *memory =
        gfi_alloc_zero(order * order + 2 * order + n + 2 * SPAN, sizeof *memory, "fit");
    if (!memory) return GF_ERROR_NO_MEMORY;
    e.matrix = memory;
    e.right = e.matrix + order * order;
    double *row = e.right + order, *mean = row + order, *deviation = mean + n;
    const gf_status status = make_mean(f, mean, deviation);
    if (status == GF_OK) {
        add_taps(f, taps, mean, &e, row);
        add_deviation(deviation, &e);
        solve(&e);
        for (int k = 0; k <= f->reach; k++)
            f->node[f->reach + k] = f->node[f->reach - k] = to_float(e.right[k]);
    }
    gfi_free(memory);
    return status;
}

/* ---- what comes of it ---------------------------------------------------------------------- */

/* The nodes' taps on phi, from the first pixel that they reach on. */
static void make_spread(const gfi_coarse_fit *f, double *spread)
{
    for (int j = 0; j <= 2 * f->reach; j++)
        add(spread + j * f->step, f->node[j], f->phi, SPAN * f->step);
}

/* The first filter's taps for position p, the middle one at taps[smooth_reach]. */
static void position_taps(const gfi_coarse_fit *f, const double *spread, int p, double *taps)
{
    const int n = SPAN * f->step, most = 2 * f->reach * f->step + n;
    for (int i = p; i < n; i += f->step)
        add(taps + f->smooth_reach - i - f->reach * f->step, f->phi[i], spread, most);
}

static void make_rest(gfi_coarse_fit *f)
{
    f->rest_sum = 0;
    for (int i = 0; i < f->rest_n; i++) {
        f->rest[i] = gfi_coarse_met(-f->smooth[f->radius + 1 + i]);
        f->rest_sum += 2 * fabs(f->rest[i]);
    }
}

static double rest_at(const gfi_coarse_fit *f, int k)
{
    return k > f->radius && k <= f->radius + f->rest_n ? f->rest[k - f->radius - 1] : 0;
}

/* sum |taps - what is computed| at a position whose first filter is `own`. */
static double position_error(const gfi_coarse_fit *f, const double *own, const double *taps,
                             int n_side)
{
    double sum = 0;
    for (int k = 0; k <= f->smooth_reach; k++) {
        const double want = (k <= n_side ? taps[k] : 0) - rest_at(f, k);
        sum += fabs(own[f->smooth_reach + k] - want);
        if (k) sum += fabs(own[f->smooth_reach - k] - want);
    }
    return sum;
}

static gf_status judge(gfi_coarse_fit *f, const double *taps, int n_side)
{
    const int n_spread = (2 * f->reach + SPAN) * f->step, n_own = 2 * f->smooth_reach + 1;
    double *spread =
        gfi_alloc_zero((size_t)n_spread + (size_t)n_own * (size_t)halves(f), sizeof *spread, "fit");
    if (!spread) return GF_ERROR_NO_MEMORY;
    double *own = spread + n_spread;
    make_spread(f, spread);
    for (int p = 0; p < halves(f); p++, own += n_own) {
        position_taps(f, spread, p, own);
        const double *middle = own + f->smooth_reach;
        for (int k = 0; k <= f->smooth_reach; k++)
            f->smooth[k] += share(f, p) / 2 * (middle[k] + middle[-k]) / f->step;
    }
    make_rest(f);
    own = spread + n_spread;
    f->error = 0;
    for (int p = 0; p < halves(f); p++, own += n_own)
        f->error = fmax(f->error, position_error(f, own, taps, n_side));
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

static gf_status fill(gfi_coarse_fit *f, const double *taps, int n_side, double rest, int digits)
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
    make_phi(f, digits);
    GFI_TRY(make_nodes(f, taps));
    return judge(f, taps, n_side);
}

gf_status gfi_coarse_fit_create(const double *taps, int n, int step, double rest, int digits,
                                gfi_coarse_fit **out)
{
    *out = NULL;
    gfi_coarse_fit *f = gfi_alloc_zero(1, sizeof *f, "fit");
    if (!f) return GF_ERROR_NO_MEMORY;
    f->step = step;
    f->sigma = gfi_coarse_sigma(taps, n);
    gf_status status = fill(f, taps + n / 2, n / 2, rest, digits);
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
