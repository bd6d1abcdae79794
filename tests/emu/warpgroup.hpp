/* The twins of gf_warpgroup.cuh. Products are made where they stand: a wait that lacks is not
 * found. */
#ifndef GF_EMU_WARPGROUP_HPP
#define GF_EMU_WARPGROUP_HPP

#define GF_HAVE_WARPGROUP 1
#define GF_EMU_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

struct gf_matrix {
    const unsigned char *at;
    unsigned across, down;
};
inline gf_matrix gf_matrix_at(const void *shared, unsigned across, unsigned down)
{
    return { static_cast<const unsigned char *>(shared), across, down };
}
inline gf_matrix gf_matrix_move(gf_matrix m, int bytes)
{
    return { m.at + bytes, m.across, m.down };
}

namespace emu
{
/* The sixteen bytes from the k-th sixteen of row n on. */
inline const unsigned char *sixteen(const gf_matrix &m, int n, int k)
{
    const unsigned char *const at = m.at + n / 8 * m.down + k * m.across + n % 8 * 16;
    if (reinterpret_cast<uintptr_t>(at) % 16) abort();
    return at;
}

/* Row `row` of sixteen of the warp's part of a, as the lanes' registers hold it: 32 bytes. */
inline void row_of(const message *all, int row, unsigned char (&to)[32])
{
    for (int i = 0; i < 32; i += 4) {
        const unsigned word = all[row % 8 * 4 + i / 4 % 4].word[row / 8 + i / 16 * 2];
        memcpy(to + i, &word, sizeof word);
    }
}

inline unsigned bytes_product(const unsigned char *a, const gf_matrix &b, int column)
{
    unsigned sum = 0;
    for (int i = 0; i < 32; i++)
        sum += static_cast<unsigned>(a[i]) * sixteen(b, column, i / 16)[i % 16];
    return sum;
}

inline double halves_product(const unsigned char *a, const gf_matrix &b, int column)
{
    double sum = 0;
    for (int i = 0; i < 32; i += 2) {
        uint16_t x, y;
        memcpy(&x, a + i, sizeof x);
        memcpy(&y, sixteen(b, column, i / 16) + i % 16, sizeof y);
        sum += static_cast<double>(float_of(x)) * float_of(y);
    }
    return sum;
}

/* f(index of a lane's sum, which of its two rows of a, column of b) for all of them. */
template <int N, class F> void each_sum(F f)
{
    for (int i = 0; i < N; i++) f(i, i / 2 % 2, i / 4 * 8 + lane_id() % 4 * 2 + i % 2);
}

/* A lane's sums of the product of bytes; row: its two rows of a. */
inline void sum_bytes(int (&d)[32], const unsigned char (&row)[2][32], const gf_matrix &b, bool add)
{
    each_sum<32>([&](int i, int which, int column) {
        d[i] = static_cast<int>((add ? static_cast<unsigned>(d[i]) : 0u) +
                                bytes_product(row[which], b, column));
    });
}
} // namespace emu

inline void gf_products_begin(GF_EMU_HERE) { emu::ballot(false, file, line); }
inline void gf_products_end() {}
template <int LEFT = 0> void gf_products_wait() {}
inline void gf_products_may_read() {}

inline void gf_product_64_32(int (&d)[32], const unsigned (&a)[4], gf_matrix b, bool add,
                             GF_EMU_HERE)
{
    const emu::message *all = emu::gather({ { a[0], a[1], a[2], a[3] } }, file, line);
    unsigned char row[2][32];
    for (int i = 0; i < 2; i++) emu::row_of(all, emu::lane_id() / 4 + 8 * i, row[i]);
    emu::sum_bytes(d, row, b, add);
}

inline void gf_product_64_32(int (&d)[32], gf_matrix a, gf_matrix b, bool add, GF_EMU_HERE)
{
    emu::ballot(false, file, line);
    const int first = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + emu::lane_id() / 4;
    unsigned char row[2][32];
    for (int i = 0; i < 4; i++)
        memcpy(row[i / 2] + i % 2 * 16, emu::sixteen(a, first + i / 2 * 8, i % 2), 16);
    emu::sum_bytes(d, row, b, add);
}

inline void gf_product_32_16(float (&d)[16], const unsigned (&a)[4], gf_matrix b, bool add,
                             GF_EMU_HERE)
{
    const emu::message *all = emu::gather({ { a[0], a[1], a[2], a[3] } }, file, line);
    unsigned char row[2][32];
    for (int i = 0; i < 2; i++) emu::row_of(all, emu::lane_id() / 4 + 8 * i, row[i]);
    emu::each_sum<16>([&](int i, int which, int column) {
        d[i] = emu::truncated((add ? static_cast<double>(d[i]) : 0.0) +
                              emu::halves_product(row[which], b, column));
    });
}

inline unsigned gf_second_bytes(unsigned v, unsigned w)
{
    if ((v | w) >> 31) abort();
    return (v >> 8 & 255u) | (w >> 8 & 255u) << 16;
}
inline unsigned gf_saturate_4(int a, int b, int c, int d)
{
    const auto byte = [](int v) { return static_cast<unsigned>(v < 0 ? 0 : v > 255 ? 255 : v); };
    return byte(a) | byte(b) << 8 | byte(c) << 16 | byte(d) << 24;
}

inline unsigned gf_saturate_2(int a, int b)
{
    const auto half = [](int v) {
        return static_cast<unsigned>(v < 0 ? 0 : v > 65535 ? 65535 : v);
    };
    return half(a) | half(b) << 16;
}

inline void gf_stmatrix_4_trans(void *row, const unsigned (&v)[4], GF_EMU_HERE)
{
    const emu::message *all = emu::gather({ { v[0], v[1], v[2], v[3] } }, file, line);
    const int which = emu::lane_id() / 8, column = emu::lane_id() % 8;
    uint16_t *const to = static_cast<uint16_t *>(row);
    if (reinterpret_cast<uintptr_t>(row) % 16) abort();
    for (int i = 0; i < 8; i++)
        to[i] = static_cast<uint16_t>(all[4 * i + column / 2].word[which] >> column % 2 * 16);
}

inline void gf_copy_async_first(void *shared, const void *global, int n)
{
    memset(shared, 0, 16);
    memcpy(shared, global, static_cast<size_t>(n));
}

#undef GF_EMU_HERE

#endif
