/* A window along one axis as a filter on a coarse grid and a small rest: what kernels/coarse.cu
 * computes with, and how far that is from the window. */
#ifndef GFI_COARSE_FIT_H
#define GFI_COARSE_FIT_H

#include <stdbool.h>

#include "core/status.h"

/* Along an axis, with n = step * GF_COARSE_SPAN:
 *   sums[J]   = sum_i phi[i] src[J step + i], i < n
 *   nodes[J]  = sum_k node[reach + k] sums[J + k], |k| <= reach
 *   smooth[x] = sum_m phi[x - J step] nodes[J] over the nodes whose pixels x is one of
 * and the window is that and sum_k rest[k - radius - 1] (src[x + k] + src[x - k]), where k goes
 * from radius + 1 to radius + rest_n. Weights are rounded to float. */
typedef struct gfi_coarse_fit {
    int step, reach, radius, rest_n;
    int smooth_reach; /* of `smooth` */
    double *phi, *node, *rest;
    double unit;     /* phi is made of whole numbers of it; 0: of floats */
    double *smooth;  /* the first filter's taps, mean of all positions; from 0 on */
    double sigma;    /* standard deviation of the window */
    double rest_sum; /* sum |rest|, both sides */
    double error;    /* sum |taps - what is computed|, at the worst position */
} gfi_coarse_fit;

/* A tap as tensor cores take it: eleven bits, rounded. What it meets is cut to as many; taps larger
 * by GFI_COARSE_CUT leave half of that on either side. So the last one is the tap for such, and
 * before it what it stands for. */
#define GFI_COARSE_CUT 0x1p-11
float gfi_coarse_tf32(double tap);
double gfi_coarse_met(double tap);
float gfi_coarse_part(double tap);

/* Standard deviation of n symmetric taps about their middle; 0 when they are not such taps. */
double gfi_coarse_sigma(const double *taps, int n);

/* Fit n taps, n odd, with nodes `step` pixels apart and a rest as long as `rest`
 * standard deviations. phi gets `digits` digits of eight bits with sign, or for 0 those that floats
 * have. The error may be anything. */
gf_status gfi_coarse_fit_create(const double *taps, int n, int step, double rest, int digits,
                                gfi_coarse_fit **out);
void gfi_coarse_fit_destroy(gfi_coarse_fit **fit);

#endif
