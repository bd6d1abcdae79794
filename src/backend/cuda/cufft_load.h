/* cuFFT, opened on first use: it is a library of several hundred megabytes. */
#ifndef GFI_CUDA_CUFFT_LOAD_H
#define GFI_CUDA_CUFFT_LOAD_H

#include <cufft.h>

#include "backend/cuda/cufft_table.h"
#include "core/status.h"

typedef struct gfi_cufft {
#define X(name, args) cufftResult(*name) args;
    GFI_CUFFT_TABLE(X)
#undef X
} gfi_cufft;

/* The functions, from whichever cuFFT is found; UNSUPPORTED says where it was looked for. */
gf_status gfi_cufft_get(const gfi_cufft **out);

#endif
