/* The table of what is known about the kernels. */
#ifndef GFI_CORE_TUNE_H
#define GFI_CORE_TUNE_H

#include <stddef.h>

/* The facts about a GPU that the table's users need. */
typedef struct gfi_chip {
    int multiprocessors;
    size_t shared_bytes_block; /* the most a block may have */
    size_t shared_bytes_sm;
} gfi_chip;

typedef enum gfi_tune_kernel {
    GFI_TUNE_DIRECT,   /* gf_direct_K */
    GFI_TUNE_DIRECT_N, /* gf_direct_n */
    GFI_TUNE_SEP_K,    /* gf_sep_K_TERMS */
    GFI_TUNE_SEP,
    GFI_TUNE_STREAM, /* gf_stream_PIXEL_K_TERMS */
    GFI_TUNE_ANY
} gfi_tune_kernel;

typedef struct gfi_tune_row {
    gfi_tune_kernel kernel;
    int taps, blocks;
    double base, per_tap;
} gfi_tune_row;

/* Return the first row that fits; there is always one. */
const gfi_tune_row *gfi_tune_find(gfi_tune_kernel kernel, int taps);

/* Return a middling GPU, for estimates before a device is open. */
gfi_chip gfi_tune_average_chip(void);

#endif
