#include "filters/filter_def.h"

const char *const gfi_border_choices[] = { "constant", "replicate", "reflect",    "mirror", "wrap",
                                           "nearest",  "symmetric", "reflect101", NULL };
const int gfi_border_values[] = { GF_BORDER_CONSTANT, GF_BORDER_REPLICATE, GF_BORDER_REFLECT,
                                  GF_BORDER_MIRROR,   GF_BORDER_WRAP,      GF_BORDER_REPLICATE,
                                  GF_BORDER_REFLECT,  GF_BORDER_MIRROR };
