"""CuPy: cupyx.scipy.ndimage, and cupyx.scipy.signal.fftconvolve."""
import cupy
import cupyx.scipy.ndimage as ndimage
import cupyx.scipy.signal as signal

from gpu_cases import BUFFERS

# Keeps the GPU busy while Python queues the runs, whose own time then does not count.
SPIN = cupy.RawKernel(r"""
extern "C" __global__ void spin(long long cycles)
{
    const long long end = clock64() + cycles;
    while (clock64() < end) {}
}""", "spin")
SPIN_CYCLES = 20_000_000
LARGEST_DIRECT = 31  # larger windows take the direct way seconds
BORDER = {"mode": "nearest"}


def rounded(image):
    return cupy.clip(cupy.rint(image), 0, 255).astype(cupy.uint8)


def fft(taps, pixel):
    flipped = taps[::-1, ::-1]

    def run(x):
        y = signal.fftconvolve(x.astype(cupy.float32, copy=False), flipped, mode="same")
        return rounded(y) if pixel == "u8" else y
    return run


def magnitude(x):
    x = x.astype(cupy.float32)
    return cupy.hypot(ndimage.sobel(x, 1, **BORDER), ndimage.sobel(x, 0, **BORDER))


def unsharp(sigma):
    def run(x):
        x = x.astype(cupy.float32)
        return rounded(2 * x - ndimage.gaussian_filter(x, sigma, **BORDER))
    return run


def chain(x):
    y = magnitude(ndimage.gaussian_filter(x.astype(cupy.float32), 2, **BORDER))
    return (y > 40).astype(cupy.uint8) * 255


class Peer:
    name, title, version, buffers = "cupy", "CuPy", cupy.__version__, BUFFERS

    upload, download = staticmethod(cupy.asarray), staticmethod(cupy.asnumpy)

    @staticmethod
    def copy(x):
        return x.copy()

    @staticmethod
    def times(run, images):
        events = [cupy.cuda.Event() for _ in range(len(images) + 1)]
        SPIN((1,), (1,), (SPIN_CYCLES,))
        events[0].record()
        for i, x in enumerate(images):
            run(x)
            events[i + 1].record()
        events[-1].synchronize()
        return [cupy.cuda.get_elapsed_time(a, b) for a, b in zip(events, events[1:])]

    @staticmethod
    def methods(case):
        taps, value = cupy.asarray(case.taps()), case.value
        if case.op == "correlate":
            if value >= 15:
                yield "fftconvolve", "zeros outside", fft(taps, case.pixel)
            if value <= LARGEST_DIRECT:
                yield "ndimage.correlate", "", lambda x: ndimage.correlate(x, taps, **BORDER)
        elif case.op == "gaussian":
            yield "ndimage.gaussian_filter", "", lambda x: ndimage.gaussian_filter(x, value, **BORDER)
        elif case.op == "box":
            size = int(value)
            yield "ndimage.uniform_filter", "", lambda x: ndimage.uniform_filter(x, size, **BORDER)
        elif case.op == "sobel":
            yield "two ndimage.sobel, hypot", "f32 result", magnitude
        elif case.op == "sobel-x":
            yield "ndimage.sobel", "f32", lambda x: ndimage.sobel(x.astype(cupy.float32), 1, **BORDER)
        elif case.op == "unsharp":
            yield "gaussian_filter, arithmetic", "", unsharp(value)
        else:
            yield "ndimage, arithmetic", "", chain
