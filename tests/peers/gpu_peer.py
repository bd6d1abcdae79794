"""Time one other program's filters: gpu_peer.py PEER FOLDER SIZE CHECK SECONDS

Writes a JSON object a line: {"peer", "version"} first, then {"case", "method", "note", "ms", "runs",
"result"} for each way the program has to do a case, or {"case", "method", "cut"} once the seconds
are spent. A result is the raw image that came of check-PIXEL.raw. Exit 77: not installed.
"""
import importlib
import json
import pathlib
import sys
import time

import numpy as np

from gpu_cases import PIXELS, cases

BUFFERS = 8  # a cache must not hold the picture from one run to the next
MOST_RUNS, ENOUGH_MS = 20, 150


def image(folder, kind, pixel, size):
    return np.fromfile(folder / f"{kind}-{pixel}.raw", PIXELS[pixel]).reshape(size, size)


def say(**record):
    print(json.dumps(record), flush=True)


def measure(peer, run, images):
    """The median of the runs' times on the images in turn, the first run left out."""
    first = peer.times(run, images[:1])[0]
    n = int(max(1, min(MOST_RUNS, ENOUGH_MS / max(first, 1e-3))))
    if first > 4 * ENOUGH_MS:
        return first, 1  # the first run too is long enough to count
    return float(np.median(peer.times(run, [images[i % len(images)] for i in range(n)]))), n


def do_case(peer, case, folder, sizes, images):
    for method, note, run in peer.methods(case):
        try:
            check = peer.upload(image(folder, "check", case.pixel, sizes["check"]))
            result = f"{peer.name}-{case.name}-{method}.npy".replace(" ", "_").replace("/", "_")
            np.save(folder / result, peer.download(run(check)))
            if case.pixel not in images:
                first = peer.upload(image(folder, "time", case.pixel, sizes["time"]))
                images[case.pixel] = [first] + [peer.copy(first) for _ in range(peer.buffers - 1)]
            ms, runs = measure(peer, run, images[case.pixel])
        except Exception as error:  # one method that fails is a result too
            reason = str(error).strip().splitlines() or [type(error).__name__]
            say(case=case.name, method=method, failed=reason[0][:200])
            continue
        say(case=case.name, method=method, note=note, ms=ms, runs=runs, result=result)


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    sizes = {"time": int(sys.argv[3]), "check": int(sys.argv[4])}
    end = time.monotonic() + float(sys.argv[5])
    try:
        peer = importlib.import_module(f"gpu_{name}").Peer()
    except ImportError as error:
        say(skipped=f"not installed: {error}")
        sys.exit(77)
    say(peer=peer.title, version=peer.version)
    images = {}
    for case in sorted(cases(), key=lambda c: list(PIXELS).index(c.pixel)):
        if time.monotonic() > end:
            for method, _, _ in peer.methods(case):
                say(case=case.name, method=method, cut="the peer's seconds were spent")
            continue
        for pixel in [p for p in images if p != case.pixel]:
            del images[pixel]
        do_case(peer, case, folder, sizes, images)


if __name__ == "__main__":
    main()
