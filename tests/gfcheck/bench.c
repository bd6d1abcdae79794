/* Times of the filters' cases.
 *
 * A sample is one pass over several pairs of buffers, so that no cache holds the next input and a
 * launch hides behind the run before it; the median of the samples counts. On the GPU events
 * measure, on the CPU the clock. */
#include "gfcheck.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "engine/context.h"
#include "engine/registry.h"
#include "filters/impl.h"

enum { BUFFERS = 8, CPU_BUFFERS = 2, MAX_SAMPLES = 15, REF_SIZE = 256 };
enum { CUDA_SIZE = 8192, CPU_SIZE = 2048 };
static const double CPU_LIMIT_NS = 0.4e9, SLOWER = 1.10;

/* What implementations of one request run on. */
typedef struct buffers {
    gf_image_desc in, out;
    gfc_buffer src[BUFFERS], dst[BUFFERS];
} buffers;

typedef struct bench {
    gfc_run *run;
    gfc_bench_row *rows;
    size_t n_rows, capacity;
    double copy_ms[2][4]; /* by CUDA or not, by pixel type */
    unsigned long failed;
    int cut;                           /* parameter sets left out for time */
    buffers sets[2][GF_PIXEL_F32 + 1]; /* CPU and CUDA, by the input's pixel type */
} bench;

/* ---- one measurement ------------------------------------------------------------------------- */

typedef struct job {
    const gfi_request *request;
    const gf_impl *impl;
    void *state;
    buffers *buffers;
    int n_buffers;
} job;

static gf_status run_all(job *j)
{
    for (int i = 0; i < j->n_buffers; i++)
        GFI_TRY(
            j->impl->run(j->request, j->state, &j->buffers->src[i].view, &j->buffers->dst[i].view));
    return GF_OK;
}

static gf_status sample(job *j, double *ns)
{
    gfi_queue *queue = j->impl->backend == GF_BACKEND_CUDA ? j->request->queue : NULL;
    if (!queue) {
        double start = gfi_clock_ns();
        GFI_TRY(run_all(j));
        *ns = gfi_clock_ns() - start;
        return GF_OK;
    }
    GFI_TRY(gfi_queue_mark(queue, 0));
    GFI_TRY(run_all(j));
    GFI_TRY(gfi_queue_mark(queue, 1));
    return gfi_queue_elapsed_ns(queue, 0, 1, ns);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static gf_status median(job *j, double *ns)
{
    double samples[MAX_SAMPLES], first, spent = 0;
    int n = 0;
    GFI_TRY(sample(j, &first)); /* warms up */
    while (n < MAX_SAMPLES && (n < 3 || spent < CPU_LIMIT_NS)) {
        GFI_TRY(sample(j, &samples[n]));
        spent += samples[n++];
    }
    qsort(samples, (size_t)n, sizeof *samples, by_value);
    *ns = samples[n / 2] / j->n_buffers;
    return GF_OK;
}

static bool same_desc(const gf_image_desc *a, const gf_image_desc *b)
{
    return a->width == b->width && a->height == b->height && a->pixel == b->pixel;
}

static void free_buffers(buffers *set)
{
    for (int i = 0; i < BUFFERS; i++) {
        gfc_buffer_destroy(&set->src[i]);
        gfc_buffer_destroy(&set->dst[i]);
    }
    *set = (buffers){ 0 };
}

static gf_status fill_buffers(buffers *set, const gfc_case *one, gfi_queue *queue, int n)
{
    const gfc_layout layout = { GFC_TIGHT, 0 };
    void *pixels = malloc((size_t)one->width * (size_t)one->height * gf_pixel_bytes(one->in));
    if (!pixels) return gfi_fail(GF_ERROR_NO_MEMORY, "gfcheck: out of memory");
    gfc_pattern_fill(one, GFC_NOISE, 0, pixels);
    gf_status status = GF_OK;
    for (int i = 0; i < n && status == GF_OK; i++) {
        status = gfc_buffer_create(queue, &set->in, &layout, 0, &set->src[i]);
        if (status == GF_OK) status = gfc_buffer_create(queue, &set->out, &layout, 0, &set->dst[i]);
        if (status == GF_OK) status = gfc_buffer_fill(&set->src[i], 0, pixels);
        if (status == GF_OK) status = gfc_buffer_fill(&set->dst[i], 0, NULL);
    }
    free(pixels);
    return status;
}

/* Noise to read and room to write, made anew only when sizes change: at full size that takes
 * seconds. */
static gf_status get_buffers(bench *b, const gfc_case *one, const gfi_request *request, bool cuda,
                             buffers **out)
{
    buffers *set = &b->sets[cuda][request->in.pixel];
    *out = set;
    if (same_desc(&set->in, &request->in) && same_desc(&set->out, &request->out)) return GF_OK;
    free_buffers(set);
    set->in = request->in;
    set->out = request->out;
    gf_status status =
        fill_buffers(set, one, cuda ? request->queue : NULL, cuda ? BUFFERS : CPU_BUFFERS);
    if (status != GF_OK) free_buffers(set);
    return status;
}

static gf_status measure(const gfi_request *request, const gf_impl *impl, buffers *set, double *ms)
{
    job j = { .request = request, .impl = impl, .buffers = set };
    j.n_buffers = impl->backend == GF_BACKEND_CUDA ? BUFFERS : CPU_BUFFERS;
    double ns = 0;
    gf_status status = gfi_impl_prepare(impl, request, &j.state);
    if (status == GF_OK) status = median(&j, &ns);
    gfi_impl_destroy(impl, request, &j.state);
    *ms = ns * 1e-6;
    return status;
}

/* ---- one row -----------------------------------------------------------------------------------
 */

/* As many threads as a context would take. */
static int default_threads(void)
{
    gf_context *context;
    gf_context_params params = { .struct_size = sizeof params, .backend = GF_BACKEND_CPU };
    if (gf_context_create(&params, &context) != GF_OK) return 1;
    int n = gfi_context_threads(context);
    gf_context_destroy(&context);
    return n;
}

static gfc_case bench_case(const gf_filter_def *def, const char *params, gf_pixel pixel,
                           int32_t size)
{
    gfc_case one = { .def = def, .width = size, .height = size, .in = pixel, .out = pixel };
    snprintf(one.params, sizeof one.params, "%s", params);
    one.white = gf_pixel_white(pixel), one.threads = default_threads(), one.seed = 1;
    return one;
}

static gf_status time_case(bench *b, const gfc_case *one, const gf_impl *impl, double *ms)
{
    *ms = NAN;
    gfc_request made;
    GFI_TRY(gfc_request_create(b->run, one, &made));
    char why[GFI_WHY_BYTES] = "";
    gf_status status = GF_OK;
    if (!impl->usable || impl->usable(&made.request, why)) {
        buffers *set;
        status = get_buffers(b, one, &made.request, impl->backend == GF_BACKEND_CUDA, &set);
        if (status == GF_OK) status = measure(&made.request, impl, set, ms);
    }
    gfc_request_destroy(&made);
    return status;
}

static double traffic_bytes(const gfc_case *one)
{
    return 2.0 * one->width * one->height * (double)gf_pixel_bytes(one->in);
}

/* The reference takes minutes at full size; its time a pixel hardly depends on it. */
static int32_t size_for(const gfc_run *run, const gf_impl *impl)
{
    const int32_t asked = run->options->size;
    if (strcmp(impl->name, "ref") == 0) return asked && asked < REF_SIZE ? asked : REF_SIZE;
    if (asked) return asked;
    return impl->backend == GF_BACKEND_CUDA ? CUDA_SIZE : CPU_SIZE;
}

/* A plain copy, timed like an implementation. */
static gf_status copy_run(const gfi_request *request, void *state, const gf_view *src,
                          const gf_view *dst)
{
    (void)state;
    if (src->memory == GF_MEMORY_CUDA) return gfi_copy_image(request->queue, src, dst);
    return gf_view_copy(NULL, src, dst);
}

/* What moving the pixels takes: the faster of a plain copy and of `scale` with its defaults, whose
 * kernel moves 16 bytes a thread. */
static double copy_ms(bench *b, gf_backend backend, gf_pixel pixel, int32_t size)
{
    double *known = &b->copy_ms[backend == GF_BACKEND_CUDA][pixel];
    const gf_filter_def *def = gfi_registry_find("scale");
    if (*known != 0 || !def) return *known;
    const gf_impl copy = { .name = "copy", .backend = backend, .run = copy_run };
    gfc_case one = bench_case(def, "", pixel, size);
    if (time_case(b, &one, &copy, known) != GF_OK) *known = NAN;
    for (int i = 1; def->impls[i]; i++) {
        double ms;
        if (def->impls[i]->backend == backend && time_case(b, &one, def->impls[i], &ms) == GF_OK)
            *known = fmin(*known, ms); /* of two, NaN loses */
    }
    return *known;
}

static bool keep_row(bench *b, const gfc_bench_row *row)
{
    if (b->n_rows == b->capacity) {
        size_t capacity = b->capacity ? 2 * b->capacity : 64;
        gfc_bench_row *rows = realloc(b->rows, capacity * sizeof *rows);
        if (!rows) return false;
        b->rows = rows, b->capacity = capacity;
    }
    b->rows[b->n_rows++] = *row;
    return true;
}

/* ---- an older record
 * ----------------------------------------------------------------------------- */

/* The "ms" of the same measurement in a JSON file that --json wrote, one measurement a line. */
static double older_ms(const char *path, const gfc_bench_row *row)
{
    FILE *file = fopen(path, "r");
    char line[4 * GFC_TEXT], key[4 * GFC_TEXT];
    FILE *text = file ? tmpfile() : NULL;
    double ms = NAN;
    if (text) { /* written the same way, so that it compares equal */
        fprintf(text, "{\"filter\":\"%s\",\"params\":", row->filter);
        gfc_json_text(text, row->params);
        fprintf(text, ",\"impl\":\"%s\",\"backend\":\"%s\",\"pixel\":\"%s\",\"size\":%d,\"ms\":",
                row->impl, row->backend, row->pixel, (int)row->size);
        rewind(text);
        size_t n = fread(key, 1, sizeof key - 1, text);
        key[n] = 0;
        while (fgets(line, sizeof line, file))
            if (strncmp(line, key, n) == 0) ms = strtod(line + n, NULL);
        fclose(text);
    }
    if (file) fclose(file);
    return ms;
}

/* ---- the table
 * ------------------------------------------------------------------------------------ */

static void print_row(bench *b, const gfc_bench_row *row)
{
    printf("%-10s %-28.28s %-12s %-4s %5d %10.4f %8.1f %7.1f %8.1f", row->filter, row->params,
           row->impl, row->pixel, (int)row->size, row->ms, row->gb_s, row->percent_of_copy,
           row->speedup);
    const char *old = b->run->options->compare;
    double before = old ? older_ms(old, row) : NAN;
    if (!isnan(before)) {
        bool slower = row->ms > before * SLOWER && strcmp(row->impl, "ref") != 0;
        printf("  x%.2f%s", row->ms / before, slower ? " SLOWER" : "");
        b->failed += slower;
    }
    printf("\n");
    fflush(stdout);
}

static void bench_impl(bench *b, const gf_filter_def *def, const gf_impl *impl, const char *params,
                       gf_pixel pixel, double *ref_ns_px)
{
    gfc_case one = bench_case(def, params, pixel, size_for(b->run, impl));
    double ms;
    if (time_case(b, &one, impl, &ms) != GF_OK) {
        printf("FAIL %s %s %s: %s\n", def->info.name, impl->name, params, gf_error_message());
        b->failed++;
        return;
    }
    if (isnan(ms)) return; /* not usable here */
    double pixels = (double)one.width * one.height, ns_px = ms * 1e6 / pixels;
    if (impl == def->impls[0]) *ref_ns_px = ns_px;
    if (!gfc_wanted(b->run, def, impl)) return;
    double copy = copy_ms(b, impl->backend, pixel, one.width);
    gfc_bench_row row = { .filter = def->info.name,
                          .impl = impl->name,
                          .backend = gf_backend_name(impl->backend),
                          .pixel = gf_pixel_name(pixel),
                          .size = one.width,
                          .ms = ms,
                          .gb_s = traffic_bytes(&one) / (ms * 1e6),
                          .percent_of_copy = impl == def->impls[0] ? NAN : 100 * copy / ms,
                          .speedup = *ref_ns_px / ns_px };
    snprintf(row.params, sizeof row.params, "%s", params);
    if (!keep_row(b, &row)) b->failed++;
    print_row(b, &row);
}

/* One parameter set of a filter, on every pixel type and implementation. */
static void bench_params(bench *b, const gf_filter_def *def, const char *params)
{
    static const gf_pixel pixels[] = { GF_PIXEL_U8, GF_PIXEL_U16, GF_PIXEL_F32 };
    for (int p = 0; p < 3; p += b->run->options->quick ? 2 : 1) {
        double ref_ns_px = NAN;
        for (int i = 0; def->impls[i]; i++)
            if ((i == 0 || gfc_wanted(b->run, def, def->impls[i])) &&
                gfc_runnable(b->run, def->impls[i]))
                bench_impl(b, def, def->impls[i], params, pixels[p], &ref_ns_px);
    }
}

/* The index-th parameter set of every filter; false when no filter has one. */
static bool bench_round(bench *b, int index, double end_ns)
{
    bool any = false;
    for (size_t f = 0; f < gfi_registry_count(); f++) {
        const gf_filter_def *def = gfi_registry_get(f);
        const char *params = gf_filter_case(&def->info, (size_t)index);
        if (!params || (b->run->options->filter && strcmp(b->run->options->filter, def->info.name)))
            continue;
        any = true;
        if (gfi_clock_ns() < end_ns)
            bench_params(b, def, params);
        else
            b->cut++;
    }
    return any;
}

unsigned long gfc_bench(gfc_run *run, gfc_bench_row **rows, size_t *n_rows)
{
    bench b = { .run = run };
    const double end_ns = gfi_clock_ns() + run->options->budget_s * 1e9; /* NaN: no end */
    printf("\n%-10s %-28s %-12s %-4s %5s %10s %8s %7s %8s\n", "filter", "params", "impl", "px",
           "size", "ms", "GB/s", "% copy", "x ref");
    for (int index = 0; bench_round(&b, index, isnan(end_ns) ? INFINITY : end_ns); index++)
        continue;
    if (b.cut) printf("%d parameter sets were cut for time\n", b.cut);
    for (int cuda = 0; cuda < 2; cuda++)
        for (int pixel = 0; pixel <= GF_PIXEL_F32; pixel++) free_buffers(&b.sets[cuda][pixel]);
    *rows = b.rows, *n_rows = b.n_rows;
    return b.failed;
}
