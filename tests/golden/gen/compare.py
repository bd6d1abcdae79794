#!/usr/bin/env python3
"""Compare a gpufilter binary with the float64 oracle, within the numbers contract.

    compare.py path/to/gpufilter [--backend cpu|cuda] [--impl NAME] [--quick [N]] [--seed N]

Runs every filter x border x pixel type with the parameter sets of cases.py and of the program's own
list, on sizes from 1x1 to larger than any kernel, integers both rounded and as floats; chains; and
traps 1 to 11 and 20 to 22. The closing line counts pictures. Cases that the implementation asked
for cannot do, or that need a GPU where there is none, are counted as skipped."""

import argparse
import collections
import itertools
import multiprocessing
import os
import random
import sys
import tempfile

try:
    import numpy as np
    import scipy  # noqa: F401  (check_oracle needs it)
except ImportError as missing:
    print(f"skipped: {missing}\n0 passed, 0 failed, 1 skipped")
    sys.exit(0)

import cases
import check_oracle
import images
import oracle
import traps
from program import Crash, Program, Unusable, factor, has_fft

SIZES = ((1, 1), (1, 17), (19, 1), (2, 2), (3, 5), (13, 19), (37, 23), (61, 67), (128, 33))

# One call of the program: a chain on several pictures. kind: "oracle", "trap" or "two backends".
Job = collections.namedtuple("Job", "kind chain pictures as_float expected number")


# ---- what to run --------------------------------------------------------------------------------

def pictures(sizes, pixel):
    return {f"{h}x{w}": ("picture", h, w, pixel) for h, w in sizes}


def oracle_jobs(chain, pixel, sizes=SIZES, number=0):
    for as_float in (False, True) if pixel != "f32" else (False,):
        yield Job("oracle", chain, pictures(sizes, pixel), as_float, None, number)


def matrix(program):
    """Every filter x border x pixel type x parameter set, and the chains."""
    own_sets = program.filters()
    missing = sorted(set(own_sets) ^ set(oracle.FILTERS))
    if missing:
        raise SystemExit(f"filters that only one of program and oracle has: {', '.join(missing)}")
    for name, sets in cases.SETS.items():
        stages = [name + s for s in sets] + [f"{name}:{s}" if s else name for s in own_sets[name]]
        for stage, border, pixel in itertools.product(dict.fromkeys(stages), oracle.BORDERS, traps.TYPES):
            yield from oracle_jobs(cases.with_border(cases.fill(stage, pixel), border, pixel), pixel)
    # Rounding decides whether a chain's result on a handful of pixels has a range to normalize.
    sizes = [size for size in SIZES if size[0] * size[1] > 10]
    for chain, pixel in itertools.product(cases.CHAINS, traps.TYPES):
        yield from oracle_jobs(cases.fill(chain, pixel), pixel, sizes)


def literal_traps():
    for number, trap in traps.TRAPS.items():
        for chain, pixels, expected, as_float in trap():
            yield Job("trap", chain, {"trap": pixels}, as_float, expected, number)


def other_traps():
    """20: both backends agree; 21: every width; 22: windows far larger than tiny images."""
    yield Job("two backends", "gaussian=0.5", pictures([(480, 640)], "u8"), False, None, 20)
    yield from oracle_jobs("gaussian=0.5", "u8", [(480, 640)], 20)
    widths = [(3, w) for w in range(1, 301)]
    for chain, pixel in itertools.product(("gaussian", "sobel", "laplacian", "scale=0.5:3"), traps.TYPES):
        yield Job("oracle", chain, pictures(widths, pixel), False, None, 21)
    tiny = list(itertools.product(range(1, 7), range(1, 7)))
    for radius, border in itertools.product(range(1, 51), oracle.BORDERS):
        pixel = list(traps.TYPES)[radius % 3]
        for chain in (f"box={2 * radius + 1}", f"gaussian={radius / 2 + 0.5}:radius={radius}"):
            yield Job("oracle", f"{chain}:border={border}", pictures(tiny, pixel), False, None, 22)


# ---- running it ---------------------------------------------------------------------------------

_program = None  # each worker's own


def start(program):
    global _program
    _program = program


def make(picture):
    return images.picture(*picture[1:]) if isinstance(picture, tuple) else picture


def run_job(job):
    """Return (passed, [failures], [reasons for skipping])."""
    inputs = {name: make(p) for name, p in job.pictures.items()}
    try:
        if job.kind == "two backends":
            return two_backends(job, inputs)
        results, used = _program.run(job.chain, inputs, job.as_float)
    except Unusable as why:
        return 0, [], [str(why)] * len(inputs)
    except Crash as why:
        return 0, [f"{job.chain[:200]} on {', '.join(inputs)[:100]}: {why}"], []
    passed, failures = 0, []
    for name, pixels in inputs.items():
        wrong = judge(job, pixels, results[name], used)
        if wrong:
            pixel = traps.pixel_name(pixels)
            to = "f32" if job.as_float else pixel
            trap = f"trap {job.number}: " if job.number else ""
            failures.append(f"{trap}{job.chain[:200]} on {name} {pixel} to {to}: {wrong}")
        else:
            passed += 1
    return passed, failures, []


def judge(job, pixels, actual, used):
    if job.kind == "trap":
        return actual if isinstance(actual, str) else trap_differs(job, actual, used)
    pixel = traps.pixel_name(pixels)
    try:
        expected = oracle.run(job.chain, pixels, pixel)
    except ValueError as refused:
        polite = isinstance(actual, str) and "error: " in actual
        return None if polite else f"is not refused, but {refused}"
    if isinstance(actual, str):
        return actual
    return oracle.judge(actual, expected, "f32" if job.as_float else pixel, factor(used),
                        has_fft(used))


def trap_differs(job, actual, used):
    """An FFT rounds where the direct sum is exact."""
    return traps.differs(actual, job.expected, factor(used), exact=not has_fft(used))


def two_backends(job, inputs):
    """CPU and CUDA may differ by one level, where the value is near a tie; the comparison of each
    with the oracle says where. Here the two meet directly."""
    name, pixels = next(iter(inputs.items()))
    cpu, cuda = (Program(_program.path, b, work=_program.work).run(job.chain, inputs)[0][name]
                 for b in ("cpu", "cuda"))
    for result in (cpu, cuda):
        if isinstance(result, str):
            return 0, [f"trap {job.number}: {result}"], []
    off = np.abs(cpu.astype(int) - cuda.astype(int))
    if off.max() <= 1 and (off > 0).mean() < 1e-3:
        return 1, [], []
    return 0, [f"trap {job.number}: {job.chain}: backends differ by {off.max()}, "
               f"in {(off > 0).sum()} of {off.size} pixels"], []


def run_all(program, jobs, workers):
    passed, failures, skipped = 0, [], collections.Counter()
    with multiprocessing.Pool(workers, start, (program,)) as pool:
        for good, bad, why in pool.imap_unordered(run_job, jobs, 8):
            passed += good
            skipped.update(why)
            for line in bad[:2] if len(failures) < 200 else []:
                print("FAIL", line, flush=True)
            failures += bad
    return passed, failures, skipped


def choose(jobs, quick, seed):
    if quick is None or quick >= len(jobs):
        return jobs
    print(f"a random {quick} of {len(jobs)} jobs, --seed {seed}")
    return random.Random(seed).sample(jobs, quick)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the gpufilter binary")
    parser.add_argument("--backend", default="cpu", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--impl", help="force an implementation; what it cannot do is skipped")
    parser.add_argument("--quick", nargs="?", type=int, const=400, metavar="N",
                        help="only a random N jobs (400)")
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    parser.add_argument("--workers", type=int, default=2)
    a = parser.parse_args()
    passed, failures = check_oracle.check()
    for line in failures:
        print("FAIL oracle:", line)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of tiny files
    with tempfile.TemporaryDirectory(prefix="gf-compare-", dir=memory) as work:
        program = Program(a.program, a.backend, a.impl, work)
        jobs = [*matrix(program), *literal_traps(), *other_traps()]
        good, bad, skipped = run_all(program, choose(jobs, a.quick, a.seed), a.workers)
    for why, count in skipped.most_common(10):
        print(f"skipped {count}: {why.splitlines()[0][:160]}")
    n_failed = len(failures) + len(bad)
    print(f"{passed + good} passed, {n_failed} failed, {sum(skipped.values())} skipped")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
