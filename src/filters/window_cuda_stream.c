/* Small square windows on CUDA, without shared memory: kernels/stream.cu. */
#include "filters/window_cuda.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "filters/kimage.h"
#include "kernels/stream.variants.h"

typedef struct stream_state {
    const gfi_stream_shape *shape;
    const gfi_kernel *kernel;
    gfi_launch_config config;
    gf_stream_args args; /* complete but for the images and what follows from their addresses */
} stream_state;

static const gfi_stream_shape *shape_of(const gfi_request *request, int terms, int form)
{
    return gfi_launch_stream_shape(request->window->kw, terms, form,
                                   (int)gf_pixel_bytes(request->in.pixel));
}

/* Separable terms that the kernel for a window takes, 0 for all taps; -1: there is none. */
static int kernel_terms(const gfi_request *request)
{
    const gfi_window *w = request->window;
    if (w->kw != w->kh) return -1;
    if (w->n_terms > 0 && !w->force_direct && shape_of(request, w->n_terms, GF_STREAM_ANY))
        return w->n_terms;
    return w->full && !w->force_separable && shape_of(request, 0, GF_STREAM_ANY) ? 0 : -1;
}

/* ---- taps as the kernel takes them ---------------------------------------------------------- */

static double largest(const double *taps, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) most = fmax(most, fabs(taps[i]));
    return most;
}

/* What all taps are whole multiples of, of at most MOST_WHOLE; 0 when there is no such number. */
static double unit_of(const double *taps, int n)
{
    static const double MOST_WHOLE = 127, CLOSE = 1e-12;
    const double most = largest(taps, n);
    double unit = 0;
    for (int i = 0; i < n; i++) { /* Euclid's */
        double a = fabs(taps[i]);
        while (a > most / (2 * MOST_WHOLE)) {
            const double rest = unit > 0 ? fabs(remainder(unit, a)) : 0;
            unit = a;
            a = rest;
        }
        if (a > CLOSE * most) return 0;
    }
    return unit > 0 && most / unit < MOST_WHOLE + 0.5 ? unit : 0;
}

/* Whole taps: of all rows as `unit` times them, or of terms' rows with a bias that makes their sums
 * positive. Columns' taps times `factor` are the kernel's; they are whole too where there is a
 * bias. */
typedef struct whole_taps {
    double unit[GFI_MAX_TERMS], bias[GFI_MAX_TERMS], factor;
} whole_taps;

static const double WHITE = 255;

/* Sum of the sizes of n taps in units. */
static double sum_in(double unit, const double *taps, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(round(taps[i] / unit));
    return sum;
}

static bool whole_full(const gfi_window *w, whole_taps *out)
{
    const int n = w->kw * w->kh;
    out->unit[0] = unit_of(w->full, n);
    return out->unit[0] > 0 && WHITE * sum_in(out->unit[0], w->full, n) < 0x1p22;
}

static bool whole_terms(const gfi_window *w, int terms, whole_taps *out)
{
    const int n = w->kw;
    double col_unit[GFI_MAX_TERMS];
    bool biased = false;
    for (int t = 0; t < terms; t++) {
        const double unit = out->unit[t] = unit_of(w->term[t].row, n);
        if (unit == 0) return false;
        for (int i = 0; i < n; i++)
            out->bias[t] -= WHITE * fmin(round(w->term[t].row[i] / unit), 0);
        biased = biased || out->bias[t] > 0;
    }
    out->factor = 1;
    if (!biased) return true;
    for (int t = 0; t < terms; t++) { /* to take the bias off is to be exact */
        const double unit = out->unit[t];
        col_unit[t] = unit_of(w->term[t].col, n);
        if (col_unit[t] == 0) return false;
        if (t == 0) out->factor = 1 / (unit * col_unit[t]);
        if (!(fabs(out->factor * unit * col_unit[t] - 1) < 1e-12)) return false;
        if (WHITE * sum_in(unit, w->term[t].row, n) * sum_in(col_unit[t], w->term[t].col, n) >=
            0x1p22)
            return false;
    }
    return true;
}

/* Whether taps are whole numbers for a kernel of so many terms, and pixels and border bytes. */
static bool find_whole(const gfi_request *request, int terms, whole_taps *out)
{
    const gfi_window *w = request->window;
    const double value = w->border_value;
    *out = (whole_taps){ .factor = 1 };
    if (request->in.pixel != GF_PIXEL_U8) return false;
    if (w->border == GF_BORDER_CONSTANT && !(value >= 0 && value <= WHITE && value == floor(value)))
        return false;
    return terms == 0 ? whole_full(w, out) : whole_terms(w, terms, out);
}

/* Whether the rows of a full window above the middle are those below. */
static bool is_mirrored(const gfi_window *w, int terms)
{
    const size_t n = (size_t)w->kw;
    if (terms != 0) return false;
    for (size_t j = 0; j < n / 2; j++)
        for (size_t i = 0; i < n; i++)
            if ((float)w->full[j * n + i] != (float)w->full[(n - 1 - j) * n + i]) return false;
    return true;
}

/* The taps of a gradient's pair of terms, (-1 0 1) by (1 middle 1) and that turned, over factor. */
typedef struct gradient_taps {
    double middle, factor;
} gradient_taps;

static bool is_difference(const double *taps)
{
    return taps[0] == -taps[2] && taps[1] == 0 && taps[2] != 0;
}

static bool is_smooth(const double *taps) { return taps[0] == taps[2] && taps[0] != 0; }

static bool near(double a, double b) { return fabs(a - b) <= 1e-12 * fabs(a); }

static bool find_gradient(const gfi_request *request, int terms, gradient_taps *out)
{
    static const double MOST_MIDDLE = 1024; /* more is no gradient's, and might overflow */
    const gfi_window *w = request->window;
    if (terms != 2 || w->kw != 3 || w->combine != GFI_COMBINE_MAGNITUDE) return false;
    const gfi_term *a = &w->term[0], *b = &w->term[1];
    if (is_smooth(a->row)) a = &w->term[1], b = &w->term[0];
    if (!is_difference(a->row) || !is_smooth(a->col)) return false;
    if (!is_smooth(b->row) || !is_difference(b->col)) return false;
    out->middle = a->col[1] / a->col[0];
    out->factor = fabs(a->row[2] * a->col[0]);
    return fabs(out->middle) < MOST_MIDDLE && near(out->middle, b->row[1] / b->row[0]) &&
           near(out->factor, fabs(b->row[0] * b->col[2]));
}

/* What was found out about taps. */
typedef struct known_taps {
    whole_taps whole;
    gradient_taps gradient;
} known_taps;

/* Whether a gradient's sums are exact in binary16, whose whole numbers go up to 2048. */
static bool fits_halves(const gfi_request *request, const gradient_taps *g)
{
    char why[GFI_WHY_BYTES];
    return g->middle >= 0 && g->middle == rint(g->middle) && WHITE * (2 + g->middle) <= 2048 &&
           request->in.pixel == GF_PIXEL_U8 && gfi_window_has_tensor(request, why) &&
           gfi_window_border_whole(request, why);
}

/* The kernel for a window that has one, and what is known of its taps. */
static const gfi_stream_shape *choose(const gfi_request *request, known_taps *known)
{
    const int terms = kernel_terms(request);
    const gfi_stream_shape *shape = NULL;
    if (find_gradient(request, terms, &known->gradient))
        shape = shape_of(request, terms,
                         fits_halves(request, &known->gradient) ? GF_STREAM_HALVES
                                                                : GF_STREAM_GRADIENT);
    if (!shape && find_whole(request, terms, &known->whole))
        shape = shape_of(request, terms, GF_STREAM_WHOLE);
    if (!shape && is_mirrored(request->window, terms))
        shape = shape_of(request, terms, GF_STREAM_MIRRORED);
    return shape ? shape : shape_of(request, terms, GF_STREAM_ANY);
}

/* Put n taps times factor * 2^lift into the arguments. */
static void lift_taps(const double *taps, int n, double factor, int lift, float *out)
{
    for (int i = 0; i < n; i++) out[i] = (float)ldexp(taps[i] * factor, lift);
}

/* Taps so large that products with pixels of 2^unit are of a usual size. */
static int lift_for(double most, int unit)
{
    enum { TOP = 120 };
    return unit && most > 0 ? TOP - ilogb(most) : 0;
}

static void fill_float_taps(const gfi_window *w, int terms, int unit, gf_stream_args *args)
{
    const int n = w->kw;
    double most = terms == 0 ? largest(w->full, n * n) : 0;
    for (int t = 0; t < terms; t++) most = fmax(most, largest(w->term[t].row, n));
    const int lift = lift_for(most, unit);
    if (terms == 0) lift_taps(w->full, n * n, 1, lift, args->full);
    for (int t = 0; t < terms; t++) {
        lift_taps(w->term[t].row, n, 1, lift, args->row[t]);
        lift_taps(w->term[t].col, n, 1, 0, args->col[t]);
    }
    args->combine.scale = (float)ldexp(w->scale, -unit - lift);
    args->border_value = (float)ldexp(w->border_value, unit);
}

/* Put a row of taps in units into the bytes of words. */
static void pack_taps(const double *row, int n, double unit, unsigned *words)
{
    for (int i = 0; i < n; i++)
        words[i / 4] |= ((unsigned)(int)round(row[i] / unit) & 255u) << 8 * (i % 4);
}

static void fill_whole_terms(const gfi_window *w, int terms, const whole_taps *whole,
                             gf_stream_args *args)
{
    const int n = w->kw;
    double most = 0;
    for (int t = 0; t < terms; t++)
        most = fmax(most, largest(w->term[t].col, n) * whole->unit[t] * whole->factor);
    const int lift = lift_for(most, GF_STREAM_UNIT_WHOLE);
    for (int t = 0; t < terms; t++) {
        double sum = 0;
        pack_taps(w->term[t].row, n, whole->unit[t], args->bytes[t]);
        lift_taps(w->term[t].col, n, whole->unit[t] * whole->factor, lift, args->col[t]);
        for (int i = 0; i < n; i++) sum += (double)args->col[t][i];
        args->bias[t] = (unsigned)whole->bias[t];
        args->start[t] = (float)ldexp(-whole->bias[t] * sum, GF_STREAM_UNIT_WHOLE);
    }
    args->combine.scale = (float)(ldexp(w->scale, -GF_STREAM_UNIT_WHOLE - lift) / whole->factor);
}

static void fill_whole_full(const gfi_window *w, const whole_taps *whole, gf_stream_args *args)
{
    for (int j = 0; j < w->kh; j++)
        pack_taps(w->full + j * w->kw, w->kw, whole->unit[0], args->bytes[j]);
    args->combine.scale = (float)(w->scale * whole->unit[0]);
}

static void fill_byte_border(const gfi_window *w, gf_stream_args *args)
{
    static const unsigned LEFT[] = { [GF_BORDER_CONSTANT] = 0x4444,
                                     [GF_BORDER_REPLICATE] = 0x0000,
                                     [GF_BORDER_REFLECT] = 0x0123,
                                     [GF_BORDER_MIRROR] = 0x1233,
                                     [GF_BORDER_WRAP] = 0 };
    static const unsigned RIGHT[] = { [GF_BORDER_CONSTANT] = 0x4444,
                                      [GF_BORDER_REPLICATE] = 0x3333,
                                      [GF_BORDER_REFLECT] = 0x0123,
                                      [GF_BORDER_MIRROR] = 0x3012,
                                      [GF_BORDER_WRAP] = 0 };
    args->fold_left = LEFT[w->border];
    args->fold_right = RIGHT[w->border];
    args->border_byte = w->border == GF_BORDER_CONSTANT ? (unsigned)w->border_value : 0;
}

static void fill_gradient(const gfi_window *w, const gradient_taps *gradient, int unit,
                          gf_stream_args *args)
{
    static const unsigned HALVES[] = { 0, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600 };
    args->middle = (float)gradient->middle;
    if (unit) args->middle_halves = HALVES[(int)gradient->middle] * 0x10001u;
    args->combine.scale = (float)ldexp(w->scale * gradient->factor, -unit);
    args->border_value = (float)w->border_value;
}

/* Complete the arguments' numbers. */
static void fill_taps(const gfi_request *request, const gfi_stream_shape *shape,
                      const known_taps *known, gf_stream_args *args)
{
    const gfi_window *w = request->window;
    if (shape->form == GF_STREAM_WHOLE || shape->form == GF_STREAM_HALVES)
        fill_byte_border(w, args);
    if (shape->form == GF_STREAM_HALVES)
        fill_gradient(w, &known->gradient, GF_STREAM_UNIT_HALVES, args);
    else if (shape->form == GF_STREAM_GRADIENT)
        fill_gradient(w, &known->gradient, 0, args);
    else if (shape->form != GF_STREAM_WHOLE)
        fill_float_taps(w, shape->terms, GF_STREAM_UNIT(shape->pixel_bytes), args);
    else if (shape->terms == 0)
        fill_whole_full(w, &known->whole, args);
    else
        fill_whole_terms(w, shape->terms, &known->whole, args);
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* Whether the kernel's pixels can be the border's value, where the result would tell. */
static bool border_representable(const gfi_request *request)
{
    const gfi_window *w = request->window;
    const int unit = GF_STREAM_UNIT((int)gf_pixel_bytes(request->in.pixel));
    const bool rounded = request->out.pixel != GF_PIXEL_F32 && request->n_fused == 0;
    if (unit == 0 || w->border != GF_BORDER_CONSTANT || rounded) return true;
    const double steps = ldexp(w->border_value, unit + 149);
    return steps == rint(steps) || fabs(steps) > 0x1p24;
}

static bool usable(const gfi_request *request, char why[GFI_WHY_BYTES])
{
    const gfi_window *w = request->window;
    if (w->force_fft) return gfi_window_unusable(why, "another method is asked for");
    if (w->combine == GFI_COMBINE_UNSHARP)
        return gfi_window_unusable(why, "serves sums and magnitudes only");
    if (kernel_terms(request) < 0)
        return gfi_window_unusable(why, "no kernel is made for a window of %dx%d with %d terms",
                                   w->kw, w->kh, w->n_terms);
    if (!gfi_window_countable(request, why)) return false;
    if (!border_representable(request))
        return gfi_window_unusable(
            why, "border value %g falls between the steps pixels are made of", w->border_value);
    gf_stream_args args = { .rows = 0 };
    known_taps known;
    const gfi_stream_shape *shape = choose(request, &known);
    fill_taps(request, shape, &known, &args);
    if (!isfinite(args.combine.scale))
        return gfi_window_unusable(why, "taps and scale are too large");
    return true;
}

/* What a pixel costs, in taps: the bytes' instructions run at half the speed of others. */
static double taps_of(const gfi_request *request, const gfi_stream_shape *shape)
{
    enum { ROUNDED_ROOT = 4, ROOT = 10, GRADIENT = 8 };
    const double k = shape->k, terms = shape->terms, bytes_row = 2 * ceil(k / 4);
    const bool is_whole = shape->form == GF_STREAM_WHOLE;
    double taps = terms * (k + (is_whole ? bytes_row : k));
    if (terms == 0)
        taps = is_whole                            ? k * bytes_row
               : shape->form == GF_STREAM_MIRRORED ? k * (k + 3) / 2 - 1
                                                   : k * k;
    if (shape->form == GF_STREAM_GRADIENT || shape->form == GF_STREAM_HALVES) taps = GRADIENT;
    if (request->window->combine != GFI_COMBINE_MAGNITUDE) return taps;
    return taps + (request->out.pixel == GF_PIXEL_F32 ? ROOT : ROUNDED_ROOT);
}

static double cost_ns(const gfi_request *request)
{
    const gfi_chip chip = gfi_window_chip(request);
    known_taps known;
    const gfi_stream_shape *shape = choose(request, &known);
    gfi_launch_config config;
    gfi_launch_stream(&chip, shape, request->in.width, request->out.height, &config);
    return gfi_launch_ns(&chip, &config, gfi_tune_find(GFI_TUNE_STREAM, shape->k),
                         taps_of(request, shape), gfi_window_bytes(request));
}

/* Whether squares of sums of integer pixels neither overflow nor vanish: taps are neither huge nor
 * tiny. */
static bool is_tame(const gfi_request *request)
{
    const gfi_window *w = request->window;
    static const double LEAST = 0x1p-10, MOST = 0x1p10;
    if (fabs(w->border_value) > 65535) return false;
    for (int t = 0; t < w->n_terms; t++)
        for (int i = 0; i < w->kw; i++) {
            const double row = fabs(w->term[t].row[i]), col = fabs(w->term[t].col[i]);
            if ((row != 0 && row < LEAST) || row > MOST) return false;
            if ((col != 0 && col < LEAST) || col > MOST) return false;
        }
    return true;
}

static bool is_plain(const gfi_request *request)
{
    if (request->in.pixel != request->out.pixel || request->n_fused > 0) return false;
    return request->window->combine != GFI_COMBINE_MAGNITUDE || request->in.pixel == GF_PIXEL_F32 ||
           is_tame(request);
}

/* Whether pixels can be the border's value, where there is one; what a word of them is. */
static bool border_as_pixels(const gfi_request *request, unsigned *word)
{
    const gfi_window *w = request->window;
    char why[GFI_WHY_BYTES];
    const float value = (float)w->border_value;
    *word = 0;
    if (w->border != GF_BORDER_CONSTANT) return true;
    if (!gfi_window_border_whole(request, why)) return false;
    if (request->in.pixel == GF_PIXEL_F32)
        memcpy(word, &value, sizeof value);
    else
        *word = (unsigned)value * (request->in.pixel == GF_PIXEL_U8 ? 0x01010101u : 0x10001u);
    return true;
}

/* Whether an image is made by tiles: they are not outside of it but by a fold. */
static bool by_tiles(const gfi_request *request, const gfi_stream_shape *shape, int rows,
                     unsigned *word)
{
    const int height = request->in.height;
    const bool fits = height == request->out.height && height >= rows && height >= shape->k;
    const bool plain_or_float = is_plain(request) || request->in.pixel == GF_PIXEL_F32;
    return GF_STREAM_TILES(shape->k) && fits && plain_or_float && border_as_pixels(request, word);
}

/* Complete what does not depend on the images. */
static void fill_args(const gfi_request *request, const gfi_stream_shape *shape,
                      const known_taps *known, const gfi_launch_config *c, gf_stream_args *args)
{
    const gfi_window *w = request->window;
    *args = (gf_stream_args){ .combine = gfi_window_combine(request),
                              .ax = w->ax,
                              .ay = w->ay,
                              .border = (int)w->border,
                              .rows = c->rows,
                              .plain = is_plain(request) };
    args->tiles = by_tiles(request, shape, c->rows, &args->border_word);
    if (args->tiles && request->in.pixel == GF_PIXEL_U8) fill_byte_border(w, args);
    fill_taps(request, shape, known, args);
}

static gf_status prepare(const gfi_request *request, void *state)
{
    const gfi_chip chip = gfi_window_chip(request);
    known_taps known;
    stream_state *s = state;
    s->shape = choose(request, &known);
    gfi_launch_stream(&chip, s->shape, request->in.width, request->out.height, &s->config);
    fill_args(request, s->shape, &known, &s->config, &s->args);
    return gfi_kernel_find(gfi_queue_device(request->queue), s->shape->kernel, &s->kernel);
}

/* Whether every group of `columns` pixels from the row's begin is aligned to its size. */
static bool groups_aligned(const gf_kimage *image, int columns)
{
    const size_t bytes = (size_t)columns * gf_pixel_bytes((gf_pixel)image->pixel);
    const size_t largest = bytes < 16 ? bytes : 16; /* that a thread reads or writes at once */
    return (uintptr_t)image->data % largest == 0 && (size_t)image->pitch % largest == 0;
}

/* Whether the threads, of n columns, can share all columns out and fold the border themselves. */
static bool can_fold(const gf_stream_args *a, int k, int n)
{
    enum { LONGEST = 7 }; /* its margins fold into a thread's own columns */
    return k <= LONGEST && a->border != GF_BORDER_WRAP && a->ax == k / 2 &&
           a->src.width == a->dst.width && a->src.width % n == 0;
}

/* Share the output's columns out. Thread t has the n of the source from t * n on; those whose
 * pixels, margin included, lie in the source and in the result are made by such threads. */
static void share_columns(gf_stream_args *a, int k, int n)
{
    const int margin = GF_STREAM_MARGIN(k, (int)gf_pixel_bytes((gf_pixel)a->src.pixel));
    const int shift = a->ax - k / 2; /* of the output's columns against the source's */
    a->first = a->last = a->folds = 0;
    a->left = a->right = a->dst.width;
    if (shift % n != 0 || !groups_aligned(&a->src, n) || !groups_aligned(&a->dst, n)) return;
    a->folds = can_fold(a, k, n);
    const int from = a->folds ? 0 : margin > -shift ? margin : -shift;
    const int in_src = a->folds ? a->src.width : a->src.width - margin;
    const int in_dst = a->dst.width - shift;
    const int to = in_src < in_dst ? in_src : in_dst;
    if (to / n <= (from + n - 1) / n) return;
    a->first = (from + n - 1) / n;
    a->last = to / n;
    a->left = a->first * n + shift;
    a->right = a->last * n + shift;
}

/* Rows of blocks that make so many columns one by one; neither they nor their threads may be too
 * many to count. */
static int share_edges(gf_stream_args *a, int64_t columns, int64_t threads)
{
    static const int64_t MOST_ITEMS = 1 << 30, MOST_LAYERS = 16384;
    int64_t items, layers;
    for (;; a->edge_rows *= 2) {
        items = columns * ((a->dst.height + a->edge_rows - 1) / a->edge_rows);
        layers = (items + threads - 1) / threads;
        if ((items <= MOST_ITEMS && layers <= MOST_LAYERS) || a->edge_rows >= a->dst.height) break;
    }
    return (int)layers;
}

/* Complete arguments and launch for the images at hand, but for the grid's y axis; return how many
 * rows of blocks there are besides those that make columns one by one. */
static int place(stream_state *s)
{
    gf_stream_args *a = &s->args;
    unsigned *grid = s->config.grid;
    const int k = s->shape->k, threads = s->shape->threads, layers = s->shape->layers;
    share_columns(a, k, s->shape->columns);
    const bool any = a->first < a->last;
    if (any) grid[0] = (unsigned)((a->last + threads - 1) / threads);
    a->edge_rows = GF_STREAM_EDGE_ROWS(k);
    a->edge_layers =
        share_edges(a, a->left + a->dst.width - a->right, (int64_t)threads * layers * grid[0]);
    a->lead = s->config.lag;
    return any ? gfi_divide_up((int64_t)a->dst.height + a->lead, (int64_t)layers * a->rows) : 0;
}

static gf_status run(const gfi_request *request, void *state, const gf_view *src,
                     const gf_view *dst)
{
    enum { MOST_ROWS = 32768 }; /* of blocks in a grid, besides edge_layers */
    stream_state *s = state;
    gf_stream_args *a = &s->args;
    a->src = gfi_kimage_src(request, src);
    a->dst = gfi_kimage_dst(request, dst);
    for (int left = place(s), now; left > 0 || a->edge_layers > 0; left -= now) {
        now = left < MOST_ROWS ? left : MOST_ROWS;
        s->config.grid[1] = (unsigned)(a->edge_layers + now);
        GFI_TRY(gfi_window_launch(request, s->kernel, &s->config, a, sizeof *a));
        a->lead -= now * s->shape->layers * a->rows;
        a->edge_layers = 0;
    }
    return GF_OK;
}

static void describe(const void *state, char *out, size_t n_bytes)
{
    const stream_state *s = state;
    snprintf(out, n_bytes, "%s of %d rows in registers, %u threads a block",
             GF_STREAM_TILES(s->shape->k) ? "tiles" : "strips", s->config.rows,
             s->config.block[0] * s->config.block[1]);
}

const gf_impl gfi_window_cuda_stream = { .name = "cuda-stream",
                                         .backend = GF_BACKEND_CUDA,
                                         .batches = true,
                                         .fuses = true,
                                         .usable = usable,
                                         .cost_ns = cost_ns,
                                         .state_bytes = sizeof(stream_state),
                                         .prepare = prepare,
                                         .run = run,
                                         .describe = describe };
