/* Launch configuration of the window kernels: grid, block, shared memory and the sizes the kernels
 * are told, all from here; a kernel recomputes nothing. */
#ifndef GFI_CORE_LAUNCH_H
#define GFI_CORE_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tune.h"

typedef struct gfi_launch_config {
    unsigned grid[3], block[3];
    size_t shared_bytes;
    int strip, rows;         /* output columns and rows of a block */
    int tile_groups;         /* groups of four floats in a row of the tile */
    uint32_t groups_inverse; /* 2^32 / tile_groups + 1 */
    int tile_pitch;          /* floats */
    int ring_pitch, lag;     /* separable: floats; kh - 1 rounded up to a multiple of 8 */
    int resident;            /* blocks that a multiprocessor runs at a time */
    double steps;            /* pixels a block goes over, those made twice included */
} gfi_launch_config;

/* Largest axis of an image, window included, whose coordinates the kernels can count. */
enum { GFI_LAUNCH_AXIS = 1 << 30 };

/* Whether there is a kernel gf_direct_K compiled for K x K. */
bool gfi_launch_has_direct(int kw, int kh);

/* Whether there is a kernel gf_sep_K_TERMS compiled for K x K and so many terms. */
bool gfi_launch_has_sep(int kw, int kh, int n_terms);

/* Configure gf_direct_K, gf_direct_n, gf_sep_K_TERMS, gf_sep for a window of kw x kh and an output
 * of width x height. False when the tile does not fit the chip's shared memory. */
bool gfi_launch_direct(const gfi_chip *chip, int k, int width, int height, gfi_launch_config *out);
bool gfi_launch_direct_n(const gfi_chip *chip, int kw, int kh, int width, int height,
                         gfi_launch_config *out);
bool gfi_launch_sep_k(const gfi_chip *chip, int k, int n_terms, int width, int height,
                      gfi_launch_config *out);
bool gfi_launch_sep(const gfi_chip *chip, int kw, int kh, int n_terms, int width, int height,
                    gfi_launch_config *out);

/* A row of kernels/stream.variants.h. */
typedef struct gfi_stream_shape {
    const char *kernel;
    int pixel_bytes, form, k, terms, columns, ahead, threads, layers, blocks, height;
} gfi_stream_shape;

/* The streaming kernel for a window of k x k, as so many terms or 0 for all taps, whose taps are of
 * a GF_STREAM_ form; NULL when there is none. What of its launch depends on the images' addresses,
 * the grid too, is completed by the caller; lag: rows that the first blocks lack. */
const gfi_stream_shape *gfi_launch_stream_shape(int k, int n_terms, int form, int pixel_bytes);
void gfi_launch_stream(const gfi_chip *chip, const gfi_stream_shape *shape, int width, int height,
                       gfi_launch_config *out);

/* One thread a pixel; blocks take turns over tall images. */
void gfi_launch_any(int width, int height, gfi_launch_config *out);

/* a / b rounded up; and so to a multiple of step. */
static inline int gfi_divide_up(int64_t a, int64_t b) { return (int)((a + b - 1) / b); }
static inline int gfi_round_up(int64_t a, int step) { return gfi_divide_up(a, step) * step; }

/* Expected time of a launch that works for work_ns and moves `bytes` of device memory meanwhile. */
double gfi_launch_bound_ns(const gfi_chip *chip, double work_ns, double bytes);

/* Expected time of a launch: the row's instructions for `taps` taps at each of the block's pixels,
 * and `bytes` of device memory in all. */
double gfi_launch_ns(const gfi_chip *chip, const gfi_launch_config *config, const gfi_tune_row *row,
                     double taps, double bytes);

#endif
