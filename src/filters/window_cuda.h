/* What the CUDA implementations of windows share. */
#ifndef GFI_WINDOW_CUDA_H
#define GFI_WINDOW_CUDA_H

#include "core/launch.h"
#include "filters/kimage.h"
#include "filters/window.h"
#include "kernels/gf_kargs.h"

/* The device a request is for, or a middling one while none is open; and what of it an image of a
 * batch has: its share of the multiprocessors. */
gfi_chip gfi_window_whole_chip(const gfi_request *request);
gfi_chip gfi_window_chip(const gfi_request *request);

/* Bytes that one run reads and writes. */
double gfi_window_bytes(const gfi_request *request);

/* Whether every coordinate that the window touches can be counted by a kernel; else the reason. */
bool gfi_window_countable(const gfi_request *request, char why[GFI_WHY_BYTES]);

/* Whether the loaded code has the tensor cores' instructions, and those for warpgroups; whether a
 * constant border can be pixels of an integer image; whether the window is one separable term, and
 * none of MAGNITUDE; whether its anchor is one of its places. */
bool gfi_window_has_tensor(const gfi_request *request, char why[GFI_WHY_BYTES]);
bool gfi_window_has_warpgroup(const gfi_request *request, char why[GFI_WHY_BYTES]);
bool gfi_window_border_whole(const gfi_request *request, char why[GFI_WHY_BYTES]);
bool gfi_window_one_term(const gfi_window *window, char why[GFI_WHY_BYTES]);
bool gfi_window_anchor_inside(const gfi_window *window, char why[GFI_WHY_BYTES]);

/* Of a separable term: whether no tap is negative; whether sums may lie exactly halfway between two
 * levels, where they are to become even; whether no sum of pixels from 0 to white is to be clamped. */
bool gfi_window_none_negative(const gfi_window *window);
bool gfi_window_may_tie(const gfi_window *window);
bool gfi_window_is_narrow(const gfi_window *window, double white);

/* Write a reason and return false. */
bool gfi_window_unusable(char why[GFI_WHY_BYTES], const char *fmt, ...) GFI_PRINTF(2, 3);

/* What prepare returns when the launch that usable() found is not to be had. */
gf_status gfi_window_no_launch(const gfi_window *window, const char *kernel);

/* The end of a kernel: combining, and the point filters fused to the request. */
gf_kcombine gfi_window_combine(const gfi_request *request);

/* Taps as the kernels take them. */
void gfi_window_taps(const double *taps, size_t n, float *out);

/* Put bytes, or n taps, into new device memory of the queue's; NULL on failure. */
gf_status gfi_window_upload_bytes(gfi_queue *queue, const void *bytes, size_t n, void **out);
gf_status gfi_window_upload(gfi_queue *queue, const double *taps, size_t n, float **out);

/* What the FFTs need. The window's tap, whether terms or all taps describe it; all taps as floats
 * and, when there are two terms, those of each behind them, with the sum of the window's |taps|; a
 * size below which pixels keep every value of the transforms of so many points finite; whether the
 * image, or what surrounds it, may hold pixels of that size or NaN. */
double gfi_window_tap(const gfi_window *window, int i, int j);
gf_status gfi_window_planes(const gfi_window *window, float **out, size_t *n, double *abs_sum);
float gfi_window_wild_limit(double points, double abs_sum);
bool gfi_window_may_be_wild(const gfi_request *request, float limit);

/* Launch a kernel for all images of the request's batch; the implementations that take none leave
 * the z axis to the configuration. */
gf_status gfi_window_launch(const gfi_request *request, const gfi_kernel *kernel,
                            const gfi_launch_config *config, const void *args, size_t args_bytes);

#endif
