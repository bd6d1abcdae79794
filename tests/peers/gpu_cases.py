"""The cases that our program and the others are timed on, and the inputs made for them.

Every case has one chain of ours, one pixel type and, where a peer takes taps, those taps as float32:
all compute with the same numbers.
"""
import dataclasses

import numpy as np

BORDER = "border=replicate"
PIXELS = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}
BUFFERS = 8  # take turns: a cache must not hold the picture from one run to the next
WHITE = {"u8": 255, "u16": 65535, "f32": 1}


@dataclasses.dataclass(frozen=True)
class Case:
    op: str          # correlate, gaussian, box, sobel, sobel-x, unsharp, chain
    value: float     # size of the window, or sigma
    pixel: str
    target: str = ""  # times over a copy (x), or ms, that the project set itself

    @property
    def name(self):
        value = f"{self.value:g}" if self.value else ""
        return "-".join(filter(None, (self.op, value, self.pixel)))

    @property
    def title(self):
        shape = {"correlate": f"correlate {self.value:g}×{self.value:g}",
                 "gaussian": f"Gaussian σ = {self.value:g} ({self.taps().size} taps)",
                 "box": f"box {self.value:g}", "sobel": "Sobel magnitude",
                 "sobel-x": "Sobel, one direction", "unsharp": f"unsharp σ = {self.value:g}",
                 "chain": "Gaussian 2, Sobel, threshold"}
        return shape[self.op]

    def taps(self):
        """Taps as float32: a K x K matrix, a Gaussian's row, or none."""
        if self.op == "correlate":
            k = int(self.value)
            taps = np.random.default_rng(k).random((k, k))  # no separable matrix
            return (taps / taps.sum()).astype(np.float32)
        if self.op in ("gaussian", "unsharp", "chain"):
            sigma = 2 if self.op == "chain" else self.value
            radius = int(4 * sigma + 0.5)
            row = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
            return (row / row.sum()).astype(np.float32)
        return np.zeros(0, np.float32)

    @property
    def margin(self):
        """Pixels at the border that are not compared: there each program has a rule of its own."""
        taps = self.taps()
        return (taps.shape[0] // 2 if taps.size else int(self.value) // 2) + 3

    def chain(self, folder):
        stages = {"correlate": f"correlate=@{folder}/{self.name}.txt:{BORDER}",
                  "gaussian": f"gaussian={self.value:g}:{BORDER}",
                  "box": f"box={self.value:g}:{BORDER}",
                  "sobel": f"sobel:{BORDER}", "sobel-x": f"sobel:direction=x:{BORDER}",
                  "unsharp": f"unsharp={self.value:g}:{BORDER}",
                  "chain": f"gaussian=2:{BORDER},sobel:{BORDER},threshold=40"}
        return stages[self.op]


def cases():
    rows = [("correlate", 3, "1.15x", "1.5x"), ("correlate", 5, "1.25x", "2.0x"),
            ("correlate", 7, "1.6x", "3.0x"), ("correlate", 15, "0.60 ms", "0.25 ms"),
            ("correlate", 31, "1.3 ms", "0.8 ms"), ("correlate", 63, "1.4 ms", None),
            ("correlate", 127, "1.6 ms", None),
            ("gaussian", 1, "1.3x", "2.0x"), ("gaussian", 2, "1.4x", "2.0x"),
            ("gaussian", 5, "2.0x", "2.7x"), ("gaussian", 10, "3x", "4x"),
            ("gaussian", 30, "5x", "8x"), ("gaussian", 100, None, "12x"),
            ("box", 3, None, "2.0x"), ("box", 15, None, "2.0x"), ("box", 31, None, "2.0x"),
            ("box", 101, None, "2.0x"), ("sobel", 0, None, "2.0x"), ("sobel-x", 0, None, "1.6x"),
            ("unsharp", 2, None, "2.5x"), ("chain", 0, None, "6x")]
    out = []
    for op, value, f32, u8 in rows:
        out += [Case(op, value, p, t) for p, t in (("u8", u8), ("f32", f32)) if t]
    return out + [Case("gaussian", 2, "u16", "2x"), Case("gaussian", 10, "u16", "3.5x")]


def noise(pixel, size):
    """A size x size image of noise: real pictures compress power, and so clocks."""
    rng = np.random.default_rng(size)
    if pixel == "f32":
        return rng.random((size, size), np.float32)
    return rng.integers(0, WHITE[pixel] + 1, (size, size), PIXELS[pixel])


def write_inputs(folder, size, check):
    """Put images, taps and the list of cases where all the programs find them."""
    for pixel in PIXELS:
        noise(pixel, size).tofile(folder / f"time-{pixel}.raw")
        noise(pixel, check).tofile(folder / f"check-{pixel}.raw")
    lines = []
    for c in cases():
        taps = c.taps()
        taps.tofile(folder / f"{c.name}.taps")
        if c.op == "correlate":
            rows = (" ".join(repr(float(v)) for v in row) for row in taps)
            (folder / f"{c.name}.txt").write_text("\n".join(rows) + "\n")
        n_taps = taps.shape[0] if taps.size else 0
        lines.append(f"{c.name} {c.op} {c.pixel} {c.value:g} {n_taps}")
    (folder / "cases.txt").write_text("\n".join(lines) + "\n")
