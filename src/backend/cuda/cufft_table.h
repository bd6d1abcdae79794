/* The functions of cuFFT that are used: name and arguments; all return cufftResult. */
#define GFI_CUFFT_TABLE(X)                                                                         \
    X(cufftCreate, (cufftHandle *))                                                                \
    X(cufftSetAutoAllocation, (cufftHandle, int))                                                  \
    X(cufftMakePlanMany,                                                                           \
      (cufftHandle, int, int *, int *, int, int, int *, int, int, cufftType, int, size_t *))       \
    X(cufftSetWorkArea, (cufftHandle, void *))                                                     \
    X(cufftSetStream, (cufftHandle, cudaStream_t))                                                 \
    X(cufftExecR2C, (cufftHandle, cufftReal *, cufftComplex *))                                    \
    X(cufftExecC2R, (cufftHandle, cufftComplex *, cufftReal *))                                    \
    X(cufftDestroy, (cufftHandle))
