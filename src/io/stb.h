/* Decoding and encoding through stb, for files whose headers and sizes were checked before. */
#ifndef GFI_IO_STB_H
#define GFI_IO_STB_H

#include "io/codec.h"

/* Decode a TGA or PNG into a new gray image of info's size and pixel type. */
gf_status gfi_stb_load(const gfi_source *source, const gf_file_info *info, gf_image **out);

typedef enum gfi_stb_format { GFI_STB_BMP, GFI_STB_TGA, GFI_STB_PNG } gfi_stb_format;

/* Encode a u8 view. RANGE when stb's int arithmetic would overflow. */
gf_status gfi_stb_save(gfi_stb_format format, const gf_view *view, gfi_buffer *out);

#endif
