"""Check the oracle itself: against scipy wherever scipy has the filter, and by hand where not.

Run alone it prints one line per disagreement and closes with the counts."""

import re
import sys

import numpy as np
from scipy import ndimage, signal

import oracle
import traps

MODES = {"constant": "constant", "replicate": "nearest", "reflect": "reflect",
         "mirror": "mirror", "wrap": "wrap"}
SIZES = ((1, 1), (1, 7), (7, 1), (2, 3), (5, 4), (17, 23), (40, 31))


def ndimage_pairs(mode, cval):
    """(chain, what scipy gives) for filters that scipy.ndimage has. Derivatives only where the
    two agree on constant borders."""
    o = dict(mode=mode, cval=cval)
    k23 = np.array([[1, 2, 3], [4, 5, 6.5]])
    k54 = np.arange(20.0).reshape(5, 4) - 7
    k99 = np.ones((9, 9))

    def text(k):
        return '"' + ";".join(" ".join(f"{v:g}" for v in row) for row in k) + '"'

    for k in (k23, k54, k99):
        yield f"correlate={text(k)}", lambda x, k=k: ndimage.correlate(x, k, **o)
        yield f"convolve={text(k)}", lambda x, k=k: ndimage.convolve(x, k, **o)
    # scipy's origin moves the centre to the left of kw // 2; the anchor counts from the first tap
    yield (f"correlate={text(k54)}:anchor-x=0:anchor-y=4",
           lambda x: ndimage.correlate(x, k54, origin=(2, -2), **o))
    yield "gaussian", lambda x: ndimage.gaussian_filter(x, 1.5, **o)
    yield ("gaussian=2:sigma-x=0.7:truncate=3",
           lambda x: ndimage.gaussian_filter(x, (2, 0.7), truncate=3, **o))
    yield "gaussian=2:radius=3", lambda x: ndimage.gaussian_filter(x, 2, radius=3, **o)
    for n in (2, 3, 4, 9, 50):
        yield f"box={n}", lambda x, n=n: ndimage.uniform_filter(x, n, **o)
    yield "box:size-x=4:size-y=5", lambda x: ndimage.uniform_filter(x, (5, 4), **o)
    yield "dog", lambda x: (ndimage.gaussian_filter(x, 1, **o) -
                            ndimage.gaussian_filter(x, 1.6, **o))
    if cval:
        return
    for orders in ((1, 0), (0, 1), (2, 1), (3, 0), (0, 3)):
        yield (f"gaussian=1.2:order-y={orders[0]}:order-x={orders[1]}",
               lambda x, n=orders: ndimage.gaussian_filter(x, 1.2, order=n, **o))
    yield "sobel:direction=x", lambda x: ndimage.sobel(x, 1, **o)
    yield "sobel:direction=y", lambda x: ndimage.sobel(x, 0, **o)
    yield "sobel", lambda x: np.hypot(ndimage.sobel(x, 0, **o), ndimage.sobel(x, 1, **o))
    yield "prewitt:direction=x", lambda x: ndimage.prewitt(x, 1, **o)
    yield "laplacian", lambda x: ndimage.laplace(x, **o)
    yield "log=1.3", lambda x: ndimage.gaussian_laplace(x, 1.3, **o)
    yield "gradient=1.3", lambda x: ndimage.gaussian_gradient_magnitude(x, 1.3, **o)


def signal_pairs(size):
    """Sizes and alignment of modes full and valid."""
    k = np.array([[1, 2, 3, 1], [4, 5, 6.5, 0]])
    text = '"1 2 3 1;4 5 6.5 0"'
    for mode in ("full", "valid"):
        if mode == "valid" and (size[0] < 2 or size[1] < 4):
            continue
        yield (f"correlate={text}:mode={mode}",
               lambda x, m=mode: signal.correlate2d(x, k, mode=m))
        yield f"convolve={text}:mode={mode}", lambda x, m=mode: signal.convolve2d(x, k, mode=m)


def by_hand():
    """(what, got, expected) for what scipy does not have."""
    def row(chain, values, pixel="f32"):
        return oracle.run(chain, np.array([values], float), pixel).value[0]

    impulse = np.zeros((3, 3))
    impulse[1, 1] = 1
    yield "emboss", oracle.run("emboss", impulse, "f32").value[1, 1], 1
    yield ("emboss taps", oracle.run("emboss:border=constant", impulse, "f32").value.ravel(),
           [2, 1, 0, 1, 1, -1, 0, -1, -2])  # a correlation turns the taps round an impulse
    yield "scharr", row("scharr:direction=x", [0, 0, 1, 1]), [0, 16, 16, 0]
    yield "sobel 5", row("sobel=5:direction=x", [0, 0, 0, 1, 1, 1]), [0, 16, 48, 48, 16, 0]
    yield "unsharp keeps a constant", row("unsharp=2:amount=3", [5, 5, 5]), [5, 5, 5]
    yield "scale", row("scale=2:offset=-1", [1, 2, 3]), [1, 3, 5]
    yield "abs", row("abs", [-1, 0, 2]), [1, 0, 2]
    yield "invert u8", row("invert", [0, 55, 255], "u8"), [255, 200, 0]
    yield "invert f32", row("invert", [0, 0.25, 1]), [1, 0.75, 0]
    yield "gamma", row("gamma=2", [-3, 0, 0.5, 1, 2]), [0, 0, 0.25, 1, 4]
    yield "clamp", row("clamp", [-1, 0.5, 7]), [0, 0.5, 1]
    yield "threshold", row("threshold=0.5", [0.5, 0.51, np.nan]), [0, 1, np.nan]
    yield "normalize", row("normalize", [10, 20, 15, np.nan], "u8"), [0, 255, 127.5, np.nan]
    yield ("normalize percent", row("normalize:low-percent=25:high-percent=75", [0, 1, 2, 3, 4]),
           [0, 0, 0.5, 1, 1])
    yield "normalize constant", row("normalize:out-low=3", [7, 7]), [3, 3]
    yield ("half to even", oracle.quantise(np.array([0.5, 1.5, 2.5, 254.5, 300, -4, np.nan]), "u8"),
           [0, 2, 2, 254, 255, 0, 0])


def trap_answers():
    """Every trap's typed answer against the oracle's, once for all methods."""
    seen = set()
    for number, trap in traps.TRAPS.items():
        for chain, pixels, expected, as_float in trap():
            chain = re.sub(":method=[a-z]+", "", chain)
            key = chain, pixels.dtype.name, pixels.tobytes(), as_float
            if key in seen or pixels.size > 100000:  # 11: takes longer than all others together
                continue
            seen.add(key)
            pixel = traps.pixel_name(pixels)
            value = oracle.run(chain, pixels, pixel).value
            got = oracle.quantise(value, "f32" if as_float else pixel)
            yield number, chain, traps.differs(got, expected)


def check():
    """Return (passed, list of disagreements)."""
    random = np.random.default_rng(1)
    passed, wrong = 0, []

    def count(name, got, expected, tolerance=1e-12):
        nonlocal passed
        got, expected = np.asarray(got, float), np.asarray(expected, float)
        if got.shape == expected.shape and np.allclose(got, expected, 1e-12, tolerance,
                                                       equal_nan=True):
            passed += 1
        else:
            wrong.append(f"{name}: oracle {got.ravel()[:8]}, expected {expected.ravel()[:8]}")

    for size in SIZES:
        x = random.uniform(0, 255, size)
        for border, mode in MODES.items():
            for value in (0, 10) if border == "constant" else (0,):
                for chain, reference in ndimage_pairs(mode, value):
                    full = f"{chain}:border={border}:border-value={value}"
                    count(f"{full} on {size}", oracle.run(full, x, "f32").value, reference(x), 1e-9)
        for chain, reference in signal_pairs(size):
            count(f"{chain} on {size}", oracle.run(chain, x, "f32").value, reference(x), 1e-9)
    for what in by_hand():
        count(*what)
    for number, chain, sentence in trap_answers():
        if sentence:
            wrong.append(f"trap {number} {chain[:80]}: {sentence}")
        else:
            passed += 1
    return passed, wrong


if __name__ == "__main__":
    n_passed, disagreements = check()
    for line in disagreements:
        print(line)
    print(f"{n_passed} passed, {len(disagreements)} failed, 0 skipped")
    sys.exit(bool(disagreements))
