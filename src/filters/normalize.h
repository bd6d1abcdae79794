/* Normalise: dst = (x - lo) / (hi - lo) * (out_high - out_low) + out_low, where lo and hi are order
 * statistics of the whole image: the value at rank p/100 * (n - 1) of the n pixels that are not
 * NaN, linearly interpolated between its neighbours (numpy.percentile's default). p = 0 and 100 are
 * minimum and maximum. An image without range (hi == lo, or no pixel that is a number) gives
 * out_low everywhere; NaN pixels stay NaN; results outside out_low … out_high are clamped to it. */
#ifndef GFI_NORMALIZE_H
#define GFI_NORMALIZE_H

#include "filters/filter_def.h"

typedef struct gfi_normalize {
    double low_percent, high_percent; /* 0 <= low < high <= 100 */
    double out_low, out_high;         /* NaN: 0 and the white level */
    double white;                     /* NaN: that of the chain */
    int border;
    double border_value;
} gfi_normalize;

extern const gf_impl gfi_normalize_cuda; /* "cuda-normalize" */

#endif
