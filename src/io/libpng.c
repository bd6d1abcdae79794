/* The only file that includes libpng. */
#include "io/config.h"

#include <png.h>
#include <string.h>

#include "core/alloc.h"
#include "core/image.h"
#include "io/gray.h"
#include "io/png_file.h"

/* All state of a run: nothing that matters is a local variable where longjmp() would spoil it. */
typedef struct reader {
    png_structp png;
    png_infop png_info;
    const gfi_png *file;
    gf_file_info *info;
    const gf_view *view;
    const uint8_t *at, *end;
    uint8_t *row, *line; /* a row as libpng gives it, and as gray when it is to be scattered */
} reader;

static void on_error(png_structp png, png_const_charp message)
{
    gfi_fail(GF_ERROR_FORMAT, "%s", message);
    png_longjmp(png, 1);
}

/* Once all rows are out libpng only warns of a wrong Adler checksum: the pixels are wrong then. */
static void on_warning(png_structp png, png_const_charp message)
{
    reader *r = png_get_error_ptr(png);
    if (strstr(message, "data check")) on_error(png, message);
    if (r && r->info) gfi_notice(r->info, "%s", message);
}

static void read_bytes(png_structp png, png_bytep out, size_t n)
{
    reader *r = png_get_io_ptr(png);
    if ((size_t)(r->end - r->at) < n) png_error(png, "truncated");
    memcpy(out, r->at, n);
    r->at += n;
}

static void convert_row(reader *r, void *dst, size_t n)
{
    const gfi_png *f = r->file;
    if (f->bits == 16)
        gfi_gray_row_be16(dst, r->row, f->channels, n);
    else if (f->bits == 8 && f->color != GFI_PNG_PALETTE)
        gfi_gray_row_u8(dst, r->row, f->channels, n);
    else if (!gfi_png_map_row(f, dst, r->row, n))
        png_error(r->png, "a pixel's palette index is past the end of the palette");
}

static void read_plain(reader *r)
{
    for (int32_t y = 0; y < r->view->height; y++) {
        png_read_row(r->png, r->row, NULL);
        convert_row(r, gfi_row(r->view, y), (size_t)r->view->width);
    }
}

/* The pixels of one row of a pass lie step columns apart, the first at column first. */
static void scatter_row(const reader *r, size_t y, size_t first, size_t step, size_t n)
{
    void *dst = gfi_row(r->view, (int32_t)y);
    if (r->view->pixel == GF_PIXEL_U16)
        for (size_t i = 0; i < n; i++)
            memcpy((uint16_t *)dst + first + i * step, r->line + 2 * i, 2);
    else
        for (size_t i = 0; i < n; i++) ((uint8_t *)dst)[first + i * step] = r->line[i];
}

/* libpng would want the whole image in its stored form; passes turned to gray need only ours. */
static void read_interlaced(reader *r)
{
    size_t width = (size_t)r->view->width, height = (size_t)r->view->height;
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; pass++) {
        size_t columns = PNG_PASS_COLS(width, pass), rows = PNG_PASS_ROWS(height, pass);
        for (size_t y = 0; columns > 0 && y < rows; y++) {
            png_read_row(r->png, r->row, NULL);
            convert_row(r, r->line, columns);
            scatter_row(r, PNG_ROW_FROM_PASS_ROW(y, pass), PNG_PASS_START_COL(pass),
                        (size_t)1 << PNG_PASS_COL_SHIFT(pass), columns);
        }
    }
}

static gf_status read_all(reader *r)
{
    if (setjmp(png_jmpbuf(r->png))) return GF_ERROR_FORMAT;
    png_set_read_fn(r->png, r, read_bytes);
    png_set_user_limits(r->png, INT32_MAX, INT32_MAX);
    /* the CRCs were checked; chunks that are not used are not parsed, so they cannot be at fault */
    png_set_crc_action(r->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, (png_const_bytep) "tRNS", 1);
    png_read_info(r->png, r->png_info);
    png_set_packing(r->png);
    png_read_update_info(r->png, r->png_info);
    r->row = gfi_alloc(png_get_rowbytes(r->png, r->png_info), 1, "PNG row");
    r->line = gfi_alloc((size_t)r->view->width, 2, "PNG row");
    if (!r->row || !r->line) return GF_ERROR_NO_MEMORY;
    if (r->file->interlaced)
        read_interlaced(r);
    else
        read_plain(r);
    png_read_end(r->png, NULL);
    return GF_OK;
}

gf_status gfi_libpng_decode(const gfi_source *source, const gfi_png *png, gf_file_info *info,
                            const gf_view *view)
{
    reader r = { .file = png,
                 .info = info,
                 .view = view,
                 .at = source->bytes,
                 .end = source->bytes + source->n };
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_error, on_warning);
    if (r.png) r.png_info = png_create_info_struct(r.png);
    gf_status status =
        r.png_info ? read_all(&r) : gfi_fail(GF_ERROR_NO_MEMORY, "libpng: no memory");
    png_destroy_read_struct(&r.png, &r.png_info, NULL);
    gfi_free(r.row);
    gfi_free(r.line);
    return status;
}

#ifndef HAVE_DEFLATE

typedef struct writer {
    png_structp png;
    png_infop png_info;
    const gf_view *view;
    gfi_buffer *out;
    uint8_t *row;
} writer;

static void write_bytes(png_structp png, png_bytep bytes, size_t n)
{
    writer *w = png_get_io_ptr(png);
    if (!gfi_buffer_append(w->out, bytes, n)) png_longjmp(png, 1);
}

static void flush_bytes(png_structp png) { (void)png; }

static gf_status write_all(writer *w)
{
    if (setjmp(png_jmpbuf(w->png))) return GF_ERROR_NO_MEMORY;
    bool wide = w->view->pixel == GF_PIXEL_U16;
    size_t width = (size_t)w->view->width;
    png_set_write_fn(w->png, w, write_bytes, flush_bytes);
    png_set_user_limits(w->png, INT32_MAX, INT32_MAX);
    png_set_compression_level(w->png, 1);
    png_set_IHDR(w->png, w->png_info, (png_uint_32)width, (png_uint_32)w->view->height,
                 wide ? 16 : 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(w->png, w->png_info);
    w->row = gfi_alloc(width, 2, "PNG row");
    if (!w->row) return GF_ERROR_NO_MEMORY;
    for (int32_t y = 0; y < w->view->height; y++) {
        if (wide)
            gfi_put_be16_row(w->row, gfi_row(w->view, y), width);
        else
            memcpy(w->row, gfi_row(w->view, y), width);
        png_write_row(w->png, w->row);
    }
    png_write_end(w->png, NULL);
    return GF_OK;
}

gf_status gfi_libpng_encode(const gf_view *view, gfi_buffer *out)
{
    writer w = { .view = view, .out = out };
    w.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    if (w.png) w.png_info = png_create_info_struct(w.png);
    gf_status status =
        w.png_info ? write_all(&w) : gfi_fail(GF_ERROR_NO_MEMORY, "libpng: no memory");
    png_destroy_write_struct(&w.png, &w.png_info);
    gfi_free(w.row);
    return status;
}

#endif
