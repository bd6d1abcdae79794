/* The chain grammar and building a graph step by step. */
#include "suite.h"

#include <gpufilter/gpufilter.h>

#include "engine/graph.h"

static gf_status parse(const char *text)
{
    gf_graph *graph = (gf_graph *)1;
    gf_status status = gf_graph_parse(text, &graph);
    ck_assert((status == GF_OK) == (graph != NULL));
    gf_graph_destroy(&graph);
    return status;
}

/* Whether two chains come to the same stages with the same parameters. */
static void expect_same(const char *one, const char *other)
{
    gf_graph *a, *b;
    expect_ok(gf_graph_parse(one, &a));
    expect_ok(gf_graph_parse(other, &b));
    ck_assert_int_eq(a->n_stages, b->n_stages);
    for (int i = 0; i < a->n_stages; i++) {
        const gfi_stage *x = &a->stages[i], *y = &b->stages[i];
        ck_assert_ptr_eq(x->def, y->def);
        for (size_t p = 0; p < x->def->info.n_params; p++) {
            const gf_param *param = &x->def->params[p];
            const char *u = (const char *)x->params + param->offset;
            const char *v = (const char *)y->params + param->offset;
            if (param->info.type == GF_PARAM_KERNEL) {
                const gfi_taps *s = *(gfi_taps *const *)u, *t = *(gfi_taps *const *)v;
                ck_assert_int_eq(s->kw, t->kw);
                ck_assert_int_eq(s->kh, t->kh);
                ck_assert_mem_eq(s->v, t->v, (size_t)(s->kw * s->kh) * sizeof *s->v);
            } else {
                size_t n = param->info.type == GF_PARAM_FLOAT ? sizeof(double) : sizeof(int);
                ck_assert_msg(memcmp(u, v, n) == 0, "%s | %s: %s differs", one, other,
                              param->info.name);
            }
        }
        ck_assert(!x->impl == !y->impl);
        if (x->impl) ck_assert_str_eq(x->impl, y->impl);
    }
    gf_graph_destroy(&a);
    gf_graph_destroy(&b);
}

START_TEST(stages_in_order)
{
    gf_graph *graph;
    expect_ok(gf_graph_parse("gaussian=2,sobel,threshold=40", &graph));
    ck_assert_int_eq(gf_graph_size(graph), 3);
    ck_assert_str_eq(gf_graph_filter(graph, 0), "gaussian");
    ck_assert_str_eq(gf_graph_filter(graph, 1), "sobel");
    ck_assert_str_eq(gf_graph_filter(graph, 2), "threshold");
    ck_assert_ptr_null(gf_graph_filter(graph, 3));
    ck_assert_ptr_null(gf_graph_filter(graph, -1));
    gf_graph_destroy(&graph);
    ck_assert_ptr_null(graph);
    gf_graph_destroy(&graph);
    gf_graph_destroy(NULL);
    ck_assert_int_eq(gf_graph_size(NULL), 0);
}
END_TEST

START_TEST(same_chain_in_other_words)
{
    expect_same("gaussian=2", "gaussian:sigma=2");
    expect_same("gaussian=2", "gaussian:2");
    expect_same("gaussian=2:border=wrap", " gaussian = 2 : border = wrap ");
    expect_same("gaussian=2:border=wrap", "gaussian='2':border=\"wrap\"");
    expect_same("gaussian=2:border=wrap", "gaussian=2:border=w\\rap");
    expect_same("gaussian=2,sobel", "gaussian=2 ,\n sobel");
    expect_same("gaussian=2", "gaussian=2.0");
    expect_same("gaussian=2", "gaussian=+.2e1");
    expect_same("scale=2:-3", "scale:factor=2:offset=-3");
    expect_same("correlate=1 2;3 4", "correlate:kernel='1 2;3 4'");
    expect_same("correlate='1,2;3,4'", "correlate=1\\,2;3\\,4");
    expect_same("gaussian=1:sigma=2", "gaussian=2"); /* the last one counts */
    expect_same("gaussian=2:impl=ref", "gaussian:impl=ref:sigma=2");
}
END_TEST

START_TEST(grammar_errors)
{
    expect_fail(parse(""), GF_ERROR_FORMAT, "stage 1");
    expect_fail(parse("  "), GF_ERROR_FORMAT, "stage 1");
    expect_fail(parse("gaussian=2,"), GF_ERROR_FORMAT, "stage 2");
    expect_fail(parse(",gaussian"), GF_ERROR_FORMAT, "stage 1");
    expect_fail(parse("gaussian=2,,sobel"), GF_ERROR_FORMAT, "stage 2");
    expect_fail(parse("gaussian='2"), GF_ERROR_FORMAT, "never closed");
    expect_fail(parse("gaussian=2\\"), GF_ERROR_FORMAT, "escape");
    expect_fail(parse("abs=1"), GF_ERROR_FORMAT, "'1'");
    gf_graph *graph = NULL;
    expect_fail(gf_graph_parse(NULL, &graph), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_graph_parse("abs", NULL), GF_ERROR_INVALID, "NULL");
}
END_TEST

START_TEST(names_are_checked)
{
    expect_fail(parse("gausian=2"), GF_ERROR_NOT_FOUND, "did you mean 'gaussian'?");
    expect_fail(parse("gaussian=2,sobbel"), GF_ERROR_NOT_FOUND, "stage 2");
    expect_fail(parse("gaussian:sgima=2"), GF_ERROR_NOT_FOUND, "'sgima'");
    expect_fail(parse("gaussian=2:impl=warp"), GF_ERROR_NOT_FOUND, "warp");
    expect_fail(parse("gaussian:border=sideways"), GF_ERROR_RANGE, "sideways");
}
END_TEST

START_TEST(values_are_checked)
{
    expect_fail(parse("gaussian=-1"), GF_ERROR_RANGE, "stage 1 (gaussian): sigma: -1 is not");
    expect_fail(parse("sobel,gaussian=0"), GF_ERROR_RANGE, "stage 2 (gaussian): sigma: 0 is not");
    expect_fail(parse("gaussian="), GF_ERROR_RANGE, "sigma");
    expect_fail(parse("gaussian=two"), GF_ERROR_RANGE, "'two'");
    expect_fail(parse("gaussian=nan"), GF_ERROR_RANGE, "nan");
    expect_fail(parse("gaussian=1e9"), GF_ERROR_RANGE, "sigma");
    expect_fail(parse("box=0"), GF_ERROR_RANGE, "size");
    expect_fail(parse("box=-3"), GF_ERROR_RANGE, "-3");
    expect_fail(parse("sobel=4"), GF_ERROR_RANGE, "4");
    expect_fail(parse("correlate"), GF_ERROR_RANGE, "kernel");
}
END_TEST

START_TEST(step_by_step)
{
    gf_graph *graph;
    expect_ok(gf_graph_create(&graph));
    ck_assert_int_eq(gf_graph_size(graph), 0);
    expect_fail(gf_graph_set(graph, -1, "sigma", "2"), GF_ERROR_INVALID, "stage");
    expect_ok(gf_graph_append(graph, "gaussian"));
    expect_ok(gf_graph_append(graph, "sobel"));
    expect_fail(gf_graph_append(graph, "nothing-like-it"), GF_ERROR_NOT_FOUND, "nothing-like-it");
    ck_assert_int_eq(gf_graph_size(graph), 2);
    expect_ok(gf_graph_set(graph, 0, "sigma", "2.5"));
    expect_ok(gf_graph_set_f64(graph, 0, "sigma-x", 3));
    expect_ok(gf_graph_set(graph, -1, "direction", "x"));
    expect_ok(gf_graph_set_f64(graph, -1, "size", 5));
    expect_fail(gf_graph_set(graph, -1, "sigma", "2"), GF_ERROR_NOT_FOUND, "stage 2 (sobel)");
    expect_fail(gf_graph_set(graph, 2, "sigma", "2"), GF_ERROR_INVALID, "2");
    expect_fail(gf_graph_set(graph, -2, "sigma", "2"), GF_ERROR_INVALID, "-2");
    expect_fail(gf_graph_set(graph, 0, "sigma", "-2"), GF_ERROR_RANGE, "-2");
    expect_fail(gf_graph_set(graph, 0, "sigma", NULL), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_graph_set(graph, 0, NULL, "1"), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_graph_set(NULL, 0, "sigma", "1"), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_graph_append(NULL, "abs"), GF_ERROR_INVALID, "NULL");
    expect_fail(gf_graph_create(NULL), GF_ERROR_INVALID, "NULL");
    gf_graph_destroy(&graph);
}
END_TEST

/* A refused value leaves the one before. */
START_TEST(refused_values_change_nothing)
{
    gf_graph *graph, *copy;
    expect_ok(gf_graph_parse("gaussian=2", &graph));
    expect_ok(gfi_graph_copy(graph, &copy));
    expect_fail(gf_graph_set(graph, 0, "sigma", "-1"), GF_ERROR_RANGE, "-1");
    ck_assert_mem_eq(graph->stages[0].params, copy->stages[0].params,
                     graph->stages[0].def->params_bytes);
    gf_graph_destroy(&graph);
    gf_graph_destroy(&copy);
}
END_TEST

START_TEST(long_chains)
{
    enum { STAGES = 1000 };
    char *text = calloc(STAGES, 8);
    for (int i = 0; i < STAGES; i++) strcat(text + 4 * (size_t)i, i ? ",abs" : "abs ");
    gf_graph *graph;
    expect_ok(gf_graph_parse(text, &graph));
    ck_assert_int_eq(gf_graph_size(graph), STAGES);
    gf_graph_destroy(&graph);
    free(text);
}
END_TEST

/* Every prefix of a chain, and every chain with one character replaced: parsed or refused with a
 * message, nothing else. */
START_TEST(damaged_chains)
{
    static const char chain[] =
        "gaussian=2:border=\"wrap\",correlate='1 2;3 4':scale=.1,clamp=1\\:2";
    static const char other[] = ",:=;'\"\\@ 9-x";
    char text[sizeof chain];
    for (size_t n = 0; n < sizeof chain; n++) {
        memcpy(text, chain, n);
        text[n] = 0;
        if (parse(text) != GF_OK) ck_assert_uint_gt(strlen(gf_error_message()), 0);
        for (const char *c = other; *c; c++) {
            memcpy(text, chain, sizeof chain);
            text[n < sizeof chain - 1 ? n : 0] = *c;
            if (parse(text) != GF_OK) ck_assert_uint_gt(strlen(gf_error_message()), 0);
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("graph");
    suite_add(s, "order", stages_in_order);
    suite_add(s, "same", same_chain_in_other_words);
    suite_add(s, "grammar", grammar_errors);
    suite_add(s, "names", names_are_checked);
    suite_add(s, "values", values_are_checked);
    suite_add(s, "steps", step_by_step);
    suite_add(s, "refused", refused_values_change_nothing);
    suite_add(s, "long", long_chains);
    suite_add(s, "damaged", damaged_chains);
    return suite_run(s);
}
