#define _POSIX_C_SOURCE 200809L
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "setup.h"
#include "signals.h"
#include "timer.h"

/* ---- files -------------------------------------------------------------------------------- */

static gf_save_params save_params(const cli_args *args)
{
    return (gf_save_params){ .struct_size = sizeof(gf_save_params),
                             .format = args->format,
                             .jpeg_quality = args->quality,
                             .no_clobber = args->no_clobber };
}

static bool can_hold(const cli_args *args, const char *path, gf_pixel pixel)
{
    gf_save_params params = save_params(args);
    return gf_save_check(path, pixel, &params) == GF_OK;
}

gf_pixel picture_out_pixel(const cli_args *args, const char *path, gf_pixel input)
{
    if (args->depth) return args->depth;
    if (!path || can_hold(args, path, GF_PIXEL_U8) || can_hold(args, path, GF_PIXEL_U16))
        return input;
    return can_hold(args, path, GF_PIXEL_F32) ? GF_PIXEL_F32 : input;
}

cli_exit picture_check_output(const cli_args *args, const char *output)
{
    struct stat s;
    bool held = args->depth ? can_hold(args, output, args->depth)
                            : can_hold(args, output, GF_PIXEL_F32) ||
                                  can_hold(args, output, GF_PIXEL_U16) ||
                                  can_hold(args, output, GF_PIXEL_U8);
    if (!held)
        return cli_library_error(CLI_OUTPUT, "gpufilter --version --verbose lists the formats");
    if (args->no_clobber && strcmp(output, "-") && !lstat(output, &s))
        return cli_error(CLI_OUTPUT, "without --no-clobber it is replaced", "'%s' is there already",
                         output);
    return CLI_OK;
}

cli_exit picture_load(const cli_args *args, const char *path, gf_file_info *info, gf_image **out)
{
    gf_load_params params = { .struct_size = sizeof params,
                              .max_pixels = args->max_pixels,
                              .info = info };
    gf_status status = gf_image_load(path, &params, out);
    if (status == GF_OK) {
        if (info->notice[0] && !args->quiet) cli_notice("%s: %s", path, info->notice);
        return CLI_OK;
    }
    bool machine = status == GF_ERROR_NO_MEMORY || status == GF_ERROR_INTERNAL;
    return cli_library_error(machine ? CLI_FAILED : CLI_INPUT, NULL);
}

cli_exit picture_save(const cli_args *args, const char *path, const gf_view *view)
{
    struct stat s;
    gf_save_params params = save_params(args);
    /* a pipe may never be read: there an interrupt must not wait */
    bool hold = strcmp(path, "-") && (stat(path, &s) || S_ISREG(s.st_mode));
    if (hold) signals_hold();
    gf_status status = gf_image_save(path, view, &params);
    if (hold) signals_release();
    if (status == GF_OK) return CLI_OK;
    return cli_library_error(status == GF_ERROR_NO_MEMORY ? CLI_FAILED : CLI_OUTPUT, NULL);
}

/* ---- steps -------------------------------------------------------------------------------- */

static cli_exit load(batch *s, picture *p, gf_image **src)
{
    double begin = timer_now_ns();
    cli_exit code = picture_load(s->args, p->input, &p->info, src);
    p->times.decode_ns = timer_now_ns() - begin;
    return code;
}

static cli_exit plan(batch *s, picture *p, const gf_image_desc *in)
{
    if (s->plan && s->plan_in.width == in->width && s->plan_in.height == in->height &&
        s->plan_in.pixel == in->pixel && gf_plan_output(s->plan).pixel == p->out.pixel)
        return CLI_OK;
    gf_plan_destroy(&s->plan);
    double begin = timer_now_ns();
    gf_plan_params params = { .struct_size = sizeof params,
                              .out_pixel = p->out.pixel,
                              .white = s->args->white,
                              .impl = s->args->impl,
                              .expected_runs = (unsigned)s->args->n_words };
    gf_status status = gf_plan_create(s->context, s->graph, in, &params, &s->plan);
    p->times.plan_ns = timer_now_ns() - begin;
    if (status != GF_OK) return cli_library_error(setup_plan_exit(status), NULL);
    s->plan_in = *in;
    p->new_plan = true;
    return CLI_OK;
}

static cli_exit check_pixel(batch *s, picture *p)
{
    gf_save_params params = save_params(s->args);
    if (!p->output || gf_save_check(p->output, p->out.pixel, &params) == GF_OK) return CLI_OK;
    return cli_library_error(CLI_OUTPUT, NULL);
}

/* CUDA starts once, in the first plan that wants it or, with --backend cuda, before any plan. */
static void count_context_start(batch *s, picture *p, double ns)
{
    if (s->context_counted || !(ns > 0)) return;
    s->context_counted = true;
    p->times.context_ns = ns;
    if (s->args->backend != GF_BACKEND_CUDA) p->times.plan_ns = fmax(0, p->times.plan_ns - ns);
}

static cli_exit run(batch *s, picture *p, const gf_image *src, const gf_image *dst)
{
    gf_view from = gf_image_view(src), to = gf_image_view(dst);
    gf_timings t;
    gf_status status = gf_plan_run(s->plan, &from, &to);
    if (status == GF_OK) status = gf_plan_timings(s->plan, &t);
    if (status != GF_OK) return cli_library_error(CLI_FAILED, NULL);
    count_context_start(s, p, t.context_ns);
    p->times.upload_ns = t.upload_ns;
    p->times.kernels_ns = t.kernels_ns;
    p->times.download_ns = t.download_ns;
    return CLI_OK;
}

static cli_exit save(batch *s, picture *p, const gf_view *view)
{
    if (!p->output) return CLI_OK;
    double begin = timer_now_ns();
    cli_exit code = picture_save(s->args, p->output, view);
    p->times.encode_ns = timer_now_ns() - begin;
    p->written = !code;
    return code;
}

static void measure(batch *s, picture *p, const gf_view *view, const gf_view *expected)
{
    difference *d = &p->difference;
    difference_measure(view, expected, s->args->tolerance, d);
    p->verified = true;
    if (!d->beyond) return;
    snprintf(p->error, sizeof p->error,
             "the result differs from '%s': %llu pixels by more than %.6g, at most by %.9g",
             s->args->verify, (unsigned long long)d->beyond, d->tolerance,
             d->unbounded ? (double)INFINITY : d->max);
}

static cli_exit verify(batch *s, picture *p, const gf_view *view)
{
    if (!s->expected) return CLI_OK;
    gf_view expected = gf_image_view(s->expected);
    if (expected.width == view->width && expected.height == view->height)
        measure(s, p, view, &expected);
    else
        snprintf(p->error, sizeof p->error, "the result is %dx%d, but '%s' is %dx%d", view->width,
                 view->height, s->args->verify, expected.width, expected.height);
    return p->error[0] ? cli_error(CLI_DIFFERS, NULL, "%s: %s", p->input, p->error) : CLI_OK;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* First use of memory takes about as long as a filter. While CUDA starts there is time for it: most
 * results have the source's size. */
static void make_result_early(batch *s, const picture *p, const gf_image *src)
{
    gf_view view = gf_image_view(src);
    gf_image_desc desc = { view.width, view.height,
                           picture_out_pixel(s->args, p->output, view.pixel) };
    if (s->args->dry_run || gf_image_create(NULL, &desc, GF_MEMORY_HOST, &s->result) != GF_OK)
        return;
    view = gf_image_view(s->result);
    memset(view.data, 0, view.pitch_bytes * (size_t)view.height);
}

static cli_exit take_result(batch *s, const gf_image_desc *desc, gf_image **out)
{
    gf_view view = gf_image_view(s->result);
    *out = s->result;
    s->result = NULL;
    if (view.width == desc->width && view.height == desc->height && view.pixel == desc->pixel)
        return CLI_OK;
    gf_image_destroy(out);
    return gf_image_create(NULL, desc, GF_MEMORY_HOST, out) == GF_OK
               ? CLI_OK
               : cli_library_error(CLI_FAILED, NULL);
}

static cli_exit wait_for_context(batch *s, const picture *p, const gf_image *src)
{
    if (s->context_ready) return CLI_OK;
    s->context_ready = true;
    if (s->args->backend == GF_BACKEND_CUDA) make_result_early(s, p, src);
    return setup_context_end(s->context);
}

static cli_exit filter_and_write(batch *s, picture *p, const gf_image *src)
{
    gf_image *dst;
    cli_exit got = take_result(s, &p->out, &dst);
    if (got) return got;
    cli_exit code = run(s, p, src, dst);
    gf_view view = gf_image_view(dst);
    if (!code) code = save(s, p, &view);
    if (!code) code = verify(s, p, &view);
    gf_image_destroy(&dst);
    return code;
}

static cli_exit plan_and_run(batch *s, picture *p, const gf_image *src)
{
    gf_view view = gf_image_view(src);
    gf_image_desc in = { view.width, view.height, view.pixel };
    p->out.pixel = picture_out_pixel(s->args, p->output, in.pixel);
    cli_exit code = check_pixel(s, p);
    if (!code) code = plan(s, p, &in);
    if (code) return code;
    p->planned = true;
    p->out = gf_plan_output(s->plan);
    return s->args->dry_run ? CLI_OK : filter_and_write(s, p, src);
}

void picture_process(batch *s, picture *p)
{
    gf_image *src = NULL;
    p->code = load(s, p, &src);
    if (!p->code) p->code = wait_for_context(s, p, src);
    if (!p->code) p->code = plan_and_run(s, p, src);
    gf_image_destroy(&s->result);
    if (p->code && !p->error[0]) snprintf(p->error, sizeof p->error, "%s", gf_error_message());
    gf_image_destroy(&src);
}
