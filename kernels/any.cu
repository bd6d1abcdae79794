/* Windows of any size, one thread a pixel: what is left when no faster kernel can serve. Runs of at
 * most 32 taps are summed in float and the runs in double, so that thousands of taps lose nothing.
 * Separable windows take two launches through a float scratch image that holds the rows of the
 * source alone; the second one folds rows by the border. Else one launch goes over all taps. */
#include "kernels/gf_tile.cuh"

enum { GF_ANY_RUN = 32 };

/* sum_i taps[i] * row(x + i): pixels as float, folded where the window leaves the row. */
GF_DEVICE double gf_any_row(const gf_any_args &a, const float *taps, int x, int y)
{
    double sum = 0.0;
    const bool inside = x >= 0 && x + a.kw <= a.src.width;
    for (int first = 0; first < a.kw; first += GF_ANY_RUN) {
        const int end = first + GF_ANY_RUN < a.kw ? first + GF_ANY_RUN : a.kw;
        float run = 0.0f;
        if (inside) {
            for (int i = first; i < end; i++)
                run = fmaf(gf_ldg(taps + i), gf_load(a.src, x + i, y), run);
        } else {
            for (int i = first; i < end; i++) {
                const int from = gf_border_index(x + i, a.src.width, a.border);
                run = fmaf(gf_ldg(taps + i), from < 0 ? a.border_value : gf_load(a.src, from, y),
                           run);
            }
        }
        sum += static_cast<double>(run);
    }
    return sum;
}

/* The same for a row outside of an image with a constant border. */
GF_DEVICE double gf_any_constant_row(const gf_any_args &a, const float *taps)
{
    double sum = 0.0;
    for (int first = 0; first < a.kw; first += GF_ANY_RUN) {
        const int end = first + GF_ANY_RUN < a.kw ? first + GF_ANY_RUN : a.kw;
        float run = 0.0f;
        for (int i = first; i < end; i++) run = fmaf(gf_ldg(taps + i), a.border_value, run);
        sum += static_cast<double>(run);
    }
    return sum;
}

/* sum_j taps[j] * rows(x, y + j) over a scratch image of row-filtered rows; `outside` stands for a
 * row outside of the image. */
GF_DEVICE float gf_any_column(const gf_any_args &a, const float *rows, const float *taps, int x,
                              int y, float outside)
{
    const long long pitch = a.src.pitch / static_cast<long long>(sizeof(float));
    double sum = 0.0;
    for (int first = 0; first < a.kh; first += GF_ANY_RUN) {
        const int end = first + GF_ANY_RUN < a.kh ? first + GF_ANY_RUN : a.kh;
        float run = 0.0f;
        for (int j = first; j < end; j++) {
            const int from = gf_border_index(y + j, a.src.height, a.border);
            run = fmaf(gf_ldg(taps + j), from < 0 ? outside : gf_ldg(rows + from * pitch + x), run);
        }
        sum += static_cast<double>(run);
    }
    return static_cast<float>(sum);
}

/* This thread's pixel of an image; blocks take turns over tall images. */
GF_DEVICE int gf_any_x() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
GF_DEVICE int gf_any_y() { return static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); }
GF_DEVICE int gf_any_y_step() { return static_cast<int>(gridDim.y * blockDim.y); }

GF_KERNEL(gf_any_rows, gf_any_args, a)
{
    const int x = gf_any_x();
    if (x >= a.dst.width) return;
    for (int y = gf_any_y(); y < a.dst.height; y += gf_any_y_step())
        gf_row<float>(a.dst, y)[x] = static_cast<float>(gf_any_row(a, a.taps, x - a.ax, y));
}

GF_KERNEL(gf_any_columns, gf_any_args, a)
{
    const int x = gf_any_x();
    if (x >= a.dst.width) return;
    for (int y = gf_any_y(); y < a.dst.height; y += gf_any_y_step()) {
        const float *const rows = static_cast<const float *>(a.src.data);
        const float sum = gf_any_column(a, rows, a.taps, x, y - a.ay, a.outside_a);
        const float second =
            a.taps_b ? gf_any_column(a, a.src_b, a.taps_b, x, y - a.ay, a.outside_b) : 0.0f;
        const float own = a.combine.combine == GF_C_UNSHARP
                              ? gf_load_border(a.own, x, y, a.border, a.border_value)
                              : 0.0f;
        gf_store(a.dst, x, y, gf_result(a.combine, sum, second, own));
    }
}

GF_KERNEL(gf_any_full, gf_any_args, a)
{
    const int x = gf_any_x();
    if (x >= a.dst.width) return;
    for (int y = gf_any_y(); y < a.dst.height; y += gf_any_y_step()) {
        double sum = 0.0;
        for (int j = 0; j < a.kh; j++) {
            const float *const taps = a.taps + static_cast<long long>(j) * a.kw;
            const int from = gf_border_index(y - a.ay + j, a.src.height, a.border);
            sum += from < 0 ? gf_any_constant_row(a, taps) : gf_any_row(a, taps, x - a.ax, from);
        }
        const float own = a.combine.combine == GF_C_UNSHARP
                              ? gf_load_border(a.own, x, y, a.border, a.border_value)
                              : 0.0f;
        gf_store(a.dst, x, y, gf_result(a.combine, static_cast<float>(sum), 0.0f, own));
    }
}
