/* run -f CHAIN, and every filter as a command of its own. */
#include "cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "outputs.h"
#include "picture.h"
#include "report.h"
#include "setup.h"

/* ---- what was asked for ------------------------------------------------------------------- */

static cli_exit check_words(const cli_args *args)
{
    const char *hint = "write IN OUT, or IN... -o DIR";
    bool result_unwritten = args->dry_run || args->verify;
    if (args->n_words == 0) return cli_error(CLI_USAGE, hint, "no input named");
    if (args->verify && args->output && args->n_words > 1)
        return cli_error(CLI_USAGE, NULL, "--verify takes one input, not %zu", args->n_words);
    if (args->output) return CLI_OK;
    if (args->n_words == 1 && !result_unwritten)
        return cli_error(CLI_USAGE, hint, "no output named for '%s'", args->words[0]);
    if (args->n_words > 2)
        return cli_error(CLI_USAGE, hint, "%zu files named, but no folder for the results",
                         args->n_words);
    return CLI_OK;
}

static cli_exit check_streams(const cli_args *args)
{
    const char *out = !args->output && args->n_words == 2 ? args->words[1] : "";
    if (!strcmp(out, "-") && !args->format)
        return cli_error(CLI_USAGE, "gpufilter --version --verbose lists the formats",
                         "standard output has no name to tell the format: give --format");
    if (!strcmp(out, "-") && args->json)
        return cli_error(CLI_USAGE, NULL, "--json and the picture both want standard output");
    if (args->verify && !strcmp(args->verify, "-") && !strcmp(args->words[0], "-"))
        return cli_error(CLI_USAGE, NULL, "the input and --verify both want standard input");
    return CLI_OK;
}

static cli_exit make_graph(const cli_args *args, gf_graph **out)
{
    char hint[128];
    if (args->command == CMD_RUN && !args->chain)
        return cli_error(CLI_USAGE, "such as -f " CLI_EXAMPLE_CHAIN,
                         "no chain of filters given: -f CHAIN");
    if (!args->filter) return setup_graph(args->chain, "gpufilter help run describes chains", out);
    char *text = setup_chain_text(args);
    if (!text) return cli_error(CLI_FAILED, NULL, "out of memory");
    snprintf(hint, sizeof hint, "gpufilter help %s describes its parameters", args->filter->name);
    cli_exit code = setup_graph(text, hint, out);
    free(text);
    return code;
}

/* ---- the pictures ------------------------------------------------------------------------- */

static void report(const batch *s, const picture *p, json *j)
{
    const cli_args *args = s->args;
    if (j) report_json(s, p, j);
    if (j || !p->planned) return;
    if (args->explain && p->new_plan) report_explain(s->plan, stderr);
    if (args->timings && !args->dry_run) report_timings(s, p, stderr);
    if (args->dry_run) report_dry_run(s, p, stdout);
    if (args->verify && p->verified) difference_print(&p->difference, stderr);
}

/* Several inputs: one that fails does not stop the others, and the exit code is CLI_FAILED. */
static cli_exit process_all(batch *s, char *const *outputs, json *j)
{
    size_t n_failed = 0, n = s->args->output ? s->args->n_words : 1;
    cli_exit code = CLI_OK;
    for (size_t i = 0; i < n; i++) {
        picture p = { .input = s->args->words[i] };
        if (outputs)
            p.output = outputs[i];
        else if (s->args->n_words == 2)
            p.output = s->args->words[1];
        picture_process(s, &p);
        report(s, &p, j);
        if (!p.code) continue;
        if (p.code == CLI_BACKEND) return p.code; /* it is not there for the others either */
        n_failed++;
        code = p.code;
    }
    if (n == 1 || !n_failed) return code;
    return cli_error(CLI_FAILED, NULL, "%zu of %zu inputs failed", n_failed, n);
}

static cli_exit process_with_json(batch *s, char *const *outputs)
{
    json j = { .out = stdout };
    if (!s->args->json) return process_all(s, outputs, NULL);
    json_object(&j, NULL);
    json_string(&j, "command", s->args->word);
    json_array(&j, "pictures");
    cli_exit code = process_all(s, outputs, &j);
    json_end_array(&j);
    json_integer(&j, "exit", code);
    json_end_object(&j);
    return code;
}

static cli_exit load_expected(batch *s)
{
    gf_file_info info;
    return s->args->verify ? picture_load(s->args, s->args->verify, &info, &s->expected) : CLI_OK;
}

static cli_exit check_outputs(const cli_args *args, char *const *outputs)
{
    if (!outputs) return args->n_words == 2 ? picture_check_output(args, args->words[1]) : CLI_OK;
    for (size_t i = 0; i < args->n_words; i++) {
        cli_exit code = picture_check_output(args, outputs[i]);
        if (code) return code;
    }
    return args->dry_run ? CLI_OK : outputs_make_folder(args->output);
}

/* Everything that can be wrong with the command is found before a picture is opened. */
static cli_exit check_and_process(batch *s, char *const *outputs)
{
    cli_log log;
    cli_exit code = check_outputs(s->args, outputs);
    if (!code) code = setup_context_begin(s->args, &log, &s->context);
    if (!code) code = load_expected(s);
    if (!code) code = process_with_json(s, outputs);
    gf_plan_destroy(&s->plan);
    gf_image_destroy(&s->expected);
    gf_context_destroy(&s->context);
    return code;
}

cli_exit cmd_pictures(const cli_args *args)
{
    batch s = { .args = args };
    char **outputs = NULL;
    cli_exit code = make_graph(args, &s.graph);
    if (!code) code = setup_check_impl(args, s.graph);
    if (!code) code = check_words(args);
    if (!code) code = check_streams(args);
    if (!code && args->output) code = outputs_name(args, &outputs);
    if (!code) code = check_and_process(&s, outputs);
    outputs_free(args, outputs);
    gf_graph_destroy(&s.graph);
    return code;
}
