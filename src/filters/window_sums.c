/* The inner loops of the CPU window engine.
 *
 * Rounding errors of a long float sum add up, and on a constant image all in one direction. So
 * terms are summed in three levels: at most CHUNK products into a fresh accumulator (FEW when that
 * is all), at most GROUP of those into a middle one, and the middle ones in double. What a pixel's
 * sum is does not depend on where in a block or on which thread it is made. */
#include <string.h>

#include "filters/clones.h"
#include "filters/window_cpu.h"

enum { LANES = 8, CHUNK = 16, GROUP = 16, FEW = 25 };

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef float lanes_anywhere __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));

/* The number of chunks n taps make, and where chunk c begins: as equal as can be. */
GFI_INLINE int chunk_count(int n) { return (n - 1) / CHUNK + 1; }
GFI_INLINE int chunk_begin(int n, int n_chunks, int c) { return (int)((int64_t)n * c / n_chunks); }

/* Move the middle accumulators into the totals. */
GFI_INLINE void add_totals(double *restrict total, lanes *mid, int n_lanes)
{
    for (int k = 0; k < n_lanes; k++) {
        for (int i = 0; i < LANES; i++) total[k * LANES + i] += (double)mid[k][i];
        mid[k] = (lanes){ 0 };
    }
}

GFI_INLINE void put(float *out, const double *total, const lanes *mid, int n_lanes, bool wide)
{
    for (int k = 0; k < n_lanes; k++) {
        if (wide)
            for (int i = 0; i < LANES; i++)
                out[k * LANES + i] = (float)(total[k * LANES + i] + (double)mid[k][i]);
        else
            *(lanes_anywhere *)(out + k * LANES) = mid[k];
    }
}

/* ---- rows ---------------------------------------------------------------------------------- */

enum { ROW_LANES = GFI_BLOCK / LANES };

GFI_INLINE void row_chunk(const float *row, const float *taps, int n, lanes *mid)
{
    lanes acc[ROW_LANES] = { { 0 } };
    for (int i = 0; i < n; i++)
        for (int k = 0; k < ROW_LANES; k++)
            acc[k] += taps[i] * *(const lanes_anywhere *)(row + i + k * LANES);
    for (int k = 0; k < ROW_LANES; k++) mid[k] += acc[k];
}

/* Few enough taps for one accumulator. */
GFI_INLINE void few_taps(const float *row, const float *taps, int kw, float *out, int n)
{
    for (int x = 0; x < n; x += GFI_BLOCK) {
        lanes acc[ROW_LANES] = { { 0 } };
        for (int i = 0; i < kw; i++)
            for (int k = 0; k < ROW_LANES; k++)
                acc[k] += taps[i] * *(const lanes_anywhere *)(row + x + i + k * LANES);
        put(out + x, NULL, acc, ROW_LANES, false);
    }
}

GFI_CLONES static void gfi_sum_row_few(const float *row, const float *taps, int kw, float *out,
                                       int n)
{
    if (kw == 3)
        few_taps(row, taps, 3, out, n);
    else
        few_taps(row, taps, kw, out, n);
}

/* wide: more than a group of chunks, so that totals are kept in double. */
GFI_INLINE void sum_row(const float *row, const float *taps, int kw, float *out, int n, bool wide)
{
    const int n_chunks = chunk_count(kw);
    for (int x = 0; x < n; x += GFI_BLOCK) {
        lanes mid[ROW_LANES] = { { 0 } };
        double total[GFI_BLOCK];
        if (wide) memset(total, 0, sizeof total);
        for (int c = 0, begin = 0; c < n_chunks; c++) {
            const int end = chunk_begin(kw, n_chunks, c + 1);
            if (wide && c && c % GROUP == 0) add_totals(total, mid, ROW_LANES);
            row_chunk(row + x + begin, taps + begin, end - begin, mid);
            begin = end;
        }
        put(out + x, total, mid, ROW_LANES, wide);
    }
}

GFI_CLONES static void gfi_sum_row_narrow(const float *row, const float *taps, int kw, float *out,
                                          int n)
{
    sum_row(row, taps, kw, out, n, false);
}

GFI_CLONES static void gfi_sum_row_wide(const float *row, const float *taps, int kw, float *out,
                                        int n)
{
    sum_row(row, taps, kw, out, n, true);
}

void gfi_sum_row(const float *row, const float *taps, int kw, float *out, int n)
{
    if (kw <= FEW)
        gfi_sum_row_few(row, taps, kw, out, n);
    else if (chunk_count(kw) <= GROUP)
        gfi_sum_row_narrow(row, taps, kw, out, n);
    else
        gfi_sum_row_wide(row, taps, kw, out, n);
}

/* ---- columns ------------------------------------------------------------------------------- */

/* Every row that is loaded serves all the output rows it is in the window of. */
enum { R = GFI_COLUMN_ROWS, COLUMN_LANES = 2 };

GFI_INLINE void column_step(const float *row, const float *taps, int j, int n, bool check,
                            lanes acc[R][COLUMN_LANES])
{
    for (int r = 0; r < R; r++) {
        if (check && (j < r || j - r >= n)) continue;
        for (int k = 0; k < COLUMN_LANES; k++)
            acc[r][k] += taps[j - r] * *(const lanes_anywhere *)(row + k * LANES);
    }
}

GFI_INLINE void column_chunk(const float *const *rows, int x, const float *taps, int n,
                             lanes mid[R][COLUMN_LANES])
{
    lanes acc[R][COLUMN_LANES] = { { { 0 } } };
    int j = 0;
    for (; j < R - 1; j++) column_step(rows[j] + x, taps, j, n, true, acc);
    for (; j < n; j++) column_step(rows[j] + x, taps, j, n, false, acc);
    for (; j < n + R - 1; j++) column_step(rows[j] + x, taps, j, n, true, acc);
    for (int r = 0; r < R; r++)
        for (int k = 0; k < COLUMN_LANES; k++) mid[r][k] += acc[r][k];
}

/* wide: more than a group of chunks, so that totals are kept in double. */
GFI_INLINE void sum_columns(const float *const *rows, const float *taps, int kh, float *const *out,
                            int n, bool wide)
{
    const int n_chunks = chunk_count(kh);
    for (int x = 0; x < n; x += COLUMN_LANES * LANES) {
        lanes mid[R][COLUMN_LANES] = { { { 0 } } };
        double total[R][COLUMN_LANES * LANES];
        if (wide) memset(total, 0, sizeof total);
        for (int c = 0, begin = 0; c < n_chunks; c++) {
            const int end = chunk_begin(kh, n_chunks, c + 1);
            if (wide && c && c % GROUP == 0)
                for (int r = 0; r < R; r++) add_totals(total[r], mid[r], COLUMN_LANES);
            column_chunk(rows + begin, x, taps + begin, end - begin, mid);
            begin = end;
        }
        for (int r = 0; r < R; r++) put(out[r] + x, total[r], mid[r], COLUMN_LANES, wide);
    }
}

GFI_CLONES static void gfi_sum_columns_narrow(const float *const *rows, const float *taps, int kh,
                                              float *const *out, int n)
{
    sum_columns(rows, taps, kh, out, n, false);
}

GFI_CLONES static void gfi_sum_columns_wide(const float *const *rows, const float *taps, int kh,
                                            float *const *out, int n)
{
    sum_columns(rows, taps, kh, out, n, true);
}

void gfi_sum_columns(const float *const *rows, const float *taps, int kh, float *const *out, int n)
{
    if (chunk_count(kh) <= GROUP)
        gfi_sum_columns_narrow(rows, taps, kh, out, n);
    else
        gfi_sum_columns_wide(rows, taps, kh, out, n);
}

/* ---- taps that are all 1 ------------------------------------------------------------------- */

/* Make windows of 2 k pixels, or with odd of 2 k + 1, from windows of k and from single ones. */
GFI_INLINE void double_windows(const float *windows, int k, const float *single, bool odd,
                               float *restrict out, int n)
{
    if (odd)
        for (int x = 0; x < n; x++) out[x] = windows[x] + windows[x + k] + single[x + 2 * k];
    else
        for (int x = 0; x < n; x++) out[x] = windows[x] + windows[x + k];
}

/* Windows of 1, 2 or 3, 4 … 7, … kw pixels, each kind made from the one before: log2(kw) sums a
 * pixel, added up in pairs. n <= WINDOW_BLOCK. */
enum { WINDOW_BLOCK = 1024 };
GFI_CLONES static void gfi_sum_windows(const float *row, int kw, float *out, int n)
{
    float scratch[2][WINDOW_BLOCK + GFI_MAX_ONES];
    const float *windows = row;
    int bit = 1;
    while (bit <= kw / 2) bit *= 2;
    for (int size = 1, i = 0; size < kw; i ^= 1) {
        bit /= 2;
        const bool odd = kw & bit;
        const int doubled = 2 * size + odd;
        float *next = doubled == kw ? out : scratch[i];
        double_windows(windows, size, row, odd, next, n + kw - doubled);
        windows = next;
        size = doubled;
    }
}

void gfi_sum_row_ones(const float *row, int kw, float *out, int n)
{
    if (kw == 1) memcpy(out, row, (size_t)n * sizeof *out);
    for (int x = 0; kw > 1 && x < n; x += WINDOW_BLOCK)
        gfi_sum_windows(row + x, kw, out + x, n - x < WINDOW_BLOCK ? n - x : WINDOW_BLOCK);
}

/* The rows that all output rows have in their windows are added up once; what is above and below of
 * them is a running sum from there. */
GFI_INLINE void columns_ones(const float *const *rows, int kh, float *const *out, int n, int n_rows)
{
    enum { ONES_LANES = 4 };
    const int n_shared = kh - n_rows + 1, n_chunks = chunk_count(n_shared);
    for (int x = 0; x < n; x += ONES_LANES * LANES) {
        lanes shared[ONES_LANES] = { { 0 } }, own[ONES_LANES] = { { 0 } };
        for (int c = 0, j = n_rows - 1; c < n_chunks; c++) {
            const int end = n_rows - 1 + chunk_begin(n_shared, n_chunks, c + 1);
            lanes acc[ONES_LANES] = { { 0 } };
            for (; j < end; j++)
                for (int k = 0; k < ONES_LANES; k++)
                    acc[k] += *(const lanes_anywhere *)(rows[j] + x + k * LANES);
            for (int k = 0; k < ONES_LANES; k++) shared[k] += acc[k];
        }
        for (int r = n_rows - 1; r >= 0; r--)
            for (int k = 0; k < ONES_LANES; k++) {
                if (r < n_rows - 1) own[k] += *(const lanes_anywhere *)(rows[r] + x + k * LANES);
                *(lanes_anywhere *)(out[r] + x + k * LANES) = shared[k] + own[k];
            }
        for (int k = 0; k < ONES_LANES; k++) own[k] = (lanes){ 0 };
        for (int r = 1; r < n_rows; r++)
            for (int k = 0; k < ONES_LANES; k++) {
                own[k] += *(const lanes_anywhere *)(rows[kh + r - 1] + x + k * LANES);
                *(lanes_anywhere *)(out[r] + x + k * LANES) += own[k];
            }
    }
}

GFI_CLONES static void gfi_sum_columns_ones_few(const float *const *rows, int kh, float *const *out,
                                                int n)
{
    columns_ones(rows, kh, out, n, GFI_COLUMN_ROWS);
}

GFI_CLONES static void gfi_sum_columns_ones_many(const float *const *rows, int kh,
                                                 float *const *out, int n)
{
    columns_ones(rows, kh, out, n, GFI_MANY_ROWS);
}

void gfi_sum_columns_ones(const float *const *rows, int kh, float *const *out, int n, int n_rows)
{
    if (n_rows == GFI_MANY_ROWS)
        gfi_sum_columns_ones_many(rows, kh, out, n);
    else
        gfi_sum_columns_ones_few(rows, kh, out, n);
}

/* ---- 2-D ----------------------------------------------------------------------------------- */

enum { BLOCK_LANES = 4 };

/* Add what a run of taps makes of source row u to output rows r0 … r1: its row u - r of taps. */
GFI_INLINE void block_chunk(const float *row, const float *taps, int kw, int u, int n, int r0,
                            int r1, lanes mid[R][BLOCK_LANES])
{
    lanes acc[R][BLOCK_LANES] = { { { 0 } } };
    const float *row_taps[R];
    for (int r = 0; r < R; r++)
        row_taps[r] = taps + (r < r0 || r > r1 ? 0 : (ptrdiff_t)(u - r) * kw);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < R; r++) {
            if (r < r0 || r > r1) continue;
            for (int k = 0; k < BLOCK_LANES; k++)
                acc[r][k] += row_taps[r][i] * *(const lanes_anywhere *)(row + i + k * LANES);
        }
    for (int r = 0; r < R; r++)
        for (int k = 0; k < BLOCK_LANES; k++) mid[r][k] += acc[r][k];
}

/* A source row, for the output rows r0 … r1 that have it in their windows. */
GFI_INLINE void block_row(const float *row, const float *taps, int kw, int u, int r0, int r1,
                          bool wide, lanes mid[R][BLOCK_LANES],
                          double total[R][BLOCK_LANES * LANES])
{
    const int n_chunks = chunk_count(kw);
    for (int c = 0, begin = 0; c < n_chunks; c++) {
        const int end = chunk_begin(kw, n_chunks, c + 1);
        for (int r = 0; wide && r < R; r++) {
            const int64_t chunk = (int64_t)(u - r) * n_chunks + c; /* of output row r */
            if (chunk > 0 && chunk % GROUP == 0) add_totals(total[r], mid[r], BLOCK_LANES);
        }
        block_chunk(row + begin, taps + begin, kw, u, end - begin, r0, r1, mid);
        begin = end;
    }
}

GFI_INLINE void sum_block(const float *const *rows, const float *taps, int kw, int kh,
                          float *const *out, int n, bool wide)
{
    for (int x = 0; x < n; x += BLOCK_LANES * LANES) {
        lanes mid[R][BLOCK_LANES] = { { { 0 } } };
        double total[R][BLOCK_LANES * LANES];
        if (wide) memset(total, 0, sizeof total);
        int u = 0;
        for (; u < R - 1; u++)
            block_row(rows[u] + x, taps, kw, u, u < kh ? 0 : u - kh + 1, u, wide, mid, total);
        for (; u < kh; u++) block_row(rows[u] + x, taps, kw, u, 0, R - 1, wide, mid, total);
        for (; u < kh + R - 1; u++)
            block_row(rows[u] + x, taps, kw, u, u - kh + 1, R - 1, wide, mid, total);
        for (int r = 0; r < R; r++) put(out[r] + x, total[r], mid[r], BLOCK_LANES, wide);
    }
}

/* Few taps a row: a chunk is as many rows as make FEW taps, and stays in registers meanwhile. */
GFI_INLINE void slim_row(const float *row, const float *taps, int kw, int u, int r0, int r1,
                         lanes acc[R][BLOCK_LANES])
{
    const float *row_taps[R];
    for (int r = 0; r < R; r++)
        row_taps[r] = taps + (r < r0 || r > r1 ? 0 : (ptrdiff_t)(u - r) * kw);
    for (int i = 0; i < kw; i++)
        for (int r = 0; r < R; r++) {
            if (r < r0 || r > r1) continue;
            for (int k = 0; k < BLOCK_LANES; k++)
                acc[r][k] += row_taps[r][i] * *(const lanes_anywhere *)(row + i + k * LANES);
        }
}

/* Call f with the range of output rows known to the compiler, which for windows of R rows and more
 * is the first ones, all or the last ones. */
#define KNOWN_ROWS(r0, r1, f, row, taps, kw, u, acc)                                               \
    do {                                                                                           \
        if (r0 == 0 && r1 == 3)                                                                    \
            f(row, taps, kw, u, 0, 3, acc);                                                        \
        else if (r0 == 0 && r1 == 0)                                                               \
            f(row, taps, kw, u, 0, 0, acc);                                                        \
        else if (r0 == 0 && r1 == 1)                                                               \
            f(row, taps, kw, u, 0, 1, acc);                                                        \
        else if (r0 == 0 && r1 == 2)                                                               \
            f(row, taps, kw, u, 0, 2, acc);                                                        \
        else if (r0 == 1 && r1 == 3)                                                               \
            f(row, taps, kw, u, 1, 3, acc);                                                        \
        else if (r0 == 2 && r1 == 3)                                                               \
            f(row, taps, kw, u, 2, 3, acc);                                                        \
        else if (r0 == 3 && r1 == 3)                                                               \
            f(row, taps, kw, u, 3, 3, acc);                                                        \
        else                                                                                       \
            f(row, taps, kw, u, r0, r1, acc);                                                      \
    } while (0)

GFI_CLONES static void gfi_sum_block_slim(const float *const *rows, const float *taps, int kw,
                                          int kh, float *const *out, int n)
{
    const int n_chunks = (kw * kh - 1) / FEW + 1;
    const int chunk_rows = (kh - 1) / n_chunks + 1;
    for (int x = 0; x < n; x += BLOCK_LANES * LANES) {
        lanes acc[R][BLOCK_LANES] = { { { 0 } } }, mid[R][BLOCK_LANES] = { { { 0 } } };
        for (int u = 0; u < kh + R - 1; u++) {
            const int r0 = u < kh ? 0 : u - kh + 1, r1 = u < R ? u : R - 1;
            KNOWN_ROWS(r0, r1, slim_row, rows[u] + x, taps, kw, u, acc);
            for (int r = 0; r < R; r++) {
                const int done = u - r + 1; /* rows of the window of output row r */
                if (done < 1 || (done % chunk_rows && done != kh)) continue;
                for (int k = 0; k < BLOCK_LANES; k++) {
                    mid[r][k] += acc[r][k];
                    acc[r][k] = (lanes){ 0 };
                }
            }
        }
        for (int r = 0; r < R; r++) put(out[r] + x, NULL, mid[r], BLOCK_LANES, false);
    }
}

GFI_CLONES static void gfi_sum_block_narrow(const float *const *rows, const float *taps, int kw,
                                            int kh, float *const *out, int n)
{
    sum_block(rows, taps, kw, kh, out, n, false);
}

GFI_CLONES static void gfi_sum_block_wide(const float *const *rows, const float *taps, int kw,
                                          int kh, float *const *out, int n)
{
    sum_block(rows, taps, kw, kh, out, n, true);
}

void gfi_sum_block(const float *const *rows, const float *taps, int kw, int kh, float *const *out,
                   int n)
{
    if (kw <= FEW / 2 && kh <= FEW)
        gfi_sum_block_slim(rows, taps, kw, kh, out, n);
    else if ((int64_t)chunk_count(kw) * kh <= GROUP)
        gfi_sum_block_narrow(rows, taps, kw, kh, out, n);
    else
        gfi_sum_block_wide(rows, taps, kw, kh, out, n);
}
