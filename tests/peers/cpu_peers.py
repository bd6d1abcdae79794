"""Time gpufilter's CPU backend beside OpenCV and libvips: same image, same taps, same threads.

    cpu_peers.py [--lib LIBGPUFILTER.SO] [--size N] [--threads N] [--rounds N] [--only TEXT]

Runs of ours and theirs take turns in one process, each after a pause in which the thread pools fall
asleep. Wall time and the process's processor time (all threads) are both medians; on a machine
that others use too, the second is the one to trust. Before a case is timed both results are
compared away from the border. Peers that are not installed are skipped, and said so.
"""
import argparse
import ctypes
import ctypes.util
import statistics
import sys
import tempfile
import time

import numpy as np

PIXELS = {"u8": (1, np.uint8), "u16": (2, np.uint16), "f32": (3, np.float32)}


# ---- ours ------------------------------------------------------------------------------------


class ContextParams(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("backend", ctypes.c_int),
                ("device", ctypes.c_int), ("threads", ctypes.c_int), ("log", ctypes.c_void_p),
                ("log_user", ctypes.c_void_p)]


class ImageDesc(ctypes.Structure):
    _fields_ = [("width", ctypes.c_int32), ("height", ctypes.c_int32), ("pixel", ctypes.c_int)]


class View(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("width", ctypes.c_int32), ("height", ctypes.c_int32),
                ("pitch_bytes", ctypes.c_size_t), ("pixel", ctypes.c_int), ("memory", ctypes.c_int)]


class StageInfo(ctypes.Structure):
    _fields_ = [("filter", ctypes.c_char_p), ("impl", ctypes.c_char_p), ("backend", ctypes.c_int),
                ("variant", ctypes.c_char_p), ("cost_ns", ctypes.c_double),
                ("memory_bytes", ctypes.c_size_t)]


CPU_BACKEND = 1


class Ours:
    def __init__(self, path, threads):
        self.lib = ctypes.CDLL(path)
        self.lib.gf_error_message.restype = ctypes.c_char_p
        self.context = ctypes.c_void_p()
        params = ContextParams(ctypes.sizeof(ContextParams), CPU_BACKEND, 0, threads, None, None)
        self.check(self.lib.gf_context_create(ctypes.byref(params), ctypes.byref(self.context)))

    def check(self, status):
        if status:
            raise RuntimeError(self.lib.gf_error_message().decode())

    def prepare(self, chain, image):
        """Return a function that runs the chain, its output, and the implementation's name."""
        graph, plan = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.lib.gf_graph_parse(chain.encode(), ctypes.byref(graph)))
        pixel = next(code for code, dtype in PIXELS.values() if dtype == image.dtype)
        desc = ImageDesc(image.shape[1], image.shape[0], pixel)
        self.check(self.lib.gf_plan_create(self.context, graph, ctypes.byref(desc), None,
                                           ctypes.byref(plan)))
        self.lib.gf_graph_destroy(ctypes.byref(graph))
        info = StageInfo()
        self.lib.gf_plan_stage_get(plan, 0, ctypes.byref(info))
        result = np.zeros_like(image)
        views = [View(a.ctypes.data, a.shape[1], a.shape[0], a.strides[0], pixel, 0)
                 for a in (image, result)]

        def run():
            self.check(self.lib.gf_plan_run(plan, ctypes.byref(views[0]), ctypes.byref(views[1])))
            return result

        run.destroy = lambda: self.lib.gf_plan_destroy(ctypes.byref(plan))
        run.impl = info.impl.decode()
        return run


# ---- peers -----------------------------------------------------------------------------------


class OpenCV:
    name = "OpenCV"

    def __init__(self, threads):
        import cv2

        self.cv = cv2
        self.version = cv2.__version__
        cv2.setNumThreads(threads)

    def correlate(self, image, taps, scale):
        kernel = (taps * scale).astype(np.float32)
        out = np.zeros_like(image)
        return lambda: self.cv.filter2D(image, -1, kernel, dst=out)

    def gaussian(self, image, sigma):
        n = 2 * int(4 * sigma + 0.5) + 1
        out = np.zeros_like(image)
        return lambda: self.cv.GaussianBlur(image, (n, n), sigma, dst=out)

    def box(self, image, size):
        out = np.zeros_like(image)
        return lambda: self.cv.blur(image, (size, size), dst=out)

    def sobel_x(self, image):
        out = np.zeros_like(image)
        return lambda: self.cv.Sobel(image, -1, 1, 0, dst=out)

    def magnitude(self, image, x_taps, y_taps):
        """Two separable passes, their magnitude, and back to the image's type."""
        cv, f32 = self.cv, self.cv.CV_32F
        x, y, m = (np.zeros(image.shape, np.float32) for _ in range(3))
        out = np.zeros_like(image)

        def run():
            cv.sepFilter2D(image, f32, *x_taps, dst=x)
            cv.sepFilter2D(image, f32, *y_taps, dst=y)
            cv.magnitude(x, y, m)
            return cv.convertScaleAbs(m, out) if image.dtype == np.uint8 else m

        return run

    def unsharp(self, image, sigma, amount):
        n = 2 * int(4 * sigma + 0.5) + 1
        blurred, out = np.zeros_like(image), np.zeros_like(image)

        def run():
            self.cv.GaussianBlur(image, (n, n), sigma, dst=blurred)
            return self.cv.addWeighted(image, 1 + amount, blurred, -amount, 0, dst=out)

        return run


class Vips:
    name = "libvips"
    FORMATS = {np.dtype(np.uint8): 0, np.dtype(np.float32): 6}
    INTEGER, FLOAT = 0, 1
    MOST_TAPS = 225  # of a matrix: it knows no FFT, and larger ones take minutes

    def __init__(self, threads):
        path = ctypes.util.find_library("vips")
        if not path:
            raise ImportError("libvips.so was not found")
        self.lib = lib = ctypes.CDLL(path)
        if lib.vips_init(b"cpu_peers"):
            raise ImportError("libvips does not start")
        self.version = ".".join(str(lib.vips_version(i)) for i in range(3))
        for f in ("vips_image_new_from_memory", "vips_image_new_matrix_from_array",
                  "vips_image_write_to_memory"):
            getattr(lib, f).restype = ctypes.c_void_p
        lib.vips_cache_set_max(0)
        lib.vips_concurrency_set(threads)

    def image(self, a):
        return ctypes.c_void_p(self.lib.vips_image_new_from_memory(
            ctypes.c_void_p(a.ctypes.data), ctypes.c_size_t(a.nbytes), a.shape[1], a.shape[0], 1,
            self.FORMATS[a.dtype]))

    def matrix(self, taps, scale):
        taps = np.ascontiguousarray(np.atleast_2d(taps), np.float64)
        m = ctypes.c_void_p(self.lib.vips_image_new_matrix_from_array(
            taps.shape[1], taps.shape[0], ctypes.c_void_p(taps.ctypes.data), taps.size))
        self.lib.vips_image_set_double(m, b"scale", ctypes.c_double(1 / scale))
        return m

    def filtered(self, image, call, *arguments):
        """Run one operation; its output goes to memory."""
        keep = self.image(image)

        def run():
            out, size = ctypes.c_void_p(), ctypes.c_size_t()
            if call(keep, ctypes.byref(out), *arguments, None):
                raise RuntimeError("libvips failed")
            data = self.lib.vips_image_write_to_memory(out, ctypes.byref(size))
            dtype = image.dtype if size.value == image.nbytes else np.float32
            if run.data:
                self.lib.g_free(run.data)
            run.data = ctypes.c_void_p(data)
            self.lib.g_object_unref(out)
            return np.frombuffer((ctypes.c_char * size.value).from_address(data),
                                 dtype).reshape(image.shape)

        run.data = None
        return run

    def precision(self, image):
        return b"precision", self.FLOAT if image.dtype == np.float32 else self.INTEGER

    def correlate(self, image, taps, scale):
        return self.filtered(image, self.lib.vips_conv, self.matrix(taps, scale),
                             *self.precision(image))

    def gaussian(self, image, sigma):
        # its own integer taps, cut at 1 % of the largest, for u8
        if image.dtype == np.uint8:
            return self.filtered(image, self.lib.vips_gaussblur, ctypes.c_double(sigma),
                                 b"min_ampl", ctypes.c_double(0.01))
        return self.filtered(image, self.lib.vips_convsep, self.matrix(gauss(sigma), 1),
                             *self.precision(image))

    def box(self, image, size):
        taps = np.ones(size)
        return self.filtered(image, self.lib.vips_convsep, self.matrix(taps, 1 / size),
                             *self.precision(image))


# ---- cases -----------------------------------------------------------------------------------


def gauss(sigma, order=0):
    """Taps for correlation as scipy.ndimage has them; order 1: of the first derivative."""
    r = int(4 * sigma + 0.5)
    t = np.arange(-r, r + 1)
    g = np.exp(-0.5 * (t / sigma) ** 2)
    g /= g.sum()
    return g if order == 0 else t / sigma ** 2 * g


class Case:
    def __init__(self, label, pixel, chain, reach, method, *arguments, taps=None):
        self.label, self.pixel, self.chain, self.taps = label, pixel, chain, taps
        self.reach = reach  # pixels from the edge that a border may change
        self.method, self.arguments = method, arguments  # of the peer


def correlate_case(size, pixel, rng, whole):
    taps = rng.integers(1, 10, (size, size)).astype(np.float64)
    if not whole:
        taps += rng.random((size, size))
    scale = 1 / taps.sum()
    label = f"correlate {size}x{size}" + (" whole" if whole else "")
    return Case(label, pixel, f"correlate:kernel=@{{taps}}:scale={scale!r}",
                size, "correlate", taps, scale, taps=taps)


def make_cases():
    rng = np.random.default_rng(1)
    cases = []
    for pixel in ("u8", "f32"):
        for size, whole in ((3, True), (3, False), (5, True), (5, False), (7, False),
                            (15, False), (31, False), (63, False)):
            if not (whole and pixel == "f32"):
                cases.append(correlate_case(size, pixel, rng, whole))
        for sigma in (1, 2, 5, 10):
            cases.append(Case(f"gaussian {sigma}", pixel, f"gaussian={sigma}", 4 * sigma + 1,
                              "gaussian", sigma))
        for size in (3, 5, 15, 31, 101):
            cases.append(Case(f"box {size}", pixel, f"box={size}", size, "box", size))
        cases.append(Case("sobel x", pixel, "sobel:direction=x", 2, "sobel_x"))
        d, s = np.array([-1.0, 0, 1]), np.array([1.0, 2, 1])
        cases.append(Case("sobel magnitude", pixel, "sobel", 2, "magnitude", (d, s), (s, d)))
        g, slope = gauss(1), gauss(1, order=1)
        cases.append(Case("gradient 1", pixel, "gradient=1", 5, "magnitude", (slope, g),
                          (g, slope)))
        cases.append(Case("unsharp 2", pixel, "unsharp=2", 9, "unsharp", 2, 1))
    return cases


# ---- measuring -------------------------------------------------------------------------------


def timed(run, pause):
    time.sleep(pause)
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return (time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3


def interior_difference(a, b, reach):
    if a.shape[0] <= 2 * reach or a.shape[1] <= 2 * reach:
        raise ValueError("the image is too small for the window")
    inside = (slice(reach, -reach), slice(reach, -reach))
    return float(np.max(np.abs(a[inside].astype(np.float64) - b[inside])))


def measure(case, image, ours, peer, rounds, pause):
    chain = case.chain
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        if case.taps is not None:
            np.savetxt(file, case.taps, fmt="%.17g")
            file.flush()
            chain = chain.format(taps=file.name)
        mine = ours.prepare(chain, image)
    theirs = getattr(peer, case.method)(image, *case.arguments)
    difference = interior_difference(mine(), theirs(), case.reach)
    times = [(timed(mine, pause), timed(theirs, pause)) for _ in range(rounds)]
    mine.destroy()
    wall = [statistics.median(t[i][0] for t in times) for i in (0, 1)]
    cpu = [statistics.median(t[i][1] for t in times) for i in (0, 1)]
    ratio = statistics.median(a[0] / b[0] for a, b in times)
    cpu_ratio = statistics.median(a[1] / b[1] for a, b in times)
    return mine.impl, wall, cpu, ratio, cpu_ratio, difference


def main():
    parser = argparse.ArgumentParser(description="Our CPU backend beside OpenCV and libvips.")
    parser.add_argument("--lib", default="build/libgpufilter.so")
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--pause", type=float, default=0.02, help="seconds before each run")
    parser.add_argument("--only", default="", help="cases whose 'filter pixel' holds this")
    parser.add_argument("--peer", default="", help="only this peer")
    args = parser.parse_args()
    ours = Ours(args.lib, args.threads)
    peers = []
    for kind in (OpenCV, Vips):
        try:
            if args.peer in kind.name:
                peers.append(kind(args.threads))
        except (ImportError, OSError) as why:
            print(f"skipped {kind.name}: {why}", file=sys.stderr)
    if not peers:
        print("no peer is installed (Debian: python3-opencv, libvips42)", file=sys.stderr)
        return 77
    images = {}
    rng = np.random.default_rng(7)
    noise = rng.integers(0, 256, (args.size, args.size), np.uint8)
    images["u8"] = noise
    images["f32"] = noise.astype(np.float32)
    print(f"{args.size} x {args.size}, {args.threads} threads, medians of {args.rounds} runs; "
          + ", ".join(f"{p.name} {p.version}" for p in peers))
    print("| case | ours by | peer | ours ms | peer ms | ours / peer | ours CPU ms | peer CPU ms "
          "| ours / peer, CPU | largest difference |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for case in make_cases():
        label = f"{case.label} {case.pixel}"
        if args.only not in label:
            continue
        for peer in peers:
            if not hasattr(peer, case.method):
                continue
            if case.taps is not None and case.taps.size > getattr(peer, "MOST_TAPS", np.inf):
                print(f"skipped {label} with {peer.name}: too many taps for it", file=sys.stderr)
                continue
            row = measure(case, images[case.pixel], ours, peer, args.rounds, args.pause)
            impl, wall, cpu, ratio, cpu_ratio, difference = row
            print(f"| {label} | {impl} | {peer.name} | {wall[0]:.1f} | {wall[1]:.1f} "
                  f"| {ratio:.2f} | {cpu[0]:.1f} | {cpu[1]:.1f} | {cpu_ratio:.2f} "
                  f"| {difference:.3g} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
