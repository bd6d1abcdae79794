/* What the CUDA implementations of windows share. */
#ifndef GFI_WINDOW_CUDA_H
#define GFI_WINDOW_CUDA_H

#include "core/launch.h"
#include "filters/kimage.h"
#include "filters/window.h"
#include "kernels/gf_kargs.h"

/* The device a request is for, or a middling one while none is open; of a batch each image has its
 * share of the multiprocessors. */
gfi_chip gfi_window_chip(const gfi_request *request);

/* Bytes that one run reads and writes. */
double gfi_window_bytes(const gfi_request *request);

/* Whether every coordinate that the window touches can be counted by a kernel; else the reason. */
bool gfi_window_countable(const gfi_request *request, char why[GFI_WHY_BYTES]);

/* Write a reason and return false. */
bool gfi_window_unusable(char why[GFI_WHY_BYTES], const char *fmt, ...) GFI_PRINTF(2, 3);

/* What prepare returns when the launch that usable() found is not to be had. */
gf_status gfi_window_no_launch(const gfi_window *window, const char *kernel);

/* The end of a kernel: combining, and the point filters fused to the request. */
gf_kcombine gfi_window_combine(const gfi_request *request);

/* Taps as the kernels take them. */
void gfi_window_taps(const double *taps, size_t n, float *out);

/* Put n taps into device memory of the queue's. */
gf_status gfi_window_upload(gfi_queue *queue, const double *taps, size_t n, float **out);

/* What the FFTs need. The window's tap, whether terms or all taps describe it; all taps as floats
 * and, when there are two terms, those of each behind them, with the sum of the window's |taps|; a
 * size below which pixels keep every value of the transforms of so many points finite; whether the
 * image, or what surrounds it, may hold pixels of that size or NaN. */
double gfi_window_tap(const gfi_window *window, int i, int j);
gf_status gfi_window_planes(const gfi_window *window, float **out, size_t *n, double *abs_sum);
float gfi_window_wild_limit(double points, double abs_sum);
bool gfi_window_may_be_wild(const gfi_request *request, float limit);

/* A gfi_launch from a configuration and an argument struct, for all images of the request's batch;
 * the implementations that take none leave the z axis to the configuration. */
#define GFI_WINDOW_LAUNCH(request, config, arguments)                                              \
    {                                                                                              \
        .grid = { (config).grid[0], (config).grid[1],                                              \
                  (config).grid[2] * gfi_batch_images(request) },                                  \
        .block = { (config).block[0], (config).block[1], (config).block[2] },                      \
        .shared_bytes = (config).shared_bytes, .args = &(arguments),                               \
        .args_bytes = sizeof(arguments)                                                            \
    }

#endif
