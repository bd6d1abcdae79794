/* Which implementation runs a stage. */
#ifndef GFI_ENGINE_SELECT_H
#define GFI_ENGINE_SELECT_H

#include "core/tune_file.h"
#include "filters/filter_def.h"

enum { GFI_MAX_RIVALS = 24 };

/* An implementation as it was judged for a request. */
typedef struct gfi_rival {
    const gf_impl *impl;
    bool usable;
    double cost_ns;
    char why[GFI_WHY_BYTES];
} gfi_rival;

/* Judge all implementations of the request's filter. Costs are corrected by what was measured here,
 * unless tuning is NULL. no_cuda: why those of CUDA cannot be had, which are then not asked; or NULL.
 * Returns their number. */
int gfi_judge(const gfi_request *request, const gfi_tuning *tuning, const char *no_cuda,
              gfi_rival rivals[GFI_MAX_RIVALS]);

/* Judge one of them. */
void gfi_judge_one(const gfi_request *request, const gfi_tuning *tuning, const gf_impl *impl,
                   gfi_rival *rival);

/* The cheapest usable rival, the first on a tie; the reference is taken only when forced, by name.
 * forced NULL: free choice. NULL with the error recorded when there is none. */
const gfi_rival *gfi_choose(const gfi_rival *rivals, int n, gf_backend backend, const char *forced);

#endif
