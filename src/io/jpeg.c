/* JPEG through libjpeg-turbo; the only file that includes it.
 *
 * Gray is the file's own Y where it has one. RGB files go through the rule of gray.h. CMYK and YCCK
 * become R = C K / 255 and so on with the inverted inks that Adobe writes, R = (255 - C)(255 - K) /
 * 255 without Adobe's marker, and no colour profile: a notice says so. The Exif orientation is not
 * applied; a notice says so when it is not 1.
 *
 * libjpeg fills what a damaged file lacks with gray and only warns. Such warnings are errors here.
 */
#include "io/config.h"
#include "io/codec.h"

static bool sniff(const uint8_t *bytes, size_t n)
{
    return n >= 3 && bytes[0] == 0xff && bytes[1] == 0xd8 && bytes[2] == 0xff;
}

#ifdef HAVE_JPEG

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#include "core/alloc.h"
#include "core/image.h"
#include "io/gray.h"

enum { MAX_SCANS = 500, DEFAULT_QUALITY = 90 };

/* ---- errors, for both directions ---- */

typedef struct errors {
    struct jpeg_error_mgr base; /* first: libjpeg hands its address back */
    jmp_buf escape;
    gf_status status;
    gf_file_info *info; /* for harmless warnings; NULL when writing */
} errors;

static void fail_jpeg(j_common_ptr cinfo, gf_status status, const char *what)
{
    errors *e = (errors *)cinfo->err;
    char text[JMSG_LENGTH_MAX];
    e->base.format_message(cinfo, text);
    e->status = gfi_fail(status, "%s%s", what, text);
    longjmp(e->escape, 1);
}

static void on_error(j_common_ptr cinfo)
{
    switch (cinfo->err->msg_code) {
    case JERR_BAD_PRECISION:
        fail_jpeg(cinfo, GF_ERROR_UNSUPPORTED, "only 8 bits are read: ");
        break;
    case JERR_SOF_UNSUPPORTED:
    case JERR_CONVERSION_NOTIMPL: fail_jpeg(cinfo, GF_ERROR_UNSUPPORTED, ""); break;
    case JERR_OUT_OF_MEMORY: fail_jpeg(cinfo, GF_ERROR_NO_MEMORY, ""); break;
    default: fail_jpeg(cinfo, GF_ERROR_FORMAT, "");
    }
}

static void on_message(j_common_ptr cinfo, int level)
{
    if (level >= 0) return; /* a trace, not a warning */
    errors *e = (errors *)cinfo->err;
    switch (e->base.msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER: fail_jpeg(cinfo, GF_ERROR_FORMAT, "truncated or damaged: "); break;
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_NOT_SEQUENTIAL: fail_jpeg(cinfo, GF_ERROR_FORMAT, ""); break;
    default:
        /* the pixels are right; one line is enough however often it comes */
        if (e->info && e->base.num_warnings++ == 0) {
            char text[JMSG_LENGTH_MAX];
            e->base.format_message(cinfo, text);
            gfi_notice(e->info, "%s", text);
        }
    }
}

static struct jpeg_error_mgr *init_errors(errors *e, gf_file_info *info)
{
    jpeg_std_error(&e->base);
    e->base.error_exit = on_error;
    e->base.emit_message = on_message;
    e->info = info;
    e->status = GF_OK;
    return &e->base;
}

/* ---- reading ---- */

typedef struct reader {
    struct jpeg_decompress_struct jpeg;
    errors errors;
    struct jpeg_progress_mgr progress;
    uint8_t *row;
} reader;

/* A progressive file of a few bytes a scan can ask for minutes of work. */
static void limit_scans(j_common_ptr cinfo)
{
    j_decompress_ptr jpeg = (j_decompress_ptr)cinfo;
    if (jpeg->input_scan_number <= MAX_SCANS) return;
    errors *e = (errors *)cinfo->err;
    e->status = gfi_fail(GF_ERROR_UNSUPPORTED, "more than %d scans", MAX_SCANS);
    longjmp(e->escape, 1);
}

static uint32_t get16(const uint8_t *p, bool little) { return little ? gfi_le16(p) : gfi_be16(p); }
static uint32_t get32(const uint8_t *p, bool little) { return little ? gfi_le32(p) : gfi_be32(p); }

/* Orientation tag of an Exif block's first directory (CIPA DC-008, 4.6.4): 1 when there is none. */
static uint32_t exif_orientation(const uint8_t *exif, size_t n)
{
    enum { ORIENTATION = 0x0112, ENTRY = 12 };
    if (n < 14 || memcmp(exif, "Exif\0\0", 6)) return 1;
    const uint8_t *tiff = exif + 6;
    n -= 6;
    bool little = tiff[0] == 'I';
    uint32_t at = get32(tiff + 4, little);
    if (at > n - 2) return 1;
    uint32_t count = get16(tiff + at, little);
    for (at += 2; count > 0 && n - at >= ENTRY; count--, at += ENTRY)
        if (get16(tiff + at, little) == ORIENTATION) return get16(tiff + at + 8, little);
    return 1;
}

static void note_markers(const reader *r, gf_file_info *info)
{
    bool exif = false, profile = false;
    uint32_t orientation = 1;
    for (jpeg_saved_marker_ptr m = r->jpeg.marker_list; m; m = m->next) {
        if (m->marker == JPEG_APP0 + 1 && !exif) {
            exif = true;
            orientation = exif_orientation(m->data, m->data_length);
        }
        profile = profile || m->marker == JPEG_APP0 + 2;
    }
    if (orientation != 1)
        gfi_notice(info, "the Exif orientation (%u) is not applied", (unsigned)orientation);
    if (profile) gfi_notice(info, "the colour profile is not applied");
    if (exif) gfi_notice(info, "metadata is dropped");
}

/* Choose what libjpeg puts out, and say how it becomes gray. */
static gf_status choose_output(reader *r, gf_file_info *info)
{
    struct jpeg_decompress_struct *j = &r->jpeg;
    const char *gray = "as stored";
    switch (j->jpeg_color_space) {
    case JCS_GRAYSCALE: j->out_color_space = JCS_GRAYSCALE; break;
    case JCS_YCbCr:
        j->out_color_space = JCS_GRAYSCALE;
        gray = "the file's Y";
        break;
    case JCS_RGB:
        j->out_color_space = JCS_RGB;
        gray = "Rec. 601 luma of R, G, B";
        break;
    case JCS_CMYK:
    case JCS_YCCK:
        j->out_color_space = JCS_CMYK;
        gray = "Rec. 601 luma of R, G, B made from CMYK";
        gfi_notice(info, "CMYK is turned into RGB without a colour profile");
        break;
    default:
        return gfi_fail(GF_ERROR_UNSUPPORTED, "%d channels of an unknown colour space",
                        j->num_components);
    }
    gfi_set_samples(info, 8, j->num_components, GF_PIXEL_U8, gray);
    return GF_OK;
}

/* Huffman coding spends at least one bit on every 8x8 block of every component. */
static gf_status check_length(const reader *r, const gfi_source *source)
{
    const struct jpeg_decompress_struct *j = &r->jpeg;
    uint64_t bits = 0;
    for (int i = 0; i < j->num_components && !j->arith_code; i++)
        bits += (uint64_t)j->comp_info[i].width_in_blocks * j->comp_info[i].height_in_blocks;
    return gfi_need_bytes(source, bits / 8);
}

static void cmyk_row(uint8_t *dst, const uint8_t *src, bool inverted, size_t n)
{
    unsigned flip = inverted ? 0 : 255; /* 255 - v is v ^ 255 */
    for (size_t i = 0; i < n; i++, src += 4) {
        unsigned k = src[3] ^ flip;
        dst[i] =
            (uint8_t)gfi_luma(((src[0] ^ flip) * k + 127) / 255, ((src[1] ^ flip) * k + 127) / 255,
                              ((src[2] ^ flip) * k + 127) / 255);
    }
}

static gf_status read_rows(reader *r, const gf_view *view)
{
    struct jpeg_decompress_struct *j = &r->jpeg;
    size_t width = (size_t)view->width;
    bool gray = j->out_color_space == JCS_GRAYSCALE;
    if (!gray && !(r->row = gfi_alloc(width, 4, "JPEG row"))) return GF_ERROR_NO_MEMORY;
    while (j->output_scanline < j->output_height) {
        uint8_t *dst = gfi_row(view, (int32_t)j->output_scanline);
        JSAMPROW row = gray ? dst : r->row;
        jpeg_read_scanlines(j, &row, 1);
        if (j->out_color_space == JCS_RGB) gfi_gray_row_u8(dst, row, 3, width);
        if (j->out_color_space == JCS_CMYK) cmyk_row(dst, row, j->saw_Adobe_marker, width);
    }
    return GF_OK;
}

static gf_status read_all(reader *r, const gfi_source *source, gf_file_info *info, gf_image **out)
{
    struct jpeg_decompress_struct *j = &r->jpeg;
    if (setjmp(r->errors.escape)) return r->errors.status;
    jpeg_create_decompress(j);
    r->progress.progress_monitor = limit_scans;
    j->progress = &r->progress;
    jpeg_mem_src(j, source->bytes, (unsigned long)source->n);
    jpeg_save_markers(j, JPEG_APP0 + 1, 0xffff);
    jpeg_save_markers(j, JPEG_APP0 + 2, 16);
    jpeg_read_header(j, TRUE);
    GFI_TRY(gfi_set_size(source, info, j->image_width, j->image_height));
    GFI_TRY(check_length(r, source));
    GFI_TRY(choose_output(r, info));
    note_markers(r, info);
    GFI_TRY(gfi_image_create_host(info->width, info->height, GF_PIXEL_U8, out));
    gf_view view = gf_image_view(*out);
    jpeg_start_decompress(j);
    GFI_TRY(read_rows(r, &view));
    jpeg_finish_decompress(j);
    return GF_OK;
}

static gf_status load(const gfi_source *source, gf_file_info *info, gf_image **out)
{
    reader r = { 0 };
    r.jpeg.err = init_errors(&r.errors, info);
    gf_status status = read_all(&r, source, info, out);
    jpeg_destroy_decompress(&r.jpeg);
    gfi_free(r.row);
    return status;
}

/* ---- writing ---- */

typedef struct writer {
    struct jpeg_compress_struct jpeg;
    errors errors;
    struct jpeg_destination_mgr target;
    gfi_buffer *out;
} writer;

enum { WRITE_STEP = 1 << 16 };

static void open_room(j_compress_ptr cinfo)
{
    writer *w = cinfo->client_data;
    w->target.next_output_byte = gfi_buffer_reserve(w->out, WRITE_STEP);
    if (!w->target.next_output_byte) {
        w->errors.status = GF_ERROR_NO_MEMORY;
        longjmp(w->errors.escape, 1);
    }
    w->target.free_in_buffer = WRITE_STEP;
}

static boolean take_step(j_compress_ptr cinfo)
{
    writer *w = cinfo->client_data;
    w->out->size += WRITE_STEP;
    open_room(cinfo);
    return TRUE;
}

static void take_rest(j_compress_ptr cinfo)
{
    writer *w = cinfo->client_data;
    w->out->size += WRITE_STEP - w->target.free_in_buffer;
}

static gf_status write_all(writer *w, const gf_view *view, int quality)
{
    struct jpeg_compress_struct *j = &w->jpeg;
    if (setjmp(w->errors.escape)) return w->errors.status;
    jpeg_create_compress(j);
    j->client_data = w;
    j->dest = &w->target;
    j->image_width = (JDIMENSION)view->width;
    j->image_height = (JDIMENSION)view->height;
    j->input_components = 1;
    j->in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(j);
    jpeg_set_quality(j, quality, TRUE);
    jpeg_start_compress(j, TRUE);
    while (j->next_scanline < j->image_height) {
        JSAMPROW row = gfi_row(view, (int32_t)j->next_scanline);
        jpeg_write_scanlines(j, &row, 1);
    }
    jpeg_finish_compress(j);
    return GF_OK;
}

static gf_status save(const gf_view *view, const gf_save_params *params, gfi_buffer *out)
{
    if (view->width > JPEG_MAX_DIMENSION || view->height > JPEG_MAX_DIMENSION)
        return gfi_fail(GF_ERROR_RANGE, "size %dx%d: a side is above %ld", (int)view->width,
                        (int)view->height, JPEG_MAX_DIMENSION);
    writer w = { .out = out };
    w.jpeg.err = init_errors(&w.errors, NULL);
    w.target = (struct jpeg_destination_mgr){ .init_destination = open_room,
                                              .empty_output_buffer = take_step,
                                              .term_destination = take_rest };
    int quality = params->jpeg_quality ? params->jpeg_quality : DEFAULT_QUALITY;
    gf_status status = write_all(&w, view, quality);
    jpeg_destroy_compress(&w.jpeg);
    return status;
}

#endif

const gfi_codec gfi_codec_jpeg = {
#ifdef HAVE_JPEG
    .info = { .name = "jpeg",
              .extensions = "jpg jpeg jpe",
              .can_load = 1,
              .can_save = 1,
              .summary = "reads baseline and progressive JPEG of 8 bits, writes gray, both with "
                         "libjpeg-turbo" },
    .pixels = GFI_CAN(GF_PIXEL_U8),
    .load = load,
    .save = save,
#else
    .info = { .name = "jpeg", .extensions = "jpg jpeg jpe", .summary = "not in this build" },
#endif
    .title = "JPEG",
    .option = "jpeg",
    .sniff = sniff,
};
