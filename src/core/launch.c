#include "core/launch.h"

#include <math.h>

#include "kernels/direct.variants.h"
#include "kernels/sep.variants.h"
#include "kernels/stream.variants.h"

enum { WARP = 32, MOST_THREADS = 128, MOST_BLOCKS_Y = 65535 };

/* A pitch of at least n floats, of 4 more than a multiple of 8: eight rows then begin in the eight
 * different 16-byte columns of the shared memory's banks. */
static int skewed(int64_t n) { return gfi_round_up(n - 4, 8) + 4; }

static void set_groups(gfi_launch_config *c, int groups)
{
    c->tile_groups = groups;
    c->groups_inverse = (uint32_t)(((uint64_t)1 << 32) / (uint64_t)groups + 1);
}

/* Blocks that a multiprocessor runs at a time: as the row says for blocks of MOST_THREADS, unless
 * shared memory allows fewer. */
static int resident_blocks(const gfi_chip *chip, const gfi_tune_row *row, int threads,
                           size_t shared_bytes)
{
    enum { SYSTEM_BYTES = 1024 }; /* shared memory that each block takes for itself */
    const int64_t by_threads = (int64_t)row->blocks * MOST_THREADS / threads;
    const int64_t by_shared = (int64_t)(chip->shared_bytes_sm / (shared_bytes + SYSTEM_BYTES));
    const int64_t blocks = by_shared < by_threads ? by_shared : by_threads;
    return blocks > 1 ? (int)blocks : 1;
}

/* Rows of a block of a strip kernel, which takes them `step` at a time and goes over `extra` more
 * than it makes. The chip is to be filled by whole waves of blocks; of those as many as leave
 * blocks of at least `plenty` rows. */
static int strip_rows_of(const gfi_chip *chip, int blocks_a_sm, int strips, int step, int extra,
                         int plenty, int height)
{
    const int64_t wave = (int64_t)chip->multiprocessors * blocks_a_sm;
    const int64_t wanted = (int64_t)strips * gfi_divide_up(height, plenty);
    const int64_t waves = wanted > wave ? wanted / wave : 1;
    int64_t segments = waves * wave / strips;
    if (segments < 1) segments = 1;
    if (segments > MOST_BLOCKS_Y) segments = MOST_BLOCKS_Y;
    /* With fewer rows than extra ones more blocks would not be sooner done. */
    const int least = extra > step ? extra : step;
    int rows = gfi_divide_up(height, segments);
    if (rows < least) rows = least;
    return gfi_round_up((int64_t)rows + extra, step) - extra; /* whole steps */
}

/* The same where extra rows cost as much as others: they are to be a small part. */
static int strip_rows(const gfi_chip *chip, int blocks_a_sm, int strips, int step, int extra,
                      int height)
{
    enum { WORTH = 16 };
    return strip_rows_of(chip, blocks_a_sm, strips, step, extra, (extra ? extra : 1) * WORTH,
                         height);
}

/* ---- 2-D ----------------------------------------------------------------------------------- */

bool gfi_launch_has_direct(int kw, int kh)
{
#define IS_SIZE(K) || (kw == (K) && kh == (K))
    return false GF_DIRECT_VARIANTS(IS_SIZE);
#undef IS_SIZE
}

/* Threads of a block, each with GF_DIRECT_COLUMNS columns: those that waste the fewest columns at
 * the image's end and in the tiles' margins. */
static int direct_threads(int width, int margin)
{
    int best = MOST_THREADS;
    int64_t best_columns = INT64_MAX;
    for (int threads = MOST_THREADS; threads >= WARP; threads /= 2) {
        const int strip = threads * GF_DIRECT_COLUMNS;
        const int64_t columns = (int64_t)gfi_divide_up(width, strip) * (strip + margin);
        if (columns >= best_columns) continue;
        best = threads;
        best_columns = columns;
    }
    return best;
}

bool gfi_launch_direct(const gfi_chip *chip, int k, int width, int height, gfi_launch_config *out)
{
    const int margin = GF_DIRECT_LEAD(k) + k - 1;
    const int threads = direct_threads(width, margin);
    const int strip = threads * GF_DIRECT_COLUMNS;
    const int strips = gfi_divide_up(width, strip);
    *out = (gfi_launch_config){ .block = { (unsigned)threads, 1, 1 }, .strip = strip };
    set_groups(out, threads + gfi_divide_up(margin, 4));
    out->tile_pitch = 4 * out->tile_groups;
    out->shared_bytes = (size_t)out->tile_pitch * GF_DIRECT_ROWS * sizeof(float);
    if (out->shared_bytes > chip->shared_bytes_block) return false;

    out->resident =
        resident_blocks(chip, gfi_tune_find(GFI_TUNE_DIRECT, k), threads, out->shared_bytes);
    out->rows = strip_rows(chip, out->resident, strips, GF_DIRECT_ROWS, k - 1, height);
    out->steps = (double)strip * (out->rows + k - 1);
    out->grid[0] = (unsigned)strips;
    out->grid[1] = (unsigned)gfi_divide_up(height, out->rows);
    out->grid[2] = 1;
    return true;
}

bool gfi_launch_direct_n(const gfi_chip *chip, int kw, int kh, int width, int height,
                         gfi_launch_config *out)
{
    const int strip = WARP * 4;
    /* The kernel reads two groups past the last whole group of taps. */
    const int64_t groups = strip / 4 + gfi_divide_up(kw, 4) + 2;
    for (int threads_y = 8; threads_y >= 1; threads_y /= 2) {
        const int rows = threads_y * GF_DIRECT_N_ROWS;
        const uint64_t bytes = 4 * sizeof(float) * (uint64_t)groups * (uint64_t)(rows + kh - 1);
        if (bytes > chip->shared_bytes_block || gfi_divide_up(height, rows) > MOST_BLOCKS_Y)
            continue;
        *out = (gfi_launch_config){
            .block = { WARP, (unsigned)threads_y, 1 },
            .grid = { (unsigned)gfi_divide_up(width, strip), (unsigned)gfi_divide_up(height, rows),
                      1 },
            .shared_bytes = (size_t)bytes,
            .strip = strip,
            .rows = rows,
            .steps = (double)strip * rows,
        };
        set_groups(out, (int)groups);
        out->tile_pitch = 4 * out->tile_groups;
        out->resident = resident_blocks(chip, gfi_tune_find(GFI_TUNE_DIRECT_N, kw),
                                        WARP * threads_y, out->shared_bytes);
        return true;
    }
    return false;
}

/* ---- small, streaming ---------------------------------------------------------------------- */

const gfi_stream_shape *gfi_launch_stream_shape(int k, int n_terms, int form, int pixel_bytes)
{
    static const gfi_stream_shape shapes[] = {
#define SHAPE(PREFIX, BYTES, FORM, K, TERMS, COLUMNS, ROWS, THREADS, LAYERS, BLOCKS, HEIGHT)       \
    { "gf_stream_" #PREFIX "_" #K "_" #TERMS,                                                      \
      BYTES,                                                                                       \
      GF_STREAM_##FORM,                                                                            \
      K,                                                                                           \
      TERMS,                                                                                       \
      COLUMNS,                                                                                     \
      ROWS,                                                                                        \
      THREADS,                                                                                     \
      LAYERS,                                                                                      \
      BLOCKS,                                                                                      \
      HEIGHT },
        GF_STREAM_VARIANTS(SHAPE) GF_STREAM_HALVES_VARIANTS(SHAPE)
#undef SHAPE
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const gfi_stream_shape *s = &shapes[i];
        if (s->k == k && s->terms == n_terms && s->form == form && s->pixel_bytes == pixel_bytes)
            return s;
    }
    return NULL;
}

/* Rows of blocks that walk down columns. */
static void stream_walk(const gfi_chip *chip, const gfi_stream_shape *shape, int strips, int height,
                        gfi_launch_config *out)
{
    /* Whole waves of blocks; of those as many as leave blocks of some height. */
    const int64_t wave = (int64_t)chip->multiprocessors * shape->blocks;
    const int64_t wanted = (int64_t)strips * gfi_divide_up(height, shape->height);
    int64_t segments = (wanted > wave ? wanted / wave : 1) * wave / strips;
    if (segments < 1) segments = 1;
    if (segments > MOST_BLOCKS_Y / 2) segments = MOST_BLOCKS_Y / 2;
    /* The first blocks have half the rows: those at the top and the bottom take longer for each. */
    const int rows = gfi_round_up(gfi_divide_up(2 * (int64_t)height, 2 * segments - 1), 2);
    out->rows = rows > shape->k - 1 ? rows : shape->k - 1;
    out->lag = out->rows / 2;
}

/* Rows of a tile. Where they are read step by step they are as many as make whole waves of blocks,
 * of at most the shape's. */
static int stream_tile(const gfi_chip *chip, const gfi_stream_shape *shape, int strips, int height)
{
    const int step = shape->ahead;
    if (step == 0) return shape->height;
    const int64_t wave = (int64_t)chip->multiprocessors * shape->blocks;
    const int64_t least = (int64_t)strips * gfi_divide_up(height, shape->height);
    const int64_t segments = (least + wave - 1) / wave * wave / strips;
    const int rows = gfi_round_up(gfi_divide_up(height, segments > 1 ? segments : 1), step);
    return rows < 2 * step ? 2 * step : rows < shape->height ? rows : shape->height;
}

void gfi_launch_stream(const gfi_chip *chip, const gfi_stream_shape *shape, int width, int height,
                       gfi_launch_config *out)
{
    /* Columns that are no whole group are made apart. */
    const int groups = width > shape->columns ? width / shape->columns : 1;
    const int strip = shape->threads * shape->columns;
    const int strips = gfi_divide_up(groups, shape->threads);
    *out = (gfi_launch_config){ .block = { (unsigned)shape->threads, (unsigned)shape->layers, 1 },
                                .strip = strip,
                                .resident = shape->blocks };
    if (GF_STREAM_TILES(shape->k)) { /* they make no sum twice */
        out->rows = stream_tile(chip, shape, strips, height);
        out->steps = (double)strip * out->rows * shape->layers;
    } else {
        stream_walk(chip, shape, strips, height, out);
        out->steps = (double)strip * (out->rows + shape->k - 1) * shape->layers;
    }
    out->grid[0] = (unsigned)strips;
    out->grid[1] = (unsigned)gfi_divide_up((int64_t)height + out->lag, out->rows * shape->layers);
    out->grid[2] = 1;
}

/* ---- separable, sizes known when compiled -------------------------------------------------- */

bool gfi_launch_has_sep(int kw, int kh, int n_terms)
{
#define IS_SHAPE(K, TERMS) || (kw == (K) && kh == (K) && n_terms == (TERMS))
    return false GF_SEP_VARIANTS(IS_SHAPE);
#undef IS_SHAPE
}

bool gfi_launch_sep_k(const gfi_chip *chip, int k, int n_terms, int width, int height,
                      gfi_launch_config *out)
{
    const int columns = GF_SEP_K_COLUMNS(k, n_terms);
    const int margin = GF_SEP_LEAD(k) + k - 1; /* columns of the strip's threads beside its own */
    const int widest = (GF_SEP_K_THREADS(k) * columns - margin) / GF_SEP_OUT * GF_SEP_OUT;
    const int strip = gfi_round_up(gfi_divide_up(width, gfi_divide_up(width, widest)), GF_SEP_OUT);
    const int threads = gfi_round_up(gfi_divide_up(strip + margin, columns), WARP);
    const int strips = gfi_divide_up(width, strip);
    *out = (gfi_launch_config){ .block = { (unsigned)threads, 1, 1 }, .strip = strip };
    /* Threads read along a row by groups of four. */
    const int read = strip + gfi_round_up(GF_SEP_LEAD(k) + k - 1, 4), written = threads * columns;
    out->ring_pitch = skewed(read > written ? read : written);
    out->shared_bytes =
        sizeof(float) * 2 * (size_t)n_terms * GF_SEP_K_ROWS * (size_t)out->ring_pitch;
    if (out->shared_bytes > chip->shared_bytes_block) return false;

    out->resident =
        resident_blocks(chip, gfi_tune_find(GFI_TUNE_SEP_K, k), threads, out->shared_bytes);
    /* Extra rows are half the work of others. Blocks at the sides take longer, so one wave of long
     * ones would end raggedly. */
    const int plenty = k - 1 > GF_SEP_K_ROWS ? 8 * (k - 1) : 8 * GF_SEP_K_ROWS;
    out->rows = strip_rows_of(chip, out->resident, strips, GF_SEP_K_ROWS, k - 1, plenty, height);
    out->steps = (double)strip * (out->rows + (k - 1) / 2.0);
    out->grid[0] = (unsigned)strips * (unsigned)gfi_divide_up(height, out->rows);
    out->grid[1] = out->grid[2] = 1;
    return true;
}

/* ---- separable, any size ------------------------------------------------------------------- */

/* The strip's sizes in shared memory; false when they do not fit. */
static bool sep_strip(const gfi_chip *chip, int kw, int kh, int n_terms, int strip,
                      gfi_launch_config *out)
{
    *out = (gfi_launch_config){ .strip = strip, .lag = gfi_round_up(kh - 1, GF_SEP_OUT) };
    /* Taps are taken eight at a time, and pixels with them. */
    set_groups(out, gfi_divide_up((int64_t)strip + kw - 1, 4));
    out->tile_pitch = skewed((int64_t)strip + gfi_round_up(kw, GF_SEP_OUT));
    out->ring_pitch = skewed(strip);
    const uint64_t ring = (uint64_t)(out->lag + GF_SEP_ROWS) * (uint64_t)out->ring_pitch;
    const uint64_t floats =
        (uint64_t)GF_SEP_ROWS * (uint64_t)out->tile_pitch + ring * (uint64_t)n_terms;
    out->shared_bytes = (size_t)(floats * sizeof(float));
    return floats * sizeof(float) <= chip->shared_bytes_block;
}

bool gfi_launch_sep(const gfi_chip *chip, int kw, int kh, int n_terms, int width, int height,
                    gfi_launch_config *out)
{
    enum { WIDEST = 128, NARROWEST = 32 };
    /* Narrow strips read more margin, so no narrower than the image or shared memory asks for. */
    int strip = WIDEST;
    while (strip > NARROWEST && strip / 2 >= width) strip /= 2;
    while (!sep_strip(chip, kw, kh, n_terms, strip, out))
        if ((strip /= 2) < NARROWEST) return false;
    const int strips = gfi_divide_up(width, strip);
    const int threads = strip < MOST_THREADS / 2 ? 2 * strip : MOST_THREADS;
    out->resident =
        resident_blocks(chip, gfi_tune_find(GFI_TUNE_SEP, kw + kh), threads, out->shared_bytes);
    out->rows = strip_rows(chip, out->resident, strips, GF_SEP_ROWS, out->lag, height);
    out->steps = (double)strip * (out->rows + out->lag);
    out->block[0] = (unsigned)threads;
    out->grid[0] = (unsigned)strips;
    out->grid[1] = (unsigned)gfi_divide_up(height, out->rows);
    out->block[1] = out->block[2] = out->grid[2] = 1;
    return true;
}

/* ---- any size ------------------------------------------------------------------------------ */

void gfi_launch_any(int width, int height, gfi_launch_config *out)
{
    enum { BLOCK_Y = 8 };
    const int blocks_y = gfi_divide_up(height, BLOCK_Y);
    *out = (gfi_launch_config){
        .block = { WARP, BLOCK_Y, 1 },
        .grid = { (unsigned)gfi_divide_up(width, WARP),
                  (unsigned)(blocks_y < MOST_BLOCKS_Y ? blocks_y : MOST_BLOCKS_Y), 1 },
        .strip = WARP,
        .rows = BLOCK_Y,
        .steps = WARP * BLOCK_Y,
        .resident = gfi_tune_find(GFI_TUNE_ANY, 1)->blocks,
    };
}

/* ---- time ---------------------------------------------------------------------------------- */

double gfi_launch_bound_ns(const gfi_chip *chip, double work_ns, double bytes)
{
    /* An H200 moves 4.1e12 bytes/s with 132 multiprocessors; other chips count as so many of its.
     */
    static const double BYTES_NS = 4.1e3 / 132, LAUNCH_NS = 5e3;
    const double memory_ns = bytes / (chip->multiprocessors * BYTES_NS);
    return LAUNCH_NS + (work_ns > memory_ns ? work_ns : memory_ns);
}

double gfi_launch_ns(const gfi_chip *chip, const gfi_launch_config *config, const gfi_tune_row *row,
                     double taps, double bytes)
{
    static const double INSTRUCTIONS_NS = 33.5e3 / 132; /* 33.5e12 thread instructions/s */
    enum { HALF_SPEED_WARPS = 4 }; /* with so many, half the issue slots are used */
    const double blocks = ceil((double)config->grid[0] * config->grid[1] / chip->multiprocessors);
    const double running = blocks < config->resident ? blocks : config->resident;
    const double warps = running * config->block[0] * config->block[1] / WARP;
    const double speed = INSTRUCTIONS_NS * warps / (warps + HALF_SPEED_WARPS);
    const double issue_ns = blocks * config->steps * (row->base + row->per_tap * taps) / speed;
    return gfi_launch_bound_ns(chip, issue_ns, bytes);
}
