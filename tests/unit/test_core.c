/* Status and messages, checked sizes, views, images, notices. */
#include "suite.h"

#include <pthread.h>

#include <gpufilter/gpufilter.h>

#include "core/alloc.h"
#include "core/clock.h"
#include "core/image.h"
#include "core/log.h"
#include "core/status.h"
#include "core/versioned.h"

/* ---- status ---------------------------------------------------------------------------------- */

START_TEST(fail_records_and_returns)
{
    ck_assert_int_eq(gfi_fail(GF_ERROR_RANGE, "sigma: %g is not > 0", -1.5), GF_ERROR_RANGE);
    ck_assert_str_eq(gf_error_message(), "sigma: -1.5 is not > 0");
    ck_assert_int_eq(gfi_fail_text(GF_ERROR_IO, "100%s of it"), GF_ERROR_IO);
    ck_assert_str_eq(gf_error_message(), "100%s of it");
}
END_TEST

START_TEST(prepend_adds_context)
{
    gfi_fail(GF_ERROR_RANGE, "sigma: 0 is not > 0");
    ck_assert_int_eq(gfi_prepend(GF_ERROR_RANGE, "stage %d (%s)", 2, "gaussian"), GF_ERROR_RANGE);
    ck_assert_int_eq(gfi_prepend(GF_ERROR_RANGE, "plan"), GF_ERROR_RANGE);
    ck_assert_str_eq(gf_error_message(), "plan: stage 2 (gaussian): sigma: 0 is not > 0");
    ck_assert_int_eq(gfi_prepend(GF_OK, "nothing"), GF_OK);
    ck_assert_str_eq(gf_error_message(), "plan: stage 2 (gaussian): sigma: 0 is not > 0");
}
END_TEST

START_TEST(long_messages_are_cut)
{
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    gfi_fail(GF_ERROR_FORMAT, "%s", text);
    size_t n = strlen(gf_error_message());
    ck_assert_uint_gt(n, 200);
    ck_assert_uint_lt(n, sizeof text);
    for (int i = 0; i < 50; i++) gfi_prepend(GF_ERROR_FORMAT, "layer %d %.100s", i, text);
    ck_assert_ptr_nonnull(strstr(gf_error_message(), "layer 49"));
    gfi_prepend(GF_ERROR_FORMAT, "%s", text); /* a context that alone is too long */
    ck_assert_uint_lt(strlen(gf_error_message()), sizeof text);
}
END_TEST

START_TEST(status_names)
{
    static const char *const names[] = { "OK",        "INVALID",     "RANGE",
                                         "NOT_FOUND", "UNSUPPORTED", "FORMAT",
                                         "IO",        "NO_MEMORY",   "DEVICE_MEMORY",
                                         "DEVICE",    "INTERNAL" };
    for (int i = 0; i <= GF_ERROR_INTERNAL; i++)
        ck_assert_str_eq(gf_status_name((gf_status)i), names[i]);
    ck_assert_str_eq(gf_status_name((gf_status)99), "UNKNOWN");
}
END_TEST

static void *other_thread(void *user)
{
    strcpy(user, gf_error_message());
    gfi_fail(GF_ERROR_IO, "theirs");
    return NULL;
}

START_TEST(messages_belong_to_a_thread)
{
    char seen[2048] = "unset";
    pthread_t thread;
    gfi_fail(GF_ERROR_IO, "mine");
    ck_assert_int_eq(pthread_create(&thread, NULL, other_thread, seen), 0);
    pthread_join(thread, NULL);
    ck_assert_str_eq(seen, "");
    ck_assert_str_eq(gf_error_message(), "mine");
}
END_TEST

/* ---- structs of other versions ----------------------------------------------------------------
 */

typedef struct settings {
    size_t struct_size;
    int a, b;
} settings;

START_TEST(structs_of_other_versions)
{
    settings now;
    const settings then = { .struct_size = offsetof(settings, b), .a = 3, .b = 4 };
    expect_ok(gfi_versioned_read(&then, &now, sizeof now, "settings"));
    ck_assert_int_eq(now.a, 3);
    ck_assert_int_eq(now.b, 0);
    expect_ok(gfi_versioned_read(NULL, &now, sizeof now, "settings"));
    ck_assert_uint_eq(now.struct_size, sizeof now);
    ck_assert_int_eq(now.a, 0);
    const struct {
        settings known;
        int later[4];
    } later = { .known = { .struct_size = sizeof later, .b = 5 }, .later = { 1, 2, 3, 4 } };
    expect_ok(gfi_versioned_read(&later, &now, sizeof now, "settings"));
    ck_assert_int_eq(now.b, 5);
    for (size_t n = 0; n < sizeof(size_t); n++) {
        const settings wrong = { .struct_size = n };
        expect_fail(gfi_versioned_read(&wrong, &now, sizeof now, "settings"), GF_ERROR_INVALID,
                    "settings: struct_size");
    }
}
END_TEST

/* ---- memory -----------------------------------------------------------------------------------
 */

START_TEST(products_are_checked)
{
    size_t out = 1;
    ck_assert(gfi_mul(3, 5, &out));
    ck_assert_uint_eq(out, 15);
    ck_assert(gfi_mul(0, SIZE_MAX, &out));
    ck_assert(!gfi_mul(SIZE_MAX, 2, &out));
    ck_assert(!gfi_mul((size_t)1 << 33, (size_t)1 << 33, &out));
}
END_TEST

START_TEST(allocations_are_checked)
{
    ck_assert_ptr_null(gfi_alloc(SIZE_MAX, 2, "taps"));
    ck_assert_ptr_nonnull(strstr(gf_error_message(), "taps"));
    ck_assert_ptr_null(gfi_alloc(SIZE_MAX, 1, "taps"));
    ck_assert_ptr_null(gfi_alloc((size_t)PTRDIFF_MAX, 1, "taps"));
    for (size_t n = 0; n < 200; n += 7) {
        unsigned char *memory = gfi_alloc_zero(n, 1, "bytes");
        ck_assert_ptr_nonnull(memory);
        ck_assert_uint_eq((uintptr_t)memory % 64, 0);
        for (size_t i = 0; i < n; i++) ck_assert_uint_eq(memory[i], 0);
        gfi_free(memory);
    }
    gfi_free(NULL);
    gf_free(NULL);
    char *copy = gfi_strdup("text");
    ck_assert_str_eq(copy, "text");
    gf_free(copy);
}
END_TEST

START_TEST(clock_runs_forward)
{
    double before = gfi_clock_ns(), after = before;
    for (int i = 0; i < 1000; i++) {
        after = gfi_clock_ns();
        ck_assert(after >= before);
    }
    while (gfi_clock_ns() == before) {
    }
}
END_TEST

/* ---- views -------------------------------------------------------------------------------------
 */

static gf_view view_of(void *data, int32_t w, int32_t h, size_t pitch, gf_pixel pixel)
{
    return (gf_view){ data, w, h, pitch, pixel, GF_MEMORY_HOST };
}

START_TEST(pixel_types)
{
    static const struct {
        gf_pixel pixel;
        const char *name;
        size_t bytes;
        double white;
    } right[] = { { GF_PIXEL_NONE, "none", 0, 0 },
                  { GF_PIXEL_U8, "u8", 1, 255 },
                  { GF_PIXEL_U16, "u16", 2, 65535 },
                  { GF_PIXEL_F32, "f32", 4, 1 },
                  { (gf_pixel)77, "none", 0, 0 } };
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        ck_assert_str_eq(gf_pixel_name(right[i].pixel), right[i].name);
        ck_assert_uint_eq(gf_pixel_bytes(right[i].pixel), right[i].bytes);
        ck_assert_double_eq(gf_pixel_white(right[i].pixel), right[i].white);
    }
}
END_TEST

START_TEST(bad_views_are_named)
{
    static float data[64];
    gf_view v = view_of(data, 4, 4, 16, GF_PIXEL_F32);
    expect_ok(gfi_view_check(&v, "src"));
    expect_fail(gfi_view_check(NULL, "src"), GF_ERROR_INVALID, "src");
    v.data = NULL;
    expect_fail(gfi_view_check(&v, "src"), GF_ERROR_INVALID, "src: data is NULL");
    v = view_of(data, 4, 4, 12, GF_PIXEL_F32);
    expect_fail(gfi_view_check(&v, "dst"), GF_ERROR_INVALID, "dst: pitch 12");
    v = view_of(data, 4, 4, 18, GF_PIXEL_F32);
    expect_fail(gfi_view_check(&v, "dst"), GF_ERROR_INVALID, "multiple");
    v = view_of((char *)data + 2, 4, 4, 16, GF_PIXEL_F32);
    expect_fail(gfi_view_check(&v, "dst"), GF_ERROR_INVALID, "multiple");
    v = view_of((char *)data + 1, 4, 4, 9, GF_PIXEL_U8);
    expect_ok(gfi_view_check(&v, "dst"));
    v = view_of(data, 0, 4, 16, GF_PIXEL_F32);
    expect_fail(gfi_view_check(&v, "dst"), GF_ERROR_INVALID, "0x4");
    v = view_of(data, 4, -3, 16, GF_PIXEL_F32);
    expect_fail(gfi_view_check(&v, "dst"), GF_ERROR_INVALID, "4x-3");
    v = view_of(data, 4, 4, 16, (gf_pixel)9);
    expect_fail(gfi_view_check(&v, "dst"), GF_ERROR_INVALID, "9");
    v = view_of(data, 1, 2147483647, SIZE_MAX / 4 * 4, GF_PIXEL_F32);
    expect_fail(gfi_view_check(&v, "dst"), GF_ERROR_INVALID, "addressed");
    v = view_of(data, 4, 4, 16, GF_PIXEL_F32);
    v.memory = (gf_memory)5;
    expect_fail(gfi_view_check(&v, "dst"), GF_ERROR_INVALID, "memory 5");
}
END_TEST

START_TEST(overlap_is_found)
{
    static unsigned char data[1000];
    gf_view a = view_of(data, 10, 10, 20, GF_PIXEL_U8); /* bytes 0 … 189 */
    gf_view b = view_of(data + 190, 10, 10, 20, GF_PIXEL_U8);
    ck_assert(gfi_views_overlap(&a, &a));
    ck_assert(!gfi_views_overlap(&a, &b));
    ck_assert(!gfi_views_overlap(&b, &a));
    b.data = data + 189;
    ck_assert(gfi_views_overlap(&a, &b));
    ck_assert(gfi_views_overlap(&b, &a));
    b.memory = GF_MEMORY_CUDA;
    ck_assert(!gfi_views_overlap(&a, &b));
    b = view_of(data + 50, 1, 1, 1, GF_PIXEL_U8); /* inside the other */
    ck_assert(gfi_views_overlap(&a, &b));
}
END_TEST

/* ---- images
 * -------------------------------------------------------------------------------------- */

START_TEST(image_sizes_are_checked)
{
    gf_image *image = (gf_image *)1;
    gf_image_desc desc = { 0, 5, GF_PIXEL_U8 };
    expect_fail(gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image), GF_ERROR_RANGE, "0x5");
    ck_assert_ptr_null(image);
    desc = (gf_image_desc){ 5, -1, GF_PIXEL_U8 };
    expect_fail(gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image), GF_ERROR_RANGE, "5x-1");
    desc = (gf_image_desc){ INT32_MAX, INT32_MAX, GF_PIXEL_F32 };
    expect_fail(gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image), GF_ERROR_RANGE, "addressed");
    desc = (gf_image_desc){ 5, 5, GF_PIXEL_NONE };
    expect_fail(gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image), GF_ERROR_INVALID,
                "pixel type");
    expect_fail(gf_image_create(NULL, NULL, GF_MEMORY_HOST, &image), GF_ERROR_INVALID, "NULL");
    gf_image_destroy(NULL);
    gf_image_destroy(&image);
}
END_TEST

START_TEST(image_rows_are_aligned)
{
    for (gf_pixel pixel = GF_PIXEL_U8; pixel <= GF_PIXEL_F32; pixel++) {
        gf_image_desc desc = { 37, 3, pixel };
        gf_image *image;
        expect_ok(gf_image_create(NULL, &desc, GF_MEMORY_HOST, &image));
        gf_view view = gf_image_view(image);
        ck_assert_int_eq(view.width, 37);
        ck_assert_int_eq(view.height, 3);
        ck_assert_int_eq(view.pixel, pixel);
        for (int32_t y = 0; y < 3; y++) {
            ck_assert_uint_eq((uintptr_t)gfi_row(&view, y) % 64, 0);
            memset(gfi_row(&view, y), y, 37 * gf_pixel_bytes(pixel));
        }
        gf_image_destroy(&image);
        ck_assert_ptr_null(image);
    }
    ck_assert_ptr_null(gf_image_view(NULL).data);
}
END_TEST

START_TEST(copies_keep_to_the_view)
{
    unsigned char from[60], to[60];
    for (int i = 0; i < 60; i++) from[i] = (unsigned char)i;
    memset(to, 0xee, sizeof to);
    gf_view src = view_of(from, 5, 4, 11, GF_PIXEL_U8),
            dst = view_of(to + 3, 5, 4, 13, GF_PIXEL_U8);
    expect_ok(gf_view_copy(NULL, &src, &dst));
    for (int i = 0; i < 60; i++) {
        int x = (i - 3) % 13, y = (i - 3) / 13;
        bool inside = i >= 3 && x < 5 && y < 4;
        ck_assert_uint_eq(to[i], inside ? from[y * 11 + x] : 0xee);
    }
    dst.width = 4;
    expect_fail(gf_view_copy(NULL, &src, &dst), GF_ERROR_INVALID, "4x4");
    dst = view_of(to, 5, 4, 10, GF_PIXEL_U16);
    expect_fail(gf_view_copy(NULL, &src, &dst), GF_ERROR_INVALID, "u16");
}
END_TEST

static int released;
static void release(void *user, void *data)
{
    released += *(int *)user;
    ck_assert_ptr_nonnull(data);
}

START_TEST(adopted_memory_is_given_back_once)
{
    unsigned char data[4];
    int one = 1;
    gf_view view = view_of(data, 2, 2, 2, GF_PIXEL_U8);
    gf_image *image;
    expect_ok(gfi_image_adopt(&view, release, &one, &image));
    ck_assert_ptr_eq(gf_image_view(image).data, data);
    gf_image_destroy(&image);
    gf_image_destroy(&image);
    ck_assert_int_eq(released, 1);
}
END_TEST

/* ---- notices
 * --------------------------------------------------------------------------------------- */

static char logged[256];
static void keep_line(gf_log_level level, const char *message, void *user)
{
    snprintf(logged, sizeof logged, "%d %s %s", (int)level, message, (const char *)user);
}

START_TEST(notices_reach_the_function)
{
    char user[] = "u";
    gfi_log log = { keep_line, user };
    gfi_log_write(&log, GF_LOG_NOTICE, "alpha of %s ignored", "a.png");
    ck_assert_str_eq(logged, "2 alpha of a.png ignored u");
    gfi_log silent = { 0 };
    gfi_log_write(&silent, GF_LOG_NOTICE, "nobody hears this");
    ck_assert_str_eq(logged, "2 alpha of a.png ignored u");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("core");
    suite_add(s, "status", fail_records_and_returns);
    suite_add(s, "prepend", prepend_adds_context);
    suite_add(s, "long messages", long_messages_are_cut);
    suite_add(s, "names", status_names);
    suite_add(s, "threads", messages_belong_to_a_thread);
    suite_add(s, "versions", structs_of_other_versions);
    suite_add(s, "products", products_are_checked);
    suite_add(s, "alloc", allocations_are_checked);
    suite_add(s, "clock", clock_runs_forward);
    suite_add(s, "pixels", pixel_types);
    suite_add(s, "views", bad_views_are_named);
    suite_add(s, "overlap", overlap_is_found);
    suite_add(s, "image sizes", image_sizes_are_checked);
    suite_add(s, "image rows", image_rows_are_aligned);
    suite_add(s, "copy", copies_keep_to_the_view);
    suite_add(s, "adopt", adopted_memory_is_given_back_once);
    suite_add(s, "log", notices_reach_the_function);
    return suite_run(s);
}
