/* Image files. Nearly all inputs are made here, byte by byte, so that what is right is known
 * without a decoder. GPUFILTER_PNGSUITE may name a copy of PngSuite, whose files are then read
 * too. */
#include "suite.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gpufilter/io.h>

#include "core/alloc.h"
#include "core/image.h"
#include "io/config.h"
#include "io/png_file.h"

#ifdef HAVE_JPEG
#include <jpeglib.h>
#endif

/* ---- bytes, images and what is expected of them ------------------------------------------------
 */

typedef struct bytes {
    uint8_t data[1 << 16];
    size_t n;
} bytes;

static void put(bytes *b, const void *data, size_t n)
{
    ck_assert_uint_le(b->n + n, sizeof b->data);
    if (n) memcpy(b->data + b->n, data, n);
    b->n += n;
}

static void put_text(bytes *b, const char *text) { put(b, text, strlen(text)); }

static void put_be32(bytes *b, uint32_t v)
{
    uint8_t p[4];
    gfi_put_be32(p, v);
    put(b, p, 4);
}

static void put_le32(bytes *b, uint32_t v)
{
    uint8_t p[4];
    gfi_put_le32(p, v);
    put(b, p, 4);
}

static void put_le16(bytes *b, unsigned v)
{
    uint8_t p[2] = { (uint8_t)v, (uint8_t)(v >> 8) };
    put(b, p, 2);
}

static gf_file_info info;

static gf_status load(const bytes *b, gf_image **out)
{
    gf_load_params params = { .struct_size = sizeof params, .info = &info };
    /* a copy of the exact size, so that a sanitizer sees any read past the end */
    uint8_t *copy = malloc(b->n ? b->n : 1);
    memcpy(copy, b->data, b->n);
    gf_status status = gf_image_load_memory("test", copy, b->n, &params, out);
    free(copy);
    ck_assert((status == GF_OK) == (*out != NULL));
    return status;
}

static double pixel(const gf_view *v, int x, int y)
{
    const void *row = gfi_row(v, y);
    if (v->pixel == GF_PIXEL_U8) return ((const uint8_t *)row)[x];
    if (v->pixel == GF_PIXEL_U16) return ((const uint16_t *)row)[x];
    return (double)((const float *)row)[x];
}

static void expect_pixels(const bytes *b, int width, int height, gf_pixel type, const double *want)
{
    gf_image *image;
    expect_ok(load(b, &image));
    gf_view v = gf_image_view(image);
    ck_assert_int_eq(v.width, width);
    ck_assert_int_eq(v.height, height);
    ck_assert_int_eq(v.pixel, type);
    ck_assert_int_eq(info.width, width);
    ck_assert_int_eq(info.height, height);
    ck_assert_int_eq(info.pixel, type);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double got = pixel(&v, x, y);
            ck_assert_msg(got == want[y * width + x], "(%d, %d) is %g, not %g", x, y, got,
                          want[y * width + x]);
        }
    gf_image_destroy(&image);
}

#define expect_u8(b, w, h, ...) expect_pixels(b, w, h, GF_PIXEL_U8, (const double[]){ __VA_ARGS__ })
#define expect_u16(b, w, h, ...)                                                                   \
    expect_pixels(b, w, h, GF_PIXEL_U16, (const double[]){ __VA_ARGS__ })
#define expect_f32(b, w, h, ...)                                                                   \
    expect_pixels(b, w, h, GF_PIXEL_F32, (const double[]){ __VA_ARGS__ })

static void expect_refused(const bytes *b, gf_status status, const char *part)
{
    gf_image *image;
    expect_fail(load(b, &image), status, part);
}

/* Every shorter file must be refused, whatever the words. */
static void expect_every_cut_refused(const bytes *whole)
{
    for (size_t n = 0; n < whole->n; n++) {
        bytes cut = *whole;
        cut.n = n;
        gf_image *image;
        gf_status status = load(&cut, &image);
        ck_assert_msg(status == GF_ERROR_FORMAT, "%zu of %zu bytes: %s (%s)", n, whole->n,
                      gf_status_name(status), status ? gf_error_message() : "accepted");
    }
}

static void expect_notice(const char *part)
{
    ck_assert_msg(strstr(info.notice, part), "the notice \"%s\" lacks \"%s\"", info.notice, part);
}

static bytes of_text(const char *text)
{
    bytes b = { .n = 0 };
    put_text(&b, text);
    return b;
}

#define of_array(...)                                                                              \
    of_bytes((const uint8_t[]){ __VA_ARGS__ }, sizeof(const uint8_t[]){ __VA_ARGS__ })

static bytes of_bytes(const uint8_t *data, size_t n)
{
    bytes b = { .n = 0 };
    put(&b, data, n);
    return b;
}

/* A view of pseudo-random pixels with padded rows; floats hold every kind of value. */
typedef struct sample {
    void *memory;
    gf_view view;
} sample;

static sample make_sample(int width, int height, gf_pixel type, size_t padding, uint32_t seed)
{
    size_t size = gf_pixel_bytes(type), pitch = (size_t)width * size + padding * size;
    sample s = { calloc((size_t)height, pitch), { 0 } };
    s.view = (gf_view){ s.memory, width, height, pitch, type, GF_MEMORY_HOST };
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            seed = seed * 1664525u + 1013904223u;
            void *row = gfi_row(&s.view, y);
            if (type == GF_PIXEL_U8) ((uint8_t *)row)[x] = (uint8_t)(seed >> 24);
            if (type == GF_PIXEL_U16) ((uint16_t *)row)[x] = (uint16_t)(seed >> 16);
            if (type == GF_PIXEL_F32) memcpy((float *)row + x, &seed, 4);
        }
    return s;
}

static void expect_same(const gf_view *a, const gf_view *b)
{
    ck_assert_int_eq(a->width, b->width);
    ck_assert_int_eq(a->height, b->height);
    ck_assert_int_eq(a->pixel, b->pixel);
    for (int y = 0; y < a->height; y++)
        ck_assert_mem_eq(gfi_row(a, y), gfi_row(b, y), (size_t)a->width * gf_pixel_bytes(a->pixel));
}

static gf_save_params format_params(const char *format)
{
    return (gf_save_params){ .struct_size = sizeof(gf_save_params), .format = format };
}

/* ---- the table and the parameters --------------------------------------------------------------
 */

START_TEST(table_lists_the_codecs)
{
    static const char *const names[] = { "png", "jpeg", "bmp", "tga", "pgm", "pfm" };
    ck_assert_uint_eq(gf_codec_count(), 6);
    ck_assert_ptr_null(gf_codec_get(6));
    for (int i = 0; i < 6; i++) {
        bool found = false;
        for (size_t k = 0; k < gf_codec_count(); k++) {
            const gf_codec_info *c = gf_codec_get(k);
            ck_assert(c->extensions[0] && c->summary[0]);
            found = found || !strcmp(c->name, names[i]);
        }
        ck_assert_msg(found, "no codec %s", names[i]);
    }
}
END_TEST

START_TEST(parameters_are_checked)
{
    bytes b = of_text("P2 1 1 255 7");
    gf_image *image;
    gf_load_params load_params = { .struct_size = 0 };
    expect_fail(gf_image_load_memory("x", b.data, b.n, &load_params, &image), GF_ERROR_INVALID,
                "struct_size is 0");
    load_params = (gf_load_params){ .struct_size = sizeof load_params, .format = "webp" };
    expect_fail(gf_image_load_memory("x", b.data, b.n, &load_params, &image), GF_ERROR_UNSUPPORTED,
                "\"webp\" is not one of ");
    load_params.format = "PFM";
    expect_fail(gf_image_load_memory("x", b.data, b.n, &load_params, &image), GF_ERROR_FORMAT,
                "x: is a PGM file, not the PFM asked for");
    load_params.format = "PNM";
    expect_ok(gf_image_load_memory("x", b.data, b.n, &load_params, &image));
    gf_image_destroy(&image);
    expect_fail(gf_image_load_memory("x", NULL, 3, NULL, &image), GF_ERROR_INVALID, "bytes");
    expect_fail(gf_image_load(NULL, NULL, &image), GF_ERROR_INVALID, "path");
    expect_fail(gf_image_load("x", NULL, NULL), GF_ERROR_INVALID, "out");

    sample s = make_sample(2, 2, GF_PIXEL_U8, 0, 1);
    void *out;
    size_t n;
    gf_save_params p = { .struct_size = sizeof p };
    expect_fail(gf_image_save_memory(&s.view, &p, &out, &n), GF_ERROR_INVALID, "needs a format");
    expect_fail(gf_image_save("-", &s.view, &p), GF_ERROR_INVALID, "needs a format");
    p = format_params("pgm");
    p.jpeg_quality = 101;
    expect_fail(gf_image_save_memory(&s.view, &p, &out, &n), GF_ERROR_RANGE, "101");
    p.jpeg_quality = -1;
    expect_fail(gf_save_check("a.jpg", GF_PIXEL_U8, &p), GF_ERROR_RANGE, "-1");
    p = format_params("pgm");
    s.view.memory = GF_MEMORY_CUDA;
    expect_fail(gf_image_save_memory(&s.view, &p, &out, &n), GF_ERROR_INVALID, "device");
    s.view.memory = GF_MEMORY_HOST;
    s.view.pitch_bytes = 1;
    expect_fail(gf_image_save_memory(&s.view, &p, &out, &n), GF_ERROR_INVALID, "pitch");
    free(s.memory);
}
END_TEST

START_TEST(size_limit_names_the_flag)
{
    gf_load_params params = { .struct_size = sizeof params, .max_pixels = 5 };
    gf_image *image;
    bytes b = of_text("P2 2 3 255 1 2 3 4 5 6");
    expect_fail(gf_image_load_memory("x", b.data, b.n, &params, &image), GF_ERROR_RANGE,
                "2x3 is 6 pixels, over the limit of 5; --max-pixels");
    params.max_pixels = 6;
    expect_ok(gf_image_load_memory("x", b.data, b.n, &params, &image));
    gf_image_destroy(&image);
    b = of_text("P5 50000 50000 255 ");
    expect_refused(&b, GF_ERROR_RANGE, "over the limit of 2147483647");
}
END_TEST

/* ---- all codecs --------------------------------------------------------------------------------
 */

#if defined HAVE_DEFLATE || defined HAVE_PNG
enum { PNG_HOLDS = 3 };
#else
enum { PNG_HOLDS = 1 };
#endif

/* What saving must answer, and whether the values come back as they were. */
static const struct {
    const char *name;
    unsigned holds; /* 1: u8, 2: u16, 4: f32 */
    bool exact;
} rules[] = {
    { "png", PNG_HOLDS, true }, { "jpeg", 1, false }, { "bmp", 1, true },
    { "tga", 1, true },         { "pgm", 3, true },   { "pfm", 4, true },
};

static const gf_codec_info *codec(const char *name)
{
    for (size_t i = 0; i < gf_codec_count(); i++)
        if (!strcmp(gf_codec_get(i)->name, name)) return gf_codec_get(i);
    return NULL;
}

static void round_trip(const char *format, bool exact, const gf_view *view)
{
    void *file;
    size_t n;
    gf_save_params save = format_params(format);
    expect_ok(gf_image_save_memory(view, &save, &file, &n));
    gf_load_params params = { .struct_size = sizeof params, .info = &info };
    gf_image *image;
    expect_ok(gf_image_load_memory("x", file, n, &params, &image));
    ck_assert_str_eq(info.format, format);
    ck_assert_str_eq(info.notice, "");
    gf_view back = gf_image_view(image);
    ck_assert_int_eq(back.width, view->width);
    ck_assert_int_eq(back.height, view->height);
    if (exact) expect_same(view, &back);
    gf_image_destroy(&image);
    gf_free(file);
}

START_TEST(round_trips)
{
    static const int sizes[][2] = { { 1, 1 },   { 1, 37 },  { 41, 1 },  { 2, 2 },    { 3, 5 },
                                    { 17, 13 }, { 64, 32 }, { 33, 65 }, { 255, 129 } };
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        if (!codec(rules[r].name)->can_load || !codec(rules[r].name)->can_save) continue;
        for (int type = GF_PIXEL_U8; type <= GF_PIXEL_F32; type++)
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                if (!(rules[r].holds & 1u << (type - 1))) continue;
                sample s =
                    make_sample(sizes[i][0], sizes[i][1], (gf_pixel)type, i % 3, (uint32_t)i);
                round_trip(rules[r].name, rules[r].exact, &s.view);
                free(s.memory);
            }
    }
}
END_TEST

/* Smooth and flat rows choose other PNG filters than noise does. */
START_TEST(round_trips_of_every_filter)
{
    for (int kind = 0; kind < 5; kind++)
        for (int type = GF_PIXEL_U8; type <= GF_PIXEL_U16; type++) {
            sample s = make_sample(97, 61, (gf_pixel)type, 3, 5);
            for (int y = 0; y < 61; y++)
                for (int x = 0; x < 97; x++) {
                    int v[] = { 200, 3 * x, 251 * y + x * x, x * y, (x + y) % 2 * 255 };
                    if (type == GF_PIXEL_U8)
                        ((uint8_t *)gfi_row(&s.view, y))[x] = (uint8_t)v[kind];
                    else
                        ((uint16_t *)gfi_row(&s.view, y))[x] = (uint16_t)(v[kind] * 257);
                }
            if (codec("png")->can_load && PNG_HOLDS & 1 << (type - 1))
                round_trip("png", true, &s.view);
            if (type == GF_PIXEL_U8 && codec("tga")->can_save) round_trip("tga", true, &s.view);
            free(s.memory);
        }
}
END_TEST

START_TEST(pixel_types_that_do_not_fit_are_refused)
{
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int type = GF_PIXEL_U8; type <= GF_PIXEL_F32; type++) {
            if (!codec(rules[r].name)->can_save) continue;
            sample s = make_sample(3, 2, (gf_pixel)type, 0, 9);
            gf_save_params p = format_params(rules[r].name);
            char path[32];
            snprintf(path, sizeof path, "no/such/folder/x.%s", rules[r].name);
            void *file;
            size_t n;
            if (rules[r].holds & 1u << (type - 1)) {
                expect_ok(gf_save_check(path, (gf_pixel)type, NULL));
            } else {
                expect_fail(gf_save_check(path, (gf_pixel)type, NULL), GF_ERROR_UNSUPPORTED,
                            "--depth");
                expect_fail(gf_image_save_memory(&s.view, &p, &file, &n), GF_ERROR_UNSUPPORTED,
                            type == GF_PIXEL_F32   ? "pfm can"
                            : type == GF_PIXEL_U16 ? "pgm can"
                                                   : "");
            }
            free(s.memory);
        }
}
END_TEST

START_TEST(format_by_extension)
{
    expect_ok(gf_save_check("a.b/c.PGM", GF_PIXEL_U16, NULL));
    expect_ok(gf_save_check("x.Pfm", GF_PIXEL_F32, NULL));
    expect_fail(gf_save_check("x.tiff", GF_PIXEL_U8, NULL), GF_ERROR_UNSUPPORTED,
                "x.tiff: extension \"tiff\"");
    expect_fail(gf_save_check("a.png/x", GF_PIXEL_U8, NULL), GF_ERROR_UNSUPPORTED, "no extension");
    expect_fail(gf_save_check(".png", GF_PIXEL_U8, NULL), GF_ERROR_UNSUPPORTED, "no extension");
    expect_fail(gf_save_check("-", GF_PIXEL_U8, NULL), GF_ERROR_INVALID, "standard output: needs");
    gf_save_params p = format_params("pgm");
    expect_ok(gf_save_check("-", GF_PIXEL_U8, &p));
    expect_ok(gf_save_check("x.jpg", GF_PIXEL_U16, &p));
    expect_fail(gf_save_check("x.pgm", GF_PIXEL_NONE, NULL), GF_ERROR_INVALID, "pixel type");
    p = format_params("gif");
    expect_fail(gf_save_check("x.png", GF_PIXEL_U8, &p), GF_ERROR_UNSUPPORTED, "\"gif\"");
}
END_TEST

/* ---- files that are no pictures ----------------------------------------------------------------
 */

START_TEST(foreign_files_are_named)
{
    static const struct {
        const char *data;
        size_t n;
        gf_status status;
        const char *part;
    } files[] = {
        { "II*\0\10\0\0\0", 8, GF_ERROR_UNSUPPORTED, "TIFF file, and this build has no TIFF" },
        { "MM\0*\0\0\0\10", 8, GF_ERROR_UNSUPPORTED, "TIFF file, and this build has no TIFF" },
        { "II+\0\10\0\0\0", 8, GF_ERROR_UNSUPPORTED, "BigTIFF" },
        { "MM\0+\0\10\0\0", 8, GF_ERROR_UNSUPPORTED, "BigTIFF" },
        { "GIF89a\1\0\1\0", 10, GF_ERROR_UNSUPPORTED, "GIF" },
        { "RIFF\0\0\0\0WEBPVP8 ", 16, GF_ERROR_UNSUPPORTED, "WebP" },
        { "%PDF-1.7\n", 9, GF_ERROR_UNSUPPORTED, "PDF" },
        { "8BPS\0\1", 6, GF_ERROR_UNSUPPORTED, "Photoshop" },
        { "P7\nWIDTH 1\n", 11, GF_ERROR_UNSUPPORTED, "PAM" },
        { "\0\0\0\14ftypavif", 12, GF_ERROR_UNSUPPORTED, "AVIF" },
        { "Hello, \303\244 world\r\n", 17, GF_ERROR_FORMAT, "text file" },
        { "<html>", 6, GF_ERROR_FORMAT, "text file" },
        { "", 0, GF_ERROR_FORMAT, "test: is an empty file" },
        { "\1\2\3\4\5", 5, GF_ERROR_FORMAT, "no image format" },
        { "\0", 1, GF_ERROR_FORMAT, "no image format" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bytes b = of_bytes((const uint8_t *)files[i].data, files[i].n);
        expect_refused(&b, files[i].status, files[i].part);
    }
}
END_TEST

/* ---- PGM and its kin ---------------------------------------------------------------------------
 */

START_TEST(pgm_keeps_values)
{
    bytes b = of_text("P2\n# a comment\n3 1 # another\n100\n0 50\r\n 100");
    expect_u8(&b, 3, 1, 0, 50, 100);
    ck_assert_uint_eq(info.maxval, 100);
    ck_assert_int_eq(info.bit_depth, 7);
    expect_notice("maxval is 100");
    b = of_text("P2 2 1 15 15 1");
    expect_u8(&b, 2, 1, 15, 1);
    b = of_text("P2 2 1 1023 1023 300");
    expect_u16(&b, 2, 1, 1023, 300);
    ck_assert_int_eq(info.bit_depth, 10);
    ck_assert_uint_eq(info.maxval, 1023);
    b = of_text("P2 2 1 65535 65535 258");
    expect_u16(&b, 2, 1, 65535, 258);
    ck_assert_str_eq(info.notice, "");
    b = of_text("P5 2 2 255\n");
    put(&b, "\1\2\xff\0", 4);
    expect_u8(&b, 2, 2, 1, 2, 255, 0);
    ck_assert_str_eq(info.notice, "");
    ck_assert_str_eq(info.format, "pgm");
    b = of_text("P5\n2 1\n4095\n");
    put(&b, "\x0f\xff\1\2", 4);
    expect_u16(&b, 2, 1, 4095, 258);
    b = of_text("P5 1 1 256 ");
    put(&b, "\1\0", 2);
    expect_u16(&b, 1, 1, 256);
}
END_TEST

START_TEST(pgm_separators)
{
    bytes b = of_text("P5\r\n2 1\r\n255\r\n");
    put(&b, "ab", 2);
    expect_u8(&b, 2, 1, 'a', 'b');
    /* a lone CR before a pixel whose value is that of a newline */
    b = of_text("P5 2 1 255\r");
    put(&b, "\nb", 2);
    expect_u8(&b, 2, 1, '\n', 'b');
    b = of_text("P5 2 1 255#comment\nab");
    expect_u8(&b, 2, 1, 'a', 'b');
    b = of_text("P5 2 1 255 #b");
    expect_u8(&b, 2, 1, '#', 'b');
    b = of_text("P5 2 1 255 abcde");
    expect_u8(&b, 2, 1, 'a', 'b');
    expect_notice("3 bytes after the image");
}
END_TEST

START_TEST(pbm_and_ppm_are_read)
{
    bytes b = of_text("P1 3 2 101\n0 1 0");
    expect_u8(&b, 3, 2, 0, 255, 0, 255, 0, 255);
    ck_assert_int_eq(info.bit_depth, 1);
    b = of_text("P4 9 1 ");
    put(&b, "\x81\x80", 2);
    expect_u8(&b, 9, 1, 0, 255, 255, 255, 255, 255, 255, 0, 0);
    b = of_text("P3 4 1 255 255 0 0 0 255 0 0 0 255 255 255 255");
    expect_u8(&b, 4, 1, 76, 150, 29, 255);
    ck_assert_int_eq(info.channels, 3);
    b = of_text("P6 3 1 65535 ");
    put(&b, "\xff\xff\0\0\0\0\0\0\xff\xff\0\0\0\0\0\0\xff\xff", 18);
    expect_u16(&b, 3, 1, 19595, 38469, 7471);
    b = of_text("P6 1 1 255 ");
    put(&b, "\x11\x11\x11", 3);
    expect_u8(&b, 1, 1, 0x11);
}
END_TEST

START_TEST(pgm_faults_are_named)
{
    static const struct {
        const char *text, *part;
    } files[] = {
        { "P2 2 1 100 50 101", "value 101, which is above maxval 100" },
        { "P5 2 2 255 abc", "truncated" },
        { "P5 2 2 255", "truncated" },
        { "P5 2 ", "truncated" },
        { "P2 3 1 255 1 2", "truncated" },
        { "P2 40000 50000 255 1 2", "truncated" },
        { "P5 40000 50000 255 abcd", "truncated" },
        { "P5 0 2 255 ", "0x2" },
        { "P5 2 2 0 abcd", "maxval is 0" },
        { "P5 2 2 65536 abcd", "maxval is above 65535" },
        { "P5 2 99999999999 255 ", "above" },
        { "P5 two 2 255 ", "0x74 stands where the width" },
        { "P5 2 -2 255 ", "where the height" },
        { "P5 1 1 255a", "instead of white space" },
        { "P1 2 1 12", "where 0 or 1" },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bytes b = of_text(files[i].text);
        expect_refused(&b, GF_ERROR_FORMAT, files[i].part);
    }
    bytes b = of_text("P5 2 1 98 ab");
    expect_u8(&b, 2, 1, 'a', 'b');
    b = of_text("P5 2 1 97 ab");
    expect_refused(&b, GF_ERROR_FORMAT, "row 0 holds the value 98");
    b = of_text("P5 1 1 1023 \4\1");
    expect_refused(&b, GF_ERROR_FORMAT, "1025, which is above maxval 1023");
}
END_TEST

START_TEST(pgm_cuts_are_refused)
{
    bytes b = of_text("P5 7 3 255 abcdefghijklmnopqrstu");
    expect_every_cut_refused(&b);
    b = of_text("P6 2 2 1000 ");
    put(&b, (const uint8_t[24]){ 0 }, 24);
    expect_every_cut_refused(&b);
}
END_TEST

/* ---- PFM ---------------------------------------------------------------------------------------
 */

START_TEST(pfm_is_read)
{
    bytes b = of_text("Pf\n1 3\n-1.0\n");
    put_le32(&b, 0x3f800000); /* 1: the bottom row */
    put_le32(&b, 0xc0000000); /* -2 */
    put_le32(&b, 0x3e800000); /* 0.25: the top row */
    expect_f32(&b, 1, 3, 0.25, -2, 1);
    ck_assert_int_eq(info.bit_depth, 32);
    ck_assert_uint_eq(info.maxval, 0);
    ck_assert_str_eq(info.notice, "");
    b = of_text("Pf 1 1 10e-1 ");
    put_be32(&b, 0x3f000000);
    expect_f32(&b, 1, 1, 0.5);
    ck_assert_str_eq(info.notice, "");
    b = of_text("Pf 1 1 -0.5\r\n");
    put_le32(&b, 0x3f000000);
    expect_f32(&b, 1, 1, 0.5);
    expect_notice("scale");
    b = of_text("PF 1 1 -1\n");
    put_le32(&b, 0x3f800000);
    put_le32(&b, 0x40000000);
    put_le32(&b, 0x40400000);
    expect_f32(&b, 1, 1, (float)(0.299 + 0.587 * 2 + 0.114 * 3));
    ck_assert_int_eq(info.channels, 3);
}
END_TEST

START_TEST(pfm_keeps_nan_bits)
{
    sample s = make_sample(2, 2, GF_PIXEL_F32, 1, 3);
    static const uint32_t special[] = { 0x7fc12345, 0xff800000, 0x7f800000, 1 };
    for (int i = 0; i < 4; i++) memcpy((float *)gfi_row(&s.view, i / 2) + i % 2, &special[i], 4);
    round_trip("pfm", true, &s.view);
    free(s.memory);
}
END_TEST

START_TEST(pfm_faults_are_named)
{
    bytes b = of_text("Pf 1 1 0.0 abcd");
    expect_refused(&b, GF_ERROR_FORMAT, "scale");
    b = of_text("Pf 1 1 x abcd");
    expect_refused(&b, GF_ERROR_FORMAT, "scale");
    b = of_text("Pf 1 1 1e999 abcd");
    expect_refused(&b, GF_ERROR_FORMAT, "scale");
    b = of_text("Pf 40000 50000 -1\nabcd");
    expect_refused(&b, GF_ERROR_FORMAT, "truncated");
    b = of_text("Pf 2 2 -1\n0123456789abcdef");
    expect_every_cut_refused(&b);
}
END_TEST

/* ---- PNG ---------------------------------------------------------------------------------------
 */

static void put_chunk(bytes *b, const char *type, const void *data, size_t n)
{
    put_be32(b, (uint32_t)n);
    size_t at = b->n;
    put(b, type, 4);
    put(b, data, n);
    put_be32(b, gfi_crc32(0, b->data + at, n + 4));
}

/* One stored block of deflate between zlib's header and its checksum. */
static void put_idat(bytes *b, const uint8_t *rows, size_t n)
{
    bytes z = { .n = 0 };
    put(&z, "\x78\1\1", 3);
    put_le16(&z, (unsigned)n);
    put_le16(&z, ~(unsigned)n & 0xffff);
    put(&z, rows, n);
    uint32_t s1 = 1, s2 = 0;
    for (size_t i = 0; i < n; i++) {
        s1 = (s1 + rows[i]) % 65521;
        s2 = (s2 + s1) % 65521;
    }
    put_be32(&z, s2 << 16 | s1);
    put_chunk(b, "IDAT", z.data, z.n);
}

static bytes begin_png(uint32_t width, uint32_t height, int bits, int color, int interlace)
{
    bytes b = { .n = 0 }, h = { .n = 0 };
    put(&b, GFI_PNG_SIGNATURE, 8);
    put_be32(&h, width);
    put_be32(&h, height);
    put(&h, (const uint8_t[]){ (uint8_t)bits, (uint8_t)color, 0, 0, (uint8_t)interlace }, 5);
    put_chunk(&b, "IHDR", h.data, h.n);
    return b;
}

static void end_png(bytes *b, const uint8_t *rows, size_t n)
{
    put_idat(b, rows, n);
    put_chunk(b, "IEND", NULL, 0);
}

#define png_rows(b, ...)                                                                           \
    end_png(b, (const uint8_t[]){ __VA_ARGS__ }, sizeof(const uint8_t[]){ __VA_ARGS__ })

static bytes small_png(void)
{
    bytes b = begin_png(3, 2, 8, GFI_PNG_GRAY, 0);
    put_chunk(&b, "tEXt", "Title\0x", 7);
    png_rows(&b, 0, 10, 20, 30, 2, 1, 2, 3);
    return b;
}

START_TEST(png_gray_of_every_depth)
{
    if (!codec("png")->can_load) return;
    bytes b = begin_png(9, 1, 1, GFI_PNG_GRAY, 0);
    png_rows(&b, 0, 0x81, 0x80);
    expect_u8(&b, 9, 1, 255, 0, 0, 0, 0, 0, 0, 255, 255);
    ck_assert_int_eq(info.bit_depth, 1);
    b = begin_png(4, 1, 2, GFI_PNG_GRAY, 0);
    png_rows(&b, 0, 0x1b);
    expect_u8(&b, 4, 1, 0, 85, 170, 255);
    b = begin_png(3, 1, 4, GFI_PNG_GRAY, 0);
    png_rows(&b, 0, 0x1f, 0x70);
    expect_u8(&b, 3, 1, 17, 255, 119);
    b = small_png();
    expect_u8(&b, 3, 2, 10, 20, 30, 11, 22, 33);
    expect_notice("metadata");
    b = begin_png(2, 1, 16, GFI_PNG_GRAY, 0);
    png_rows(&b, 0, 1, 2, 0xff, 0xfe);
    expect_u16(&b, 2, 1, 0x0102, 0xfffe);
    ck_assert_int_eq(info.bit_depth, 16);
}
END_TEST

START_TEST(png_colour)
{
    if (!codec("png")->can_load) return;
    bytes b = begin_png(4, 1, 8, GFI_PNG_RGB, 0);
    png_rows(&b, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9);
    expect_u8(&b, 4, 1, 76, 150, 29, 9);
    ck_assert_int_eq(info.channels, 3);
    b = begin_png(2, 1, 16, GFI_PNG_RGB, 0);
    png_rows(&b, 0, 0xff, 0xff, 0, 0, 0, 0, 1, 2, 1, 2, 1, 2);
    expect_u16(&b, 2, 1, 19595, 0x0102);
    b = begin_png(2, 1, 8, GFI_PNG_ALPHA, 0);
    png_rows(&b, 0, 7, 0, 8, 255);
    expect_u8(&b, 2, 1, 7, 8);
    expect_notice("alpha");
    b = begin_png(1, 1, 16, GFI_PNG_RGB | GFI_PNG_ALPHA, 0);
    png_rows(&b, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0);
    expect_u16(&b, 1, 1, 38469);
    expect_notice("alpha");
}
END_TEST

START_TEST(png_palettes)
{
    if (!codec("png")->can_load) return;
    bytes b = begin_png(4, 1, 2, GFI_PNG_PALETTE, 0);
    put_chunk(&b, "PLTE", "\xff\0\0\0\xff\0\0\0\xff\x80\x80\x80", 12);
    put_chunk(&b, "tRNS", "\0\x80", 2);
    png_rows(&b, 0, 0x1b);
    expect_u8(&b, 4, 1, 76, 150, 29, 128);
    ck_assert_int_eq(info.channels, 3);
    expect_notice("tRNS");
    b = begin_png(2, 1, 1, GFI_PNG_PALETTE, 0);
    put_chunk(&b, "PLTE", "\x21\x21\x21\x42\x42\x42", 6);
    png_rows(&b, 0, 0x40);
    expect_u8(&b, 2, 1, 0x21, 0x42);
    ck_assert_str_eq(info.gray, "gray palette");
    b = begin_png(2, 1, 8, GFI_PNG_PALETTE, 0);
    put_chunk(&b, "PLTE", "\x21\x21\x21\x42\x42\x42", 6);
    png_rows(&b, 0, 1, 2);
    expect_refused(&b, GF_ERROR_FORMAT, "past the end of the palette");
    b = begin_png(2, 1, 8, GFI_PNG_PALETTE, 0);
    png_rows(&b, 0, 1, 2);
    expect_refused(&b, GF_ERROR_FORMAT, "without a palette");
    b = begin_png(2, 1, 8, GFI_PNG_PALETTE, 0);
    put_chunk(&b, "PLTE", "\1\2\3\4", 4);
    png_rows(&b, 0, 1, 2);
    expect_refused(&b, GF_ERROR_FORMAT, "palette of 4 bytes");
}
END_TEST

/* Adam7 from the specification: pass k begins at (x, y) and steps (dx, dy). */
static void interlace(int width, int height, int bits)
{
    static const int pass[7][4] = { { 0, 0, 8, 8 }, { 4, 0, 8, 8 }, { 0, 4, 4, 8 }, { 2, 0, 4, 4 },
                                    { 0, 2, 2, 4 }, { 1, 0, 2, 2 }, { 0, 1, 1, 2 } };
    uint8_t rows[4096];
    size_t n = 0;
    double want[1024];
    for (int p = 0; p < 7; p++)
        for (int y = pass[p][1]; y < height && pass[p][0] < width; y += pass[p][3]) {
            rows[n++] = 0;
            for (int x = pass[p][0]; x < width; x += pass[p][2]) {
                int v = x * 23 + y * 7;
                want[y * width + x] = bits == 8 ? v & 255 : v * 257 & 65535;
                if (bits == 16) rows[n++] = (uint8_t)(v * 257 >> 8);
                rows[n++] = (uint8_t)(bits == 8 ? v : v * 257);
            }
        }
    bytes b = begin_png((uint32_t)width, (uint32_t)height, bits, GFI_PNG_GRAY, 1);
    end_png(&b, rows, n);
    expect_pixels(&b, width, height, bits == 8 ? GF_PIXEL_U8 : GF_PIXEL_U16, want);
}

START_TEST(png_interlaced)
{
    if (!codec("png")->can_load) return;
    for (int height = 1; height <= 10; height++)
        for (int width = 1; width <= 10; width++) {
            interlace(width, height, 8);
            interlace(width, height, 16);
        }
    interlace(31, 17, 8);
}
END_TEST

START_TEST(png_damage_is_refused)
{
    if (!codec("png")->can_load) return;
    bytes whole = small_png();
    expect_every_cut_refused(&whole);
    for (size_t i = 0; i < whole.n * 8; i++) {
        bytes b = whole;
        b.data[i / 8] ^= (uint8_t)(1u << i % 8);
        gf_image *image;
        gf_status status = load(&b, &image);
        ck_assert_msg(status != GF_OK, "bit %zu turned round: accepted", i);
        gf_image_destroy(&image);
    }
    bytes b = whole;
    b.data[whole.n - 20] ^= 1;
    expect_refused(&b, GF_ERROR_FORMAT, "wrong CRC: chunk IDAT");
    b = whole;
    b.n -= 12;
    expect_refused(&b, GF_ERROR_FORMAT, "truncated");
    b = whole;
    b.data[4] = '\n';
    expect_refused(&b, GF_ERROR_FORMAT, "damaged signature: byte 4");
}
END_TEST

START_TEST(png_lies_are_refused)
{
    if (!codec("png")->can_load) return;
    bytes b = begin_png(40000, 50000, 8, GFI_PNG_GRAY, 0);
    put_chunk(&b, "IDAT", "\x78\1\1\0", 4);
    put_chunk(&b, "IEND", NULL, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "4 compressed bytes cannot hold 40000x50000");
    b = begin_png(40000, 50000, 8, GFI_PNG_RGB, 1);
    put_chunk(&b, "IDAT", "\x78\1\1\0", 4);
    put_chunk(&b, "IEND", NULL, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "4 compressed bytes cannot hold");
    /* right chunks, but rows are missing; rows with a filter that does not exist */
    b = begin_png(3, 3, 8, GFI_PNG_GRAY, 0);
    png_rows(&b, 0, 10, 20, 30, 0, 1, 2, 3);
    expect_refused(&b, GF_ERROR_FORMAT, "PNG: ");
    b = begin_png(3, 1, 8, GFI_PNG_GRAY, 0);
    png_rows(&b, 9, 10, 20, 30);
    expect_refused(&b, GF_ERROR_FORMAT, "PNG: ");
    b = begin_png(0, 1, 8, GFI_PNG_GRAY, 0);
    png_rows(&b, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "0x1");
    b = begin_png(1, 1, 8, 5, 0);
    png_rows(&b, 0, 1);
    expect_refused(&b, GF_ERROR_FORMAT, "colour type 5");
    b = begin_png(1, 1, 16, GFI_PNG_PALETTE, 0);
    png_rows(&b, 0, 1);
    expect_refused(&b, GF_ERROR_FORMAT, "bit depth 16");
    b = begin_png(1, 1, 8, GFI_PNG_GRAY, 0);
    put_chunk(&b, "ABCD", "x", 1);
    png_rows(&b, 0, 1);
    expect_refused(&b, GF_ERROR_UNSUPPORTED, "critical chunk ABCD");
}
END_TEST

#ifdef HAVE_PNG
/* The checksum of the pixels themselves; only libpng looks at it. */
START_TEST(png_wrong_adler_is_refused)
{
    bytes b = begin_png(2, 1, 8, GFI_PNG_GRAY, 0);
    put_chunk(&b, "IDAT", "\x78\1\1\3\0\xfc\xff\0\1\2\0\0\0\1", 14);
    put_chunk(&b, "IEND", NULL, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "data check");
}
END_TEST
#endif

static void walk_folder(const char *root, const char *folder, bool good)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    DIR *dir = opendir(path);
    ck_assert_msg(dir != NULL, "%s: cannot be opened", path);
    int files = 0;
    for (struct dirent *e; (e = readdir(dir));) {
        if (!strstr(e->d_name, ".png")) continue;
        char file[8192];
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        gf_image *image;
        gf_status status = gf_image_load(file, NULL, &image);
        ck_assert_msg((status == GF_OK) == good, "%s: %s", file,
                      status ? gf_error_message() : "accepted");
        ck_assert(good || strlen(gf_error_message()) > strlen(file) + 10);
        gf_image_destroy(&image);
        files++;
    }
    closedir(dir);
    ck_assert_int_gt(files, 0);
}

START_TEST(pngsuite)
{
    const char *root = getenv("GPUFILTER_PNGSUITE");
    walk_folder(root, "primary", true);
    walk_folder(root, "16bit", true);
    walk_folder(root, "corrupt", false);
}
END_TEST

/* ---- JPEG --------------------------------------------------------------------------------------
 */

#ifdef HAVE_JPEG

typedef struct jpeg_kind {
    J_COLOR_SPACE space;
    int channels;
    bool progressive, adobe;
    const uint8_t *exif;
    size_t exif_bytes;
} jpeg_kind;

/* Pixels of one value per channel, so that compression changes them by at most a rounding. */
static bytes make_jpeg(int width, int height, const uint8_t *values, jpeg_kind kind)
{
    struct jpeg_compress_struct j;
    struct jpeg_error_mgr errors;
    j.err = jpeg_std_error(&errors);
    jpeg_create_compress(&j);
    unsigned char *file = NULL;
    unsigned long n = 0;
    jpeg_mem_dest(&j, &file, &n);
    j.image_width = (JDIMENSION)width;
    j.image_height = (JDIMENSION)height;
    j.input_components = kind.channels;
    j.in_color_space = kind.space;
    jpeg_set_defaults(&j);
    jpeg_set_quality(&j, 100, TRUE);
    if (kind.space == JCS_RGB && !kind.progressive && kind.adobe) jpeg_set_colorspace(&j, JCS_RGB);
    if (kind.progressive) jpeg_simple_progression(&j);
    if (kind.space == JCS_CMYK) j.write_Adobe_marker = kind.adobe;
    jpeg_start_compress(&j, TRUE);
    if (kind.exif) jpeg_write_marker(&j, JPEG_APP0 + 1, kind.exif, (unsigned)kind.exif_bytes);
    uint8_t row[4 * 512];
    uint32_t seed = 1;
    while (j.next_scanline < j.image_height) {
        for (int i = 0; i < width * kind.channels; i++) {
            seed = seed * 1664525u + 1013904223u;
            row[i] = values ? values[i % kind.channels] : (uint8_t)(seed >> 24);
        }
        JSAMPROW p = row;
        jpeg_write_scanlines(&j, &p, 1);
    }
    jpeg_finish_compress(&j);
    jpeg_destroy_compress(&j);
    bytes b = { .n = 0 };
    put(&b, file, n);
    free(file);
    return b;
}

static void expect_constant(const bytes *b, double want, double tolerance)
{
    gf_image *image;
    expect_ok(load(b, &image));
    gf_view v = gf_image_view(image);
    ck_assert_int_eq(v.pixel, GF_PIXEL_U8);
    for (int y = 0; y < v.height; y++)
        for (int x = 0; x < v.width; x++)
            ck_assert_double_le(fabs(pixel(&v, x, y) - want), tolerance);
    gf_image_destroy(&image);
}

START_TEST(jpeg_gray)
{
    bytes b = make_jpeg(19, 9, (const uint8_t[]){ 100 },
                        (jpeg_kind){ .space = JCS_GRAYSCALE, .channels = 1 });
    expect_constant(&b, 100, 0);
    ck_assert_str_eq(info.format, "jpeg");
    ck_assert_int_eq(info.channels, 1);
    ck_assert_str_eq(info.notice, "");
    for (int progressive = 0; progressive < 2; progressive++) {
        jpeg_kind kind = { .space = JCS_RGB, .channels = 3, .progressive = progressive };
        b = make_jpeg(19, 9, (const uint8_t[]){ 255, 0, 0 }, kind);
        expect_constant(&b, 76, 1);
        b = make_jpeg(19, 9, (const uint8_t[]){ 0, 255, 0 }, kind);
        expect_constant(&b, 150, 1);
        b = make_jpeg(19, 9, (const uint8_t[]){ 0, 0, 255 }, kind);
        expect_constant(&b, 29, 1);
        ck_assert_str_eq(info.gray, "the file's Y");
    }
    /* RGB that is stored as RGB */
    b = make_jpeg(19, 9, (const uint8_t[]){ 0, 0, 255 },
                  (jpeg_kind){ .space = JCS_RGB, .channels = 3, .adobe = true });
    expect_constant(&b, 29, 0);
    ck_assert_str_eq(info.gray, "Rec. 601 luma of R, G, B");
}
END_TEST

START_TEST(jpeg_cmyk)
{
    jpeg_kind kind = { .space = JCS_CMYK, .channels = 4, .adobe = true };
    /* Adobe stores 255 - ink: no cyan, all magenta and yellow, no black is red */
    bytes b = make_jpeg(19, 9, (const uint8_t[]){ 255, 0, 0, 255 }, kind);
    expect_constant(&b, 76, 0);
    expect_notice("CMYK");
    ck_assert_int_eq(info.channels, 4);
    b = make_jpeg(19, 9, (const uint8_t[]){ 255, 255, 255, 51 }, kind);
    expect_constant(&b, 51, 0);
    kind.adobe = false;
    b = make_jpeg(19, 9, (const uint8_t[]){ 0, 255, 255, 0 }, kind);
    expect_constant(&b, 76, 0);
}
END_TEST

START_TEST(jpeg_orientation_is_told)
{
    uint8_t exif[] = { 'E', 'x',  'i', 'f', 0, 0, 'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1,
                       1,   0x12, 0,   3,   0, 0, 0,   1,   0, 6,  0, 0, 0, 0, 0, 0 };
    jpeg_kind kind = {
        .space = JCS_GRAYSCALE, .channels = 1, .exif = exif, .exif_bytes = sizeof exif
    };
    bytes b = make_jpeg(19, 9, (const uint8_t[]){ 100 }, kind);
    expect_constant(&b, 100, 0);
    ck_assert_int_eq(info.width, 19);
    expect_notice("orientation (6) is not applied");
    exif[25] = 1;
    b = make_jpeg(19, 9, (const uint8_t[]){ 100 }, kind);
    expect_constant(&b, 100, 0);
    ck_assert_ptr_null(strstr(info.notice, "orientation"));
    /* directories that lie outside the block, or that claim more entries than there are */
    exif[13] = 255;
    b = make_jpeg(19, 9, (const uint8_t[]){ 100 }, kind);
    expect_constant(&b, 100, 0);
    exif[13] = 8;
    exif[14] = 255;
    exif[17] = 0x13;
    b = make_jpeg(19, 9, (const uint8_t[]){ 100 }, kind);
    expect_constant(&b, 100, 0);
}
END_TEST

START_TEST(jpeg_cuts_are_refused)
{
    for (int progressive = 0; progressive < 2; progressive++) {
        bytes whole =
            make_jpeg(64, 48, NULL,
                      (jpeg_kind){ .space = JCS_RGB, .channels = 3, .progressive = progressive });
        for (size_t n = 3; n < whole.n; n += n < 700 ? 1 : 97) {
            bytes b = whole;
            b.n = n;
            expect_refused(&b, GF_ERROR_FORMAT, "truncated");
        }
        bytes b = whole;
        b.n -= 1;
        expect_refused(&b, GF_ERROR_FORMAT, "truncated");
    }
}
END_TEST

static size_t find_marker(const bytes *b, uint8_t marker)
{
    for (size_t i = 2; i + 3 < b->n; i += 2 + gfi_be16(b->data + i + 2))
        if (b->data[i + 1] == marker) return i;
    ck_abort_msg("no marker 0x%02x", marker);
    return 0;
}

START_TEST(jpeg_variants_are_refused)
{
    bytes whole = make_jpeg(64, 48, NULL, (jpeg_kind){ .space = JCS_GRAYSCALE, .channels = 1 });
    size_t frame = find_marker(&whole, 0xc0);
    bytes b = whole;
    b.data[frame + 4] = 12;
    expect_refused(&b, GF_ERROR_UNSUPPORTED, "only 8 bits are read");
    b = whole;
    b.data[frame + 1] = 0xc3;
    expect_refused(&b, GF_ERROR_UNSUPPORTED, "JPEG: ");
    b = whole; /* 65280x65280 pixels of a few hundred bytes */
    b.data[frame + 5] = b.data[frame + 7] = 0xa0;
    expect_refused(&b, GF_ERROR_FORMAT, "truncated");
}
END_TEST

START_TEST(jpeg_quality)
{
    sample s = make_sample(64, 64, GF_PIXEL_U8, 0, 4);
    size_t n[3];
    static const int quality[] = { 20, 0, 95 };
    for (int i = 0; i < 3; i++) {
        void *file;
        gf_save_params p = format_params("jpg");
        p.jpeg_quality = quality[i];
        expect_ok(gf_image_save_memory(&s.view, &p, &file, &n[i]));
        gf_free(file);
    }
    ck_assert(n[0] < n[1] && n[1] < n[2]);
    gf_view wide = s.view;
    wide.width = 65501;
    wide.height = 1;
    wide.pitch_bytes = 65501;
    wide.data = calloc(1, 65501);
    void *file;
    size_t size;
    gf_save_params p = format_params("jpeg");
    expect_fail(gf_image_save_memory(&wide, &p, &file, &size), GF_ERROR_RANGE, "65501x1");
    free(wide.data);
    free(s.memory);
}
END_TEST

#endif

/* ---- BMP ---------------------------------------------------------------------------------------
 */

typedef struct bmp_kind {
    uint32_t width, height, bits, compression, used, header;
} bmp_kind;

/* The headers of a file whose pixels begin behind so many bytes of palette or masks. */
static bytes begin_bmp(bmp_kind k, uint32_t extra)
{
    bytes b = { .n = 0 };
    uint32_t header = k.header ? k.header : 40;
    put_text(&b, "BM");
    put_le32(&b, 0);
    put_le32(&b, 0);
    put_le32(&b, 14 + header + extra);
    put_le32(&b, header);
    if (header == 12) {
        put_le16(&b, k.width);
        put_le16(&b, k.height);
    } else {
        put_le32(&b, k.width);
        put_le32(&b, k.height);
    }
    put_le16(&b, 1);
    put_le16(&b, k.bits);
    if (header == 12) return b;
    put_le32(&b, k.compression);
    for (int i = 0; i < 3; i++) put_le32(&b, 0);
    put_le32(&b, k.used);
    put_le32(&b, 0);
    return b;
}

START_TEST(bmp_palettes)
{
    bytes b = begin_bmp(
        (bmp_kind){ .width = 3, .height = 2, .bits = 8, .compression = 0, .used = 3 }, 12);
    put(&b, "\0\0\xff\0\xff\0\0\0\7\7\7\0", 12);
    put(&b, "\0\1\2\0\2\2\1\0", 8);
    expect_u8(&b, 3, 2, 7, 7, 29, 76, 29, 7);
    b.n--; /* the padding of the last row may be missing, a pixel may not */
    expect_u8(&b, 3, 2, 7, 7, 29, 76, 29, 7);
    expect_every_cut_refused(&b);
    /* rows from the top; a gray palette; an index past its end */
    b = begin_bmp(
        (bmp_kind){ .width = 3, .height = (uint32_t)-2, .bits = 4, .compression = 0, .used = 2 },
        8);
    put(&b, "\x10\x10\x10\0\x20\x20\x20\0", 8);
    put(&b, "\1\0\0\0\x11\x10\0\0", 8);
    expect_u8(&b, 3, 2, 16, 32, 16, 32, 32, 32);
    ck_assert_str_eq(info.gray, "gray palette");
    b.data[b.n - 4] = 0x21;
    expect_refused(&b, GF_ERROR_FORMAT, "past the palette's 2 entries");
    b = begin_bmp((bmp_kind){ .width = 9, .height = 1, .bits = 1, .header = 12 }, 6);
    put(&b, "\0\0\0\xff\xff\xff\x81\x80\0\0", 10);
    expect_u8(&b, 9, 1, 255, 0, 0, 0, 0, 0, 0, 255, 255);
}
END_TEST

START_TEST(bmp_true_colour)
{
    bytes b = begin_bmp((bmp_kind){ .width = 1, .height = 3, .bits = 24 }, 0);
    put(&b, "\xff\0\0\0\0\xff\0\0\0\0\xff\0", 12);
    expect_u8(&b, 1, 3, 76, 150, 29);
    b = begin_bmp((bmp_kind){ .width = 2, .height = 1, .bits = 16 }, 0);
    put_le16(&b, 0x7c00);
    put_le16(&b, 0x7fff);
    expect_u8(&b, 2, 1, 76, 255);
    b = begin_bmp((bmp_kind){ .width = 2, .height = 1, .bits = 16, .compression = 3 }, 12);
    put_le32(&b, 0xf800);
    put_le32(&b, 0x7e0);
    put_le32(&b, 0x1f);
    put_le16(&b, 0x7e0);
    put_le16(&b, 0x8410); /* 16 of 31, 32 of 63, 16 of 31: 132, 130, 132 */
    expect_u8(&b, 2, 1, 150, 131);
    b = begin_bmp((bmp_kind){ .width = 2, .height = 1, .bits = 32 }, 0);
    put_le32(&b, 0x00ff0000);
    put_le32(&b, 0xff0000ff);
    expect_u8(&b, 2, 1, 76, 29);
    b = begin_bmp((bmp_kind){ .width = 1, .height = 1, .bits = 32, .compression = 3, .header = 56 },
                  0);
    put_le32(&b, 0x3ff00000);
    put_le32(&b, 0xffc00);
    put_le32(&b, 0x3ff);
    put_le32(&b, 0xc0000000);
    put_le32(&b, 0x3ff00000);
    expect_u8(&b, 1, 1, 76);
    expect_notice("alpha");
}
END_TEST

START_TEST(bmp_faults_are_named)
{
    bytes b =
        begin_bmp((bmp_kind){ .width = 2, .height = 2, .bits = 8, .compression = 1, .used = 2 }, 8);
    expect_refused(&b, GF_ERROR_UNSUPPORTED, "run-length");
    b = begin_bmp((bmp_kind){ .width = 2, .height = 2, .bits = 24, .compression = 4 }, 0);
    expect_refused(&b, GF_ERROR_UNSUPPORTED, "compression 4");
    b = begin_bmp((bmp_kind){ .width = 2, .height = 2, .bits = 7 }, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "7 bits");
    b = begin_bmp((bmp_kind){ .width = 2, .height = 0x80000000, .bits = 24 }, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "2x2147483648");
    b = begin_bmp((bmp_kind){ .width = 40000, .height = 50000, .bits = 24 }, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "truncated");
    b = begin_bmp((bmp_kind){ .width = 1, .height = 1, .bits = 16, .compression = 3 }, 12);
    put_le32(&b, 0xf00f);
    put_le32(&b, 0x7e0);
    put_le32(&b, 0x1f);
    put_le32(&b, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "mask 0x0000f00f");
    b = of_text("BM is how this text begins, and it goes on");
    expect_refused(&b, GF_ERROR_UNSUPPORTED, "header of");
    b = begin_bmp((bmp_kind){ .width = 1, .height = 1, .bits = 24 }, 0);
    b.data[10] = 20;
    put_le32(&b, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "inside the header");
}
END_TEST

/* ---- TGA ---------------------------------------------------------------------------------------
 */

static bytes begin_tga(unsigned palette, unsigned type, unsigned entries, unsigned entry_bits,
                       unsigned width, unsigned height, unsigned bits, unsigned descriptor)
{
    bytes b = of_array(0, (uint8_t)palette, (uint8_t)type);
    put_le16(&b, 0);
    put_le16(&b, entries);
    put(&b, (const uint8_t[]){ (uint8_t)entry_bits }, 1);
    put_le32(&b, 0);
    put_le16(&b, width);
    put_le16(&b, height);
    put_le16(&b, bits | descriptor << 8);
    return b;
}

START_TEST(tga_is_read)
{
    if (!codec("tga")->can_load) return;
    bytes b = begin_tga(0, 3, 0, 0, 2, 2, 8, 0);
    put(&b, "\1\2\3\4", 4);
    expect_u8(&b, 2, 2, 3, 4, 1, 2);
    expect_every_cut_refused(&b);
    b = begin_tga(0, 3, 0, 0, 2, 2, 8, 0x20);
    put(&b, "\1\2\3\4", 4);
    expect_u8(&b, 2, 2, 1, 2, 3, 4);
    b = begin_tga(0, 2, 0, 0, 3, 1, 24, 0x20);
    put(&b, "\0\0\xff\0\xff\0\xff\0\0", 9);
    expect_u8(&b, 3, 1, 76, 150, 29);
    b = begin_tga(0, 2, 0, 0, 2, 1, 16, 0x20);
    put_le16(&b, 0x7c00);
    put_le16(&b, 0x7fff);
    expect_u8(&b, 2, 1, 76, 255);
    /* a run of 3 and 2 single pixels */
    b = begin_tga(0, 11, 0, 0, 5, 1, 8, 0x20);
    put(&b, "\x82\11\1\7\10", 5);
    expect_u8(&b, 5, 1, 9, 9, 9, 7, 8);
    expect_every_cut_refused(&b);
    b = begin_tga(1, 1, 2, 24, 3, 1, 8, 0x20);
    put(&b, "\0\0\xff\5\5\5", 6);
    put(&b, "\1\0\1", 3);
    expect_u8(&b, 3, 1, 5, 76, 5);
    expect_every_cut_refused(&b);
    b.data[b.n - 1] = 2;
    expect_refused(&b, GF_ERROR_FORMAT, "index 2 is past the palette's 2 entries");
}
END_TEST

START_TEST(tga_faults_are_named)
{
    if (!codec("tga")->can_load) return;
    bytes b = begin_tga(0, 10, 0, 0, 60000, 30000, 24, 0);
    put(&b, "\x80\0\0\0", 4);
    expect_refused(&b, GF_ERROR_FORMAT, "truncated");
    b = begin_tga(0, 3, 0, 0, 60000, 30000, 8, 0);
    expect_refused(&b, GF_ERROR_FORMAT, "truncated");
    b = begin_tga(0, 3, 0, 0, 1, 1, 8, 0x10);
    put(&b, "\1", 1);
    expect_refused(&b, GF_ERROR_UNSUPPORTED, "right to left");
    b = begin_tga(1, 1, 1, 24, 1, 1, 8, 0);
    b.data[3] = 5;
    put(&b, "\1\1\1\5", 4);
    expect_refused(&b, GF_ERROR_UNSUPPORTED, "begins at index 5");
}
END_TEST

/* ---- files -------------------------------------------------------------------------------------
 */

static char folder[] = "/tmp/gpufilter-io-XXXXXX";

static void enter_folder(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
}

static int count_files(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    for (struct dirent *e; (e = readdir(dir));)
        n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    closedir(dir);
    return n;
}

static void leave_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(system(command), 0);
}

static void expect_file(const char *path, const gf_view *want)
{
    gf_image *image;
    expect_ok(gf_image_load(path, NULL, &image));
    gf_view got = gf_image_view(image);
    expect_same(want, &got);
    gf_image_destroy(&image);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

START_TEST(files_are_replaced)
{
    enter_folder();
    sample s = make_sample(9, 5, GF_PIXEL_U8, 0, 6), t = make_sample(4, 4, GF_PIXEL_U8, 0, 7);
    umask(022);
    expect_ok(gf_image_save("new.pgm", &s.view, NULL));
    expect_file("new.pgm", &s.view);
    struct stat st;
    ck_assert_int_eq(stat("new.pgm", &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0644);
    /* the mode stays, another name of the file keeps the old picture */
    ck_assert_int_eq(chmod("new.pgm", 0600), 0);
    ck_assert_int_eq(link("new.pgm", "other.pgm"), 0);
    expect_ok(gf_image_save("new.pgm", &t.view, NULL));
    ck_assert_int_eq(stat("new.pgm", &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0600);
    expect_file("new.pgm", &t.view);
    expect_file("other.pgm", &s.view);
    /* contents decide, not the name */
    gf_save_params p = format_params("pfm");
    sample f = make_sample(3, 3, GF_PIXEL_F32, 0, 8);
    expect_ok(gf_image_save("lie.png", &f.view, &p));
    expect_file("lie.png", &f.view);
    ck_assert_int_eq(count_files("."), 3);
    free(s.memory);
    free(t.memory);
    free(f.memory);
    leave_folder();
}
END_TEST

START_TEST(links_are_followed)
{
    enter_folder();
    sample s = make_sample(9, 5, GF_PIXEL_U8, 0, 6);
    ck_assert_int_eq(mkdir("deep", 0777), 0);
    write_text("deep/real.pgm", "old");
    ck_assert_int_eq(symlink("real.pgm", "deep/second.pgm"), 0);
    ck_assert_int_eq(symlink("deep/second.pgm", "first.pgm"), 0);
    expect_ok(gf_image_save("first.pgm", &s.view, NULL));
    struct stat st;
    ck_assert(lstat("first.pgm", &st) == 0 && S_ISLNK(st.st_mode));
    ck_assert(lstat("deep/second.pgm", &st) == 0 && S_ISLNK(st.st_mode));
    expect_file("deep/real.pgm", &s.view);
    ck_assert_int_eq(symlink("deep/nothing.pgm", "dangling.pgm"), 0);
    expect_ok(gf_image_save("dangling.pgm", &s.view, NULL));
    expect_file("deep/nothing.pgm", &s.view);
    ck_assert_int_eq(symlink("round.pgm", "round.pgm"), 0);
    expect_fail(gf_image_save("round.pgm", &s.view, NULL), GF_ERROR_IO, "symbolic links");
    ck_assert_int_eq(count_files("deep"), 3);
    free(s.memory);
    leave_folder();
}
END_TEST

START_TEST(clobbering_is_refused)
{
    enter_folder();
    sample s = make_sample(9, 5, GF_PIXEL_U8, 0, 6), t = make_sample(4, 4, GF_PIXEL_U8, 0, 7);
    gf_save_params p = { .struct_size = sizeof p, .no_clobber = 1 };
    expect_ok(gf_image_save("a.pgm", &s.view, &p));
    expect_fail(gf_image_save("a.pgm", &t.view, &p), GF_ERROR_IO, "a.pgm: exists");
    expect_file("a.pgm", &s.view);
    ck_assert_int_eq(count_files("."), 1);
    free(s.memory);
    free(t.memory);
    leave_folder();
}
END_TEST

START_TEST(failures_leave_nothing)
{
    enter_folder();
    sample s = make_sample(300, 300, GF_PIXEL_U8, 0, 6);
    expect_fail(gf_image_save("no/such/a.pgm", &s.view, NULL), GF_ERROR_IO, "no/such/a.pgm: ");
    ck_assert_int_eq(mkdir("dir.pgm", 0777), 0);
    expect_fail(gf_image_save("dir.pgm", &s.view, NULL), GF_ERROR_IO, "is a folder");
    gf_image *image;
    expect_fail(gf_image_load("dir.pgm", NULL, &image), GF_ERROR_IO, "is a folder");
    expect_fail(gf_image_load("nothing.pgm", NULL, &image), GF_ERROR_NOT_FOUND, "nothing.pgm: ");
    gf_save_params p = format_params("pgm");
    expect_fail(gf_image_save("/dev/full", &s.view, &p), GF_ERROR_IO, "No space");
    expect_ok(gf_image_save("/dev/null", &s.view, &p));
    /* the signal's default action is to end the program: the library must not let it come to that
     */
    write_text("kept.pgm", "P2 1 1 255 7");
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 1000;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    signal(SIGXFSZ, SIG_DFL);
    gf_status status = gf_image_save("big.pgm", &s.view, NULL);
    gf_status again = gf_image_save("kept.pgm", &s.view, NULL);
    limit.rlim_cur = before;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(status, GF_ERROR_IO);
    ck_assert_int_eq(again, GF_ERROR_IO);
    ck_assert_ptr_nonnull(strstr(gf_error_message(), "File too large"));
    expect_ok(gf_image_load("kept.pgm", NULL, &image));
    gf_image_destroy(&image);
    ck_assert_int_eq(count_files("."), 2);
    free(s.memory);
    leave_folder();
}
END_TEST

START_TEST(read_only_files_stay)
{
    enter_folder();
    sample s = make_sample(9, 5, GF_PIXEL_U8, 0, 6);
    write_text("kept.pgm", "P2 1 1 255 7");
    ck_assert_int_eq(chmod("kept.pgm", 0444), 0);
    expect_fail(gf_image_save("kept.pgm", &s.view, NULL), GF_ERROR_IO, "cannot replace");
    free(s.memory);
    leave_folder();
}
END_TEST

START_TEST(standard_streams)
{
    enter_folder();
    sample s = make_sample(9, 5, GF_PIXEL_U16, 2, 6);
    gf_save_params p = format_params("pgm");
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    int in = dup(0), out = dup(1);
    fflush(stdout);
    dup2(ends[1], 1);
    gf_status status = gf_image_save("-", &s.view, &p);
    dup2(out, 1);
    close(ends[1]);
    dup2(ends[0], 0);
    gf_image *image;
    expect_ok(status);
    expect_ok(gf_image_load("-", NULL, &image));
    gf_view got = gf_image_view(image);
    expect_same(&s.view, &got);
    gf_image_destroy(&image);
    expect_fail(gf_image_load("-", NULL, &image), GF_ERROR_FORMAT, "standard input: is an empty");
    dup2(in, 0);
    close(ends[0]);
    /* a pipe that nobody reads is an error, not the end of the program */
    ck_assert_int_eq(pipe(ends), 0);
    close(ends[0]);
    dup2(ends[1], 1);
    status = gf_image_save("-", &s.view, &p);
    dup2(out, 1);
    expect_fail(status, GF_ERROR_IO, "standard output: cannot write");
    free(s.memory);
    leave_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("io");
    suite_add(suite, "table", table_lists_the_codecs);
    suite_add(suite, "parameters", parameters_are_checked);
    suite_add(suite, "size limit", size_limit_names_the_flag);
    suite_add(suite, "round trips", round_trips);
    suite_add(suite, "filters", round_trips_of_every_filter);
    suite_add(suite, "pixel types", pixel_types_that_do_not_fit_are_refused);
    suite_add(suite, "extensions", format_by_extension);
    suite_add(suite, "foreign", foreign_files_are_named);
    suite_add(suite, "pgm values", pgm_keeps_values);
    suite_add(suite, "pgm separators", pgm_separators);
    suite_add(suite, "pbm, ppm", pbm_and_ppm_are_read);
    suite_add(suite, "pgm faults", pgm_faults_are_named);
    suite_add(suite, "pgm cuts", pgm_cuts_are_refused);
    suite_add(suite, "pfm", pfm_is_read);
    suite_add(suite, "pfm bits", pfm_keeps_nan_bits);
    suite_add(suite, "pfm faults", pfm_faults_are_named);
    suite_add(suite, "png gray", png_gray_of_every_depth);
    suite_add(suite, "png colour", png_colour);
    suite_add(suite, "png palettes", png_palettes);
    suite_add(suite, "png interlaced", png_interlaced);
    suite_add(suite, "png damage", png_damage_is_refused);
    suite_add(suite, "png lies", png_lies_are_refused);
#ifdef HAVE_PNG
    suite_add(suite, "png adler", png_wrong_adler_is_refused);
#endif
    if (getenv("GPUFILTER_PNGSUITE") && codec("png")->can_load)
        suite_add(suite, "pngsuite", pngsuite);
#ifdef HAVE_JPEG
    suite_add(suite, "jpeg gray", jpeg_gray);
    suite_add(suite, "jpeg cmyk", jpeg_cmyk);
    suite_add(suite, "jpeg orientation", jpeg_orientation_is_told);
    suite_add(suite, "jpeg cuts", jpeg_cuts_are_refused);
    suite_add(suite, "jpeg variants", jpeg_variants_are_refused);
    suite_add(suite, "jpeg quality", jpeg_quality);
#endif
    suite_add(suite, "bmp palettes", bmp_palettes);
    suite_add(suite, "bmp colour", bmp_true_colour);
    suite_add(suite, "bmp faults", bmp_faults_are_named);
    suite_add(suite, "tga", tga_is_read);
    suite_add(suite, "tga faults", tga_faults_are_named);
    suite_add(suite, "files", files_are_replaced);
    suite_add(suite, "links", links_are_followed);
    suite_add(suite, "no clobber", clobbering_is_refused);
    suite_add(suite, "failures", failures_leave_nothing);
    if (geteuid() != 0) suite_add(suite, "read-only", read_only_files_stay);
    suite_add(suite, "standard streams", standard_streams);
    return suite_run(suite);
}
