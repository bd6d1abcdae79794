#include "fft.hpp"

#include <math.h>

namespace emu
{
real_fft_2d::line::line(size_t n) : roots(n)
{
    const double pi = acos(-1.0);
    for (size_t k = 0; k < n; k++)
        roots[k] = std::polar(1.0, -2 * pi * static_cast<double>(k) / static_cast<double>(n));
}

real_fft_2d::value real_fft_2d::line::twiddle(size_t i, bool inverse) const
{
    return inverse ? std::conj(roots[i]) : roots[i];
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
void real_fft_2d::line::step(const value *in, size_t stride, value *out, size_t n,
                             bool inverse) const
{
    if (n == 1) {
        *out = *in;
        return;
    }
    const size_t p = radix_of(n), m = n / p, turn = roots.size() / n;
    for (size_t q = 0; q < p; q++) step(in + q * stride, stride * p, out + q * m, m, inverse);
    std::vector<value> general(p == 2 || p == 4 ? 0 : p);
    for (size_t k = 0; k < m; k++) {
        value *o = out + k;
        for (size_t q = 1; q < p; q++) o[q * m] = product(o[q * m], twiddle(q * k * turn, inverse));
        if (p == 2) {
            const value a = o[0], b = o[m];
            o[0] = a + b;
            o[m] = a - b;
        } else if (p == 4) {
            const value a = o[0] + o[2 * m], b = o[0] - o[2 * m];
            const value c = o[m] + o[3 * m], d = o[m] - o[3 * m];
            const value e = inverse ? value(-d.imag(), d.real()) : value(d.imag(), -d.real());
            o[0] = a + c;
            o[m] = b + e;
            o[2 * m] = a - c;
            o[3 * m] = b - e;
        } else {
            for (size_t r = 0; r < p; r++) {
                general[r] = 0;
                for (size_t q = 0; q < p; q++)
                    general[r] += product(o[q * m], twiddle(q * r % p * m * turn, inverse));
            }
            for (size_t r = 0; r < p; r++) o[r * m] = general[r];
        }
    }
}

void real_fft_2d::line::run(const value *in, value *out, bool inverse) const
{
    step(in, 1, out, roots.size(), inverse);
}

real_fft_2d::real_fft_2d(size_t ny, size_t nx) : ny_(ny), nx_(nx), row_(nx), column_(ny) {}

void real_fft_2d::columns(std::vector<value> &all, bool inverse) const
{
    const size_t half = nx_ / 2 + 1;
    std::vector<value> in(ny_), out(ny_);
    for (size_t x = 0; x < half; x++) {
        for (size_t y = 0; y < ny_; y++) in[y] = all[y * half + x];
        column_.run(in.data(), out.data(), inverse);
        for (size_t y = 0; y < ny_; y++) all[y * half + x] = out[y];
    }
}

void real_fft_2d::forward(const float *real, std::complex<float> *spectrum) const
{
    const size_t half = nx_ / 2 + 1;
    std::vector<value> all(ny_ * half), in(nx_), out(nx_);
    for (size_t y = 0; y < ny_; y++) {
        for (size_t x = 0; x < nx_; x++) in[x] = real[y * nx_ + x];
        row_.run(in.data(), out.data(), false);
        for (size_t x = 0; x < half; x++) all[y * half + x] = out[x];
    }
    columns(all, false);
    for (size_t i = 0; i < all.size(); i++) spectrum[i] = std::complex<float>(all[i]);
}

void real_fft_2d::inverse(const std::complex<float> *spectrum, float *real) const
{
    const size_t half = nx_ / 2 + 1;
    std::vector<value> all(spectrum, spectrum + ny_ * half), in(nx_), out(nx_);
    columns(all, true);
    for (size_t y = 0; y < ny_; y++) {
        const value *row = &all[y * half];
        for (size_t x = 0; x < nx_; x++) in[x] = x < half ? row[x] : std::conj(row[nx_ - x]);
        row_.run(in.data(), out.data(), true);
        for (size_t x = 0; x < nx_; x++) real[y * nx_ + x] = static_cast<float>(out[x].real());
    }
}
} // namespace emu
