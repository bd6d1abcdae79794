/* Run NVIDIA's NPP: gpu_npp FOLDER SIZE CHECK SECONDS
 *
 * Reads cases.txt, the taps and the images that gpu_cases.py wrote; does and writes what
 * gpu_peer.py does. Built by gpu_peers.py with nvcc where NPP is installed. */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cuda_runtime_api.h>
#include <nppcore.h>
#include <nppi.h>

enum { BUFFERS = 8, MOST_RUNS = 20, ENOUGH_MS = 150, MOST_CASES = 64 };

/* Images of one pixel type. */
typedef struct images {
    NppiSize size;
    int pitch; /* bytes of a row of source and result */
    void *src[BUFFERS], *dst, *between;
} images;

typedef struct job {
    char name[64], op[16], pixel[8];
    double value;
    int n_taps;
    float *taps;         /* on the device, last first as NPP wants them */
    unsigned char *work; /* what NPP asks for unsharp */
    NppStreamContext npp;
    images *im;
} job;

/* One way to do a case. The result has the source's pixel type but for `s16`. */
typedef struct method {
    const char *name, *note, *op, *pixel;
    double largest; /* value up to which it is worth the time */
    bool s16;
    NppStatus (*run)(const job *j, const void *src);
} method;

#define BORDER NPP_BORDER_REPLICATE
#define AT_ORIGIN ((NppiPoint){ 0, 0 })
#define WHOLE j->im->pitch, j->im->size, AT_ORIGIN

/* ---- NPP's functions ---------------------------------------------------------------------- */

static NppStatus filter_u8(const job *j, const void *src)
{
    const NppiPoint centre = { j->n_taps / 2, j->n_taps / 2 };
    return nppiFilterBorder32f_8u_C1R_Ctx(src, WHOLE, j->im->dst, j->im->pitch, j->im->size,
                                          j->taps, (NppiSize){ j->n_taps, j->n_taps }, centre,
                                          BORDER, j->npp);
}

static NppStatus filter_f32(const job *j, const void *src)
{
    const NppiPoint centre = { j->n_taps / 2, j->n_taps / 2 };
    return nppiFilterBorder_32f_C1R_Ctx(src, WHOLE, j->im->dst, j->im->pitch, j->im->size, j->taps,
                                        (NppiSize){ j->n_taps, j->n_taps }, centre, BORDER, j->npp);
}

static NppStatus gauss_u8(const job *j, const void *src)
{
    return nppiFilterGaussAdvancedBorder_8u_C1R_Ctx(
        src, WHOLE, j->im->dst, j->im->pitch, j->im->size, j->n_taps, j->taps, BORDER, j->npp);
}

static NppStatus gauss_u16(const job *j, const void *src)
{
    return nppiFilterGaussAdvancedBorder_16u_C1R_Ctx(
        src, WHOLE, j->im->dst, j->im->pitch, j->im->size, j->n_taps, j->taps, BORDER, j->npp);
}

static NppStatus gauss_f32(const job *j, const void *src)
{
    return nppiFilterGaussAdvancedBorder_32f_C1R_Ctx(
        src, WHOLE, j->im->dst, j->im->pitch, j->im->size, j->n_taps, j->taps, BORDER, j->npp);
}

static NppStatus row_column_u8(const job *j, const void *src)
{
    NppStatus status =
        nppiFilterRowBorder32f_8u_C1R_Ctx(src, WHOLE, j->im->between, j->im->pitch, j->im->size,
                                          j->taps, j->n_taps, j->n_taps / 2, BORDER, j->npp);
    if (status != NPP_SUCCESS) return status;
    return nppiFilterColumnBorder32f_8u_C1R_Ctx(j->im->between, WHOLE, j->im->dst, j->im->pitch,
                                                j->im->size, j->taps, j->n_taps, j->n_taps / 2,
                                                BORDER, j->npp);
}

static NppStatus row_column_f32(const job *j, const void *src)
{
    NppStatus status =
        nppiFilterRowBorder_32f_C1R_Ctx(src, WHOLE, j->im->between, j->im->pitch, j->im->size,
                                        j->taps, j->n_taps, j->n_taps / 2, BORDER, j->npp);
    if (status != NPP_SUCCESS) return status;
    return nppiFilterColumnBorder_32f_C1R_Ctx(j->im->between, WHOLE, j->im->dst, j->im->pitch,
                                              j->im->size, j->taps, j->n_taps, j->n_taps / 2,
                                              BORDER, j->npp);
}

static NppStatus box_u8(const job *j, const void *src)
{
    const int k = (int)j->value;
    return nppiFilterBoxBorder_8u_C1R_Ctx(src, WHOLE, j->im->dst, j->im->pitch, j->im->size,
                                          (NppiSize){ k, k }, (NppiPoint){ k / 2, k / 2 }, BORDER,
                                          j->npp);
}

static NppStatus sobel_u8(const job *j, const void *src)
{
    return nppiFilterSobelVertBorder_8u_C1R_Ctx(src, WHOLE, j->im->dst, j->im->pitch, j->im->size,
                                                BORDER, j->npp);
}

static NppStatus magnitude_u8(const job *j, const void *src)
{
    return nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(
        src, WHOLE, NULL, 0, NULL, 0, j->im->dst, 2 * j->im->pitch, NULL, 0, j->im->size,
        NPP_MASK_SIZE_3_X_3, nppiNormL2, BORDER, j->npp);
}

static NppStatus unsharp_u8(const job *j, const void *src)
{
    return nppiFilterUnsharpBorder_8u_C1R_Ctx(src, j->im->pitch, AT_ORIGIN, j->im->dst,
                                              j->im->pitch, j->im->size, (float)(j->n_taps / 2),
                                              (float)j->value, 1, 0, BORDER, j->work, j->npp);
}

static const method methods[] = {
    { "nppiFilterBorder32f", "", "correlate", "u8", 31, false, filter_u8 },
    { "nppiFilterBorder", "", "correlate", "f32", 31, false, filter_f32 },
    { "nppiFilterGaussAdvancedBorder", "", "gaussian", "u8", 5, false, gauss_u8 },
    { "nppiFilterGaussAdvancedBorder", "", "gaussian", "u16", 2, false, gauss_u16 },
    { "nppiFilterGaussAdvancedBorder", "", "gaussian", "f32", 5, false, gauss_f32 },
    { "nppiFilterRowBorder32f + Column", "u8 between", "gaussian", "u8", 100, false,
      row_column_u8 },
    { "nppiFilterRowBorder + Column", "", "gaussian", "f32", 100, false, row_column_f32 },
    { "nppiFilterBoxBorder", "", "box", "u8", 31, false, box_u8 },
    { "nppiFilterSobelVertBorder", "", "sobel-x", "u8", 0, false, sobel_u8 },
    { "nppiGradientVectorSobelBorder", "s16 result", "sobel", "u8", 0, true, magnitude_u8 },
    { "nppiFilterUnsharpBorder", "", "unsharp", "u8", 2, false, unsharp_u8 },
};

/* ---- images and taps ---------------------------------------------------------------------- */

static void die(const char *what)
{
    fprintf(stderr, "gpu_npp: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
    exit(1);
}

static void *read_file(const char *folder, const char *name, const char *end, size_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s%s", folder, name, end);
    FILE *file = fopen(path, "rb");
    void *data = malloc(bytes);
    if (!file || !data || fread(data, 1, bytes, file) != bytes) die(path);
    fclose(file);
    return data;
}

static void *device_memory(size_t bytes)
{
    void *p;
    if (cudaMalloc(&p, bytes)) die("cudaMalloc");
    return p;
}

static size_t pixel_bytes(const char *pixel)
{
    return !strcmp(pixel, "u8") ? 1 : !strcmp(pixel, "u16") ? 2 : 4;
}

static void load_images(images *im, const char *folder, const char *kind, const char *pixel,
                        int size)
{
    char name[32];
    snprintf(name, sizeof name, "%s-%s", kind, pixel);
    const size_t bytes = (size_t)size * (size_t)size * pixel_bytes(pixel);
    void *host = read_file(folder, name, ".raw", bytes);
    im->size = (NppiSize){ size, size };
    im->pitch = size * (int)pixel_bytes(pixel);
    for (int i = 0; i < BUFFERS; i++) {
        im->src[i] = device_memory(bytes);
        if (cudaMemcpy(im->src[i], i ? im->src[0] : host, bytes, cudaMemcpyDefault))
            die("cudaMemcpy");
    }
    im->dst = device_memory(2 * bytes); /* a result may be twice as wide */
    im->between = device_memory(bytes);
    free(host);
}

static void free_images(images *im)
{
    for (int i = 0; i < BUFFERS; i++) cudaFree(im->src[i]);
    cudaFree(im->dst);
    cudaFree(im->between);
}

static void load_taps(job *j, const char *folder)
{
    const int rows = strcmp(j->op, "correlate") ? 1 : j->n_taps, n = j->n_taps * rows;
    if (n == 0) return;
    float *taps = read_file(folder, j->name, ".taps", (size_t)n * sizeof *taps);
    for (int i = 0; i < n / 2; i++) {
        const float t = taps[i];
        taps[i] = taps[n - 1 - i];
        taps[n - 1 - i] = t;
    }
    j->taps = device_memory((size_t)n * sizeof *taps);
    if (cudaMemcpy(j->taps, taps, (size_t)n * sizeof *taps, cudaMemcpyHostToDevice)) die("taps");
    free(taps);
}

static void load_work(job *j)
{
    int bytes;
    if (strcmp(j->op, "unsharp")) return;
    if (nppiFilterUnsharpGetBufferSize_8u_C1R((float)(j->n_taps / 2), (float)j->value, &bytes))
        die("unsharp buffer");
    j->work = device_memory((size_t)bytes);
}

static void fill_context(NppStreamContext *c)
{
    struct cudaDeviceProp p;
    if (cudaGetDeviceProperties(&p, 0)) die("no device");
    *c = (NppStreamContext){ .nMultiProcessorCount = p.multiProcessorCount,
                             .nMaxThreadsPerMultiProcessor = p.maxThreadsPerMultiProcessor,
                             .nMaxThreadsPerBlock = p.maxThreadsPerBlock,
                             .nSharedMemPerBlock = p.sharedMemPerBlock,
                             .nCudaDevAttrComputeCapabilityMajor = p.major,
                             .nCudaDevAttrComputeCapabilityMinor = p.minor };
}

/* ---- times -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Run n times on the buffers in turn, all queued at once; the median in ms, or -1. */
static float run_many(const job *j, const method *m, int n)
{
    cudaEvent_t event[MOST_RUNS + 1];
    float ms[MOST_RUNS];
    NppStatus status = NPP_SUCCESS;
    for (int i = 0; i <= n; i++) cudaEventCreate(&event[i]);
    cudaEventRecord(event[0], 0);
    for (int i = 0; i < n && status == NPP_SUCCESS; i++) {
        status = m->run(j, j->im->src[i % BUFFERS]);
        cudaEventRecord(event[i + 1], 0);
    }
    const bool failed = cudaDeviceSynchronize() != cudaSuccess || status != NPP_SUCCESS;
    for (int i = 0; i < n && !failed; i++) cudaEventElapsedTime(&ms[i], event[i], event[i + 1]);
    for (int i = 0; i <= n; i++) cudaEventDestroy(event[i]);
    if (failed) return -1;
    qsort(ms, (size_t)n, sizeof *ms, by_value);
    return n % 2 ? ms[n / 2] : (ms[n / 2 - 1] + ms[n / 2]) / 2;
}

static bool save_result(const job *j, const method *m, const char *folder, const char *name)
{
    const size_t bytes = (size_t)j->im->size.height * (size_t)j->im->pitch *
                         (m->s16 ? 2 / pixel_bytes(j->pixel) : 1);
    if (m->run(j, j->im->src[0]) != NPP_SUCCESS || cudaDeviceSynchronize()) return false;
    void *host = malloc(bytes);
    if (!host || cudaMemcpy(host, j->im->dst, bytes, cudaMemcpyDeviceToHost)) die("result");
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(host, 1, bytes, file) != bytes || fclose(file)) die(path);
    free(host);
    return true;
}

static void name_result(const job *j, const method *m, char *out, size_t n_bytes)
{
    snprintf(out, n_bytes, "npp-%s-%d.raw", j->name, (int)(m - methods));
}

static void say(const job *j, const method *m, const char *key, const char *value)
{
    printf("{\"case\": \"%s\", \"method\": \"%s\", \"%s\": \"%s\"}\n", j->name, m->name, key,
           value);
    fflush(stdout);
}

static void time_method(const job *j, const method *m)
{
    char result[128];
    name_result(j, m, result, sizeof result);
    float ms = run_many(j, m, 1);
    int runs = 1;
    if (ms > 0 && ms < 4 * ENOUGH_MS) { /* else the first run is long enough to count */
        runs = (int)(ENOUGH_MS / ms);
        runs = runs < 1 ? 1 : runs > MOST_RUNS ? MOST_RUNS : runs;
        ms = run_many(j, m, runs);
    }
    if (ms < 0)
        say(j, m, "failed", "NPP failed at this size");
    else
        printf("{\"case\": \"%s\", \"method\": \"%s\", \"note\": \"%s\", \"ms\": %.4f, "
               "\"runs\": %d, \"result\": \"%s\", \"pixel\": \"%s\"}\n",
               j->name, m->name, m->note, (double)ms, runs, result, m->s16 ? "s16" : j->pixel);
    fflush(stdout);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Do one thing with every case of a pixel type and every way to do it. */
typedef void each_fn(const job *j, const method *m, const char *folder, double end_s);

static void check(const job *j, const method *m, const char *folder, double end_s)
{
    char result[128];
    (void)end_s;
    name_result(j, m, result, sizeof result);
    if (!save_result(j, m, folder, result)) say(j, m, "failed", "NPP refused it");
}

static void take_time(const job *j, const method *m, const char *folder, double end_s)
{
    (void)folder;
    if (now_s() < end_s)
        time_method(j, m);
    else
        say(j, m, "cut", "the program's time was spent");
}

static void for_each(job *jobs, int n, const char *folder, const char *kind, int size, each_fn *fn,
                     double end_s)
{
    static const char *const pixels[] = { "u8", "u16", "f32" };
    for (int p = 0; p < 3; p++) {
        images im;
        load_images(&im, folder, kind, pixels[p], size);
        for (int i = 0; i < n; i++) {
            jobs[i].im = &im;
            for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
                const method *m = &methods[k];
                if (strcmp(m->pixel, pixels[p]) || strcmp(m->pixel, jobs[i].pixel)) continue;
                if (!strcmp(m->op, jobs[i].op) && jobs[i].value <= m->largest)
                    fn(&jobs[i], m, folder, end_s);
            }
        }
        free_images(&im);
    }
}

static int read_jobs(const char *folder, job jobs[MOST_CASES])
{
    char path[512];
    snprintf(path, sizeof path, "%s/cases.txt", folder);
    FILE *cases = fopen(path, "r");
    if (!cases) die(path);
    int n = 0;
    for (job j = { 0 }; n < MOST_CASES && fscanf(cases, "%63s %15s %7s %lf %d", j.name, j.op,
                                                 j.pixel, &j.value, &j.n_taps) == 5;
         n++) {
        jobs[n] = j;
        fill_context(&jobs[n].npp);
        load_taps(&jobs[n], folder);
        load_work(&jobs[n]);
    }
    fclose(cases);
    return n;
}

int main(int argc, char **argv)
{
    static job jobs[MOST_CASES];
    if (argc != 5) return 2;
    const NppLibraryVersion *version = nppGetLibVersion();
    printf("{\"peer\": \"NPP\", \"version\": \"%d.%d.%d\"}\n", version->major, version->minor,
           version->build);
    const int n = read_jobs(argv[1], jobs);
    for_each(jobs, n, argv[1], "check", atoi(argv[3]), check, 0);
    printf("{\"ready\": true}\n");
    fflush(stdout);
    if (getchar() == EOF) return 1;
    for_each(jobs, n, argv[1], "time", atoi(argv[2]), take_time, now_s() + atof(argv[4]));
    return 0;
}
