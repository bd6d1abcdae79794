/* Numbers as pairs of binary16, for tensor cores. */
#ifndef GFI_HALVES_H
#define GFI_HALVES_H

#include <stdint.h>

/* Two neighbours of an operand: their values rounded to binary16, half to even, into the halves of
 * *high, the first one lowest, and what that missed into those of *low. Values are below 65504. */
void gfi_halves_put(double first, double second, uint32_t *high, uint32_t *low);

/* sum |taps|, and the exponent of the power of two that brings it into [2^(bits-1), 2^bits); 0 when
 * all taps are. */
double gfi_halves_abs_sum(const double *taps, int n);
int gfi_halves_exponent(const double *taps, int n, int bits);

#endif
