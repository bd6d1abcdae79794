/* A tuning file: what implementations took on one machine, beside what their cost models expected.
 *
 *   gpufilter-tune 1
 *   version 0.1.0                    of the library whose cost models expected the times
 *   gpu 90 132                       compute capability and multiprocessors, where there is a GPU
 *   cuda-sep u8 310000 254000        implementation, its input's pixels, expected ns, measured ns
 *
 * Lines that begin with # are comments. */
#ifndef GFI_CORE_TUNE_FILE_H
#define GFI_CORE_TUNE_FILE_H

#include <stdbool.h>

#include <gpufilter/common.h>

#include "core/status.h"

typedef struct gfi_tuning gfi_tuning;

/* Read a file. Returns OK, IO, FORMAT (naming the line), NO_MEMORY. */
gf_status gfi_tuning_read(const char *path, gfi_tuning **out);
void gfi_tuning_destroy(gfi_tuning **tuning);

/* The library version that the file names; "" when it names none. */
const char *gfi_tuning_version(const gfi_tuning *tuning);

/* Whether the file was written with a GPU like this one. */
bool gfi_tuning_fits(const gfi_tuning *tuning, int sm, int multiprocessors);

/* Correct an expected time by what was measured of this implementation near it: the mean of the
 * rows' ratios, each by its nearness. Without a row, expected_ns itself. */
double gfi_tuning_correct(const gfi_tuning *tuning, const char *impl, gf_pixel pixel,
                          double expected_ns);

#endif
