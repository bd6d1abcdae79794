"""The cases of the golden images, and the parameter sets that compare.py adds to the program's own.

Everything here is written for this test; {white} and {mid} stand for levels of the pixel type."""

# Every filter; the first parameter set meets every border and pixel type, the others rotate.
SETS = {
    "abs": [""],
    "box": ["", "=2", "=4:size-y=1", "=25", "=1"],
    "clamp": ["={low}:{high}", ""],
    "convolve": ['="1 2 3;4 5 6;-7 8 9.5":scale=0.05', '="1 2;3 5":scale=0.1:offset={low}',
                 '="1 0 -2 3":mode=full', '="1 2 1;0 0 1;1 1 3":mode=valid:scale=0.125',
                 '="1 2 3 4;5 6 7 1":scale=0.03:anchor-x=0:anchor-y=1',
                 '="1 2 1;2 4 2;1 2 1":scale=0.0625:method=fft',
                 '="1 2 1;2 4 2;1 2 1":scale=0.0625:method=separable'],
    "correlate": ['="1 2 3;4 5 6;-7 8 9.5":scale=0.05', '="1 2;3 5":scale=0.1:offset={low}',
                  '="1 0 -2 3":mode=full', '="1 2 1;0 0 1;1 1 3":mode=valid:scale=0.125',
                  '="1 2 3 4;5 6 7 1":scale=0.03:anchor-x=3:anchor-y=0',
                  '="1;2;-4;8;1":scale=0.25:method=direct',
                  '="1 2 1;2 5 2;1 2 1":scale=0.0625:method=fft'],
    "dog": ["", "=2:3.2:truncate=3"],
    "emboss": ["", "=200:0.4"],
    "gamma": ["=2.2", "=0.45:white={white}"],
    "gaussian": ["", "=0.5", "=3:sigma-x=0.8", "=1.2:order-x=1", "=1.2:order-y=2:order-x=1",
                 "=1.5:order-y=3", "=9:truncate=3", "=2:radius=2"],
    "gradient": ["", "=2.5:truncate=3"],
    "invert": ["", ":white={mid}"],
    "laplacian": ["", "=8"],
    "log": ["", "=0.8:truncate=5"],
    "normalize": ["", "=5:90", "=0:100:out-low={high}:out-high={low}"],
    "prewitt": ["", ":direction=x", ":direction=y"],
    "scale": ["=0.75:{low}", "=-1.5:{white}"],
    "scharr": ["", ":direction=x", ":direction=y"],
    "sobel": ["", ":direction=x", ":direction=y", "=5", "=7", "=7:direction=x"],
    "threshold": ["={mid}", "={mid}:low={low}:high={high}"],
    "unsharp": ["", "=2:0.6:threshold={little}", "=1:-0.5"],
}

# Filters whose first set is sign-changing: an integer result is half black, an f32 result is not.
CHAINS = [
    "gaussian=2,sobel",
    "gaussian=2,sobel,normalize",
    "scale=-1,abs,invert",
    "sobel:direction=x,abs,scale=0.25",
    "laplacian,scale=0.5:{mid},box=3",
    "dog=1:2:border=wrap,scale=4:{mid},clamp={low}:{high}",
    "gaussian=1:border=constant:border-value={mid},unsharp=1.5:0.8,gamma=0.8",
    'correlate="1 2 1;2 4 2;1 2 1":scale=0.0625:mode=valid,correlate="1 1;1 1":mode=full:scale=0.25',
    "emboss,gaussian=0.8,threshold={mid}",
    "log,abs,normalize=1:99",
]

# (name, pixel type, chain, rows): arithmetic without rounding, where ties must be right as well
# on every path but an FFT.
EXACT = [
    ("ties", "u8", 'correlate=".5 .5":border=replicate', [[0, 1, 2, 3, 2, 254, 255, 255, 0]]),
    ("ties", "u16", 'correlate=".5 .5":border=replicate',
     [[0, 1, 2, 3, 2, 65534, 65535, 65535, 0]]),
    ("half", "u8", "scale=0.5", [[0, 1, 2, 3, 4, 5, 253, 254, 255]]),
    ("half", "u16", "scale=0.5", [[0, 1, 2, 3, 5, 65533, 65534, 65535]]),
    ("step", "u8", "sobel:direction=x:border=replicate", [[0, 0, 255, 255]] * 3),
    ("pulse", "u8", 'correlate="1 2 3":border=constant', [[0, 0, 1, 0, 0]]),
    ("pulse", "u8", 'convolve="1 2 3":border=constant', [[0, 0, 1, 0, 0]]),
    ("pulse", "f32", 'correlate="1 2":border=constant', [[0, 0, 1, 0, 0]]),
    ("pulse", "f32", 'convolve="1 2":border=constant', [[0, 0, 1, 0, 0]]),
]

# NaN and infinities stay inside the windows that hold them.
SPECIAL = [
    ("nan", "box=3", [[1, 2, 3, float("nan"), 5, 6, 7]]),
    ("inf", "box=3", [[1, 2, 3, float("inf"), 5, 6, 7]]),
    ("nan", "sobel:direction=x", [[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, float("nan"), 5, 6, 7], [3, 1, 4, 1, 5, 9, 2]]),
    ("nan", "threshold=3", [[1, 2, float("nan"), 4]]),
    ("nan", "clamp=2:3", [[1, 2, float("nan"), 4]]),
    ("nan", "normalize", [[1, 2, float("nan"), 4]]),
    ("nan", "gamma=2", [[1, 2, float("nan"), 4]]),
]

LEVELS = {
    "u8": {"white": "255", "mid": "117.3", "low": "20", "high": "200", "little": "6.3"},
    "u16": {"white": "65535", "mid": "30117.3", "low": "5000", "high": "50000", "little": "1603.7"},
    "f32": {"white": "1", "mid": "0.4503", "low": "0.1", "high": "0.8", "little": "0.0203"},
}

BORDER_VALUE = {"u8": "40", "u16": "9000", "f32": "0.25"}


def fill(text, pixel):
    """Put the levels of a pixel type into a chain."""
    for name, value in LEVELS[pixel].items():
        text = text.replace("{" + name + "}", value)
    return text


def with_border(stage, border, pixel):
    value = f":border-value={BORDER_VALUE[pixel]}" if border == "constant" else ""
    return f"{stage}:border={border}{value}"
