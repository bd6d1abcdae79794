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

double gfi_tune_launch_ns(const gfi_chip *chip, const gfi_tune_row *row, double blocks,
                          double instructions, double bytes)
{
    /* An H200: 33.5e12 thread instructions/s on 132 multiprocessors, of which a kernel reaches
     * about three quarters, and 4.1e12 bytes/s. Other chips count as so many of its parts. */
    static const double SM_INSTRUCTIONS_NS = 33.5e3 / 132 * 0.75, SM_BYTES_NS = 4.1e3 / 132;
    static const double LAUNCH_NS = 5e3;
    const double sms = chip->multiprocessors;
    const double full = sms * row->blocks;
    /* A chip that is not full is as slow as a full one. */
    const double issue_ns =
        (blocks > full ? blocks : full) * instructions / (sms * SM_INSTRUCTIONS_NS);
    const double memory_ns = bytes / (sms * SM_BYTES_NS);
    return LAUNCH_NS + (issue_ns > memory_ns ? issue_ns : memory_ns);
}
