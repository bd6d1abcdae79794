/* Plans on the emulated device, through the public interface: the way from host memory to the
 * device and back, device views, and what happens when memory runs out. */
#define _POSIX_C_SOURCE 200809L
#include <gpufilter/gpufilter.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 71, HEIGHT = 43, PIXELS = WIDTH * HEIGHT, MOST_PIXELS = 300 * 60 };

static int passed, failed;

static void check(int good, const char *what, const char *detail)
{
    good ? passed++ : failed++;
    if (!good) printf("FAILED %s: %s [%s]\n", what, detail, gf_error_message());
}

static gf_context *context_on(gf_backend backend)
{
    gf_context_params params = {
        .struct_size = sizeof params, .backend = backend, .threads = 1, .background_start = 1
    };
    gf_context *context;
    if (gf_context_create(&params, &context) == GF_OK) return context;
    printf("context: %s\n", gf_error_message());
    exit(1);
}

static gf_view view_of(void *data, int width, int height, gf_pixel pixel)
{
    return (gf_view){ .data = data,
                      .width = width,
                      .height = height,
                      .pitch_bytes = (size_t)width * gf_pixel_bytes(pixel),
                      .pixel = pixel };
}

static void fill_n(uint8_t *pixels, int width, int height)
{
    for (int i = 0; i < width * height; i++)
        pixels[i] = (uint8_t)(i * 7919 % 251 / (1 + i / width % 3));
}

static void fill(uint8_t *pixels) { fill_n(pixels, WIDTH, HEIGHT); }

/* Largest difference of two host images; -1 when their sizes differ. */
static int difference(const gf_image *a, const gf_image *b)
{
    const gf_view u = gf_image_view(a), v = gf_image_view(b);
    if (u.width != v.width || u.height != v.height || u.pixel != v.pixel) return -1;
    int most = 0;
    for (int y = 0; y < u.height; y++)
        for (int x = 0; x < u.width; x++) {
            const int p = ((const uint8_t *)u.data)[(size_t)y * u.pitch_bytes + (size_t)x];
            const int q = ((const uint8_t *)v.data)[(size_t)y * v.pitch_bytes + (size_t)x];
            if (abs(p - q) > most) most = abs(p - q);
        }
    return most;
}

/* Both backends may round a value next to a tie differently, and no more than that. */
static void check_chain(gf_context *cpu, gf_context *cuda, const gf_view *src, const char *chain)
{
    gf_image *a = NULL, *b = NULL;
    const int ran =
        gf_apply(cpu, chain, src, &a) == GF_OK && gf_apply(cuda, chain, src, &b) == GF_OK;
    check(ran, "both backends run", chain);
    if (ran) check(abs(difference(a, b)) <= 1, "both backends agree", chain);
    gf_image_destroy(&a);
    gf_image_destroy(&b);
}

static void check_chains(void)
{
    gf_context *cpu = context_on(GF_BACKEND_CPU), *cuda = context_on(GF_BACKEND_CUDA);
    uint8_t pixels[PIXELS];
    fill(pixels);
    const gf_view src = view_of(pixels, WIDTH, HEIGHT, GF_PIXEL_U8);
    for (size_t i = 0; i < gf_filter_count(); i++) {
        const gf_filter_info *filter = gf_filter_get(i);
        const char *text;
        for (size_t c = 0; (text = gf_filter_case(filter, c)); c++) {
            char chain[512];
            snprintf(chain, sizeof chain, "%s%s%s", filter->name, *text ? "=" : "", text);
            /* "a=1" is a key, "3:5" and "1 2 1" are positional */
            char *equals = strchr(text, '=') ? strchr(chain, '=') : NULL;
            if (equals) *equals = ':';
            check_chain(cpu, cuda, &src, chain);
        }
    }
    check_chain(cpu, cuda, &src, "gaussian=2,sobel,normalize");
    gf_context_destroy(&cpu);
    gf_context_destroy(&cuda);
}

static size_t used_bytes(gf_context *context)
{
    size_t held = 0, used = 0;
    if (gf_cuda_memory_info(context, &held, &used) != GF_OK) used = (size_t)-1;
    return used;
}

static gf_view region_of(const gf_view *u8, int left, int top, int width, int height)
{
    gf_view view = *u8;
    view.width = width, view.height = height;
    view.data = (uint8_t *)u8->data + (size_t)top * u8->pitch_bytes + left;
    return view;
}

/* A region inside a device image, at an odd place, equals the same pixels in host memory. */
static void check_device_views(const char *chain)
{
    enum { LEFT = 3, TOP = 2, W = 37, H = 29 };
    gf_context *context = context_on(GF_BACKEND_CUDA);
    uint8_t pixels[PIXELS], whole[W * H], part[W * H];
    fill(pixels);
    const gf_view host = view_of(pixels, WIDTH, HEIGHT, GF_PIXEL_U8);
    const gf_image_desc desc = { WIDTH, HEIGHT, GF_PIXEL_U8 }, region = { W, H, GF_PIXEL_U8 };
    gf_image *image = NULL, *result = NULL;
    gf_graph *graph = NULL;
    gf_plan *plan = NULL;
    check(gf_image_create(context, &desc, GF_MEMORY_CUDA, &image) == GF_OK &&
              gf_image_create(context, &desc, GF_MEMORY_CUDA, &result) == GF_OK &&
              gf_graph_parse(chain, &graph) == GF_OK &&
              gf_plan_create(context, graph, &region, NULL, &plan) == GF_OK,
          "set up", "device views");
    gf_view device = gf_image_view(image), out = gf_image_view(result);
    gf_view src = host, dst = view_of(whole, W, H, GF_PIXEL_U8);
    src = region_of(&host, LEFT, TOP, W, H);
    check(gf_plan_run(plan, &src, &dst) == GF_OK, "runs", "from host to host");

    check(gf_view_copy(context, &host, &device) == GF_OK, "copies", "to the device");
    const gf_view inside = region_of(&device, LEFT, TOP, W, H);
    out = region_of(&out, TOP, LEFT, W, H);
    dst.data = part;
    check(gf_plan_run(plan, &inside, &out) == GF_OK && gf_plan_wait(plan) == GF_OK &&
              gf_view_copy(context, &out, &dst) == GF_OK,
          "runs", "from device to device");
    check(memcmp(whole, part, sizeof whole) == 0, "the same pixels on host and device", chain);

    gf_timings t;
    check(gf_plan_timings(plan, &t) == GF_OK && t.kernels_ns > 0, "timings", "kernels");
    check(gf_plan_backend(plan) == GF_BACKEND_CUDA, "backend", "CUDA");
    check(used_bytes(context) > 0, "memory", "in use");
    gf_plan_destroy(&plan);
    gf_graph_destroy(&graph);
    gf_image_destroy(&image);
    gf_image_destroy(&result);
    check(used_bytes(context) == 0, "memory", "all given back");
    gf_context_destroy(&context);
}

/* ---- batches ------------------------------------------------------------------------------- */

enum { BATCH = 4 };

/* A device image that holds BATCH images one below the other. */
static gf_image *stack_on(gf_context *context, gf_pixel pixel)
{
    const gf_image_desc desc = { WIDTH, BATCH * HEIGHT, pixel };
    gf_image *stack = NULL;
    check(gf_image_create(context, &desc, GF_MEMORY_CUDA, &stack) == GF_OK, "set up", "stack");
    return stack;
}

static gf_view slice_of(const gf_image *stack, int i)
{
    gf_view view = gf_image_view(stack);
    view.height = HEIGHT;
    view.data = (uint8_t *)view.data + (size_t)(i * HEIGHT) * view.pitch_bytes;
    return view;
}

static void upload_stack(gf_context *context, const gf_image *stack)
{
    uint8_t pixels[PIXELS];
    for (int i = 0; i < BATCH; i++) {
        fill(pixels);
        for (int k = 0; k < PIXELS; k++) pixels[k] = (uint8_t)(pixels[k] + 50 * i);
        const gf_view from = view_of(pixels, WIDTH, HEIGHT, GF_PIXEL_U8), to = slice_of(stack, i);
        check(gf_view_copy(context, &from, &to) == GF_OK, "set up", "upload");
    }
}

static int same_stacks(gf_context *context, const gf_image *a, const gf_image *b)
{
    static uint8_t left[BATCH * PIXELS], right[BATCH * PIXELS];
    const gf_view from[2] = { gf_image_view(a), gf_image_view(b) };
    const gf_view to[2] = { view_of(left, WIDTH, BATCH * HEIGHT, GF_PIXEL_U8),
                            view_of(right, WIDTH, BATCH * HEIGHT, GF_PIXEL_U8) };
    for (int i = 0; i < 2; i++)
        if (gf_view_copy(context, &from[i], &to[i]) != GF_OK) return 0;
    return memcmp(left, right, sizeof left) == 0;
}

/* Images src_of[i] of one stack into dst_of[i] of another (or of the same), in one call and one by
 * one. */
typedef struct order {
    const char *name;
    int src_of[BATCH], dst_of[BATCH], in_place;
} order;

static void check_order(gf_context *context, gf_plan *plan, const order *o, const char *chain)
{
    gf_image *src = stack_on(context, GF_PIXEL_U8), *one = stack_on(context, GF_PIXEL_U8);
    gf_image *all = stack_on(context, GF_PIXEL_U8);
    gf_view from[BATCH], to[BATCH];
    upload_stack(context, src), upload_stack(context, one), upload_stack(context, all);
    for (int i = 0; i < BATCH; i++) {
        from[i] = slice_of(o->in_place ? one : src, o->src_of[i]),
        to[i] = slice_of(one, o->dst_of[i]);
        check(gf_plan_run(plan, &from[i], &to[i]) == GF_OK, "runs one by one", chain);
    }
    for (int i = 0; i < BATCH; i++)
        from[i] = slice_of(o->in_place ? all : src, o->src_of[i]),
        to[i] = slice_of(all, o->dst_of[i]);
    check(gf_plan_run_batch(plan, BATCH, from, to) == GF_OK && gf_plan_wait(plan) == GF_OK,
          "runs as a batch", chain);
    check(same_stacks(context, one, all), o->name, chain);
    gf_image_destroy(&src), gf_image_destroy(&one), gf_image_destroy(&all);
}

/* A batch gives what its images give one by one, however they lie. The launch configuration may
 * differ from that of a plan for single images, results may not. */
static void check_batches(void)
{
    static const order orders[] = {
        { "batch in order", { 0, 1, 2, 3 }, { 0, 1, 2, 3 }, 0 },
        { "batch backwards", { 3, 2, 1, 0 }, { 0, 1, 2, 3 }, 0 },
        { "batch of one source", { 2, 2, 2, 2 }, { 3, 2, 1, 0 }, 0 },
        { "batch at unequal distances", { 0, 1, 3, 2 }, { 1, 0, 2, 3 }, 0 },
        { "batch in one place", { 0, 1, 2, 3 }, { 1, 1, 1, 1 }, 0 },
        { "batch whose results are sources", { 0, 1, 2, 1 }, { 1, 2, 3, 0 }, 1 },
    };
    static const char *const chains[] = { "scale=2",
                                          "box=3",
                                          "box=31",
                                          "gaussian=1",
                                          "gaussian=1:impl=cuda-sep",
                                          "correlate='1 2 3;4 5 6;7 8 10':impl=cuda-direct",
                                          "correlate='1 2 3;4 5 6;7 8 10':impl=cuda-any",
                                          "sobel",
                                          "gaussian=1,sobel,abs",
                                          "gaussian=1:impl=cuda-tensor,sobel,threshold=9",
                                          "gaussian=1,normalize" };
    gf_context *context = context_on(GF_BACKEND_CUDA);
    const gf_image_desc desc = { WIDTH, HEIGHT, GF_PIXEL_U8 };
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++)
        for (unsigned batch = 0; batch <= BATCH; batch += BATCH - 1) { /* room for 1 or 3 images */
            const gf_plan_params params = { .struct_size = sizeof params, .batch = batch };
            gf_graph *graph = NULL;
            gf_plan *plan = NULL;
            const int made = gf_graph_parse(chains[i], &graph) == GF_OK &&
                             gf_plan_create(context, graph, &desc, &params, &plan) == GF_OK;
            check(made, "set up", chains[i]);
            for (size_t k = 0; made && k < sizeof orders / sizeof *orders; k++)
                check_order(context, plan, &orders[k], chains[i]);
            gf_plan_destroy(&plan);
            gf_graph_destroy(&graph);
        }
    gf_context_destroy(&context);
}

extern unsigned long gf_emu_launches; /* so far, of backend_emu.cpp */

/* Images in order need one launch a stage, those that overlap one each. */
static void check_one_launch(void)
{
    gf_context *context = context_on(GF_BACKEND_CUDA);
    const gf_image_desc desc = { WIDTH, HEIGHT, GF_PIXEL_U8 };
    const gf_plan_params params = { .struct_size = sizeof params, .batch = BATCH };
    gf_image *src = stack_on(context, GF_PIXEL_U8), *dst = stack_on(context, GF_PIXEL_U8);
    gf_graph *graph = NULL;
    gf_plan *plan = NULL;
    gf_view from[BATCH], to[BATCH];
    check(gf_graph_parse("gaussian=1,sobel:impl=cuda-stream", &graph) == GF_OK &&
              gf_plan_create(context, graph, &desc, &params, &plan) == GF_OK,
          "set up", "one launch");
    upload_stack(context, src);
    for (int i = 0; i < BATCH; i++) from[i] = slice_of(src, i), to[i] = slice_of(dst, i);
    unsigned long before = gf_emu_launches;
    check(gf_plan_run_batch(plan, BATCH, from, to) == GF_OK && gf_emu_launches == before + 2,
          "a launch a stage", "images in order");
    to[2] = to[1];
    before = gf_emu_launches;
    check(gf_plan_run_batch(plan, BATCH, from, to) == GF_OK && gf_emu_launches > before + 2,
          "more launches", "images that overlap");
    gf_plan_destroy(&plan);
    gf_graph_destroy(&graph);
    gf_image_destroy(&src), gf_image_destroy(&dst);
    gf_context_destroy(&context);
}

/* Run a chain on u8 noise of a size; the result as `pixel`, and the launches it took. */
static gf_image *run_sized(gf_context *context, const char *chain, int width, int height,
                           gf_pixel pixel, unsigned long *launches)
{
    static uint8_t pixels[MOST_PIXELS];
    const gf_image_desc in = { width, height, GF_PIXEL_U8 }, out = { width, height, pixel };
    const gf_plan_params params = { .struct_size = sizeof params, .out_pixel = pixel };
    gf_graph *graph = NULL;
    gf_plan *plan = NULL, *clone = NULL;
    gf_image *result = NULL;
    fill_n(pixels, width, height);
    const gf_view src = view_of(pixels, width, height, GF_PIXEL_U8);
    const int made = gf_graph_parse(chain, &graph) == GF_OK &&
                     gf_plan_create(context, graph, &in, &params, &plan) == GF_OK &&
                     gf_plan_clone(plan, &clone) == GF_OK &&
                     gf_image_create(NULL, &out, GF_MEMORY_HOST, &result) == GF_OK;
    check(made, "set up", chain);
    if (made) {
        const gf_view dst = gf_image_view(result);
        const unsigned long before = gf_emu_launches;
        check(gf_plan_run(clone, &src, &dst) == GF_OK, "runs", chain);
        *launches = gf_emu_launches - before;
    }
    gf_plan_destroy(&clone);
    gf_plan_destroy(&plan);
    gf_graph_destroy(&graph);
    return result;
}

static gf_image *run_chain(gf_context *context, const char *chain, gf_pixel pixel,
                           unsigned long *launches)
{
    return run_sized(context, chain, WIDTH, HEIGHT, pixel, launches);
}

static int same_images(const gf_image *a, const gf_image *b)
{
    const gf_view u = gf_image_view(a), v = gf_image_view(b);
    const size_t row = (size_t)u.width * gf_pixel_bytes(u.pixel);
    int same = u.width == v.width && u.height == v.height;
    for (int y = 0; same && y < u.height; y++)
        same = !memcmp((char *)u.data + (size_t)y * u.pitch_bytes,
                       (char *)v.data + (size_t)y * v.pitch_bytes, row);
    return same;
}

/* Point filters in the launch of the stage before give, bit for bit, what they give by themselves;
 * asking for their implementation keeps them apart. A clone does what its plan does. */
static void check_fusing(void)
{
    static const struct fusing {
        const char *head, *tail;
        unsigned long launches, apart;
    } cases[] = {
        { "box=3:impl=cuda-stream", "threshold=40", 1, 2 },
        { "sobel:impl=cuda-stream", "scale=0.5:offset=3,clamp=2:90,threshold=40", 1, 4 },
        { "gaussian=1:impl=cuda-sep", "scale=-1:offset=99,abs", 1, 3 },
        { "gaussian=1:impl=cuda-tensor", "scale=-1:offset=99,abs", 1, 3 },
        { "gaussian=1:impl=cuda-any", "invert", 2, 3 },
        { "invert:impl=cuda-point", "abs,threshold=9", 1, 3 },
        { "gamma=2", "abs,threshold=9", 1, 3 },
        { "box=3", "gamma=2,abs", 2, 3 },
        { "box=3", "abs,abs,abs,abs", 2, 5 },
        { "correlate='1 2 3;4 5 6;7 8 10':impl=cuda-direct", "abs", 2, 2 },
    };
    static const gf_pixel pixels[] = { GF_PIXEL_U8, GF_PIXEL_U16, GF_PIXEL_F32 };
    gf_context *context = context_on(GF_BACKEND_CUDA);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t p = 0; p < sizeof pixels / sizeof *pixels; p++) {
            char together[256], apart[512];
            size_t used = (size_t)snprintf(apart, sizeof apart, "%s", cases[i].head);
            snprintf(together, sizeof together, "%s,%s", cases[i].head, cases[i].tail);
            for (const char *at = cases[i].tail; at; at = strchr(at + 1, ','))
                used += (size_t)snprintf(apart + used, sizeof apart - used, ",%.*s:impl=cuda-point",
                                         (int)strcspn(at + (*at == ','), ","), at + (*at == ','));
            unsigned long launches = 0, n_apart = 0;
            gf_image *a = run_chain(context, together, pixels[p], &launches);
            gf_image *b = run_chain(context, apart, pixels[p], &n_apart);
            check(launches == cases[i].launches, "launches fused", together);
            check(n_apart == cases[i].apart, "launches apart", apart);
            if (a && b) check(same_images(a, b), "fused as apart", together);
            gf_image_destroy(&a);
            gf_image_destroy(&b);
        }
    gf_context_destroy(&context);
}

static double value_at(const gf_view *view, int x, int y)
{
    const char *row = (const char *)view->data + (size_t)y * view->pitch_bytes;
    if (view->pixel == GF_PIXEL_F32) return ((const float *)(const void *)row)[x];
    return view->pixel == GF_PIXEL_U8 ? ((const uint8_t *)row)[x]
                                      : ((const uint16_t *)(const void *)row)[x];
}

static double largest_difference(const gf_image *a, const gf_image *b)
{
    const gf_view u = gf_image_view(a), v = gf_image_view(b);
    double most = 0;
    for (int y = 0; y < u.height; y++)
        for (int x = 0; x < u.width; x++)
            most = fmax(most, fabs(value_at(&u, x, y) - value_at(&v, x, y)));
    return most;
}

/* Two windows in a launch give what cuda-stream makes of the first one's floats; these are summed
 * up in another order. gain: the sum of the second one's taps' sizes. */
static void check_pair(gf_context *context, const char *head, const char *tail, double gain,
                       int width, int height, gf_pixel pixel)
{
    char together[320], apart[320];
    unsigned long launches = 0, n_apart = 0;
    const int filter = (int)strcspn(tail, ",");
    snprintf(together, sizeof together, "%s:impl=cuda-tensor,%s", head, tail);
    snprintf(apart, sizeof apart, "%s:impl=cuda-tensor,%.*s:impl=cuda-stream%s", head, filter, tail,
             tail + filter);
    gf_image *a = run_sized(context, together, width, height, pixel, &launches);
    gf_image *b = run_sized(context, apart, width, height, pixel, &n_apart);
    check(launches == 1 && n_apart == 2, "launches of pairs", together);
    const double most = a && b ? largest_difference(a, b) : INFINITY;
    check(most <= (pixel == GF_PIXEL_F32 ? 0x1p-20 * 255 * gain : 1), "a pair as apart", together);
    gf_image_destroy(&a);
    gf_image_destroy(&b);
}

static void check_pairs(void)
{
    static const char *const heads[] = { "gaussian=1", "gaussian=2", "gaussian=3",
                                         "correlate='1 2 4 2 1':scale=-.1", "gaussian=5" };
    static const struct tail {
        const char *chain;
        double gain;
    } tails[] = { { "sobel,threshold=30", 12 },
                  { "box=3", 1 },
                  { "prewitt", 9 },
                  { "scharr", 46 },
                  { "scharr:direction=x,scale=.1:offset=90", 4 },
                  { "correlate='1 2 4;0 0 0;-1 -2 -4':scale=0.5:offset=50", 7 } };
    static const char *const sides[] = { "constant", "replicate", "reflect", "mirror" };
    static const int sizes[][2] = { { 1, 1 },    { 2, 3 },   { 1, 15 },   { 61, 14 },
                                    { 247, 16 }, { 250, 5 }, { 253, 58 }, { 300, 30 } };
    enum { HEADS = sizeof heads / sizeof *heads, TAILS = sizeof tails / sizeof *tails };
    gf_context *context = context_on(GF_BACKEND_CUDA);
    for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++)
        for (int b = 0; b < 4; b++) {
            const int width = sizes[s][0], height = sizes[s][1], turn = 4 * s + b;
            const char *head = heads[turn % HEADS], *tail = tails[turn % TAILS].chain;
            const int filter = (int)strcspn(tail, ",");
            char first[128], second[160];
            snprintf(first, sizeof first, "%s:border=%s:border-value=9", head, sides[(b + s) % 4]);
            snprintf(second, sizeof second, "%.*s:border=%s:border-value=77%s", filter, tail,
                     sides[b], tail + filter);
            check_pair(context, first, second, tails[turn % TAILS].gain, width, height,
                       GF_PIXEL_U8 + (turn + turn / TAILS) % 3);
        }
    gf_context_destroy(&context);
}

/* What is no pair: a follower that wraps around, is larger, or was asked for. */
static void check_no_pairs(void)
{
    static const struct alone {
        const char *chain;
        unsigned long launches;
    } cases[] = {
        { "gaussian=2:impl=cuda-tensor,sobel:border=wrap", 2 },
        { "gaussian=2:impl=cuda-tensor,sobel=5", 2 },
        { "gaussian=2:impl=cuda-sep,sobel", 2 },
        { "gaussian=2:impl=cuda-tensor,abs,sobel", 2 },
        { "correlate='1 2 1':offset=1:impl=cuda-tensor,sobel", 2 },
        { "gaussian=2:impl=cuda-tensor,sobel,abs,scale=.5,threshold=5", 1 },
        { "gaussian=2:impl=cuda-tensor,sobel,sobel", 2 },
    };
    gf_context *context = context_on(GF_BACKEND_CUDA);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned long launches = 0;
        gf_image *image = run_chain(context, cases[i].chain, GF_PIXEL_U8, &launches);
        check(launches == cases[i].launches, "launches", cases[i].chain);
        gf_image_destroy(&image);
    }
    gf_context_destroy(&context);
}

/* Every point at which device memory can run out gives the same clear error and leaks nothing. */
static void check_memory_runs_out(void)
{
    uint8_t pixels[PIXELS];
    fill(pixels);
    const gf_view src = view_of(pixels, WIDTH, HEIGHT, GF_PIXEL_U8);
    static const char *const chains[] = { "gaussian=2,sobel,normalize=1:99",
                                          "correlate=1 2 1:impl=cuda-fft",
                                          "gaussian=3:impl=cuda-any", "normalize" };
    for (size_t c = 0; c < sizeof chains / sizeof *chains; c++) {
        int refused = 0, done = 0;
        for (unsigned long kib = 1; kib <= 1ul << 20 && !done; kib *= 2) {
            char text[32];
            snprintf(text, sizeof text, "%lu", kib << 10);
            setenv("GF_EMU_MEMORY_BYTES", text, 1);
            gf_context *context = context_on(GF_BACKEND_CUDA);
            gf_image *image = NULL;
            const gf_status status = gf_apply(context, chains[c], &src, &image);
            done = status == GF_OK;
            refused += status == GF_ERROR_DEVICE_MEMORY;
            check(done || status == GF_ERROR_DEVICE_MEMORY, "little memory", chains[c]);
            check(done || !image, "no image", chains[c]);
            gf_image_destroy(&image);
            check(used_bytes(context) == 0, "memory given back", chains[c]);
            gf_context_destroy(&context);
        }
        check(refused > 0 && done, "first too little, then enough", chains[c]);
    }
    unsetenv("GF_EMU_MEMORY_BYTES");
}

/* Pixels a few steps of a float apart: the percentiles between them are no floats. */
static void check_narrow_range(void)
{
    static float pixels[PIXELS];
    for (int i = 0; i < PIXELS; i++) pixels[i] = 0x1p24f + 2 * (float)(i % 3);
    pixels[0] = 0x1p24f - 4, pixels[1] = 0x1p24f + 8;
    const gf_view src = view_of(pixels, WIDTH, HEIGHT, GF_PIXEL_F32);
    static const char chain[] = "normalize=0.02:99.98";
    gf_context *cpu = context_on(GF_BACKEND_CPU), *cuda = context_on(GF_BACKEND_CUDA);
    gf_image *a = NULL, *b = NULL;
    const int ran =
        gf_apply(cpu, chain, &src, &a) == GF_OK && gf_apply(cuda, chain, &src, &b) == GF_OK;
    check(ran, "both backends run", chain);
    const gf_view u = gf_image_view(a), v = gf_image_view(b);
    float worst = ran ? 0 : INFINITY;
    for (int y = 0; y < u.height && ran; y++)
        for (int x = 0; x < u.width; x++) {
            const float *p = (const float *)u.data + (size_t)y * u.pitch_bytes / sizeof(float);
            const float *q = (const float *)v.data + (size_t)y * v.pitch_bytes / sizeof(float);
            worst = fmaxf(worst, fabsf(p[x] - q[x]));
        }
    check(worst <= 0x1p-20f, "a range of few floats", chain);
    gf_image_destroy(&a);
    gf_image_destroy(&b);
    gf_context_destroy(&cpu);
    gf_context_destroy(&cuda);
}

int main(void)
{
    check_narrow_range();
    check_chains();
    check_device_views("gaussian=1,normalize=1:99");
    check_device_views("gaussian=2:impl=cuda-tensor,sobel,threshold=9");
    check_batches();
    check_one_launch();
    check_fusing();
    check_pairs();
    check_no_pairs();
    check_memory_runs_out();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
