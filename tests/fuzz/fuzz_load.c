/* Loading any bytes must end in an image or in a reason, without a fault of memory.
 *
 * With a fuzzer:  clang -fsanitize=fuzzer,address,undefined …
 * Without one:    -DFUZZ_STANDALONE gives a main() that runs the files named on its command line.
 */
#include <stdio.h>
#include <stdlib.h>

#include <gpufilter/error.h>
#include <gpufilter/io.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A limit that keeps one run short; larger sizes take the same paths. */
enum { MAX_PIXELS = 1 << 20 };

static void touch_all(const gf_image *image)
{
    gf_view v = gf_image_view(image);
    volatile unsigned char sum = 0;
    for (int32_t y = 0; y < v.height; y++) {
        const unsigned char *row = (const unsigned char *)v.data + (size_t)y * v.pitch_bytes;
        for (size_t i = 0; i < (size_t)v.width * gf_pixel_bytes(v.pixel); i++)
            sum = (unsigned char)(sum + row[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gf_file_info info;
    gf_load_params params = { .struct_size = sizeof params,
                              .max_pixels = MAX_PIXELS,
                              .info = &info };
    gf_image *image;
    gf_status status = gf_image_load_memory("fuzz", data, size, &params, &image);
    if (status == GF_ERROR_INTERNAL || (status != GF_OK && (image || !*gf_error_message())))
        abort();
    if (status == GF_OK) touch_all(image);
    gf_image_destroy(&image);
    return 0;
}

#ifdef FUZZ_STANDALONE

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return 1;
    size_t size = 0, capacity = 1 << 20;
    uint8_t *data = malloc(capacity);
    for (size_t got; data && (got = fread(data + size, 1, capacity - size, file)) > 0;) {
        size += got;
        if (size < capacity) continue;
        uint8_t *more = realloc(data, capacity *= 2);
        if (!more) free(data);
        data = more;
    }
    fclose(file);
    if (!data) return 1;
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        if (run_file(argv[i])) {
            fprintf(stderr, "%s: cannot be read\n", argv[i]);
            failed = 1;
        }
    return failed;
}

#endif
