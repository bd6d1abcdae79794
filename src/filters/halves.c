#include "filters/halves.h"

#include <math.h>

/* The bits of binary16 nearest to v, and its value; |v| is below its largest. */
static unsigned half_bits(double v, double *value)
{
    const double size = fabs(v);
    const int exponent = size > 0x1p-14 ? ilogb(size) : -14;
    const double steps = nearbyint(ldexp(size, 10 - exponent));
    *value = copysign(ldexp(steps, exponent - 10), v);
    return (signbit(v) ? 0x8000u : 0u) | ((unsigned)(exponent + 14) * 1024u + (unsigned)steps);
}

void gfi_halves_put(double first, double second, uint32_t *high, uint32_t *low)
{
    double a, b, unused;
    *high = half_bits(first, &a);
    *high |= half_bits(second, &b) << 16;
    *low = half_bits(first - a, &unused);
    *low |= half_bits(second - b, &unused) << 16;
}

double gfi_halves_abs_sum(const double *taps, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(taps[i]);
    return sum;
}

int gfi_halves_exponent(const double *taps, int n, int bits)
{
    const double sum = gfi_halves_abs_sum(taps, n);
    int exponent = 0;
    if (sum > 0) frexp(sum, &exponent);
    return sum > 0 ? bits - exponent : 0;
}
