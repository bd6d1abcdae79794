#define _POSIX_C_SOURCE 200809L

/* Loading and saving: which codec, which limits, whose name stands before a message. */
#include <gpufilter/io.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/alloc.h"
#include "core/image.h"
#include "core/versioned.h"
#include "io/codec.h"
#include "io/file.h"

/* TGA last: it has no magic number */
static const gfi_codec *const codecs[] = { &gfi_codec_png, &gfi_codec_jpeg, &gfi_codec_bmp,
                                           &gfi_codec_pgm, &gfi_codec_pfm,  &gfi_codec_tga };
enum { N_CODECS = sizeof codecs / sizeof *codecs };

#define DEFAULT_MAX_PIXELS UINT64_C(2147483647)

size_t gf_codec_count(void) { return N_CODECS; }

const gf_codec_info *gf_codec_get(size_t index)
{
    return index < N_CODECS ? &codecs[index]->info : NULL;
}

/* ---- finding a codec ---- */

/* Whether a word is one of a space-separated list, in any case. */
static bool in_list(const char *list, const char *word, size_t n)
{
    for (const char *at = list; *at;) {
        size_t length = strcspn(at, " ");
        if (length == n && !strncasecmp(at, word, n)) return true;
        at += length;
        at += strspn(at, " ");
    }
    return false;
}

static const gfi_codec *codec_of_word(const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i < N_CODECS; i++)
        if (in_list(codecs[i]->info.name, word, n) || in_list(codecs[i]->info.extensions, word, n))
            return codecs[i];
    return NULL;
}

static const gfi_codec *codec_of_bytes(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < N_CODECS; i++)
        if (codecs[i]->sniff(bytes, n)) return codecs[i];
    return NULL;
}

/* Names of the codecs that can load, or can save a pixel type (NONE: any), for messages. */
typedef struct names {
    char text[64];
} names;

static names list_codecs(bool save, gf_pixel pixel)
{
    names list = { "" };
    size_t used = 0;
    for (size_t i = 0; i < N_CODECS; i++) {
        const gfi_codec *c = codecs[i];
        bool fits = pixel == GF_PIXEL_NONE || (c->pixels & GFI_CAN(pixel));
        if (save ? !c->info.can_save || !fits : !c->info.can_load) continue;
        int n = snprintf(list.text + used, sizeof list.text - used, "%s%s", used ? ", " : "",
                         c->info.name);
        used += (size_t)n;
        if (used >= sizeof list.text) break;
    }
    return list;
}

static gf_status fail_unknown_format(const char *word, bool save)
{
    return gfi_fail(GF_ERROR_UNSUPPORTED, "format: \"%s\" is not one of %s", word,
                    list_codecs(save, GF_PIXEL_NONE).text);
}

/* ---- parameters ---- */

static gf_status take_save_params(const gf_save_params *from, gf_save_params *to)
{
    GFI_TRY(gfi_versioned_read(from, to, sizeof *to, "gf_save_params"));
    if (to->jpeg_quality < 0 || to->jpeg_quality > 100)
        return gfi_fail(GF_ERROR_RANGE, "jpeg quality: %d is not 1 ... 100", to->jpeg_quality);
    return GF_OK;
}

static bool is_standard(const char *path) { return !strcmp(path, "-"); }

/* ---- loading ---- */

static gf_status fail_foreign(const uint8_t *bytes, size_t n)
{
    bool known;
    const char *name = gfi_foreign_name(bytes, n, &known);
    names read = list_codecs(false, GF_PIXEL_NONE);
    if (known)
        return gfi_fail(GF_ERROR_UNSUPPORTED,
                        "is %s %s file, and this build has no %s support; it reads %s",
                        strchr("AEIO", *name) ? "an" : "a", name, name, read.text);
    if (n == 0) return gfi_fail(GF_ERROR_FORMAT, "is %s", name);
    return gfi_fail(GF_ERROR_FORMAT, "is %s; formats read are %s", name, read.text);
}

static gf_status find_loader(const gfi_source *source, const char *format, const gfi_codec **out)
{
    const gfi_codec *wanted = NULL, *found = codec_of_bytes(source->bytes, source->n);
    if (format && !(wanted = codec_of_word(format))) return fail_unknown_format(format, false);
    if (!found) return fail_foreign(source->bytes, source->n);
    if (wanted && wanted != found)
        return gfi_fail(GF_ERROR_FORMAT, "is a %s file, not the %s asked for", found->title,
                        wanted->title);
    if (!found->info.can_load)
        return gfi_fail(GF_ERROR_UNSUPPORTED,
                        "is a %s file, and this build has no %s support (build option %s)",
                        found->title, found->title, found->option);
    *out = found;
    return GF_OK;
}

static gf_status load_source(const gfi_source *source, const char *format, gf_file_info *info,
                             gf_image **out)
{
    const gfi_codec *codec = NULL;
    GFI_TRY(find_loader(source, format, &codec));
    *info = (gf_file_info){ 0 };
    snprintf(info->format, sizeof info->format, "%s", codec->info.name);
    gf_status status = codec->load(source, info, out);
    if (status != GF_OK) gf_image_destroy(out);
    return gfi_prepend(status, "%s", codec->title);
}

static gf_status load_bytes(gfi_source *source, const gf_load_params *params, gf_image **out)
{
    gf_load_params p;
    GFI_TRY(gfi_versioned_read(params, &p, sizeof p, "gf_load_params"));
    source->max_pixels = p.max_pixels ? p.max_pixels : DEFAULT_MAX_PIXELS;
    gf_file_info info;
    gf_status status = load_source(source, p.format, &info, out);
    if (status == GF_OK && p.info) *p.info = info;
    return status;
}

gf_status gf_image_load_memory(const char *name, const void *bytes, size_t n_bytes,
                               const gf_load_params *params, gf_image **out)
{
    if (!out) return gfi_fail(GF_ERROR_INVALID, "out: NULL");
    *out = NULL;
    if (!bytes && n_bytes) return gfi_fail(GF_ERROR_INVALID, "bytes: NULL");
    gfi_source source = { .bytes = bytes, .n = n_bytes };
    return gfi_prepend(load_bytes(&source, params, out), "%s", name ? name : "memory");
}

gf_status gf_image_load(const char *path, const gf_load_params *params, gf_image **out)
{
    if (!out) return gfi_fail(GF_ERROR_INVALID, "out: NULL");
    *out = NULL;
    if (!path) return gfi_fail(GF_ERROR_INVALID, "path: NULL");
    const char *name = is_standard(path) ? "standard input" : path;
    gfi_buffer file;
    gf_status status = gfi_file_read(path, &file);
    if (status != GF_OK) return gfi_prepend(status, "%s", name);
    gfi_source source = { .bytes = file.data, .n = file.size, .owner = &file.data };
    status = load_bytes(&source, params, out);
    gfi_free(file.data);
    return gfi_prepend(status, "%s", name);
}

/* ---- saving ---- */

/* The text behind the last dot of the last part of a path; "" when there is none. */
static const char *extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? dot + 1 : "";
}

static gf_status find_saver(const char *path, const char *format, const gfi_codec **out)
{
    if (format) {
        *out = codec_of_word(format);
        return *out ? GF_OK : fail_unknown_format(format, true);
    }
    if (!path || is_standard(path))
        return gfi_fail(GF_ERROR_INVALID, "needs a format: one of %s",
                        list_codecs(true, GF_PIXEL_NONE).text);
    const char *ext = extension(path);
    *out = codec_of_word(ext);
    if (*out && in_list((*out)->info.extensions, ext, strlen(ext))) return GF_OK;
    if (!*ext)
        return gfi_fail(GF_ERROR_UNSUPPORTED,
                        "has no extension that tells the format; known are %s",
                        list_codecs(true, GF_PIXEL_NONE).text);
    return gfi_fail(GF_ERROR_UNSUPPORTED, "extension \"%s\" is none of a known format: %s", ext,
                    list_codecs(true, GF_PIXEL_NONE).text);
}

/* Find the codec and make sure that it is there and can hold the pixel type. */
static gf_status choose_saver(const char *path, gf_pixel pixel, const char *format,
                              const gfi_codec **out)
{
    const gfi_codec *c = NULL;
    GFI_TRY(find_saver(path, format, &c));
    if (!c->info.can_save)
        return gfi_fail(GF_ERROR_UNSUPPORTED, "this build cannot write %s (build option %s)",
                        c->title, c->option);
    if (gf_pixel_bytes(pixel) == 0)
        return gfi_fail(GF_ERROR_INVALID, "pixel type: %d is not u8, u16 or f32", (int)pixel);
    if (!(c->pixels & GFI_CAN(pixel)))
        return gfi_fail(GF_ERROR_UNSUPPORTED,
                        "%s cannot hold %s pixels; %s can, or convert with --depth %s", c->title,
                        gf_pixel_name(pixel), list_codecs(true, pixel).text,
                        c->pixels & GFI_CAN(GF_PIXEL_F32)   ? "f32"
                        : c->pixels & GFI_CAN(GF_PIXEL_U16) ? "u8 or u16"
                                                            : "u8");
    *out = c;
    return GF_OK;
}

static const char *target_name(const char *path)
{
    if (!path) return "memory";
    return is_standard(path) ? "standard output" : path;
}

gf_status gf_save_check(const char *path, gf_pixel pixel, const gf_save_params *params)
{
    if (!path) return gfi_fail(GF_ERROR_INVALID, "path: NULL");
    gf_save_params p;
    const gfi_codec *codec;
    GFI_TRY(take_save_params(params, &p));
    return gfi_prepend(choose_saver(path, pixel, p.format, &codec), "%s", target_name(path));
}

static gf_status encode(const char *path, const gf_view *view, const gf_save_params *params,
                        gfi_buffer *out)
{
    const gfi_codec *codec = NULL;
    GFI_TRY(choose_saver(path, view->pixel, params->format, &codec));
    gf_status status = codec->save(view, params, out);
    if (status != GF_OK) gfi_free(out->data);
    return gfi_prepend(status, "%s", codec->title);
}

static gf_status check_saved_view(const gf_view *view)
{
    GFI_TRY(gfi_view_check(view, "view"));
    if (view->memory == GF_MEMORY_HOST) return GF_OK;
    return gfi_fail(GF_ERROR_INVALID, "view: is in device memory; copy it to the host first");
}

gf_status gf_image_save(const char *path, const gf_view *view, const gf_save_params *params)
{
    if (!path) return gfi_fail(GF_ERROR_INVALID, "path: NULL");
    gf_save_params p;
    GFI_TRY(take_save_params(params, &p));
    GFI_TRY(check_saved_view(view));
    const char *name = target_name(path);
    /* before the work of encoding; checked again when the file gets its name */
    if (p.no_clobber && !is_standard(path)) GFI_TRY(gfi_prepend(gfi_file_absent(path), "%s", name));
    gfi_buffer file = { 0 };
    gf_status status = encode(path, view, &p, &file);
    if (status != GF_OK) return gfi_prepend(status, "%s", name);
    status = gfi_file_write(path, p.no_clobber, &file);
    gfi_free(file.data);
    return gfi_prepend(status, "%s", name);
}

gf_status gf_image_save_memory(const gf_view *view, const gf_save_params *params, void **bytes,
                               size_t *n_bytes)
{
    if (!bytes || !n_bytes) return gfi_fail(GF_ERROR_INVALID, "bytes or n_bytes: NULL");
    *bytes = NULL;
    *n_bytes = 0;
    gf_save_params p;
    GFI_TRY(take_save_params(params, &p));
    GFI_TRY(check_saved_view(view));
    gfi_buffer file = { 0 };
    gf_status status = encode(NULL, view, &p, &file);
    if (status == GF_OK && !gfi_buffer_append(&file, file.rest, file.n_rest)) {
        gfi_free(file.data);
        status = GF_ERROR_NO_MEMORY;
    }
    if (status != GF_OK) return gfi_prepend(status, "memory");
    *bytes = file.data;
    *n_bytes = file.size;
    return GF_OK;
}
