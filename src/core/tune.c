#include "core/tune.h"

static const gfi_tune_row table[] = {
#define GF_TUNE(kernel, taps, blocks, base, per_tap) { kernel, taps, blocks, base, per_tap },
#include "core/tune_table.h"
#undef GF_TUNE
};

const gfi_tune_row *gfi_tune_find(gfi_tune_kernel kernel, int taps)
{
    const gfi_tune_row *row = table, *last = table;
    for (; row < table + sizeof table / sizeof *table; row++) {
        if (row->kernel != kernel) continue;
        last = row;
        if (taps <= row->taps) break;
    }
    return last;
}

gfi_chip gfi_tune_average_chip(void)
{
    return (gfi_chip){ .multiprocessors = 46,
                       .shared_bytes_block = 99 << 10,
                       .shared_bytes_sm = 100 << 10 };
}
