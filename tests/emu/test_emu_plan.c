/* Plans on the emulated device, through the public interface: the way from host memory to the
 * device and back, device views, and what happens when memory runs out. */
#define _POSIX_C_SOURCE 200809L
#include <gpufilter/gpufilter.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 71, HEIGHT = 43, PIXELS = WIDTH * HEIGHT };

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

static void fill(uint8_t *pixels)
{
    for (int i = 0; i < PIXELS; i++) pixels[i] = (uint8_t)(i * 7919 % 251 / (1 + i / WIDTH % 3));
}

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

/* A region inside a device image, at an odd place, equals the same pixels in host memory. */
static void check_device_views(void)
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
              gf_image_create(context, &region, GF_MEMORY_CUDA, &result) == GF_OK &&
              gf_graph_parse("gaussian=1,normalize=1:99", &graph) == GF_OK &&
              gf_plan_create(context, graph, &region, NULL, &plan) == GF_OK,
          "set up", "device views");
    gf_view device = gf_image_view(image), out = gf_image_view(result);
    gf_view src = host, dst = view_of(whole, W, H, GF_PIXEL_U8);
    src.width = W, src.height = H;
    src.data = pixels + TOP * WIDTH + LEFT;
    check(gf_plan_run(plan, &src, &dst) == GF_OK, "runs", "from host to host");

    check(gf_view_copy(context, &host, &device) == GF_OK, "copies", "to the device");
    gf_view inside = device;
    inside.width = W, inside.height = H;
    inside.data = (uint8_t *)device.data + TOP * device.pitch_bytes + LEFT;
    dst.data = part;
    check(gf_plan_run(plan, &inside, &out) == GF_OK && gf_plan_wait(plan) == GF_OK &&
              gf_view_copy(context, &out, &dst) == GF_OK,
          "runs", "from device to device");
    check(memcmp(whole, part, sizeof whole) == 0, "the same pixels", "host and device region");

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
    check_device_views();
    check_memory_runs_out();
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed != 0;
}
