/* What launch configuration and cost models know about each kernel, as rows of
 *
 *   GF_TUNE(kernel, taps, blocks, base, per_tap)
 *
 * The first row of a kernel whose `taps` (K of a K x K window, kw + kh for GFI_TUNE_SEP) is not
 * exceeded applies. `blocks` of 128 threads run on a multiprocessor at a time; a pixel costs `base`
 * + `per_tap` instructions for each of its taps. Blocks follow from the registers that sm_90 code
 * takes, instructions are counted in that code; a row of measured figures goes above the generic
 * ones. */
#define GF_ANY_TAPS 2147483647

/* 64, 72, 121, 128, 158, 168, 168 registers; 8192^2 u8 on an H200: K = 3, 5, 7, 15 0.199, 0.274,
 * 0.524, 1.195 ms */
GF_TUNE(GFI_TUNE_DIRECT, 3, 8, 70, 1.2)
GF_TUNE(GFI_TUNE_DIRECT, 5, 7, 80, 1.2)
GF_TUNE(GFI_TUNE_DIRECT, 9, 4, 135, 1.25)
GF_TUNE(GFI_TUNE_DIRECT, 15, 3, 145, 1.25)
/* 86 registers */
GF_TUNE(GFI_TUNE_DIRECT_N, GF_ANY_TAPS, 5, 24, 1.6)
/* 80, 96, 128, 116 registers; shared memory too allows but 6 blocks */
/* 8192^2 u8 on an H200: K = 3, 7, 9, 13, 17, 21, 31 0.090, 0.112, 0.122, 0.166, 0.188, 0.236,
 * 0.315 ms */
GF_TUNE(GFI_TUNE_SEP_K, 7, 6, 28, 1.1)
GF_TUNE(GFI_TUNE_SEP_K, 11, 5, 27, 1.1)
GF_TUNE(GFI_TUNE_SEP_K, 17, 4, 33, 1.05)
GF_TUNE(GFI_TUNE_SEP_K, 31, 4, 24, 1.5)
/* 91 registers; 8192^2 u8 on an H200: K = 41, 61 0.842, 1.130 ms */
GF_TUNE(GFI_TUNE_SEP, GF_ANY_TAPS, 5, 130, 2.4)
/* 8192^2 on an H200, 2026-11-30: all taps, K = 3, 5, 7 u8 0.047, 0.084, 0.150 ms, 9 and 15 f32 0.270,
 * 0.725 ms; whole ones u8 0.042, 0.064, 0.086 ms; blocks: of each shape in stream.variants.h */
GF_TUNE(GFI_TUNE_STREAM, 3, 8, 7, 1)
GF_TUNE(GFI_TUNE_STREAM, 5, 5, 5, 0.95)
GF_TUNE(GFI_TUNE_STREAM, 7, 4, 4, 0.98)
GF_TUNE(GFI_TUNE_STREAM, 15, 4, 16, 1)
/* 38 and 56 registers */
GF_TUNE(GFI_TUNE_ANY, GF_ANY_TAPS, 8, 40, 9)

#undef GF_ANY_TAPS
