/* Separable windows of u8 images on tensor cores: kernels/tensor.cu. */
#include "filters/window_cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "filters/kimage.h"
#include "kernels/tensor.variants.h"

enum { LEAST_SM = 80, GROUP = 16, LEAD_STEP = 8 };

/* How a window is laid over groups of sixteen results. */
typedef struct tensor_shape {
    int lead;  /* columns from a tile's first one to the first result */
    int n;     /* products of sixteen that a result needs; at least 2 */
    bool fast; /* the u8 kernel */
} tensor_shape;

typedef struct tensor_state {
    const gfi_kernel *kernel;
    gfi_launch_config config;
    tensor_shape shape;
    void *weights;       /* device memory */
    gf_tensor_args args; /* complete but for the images */
} tensor_state;

/* ---- shape --------------------------------------------------------------------------------- */

static int round_up(int a, int step) { return (a + step - 1) / step * step; }

/* The u8 kernel counts in 16 bits, and adds the offset to rounded results. */
static bool fits_fast(const gfi_request *request)
{
    enum { MOST_RESULT = 32000 };
    const gfi_window *w = request->window;
    return request->out.pixel == GF_PIXEL_U8 && w->combine == GFI_COMBINE_SUM &&
           request->n_fused == 0 && w->offset == rint(w->offset) &&
           255 * w->abs_sum + fabs(w->offset) <= MOST_RESULT;
}

static tensor_shape shape_of(const gfi_request *request)
{
    const gfi_window *w = request->window;
    tensor_shape shape = { .lead = round_up(w->ax, LEAD_STEP), .fast = fits_fast(request) };
    const int across = GROUP + shape.lead - w->ax + w->kw - 1, down = GROUP + w->kh - 1;
    shape.n = round_up(across > down ? across : down, GROUP) / GROUP;
    if (shape.n < 2) shape.n = 2;
    return shape;
}

/* ---- weights ------------------------------------------------------------------------------- */

/* binary16, rounded half to even; |v| is below its largest. */
static unsigned half_bits(double v, double *value)
{
    const double size = fabs(v);
    const int exponent = size > 0x1p-14 ? ilogb(size) : -14;
    const double steps = nearbyint(ldexp(size, 10 - exponent));
    *value = copysign(ldexp(steps, exponent - 10), v);
    return (signbit(v) ? 0x8000u : 0u) | ((unsigned)(exponent + 14) * 1024u + (unsigned)steps);
}

/* One axis of the window as a band: entry (result, place) is tap place - result - shift. */
typedef struct band {
    const double *taps;
    int n_taps, shift;
    int exponent; /* taps are taken times two to this */
} band;

static double band_entry(const band *b, int result, int place)
{
    const int i = place - result - b->shift;
    return i >= 0 && i < b->n_taps ? ldexp(b->taps[i], b->exponent) : 0;
}

/* Two neighbouring entries of a fragment: high parts into *high, what they miss into *low. */
static void put_pair(double first, double second, uint32_t *high, uint32_t *low)
{
    double a, b, unused;
    *high = half_bits(first, &a);
    *high |= half_bits(second, &b) << 16;
    *low = half_bits(first - a, &unused);
    *low |= half_bits(second - b, &unused) << 16;
}

enum { LANES = 32, WORDS = 4 };

/* The band as the first operand, a row a result: words 0 and 1 are rows g and g + 8, 2 and 3 eight
 * places on. */
static void fill_down(const band *b, int k, uint32_t (*to)[LANES][WORDS])
{
    for (int lane = 0; lane < LANES; lane++)
        for (int word = 0; word < WORDS; word++) {
            const int result = lane / 4 + word % 2 * 8;
            const int place = GROUP * k + lane % 4 * 2 + word / 2 * 8;
            put_pair(band_entry(b, result, place), band_entry(b, result, place + 1),
                     &to[0][lane][word], &to[1][lane][word]);
        }
}

/* The band as the second operand, a column a result: words 0 and 1 make the even columns, 2 and 3
 * the odd ones. The first pass leaves a lane columns 4t and 4t + 2, then 4t + 1 and 4t + 3. */
static void fill_along(const band *b, int k, uint32_t (*to)[LANES][WORDS])
{
    for (int lane = 0; lane < LANES; lane++)
        for (int word = 0; word < WORDS; word++) {
            const int result = lane / 4 * 2 + word / 2;
            const int place = GROUP * k + lane % 4 * 4 + word % 2;
            put_pair(band_entry(b, result, place), band_entry(b, result, place + 2),
                     &to[0][lane][word], &to[1][lane][word]);
        }
}

/* The exponent that brings sum |taps| into [2^(bits-1), 2^bits). */
static int scaling(const double *taps, int n, int bits)
{
    double sum = 0;
    int exponent = 0;
    for (int i = 0; i < n; i++) sum += fabs(taps[i]);
    if (sum > 0) frexp(sum, &exponent);
    return sum > 0 ? bits - exponent : 0;
}

/* Sums of 255 times the taps must not reach binary16's largest, 65504. The u8 kernel takes pixels
 * times 2^-24. */
static void make_bands(const gfi_window *w, const tensor_shape *shape, band *down, band *along)
{
    const gfi_term *term = &w->term[0];
    *down = (band){ .taps = term->col,
                    .n_taps = w->kh,
                    .exponent = scaling(term->col, w->kh, shape->fast ? 15 : 8) };
    *along = (band){ .taps = term->row,
                     .n_taps = w->kw,
                     .shift = shape->lead - w->ax,
                     .exponent = scaling(term->row, w->kw, 8) };
}

/* The factor from the kernel's sums to the window's, as a power of two. */
static int factor_exponent(const band *down, const band *along, bool fast)
{
    return (fast ? 24 : 0) - down->exponent - along->exponent;
}

static gf_status upload_weights(const gfi_request *request, const band *down, const band *along,
                                int n, void **out)
{
    const size_t bytes = (size_t)GF_TENSOR_WEIGHT_BYTES(n);
    uint32_t(*host)[LANES][WORDS] = gfi_alloc_zero(bytes, 1, "weights");
    if (!host) return GF_ERROR_NO_MEMORY;
    for (int k = 0; k < n; k++) {
        fill_down(down, k, &host[2 * k]);
        fill_along(along, k, &host[2 * (n + k)]);
    }
    gf_status status = gfi_device_alloc(request->queue, bytes, out);
    if (status == GF_OK) status = gfi_upload(request->queue, *out, host, bytes);
    gfi_free(host);
    return status;
}

/* ---- choice -------------------------------------------------------------------------------- */

static bool anchored_inside(const gfi_window *w)
{
    return w->ax >= 0 && w->ax < w->kw && w->ay >= 0 && w->ay < w->kh;
}

static bool whole_byte(double v) { return v >= 0 && v <= 255 && v == rint(v); }

/* Powers of two that floats hold with room to spare. */
static bool taps_in_range(const gfi_window *w, const tensor_shape *shape)
{
    enum { MOST = 60 };
    band down, along;
    if (!isfinite(w->abs_sum)) return false;
    make_bands(w, shape, &down, &along);
    return abs(down.exponent) <= MOST && abs(along.exponent) <= MOST;
}

static int64_t n_blocks(const gfi_request *request)
{
    const int64_t x = (request->out.width + GF_TENSOR_WIDTH - 1) / GF_TENSOR_WIDTH;
    return x * ((request->out.height + GF_TENSOR_HEIGHT - 1) / GF_TENSOR_HEIGHT);
}

static bool window_fits(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_direct || w->force_fft)
        return gfi_window_unusable(why, "another method is asked for");
    if (w->n_terms == 0) return gfi_window_unusable(why, "the window is not separable");
    if (w->n_terms > 1) return gfi_window_unusable(why, "%d terms, only 1 serves", w->n_terms);
    if (w->combine == GFI_COMBINE_MAGNITUDE)
        return gfi_window_unusable(why, "a magnitude is not made here");
    if (w->combine == GFI_COMBINE_UNSHARP && !anchored_inside(w))
        return gfi_window_unusable(why, "the anchor %d,%d is outside the window", w->ax, w->ay);
    const tensor_shape shape = shape_of(request);
    if (shape.n > GF_TENSOR_MOST)
        return gfi_window_unusable(why, "a window of %dx%d is too long", w->kw, w->kh);
    if (!taps_in_range(w, &shape))
        return gfi_window_unusable(why, "the taps are too large or too small for binary16");
    return true;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (request->in.pixel != GF_PIXEL_U8)
        return gfi_window_unusable(why, "pixels are %s, only u8 serve",
                                   gf_pixel_name(request->in.pixel));
    if (request->facts && request->facts->loaded_sm < LEAST_SM)
        return gfi_window_unusable(why, "the code loaded is for sm_%d, sm_%d is needed",
                                   request->facts->loaded_sm, LEAST_SM);
    if (w->border == GF_BORDER_CONSTANT && !whole_byte(w->border_value))
        return gfi_window_unusable(why, "border value %g is not a whole number from 0 to 255",
                                   w->border_value);
    if (!window_fits(request, why) || !gfi_window_countable(request, why)) return false;
    if (n_blocks(request) > INT32_MAX)
        return gfi_window_unusable(why, "the image is too large for one launch");
    const size_t shared = (size_t)GF_TENSOR_SHARED_BYTES(shape_of(request).n);
    if (shared > gfi_window_chip(request).shared_bytes_block)
        return gfi_window_unusable(why, "a tile takes %zu bytes of shared memory", shared);
    return true;
}

/* Time of a block on a multiprocessor to itself. 2026-11-30, H200, 8192^2, u8 to u8: 0.092 0.113
 * 0.145 0.184 0.232 ms; the exact kernel with unsharp: 0.133 – 0.220 0.323 0.357 ms. */
static double block_ns(const tensor_shape *shape)
{
    static const double fast[GF_TENSOR_MOST + 1] = { 0, 0, 2965, 3640, 4670, 5930, 7480 };
    static const double exact[GF_TENSOR_MOST + 1] = { 0, 0, 4290, 5600, 7090, 10400, 11500 };
    return (shape->fast ? fast : exact)[shape->n];
}

/* Few blocks, alone on their multiprocessors, wait for their own loads: 1024^2 takes 0.017 ms. */
static double cost_ns(const gfi_request *request)
{
    static const double LAUNCH_NS = 5e3, BYTES_NS = 4.1e3 / 132, LEAST_BLOCKS = 4;
    const tensor_shape shape = shape_of(request);
    const gfi_chip chip = gfi_window_chip(request);
    const double blocks = (double)n_blocks(request) / chip.multiprocessors;
    const double work_ns = block_ns(&shape) * (blocks > LEAST_BLOCKS ? blocks : LEAST_BLOCKS);
    const double memory_ns = gfi_window_bytes(request) / (chip.multiprocessors * BYTES_NS);
    return LAUNCH_NS + (work_ns > memory_ns ? work_ns : memory_ns);
}

/* ---- prepare and run ----------------------------------------------------------------------- */

static gfi_launch_config configure(const gfi_request *request, int n)
{
    return (gfi_launch_config){ .grid = { (unsigned)n_blocks(request), 1, 1 },
                                .block = { GF_TENSOR_THREADS, 1, 1 },
                                .shared_bytes = (size_t)GF_TENSOR_SHARED_BYTES(n) };
}

static void fill_args(const gfi_request *request, const band *down, const band *along,
                      const tensor_shape *shape, gf_tensor_args *args)
{
    static const double ROUNDS = 0x1.8p23; /* after it a float has no fraction */
    const gfi_window *w = request->window;
    double factor = ldexp(1, factor_exponent(down, along, shape->fast));
    if (shape->fast) factor *= w->scale; /* else gf_kcombine has it */
    *args = (gf_tensor_args){ .combine = gfi_window_combine(request),
                              .lead = shape->lead,
                              .ay = w->ay,
                              .border = (int)w->border,
                              .tiles_x = (request->out.width - 1) / GF_TENSOR_WIDTH + 1,
                              .start = (float)(ROUNDS + w->offset),
                              .factor = (float)factor };
    if (w->border == GF_BORDER_CONSTANT) args->border_byte = (int)w->border_value;
}

static void destroy(const gfi_request *request, void *state)
{
    tensor_state *s = state;
    if (s->weights) gfi_device_free(request->queue, s->weights);
    gfi_free(s);
}

static gf_status prepare_state(const gfi_request *request, tensor_state *s)
{
    char name[32];
    band down, along;
    s->shape = shape_of(request);
    s->config = configure(request, s->shape.n);
    snprintf(name, sizeof name, "gf_tensor_%s%d", s->shape.fast ? "u8_" : "", s->shape.n);
    GFI_TRY(gfi_kernel_find(gfi_queue_device(request->queue), name, &s->kernel));
    make_bands(request->window, &s->shape, &down, &along);
    fill_args(request, &down, &along, &s->shape, &s->args);
    GFI_TRY(upload_weights(request, &down, &along, s->shape.n, &s->weights));
    s->args.weights = s->weights;
    return GF_OK;
}

static gf_status prepare(const gfi_request *request, void **state)
{
    *state = NULL;
    tensor_state *s = gfi_alloc_zero(1, sizeof *s, "cuda-tensor");
    if (!s) return GF_ERROR_NO_MEMORY;
    const gf_status status = prepare_state(request, s);
    if (status == GF_OK)
        *state = s;
    else
        destroy(request, s);
    return status;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    tensor_state *s = state;
    s->args.src = gfi_kimage_src(request, src);
    s->args.dst = gfi_kimage_dst(request, dst);
    const gfi_launch launch = GFI_WINDOW_LAUNCH(request, s->config, s->args);
    return gfi_kernel_launch(request->queue, s->kernel, &launch);
}

static size_t memory_bytes(const void *state)
{
    return (size_t)GF_TENSOR_WEIGHT_BYTES(((const tensor_state *)state)->shape.n);
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const tensor_state *s = state;
    snprintf(out, n_bytes, "%d+%d products a result, %s, %zu KB shared", s->shape.n, s->shape.n,
             s->shape.fast ? "u8" : "exact pixels", (s->config.shared_bytes + 1023) / 1024);
}

const gf_impl gfi_window_cuda_tensor = { .name = "cuda-tensor",
                                         .backend = GF_BACKEND_CUDA,
                                         .batches = true,
                                         .fuses = true,
                                         .usable = usable,
                                         .cost_ns = cost_ns,
                                         .prepare = prepare,
                                         .run = run,
                                         .destroy = destroy,
                                         .memory_bytes = memory_bytes,
                                         .describe = describe };
