/* Tuning files: what is read, what is refused, how times are corrected, who reads them. */
#include "suite.h"

#include <math.h>
#include <unistd.h>

#include <gpufilter/gpufilter.h>

#include "core/tune_file.h"

static char path[] = "/tmp/gpufilter-tune-XXXXXX";

static void write_text(const char *text)
{
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

static gfi_tuning *read_text(const char *text)
{
    gfi_tuning *t;
    write_text(text);
    expect_ok(gfi_tuning_read(path, &t));
    return t;
}

static void refused(const char *text, gf_status status, const char *says)
{
    gfi_tuning *t;
    write_text(text);
    expect_fail(gfi_tuning_read(path, &t), status, says);
    ck_assert_ptr_null(t);
}

START_TEST(a_row_corrects_what_is_like_it)
{
    gfi_tuning *t = read_text("gpufilter-tune 1\nversion 1.2.3\n# a comment\n\ngpu 90 132\n"
                              "sep u8 1000 3000\n");
    ck_assert_str_eq(gfi_tuning_version(t), "1.2.3");
    ck_assert_double_eq_tol(gfi_tuning_correct(t, "sep", GF_PIXEL_U8, 1000), 3000, 1e-6);
    ck_assert_double_eq_tol(gfi_tuning_correct(t, "sep", GF_PIXEL_U8, 5000), 15000, 1e-6);
    ck_assert_double_eq(gfi_tuning_correct(t, "sep", GF_PIXEL_F32, 1000), 1000);
    ck_assert_double_eq(gfi_tuning_correct(t, "fft", GF_PIXEL_U8, 1000), 1000);
    ck_assert_double_infinite(gfi_tuning_correct(t, "sep", GF_PIXEL_U8, INFINITY));
    ck_assert(gfi_tuning_fits(t, 90, 132));
    ck_assert(!gfi_tuning_fits(t, 90, 114));
    ck_assert(!gfi_tuning_fits(t, 89, 132));
    gfi_tuning_destroy(&t);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(the_nearest_row_counts_most)
{
    gfi_tuning *t =
        read_text("gpufilter-tune 1\ncuda-sep f32 1000 2000\ncuda-sep f32 1000000 500000\n");
    const double small = gfi_tuning_correct(t, "cuda-sep", GF_PIXEL_F32, 1000) / 1000;
    const double middle = gfi_tuning_correct(t, "cuda-sep", GF_PIXEL_F32, 31623) / 31623;
    const double large = gfi_tuning_correct(t, "cuda-sep", GF_PIXEL_F32, 1e6) / 1e6;
    ck_assert_double_eq_tol(small, 2, 0.01);
    ck_assert_double_eq_tol(middle, 1, 0.01);
    ck_assert_double_eq_tol(large, 0.5, 0.01);
    gfi_tuning_destroy(&t);
}
END_TEST

START_TEST(other_files_are_refused)
{
    refused("", GF_ERROR_FORMAT, "is empty");
    refused("P5\n1 1\n255\n", GF_ERROR_FORMAT, "the first line is not 'gpufilter-tune 1'");
    refused("gpufilter-tune 2\n", GF_ERROR_FORMAT, "the first line");
    refused("gpufilter-tune 1\nsep u8 1000\n", GF_ERROR_FORMAT, "line 2");
    refused("gpufilter-tune 1\n\nsep u9 1000 1000\n", GF_ERROR_FORMAT, "line 3");
    refused("gpufilter-tune 1\nsep u8 0 1000\n", GF_ERROR_FORMAT, "line 2");
    refused("gpufilter-tune 1\nsep u8 1000 -5\n", GF_ERROR_FORMAT, "line 2");
    refused("gpufilter-tune 1\nsep u8 1000 1000 1000\n", GF_ERROR_FORMAT, "line 2");
    gfi_tuning *t;
    expect_fail(gfi_tuning_read("/nonexistent/tune", &t), GF_ERROR_IO, "/nonexistent/tune");
}
END_TEST

/* What a CPU context expects gaussian=2 on 64x64 pixels to take with `sep`. */
static double expected_ns(const char *tuning)
{
    gf_context_params p = { .struct_size = sizeof p, .backend = GF_BACKEND_CPU, .tuning = tuning };
    gf_image_desc desc = { 64, 64, GF_PIXEL_U8 };
    gf_plan_params pp = { .struct_size = sizeof pp, .impl = "sep" };
    gf_context *context;
    gf_graph *graph;
    gf_plan *plan;
    gf_stage_info stage;
    expect_ok(gf_context_create(&p, &context));
    expect_ok(gf_graph_parse("gaussian=2", &graph));
    expect_ok(gf_plan_create(context, graph, &desc, &pp, &plan));
    ck_assert_int_eq(gf_plan_stage_get(plan, 0, &stage), 1);
    gf_plan_destroy(&plan);
    gf_graph_destroy(&graph);
    gf_context_destroy(&context);
    return stage.cost_ns;
}

START_TEST(contexts_take_the_file_they_are_told)
{
    write_text("gpufilter-tune 1\nversion " GF_VERSION_STRING "\nsep u8 1000 7000\n");
    ck_assert_int_eq(unsetenv("GPUFILTER_TUNE"), 0);
    const double plain = expected_ns(NULL);
    ck_assert_double_eq_tol(expected_ns(path) / plain, 7, 1e-6);
    ck_assert_int_eq(setenv("GPUFILTER_TUNE", path, 1), 0);
    ck_assert_double_eq_tol(expected_ns(NULL) / plain, 7, 1e-6);
    ck_assert_double_eq(expected_ns(""), plain);
    write_text("gpufilter-tune 1\nversion 0.0.0\nsep u8 1000 7000\n");
    ck_assert_double_eq(expected_ns(NULL), plain);
    write_text("nonsense\n");
    gf_context *context;
    expect_fail(gf_context_create(NULL, &context), GF_ERROR_FORMAT, "tuning file: /tmp/");
    ck_assert_ptr_null(context);
}
END_TEST

int main(void)
{
    const int fd = mkstemp(path);
    if (fd < 0) return EXIT_FAILURE;
    close(fd);
    Suite *suite = suite_create("tune");
    suite_add(suite, "correct", a_row_corrects_what_is_like_it);
    suite_add(suite, "nearest", the_nearest_row_counts_most);
    suite_add(suite, "refused", other_files_are_refused);
    suite_add(suite, "contexts", contexts_take_the_file_they_are_told);
    const int failed = suite_run(suite);
    remove(path);
    return failed;
}
