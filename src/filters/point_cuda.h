/* Point filters as kernels take them. */
#ifndef GFI_POINT_CUDA_H
#define GFI_POINT_CUDA_H

#include "filters/point.h"
#include "kernels/gf_kargs.h"

/* Put a filter at the end of the list. */
void gfi_kpoints_add(gf_kpoints *list, const gfi_point *point);

/* The filters fused to a request. */
void gfi_kpoints_add_fused(gf_kpoints *list, const gfi_request *request);

#endif
