/* Time NVIDIA's NPP: gpu_npp FOLDER SIZE CHECK SECONDS
 *
 * Reads cases.txt, the taps and the images that gpu_cases.py wrote; writes a JSON object a line, as
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

enum { BUFFERS = 8, MOST_RUNS = 20, ENOUGH_MS = 150 };

typedef struct job {
    char name[64], op[16], pixel[8];
    double value;
    int n_taps;
    float *taps; /* on the device, last first as NPP wants them */
    NppiSize size;
    int pitch; /* bytes of a row of source and result */
    void *src[BUFFERS], *dst, *between;
    unsigned char *work; /* what NPP asks for unsharp */
    NppStreamContext npp;
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
#define WHOLE j->pitch, j->size, AT_ORIGIN

/* ---- NPP's functions ---------------------------------------------------------------------- */

static NppStatus filter_u8(const job *j, const void *src)
{
    const NppiPoint centre = { j->n_taps / 2, j->n_taps / 2 };
    return nppiFilterBorder32f_8u_C1R_Ctx(src, WHOLE, j->dst, j->pitch, j->size, j->taps,
                                          (NppiSize){ j->n_taps, j->n_taps }, centre, BORDER,
                                          j->npp);
}

static NppStatus filter_f32(const job *j, const void *src)
{
    const NppiPoint centre = { j->n_taps / 2, j->n_taps / 2 };
    return nppiFilterBorder_32f_C1R_Ctx(src, WHOLE, j->dst, j->pitch, j->size, j->taps,
                                        (NppiSize){ j->n_taps, j->n_taps }, centre, BORDER, j->npp);
}

static NppStatus gauss_u8(const job *j, const void *src)
{
    return nppiFilterGaussAdvancedBorder_8u_C1R_Ctx(src, WHOLE, j->dst, j->pitch, j->size,
                                                    j->n_taps, j->taps, BORDER, j->npp);
}

static NppStatus gauss_u16(const job *j, const void *src)
{
    return nppiFilterGaussAdvancedBorder_16u_C1R_Ctx(src, WHOLE, j->dst, j->pitch, j->size,
                                                     j->n_taps, j->taps, BORDER, j->npp);
}

static NppStatus gauss_f32(const job *j, const void *src)
{
    return nppiFilterGaussAdvancedBorder_32f_C1R_Ctx(src, WHOLE, j->dst, j->pitch, j->size,
                                                     j->n_taps, j->taps, BORDER, j->npp);
}

static NppStatus row_column_u8(const job *j, const void *src)
{
    NppStatus status =
        nppiFilterRowBorder32f_8u_C1R_Ctx(src, WHOLE, j->between, j->pitch, j->size, j->taps,
                                          j->n_taps, j->n_taps / 2, BORDER, j->npp);
    if (status != NPP_SUCCESS) return status;
    return nppiFilterColumnBorder32f_8u_C1R_Ctx(j->between, WHOLE, j->dst, j->pitch, j->size,
                                                j->taps, j->n_taps, j->n_taps / 2, BORDER, j->npp);
}

static NppStatus row_column_f32(const job *j, const void *src)
{
    NppStatus status =
        nppiFilterRowBorder_32f_C1R_Ctx(src, WHOLE, j->between, j->pitch, j->size, j->taps,
                                        j->n_taps, j->n_taps / 2, BORDER, j->npp);
    if (status != NPP_SUCCESS) return status;
    return nppiFilterColumnBorder_32f_C1R_Ctx(j->between, WHOLE, j->dst, j->pitch, j->size, j->taps,
                                              j->n_taps, j->n_taps / 2, BORDER, j->npp);
}

static NppStatus box_u8(const job *j, const void *src)
{
    const int k = (int)j->value;
    return nppiFilterBoxBorder_8u_C1R_Ctx(src, WHOLE, j->dst, j->pitch, j->size, (NppiSize){ k, k },
                                          (NppiPoint){ k / 2, k / 2 }, BORDER, j->npp);
}

static NppStatus sobel_u8(const job *j, const void *src)
{
    return nppiFilterSobelVertBorder_8u_C1R_Ctx(src, WHOLE, j->dst, j->pitch, j->size, BORDER,
                                                j->npp);
}

static NppStatus magnitude_u8(const job *j, const void *src)
{
    return nppiGradientVectorSobelBorder_8u16s_C1R_Ctx(
        src, WHOLE, NULL, 0, NULL, 0, j->dst, 2 * j->pitch, NULL, 0, j->size, NPP_MASK_SIZE_3_X_3,
        nppiNormL2, BORDER, j->npp);
}

static NppStatus unsharp_u8(const job *j, const void *src)
{
    return nppiFilterUnsharpBorder_8u_C1R_Ctx(src, j->pitch, AT_ORIGIN, j->dst, j->pitch, j->size,
                                              (float)(j->n_taps / 2), (float)j->value, 1, 0, BORDER,
                                              j->work, j->npp);
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

static void load_images(job *j, const char *folder, const char *kind, int size)
{
    char name[32];
    snprintf(name, sizeof name, "%s-%s", kind, j->pixel);
    const size_t bytes = (size_t)size * (size_t)size * pixel_bytes(j->pixel);
    void *host = read_file(folder, name, ".raw", bytes);
    j->size = (NppiSize){ size, size };
    j->pitch = size * (int)pixel_bytes(j->pixel);
    for (int i = 0; i < BUFFERS; i++) {
        j->src[i] = device_memory(bytes);
        if (cudaMemcpy(j->src[i], host, bytes, cudaMemcpyHostToDevice)) die("cudaMemcpy");
    }
    j->dst = device_memory(2 * bytes);
    j->between = device_memory(bytes);
    free(host);
}

static void free_images(job *j)
{
    for (int i = 0; i < BUFFERS; i++) cudaFree(j->src[i]);
    cudaFree(j->dst);
    cudaFree(j->between);
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
        status = m->run(j, j->src[i % BUFFERS]);
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
    const size_t bytes =
        (size_t)j->size.height * (size_t)j->pitch * (m->s16 ? 2 / pixel_bytes(j->pixel) : 1);
    if (m->run(j, j->src[0]) != NPP_SUCCESS) return false;
    void *host = malloc(bytes);
    if (!host || cudaMemcpy(host, j->dst, bytes, cudaMemcpyDeviceToHost)) die("result");
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(host, 1, bytes, file) != bytes || fclose(file)) die(path);
    free(host);
    return true;
}

static void do_method(job *j, const method *m, const char *folder, int size, int check)
{
    char result[128];
    snprintf(result, sizeof result, "npp-%s-%d.raw", j->name, (int)(m - methods));
    load_images(j, folder, "check", check);
    const bool good = save_result(j, m, folder, result);
    free_images(j);
    printf("{\"case\": \"%s\", \"method\": \"%s\", ", j->name, m->name);
    if (!good) {
        printf("\"failed\": \"NPP refused it\"}\n");
        return;
    }
    load_images(j, folder, "time", size);
    float ms = run_many(j, m, 1);
    int runs = 1;
    if (ms > 0 && ms < 4 * ENOUGH_MS) { /* else the first run is long enough to count */
        runs = (int)(ENOUGH_MS / ms);
        runs = runs < 1 ? 1 : runs > MOST_RUNS ? MOST_RUNS : runs;
        ms = run_many(j, m, runs);
    }
    free_images(j);
    if (ms < 0)
        printf("\"failed\": \"NPP failed at this size\"}\n");
    else
        printf("\"note\": \"%s\", \"ms\": %.4f, \"runs\": %d, \"result\": \"%s\", \"pixel\": "
               "\"%s\"}\n",
               m->note, (double)ms, runs, result, m->s16 ? "s16" : j->pixel);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void do_case(job *j, const char *folder, int size, int check, double end_s)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const method *m = &methods[i];
        if (strcmp(m->op, j->op) || strcmp(m->pixel, j->pixel) || j->value > m->largest) continue;
        if (now_s() < end_s)
            do_method(j, m, folder, size, check);
        else
            printf("{\"case\": \"%s\", \"method\": \"%s\", \"cut\": \"the peer's seconds were "
                   "spent\"}\n",
                   j->name, m->name);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5) return 2;
    const double end_s = now_s() + atof(argv[4]);
    const NppLibraryVersion *version = nppGetLibVersion();
    printf("{\"peer\": \"NPP\", \"version\": \"%d.%d.%d\"}\n", version->major, version->minor,
           version->build);
    char path[512];
    snprintf(path, sizeof path, "%s/cases.txt", argv[1]);
    FILE *cases = fopen(path, "r");
    if (!cases) die(path);
    job j = { 0 };
    fill_context(&j.npp);
    while (fscanf(cases, "%63s %15s %7s %lf %d", j.name, j.op, j.pixel, &j.value, &j.n_taps) == 5) {
        load_taps(&j, argv[1]);
        load_work(&j);
        do_case(&j, argv[1], atoi(argv[2]), atoi(argv[3]), end_s);
        cudaFree(j.taps);
        cudaFree(j.work);
        j.taps = NULL;
        j.work = NULL;
    }
    fclose(cases);
    return 0;
}
