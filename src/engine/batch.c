/* Which images of a batch can share a launch: those that lie at equal distances, and whose order
 * does not matter. */
#include <limits.h>

#include "core/image.h"
#include "engine/plan.h"

enum { UNIT = 16 };

bool gfi_plan_takes_batches(const gf_plan *plan)
{
    if (plan->backend != GF_BACKEND_CUDA) return false;
    for (int i = 0; i < plan->n_stages; i = plan->stages[i].next)
        if (!plan->stages[i].maker->impl->batches) return false;
    return true;
}

static intptr_t distance(const gf_view *a, const gf_view *b)
{
    return (intptr_t)b->data - (intptr_t)a->data;
}

/* Images that follow the first one at the distance of the second, all in CUDA memory. */
static size_t equally_spaced(const gf_view *views, size_t n)
{
    size_t count = 1;
    if (n < 2 || views[0].memory != GF_MEMORY_CUDA) return 1;
    const intptr_t step = distance(&views[0], &views[1]);
    if (step % UNIT != 0 || step / UNIT > INT_MAX || step / UNIT < -INT_MAX) return 1;
    while (count < n && views[count].memory == GF_MEMORY_CUDA &&
           views[count].pitch_bytes == views[0].pitch_bytes &&
           distance(&views[count - 1], &views[count]) == step)
        count++;
    return count;
}

/* First byte of n equally spaced images, and the one after the last. */
static void hull(const gf_view *views, size_t n, intptr_t *begin, intptr_t *end)
{
    const gf_view *last = &views[n - 1];
    const intptr_t a = (intptr_t)views[0].data, b = (intptr_t)last->data;
    *begin = a < b ? a : b;
    *end = (a < b ? b : a) + (intptr_t)(last->pitch_bytes * (size_t)last->height);
}

/* Whether images may be filtered in any order: no result lies on a source or on another result. */
static bool independent(const gf_view *src, const gf_view *dst, size_t n)
{
    intptr_t src_begin, src_end, dst_begin, dst_end;
    hull(src, n, &src_begin, &src_end);
    hull(dst, n, &dst_begin, &dst_end);
    if (src_begin < dst_end && dst_begin < src_end) return false;
    for (size_t i = 1; i < n; i++)
        if (gfi_views_overlap(&dst[0], &dst[i])) return false;
    return true;
}

size_t gfi_batch_group(const gf_plan *plan, size_t n, const gf_view *src, const gf_view *dst,
                       gfi_batch *batch)
{
    *batch = (gfi_batch){ .n = 1 };
    if (n < 2 || !gfi_plan_takes_batches(plan)) return 1;
    const size_t most =
        plan->stages[0].next < plan->n_stages ? (size_t)plan->scratch_images : GFI_MOST_BATCH;
    if (n > most) n = most;
    n = equally_spaced(src, n);
    n = equally_spaced(dst, n);
    if (n < 2 || !independent(src, dst, n)) return 1;
    *batch = (gfi_batch){ .n = (int)n,
                          .src_next = (int)(distance(&src[0], &src[1]) / UNIT),
                          .dst_next = (int)(distance(&dst[0], &dst[1]) / UNIT) };
    return n;
}
