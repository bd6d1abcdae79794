"""Inputs that break filter programs, with the right answer typed in by hand.

Each trap yields (what, chain, input array, expected array, as_float). Integer results must match
exactly, but on an FFT path, which may be one level off; floats to a few units in the last place."""

import numpy as np

BORDERS = ("constant", "replicate", "reflect", "mirror", "wrap")
FOLDS = BORDERS[1:]
METHODS = ("auto", "direct", "separable", "fft")
TYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}
NAN, INF = float("nan"), float("inf")


def array(rows, pixel):
    return np.array(rows, TYPES[pixel])


def pixel_name(pixels):
    return {kind: name for name, kind in TYPES.items()}[pixels.dtype.type]


def wide_box_sum():
    """A window far wider than the image, along both axes."""
    answers = {"constant": [60, 60, 60], "replicate": [160, 180, 200], "reflect": [200, 180, 160],
               "mirror": [170, 180, 190], "wrap": [180, 180, 180]}
    for border, answer in answers.items():
        for pixel in TYPES:
            for method in METHODS:
                for separator, turn in ((" ", lambda a: a), (";", lambda a: a.T)):
                    kernel = separator.join("1" * 9)
                    yield (f'correlate="{kernel}":border={border}:method={method}',
                           turn(array([[10, 20, 30]], pixel)), turn(np.array([answer], float)), False)


def one_pixel():
    """Normalised kernels keep a single pixel."""
    normalised = ("box=9", "box=4", "box=2", "gaussian", "gaussian=0.5", "gaussian=20", "unsharp",
                  'correlate="1 2 1;2 4 2;1 2 1":scale=0.0625', 'convolve="1 3":scale=0.25')
    for chain in normalised:
        for border in FOLDS:
            for pixel in TYPES:
                yield f"{chain}:border={border}", array([[123]], pixel), np.array([[123.0]]), False
    for pixel, answer in (("u8", 14), ("u16", 14), ("f32", 13.6666667)):
        for sizes in ("size-x=9:size-y=1", "size-x=1:size-y=9"):
            yield (f"box:{sizes}:border=constant", array([[123]], pixel), np.array([[answer]]), False)


def flip():
    """correlate does not turn the kernel, convolve does; even sizes as in scipy.ndimage."""
    answers = {("correlate", "1 2 3"): [0, 3, 2, 1, 0], ("convolve", "1 2 3"): [0, 1, 2, 3, 0]}
    yield from pulses(answers)


def even():
    answers = {("correlate", "1 2"): [0, 0, 2, 1, 0], ("convolve", "1 2"): [0, 1, 2, 0, 0]}
    yield from pulses(answers)


def pulses(answers):
    for (name, kernel), answer in answers.items():
        for pixel in TYPES:
            for method in METHODS:
                chain = f'{name}="{kernel}":border=constant:method={method}'
                yield chain, array([[0, 0, 1, 0, 0]], pixel), np.array([answer], float), False
                column = chain.replace(kernel, kernel.replace(" ", ";"))
                yield column, array([[0, 0, 1, 0, 0]], pixel).T, np.array([answer], float).T, False


def ties():
    """Half to even on every path."""
    pairs = {(0, 1): (0, 0), (1, 2): (1, 2), (2, 3): (2, 2), (254, 255): (254, 254)}
    for pair, answer in pairs.items():
        for pixel in ("u8", "u16"):
            for method in METHODS:
                chain = f'correlate=".5 .5":border=replicate:method={method}'
                yield chain, array([pair], pixel), np.array([answer], float), False
            yield "box=2:border=replicate", array([pair], pixel), np.array([answer], float), False


def sobel_step():
    """Signed floats, saturated integers; nothing wraps round."""
    up, down = [[0, 0, 255, 255]] * 4, [[255, 255, 0, 0]] * 4
    answers = {border: ([0, 1020, 1020, 0], [0, -1020, -1020, 0])
               for border in ("replicate", "reflect", "mirror")}
    answers["wrap"] = ([-1020, 1020, 1020, -1020], [1020, -1020, -1020, 1020])
    for border, both in answers.items():
        for rows, answer in zip((up, down), both):
            for pixel in TYPES:
                floats = np.array([answer] * 4, float)
                yield f"sobel:direction=x:border={border}", array(rows, pixel), floats, True
            yield (f"sobel:direction=x:border={border}", array(rows, "u8"), np.clip(floats, 0, 255), False)
            yield (f"sobel:direction=y:border={border}", array(rows, "u8").T, floats.T, True)
    # With zeros outside the first and the last row see half the step: 3/4 of it.
    for rows, answer in ((up, [0, 1020, 1020, -1020]), (down, [1020, -1020, -1020, 0])):
        weights = np.array([[0.75], [1], [1], [0.75]])
        yield "sobel:direction=x:border=constant", array(rows, "u8"), weights * np.array([answer]), True


def sobel_7():
    """Big sums: nothing saturates at 16 bits on the way. Only the largest value is looked at, away
    from the corners, where the border bends the diagonal."""
    step = np.zeros((32, 32))
    step[:, 16:] = 255
    diagonal = np.triu(np.full((32, 32), 255.0))
    for pixel in TYPES:
        yield "sobel=7:border=replicate", array(step, pixel), 163200.0, True
        yield "sobel=7:border=replicate", array(diagonal, pixel), 166608.5, True


def u16_constant():
    for border in FOLDS:
        for sigma in (0.8, 1.5, 4):
            yield (f"gaussian={sigma}:radius=4:border={border}", np.full((21, 17), 65535, np.uint16),
                   np.full((21, 17), 65535.0), False)


def wide_gaussian():
    for pixel, level in (("u8", 201), ("u16", 40001), ("f32", 0.625)):
        yield ("gaussian=250:border=mirror", np.full((64, 64), level, TYPES[pixel]),
               np.full((64, 64), float(level)), False)


def nan_in_a_row():
    for bad in (NAN, INF):
        for chain in ("box=3", "box:size-x=3:size-y=1", 'correlate="1 1 1":scale=0.333333333'):
            for border in BORDERS:
                if border == "constant" and chain == "box=3":
                    continue  # the rows outside would take part
                yield (f"{chain}:border={border}", array([[3, 3, 3, bad, 3, 3, 3]], "f32"),
                       np.array([[2 if border == "constant" and chain != "box=3" else 3, 3, bad, bad,
                                  bad, 3, 2 if border == "constant" else 3]]), False)


def nan_under_an_fft():
    """The footprint of one NaN is the window's rectangle, however the sum is made."""
    image = np.full((1000, 1000), 0.5, np.float32)
    image[500, 300] = NAN
    answer = np.full((1000, 1000), 0.5)
    answer[480:521, 280:321] = NAN
    kernel = ";".join(" ".join(str((i * 7 + j * 3) % 5 + 1) for i in range(41)) for j in range(41))
    total = sum((i * 7 + j * 3) % 5 + 1 for i in range(41) for j in range(41))
    for method in ("auto", "direct", "fft"):
        yield f'correlate="{kernel}":scale={1 / total!r}:method={method}', image, answer, False


TRAPS = {1: wide_box_sum, 2: one_pixel, 3: flip, 4: even, 5: ties, 6: sobel_step, 7: sobel_7,
         8: u16_constant, 9: wide_gaussian, 10: nan_in_a_row, 11: nan_under_an_fft}


def differs(actual, expected, factor=1.0, exact=True):
    """None, or a sentence. A single expected number is the largest value in the middle."""
    if isinstance(expected, float):
        h, w = actual.shape
        middle = actual[h // 4:h - h // 4, w // 4:w - w // 4]
        actual, expected = np.array([[middle.max()]]), np.array([[expected]])
        allowed = 0.05  # as many digits as the number above has
    else:
        top = np.abs(expected[np.isfinite(expected)]).max()
        float_allowed = top * 2.0 ** -20 * factor
        allowed = float_allowed if actual.dtype == np.float32 else float(not exact)
    if actual.shape != expected.shape:
        return f"size {actual.shape}, expected {expected.shape}"
    with np.errstate(invalid="ignore"):
        same = (np.isnan(actual) & np.isnan(expected)) | (actual == expected)
        same |= np.abs(actual.astype(float) - expected) <= allowed
    if same.all():
        return None
    y, x = np.argwhere(~same)[0]
    return f"column {x} row {y} is {actual[y, x]!r}, expected {expected[y, x]!r}"
