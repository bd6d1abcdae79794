"""What every filter should give, in float64 NumPy, sharing no code with the library.

The definition is always the plain one: pad the image by folding indices, add up taps times slices.
Where scipy.ndimage has the same filter, oracle_check.py compares the two. They part in three
places, all of them of scipy's making, and there the definition here is the one that counts:
  - scipy leaves zero taps out, so that 0 * NaN is 0; here the whole rectangle of taps counts.
  - scipy's derivative filters run axis by axis and put the border value, not its filtered value,
    outside in the second pass; here the outside is padded once, in two dimensions. The two agree
    for a border value of 0 and wherever the taps of the first pass sum to 1.
  - scipy.signal swaps image and kernel in mode "valid" when the kernel is the larger one.

A result carries, beside the value, the error that float32 arithmetic may make (err) and the pixels
where such an error decides between two values of a discontinuous filter (ambiguous).
"""

import math
from dataclasses import dataclass

import numpy as np

EPSILON = 2.0 ** -20  # of the numbers contract: |error| <= 2^-20 * sum|taps| * max|x|
ROUND = 2.0 ** -23    # storing one value as float32, with room for one more operation

WHITE = {"u8": 255.0, "u16": 65535.0, "f32": 1.0}
BORDERS = ("constant", "replicate", "reflect", "mirror", "wrap")
ALIASES = {"nearest": "replicate", "symmetric": "reflect", "reflect101": "mirror"}


@dataclass
class Result:
    value: np.ndarray      # float64
    err: np.ndarray        # largest error allowed at each pixel
    ambiguous: np.ndarray  # bool
    stages: int = 0

    @staticmethod
    def exact(value):
        value = np.asarray(value, np.float64)
        return Result(value, np.zeros(value.shape), np.zeros(value.shape, bool))


# ---- borders ----------------------------------------------------------------------------------

def fold(index, n, border):
    """Bring indices into 0 … n-1; -1 where the constant applies."""
    index = np.asarray(index)
    if border == "constant":
        return np.where((index < 0) | (index >= n), -1, index)
    if border == "replicate":
        return np.clip(index, 0, n - 1)
    if border == "wrap":
        return index % n
    if border == "reflect":
        m = index % (2 * n)
        return np.where(m < n, m, 2 * n - 1 - m)
    if border == "mirror":
        if n == 1:
            return np.zeros_like(index)
        m = index % (2 * n - 2)
        return np.where(m < n, m, 2 * n - 2 - m)
    raise ValueError(f"border: {border} is none of {BORDERS}")


def pad(x, before, after, border, value):
    """Add before = (rows, columns) and after = (rows, columns) of outside pixels."""
    rows = fold(np.arange(-before[0], x.shape[0] + after[0]), x.shape[0], border)
    columns = fold(np.arange(-before[1], x.shape[1] + after[1]), x.shape[1], border)
    out = x[rows][:, columns]
    out[rows < 0, :] = value
    out[:, columns < 0] = value
    return out


# ---- weighted sums ----------------------------------------------------------------------------

@dataclass
class Window:
    """Terms are (column taps, row taps), or one matrix; anchor is (row, column) in the rectangle."""
    terms: list
    shape: tuple
    anchor: tuple
    border: str = "mirror"
    border_value: float = 0.0
    mode: str = "same"


def separable(col, row, options, anchor=None):
    return window([(np.asarray(col, float), np.asarray(row, float))], options, anchor)


def window(terms, options, anchor=None, mode="same"):
    first = terms[0]
    shape = (len(first[0]), len(first[1])) if isinstance(first, tuple) else first.shape
    anchor = anchor or (shape[0] // 2, shape[1] // 2)
    return Window(terms, shape, anchor, options["border"], options["border-value"], mode)


def reach(w, size):
    """Outside pixels needed (before, after), and the size of the result."""
    if w.mode == "valid":
        out = tuple(n - k + 1 for n, k in zip(size, w.shape))
        if min(out) < 1:
            raise ValueError("mode: valid leaves no pixel")
        return (0, 0), (0, 0), out
    if w.mode == "full":
        before = tuple(k - 1 for k in w.shape)
        return before, before, tuple(n + k - 1 for n, k in zip(size, w.shape))
    return w.anchor, tuple(k - 1 - a for k, a in zip(w.shape, w.anchor)), size


def outside(w):
    return ("constant", 0.0) if w.mode == "full" else (w.border, w.border_value)


def sum_slices(padded, taps, out, axis):
    n = out[axis]
    total = np.zeros(padded.shape[:axis] + (n,) + padded.shape[axis + 1:])
    for i, tap in enumerate(taps):
        total += tap * (padded[i:i + n] if axis == 0 else padded[:, i:i + n])
    return total


def sum_term(padded, term, out):
    if isinstance(term, tuple):
        col, row = term
        return sum_slices(sum_slices(padded, row, out, 1), col, out, 0)
    total = np.zeros(out)
    for j, row in enumerate(term):
        total += sum_slices(padded[j:j + out[0]], row, out, 1)
    return total


def abs_taps(term):
    return tuple(np.abs(t) for t in term) if isinstance(term, tuple) else np.abs(term)


def abs_sum(*terms):
    """Sum of |taps| of the one matrix that the terms add up to."""
    if len(terms) == 1 and isinstance(terms[0], tuple):
        return math.prod(np.abs(t).sum() for t in terms[0])
    return np.abs(sum(np.outer(*t) if isinstance(t, tuple) else t for t in terms)).sum()


def largest(x, w=None):
    finite = np.abs(x[np.isfinite(x)])
    top = finite.max() if finite.size else 0.0
    return max(top, abs(w.border_value)) if w and outside(w)[0] == "constant" else top


def weigh(x, w):
    """Every term's sum, the errors that come with the input, and the ambiguous pixels."""
    before, after, out = reach(w, x.value.shape)
    border, value = outside(w)
    padded = pad(x.value, before, after, border, value)
    sums = [sum_term(padded, t, out) for t in w.terms]
    errors, ambiguous = [np.zeros(out)] * len(sums), np.zeros(out, bool)
    if x.err.any():
        padded = pad(x.err, before, after, border, 0.0)
        errors = [sum_term(padded, abs_taps(t), out) for t in w.terms]
    if x.ambiguous.any():
        padded = pad(x.ambiguous.astype(float), before, after, border, 0.0)
        box = (np.ones(w.shape[0]), np.ones(w.shape[1]))
        ambiguous = sum_term(padded, box, out) > 0.5
    return sums, errors, ambiguous


def combine_sum(x, w, white, scale=1.0, offset=0.0):
    sums, errors, ambiguous = weigh(x, w)
    own = EPSILON * abs(scale) * abs_sum(*w.terms) * scale_of(x, w, white) + ROUND * abs(offset)
    return Result(scale * sum(sums) + offset, abs(scale) * sum(errors) + own, ambiguous)


def combine_magnitude(x, w, white):
    sums, errors, ambiguous = weigh(x, w)
    own = EPSILON * math.hypot(*(abs_sum(t) for t in w.terms)) * scale_of(x, w, white)
    return Result(np.hypot(*sums), np.hypot(*errors) + own, ambiguous)


def scale_of(x, w, white):
    """The contract counts integers by their white level and floats by their largest value."""
    return max(white, largest(x.value, w)) if x.stages == 0 and white != 1.0 else largest(x.value, w)


# ---- taps -------------------------------------------------------------------------------------

def gaussian_taps(sigma, order, truncate, radius):
    """Taps to correlate with: the sampled normalised Gaussian, times the Hermite factor of its
    derivative, turned round."""
    if sigma == 0:
        return np.ones(1)
    r = int(truncate * sigma + 0.5) if radius is None else int(radius)
    t = np.arange(-r, r + 1, dtype=float)
    g = np.exp(-0.5 * t * t / (sigma * sigma))
    g /= g.sum()
    s2 = sigma * sigma
    factor = (1.0 + 0 * t, -t / s2, (t * t - s2) / s2 ** 2, (3 * s2 * t - t ** 3) / s2 ** 3)[order]
    return (g * factor)[::-1]


def gaussian_term(p, order_y, order_x, sigma=None):
    if sigma is None:
        sigma = p["sigma"]
    radius, truncate = p.get("radius"), p["truncate"]
    return (gaussian_taps(p.get("sigma-y", sigma), order_y, truncate, radius),
            gaussian_taps(p.get("sigma-x", sigma), order_x, truncate, radius))


def gradient_window(derivative, smoothing, p):
    """(y, x) derivative terms, or the one that direction names."""
    derivative, smoothing = np.asarray(derivative, float), np.asarray(smoothing, float)
    both = {"y": (derivative, smoothing), "x": (smoothing, derivative)}
    return [both[p["direction"]]] if p["direction"] in both else [both["y"], both["x"]]


def edges(x, p, white, derivative, smoothing):
    w = window(gradient_window(derivative, smoothing, p), p)
    return combine_magnitude(x, w, white) if len(w.terms) == 2 else combine_sum(x, w, white)


# ---- window filters ---------------------------------------------------------------------------

def do_correlate(x, p, white, flip=False):
    k = p["kernel"]
    anchor = [k.shape[0] // 2, k.shape[1] // 2]
    for axis, key in ((0, "anchor-y"), (1, "anchor-x")):
        anchor[axis] = int(p.get(key, p.get("anchor", anchor[axis])))
    if flip:  # the anchor is a tap of the kernel as written, so it turns round with it
        k, anchor = k[::-1, ::-1], [n - 1 - a for n, a in zip(k.shape, anchor)]
    return combine_sum(x, window([k], p, tuple(anchor), p["mode"]), white, p["scale"], p["offset"])


def do_convolve(x, p, white):
    return do_correlate(x, p, white, flip=True)


def do_gaussian(x, p, white):
    term = gaussian_term(p, int(p["order-y"]), int(p["order-x"]))
    return combine_sum(x, window([term], p), white)


def do_box(x, p, white):
    size_x, size_y = (int(p.get(k, p["size"])) for k in ("size-x", "size-y"))
    return combine_sum(x, separable([1 / size_y] * size_y, [1 / size_x] * size_x, p), white)


def do_sobel(x, p, white):
    taps = {3: ([-1, 0, 1], [1, 2, 1]),
            5: ([-1, -2, 0, 2, 1], [1, 4, 6, 4, 1]),
            7: ([-1, -4, -5, 0, 5, 4, 1], [1, 6, 15, 20, 15, 6, 1])}
    return edges(x, p, white, *taps[int(p["size"])])


def do_scharr(x, p, white):
    return edges(x, p, white, [-1, 0, 1], [3, 10, 3])


def do_prewitt(x, p, white):
    return edges(x, p, white, [-1, 0, 1], [1, 1, 1])


def do_laplacian(x, p, white):
    k = {4: [[0, 1, 0], [1, -4, 1], [0, 1, 0]], 8: [[1, 1, 1], [1, -8, 1], [1, 1, 1]]}
    return combine_sum(x, window([np.array(k[int(p["neighbours"])], float)], p), white)


def do_log(x, p, white):
    return combine_sum(x, window([gaussian_term(p, 2, 0), gaussian_term(p, 0, 2)], p), white)


def do_gradient(x, p, white):
    return combine_magnitude(x, window([gaussian_term(p, 1, 0), gaussian_term(p, 0, 1)], p), white)


def do_dog(x, p, white):
    narrow, wide = (gaussian_term(p, 0, 0, p[s]) for s in ("sigma1", "sigma2"))
    reach_px = max(len(narrow[0]), len(wide[0])) // 2

    def widen(taps):
        return np.pad(taps, reach_px - len(taps) // 2)

    terms = [(widen(narrow[0]), widen(narrow[1])), (-widen(wide[0]), widen(wide[1]))]
    return combine_sum(x, window(terms, p), white)


def do_unsharp(x, p, white):
    w = window([gaussian_term(p, 0, 0)], p)
    blurred = combine_sum(x, w, white)
    d, amount, threshold = x.value - blurred.value, p["amount"], p["threshold"]
    d_err = x.err + blurred.err + ROUND * largest(x.value, w)
    err = x.err + abs(amount) * d_err + EPSILON * scale_of(x, w, white)
    unsure = (np.abs(np.abs(d) - threshold) <= d_err) & (threshold > 0)
    value = np.where(np.abs(d) < threshold, x.value, x.value + amount * d)
    value[np.isnan(d)] = np.nan
    return Result(value, np.where(unsure, err + np.abs(amount * d), err),
                  x.ambiguous | blurred.ambiguous | unsure)


def do_emboss(x, p, white):
    a = math.radians(p["angle"])
    dy, dx = np.mgrid[-1:2, -1:2]
    k = math.sqrt(2) * p["strength"] * (dx * math.cos(a) + dy * math.sin(a))
    k[1, 1] += 1
    return combine_sum(x, window([k], p), white)


# ---- point filters and normalize --------------------------------------------------------------

def affine(x, a, b):
    own = EPSILON * abs(a) * largest(x.value) + ROUND * abs(b)
    return Result(x.value * a + b, abs(a) * x.err + own, x.ambiguous)


def do_scale(x, p, white):
    return affine(x, p["factor"], p["offset"])


def do_invert(x, p, white):
    return affine(x, -1.0, p.get("white", white))


def do_abs(x, p, white):
    return Result(np.abs(x.value), x.err, x.ambiguous)


def monotone(x, f, own):
    """Apply a function that never falls; the error is what it makes of the interval around x."""
    low, high = f(x.value - x.err), f(x.value + x.err)
    value = f(x.value)
    spread = np.maximum(high - value, value - low)
    spread[~np.isfinite(spread)] = 0.0
    return Result(value, spread + own, x.ambiguous)


def do_gamma(x, p, white):
    w, g = p.get("white", white), p["gamma"]
    with np.errstate(over="ignore"):
        out = monotone(x, lambda v: w * (np.maximum(v, 0) / w) ** g, 0.0)
    out.err += EPSILON * max(1.0, g) * largest(out.value)
    return out


def do_clamp(x, p, white):
    low, high = p["low"], p.get("high", p.get("white", white))
    return monotone(x, lambda v: np.clip(v, low, high), ROUND * max(abs(low), abs(high)))


def do_threshold(x, p, white):
    white = p.get("white", white)
    low, high, level = p["low"], p.get("high", white), p.get("value", white / 2)
    value = np.where(x.value > level, high, low).astype(float)
    value[np.isnan(x.value)] = np.nan
    unsure = (np.abs(x.value - level) <= x.err) & (x.err > 0)
    own = ROUND * max(abs(low), abs(high))
    return Result(value, np.where(unsure, abs(high - low), 0) + own, unsure | x.ambiguous)


def do_normalize(x, p, white):
    out_low = p["out-low"]
    out_high = p.get("out-high", p.get("white", white))
    numbers = x.value[~np.isnan(x.value)]
    value = np.full(x.value.shape, float(out_low))
    value[np.isnan(x.value)] = np.nan
    own = ROUND * max(abs(out_low), abs(out_high))
    if not numbers.size:
        return Result(value, np.full(value.shape, own), x.ambiguous)
    low, high = np.percentile(numbers, [p["low-percent"], p["high-percent"]])
    slack = x.err.max()
    if high - low <= 4 * slack:  # with slack > 0 nobody can say whether there is a range
        return Result(value, np.full(value.shape, own),
                      np.full(value.shape, slack > 0) | x.ambiguous)
    gain = (out_high - out_low) / (high - low)
    ends = sorted((out_low, out_high))
    value = np.clip((x.value - low) * gain + out_low, *ends)
    # The pixel and both ends of the range may be off by slack.
    err = abs(gain) * (3 * slack + EPSILON * largest(x.value)) + own
    # An order statistic of ambiguous pixels is not known either.
    unsure = np.full(value.shape, bool(x.ambiguous.any()))
    return Result(value, np.full(value.shape, err), unsure)


# ---- chains -----------------------------------------------------------------------------------

COMMON = {"border": "mirror", "border-value": 0.0}
KERNEL = {"kernel": None, "scale": 1.0, "offset": 0.0, "mode": "same"}
EDGE = {"direction": "magnitude"}

# name: (function, positional parameters, defaults)
FILTERS = {
    "abs": (do_abs, (), {}),
    "box": (do_box, ("size",), {"size": 3}),
    "clamp": (do_clamp, ("low", "high"), {"low": 0.0}),
    "convolve": (do_convolve, ("kernel",), KERNEL),
    "correlate": (do_correlate, ("kernel",), KERNEL),
    "dog": (do_dog, ("sigma1", "sigma2"), {"sigma1": 1.0, "sigma2": 1.6, "truncate": 4.0}),
    "emboss": (do_emboss, ("angle", "strength"), {"angle": 45.0, "strength": 1.0}),
    "gamma": (do_gamma, ("gamma",), {"gamma": 1.0}),
    "gaussian": (do_gaussian, ("sigma",),
                 {"sigma": 1.5, "order-x": 0, "order-y": 0, "truncate": 4.0}),
    "gradient": (do_gradient, ("sigma",), {"sigma": 1.0, "truncate": 4.0}),
    "invert": (do_invert, (), {}),
    "laplacian": (do_laplacian, ("neighbours",), {"neighbours": 4}),
    "log": (do_log, ("sigma",), {"sigma": 1.5, "truncate": 4.0}),
    "normalize": (do_normalize, ("low-percent", "high-percent"),
                  {"low-percent": 0.0, "high-percent": 100.0, "out-low": 0.0}),
    "prewitt": (do_prewitt, (), EDGE),
    "scale": (do_scale, ("factor", "offset"), {"factor": 1.0, "offset": 0.0}),
    "scharr": (do_scharr, (), EDGE),
    "sobel": (do_sobel, ("size",), {"size": 3, **EDGE}),
    "threshold": (do_threshold, ("value",), {"low": 0.0}),
    "unsharp": (do_unsharp, ("sigma", "amount", "threshold"),
                {"sigma": 1.5, "amount": 1.0, "threshold": 0.0, "truncate": 4.0}),
}


def split_outside_quotes(text, separator):
    parts, quote = [""], None
    for c in text:
        if quote:
            quote = None if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c == separator:
            parts.append("")
            continue
        parts[-1] += c
    return parts


def parse_value(key, text):
    text = text.strip("'\"")
    if key == "kernel":
        return np.array([[float(v) for v in row.replace(",", " ").split()]
                         for row in text.split(";")])
    if key in ("border", "direction", "mode", "method", "impl"):
        return ALIASES.get(text, text)
    return float(text)


def parse_stage(text):
    head, *rest = split_outside_quotes(text, ":")
    name, *positional = split_outside_quotes(head, "=")
    function, order, defaults = FILTERS[name]
    options = {**COMMON, **defaults}
    given = list(positional)
    for part in rest:
        key, *value = split_outside_quotes(part, "=")
        if value:
            options[key] = parse_value(key, value[0])
        else:
            given.append(key)
    for key, value in zip(order, given):
        options[key] = parse_value(key, value)
    return function, options


def run(chain, image, pixel, white=None):
    """Run a chain on the stored values of an image of pixel type u8, u16 or f32."""
    white = white or WHITE[pixel]
    x = Result.exact(image)
    with np.errstate(invalid="ignore"):
        for number, text in enumerate(split_outside_quotes(chain, ","), 1):
            function, options = parse_stage(text)
            x = function(x, options, white)
            x.stages = number
    return x


# ---- the contract -----------------------------------------------------------------------------

def quantise(value, pixel):
    """Round half to even, saturate, NaN to 0; f32 only rounds to float32."""
    if pixel == "f32":
        return value.astype(np.float32)
    return np.clip(np.rint(np.where(np.isnan(value), 0, value)), 0, WHITE[pixel]).astype(
        np.uint8 if pixel == "u8" else np.uint16)


def judge(actual, expected, pixel, factor=1.0, fft=False):
    """Compare decoded pixels with a Result. Return None, or a sentence about the worst pixel.

    factor: times the contract's bound. fft: an integer may be off by more than one level where
    that bound is wider than one."""
    if actual.shape != expected.value.shape:
        return f"size is {actual.shape}, not {expected.value.shape}"
    if expected.ambiguous.mean() > 0.1:
        return "the case proves nothing: more than a tenth of its pixels are ambiguous"
    if pixel == "f32":
        bad, excess = judge_f32(actual, expected, factor)
    else:
        bad, excess = judge_integer(actual, expected, pixel, factor, fft)
    if not bad.any():
        return None
    y, x = np.unravel_index(np.argmax(np.where(bad, excess, -1)), bad.shape)
    return (f"{bad.sum()} of {bad.size} pixels differ; worst at column {x} row {y}: "
            f"{actual[y, x]!r}, expected {expected.value[y, x]!r} +- {expected.err[y, x]:.3g}")


def judge_f32(actual, expected, factor):
    v, a = expected.value, actual.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(a - v)
        allowed = expected.err * factor + np.abs(v) * 2.0 ** -24
        special = ~np.isfinite(v) | ~np.isfinite(a)
        same = (np.isnan(v) & np.isnan(a)) | (v == a)
        bad = np.where(special, ~same, ~(off <= allowed))
    return bad, np.where(special, np.inf, off)


def judge_integer(actual, expected, pixel, factor, fft):
    delta = np.maximum(1e-3, expected.err * factor)
    a = actual.astype(np.float64)
    middle = quantise(expected.value, pixel).astype(np.float64)
    low, high = (quantise(expected.value + s * delta, pixel).astype(np.float64) for s in (-1, 1))
    levels = np.maximum(1.0, np.ceil(delta)) if expected.stages > 1 or fft else np.ones(a.shape)
    levels[expected.ambiguous] = np.inf
    bad = (a < low) | (a > high) | (np.abs(a - middle) > levels)
    return bad, np.abs(a - middle)
