#!/usr/bin/env python3
"""Make the golden images beside this folder, or check that they are what the oracle gives.

    make_golden.py            check; exits 1 when something is missing, stale or different
    make_golden.py --update   rewrite them, the manifest and versions.txt

Inputs are input/*.pgm and *.pfm; expected results are <filter>/<case>.pfm, the float64 result
before any rounding to integers, so that a test can tell how near a tie it is."""

import argparse
import hashlib
import math
import platform
import sys
from pathlib import Path

import numpy as np

import cases
import images
import oracle
from traps import TYPES, pixel_name

HERE = Path(__file__).resolve().parent.parent
HEAD = """\
# Made by gen/make_golden.py. One case a line, fields separated by tabs:
#   expected   the float64 result, unrounded, stored as float32
#   input      its pixel type is that of the test
#   tolerance  for f32 results the largest error; for integers the distance from a rounding tie
#              within which the neighbouring level is right too
#   levels     how many levels an integer result may be off at such places; 0: the arithmetic is
#              exact, so that nothing may be off, and ties go to even, on every path but an FFT
#   chain
"""


class Golden:
    def __init__(self):
        self.files, self.lines = {}, []

    def input(self, name, pixels):
        kind = "pfm" if pixels.dtype == np.float32 else "pgm"
        path = f"input/{name}.{kind}"
        self.files[path] = images.encode(pixels)
        return path

    def add(self, folder, case, source, pixels, chain, exact=False):
        pixel = pixel_name(pixels)
        result = oracle.run(chain, pixels, pixel)
        if result.ambiguous.any():
            raise ValueError(f"{chain} on {source}: float32 may decide pixels either way")
        tolerance = float(result.err.max())
        if exact and not np.array_equal(result.value, result.value.astype(np.float32), True):
            raise ValueError(f"{chain} on {source}: the result is no exact float32")
        if pixel != "f32":
            tolerance = max(tolerance, 1e-3)
        levels = max(1, math.ceil(tolerance)) if result.stages > 1 else 1
        if exact:
            levels = 0
        path = f"{folder}/{case}.pfm"
        if path in self.files:
            raise ValueError(f"{path}: two cases of this name")
        with np.errstate(over="ignore"):
            self.files[path] = images.encode(result.value.astype(np.float32))
        self.lines.append(f"{path}\t{source}\t{tolerance:.4g}\t{levels}\t{chain}\n")

    def finish(self):
        self.files["manifest.txt"] = (HEAD + "".join(sorted(self.lines))).encode()
        return self.files


def build():
    golden = Golden()
    shapes = {"small": (13, 19), "tall": (37, 23), "row": (1, 9), "column": (9, 1), "dot": (1, 1)}
    pictures = {(shape, pixel): images.picture(*size, pixel)
                for shape, size in shapes.items() for pixel in TYPES}
    sources = {key: golden.input(f"{key[0]}-{key[1]}", p) for key, p in pictures.items()}

    def add(folder, case, shape, pixel, chain):
        golden.add(folder, f"{case}-{pixel}", sources[shape, pixel], pictures[shape, pixel],
                   cases.fill(chain, pixel))

    turn = 0
    for name, sets in cases.SETS.items():
        for border in oracle.BORDERS:
            for pixel in TYPES:
                add(name, border, "small", pixel, cases.with_border(name + sets[0], border, pixel))
        for number, parameters in enumerate(sets[1:], 1):
            for pixel in TYPES:
                border = oracle.BORDERS[turn % 5]
                turn += 1
                add(name, f"set{number}-{border}", "tall" if pixel == "u8" else "small", pixel,
                    cases.with_border(name + parameters, border, pixel))
        for shape in ("row", "column", "dot"):
            if name in ("normalize",) and shape == "dot":
                continue  # one pixel has no range; the unit tests cover it
            pixel = list(TYPES)[turn % 3]
            border = oracle.BORDERS[turn % 5]
            turn += 1
            add(name, f"{shape}-{border}", shape, pixel,
                cases.with_border(name + sets[0], border, pixel))
    for number, chain in enumerate(cases.CHAINS, 1):
        for pixel in TYPES:
            add("chain", f"{number:02}", "small", pixel, chain)
    add_literal(golden)
    golden.files["versions.txt"] = versions().encode()
    return golden.finish()


def add_literal(golden):
    """Cases whose input is written out in the table."""
    rows = [(f"exact-{n}", t, c, r, True) for n, t, c, r in cases.EXACT]
    rows += [(f"special-{n}", "f32", c, r, False) for n, c, r in cases.SPECIAL]
    for name, pixel, chain, values, exact in rows:
        pixels = np.array(values, TYPES[pixel])
        folder = chain.partition("=")[0].partition(":")[0]
        source = golden.input(f"{name}-{hashlib.sha256(pixels.tobytes()).hexdigest()[:6]}", pixels)
        golden.add(folder, f"{name}-{pixel}", source, pixels, chain, exact)


def versions():
    try:
        import scipy
        checked = scipy.__version__
    except ImportError:
        checked = "not there"
    return (f"python {platform.python_version()}\nnumpy {np.__version__}\n"
            f"scipy {checked} (checks the oracle)\n")


def same(path, wanted, found):
    """Pictures may differ in the last bit when another libm rounds exp or cos another way."""
    if wanted == found or not path.endswith(".pfm"):
        return wanted == found
    a, b = images.decode(wanted), images.decode(found)
    return a.shape == b.shape and np.allclose(a, b, 1e-6, 1e-6, equal_nan=True)


def folder_files():
    """What lies in the folders that this script writes."""
    found = {p for p in HERE.glob("*/*") if p.suffix in (".pgm", ".pfm")}
    return {str(p.relative_to(HERE)) for p in found}


def check(files):
    wrong = [f"{path}: not made by this script any more" for path in sorted(folder_files() - set(files))]
    for path, wanted in files.items():
        if path == "versions.txt":
            continue
        target = HERE / path
        if not target.exists():
            wrong.append(f"{path}: missing")
        elif not same(path, wanted, target.read_bytes()):
            wrong.append(f"{path}: differs from what the oracle gives")
    return wrong


def update(files):
    for path in folder_files() - set(files):
        (HERE / path).unlink()
    for path, data in files.items():
        target = HERE / path
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="rewrite the golden images")
    arguments = parser.parse_args()
    files = build()
    if arguments.update:
        update(files)
        print(f"{len(files)} files, {sum(map(len, files.values()))} bytes written")
        return 0
    wrong = check(files)
    for line in wrong:
        print(line)
    print(f"{len(files) - len(wrong)} passed, {len(wrong)} failed, 0 skipped")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
