/* The inner loops of the CPU window engine.
 *
 * Rounding errors of a long float sum add up, and on a constant image all in one direction. So
 * terms are summed in three levels: at most CHUNK products into a fresh accumulator, at most GROUP
 * of those into a middle one, and the middle ones in double. What a pixel's sum is does not depend
 * on where in a block or on which thread it is made. */
#include "filters/clones.h"
#include "filters/window_cpu.h"

enum { LANES = 8, CHUNK = 16, GROUP = 16 };

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

/* ---- 2-D, and rows when kh is 1 ------------------------------------------------------------ */

enum { ROW_LANES = GFI_BLOCK / LANES };

GFI_INLINE void row_chunk(const float *row, const float *taps, int n, lanes *mid)
{
    lanes acc[ROW_LANES] = { { 0 } };
    for (int i = 0; i < n; i++)
        for (int k = 0; k < ROW_LANES; k++)
            acc[k] += taps[i] * *(const lanes_anywhere *)(row + i + k * LANES);
    for (int k = 0; k < ROW_LANES; k++) mid[k] += acc[k];
}

GFI_CLONES static void gfi_sum_rows_clones(const float *const *rows, const float *taps, int kw,
                                           int kh, float *out, int n)
{
    const int n_chunks = chunk_count(kw);
    for (int x = 0; x < n; x += GFI_BLOCK) {
        lanes mid[ROW_LANES] = { { 0 } };
        double total[GFI_BLOCK] = { 0 };
        bool wide = false;
        int in_group = 0;
        for (int j = 0; j < kh; j++) {
            const float *row = rows[j] + x, *row_taps = taps + (size_t)j * (size_t)kw;
            for (int c = 0, begin = 0; c < n_chunks; c++) {
                const int end = chunk_begin(kw, n_chunks, c + 1);
                if (in_group == GROUP) {
                    add_totals(total, mid, ROW_LANES);
                    in_group = 0;
                    wide = true;
                }
                row_chunk(row + begin, row_taps + begin, end - begin, mid);
                in_group++;
                begin = end;
            }
        }
        put(out + x, total, mid, ROW_LANES, wide);
    }
}

void gfi_sum_rows(const float *const *rows, const float *taps, int kw, int kh, float *out, int n)
{
    gfi_sum_rows_clones(rows, taps, kw, kh, out, n);
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

GFI_CLONES static void gfi_sum_columns_clones(const float *const *rows, const float *taps, int kh,
                                              float *const *out, int n)
{
    const int n_chunks = chunk_count(kh);
    for (int x = 0; x < n; x += COLUMN_LANES * LANES) {
        lanes mid[R][COLUMN_LANES] = { { { 0 } } };
        double total[R][COLUMN_LANES * LANES] = { { 0 } };
        bool wide = false;
        for (int c = 0, begin = 0; c < n_chunks; c++) {
            const int end = chunk_begin(kh, n_chunks, c + 1);
            if (c && c % GROUP == 0) {
                for (int r = 0; r < R; r++) add_totals(total[r], mid[r], COLUMN_LANES);
                wide = true;
            }
            column_chunk(rows + begin, x, taps + begin, end - begin, mid);
            begin = end;
        }
        for (int r = 0; r < R; r++) put(out[r] + x, total[r], mid[r], COLUMN_LANES, wide);
    }
}

void gfi_sum_columns(const float *const *rows, const float *taps, int kh, float *const *out, int n)
{
    gfi_sum_columns_clones(rows, taps, kh, out, n);
}
