"""Run one other program's filters: gpu_peer.py PEER FOLDER SIZE CHECK SECONDS

First every way it has to do a case makes the result for check-PIXEL.raw; that also compiles what it
compiles at run time, so several programs may do it at once. Then it writes {"ready"} and waits for a
line on its input: times are taken with the GPU to itself, for so many seconds.

Writes a JSON object a line: {"peer", "version"}, then {"case", "method", "note", "ms", "runs",
"result"} for each way, where "failed" or "cut" may stand instead of the time. Exit 77: not installed.
"""
import concurrent.futures
import importlib
import json
import pathlib
import sys
import time

import numpy as np

from gpu_cases import PIXELS, cases

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


def reason(error):
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def check_all(peer, folder, size):
    """Save every way's result; (case, record, run) of each. Threads, since most of it is compiling."""
    images = {p: peer.upload(image(folder, "check", p, size)) for p in PIXELS}
    ways = [(case, *way) for pixel in PIXELS for case in cases() if case.pixel == pixel
            for way in peer.methods(case)]

    def check(numbered):
        number, (case, method, note, run) = numbered
        record = {"case": case.name, "method": method, "note": note,
                  "result": f"{peer.name}-{number}.npy"}
        try:
            np.save(folder / record["result"], peer.download(run(images[case.pixel])))
        except Exception as error:  # a way that fails is a result too
            return {"case": case.name, "method": method, "failed": reason(error)}
        return case, record, run

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        done = list(pool.map(check, enumerate(ways)))
    for failed in (d for d in done if isinstance(d, dict)):
        say(**failed)
    return [d for d in done if isinstance(d, tuple)]


def time_all(peer, folder, size, todo, seconds):
    end, pixel, images = time.monotonic() + seconds, None, []
    for case, record, run in todo:
        if time.monotonic() > end:
            say(case=record["case"], method=record["method"], cut="the program's time was spent")
            continue
        try:
            if pixel != case.pixel:
                pixel, images = case.pixel, []  # the old ones go before the new ones come
                first = peer.upload(image(folder, "time", pixel, size))
                images = [first] + [peer.copy(first) for _ in range(peer.buffers - 1)]
            ms, runs = measure(peer, run, images)
            say(**record, ms=ms, runs=runs)
        except Exception as error:
            say(case=record["case"], method=record["method"], failed=reason(error))


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    size, check, seconds = int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
    try:
        peer = importlib.import_module(f"gpu_{name}").Peer()
    except ImportError as error:
        say(skipped=f"not installed: {error}")
        sys.exit(77)
    say(peer=peer.title, version=peer.version)
    todo = check_all(peer, folder, check)
    say(ready=True)
    sys.stdin.readline()
    time_all(peer, folder, size, todo, seconds)


if __name__ == "__main__":
    main()
