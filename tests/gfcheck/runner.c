/* One case through every implementation. */
#include "gfcheck.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/clock.h"
#include "engine/params.h"
#include "engine/registry.h"
#include "filters/impl.h"

enum { GUARD_BYTES = 512, MAX_PRINTED = 3 };

/* ---- the machine ---------------------------------------------------------------------------- */

static void add_rows(gfc_run *run)
{
    for (size_t f = 0; f < gfi_registry_count(); f++) {
        const gf_filter_def *def = gfi_registry_get(f);
        for (int i = 0; def->impls[i] && run->n_rows < GFC_MAX_ROWS; i++)
            run->rows[run->n_rows++] = (gfc_row){ .def = def, .impl = def->impls[i] };
    }
}

/* No device is no failure: its implementations are counted as skipped. */
static void open_device(gfc_run *run)
{
    const char *why = "not asked for";
    bool wanted = run->options->backend != GF_BACKEND_CPU && gfi_device_possible(0, &why);
    if (wanted && (gfi_device_open(0, &run->device) != GF_OK ||
                   gfi_queue_create(run->device, NULL, &run->queue) != GF_OK))
        why = gf_error_message();
    if (!run->queue) snprintf(run->no_device, sizeof run->no_device, "%s", why);
    if (!run->queue && run->device) gfi_device_close(&run->device);
}

gf_status gfc_run_open(gfc_run *run, const gfc_options *options)
{
    *run = (gfc_run){ .options = options };
    if (options->filter && !gfi_registry_find(options->filter))
        return gfi_unknown_filter(options->filter);
    add_rows(run);
    open_device(run);
    return GF_OK;
}

void gfc_run_close(gfc_run *run)
{
    gfi_queue_destroy(&run->queue);
    gfi_device_close(&run->device);
}

bool gfc_wanted(const gfc_run *run, const gf_filter_def *def, const gf_impl *impl)
{
    const gfc_options *o = run->options;
    return (!o->filter || strcmp(o->filter, def->info.name) == 0) &&
           (!o->impl || strcmp(o->impl, impl->name) == 0) &&
           (o->backend == GF_BACKEND_AUTO || o->backend == impl->backend);
}

bool gfc_runnable(const gfc_run *run, const gf_impl *impl)
{
    return impl->backend == GF_BACKEND_CPU || run->queue;
}

static gfc_row *row_of(gfc_run *run, const gf_filter_def *def, const gf_impl *impl)
{
    for (int i = 0; i < run->n_rows; i++)
        if (run->rows[i].def == def && run->rows[i].impl == impl) return &run->rows[i];
    return NULL;
}

/* ---- requests ------------------------------------------------------------------------------- */

static gf_status fill_request(const gfc_run *run, const gfc_case *one, gfc_request *out)
{
    const gf_filter_def *def = one->def;
    gf_image_desc in = { one->width, one->height, one->in }, result = in;
    GFI_TRY(gfi_params_parse(def, one->params, &out->params));
    if (def->out_size) GFI_TRY(def->out_size(out->params, &in, &result.width, &result.height));
    if (def->window) GFI_TRY(def->window(out->params, &in, &out->window));
    result.pixel = one->out;
    out->request = (gfi_request){ .def = def,
                                  .params = out->params,
                                  .in = in,
                                  .out = result,
                                  .white = one->white,
                                  .window = out->window,
                                  .threads = one->threads,
                                  .facts = run->device ? gfi_device_get_facts(run->device) : NULL,
                                  .queue = run->queue };
    return GF_OK;
}

gf_status gfc_request_create(const gfc_run *run, const gfc_case *one, gfc_request *out)
{
    *out = (gfc_request){ .request = { .def = one->def } };
    gf_status status = fill_request(run, one, out);
    if (status != GF_OK) gfc_request_destroy(out);
    return status;
}

void gfc_request_destroy(gfc_request *out)
{
    gfi_window_destroy(&out->window);
    if (out->params) gfi_params_destroy(out->request.def, &out->params);
    *out = (gfc_request){ 0 };
}

static size_t pixels_of(const gf_image_desc *desc)
{
    return (size_t)desc->width * (size_t)desc->height;
}

/* About what the reference takes for an image of a size. */
static double reference_ms(const gfi_request *r, double width, double height)
{
    double taps = 4, grown_w = r->out.width - r->in.width, grown_h = r->out.height - r->in.height;
    if (r->window) {
        double kw = r->window->kw, kh = r->window->kh;
        taps += r->window->n_terms ? r->window->n_terms * (kw + kh) : kw * kh;
    }
    return (width + fmax(grown_w, 0)) * (height + fmax(grown_h, 0)) * taps * 4e-6;
}

/* Make the request, on a smaller image when the reference would take too long. */
static gf_status shrink_to_fit(const gfc_run *run, gfc_case *one, gfc_request *out)
{
    GFI_TRY(gfc_request_create(run, one, out));
    int32_t w = one->width, h = one->height;
    while (w * h > 1 && reference_ms(&out->request, w, h) > run->options->case_ms) {
        int32_t *side = w >= h ? &w : &h;
        *side = (*side + 1) / 2;
    }
    if (w == one->width && h == one->height) return GF_OK;
    gfc_request_destroy(out);
    one->width = w, one->height = h;
    return gfc_request_create(run, one, out);
}

/* ---- one run of one implementation ------------------------------------------------------------
 */

static gf_status prepare_and_run(const gfi_request *request, const gf_impl *impl,
                                 const gf_view *src, const gf_view *dst)
{
    void *state = NULL;
    GFI_TRY(gfi_impl_prepare(impl, request, &state));
    gf_status status = impl->run(request, state, src, dst);
    gfi_impl_destroy(impl, request, &state);
    return status;
}

static gf_status run_buffers(const gfi_request *request, const gf_impl *impl, const void *pixels,
                             int byte, gfc_buffer *src, gfc_buffer *dst, void *result)
{
    size_t at = 0;
    GFI_TRY(gfc_buffer_fill(src, byte, pixels));
    GFI_TRY(gfc_buffer_fill(dst, byte, NULL));
    GFI_TRY(prepare_and_run(request, impl, &src->view, &dst->view));
    GFI_TRY(gfc_buffer_fetch(dst));
    GFI_TRY(gfc_buffer_fetch(src));
    if (gfc_buffer_changed(dst, true, &at))
        return gfi_fail(GF_ERROR_INTERNAL, "wrote outside dst: byte %td from its first pixel",
                        (ptrdiff_t)at - (ptrdiff_t)dst->first);
    if (gfc_buffer_changed(src, false, &at))
        return gfi_fail(GF_ERROR_INTERNAL, "wrote to src: byte %td from its first pixel",
                        (ptrdiff_t)at - (ptrdiff_t)src->first);
    gfc_buffer_pixels(dst, result);
    return GF_OK;
}

/* Run on buffers whose padding and result are first filled with one byte. */
static gf_status run_once(const gfi_request *request, const gfc_case *one, const gf_impl *impl,
                          const void *pixels, int byte, void *result)
{
    gfi_queue *queue = impl->backend == GF_BACKEND_CUDA ? request->queue : NULL;
    gfc_buffer src = { 0 }, dst = { 0 };
    gf_status status = gfc_buffer_create(queue, &request->in, &one->src, 0, &src);
    if (status == GF_OK)
        status = gfc_buffer_create(queue, &request->out, &one->dst, GUARD_BYTES, &dst);
    if (status == GF_OK) status = run_buffers(request, impl, pixels, byte, &src, &dst, result);
    gfc_buffer_destroy(&src);
    gfc_buffer_destroy(&dst);
    return status;
}

/* ---- what is right ----------------------------------------------------------------------------
 */

/* All that the implementations' checks of a case share. */
typedef struct trial {
    const gfc_case *one;
    const gfi_request *request;
    size_t n_in, n_out, out_bytes;
    void *pixels;     /* the input */
    void *plain;      /* the input without the pixels put over the noise; NULL without such */
    float *value;     /* the reference's result as f32 */
    float *sharpened; /* and without unsharp's threshold, or NULL */
    float *touched;   /* NaN where a replaced pixel may show, or NULL */
    void *first, *second;
    double allowed; /* for tol_factor 1 */
} trial;

/* The reference's f32 result of an image of the case's size. */
static gf_status reference(const trial *t, const gfi_window *window, gf_pixel in,
                           const void *pixels, float *result)
{
    gfi_request request = *t->request;
    request.in.pixel = in;
    request.out.pixel = GF_PIXEL_F32;
    request.window = window;
    gfc_case tight = *t->one;
    tight.src = tight.dst = (gfc_layout){ GFC_TIGHT, 0 };
    return run_once(&request, &tight, request.def->impls[0], pixels, 0xff, result);
}

static double max_abs(const void *pixels, gf_pixel pixel, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double v = fabs(gfc_pixel_get(pixels, pixel, i));
        if (isfinite(v) && v > most) most = v;
    }
    return most;
}

static double allowed_error(const trial *t)
{
    const gfi_request *r = t->request;
    const gfi_window *w = r->window;
    double most = max_abs(t->pixels, r->in.pixel, t->n_in);
    if (w && w->border == GF_BORDER_CONSTANT) most = fmax(most, fabs(w->border_value));
    if (r->out.pixel != GF_PIXEL_F32) most = fmax(most, r->white);
    /* the last bit of a denormal, for each product */
    double steps = w ? ((double)w->kw * w->kh + 16) * (1 + w->abs_sum) : 4;
    double least = FLT_TRUE_MIN * steps;
    if (r->def->tolerance) return least + r->def->tolerance(r, most);
    if (w) return least + 0x1p-20 * w->abs_sum * most;
    return least + 0x1p-20 * fmax(most, max_abs(t->value, GF_PIXEL_F32, t->n_out));
}

/* Large enough that a square leaves f32, small enough that a sum or a spectrum does not. */
static double huge_of(const gfi_request *r)
{
    double sum = r->window ? fmax(1, r->window->abs_sum) : 1;
    return fmin(1e25, 1e30 / sum);
}

static void *bytes(size_t n, size_t size)
{
    void *memory = malloc(n * size);
    if (!memory) gfi_fail(GF_ERROR_NO_MEMORY, "gfcheck: %zu bytes", n * size);
    return memory;
}

static gf_status find_touched(trial *t)
{
    float *marks = bytes(t->n_in, sizeof *marks);
    t->touched = bytes(t->n_out, sizeof *t->touched);
    gf_status status = marks && t->touched ? GF_OK : GF_ERROR_NO_MEMORY;
    if (status == GF_OK) {
        gfc_pattern_marks(t->one, marks);
        status = reference(t, t->request->window, GF_PIXEL_F32, marks, t->touched);
    }
    free(marks);
    return status;
}

static gf_status find_sharpened(trial *t)
{
    gfi_window window = *t->request->window;
    window.threshold = 0;
    t->sharpened = bytes(t->n_out, sizeof *t->sharpened);
    if (!t->sharpened) return GF_ERROR_NO_MEMORY;
    return reference(t, &window, t->request->in.pixel, t->pixels, t->sharpened);
}

static gf_status trial_create(const gfc_case *one, const gfi_request *request, trial *t)
{
    const gfi_window *w = request->window;
    *t = (trial){ .one = one, .request = request };
    t->n_in = pixels_of(&request->in), t->n_out = pixels_of(&request->out);
    t->out_bytes = gf_pixel_bytes(request->out.pixel);
    t->pixels = bytes(t->n_in, gf_pixel_bytes(request->in.pixel));
    t->value = bytes(t->n_out, sizeof *t->value);
    t->first = bytes(t->n_out, t->out_bytes);
    t->second = bytes(t->n_out, t->out_bytes);
    if (!t->pixels || !t->value || !t->first || !t->second) return GF_ERROR_NO_MEMORY;
    gfc_pattern_fill(one, one->pattern, huge_of(request), t->pixels);
    GFI_TRY(reference(t, w, request->in.pixel, t->pixels, t->value));
    t->allowed = allowed_error(t);
    if (w && w->combine == GFI_COMBINE_UNSHARP && w->threshold > 0) GFI_TRY(find_sharpened(t));
    if (one->pattern < GFC_SPIKE || request->def->scope == GFI_SCOPE_IMAGE) return GF_OK;
    t->plain = bytes(t->n_in, gf_pixel_bytes(request->in.pixel));
    if (!t->plain) return GF_ERROR_NO_MEMORY;
    gfc_pattern_fill(one, GFC_NOISE, 0, t->plain);
    return find_touched(t);
}

static void trial_destroy(trial *t)
{
    free(t->pixels);
    free(t->plain);
    free(t->value);
    free(t->sharpened);
    free(t->touched);
    free(t->first);
    free(t->second);
}

/* ---- checks ------------------------------------------------------------------------------------
 */

static gf_status check_values(const trial *t, const gf_impl *impl, double *ratio)
{
    const gfi_request *r = t->request;
    double factor = impl->tol_factor > 0 ? impl->tol_factor : 1;
    gfc_expected expected = { .out = r->out, .value = t->value, .allowed = t->allowed * factor };
    if (t->sharpened) {
        expected.sharpened = t->sharpened;
        expected.src = t->pixels;
        expected.src_pixel = r->in.pixel;
        expected.step = fabs(r->window->amount) * r->window->threshold;
        expected.step_allowed = expected.allowed;
    }
    gfc_verdict v;
    bool right = gfc_compare(&expected, t->first, &v);
    *ratio = v.ratio;
    if (right) return GF_OK;
    return gfi_fail(
        GF_ERROR_INTERNAL,
        "pixel %zu,%zu is %.9g, not %.9g: off by %.3g, allowed %.3g; %zu of %zu are wrong",
        v.worst % (size_t)r->out.width, v.worst / (size_t)r->out.width, v.got, v.expected, v.error,
        v.allowed, v.bad, t->n_out);
}

/* Other padding, other poison, other threads: the same bits. */
static gf_status check_repeat(const trial *t, const gf_impl *impl)
{
    gfi_request request = *t->request;
    request.threads = 5 - request.threads;
    GFI_TRY(run_once(&request, t->one, impl, t->pixels, 0, t->second));
    if (memcmp(t->first, t->second, t->n_out * t->out_bytes) == 0) return GF_OK;
    size_t i = 0;
    const char *a = t->first, *b = t->second;
    while (memcmp(a + i * t->out_bytes, b + i * t->out_bytes, t->out_bytes) == 0) i++;
    gf_pixel pixel = request.out.pixel;
    return gfi_fail(GF_ERROR_INTERNAL, "not repeatable: pixel %zu,%zu was %.9g, then %.9g",
                    i % (size_t)request.out.width, i / (size_t)request.out.width,
                    gfc_pixel_get(a, pixel, i), gfc_pixel_get(b, pixel, i));
}

/* Without the replaced pixels, those out of their reach have the same bits. An FFT spreads every
 * pixel over its tile, a coarse grid a little past the window; they are held to the tolerance. */
static gf_status check_leaks(const trial *t, const gf_impl *impl)
{
    if (!t->touched || strstr(impl->name, "fft") || strstr(impl->name, "coarse")) return GF_OK;
    GFI_TRY(run_once(t->request, t->one, impl, t->plain, 0x5a, t->second));
    const char *a = t->first, *b = t->second;
    for (size_t i = 0; i < t->n_out; i++) {
        size_t at = i * t->out_bytes;
        if (isnan(t->touched[i]) || memcmp(a + at, b + at, t->out_bytes) == 0) continue;
        gf_pixel pixel = t->request->out.pixel;
        size_t width = (size_t)t->request->out.width;
        return gfi_fail(GF_ERROR_INTERNAL,
                        "pixel %zu,%zu is %.9g instead of %.9g because of one outside its window",
                        i % width, i / width, gfc_pixel_get(a, pixel, i),
                        gfc_pixel_get(b, pixel, i));
    }
    return GF_OK;
}

static gf_status check_impl(const trial *t, const gf_impl *impl, double *ratio)
{
    GFI_TRY(run_once(t->request, t->one, impl, t->pixels, 0xff, t->first));
    GFI_TRY(check_values(t, impl, ratio));
    GFI_TRY(check_repeat(t, impl));
    return check_leaks(t, impl);
}

static void print_failure(const gfc_run *run, const gfc_row *row, const trial *t)
{
    if (row->failed > MAX_PRINTED && !run->options->verbose) return;
    const gfc_case *one = t->one;
    char text[2 * GFC_TEXT];
    gfc_case_print(one, text, sizeof text);
    printf("FAIL %s %s: %s\n", row->def->info.name, row->impl->name, gf_error_message());
    printf("  %s: %dx%d to %dx%d, %s to %s, pattern %s, white %g, seed %llu\n", one->params,
           (int)one->width, (int)one->height, (int)t->request->out.width,
           (int)t->request->out.height, gf_pixel_name(one->in), gf_pixel_name(one->out),
           gfc_pattern_name(one->pattern), one->white, (unsigned long long)one->seed);
    /* a quote inside quotes of the shell */
    printf("  gfcheck --impl %s --case '", row->impl->name);
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            printf("'\\''");
        else
            putchar(*c);
    printf("'\n");
    fflush(stdout);
}

/* After a fault of the device nothing on it can be trusted. */
static void lose_device(gfc_run *run)
{
    snprintf(run->no_device, sizeof run->no_device, "lost: %.200s", gf_error_message());
    printf("device %s\n", run->no_device);
    gfi_queue_destroy(&run->queue);
    gfi_device_close(&run->device);
}

static void run_impl(gfc_run *run, gfc_row *row, const trial *t)
{
    char why[GFI_WHY_BYTES] = "";
    if (row->impl->usable && !row->impl->usable(t->request, why)) {
        row->unusable++;
        memcpy(row->why, why, sizeof row->why);
        return;
    }
    double ratio = 0;
    gf_status status = check_impl(t, row->impl, &ratio);
    row->ratio = fmax(row->ratio, ratio);
    if (status == GF_OK) {
        row->passed++;
        return;
    }
    if (status == GF_ERROR_NO_MEMORY || status == GF_ERROR_DEVICE_MEMORY) { /* no wrong answer */
        row->unusable++;
        snprintf(row->why, sizeof row->why, "%.150s", gf_error_message());
        return;
    }
    row->failed++;
    print_failure(run, row, t);
    if (status == GF_ERROR_DEVICE && row->impl->backend == GF_BACKEND_CUDA) lose_device(run);
}

static void fail_reference(gfc_run *run, const trial *t)
{
    gfc_row *row = row_of(run, t->request->def, t->request->def->impls[0]);
    row->failed++;
    print_failure(run, row, t);
}

static void run_request(gfc_run *run, const gfc_case *one, const gfi_request *request)
{
    trial t;
    const gf_impl *const *impls = request->def->impls;
    char why[GFI_WHY_BYTES] = "";
    if (impls[0]->usable && !impls[0]->usable(request, why)) {
        gfc_row *row = row_of(run, request->def, impls[0]);
        row->unusable++;
        memcpy(row->why, why, sizeof row->why);
        return;
    }
    if (trial_create(one, request, &t) != GF_OK) {
        fail_reference(run, &t);
    } else {
        for (int i = 0; impls[i]; i++)
            if (gfc_wanted(run, request->def, impls[i]) && gfc_runnable(run, impls[i]))
                run_impl(run, row_of(run, request->def, impls[i]), &t);
    }
    trial_destroy(&t);
}

void gfc_run_case(gfc_run *run, const gfc_case *one)
{
    gfc_case fitting = *one;
    gfc_request made;
    run->cases++;
    gf_status status = shrink_to_fit(run, &fitting, &made);
    /* drawn values may break a rule between two parameters, or leave nothing of the image */
    if (status == GF_ERROR_RANGE) {
        run->refused++;
        return;
    }
    if (status != GF_OK) {
        gfi_request request = { .def = one->def };
        trial t = { .one = one, .request = &request };
        fail_reference(run, &t);
        return;
    }
    if (run->options->verbose) {
        char text[2 * GFC_TEXT];
        gfc_case_print(&fitting, text, sizeof text);
        printf("%s\n", text);
        fflush(stdout);
    }
    run_request(run, &fitting, &made.request);
    gfc_request_destroy(&made);
}
