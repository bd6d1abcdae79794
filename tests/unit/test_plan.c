/* Plans through the public API: right answers of small inputs that break filter programs, on every
 * implementation that this machine can run; sizes, views, errors, clones, batches. */
#include "suite.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>

#include <gpufilter/gpufilter.h>

#include "engine/plan.h" /* the busy flag */
#include "kernels/gf_border.h"

/* ---- running chains on numbers ----------------------------------------------------------------
 */

enum { MOST = 64 };

static const char *const borders[] = { "constant", "replicate", "reflect", "mirror", "wrap" };

static gf_context *open_context(gf_backend backend, int threads)
{
    gf_context_params params = { .struct_size = sizeof params,
                                 .backend = backend,
                                 .threads = threads };
    gf_context *context;
    expect_ok(gf_context_create(&params, &context));
    return context;
}

static void put(const gf_view *view, int x, int y, double value)
{
    char *row = (char *)view->data + (size_t)y * view->pitch_bytes;
    if (view->pixel == GF_PIXEL_U8) ((uint8_t *)row)[x] = (uint8_t)value;
    if (view->pixel == GF_PIXEL_U16) ((uint16_t *)(void *)row)[x] = (uint16_t)value;
    if (view->pixel == GF_PIXEL_F32) ((float *)(void *)row)[x] = (float)value;
}

static double get(const gf_view *view, int x, int y)
{
    const char *row = (const char *)view->data + (size_t)y * view->pitch_bytes;
    if (view->pixel == GF_PIXEL_U8) return ((const uint8_t *)row)[x];
    if (view->pixel == GF_PIXEL_U16) return ((const uint16_t *)(const void *)row)[x];
    return ((const float *)(const void *)row)[x];
}

static gf_image *image_of(int width, int height, gf_pixel pixel, double value)
{
    gf_image_desc desc = { width, height, pixel };
    gf_image *image;
    expect_ok(gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image));
    gf_view view = gf_image_view(image);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) put(&view, x, y, value);
    return image;
}

static gf_image *noise_of(int width, int height, gf_pixel pixel)
{
    gf_image *image = image_of(width, height, pixel, 0);
    gf_view view = gf_image_view(image);
    unsigned random = 12345;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            random = random * 1664525u + 1013904223u;
            put(&view, x, y,
                pixel == GF_PIXEL_F32 ? (random >> 8) * 0x1p-24 : (random >> 16) % 256);
        }
    return image;
}

static gf_image *row_of(int n, const double *values, gf_pixel pixel)
{
    gf_image *image = image_of(n, 1, pixel, 0);
    gf_view view = gf_image_view(image);
    for (int x = 0; x < n; x++) put(&view, x, 0, values[x]);
    return image;
}

/* Run a chain with one implementation; NULL when it cannot serve this request here. */
static gf_image *run_impl(gf_context *context, const char *chain, const char *impl,
                          const gf_image *image, gf_pixel out)
{
    gf_view src = gf_image_view(image);
    gf_image_desc in = { src.width, src.height, src.pixel };
    gf_plan_params params = { .struct_size = sizeof params, .impl = impl, .out_pixel = out };
    gf_graph *graph;
    gf_plan *plan;
    expect_ok(gf_graph_parse(chain, &graph));
    gf_status status = gf_plan_create(context, graph, &in, &params, &plan);
    gf_graph_destroy(&graph);
    if (impl && (status == GF_ERROR_UNSUPPORTED || status == GF_ERROR_DEVICE)) return NULL;
    ck_assert_msg(status == GF_OK, "%s, impl %s: %s", chain, impl ? impl : "-", gf_error_message());
    gf_image_desc desc = gf_plan_output(plan);
    gf_image *result = image_of(desc.width, desc.height, desc.pixel, 77);
    gf_view dst = gf_image_view(result);
    expect_ok(gf_plan_run(plan, &src, &dst));
    gf_plan_destroy(&plan);
    return result;
}

/* One for all walks of a process, which keeps it: opening a GPU takes longer than a walk. */
static gf_context *walk_context(void)
{
    static gf_context *context;
    if (!context) context = open_context(GF_BACKEND_AUTO, 0);
    return context;
}

/* Every implementation of the chain's first filter; the caller's body sees `result`. */
typedef struct walk {
    gf_context *context;
    const gf_filter_info *filter;
    const char *chain, *impl;
    size_t next;
    int runs;
    gf_image *result;
} walk;

static walk walk_start(const char *chain)
{
    char name[32];
    size_t n = strcspn(chain, "=:,");
    ck_assert_uint_lt(n, sizeof name);
    memcpy(name, chain, n);
    name[n] = 0;
    walk w = { .context = walk_context(), .chain = chain };
    w.filter = gf_filter_find(name);
    ck_assert_msg(w.filter != NULL, "no filter %s", name);
    return w;
}

static bool walk_next(walk *w, const gf_image *image, gf_pixel out)
{
    gf_backend backend;
    gf_image_destroy(&w->result);
    while ((w->impl = gf_filter_impl(w->filter, w->next++, &backend)))
        if ((w->result = run_impl(w->context, w->chain, w->impl, image, out))) return ++w->runs;
    ck_assert_msg(w->runs > 0, "%s: nothing ran", w->chain);
    return false;
}

static bool is_fft(const char *impl) { return strstr(impl, "fft") != NULL; }

/* A row through every implementation. An FFT is exact to a level of integers, and to 1e-4 of the
 * largest value of f32. */
static void expect_row(const char *chain, gf_pixel in, gf_pixel out, int n, const double *values,
                       int n_right, const double *right)
{
    gf_image *image = row_of(n, values, in);
    double most = 0;
    for (int x = 0; x < n; x++) most = fmax(most, fabs(values[x]));
    for (walk w = walk_start(chain); walk_next(&w, image, out);) {
        gf_view view = gf_image_view(w.result);
        ck_assert_int_eq(view.width, n_right);
        double allowed = !is_fft(w.impl) ? 0 : view.pixel == GF_PIXEL_F32 ? 1e-4 * most : 1;
        for (int x = 0; x < n_right; x++)
            ck_assert_msg(fabs(get(&view, x, 0) - right[x]) <= allowed,
                          "%s, %s to %s, impl %s: pixel %d is %.9g, not %.9g", chain,
                          gf_pixel_name(in), gf_pixel_name(out), w.impl, x, get(&view, x, 0),
                          right[x]);
    }
    gf_image_destroy(&image);
}

/* A filter with one of its representative parameter sets. */
static void case_chain(const gf_filter_info *filter, size_t index, char *chain, size_t n_bytes)
{
    const char *params = gf_filter_case(filter, index);
    snprintf(chain, n_bytes, "%s%s%s", filter->name, *params ? ":" : "", params);
}

/* ---- small inputs with known answers ------------------------------------------------------------
 */

START_TEST(box_sum_at_each_border)
{
    static const double row[] = { 10, 20, 30 };
    static const double right[5][3] = {
        { 60, 60, 60 }, { 160, 180, 200 }, { 200, 180, 160 }, { 170, 180, 190 }, { 180, 180, 180 }
    };
    for (int b = 0; b < 5; b++)
        for (gf_pixel p = GF_PIXEL_U8; p <= GF_PIXEL_F32; p++) {
            char chain[128];
            snprintf(chain, sizeof chain, "correlate=1 1 1 1 1 1 1 1 1:border=%s", borders[b]);
            expect_row(chain, p, p, 3, row, 3, right[b]);
        }
}
END_TEST

START_TEST(single_pixel_stays)
{
    static const char *const chains[] = { "gaussian=0.5",
                                          "gaussian=2",
                                          "gaussian=30",
                                          "box=3",
                                          "box=4",
                                          "box=101",
                                          "correlate=1 2 1;2 4 2;1 2 1:scale=0.0625",
                                          "convolve=.25 .25;.25 .25",
                                          "emboss",
                                          "unsharp" };
    static const double pixel[] = { 123 };
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
        for (int b = 1; b < 5; b++)
            for (gf_pixel p = GF_PIXEL_U8; p <= GF_PIXEL_U16; p++) {
                char chain[128];
                snprintf(chain, sizeof chain, "%s:border=%s", chains[c], borders[b]);
                gf_image *image = row_of(1, pixel, p);
                for (walk w = walk_start(chain); walk_next(&w, image, p);) {
                    gf_view view = gf_image_view(w.result);
                    ck_assert_msg(get(&view, 0, 0) == 123, "%s, impl %s: %g", chain, w.impl,
                                  get(&view, 0, 0));
                }
                gf_image_destroy(&image);
            }
    static const double right[] = { 14 }; /* 123 / 9 = 13.67 */
    expect_row("box:size-x=9:size-y=1:border=constant", GF_PIXEL_U8, GF_PIXEL_U8, 1, pixel, 1,
               right);
}
END_TEST

START_TEST(every_filter_takes_thin_images)
{
    static const int sizes[][2] = { { 1, 1 }, { 1, 17 }, { 17, 1 }, { 1, 2 }, { 2, 1 } };
    for (size_t f = 0; f < gf_filter_count(); f++) {
        const gf_filter_info *info = gf_filter_get(f);
        for (size_t c = 0; gf_filter_case(info, c); c++) {
            char chain[512];
            case_chain(info, c, chain, sizeof chain);
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                gf_image *image = noise_of(sizes[s][0], sizes[s][1], GF_PIXEL_U8);
                for (walk w = walk_start(chain); walk_next(&w, image, GF_PIXEL_NONE);)
                    ck_assert_int_ge(gf_image_view(w.result).width, sizes[s][0]);
                gf_image_destroy(&image);
            }
        }
    }
}
END_TEST

START_TEST(correlate_and_convolve)
{
    static const double row[] = { 0, 0, 1, 0, 0 };
    static const struct {
        const char *chain;
        double right[5];
    } rows[] = { { "correlate=1 2 3:border=constant", { 0, 3, 2, 1, 0 } },
                 { "convolve=1 2 3:border=constant", { 0, 1, 2, 3, 0 } },
                 { "correlate=1 2:border=constant", { 0, 0, 2, 1, 0 } },
                 { "convolve=1 2:border=constant", { 0, 1, 2, 0, 0 } } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_row(rows[i].chain, GF_PIXEL_U8, GF_PIXEL_U8, 5, row, 5, rows[i].right);
        expect_row(rows[i].chain, GF_PIXEL_U16, GF_PIXEL_F32, 5, row, 5, rows[i].right);
        expect_row(rows[i].chain, GF_PIXEL_F32, GF_PIXEL_F32, 5, row, 5, rows[i].right);
    }
}
END_TEST

START_TEST(ties_go_to_even)
{
    static const double pairs[] = { 0, 1, 2, 3, 254, 255 };
    static const double right[] = { 0, 0, 2, 2, 128, 254 }; /* 0, .5, 1.5, 2.5, 128.5, 254.5 */
    for (gf_pixel p = GF_PIXEL_U8; p <= GF_PIXEL_U16; p++) {
        expect_row("correlate=.5 .5:border=replicate", p, p, 6, pairs, 6, right);
        static const double odd[] = { 1, 3, 5, 7, 253, 255 };
        static const double halves[] = { 0, 2, 2, 4, 126, 128 };
        expect_row("scale=0.5", p, p, 6, odd, 6, halves);
    }
    static const double f32[] = { 0.5, 1.5, 2.5, 254.5, 255.5, -0.5 };
    static const double rounded[] = { 0, 2, 2, 254, 255, 0 };
    expect_row("scale=1", GF_PIXEL_F32, GF_PIXEL_U8, 6, f32, 6, rounded);
}
END_TEST

START_TEST(results_saturate)
{
    static const double row[] = { 0, 100, 200, 255 };
    static const double up[] = { 0, 255, 255, 255 }, down[] = { 0, 0, 100, 155 };
    expect_row("scale=3", GF_PIXEL_U8, GF_PIXEL_U8, 4, row, 4, up);
    expect_row("scale=1:-100", GF_PIXEL_U8, GF_PIXEL_U8, 4, row, 4, down);
    static const double odd[] = { -INFINITY, INFINITY, NAN, 1e30, -1e30 };
    static const double u8[] = { 0, 255, 0, 255, 0 }, u16[] = { 0, 65535, 0, 65535, 0 };
    expect_row("scale=1", GF_PIXEL_F32, GF_PIXEL_U8, 5, odd, 5, u8);
    expect_row("scale=1", GF_PIXEL_F32, GF_PIXEL_U16, 5, odd, 5, u16);
}
END_TEST

/* A step of columns through Sobel: never wraps round, whatever the type. */
START_TEST(sobel_of_a_step)
{
    static const double step[2][4] = { { 0, 0, 255, 255 }, { 255, 255, 0, 0 } };
    static const double wrapped[4] = { -1020, 1020, 1020, -1020 };
    static const double constant[4] = { 0, 1020, 1020, -1020 };
    for (int b = 0; b < 5; b++)
        for (int reverse = 0; reverse < 2; reverse++) {
            char chain[64];
            snprintf(chain, sizeof chain, "sobel:direction=x:border=%s", borders[b]);
            gf_image *image = image_of(4, 5, GF_PIXEL_U8, 0);
            gf_view src = gf_image_view(image);
            for (int y = 0; y < 5; y++)
                for (int x = 0; x < 4; x++) put(&src, x, y, step[reverse][x]);
            for (gf_pixel p = GF_PIXEL_U8; p <= GF_PIXEL_F32; p++)
                for (walk w = walk_start(chain); walk_next(&w, image, p);) {
                    gf_view view = gf_image_view(w.result);
                    for (int y = 1; y < 4; y++)
                        for (int x = 0; x < 4; x++) {
                            double right = x == 1 || x == 2 ? 1020 : 0;
                            if (b == GF_BORDER_WRAP) right = wrapped[x];
                            if (b == GF_BORDER_CONSTANT) right = constant[x];
                            if (reverse) right = -right;
                            if (b == GF_BORDER_CONSTANT && reverse)
                                right = x == 0 ? 1020 : x < 3 ? -1020 : 0;
                            if (p != GF_PIXEL_F32)
                                right = fmin(fmax(right, 0), p == GF_PIXEL_U8 ? 255 : 65535);
                            double allowed = !is_fft(w.impl) ? 0 : p == GF_PIXEL_F32 ? 0.1 : 1;
                            ck_assert_msg(fabs(get(&view, x, y) - right) <= allowed,
                                          "%s, impl %s, %s: pixel %d is %g, not %g", chain, w.impl,
                                          gf_pixel_name(p), x, get(&view, x, y), right);
                        }
                }
            gf_image_destroy(&image);
        }
}
END_TEST

START_TEST(sobel_7_of_a_step)
{
    gf_image *upright = image_of(32, 32, GF_PIXEL_U8, 0),
             *diagonal = image_of(32, 32, GF_PIXEL_U8, 0);
    gf_view u = gf_image_view(upright), d = gf_image_view(diagonal);
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++) {
            put(&u, x, y, x >= 16 ? 255 : 0);
            put(&d, x, y, x + y >= 32 ? 255 : 0);
        }
    for (walk w = walk_start("sobel=7"); walk_next(&w, upright, GF_PIXEL_F32);) {
        gf_view view = gf_image_view(w.result);
        ck_assert_double_eq(get(&view, 15, 16), 163200);
        ck_assert_double_eq(get(&view, 16, 16), 163200);
    }
    for (walk w = walk_start("sobel=7"); walk_next(&w, diagonal, GF_PIXEL_F32);) {
        gf_view view = gf_image_view(w.result);
        double most = 0;
        for (int x = 8; x < 24; x++) most = fmax(most, get(&view, x, 16));
        ck_assert_msg(fabs(most - 166608.5) < 0.1, "impl %s: %.9g", w.impl, most);
    }
    gf_image_destroy(&upright);
    gf_image_destroy(&diagonal);
}
END_TEST

START_TEST(constant_images_stay)
{
    static const char *const chains[] = { "gaussian=2:radius=4", "gaussian=250", "box=9",
                                          "box=200" };
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++)
        for (int b = 1; b < 5; b++) {
            char chain[64];
            snprintf(chain, sizeof chain, "%s:border=%s", chains[c], borders[b]);
            gf_image *image = image_of(64, 64, GF_PIXEL_U16, 65535);
            for (walk w = walk_start(chain); walk_next(&w, image, GF_PIXEL_U16);) {
                gf_view view = gf_image_view(w.result);
                for (int i = 0; i < 64 * 64; i++)
                    ck_assert_msg(get(&view, i % 64, i / 64) == 65535, "%s, impl %s: %g at %d,%d",
                                  chain, w.impl, get(&view, i % 64, i / 64), i % 64, i / 64);
            }
            gf_image_destroy(&image);
        }
}
END_TEST

START_TEST(nan_and_infinity_stay_in_the_window)
{
    for (int kind = 0; kind < 2; kind++) {
        double row[7] = { 1, 2, 3, kind ? INFINITY : NAN, 5, 6, 7 };
        gf_image *image = row_of(7, row, GF_PIXEL_F32);
        for (walk w = walk_start("box:size-x=3:size-y=1"); walk_next(&w, image, GF_PIXEL_F32);) {
            gf_view view = gf_image_view(w.result);
            for (int x = 0; x < 7; x++) {
                double got = get(&view, x, 0);
                bool touched = x >= 2 && x <= 4;
                ck_assert_msg(touched ? (kind ? isinf(got) : isnan(got)) != 0 : isfinite(got) != 0,
                              "impl %s: pixel %d is %g", w.impl, x, got);
            }
        }
        gf_image_destroy(&image);
    }
}
END_TEST

START_TEST(nan_in_a_large_image)
{
    enum { SIDE = 1000, X = 503, Y = 411, RADIUS = 15 };
    gf_image *image = noise_of(SIDE, SIDE, GF_PIXEL_F32);
    gf_view src = gf_image_view(image);
    put(&src, X, Y, NAN);
    for (walk w = walk_start("box=31"); walk_next(&w, image, GF_PIXEL_F32);) {
        gf_view view = gf_image_view(w.result);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                bool touched = abs(x - X) <= RADIUS && abs(y - Y) <= RADIUS;
                if (touched != (isnan(get(&view, x, y)) != 0))
                    ck_abort_msg("impl %s: pixel %d,%d is %g", w.impl, x, y, get(&view, x, y));
            }
    }
    gf_image_destroy(&image);
}
END_TEST

/* Windows far wider than the image, against the definition. */
START_TEST(tiny_images_and_wide_windows)
{
    static const int radii[] = { 1, 2, 3, 5, 8, 13, 25, 50 };
    gf_image *image[7][7] = { { NULL } };
    for (int h = 1; h <= 6; h++)
        for (int w = 1; w <= 6; w++) image[h][w] = noise_of(w, h, GF_PIXEL_U8);
    gf_context *context = open_context(GF_BACKEND_AUTO, 1);
    gf_backend backend;
    const char *impl;
    for (size_t k = 0; (impl = gf_filter_impl(gf_filter_find("box"), k, &backend)); k++)
        for (int i = 0; i < 36 * 8 * 5; i++) {
            int w = i % 6 + 1, h = i / 6 % 6 + 1, r = radii[i / 36 % 8], b = i / 288;
            char chain[64];
            snprintf(chain, sizeof chain, "box=%d:border=%s:border-value=7", 2 * r + 1, borders[b]);
            gf_image *result = run_impl(context, chain, impl, image[h][w], GF_PIXEL_F32);
            if (!result) continue;
            gf_view src = gf_image_view(image[h][w]), view = gf_image_view(result);
            double sum = 0;
            for (int y = -r; y <= r; y++)
                for (int x = -r; x <= r; x++) {
                    int sx = gf_border_index(x, w, b), sy = gf_border_index(y, h, b);
                    sum += sx < 0 || sy < 0 ? 7 : get(&src, sx, sy);
                }
            double right = sum / ((2.0 * r + 1) * (2.0 * r + 1)), got = get(&view, 0, 0);
            double allowed = is_fft(impl) ? 0.02 : 255 * 0x1p-20;
            ck_assert_msg(fabs(got - right) <= allowed, "%s, %dx%d, impl %s: %.9g, not %.9g", chain,
                          w, h, impl, got, right);
            gf_image_destroy(&result);
        }
    gf_context_destroy(&context);
    for (int i = 0; i < 49; i++) gf_image_destroy(&image[i / 7][i % 7]);
}
END_TEST

/* ---- chains -----------------------------------------------------------------------------------
 */

START_TEST(chains_round_once)
{
    static const double row[] = { 0, 1, 3, 127, 255 };
    expect_row("scale=0.5,scale=2", GF_PIXEL_U8, GF_PIXEL_U8, 5, row, 5, row);
    expect_row("scale=1:-300,scale=1:300", GF_PIXEL_U8, GF_PIXEL_U8, 5, row, 5, row);
    static const double inverted[] = { 255, 254, 252, 128, 0 };
    expect_row("invert", GF_PIXEL_U8, GF_PIXEL_U8, 5, row, 5, inverted);
    expect_row("scale=1,invert", GF_PIXEL_U8, GF_PIXEL_U8, 5, row, 5,
               inverted); /* white is the input's */
}
END_TEST

START_TEST(chains_equal_single_steps)
{
    gf_context *context = open_context(GF_BACKEND_CPU, 2);
    gf_image *image = noise_of(61, 47, GF_PIXEL_U8);
    gf_image *one = run_impl(context, "gaussian=1.2", NULL, image, GF_PIXEL_F32);
    gf_image *two = run_impl(context, "sobel", NULL, one, GF_PIXEL_F32);
    gf_image *chain = run_impl(context, "gaussian=1.2,sobel", NULL, image, GF_PIXEL_F32);
    gf_view a = gf_image_view(two), b = gf_image_view(chain);
    for (int y = 0; y < 47; y++)
        for (int x = 0; x < 61; x++) ck_assert_double_eq(get(&a, x, y), get(&b, x, y));
    gf_image_destroy(&image);
    gf_image_destroy(&one);
    gf_image_destroy(&two);
    gf_image_destroy(&chain);
    gf_context_destroy(&context);
}
END_TEST

START_TEST(valid_and_full_sizes)
{
    static const double row[] = { 1, 2, 3, 4 };
    static const double valid[] = { 1 + 4 + 9, 2 + 6 + 12 };
    static const double full[] = { 3, 8, 14, 20, 11, 4 };
    expect_row("correlate=1 2 3:mode=valid", GF_PIXEL_U8, GF_PIXEL_U8, 4, row, 2, valid);
    expect_row("correlate=1 2 3:mode=full", GF_PIXEL_U8, GF_PIXEL_F32, 4, row, 6, full);
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_graph *graph;
    gf_plan *plan = (gf_plan *)1;
    gf_image_desc in = { 2, 1, GF_PIXEL_U8 };
    expect_ok(gf_graph_parse("abs,correlate=1 2 3:mode=valid", &graph));
    expect_fail(gf_plan_create(context, graph, &in, NULL, &plan), GF_ERROR_RANGE,
                "stage 2 (correlate)");
    ck_assert_ptr_null(plan);
    gf_graph_destroy(&graph);
    gf_context_destroy(&context);
}
END_TEST

/* ---- views -------------------------------------------------------------------------------------
 */

static gf_plan *plan_for(gf_context *context, const char *chain, int width, int height,
                         gf_pixel pixel)
{
    gf_image_desc in = { width, height, pixel };
    gf_graph *graph;
    gf_plan *plan;
    expect_ok(gf_graph_parse(chain, &graph));
    expect_ok(gf_plan_create(context, graph, &in, NULL, &plan));
    gf_graph_destroy(&graph);
    return plan;
}

static gf_view view_of(void *data, int width, int height, size_t pitch, gf_pixel pixel)
{
    return (gf_view){ data, width, height, pitch, pixel, GF_MEMORY_HOST };
}

START_TEST(overlap_is_refused)
{
    static uint8_t pixels[4096], copy[4096];
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    for (size_t i = 0; i < sizeof pixels; i++) copy[i] = pixels[i] = (uint8_t)(i * 7);
    gf_plan *plan = plan_for(context, "gaussian", 20, 20, GF_PIXEL_U8);
    gf_view src = view_of(pixels, 20, 20, 40, GF_PIXEL_U8), dst = src;
    expect_fail(gf_plan_run(plan, &src, &dst), GF_ERROR_INVALID, "overlap");
    dst.data = pixels + 19 * 40 + 19;
    expect_fail(gf_plan_run(plan, &src, &dst), GF_ERROR_INVALID, "overlap");
    ck_assert_mem_eq(pixels, copy, sizeof pixels);
    dst.data = pixels + 19 * 40 + 20;
    expect_ok(gf_plan_run(plan, &src, &dst));
    gf_plan_destroy(&plan);
    gf_context_destroy(&context);
}
END_TEST

START_TEST(wrong_views_are_refused)
{
    static uint8_t a[4096], b[4096];
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_plan *plan = plan_for(context, "abs", 20, 10, GF_PIXEL_U8);
    gf_view src = view_of(a, 20, 10, 20, GF_PIXEL_U8), dst = view_of(b, 20, 10, 20, GF_PIXEL_U8),
            bad;
    expect_ok(gf_plan_run(plan, &src, &dst));
    bad = dst, bad.width = 19;
    expect_fail(gf_plan_run(plan, &src, &bad), GF_ERROR_INVALID, "dst: 19x10");
    bad = src, bad.height = 11;
    expect_fail(gf_plan_run(plan, &bad, &dst), GF_ERROR_INVALID, "src: 20x11");
    bad = src, bad.pixel = GF_PIXEL_U16, bad.pitch_bytes = 40;
    expect_fail(gf_plan_run(plan, &bad, &dst), GF_ERROR_INVALID, "u16");
    bad = src, bad.data = NULL;
    expect_fail(gf_plan_run(plan, &bad, &dst), GF_ERROR_INVALID, "src: data is NULL");
    bad = dst, bad.pitch_bytes = 19;
    expect_fail(gf_plan_run(plan, &src, &bad), GF_ERROR_INVALID, "pitch");
    bad = src, bad.memory = GF_MEMORY_CUDA;
    expect_fail(gf_plan_run(plan, &bad, &dst), GF_ERROR_INVALID, "CUDA");
    expect_fail(gf_plan_run(plan, NULL, &dst), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_plan_run(NULL, &src, &dst), GF_ERROR_INVALID, "NULL");
    gf_plan_destroy(&plan);
    gf_context_destroy(&context);
}
END_TEST

/* A rectangle inside a larger image, its rows at an odd pitch, gives what its copy gives. */
START_TEST(region_with_odd_pitch)
{
    static uint8_t pixels[101 * 90], result[97 * 60 + 5];
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i >> 3);
    gf_image *copy = image_of(41, 33, GF_PIXEL_U8, 0);
    gf_view region = view_of(pixels + 7 * 101 + 13, 41, 33, 101, GF_PIXEL_U8),
            inner = gf_image_view(copy);
    expect_ok(gf_view_copy(NULL, &region, &inner));
    gf_context *context = open_context(GF_BACKEND_AUTO, 2);
    for (size_t f = 0; f < gf_filter_count(); f++) {
        char chain[512];
        case_chain(gf_filter_get(f), 0, chain, sizeof chain);
        gf_plan *plan = plan_for(context, chain, 41, 33, GF_PIXEL_U8);
        gf_image_desc out = gf_plan_output(plan);
        gf_image *right = image_of(out.width, out.height, GF_PIXEL_U8, 0);
        gf_view to = gf_image_view(right);
        expect_ok(gf_plan_run(plan, &inner, &to));
        memset(result, 0xab, sizeof result);
        gf_view odd = view_of(result + 3, out.width, out.height, 97, GF_PIXEL_U8);
        expect_ok(gf_plan_run(plan, &region, &odd));
        for (size_t i = 0; i < sizeof result; i++) {
            int x = ((int)i - 3) % 97, y = ((int)i - 3) / 97;
            bool inside = i >= 3 && x < out.width && y < out.height;
            ck_assert_msg(result[i] == (inside ? get(&to, x, y) : 0xab), "%s: %d,%d", chain, x, y);
        }
        gf_image_destroy(&right);
        gf_plan_destroy(&plan);
    }
    gf_context_destroy(&context);
    gf_image_destroy(&copy);
}
END_TEST

/* ---- plans as objects --------------------------------------------------------------------------
 */

START_TEST(busy_plans_are_refused)
{
    static uint8_t a[400], b[400];
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_plan *plan = plan_for(context, "box", 20, 20, GF_PIXEL_U8);
    gf_view src = view_of(a, 20, 20, 20, GF_PIXEL_U8), dst = view_of(b, 20, 20, 20, GF_PIXEL_U8);
    ck_assert(!atomic_flag_test_and_set(&plan->busy)); /* as another thread's run does */
    expect_fail(gf_plan_run(plan, &src, &dst), GF_ERROR_INVALID, "gf_plan_clone");
    atomic_flag_clear(&plan->busy);
    expect_ok(gf_plan_run(plan, &src, &dst));
    expect_ok(gf_plan_run(plan, &src, &dst)); /* and it is free again afterwards */
    gf_plan_destroy(&plan);
    gf_context_destroy(&context);
}
END_TEST

START_TEST(clones_are_independent)
{
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_image *image = noise_of(50, 40, GF_PIXEL_U8);
    gf_image *one = image_of(50, 40, GF_PIXEL_U8, 0), *two = image_of(50, 40, GF_PIXEL_U8, 1);
    gf_view src = gf_image_view(image), a = gf_image_view(one), b = gf_image_view(two);
    gf_plan *plan = plan_for(context, "gaussian=2:impl=ref,sobel", 50, 40, GF_PIXEL_U8), *clone;
    expect_ok(gf_plan_run(plan, &src, &a));
    expect_ok(gf_plan_clone(plan, &clone));
    gf_plan_destroy(&plan);
    gf_stage_info stage;
    ck_assert(gf_plan_stage_get(clone, 0, &stage));
    ck_assert_str_eq(stage.impl, "ref");
    expect_ok(gf_plan_run(clone, &src, &b));
    for (int y = 0; y < 40; y++)
        ck_assert_mem_eq((char *)a.data + (size_t)y * a.pitch_bytes,
                         (char *)b.data + (size_t)y * b.pitch_bytes, 50);
    gf_plan_destroy(&clone);
    expect_fail(gf_plan_clone(NULL, &clone), GF_ERROR_INVALID, "NULL");
    gf_image_destroy(&image);
    gf_image_destroy(&one);
    gf_image_destroy(&two);
    gf_context_destroy(&context);
}
END_TEST

typedef struct job {
    gf_plan *plan;
    gf_view src, dst;
    gf_status status;
} job;

static void *run_job(void *user)
{
    job *j = user;
    for (int i = 0; i < 20 && j->status == GF_OK; i++)
        j->status = gf_plan_run(j->plan, &j->src, &j->dst);
    return NULL;
}

START_TEST(clones_run_at_the_same_time)
{
    enum { THREADS = 3 };
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_image *image = noise_of(200, 100, GF_PIXEL_U16), *result[THREADS];
    gf_plan *plan = plan_for(context, "gaussian=3,unsharp", 200, 100, GF_PIXEL_U16);
    job jobs[THREADS] = { { .plan = NULL } };
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++) {
        result[t] = image_of(200, 100, GF_PIXEL_U16, t);
        jobs[t] = (job){ NULL, gf_image_view(image), gf_image_view(result[t]), GF_OK };
        expect_ok(gf_plan_clone(plan, &jobs[t].plan));
        ck_assert_int_eq(pthread_create(&thread[t], NULL, run_job, &jobs[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(thread[t], NULL);
        ck_assert_int_eq(jobs[t].status, GF_OK);
        for (int y = 0; y < 100; y++)
            for (int x = 0; x < 200; x++)
                ck_assert(get(&jobs[t].dst, x, y) == get(&jobs[0].dst, x, y));
    }
    for (int t = 0; t < THREADS; t++) {
        gf_plan_destroy(&jobs[t].plan);
        gf_image_destroy(&result[t]);
    }
    gf_plan_destroy(&plan);
    gf_image_destroy(&image);
    gf_context_destroy(&context);
}
END_TEST

START_TEST(batches)
{
    enum { N = 5 };
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_plan *plan = plan_for(context, "scale=2", 30, 20, GF_PIXEL_U8);
    gf_image *in[N], *out[N];
    gf_view src[N], dst[N];
    for (int i = 0; i < N; i++) {
        in[i] = image_of(30, 20, GF_PIXEL_U8, 10 * i), out[i] = image_of(30, 20, GF_PIXEL_U8, 1);
        src[i] = gf_image_view(in[i]), dst[i] = gf_image_view(out[i]);
    }
    expect_ok(gf_plan_run_batch(plan, N, src, dst));
    for (int i = 0; i < N; i++) ck_assert_double_eq(get(&dst[i], 29, 19), 20 * i);
    expect_ok(gf_plan_run_batch(plan, 0, NULL, NULL));
    dst[3].width = 7;
    expect_fail(gf_plan_run_batch(plan, N, src, dst), GF_ERROR_INVALID, "image 3");
    expect_fail(gf_plan_run_batch(plan, N, NULL, dst), GF_ERROR_INVALID, "NULL");
    expect_ok(gf_plan_wait(plan));
    for (int i = 0; i < N; i++) gf_image_destroy(&in[i]), gf_image_destroy(&out[i]);
    gf_plan_destroy(&plan);
    gf_context_destroy(&context);
}
END_TEST

START_TEST(apply_in_one_call)
{
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_image *image = image_of(9, 9, GF_PIXEL_U16, 1000), *result = NULL;
    gf_view src = gf_image_view(image);
    expect_ok(gf_apply(context, "gaussian=1,scale=3", &src, &result));
    gf_view view = gf_image_view(result);
    ck_assert_int_eq(view.pixel, GF_PIXEL_U16);
    ck_assert_double_eq(get(&view, 4, 4), 3000);
    gf_image_destroy(&result);
    result = (gf_image *)1;
    expect_fail(gf_apply(context, "gausian", &src, &result), GF_ERROR_NOT_FOUND, "gaussian");
    ck_assert_ptr_null(result);
    expect_fail(gf_apply(NULL, "abs", &src, &result), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_apply(context, NULL, &src, &result), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_apply(context, "abs", NULL, &result), GF_ERROR_INVALID, "src");
    gf_image_destroy(&image);
    gf_context_destroy(&context);
}
END_TEST

START_TEST(plan_parameters_are_checked)
{
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_image_desc in = { 8, 8, GF_PIXEL_U8 };
    gf_graph *graph, *empty;
    gf_plan *plan;
    expect_ok(gf_graph_parse("gaussian,abs", &graph));
    expect_ok(gf_graph_create(&empty));
    gf_plan_params p = { .struct_size = sizeof p, .impl = "warp-drive" };
    expect_fail(gf_plan_create(context, graph, &in, &p, &plan), GF_ERROR_NOT_FOUND, "warp-drive");
    p = (gf_plan_params){ .struct_size = sizeof p, .out_pixel = (gf_pixel)8 };
    expect_fail(gf_plan_create(context, graph, &in, &p, &plan), GF_ERROR_INVALID, "8");
    p = (gf_plan_params){ .struct_size = sizeof p, .white = -1 };
    expect_fail(gf_plan_create(context, graph, &in, &p, &plan), GF_ERROR_RANGE, "white: -1");
    p = (gf_plan_params){ .struct_size = sizeof p, .white = NAN };
    expect_fail(gf_plan_create(context, graph, &in, &p, &plan), GF_ERROR_RANGE, "white");
    p = (gf_plan_params){ .struct_size = 0 };
    expect_fail(gf_plan_create(context, graph, &in, &p, &plan), GF_ERROR_INVALID, "struct_size");
    expect_fail(gf_plan_create(context, empty, &in, NULL, &plan), GF_ERROR_INVALID, "no stage");
    expect_fail(gf_plan_create(NULL, graph, &in, NULL, &plan), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_plan_create(context, NULL, &in, NULL, &plan), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_plan_create(context, graph, NULL, NULL, &plan), GF_ERROR_INVALID, "NULL");
    in.width = 0;
    expect_fail(gf_plan_create(context, graph, &in, NULL, &plan), GF_ERROR_RANGE, "0x8");
    gf_plan_destroy(NULL);
    gf_graph_destroy(&graph);
    gf_graph_destroy(&empty);
    gf_context_destroy(&context);
}
END_TEST

START_TEST(plans_can_be_looked_at)
{
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_plan *plan = plan_for(context, "gaussian=2,sobel,abs", 64, 48, GF_PIXEL_U8);
    ck_assert_int_eq(gf_plan_stage_count(plan), 3);
    ck_assert_int_eq(gf_plan_backend(plan), GF_BACKEND_CPU);
    gf_stage_info stage;
    gf_rival_info rival;
    for (int s = 0; s < 3; s++) {
        ck_assert(gf_plan_stage_get(plan, s, &stage));
        ck_assert_str_ne(stage.impl, "ref"); /* only when asked for */
        int chosen = 0, n = 0;
        for (; gf_plan_rival_get(plan, s, n, &rival); n++) {
            chosen += strcmp(rival.impl, stage.impl) == 0;
            ck_assert_msg(rival.usable || *rival.why, "%s gives no reason", rival.impl);
            if (rival.usable && rival.backend == GF_BACKEND_CPU && strcmp(rival.impl, "ref") != 0)
                ck_assert(rival.cost_ns >= stage.cost_ns); /* the cheapest was taken */
        }
        ck_assert_int_eq(chosen, 1);
        ck_assert_int_gt(n, 1);
    }
    ck_assert(!gf_plan_stage_get(plan, 3, &stage));
    ck_assert(!gf_plan_stage_get(plan, -1, &stage));
    ck_assert(!gf_plan_rival_get(plan, 0, 99, &rival));
    gf_timings t;
    expect_ok(gf_plan_timings(plan, &t));
    ck_assert_double_eq(t.kernels_ns, 0);
    gf_image *a = noise_of(64, 48, GF_PIXEL_U8), *b = image_of(64, 48, GF_PIXEL_U8, 0);
    gf_view src = gf_image_view(a), dst = gf_image_view(b);
    expect_ok(gf_plan_run(plan, &src, &dst));
    expect_ok(gf_plan_timings(plan, &t));
    ck_assert_double_gt(t.kernels_ns, 0);
    gf_image_destroy(&a);
    gf_image_destroy(&b);
    gf_plan_destroy(&plan);
    gf_context_destroy(&context);
}
END_TEST

/* The reference would be the cheapest for a pixel or two, and serves what no other does. */
START_TEST(the_reference_is_never_a_free_choice)
{
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_stage_info stage;
    for (size_t i = 0; i < gf_filter_count(); i++) {
        const gf_filter_info *filter = gf_filter_get(i);
        for (size_t k = 0; gf_filter_case(filter, k); k++) {
            char chain[256];
            snprintf(chain, sizeof chain, "%s:%s", filter->name, gf_filter_case(filter, k));
            if (!*gf_filter_case(filter, k)) chain[strlen(filter->name)] = 0;
            gf_plan *plan = plan_for(context, chain, 1, 1, GF_PIXEL_U8);
            ck_assert(gf_plan_stage_get(plan, 0, &stage));
            ck_assert_str_ne(stage.impl, "ref");
            gf_plan_destroy(&plan);
        }
    }
    gf_context_destroy(&context);
}
END_TEST

START_TEST(method_separable_needs_a_separable_kernel)
{
    gf_context *context = open_context(GF_BACKEND_CPU, 1);
    gf_image *image = noise_of(16, 12, GF_PIXEL_U8), *result;
    gf_view src = gf_image_view(image);
    expect_fail(gf_apply(context, "correlate='0 1 0;1 1 1;0 1 0':method=separable", &src, &result),
                GF_ERROR_RANGE, "method=separable: the 3x3 kernel");
    expect_fail(gf_apply(context, "convolve='1 2;2 1':method=separable", &src, &result),
                GF_ERROR_RANGE, "method=separable: the 2x2 kernel");
    expect_ok(gf_apply(context, "correlate='1 2;2 4':method=separable", &src, &result));
    gf_image_destroy(&result);
    gf_image_destroy(&image);
    gf_context_destroy(&context);
}
END_TEST

/* Random 8-bit noise, small sigma: what the CPU's and the GPU's paths are most likely to round
 * apart. All must lie within a level, and away from ties be equal. */
START_TEST(implementations_agree)
{
    gf_image *image = noise_of(640, 480, GF_PIXEL_U8);
    gf_context *context = open_context(GF_BACKEND_CPU, 2);
    gf_image *right = run_impl(context, "gaussian=0.5", "ref", image, GF_PIXEL_F32);
    gf_view value = gf_image_view(right);
    for (walk w = walk_start("gaussian=0.5"); walk_next(&w, image, GF_PIXEL_U8);) {
        gf_view view = gf_image_view(w.result);
        for (int y = 0; y < 480; y++)
            for (int x = 0; x < 640; x++)
                if (fabs(get(&view, x, y) - get(&value, x, y)) > 0.501)
                    ck_abort_msg("impl %s: pixel %d,%d is %g, not %g", w.impl, x, y,
                                 get(&view, x, y), get(&value, x, y));
    }
    gf_image_destroy(&right);
    gf_image_destroy(&image);
    gf_context_destroy(&context);
}
END_TEST

/* A context on the GPU, or on the CPU where there is none. */
static gf_context *fast_context(void)
{
    gf_context_params params = { .struct_size = sizeof params, .backend = GF_BACKEND_CUDA };
    gf_context *context;
    if (gf_context_create(&params, &context) == GF_OK) return context;
    return open_context(GF_BACKEND_CPU, 2);
}

/* Whether floats, and u8 pixels rounded once, lie where both stages' tolerances allow. */
static void expect_near(const char *chain, const gf_image *got, const gf_image *right, double gain)
{
    const gf_view view = gf_image_view(got), value = gf_image_view(right);
    const double allowed = 2 * 0x1p-20 * 255 * gain;
    for (int y = 0; y < view.height; y++)
        for (int x = 0; x < view.width; x++) {
            double v = get(&value, x, y);
            if (view.pixel == GF_PIXEL_U8) v = fmin(fmax(v, 0), 255);
            const double most = view.pixel == GF_PIXEL_U8 ? 0.5 + fmax(allowed, 1e-3) : allowed;
            if (fabs(get(&view, x, y) - v) > most)
                ck_abort_msg("%s, %dx%d to %s: pixel %d,%d is %.9g, not %.9g", chain,
                             (int)view.width, (int)view.height, gf_pixel_name(view.pixel), x, y,
                             get(&view, x, y), v);
        }
}

/* Two windows, which a GPU may make in one launch: all borders with each other, and sizes around
 * those of a block. */
START_TEST(windows_that_follow_each_other)
{
    static const char *const first[] = { "gaussian=2", "gaussian=1",
                                         "gaussian=3", "box=5",
                                         "gaussian=5", "correlate='1 2 4 2 1':scale=.1:offset=7" };
    static const struct second {
        const char *filter, *then;
        double gain; /* sum of its taps' sizes */
    } second[] = {
        { "sobel", "", 12 },
        { "box=3", "", 1 },
        { "scharr", ",scale=.5:offset=9", 32 },
        { "prewitt:direction=y", ",abs", 6 },
        { "correlate='1 2 4;0 0 0;-1 -2 -4':scale=.5:offset=50", "", 7 },
        { "laplacian", "", 8 },
        { "sobel=5", "", 144 },
    };
    static const int sides[] = { 1, 2, 3, 60, 61, 63, 125, 247, 248, 249, 256, 501 };
    enum { FIRST = sizeof first / sizeof *first, SECOND = sizeof second / sizeof *second };
    enum { SIDES = sizeof sides / sizeof *sides };
    gf_context *fast = fast_context(), *cpu = open_context(GF_BACKEND_CPU, 2);
    for (int i = 0; i < 2 * FIRST * SECOND; i++) {
        const struct second *s = &second[i % SECOND];
        char chain[256];
        snprintf(chain, sizeof chain, "%s:border=%s:border-value=9,%s:border=%s:border-value=77%s",
                 first[i % FIRST], borders[i / 5 % 5], s->filter, borders[i % 5], s->then);
        gf_image *image =
            noise_of(sides[i % SIDES], sides[(i * 7 + i / SIDES) % SIDES], GF_PIXEL_U8);
        gf_image *right = run_impl(cpu, chain, "ref", image, GF_PIXEL_F32);
        for (gf_pixel out = GF_PIXEL_U8; out <= GF_PIXEL_F32; out += GF_PIXEL_F32 - GF_PIXEL_U8) {
            gf_image *got = run_impl(fast, chain, NULL, image, out);
            expect_near(chain, got, right, s->gain);
            gf_image_destroy(&got);
        }
        gf_image_destroy(&right);
        gf_image_destroy(&image);
    }
    gf_context_destroy(&fast);
    gf_context_destroy(&cpu);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("plan");
    suite_add(s, "box sum", box_sum_at_each_border);
    suite_add(s, "single pixel", single_pixel_stays);
    suite_add(s, "thin images", every_filter_takes_thin_images);
    suite_add(s, "correlate", correlate_and_convolve);
    suite_add(s, "ties", ties_go_to_even);
    suite_add(s, "saturation", results_saturate);
    suite_add(s, "sobel", sobel_of_a_step);
    suite_add(s, "sobel 7", sobel_7_of_a_step);
    suite_add(s, "constant", constant_images_stay);
    suite_add(s, "nan", nan_and_infinity_stay_in_the_window);
    suite_add(s, "large nan", nan_in_a_large_image);
    suite_add(s, "tiny images", tiny_images_and_wide_windows);
    suite_add(s, "rounding", chains_round_once);
    suite_add(s, "chains", chains_equal_single_steps);
    suite_add(s, "sizes", valid_and_full_sizes);
    suite_add(s, "overlap", overlap_is_refused);
    suite_add(s, "views", wrong_views_are_refused);
    suite_add(s, "region", region_with_odd_pitch);
    suite_add(s, "busy", busy_plans_are_refused);
    suite_add(s, "clones", clones_are_independent);
    suite_add(s, "threads", clones_run_at_the_same_time);
    suite_add(s, "batches", batches);
    suite_add(s, "apply", apply_in_one_call);
    suite_add(s, "parameters", plan_parameters_are_checked);
    suite_add(s, "looking", plans_can_be_looked_at);
    suite_add(s, "reference", the_reference_is_never_a_free_choice);
    suite_add(s, "separable", method_separable_needs_a_separable_kernel);
    suite_add(s, "agreement", implementations_agree);
    suite_add(s, "windows", windows_that_follow_each_other);
    return suite_run(s);
}
