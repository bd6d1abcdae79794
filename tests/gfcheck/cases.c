/* Which inputs are tried: corners first, then random draws that cover all pairs of choices. */
#include "gfcheck.h"

#include <stdlib.h>
#include <string.h>

#include "engine/params.h"
#include "engine/registry.h"

/* ---- random numbers: splitmix64 ------------------------------------------------------------ */

uint64_t gfc_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int gfc_below(uint64_t *state, int n) { return (int)((gfc_next(state) >> 33) % (uint64_t)n); }

double gfc_unit(uint64_t *state) { return (double)(gfc_next(state) >> 11) * 0x1p-53; }

/* ---- a case as text ------------------------------------------------------------------------- */

static const char *const pitch_names[GFC_PITCHES] = { "tight", "padded", "odd" };

void gfc_case_print(const gfc_case *one, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, "%s|%s|%dx%d|%s:%s|%s|%s+%d:%s+%d|%.17g|%d|%llu", one->def->info.name,
             one->params, (int)one->width, (int)one->height, gf_pixel_name(one->in),
             gf_pixel_name(one->out), gfc_pattern_name(one->pattern), pitch_names[one->src.pitch],
             one->src.offset_px, pitch_names[one->dst.pitch], one->dst.offset_px, one->white,
             one->threads, (unsigned long long)one->seed);
}

static gf_pixel pixel_by_name(const char *name)
{
    for (gf_pixel p = GF_PIXEL_U8; p <= GF_PIXEL_F32; p++)
        if (strcmp(name, gf_pixel_name(p)) == 0) return p;
    return GF_PIXEL_NONE;
}

static bool pitch_by_name(const char *name, gfc_pitch *out)
{
    for (int i = 0; i < GFC_PITCHES; i++)
        if (strcmp(name, pitch_names[i]) == 0) return *out = (gfc_pitch)i, true;
    return false;
}

static bool pattern_by_name(const char *name, gfc_pattern *out)
{
    for (int i = 0; i < GFC_PATTERNS; i++)
        if (strcmp(name, gfc_pattern_name((gfc_pattern)i)) == 0) return *out = (gfc_pattern)i, true;
    return false;
}

bool gfc_case_parse(const char *text, gfc_case *one)
{
    char copy[2 * GFC_TEXT], *field[9], in[8], out[8], src[16], dst[16];
    if (strlen(text) >= sizeof copy) return false;
    char *at = strcpy(copy, text);
    for (int i = 0; i < 9; i++) {
        if (!at) return false;
        field[i] = at;
        char *bar = strchr(at, '|');
        if (bar) *bar = 0;
        at = bar ? bar + 1 : NULL;
    }
    one->def = gfi_registry_find(field[0]);
    if (!one->def || strlen(field[1]) >= sizeof one->params) return false;
    strcpy(one->params, field[1]);
    if (sscanf(field[2], "%dx%d", &one->width, &one->height) != 2) return false;
    if (sscanf(field[3], "%7[^:]:%7s", in, out) != 2) return false;
    if (sscanf(field[5], "%15[^+]+%d:%15[^+]+%d", src, &one->src.offset_px, dst,
               &one->dst.offset_px) != 4)
        return false;
    one->in = pixel_by_name(in), one->out = pixel_by_name(out);
    one->white = strtod(field[6], NULL), one->threads = atoi(field[7]);
    one->seed = strtoull(field[8], NULL, 10);
    return one->in && one->out && one->width > 0 && one->height > 0 && one->threads > 0 &&
           pitch_by_name(src, &one->src.pitch) && pitch_by_name(dst, &one->dst.pitch) &&
           pattern_by_name(field[4], &one->pattern);
}

/* ---- choices --------------------------------------------------------------------------------- */

enum {
    IN,
    OUT,
    BORDER,
    WIDTH,
    HEIGHT,
    SET,
    PATTERN,
    SRC_PITCH,
    DST_PITCH,
    SRC_AT,
    DST_AT,
    WHITE,
    DIMS
};
enum { SIZE_CLASSES = 16, OFFSETS = 4, WHITES = 3 };
static const double DRAWN_PX = 100; /* most of a drawn parameter that is a length */

static void count_choices(const gf_filter_def *def, int n[DIMS])
{
    n[IN] = n[OUT] = 3;
    n[BORDER] = 5;
    n[WIDTH] = n[HEIGHT] = SIZE_CLASSES;
    n[SET] = gfc_param_sets(def);
    n[PATTERN] = GFC_PATTERNS;
    n[SRC_PITCH] = n[DST_PITCH] = GFC_PITCHES;
    n[SRC_AT] = n[DST_AT] = OFFSETS;
    n[WHITE] = WHITES;
}

/* A size of a class; window is the number of taps along this axis. */
static int32_t size_of(int class, int window, uint64_t *random)
{
    static const int primes[] = { 37, 61, 97, 149, 211, 251 }, tiles[] = { 16, 64, 256 };
    switch (class) {
    case 0: return 1;
    case 1: return 2 + gfc_below(random, 5);
    case 2: return window / 2 + 1;
    case 3: return window > 1 ? window - 1 : 1;
    case 4: return window;
    case 5: return window + 1;
    case 6: return 31;
    case 7: return 32;
    case 8: return 33;
    case 9: return 127 + gfc_below(random, 3);
    case 10: return tiles[gfc_below(random, 3)] - 1 + gfc_below(random, 3);
    case 11: return window < 500 ? 512 - window + gfc_below(random, 3) : window;
    case 12: return primes[gfc_below(random, 6)];
    case 13: return 1000 + gfc_below(random, 1500);
    default: return 1 + gfc_below(random, 300);
    }
}

/* Taps of the filter with these parameters, 1 x 1 when it has none or they are refused. */
static void window_size(const gfc_case *one, int *kw, int *kh)
{
    *kw = *kh = 1;
    void *params = NULL;
    gfi_window *window = NULL;
    gf_image_desc in = { 64, 64, one->in };
    if (!one->def->window || gfi_params_parse(one->def, one->params, &params) != GF_OK) return;
    if (one->def->window(params, &in, &window) == GF_OK) *kw = window->kw, *kh = window->kh;
    gfi_window_destroy(&window);
    gfi_params_destroy(one->def, &params);
}

static void make_case(const gf_filter_def *def, const int choice[DIMS], double most_px,
                      uint64_t *random, gfc_case *one)
{
    static const int offsets[OFFSETS] = { 0, 1, 3, 8 };
    static const double whites[WHITES] = { 1, 255, 65535 };
    memset(one, 0, sizeof *one);
    one->def = def;
    one->in = (gf_pixel)(GF_PIXEL_U8 + choice[IN]);
    one->out = (gf_pixel)(GF_PIXEL_U8 + choice[OUT]);
    one->white = one->in == GF_PIXEL_F32 ? whites[choice[WHITE]] : gf_pixel_white(one->in);
    gfc_param_text(def, choice[SET], most_px, random, one->params);
    double outside[] = { 0, rint(0.4 * one->white * 16) / 16, -0.25 * one->white };
    gfc_param_border(def, (gf_border)choice[BORDER], outside[gfc_below(random, 3)], one->params);
    int kw, kh;
    window_size(one, &kw, &kh);
    one->width = size_of(choice[WIDTH], kw, random);
    one->height = size_of(choice[HEIGHT], kh, random);
    one->pattern = (gfc_pattern)choice[PATTERN];
    if (one->in != GF_PIXEL_F32 && one->pattern >= GFC_TINY) one->pattern = GFC_NOISE;
    one->src = (gfc_layout){ (gfc_pitch)choice[SRC_PITCH], offsets[choice[SRC_AT]] };
    one->dst = (gfc_layout){ (gfc_pitch)choice[DST_PITCH], offsets[choice[DST_AT]] };
    one->threads = 1 + gfc_below(random, 4);
    one->seed = gfc_next(random);
}

/* ---- corners --------------------------------------------------------------------------------- */

/* Sizes one pixel wide and high for every border and parameter set of the def, then every pair of
 * pixel types, every pattern for every border, and every end of a parameter's range. The other
 * choices rotate. */
bool gfc_corner(const gf_filter_def *def, bool quick, int index, gfc_case *one)
{
    static const int shapes[4][2] = { { 0, 0 }, { 0, 14 }, { 14, 0 }, { 1, 1 } };
    const int sets = quick ? 1 : gfc_param_first_end(def);
    const int n_shapes = sets * 5 * 4, n_types = 9, n_patterns = GFC_PATTERNS * 5;
    int choice[DIMS] = { [IN] = index % 3,
                         [OUT] = index / 3 % 3,
                         [WIDTH] = 8,
                         [HEIGHT] = 6,
                         [SRC_PITCH] = index % 3,
                         [DST_PITCH] = index / 2 % 3,
                         [SRC_AT] = index / 2 % 4,
                         [DST_AT] = index / 3 % 4 };
    double most_px = DRAWN_PX;
    int i = index;
    if (i < n_shapes) {
        choice[WIDTH] = shapes[i % 4][0], choice[HEIGHT] = shapes[i % 4][1];
        choice[BORDER] = i / 4 % 5, choice[SET] = i / 20;
        choice[PATTERN] = i % (GFC_CONSTANT + 1);
    } else if ((i -= n_shapes) < n_types) {
        choice[IN] = i % 3, choice[OUT] = i / 3, choice[BORDER] = GF_BORDER_MIRROR;
    } else if ((i -= n_types) < n_patterns) {
        choice[BORDER] = i % 5, choice[PATTERN] = i / 5;
        if (choice[PATTERN] >= GFC_TINY) choice[IN] = 2, choice[OUT] = i % 4 ? 2 : i / 4 % 2;
    } else if ((i -= n_patterns) < gfc_param_ends(def)) {
        choice[SET] = gfc_param_first_end(def) + i, choice[BORDER] = i % 5;
        if (!quick) most_px = INFINITY;
    } else {
        return false;
    }
    uint64_t random = 0x636f726e6572u + (uint64_t)index;
    make_case(def, choice, most_px, &random, one);
    return true;
}

/* Every width: whatever a kernel does at the end of a row, some width shows it. */
bool gfc_sweep(const gf_filter_def *def, bool quick, int index, gfc_case *one)
{
    int32_t width = quick ? 1 + 7 * index + index % 5 : 1 + index;
    if (width > 300) return false;
    int choice[DIMS] = { [IN] = index % 3,        [OUT] = index / 5 % 3,       [BORDER] = index % 5,
                         [SRC_PITCH] = index % 3, [DST_PITCH] = index / 2 % 3, [SRC_AT] = index % 4,
                         [DST_AT] = index / 7 % 4 };
    uint64_t random = 0x7377656570u + (uint64_t)index;
    make_case(def, choice, DRAWN_PX, &random, one);
    one->width = width, one->height = 1 + index % 4;
    return true;
}

/* ---- all pairs ------------------------------------------------------------------------------- */

struct gfc_pairs {
    const gf_filter_def *def;
    uint64_t random;
    int n[DIMS], start[DIMS]; /* number of choices, and where they begin in a list of all */
    int n_all, seen, all;
    unsigned char *pair; /* n_all x n_all: whether two choices have met */
};

gfc_pairs *gfc_pairs_create(const gf_filter_def *def, uint64_t seed)
{
    gfc_pairs *pairs = calloc(1, sizeof *pairs);
    if (!pairs) return NULL;
    pairs->def = def;
    pairs->random = seed;
    for (const char *c = def->info.name; *c; c++) pairs->random = pairs->random * 31 + (uint64_t)*c;
    count_choices(def, pairs->n);
    for (int d = 0; d < DIMS; d++) {
        pairs->start[d] = pairs->n_all;
        pairs->all += pairs->n_all * pairs->n[d];
        pairs->n_all += pairs->n[d];
    }
    pairs->pair = calloc((size_t)pairs->n_all, (size_t)pairs->n_all);
    if (!pairs->pair) gfc_pairs_destroy(pairs), pairs = NULL;
    return pairs;
}

static unsigned char *pair_of(gfc_pairs *pairs, const int choice[DIMS], int a, int b)
{
    size_t i = (size_t)(pairs->start[a] + choice[a]), j = (size_t)(pairs->start[b] + choice[b]);
    return &pairs->pair[i * (size_t)pairs->n_all + j];
}

static int count_new(gfc_pairs *pairs, const int choice[DIMS])
{
    int n = 0;
    for (int a = 0; a < DIMS; a++)
        for (int b = a + 1; b < DIMS; b++) n += !*pair_of(pairs, choice, a, b);
    return n;
}

void gfc_pairs_draw(gfc_pairs *pairs, gfc_case *one)
{
    int best[DIMS], most = -1;
    for (int k = 0; k < 8; k++) {
        int choice[DIMS];
        for (int d = 0; d < DIMS; d++) choice[d] = gfc_below(&pairs->random, pairs->n[d]);
        int n = count_new(pairs, choice);
        if (n > most) most = n, memcpy(best, choice, sizeof best);
    }
    for (int a = 0; a < DIMS; a++)
        for (int b = a + 1; b < DIMS; b++) *pair_of(pairs, best, a, b) = 1;
    pairs->seen += most;
    make_case(pairs->def, best, DRAWN_PX, &pairs->random, one);
}

void gfc_pairs_coverage(const gfc_pairs *pairs, int *seen, int *all)
{
    *seen = pairs->seen, *all = pairs->all;
}

void gfc_pairs_destroy(gfc_pairs *pairs)
{
    if (pairs) free(pairs->pair);
    free(pairs);
}
