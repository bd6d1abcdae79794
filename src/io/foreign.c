/* Names for files that are not read, so that a message can say what was given. */
#include "io/codec.h"

#include <string.h>

typedef struct signature {
    size_t offset, length;
    const char *bytes;
    const char *name;
} signature;

static const signature signatures[] = {
    { 0, 4, "II*\0", "TIFF" },
    { 0, 4, "MM\0*", "TIFF" },
    { 0, 4, "II+\0", "BigTIFF" },
    { 0, 4, "MM\0+", "BigTIFF" },
    { 0, 6, "GIF87a", "GIF" },
    { 0, 6, "GIF89a", "GIF" },
    { 8, 4, "WEBP", "WebP" },
    { 0, 5, "%PDF-", "PDF" },
    { 0, 4, "8BPS", "Photoshop" },
    { 0, 3, "P7\n", "PAM" },
    { 0, 4, "\0\0\1\0", "icon" },
    { 0, 8, "\0\0\0\14jP  ", "JPEG 2000" },
    { 0, 4, "\377\117\377\121", "JPEG 2000" },
    { 0, 2, "\377\12", "JPEG XL" },
    { 0, 8, "\0\0\0\14JXL ", "JPEG XL" },
    { 4, 8, "ftypavif", "AVIF" },
    { 4, 7, "ftyphei", "HEIF" },
    { 4, 8, "ftypmif1", "HEIF" },
    { 4, 4, "ftyp", "video" },
    { 0, 4, "\166\057\061\001", "OpenEXR" },
    { 0, 10, "#?RADIANCE", "Radiance HDR" },
    { 0, 9, "SIMPLE  =", "FITS" },
    { 128, 4, "DICM", "DICOM" },
    { 0, 4, "qoif", "QOI" },
    { 0, 8, "\212MNG\r\n\032\n", "MNG" },
    { 0, 6, "\223NUMPY", "NumPy array" },
    { 0, 4, "\211HDF", "HDF5" },
    { 0, 2, "\037\213", "gzip" },
    { 0, 4, "PK\3\4", "zip" },
    { 0, 4, "\177ELF", "program" },
};

/* Printable ASCII, white space and bytes of UTF-8 sequences only. */
static bool is_text(const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n && i < 512; i++) {
        bool space = bytes[i] >= 8 && bytes[i] <= 13;
        bool utf8 = bytes[i] >= 0x80 && bytes[i] <= 0xf4 && bytes[i] != 0xc0 && bytes[i] != 0xc1;
        if (!space && !utf8 && (bytes[i] < 32 || bytes[i] > 126)) return false;
    }
    return true;
}

const char *gfi_foreign_name(const uint8_t *bytes, size_t n, bool *known)
{
    *known = true;
    for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++) {
        const signature *s = &signatures[i];
        if (n >= s->offset + s->length && !memcmp(bytes + s->offset, s->bytes, s->length))
            return s->name;
    }
    *known = false;
    if (n == 0) return "an empty file";
    return is_text(bytes, n) ? "a text file, not an image" : "in no image format that is known";
}
