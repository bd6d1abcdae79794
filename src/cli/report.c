#include "report.h"

#include <math.h>
#include <string.h>

#include "timer.h"

static void explain_rivals(const gf_plan *plan, int stage, const char *chosen, FILE *out)
{
    gf_rival_info r;
    char cost[32];
    for (int k = 0; gf_plan_rival_get(plan, stage, k, &r); k++) {
        if (!strcmp(r.impl, chosen)) continue;
        fprintf(out, "  %-14s %-4s ", r.impl, gf_backend_name(r.backend));
        if (!r.usable)
            fprintf(out, "not usable: %s\n", r.why);
        else if (!isfinite(r.cost_ns))
            fprintf(out, "the plain reference, only on request\n");
        else
            fprintf(out, "expected %s\n", timer_text(r.cost_ns, cost, sizeof cost));
    }
}

void report_explain(const gf_plan *plan, FILE *out)
{
    gf_stage_info s;
    char cost[32], memory[32];
    for (int i = 0; gf_plan_stage_get(plan, i, &s); i++) {
        snprintf(cost, sizeof cost, "unknown");
        if (isfinite(s.cost_ns)) timer_text(s.cost_ns, cost, sizeof cost);
        fprintf(out, "stage %d %s: %s on %s, expected %s, memory %s%s%s\n", i + 1, s.filter, s.impl,
                gf_backend_name(s.backend), cost,
                bytes_text((double)s.memory_bytes, memory, sizeof memory), s.variant[0] ? ", " : "",
                s.variant);
        explain_rivals(plan, i, s.impl, out);
    }
}

typedef struct step {
    const char *name;
    double ns;
} step;

enum { N_STEPS = 7 };

static void list_steps(const picture *p, step steps[N_STEPS])
{
    const picture_times *t = &p->times;
    const step all[N_STEPS] = {
        { "decode", t->decode_ns }, { "context", t->context_ns }, { "plan", t->plan_ns },
        { "upload", t->upload_ns }, { "kernels", t->kernels_ns }, { "download", t->download_ns },
        { "encode", t->encode_ns },
    };
    memcpy(steps, all, sizeof all);
}

void report_timings(const batch *s, const picture *p, FILE *out)
{
    step steps[N_STEPS];
    list_steps(p, steps);
    for (int i = 0; i < N_STEPS; i++) fprintf(out, "%10s", steps[i].name);
    fprintf(out, "  ms on %s\n", gf_backend_name(gf_plan_backend(s->plan)));
    for (int i = 0; i < N_STEPS; i++) fprintf(out, "%10.3f", steps[i].ns / 1e6);
    fprintf(out, "  %s\n", p->input);
}

void report_dry_run(const batch *s, const picture *p, FILE *out)
{
    fprintf(out, "%s (%s, %dx%d %s) -> %s (%dx%d %s): %d stage%s on %s\n", p->input, p->info.format,
            p->info.width, p->info.height, gf_pixel_name(p->info.pixel),
            p->output ? p->output : "nothing", p->out.width, p->out.height,
            gf_pixel_name(p->out.pixel), gf_plan_stage_count(s->plan),
            gf_plan_stage_count(s->plan) == 1 ? "" : "s",
            gf_backend_name(gf_plan_backend(s->plan)));
}

static void json_picture(json *j, const char *key, int32_t width, int32_t height, gf_pixel pixel)
{
    json_object(j, key);
    json_integer(j, "width", width);
    json_integer(j, "height", height);
    json_string(j, "pixel", gf_pixel_name(pixel));
    json_end_object(j);
}

static void json_rivals(const gf_plan *plan, int stage, json *j)
{
    gf_rival_info r;
    json_array(j, "rivals");
    for (int k = 0; gf_plan_rival_get(plan, stage, k, &r); k++) {
        json_object(j, NULL);
        json_string(j, "impl", r.impl);
        json_string(j, "backend", gf_backend_name(r.backend));
        json_bool(j, "usable", r.usable);
        json_number(j, "cost_ns", r.cost_ns);
        json_string(j, "why", r.usable ? NULL : r.why);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_stages(const gf_plan *plan, json *j)
{
    gf_stage_info s;
    json_array(j, "stages");
    for (int i = 0; gf_plan_stage_get(plan, i, &s); i++) {
        json_object(j, NULL);
        json_string(j, "filter", s.filter);
        json_string(j, "impl", s.impl);
        json_string(j, "backend", gf_backend_name(s.backend));
        json_string(j, "variant", s.variant);
        json_number(j, "cost_ns", s.cost_ns);
        json_integer(j, "memory_bytes", (long long)s.memory_bytes);
        json_rivals(plan, i, j);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_timings(const picture *p, json *j)
{
    step steps[N_STEPS];
    list_steps(p, steps);
    json_object(j, "timings_ms");
    for (int i = 0; i < N_STEPS; i++) json_number(j, steps[i].name, steps[i].ns / 1e6);
    json_end_object(j);
}

void report_json(const batch *s, const picture *p, json *j)
{
    json_object(j, NULL);
    json_string(j, "input", p->input);
    json_string(j, "output", p->output);
    json_bool(j, "ok", !p->code);
    json_integer(j, "exit", p->code);
    json_string(j, "error", p->error[0] ? p->error : NULL);
    json_bool(j, "written", p->written);
    if (p->info.width) {
        json_string(j, "format", p->info.format);
        json_string(j, "notice", p->info.notice);
        json_picture(j, "source", p->info.width, p->info.height, p->info.pixel);
    }
    if (p->planned) {
        json_picture(j, "result", p->out.width, p->out.height, p->out.pixel);
        json_string(j, "backend", gf_backend_name(gf_plan_backend(s->plan)));
        json_stages(s->plan, j);
        json_timings(p, j);
    }
    if (p->verified) difference_json(&p->difference, j, "verify");
    json_end_object(j);
}
