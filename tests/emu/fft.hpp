/* Real 2-D FFTs in double, for the emulated device: rows and columns of a mixed-radix transform. */
#ifndef GF_EMU_FFT_HPP
#define GF_EMU_FFT_HPP

#include <stddef.h>

#include <complex>
#include <vector>

namespace emu
{
class real_fft_2d
{
  public:
    real_fft_2d(size_t ny, size_t nx);
    size_t real_count() const { return ny_ * nx_; }
    size_t spectrum_count() const { return ny_ * (nx_ / 2 + 1); }

    /* Unnormalised; spectra hold ny rows of nx/2+1 pairs. */
    void forward(const float *real, std::complex<float> *spectrum) const;
    void inverse(const std::complex<float> *spectrum, float *real) const;

  private:
    using value = std::complex<double>;
    struct line { /* one complex transform of n values */
        line(size_t n, double sign);
        void run(const value *in, value *out) const { step(in, 1, out, roots.size()); }
        void step(const value *in, size_t stride, value *out, size_t n) const;
        void join4(value *out, size_t n) const;
        void join(value *out, size_t n, size_t p) const;
        value turn(value v) const { return { -sign * v.imag(), sign * v.real() }; }
        double sign;              /* of the exponent: -1 forward, 1 inverse */
        std::vector<value> roots; /* exp(sign 2 pi i k / n) */
    };
    static void columns(const line &column, std::vector<value> &all, size_t width);
    size_t ny_, nx_;
    line row_, column_, row_back_, column_back_;
};
} // namespace emu

#endif
