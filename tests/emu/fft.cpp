#include "fft.hpp"

#include <math.h>

namespace emu
{
real_fft_2d::line::line(size_t n, double s) : sign(s), roots(n)
{
    const double pi = acos(-1.0);
    for (size_t k = 0; k < n; k++)
        roots[k] = std::polar(1.0, s * 2 * pi * static_cast<double>(k) / static_cast<double>(n));
}

static size_t radix_of(size_t n)
{
    if (n % 4 == 0) return 4;
    for (size_t p = 2; p * p <= n; p++)
        if (n % p == 0) return p;
    return n;
}

/* std::complex's own product also repairs NaN, at many times the cost. */
static inline std::complex<double> product(std::complex<double> a, std::complex<double> b)
{
    return { a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real() };
}

/* Decimation in time: p transforms of every p-th value, then their butterflies. */
void real_fft_2d::line::step(const value *in, size_t stride, value *out, size_t n) const
{
    if (n == 1) {
        *out = *in;
        return;
    }
    const size_t p = radix_of(n), m = n / p;
    for (size_t q = 0; q < p; q++) {
        if (m == 1)
            out[q] = in[q * stride];
        else
            step(in + q * stride, stride * p, out + q * m, m);
    }
    if (p == 4)
        join4(out, n);
    else
        join(out, n, p);
}

void real_fft_2d::line::join4(value *out, size_t n) const
{
    const size_t m = n / 4, every = roots.size() / n;
    for (size_t k = 0; k < m; k++) {
        value *o = out + k;
        const value v1 = product(o[m], roots[k * every]);
        const value v2 = product(o[2 * m], roots[2 * k * every]);
        const value v3 = product(o[3 * m], roots[3 * k * every]);
        const value a = o[0] + v2, b = o[0] - v2, c = v1 + v3, d = turn(v1 - v3);
        o[0] = a + c;
        o[m] = b + d;
        o[2 * m] = a - c;
        o[3 * m] = b - d;
    }
}

/* Any other radix, by the definition of the transform. */
void real_fft_2d::line::join(value *out, size_t n, size_t p) const
{
    const size_t m = n / p, every = roots.size() / n;
    std::vector<value> v(p);
    for (size_t k = 0; k < m; k++) {
        for (size_t q = 0; q < p; q++) v[q] = product(out[q * m + k], roots[q * k * every]);
        for (size_t r = 0; r < p; r++) {
            value sum = 0;
            for (size_t q = 0; q < p; q++) sum += product(v[q], roots[q * r % p * m * every]);
            out[r * m + k] = sum;
        }
    }
}

real_fft_2d::real_fft_2d(size_t ny, size_t nx)
    : ny_(ny), nx_(nx), row_(nx, -1), column_(ny, -1), row_back_(nx, 1), column_back_(ny, 1)
{
}

void real_fft_2d::columns(const line &column, std::vector<value> &all, size_t width)
{
    const size_t height = column.roots.size();
    std::vector<value> out(height);
    for (size_t x = 0; x < width; x++) {
        column.step(&all[x], width, out.data(), height);
        for (size_t y = 0; y < height; y++) all[y * width + x] = out[y];
    }
}

void real_fft_2d::forward(const float *real, std::complex<float> *spectrum) const
{
    const size_t half = nx_ / 2 + 1;
    std::vector<value> all(ny_ * half), in(nx_), out(nx_);
    for (size_t y = 0; y < ny_; y++) {
        for (size_t x = 0; x < nx_; x++) in[x] = real[y * nx_ + x];
        row_.run(in.data(), out.data());
        for (size_t x = 0; x < half; x++) all[y * half + x] = out[x];
    }
    columns(column_, all, half);
    for (size_t i = 0; i < all.size(); i++) spectrum[i] = std::complex<float>(all[i]);
}

void real_fft_2d::inverse(const std::complex<float> *spectrum, float *real) const
{
    const size_t half = nx_ / 2 + 1;
    std::vector<value> all(spectrum, spectrum + ny_ * half), in(nx_), out(nx_);
    columns(column_back_, all, half);
    for (size_t y = 0; y < ny_; y++) {
        const value *row = &all[y * half];
        for (size_t x = 0; x < nx_; x++) in[x] = x < half ? row[x] : std::conj(row[nx_ - x]);
        row_back_.run(in.data(), out.data());
        for (size_t x = 0; x < nx_; x++) real[y * nx_ + x] = static_cast<float>(out[x].real());
    }
}
} // namespace emu
