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
        explicit line(size_t n);
        void run(const value *in, value *out, bool inverse) const;
        void step(const value *in, size_t stride, value *out, size_t n, bool inverse) const;
        value twiddle(size_t i, bool inverse) const;
        std::vector<value> roots; /* exp(-2 pi i k / n) */
    };
    void columns(std::vector<value> &all, bool inverse) const;
    size_t ny_, nx_;
    line row_, column_;
};
} // namespace emu

#endif
