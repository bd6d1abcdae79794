"""Time this program and others on one GPU, check that they compute the same, write one table.

  python3 tests/peers/gpu_peers.py --build DIR --out DIR [--size 8192] [--seconds 40]

Writes gpu-peers.json and gpu-peers.md. What is not installed is left out, with the reason.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

try:
    import numpy as np

    from gpu_cases import PIXELS, cases, write_inputs
except ImportError as missing:
    print(f"gpu_peers: skipped: {missing}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
CHECK = 1024  # size of the image whose results are compared
PEERS = {"npp": 0.3, "cupy": 0.3, "torch": 0.15, "cvcuda": 0.1, "opencv": 0.15}  # of the seconds
READY_SECONDS = 90  # for each to compile and make its results
COPY = "scale=1"

# ---- ours -------------------------------------------------------------------------------------


def gpufilter(build, *args):
    return subprocess.run([build / "src/cli/gpufilter", *args], capture_output=True, text=True,
                          timeout=120)


def bench_pixel(build, folder, pixel, size):
    """Time our chains of one pixel type in one process, a plain copy kernel among them."""
    mine = [c for c in cases() if c.pixel == pixel]
    done = gpufilter(build, "bench", COPY, *(c.chain(folder) for c in mine), "--pixel", pixel,
                     "--size", str(size), "--backend", "cuda", "--json")
    if not done.stdout:
        sys.exit(f"gpu_peers: gpufilter bench: {done.stderr.strip()}")
    rows = json.loads(done.stdout)["results"]
    copy = min(r["ms"] * r["percent_of_copy"] / 100 for r in rows if r["ok"])
    copy = min(copy, rows[0]["ms"])
    out = {}
    for case, row in zip(mine, rows[1:]):
        out[case.name] = {"error": row["error"]} if not row["ok"] else {
            "ms": row["ms"], "impl": row["impl"], "runs": row["runs"], "copies": row["ms"] / copy}
    return out, copy


def bench_sizes(build, size):
    """Pixels a second of odd sizes and of batches in one call, over those of even images.

    The smallest share that is good enough goes with each.
    """
    shapes = [(str(size), 1, 1.0), (str(size - 1), 1, 0.85), ("1024", 64, 0.7),
              ("1920x1080", 64, 0.7), ("4096x3000", 1, 0.0), ("4097x3001", 1, 0.85)]
    beside = [0, 0, 0, 0, 4, 4]  # the shape whose rate a shape's is a share of
    chains = [("box=3", "u8"), ("gaussian=2", "u8"), ("sobel=3", "u8"), ("gaussian=5", "u8"),
              ("box=3", "f32"), ("gaussian=2", "f32")]
    out = []
    for pixel in ("u8", "f32"):
        mine = [c for c, p in chains if p == pixel]
        rates = []
        for shape, batch, _ in shapes:
            done = gpufilter(build, "bench", *mine, "--pixel", pixel, "--size", shape, "--batch",
                             str(batch), "--backend", "cuda", "--json")
            rows = json.loads(done.stdout)["results"] if done.stdout else []
            rates.append([r.get("mpix_per_s", 0.0) for r in rows] or [0.0] * len(mine))
        for i, chain in enumerate(mine):
            out += [{"chain": chain, "pixel": pixel, "size": shape, "batch": batch,
                     "mpix_per_s": rate[i], "least": least,
                     "share": rate[i] / rates[b][i] if rates[b][i] else 0.0}
                    for (shape, batch, least), rate, b in zip(shapes, rates, beside)]
    return out


def check_ours(build, folder, case):
    """Our result for the image that is compared, unrounded."""
    image = np.fromfile(folder / f"check-{case.pixel}.raw", PIXELS[case.pixel])
    image = image.reshape(CHECK, CHECK)
    source = folder / f"{case.name}.{'pfm' if case.pixel == 'f32' else 'pgm'}"
    result = folder / f"ours-{case.name}.pfm"
    if case.pixel == "f32":
        source.write_bytes(b"Pf\n%d %d\n-1\n" % image.shape + image[::-1].astype("<f4").tobytes())
    else:
        head = b"P5\n%d %d\n%d\n" % (*image.shape, 255 if case.pixel == "u8" else 65535)
        source.write_bytes(head + image.astype(">u2" if case.pixel == "u16" else "u1").tobytes())
    done = gpufilter(build, "run", "-f", case.chain(folder), source, result, "--depth", "f32",
                     "--backend", "cuda", "-q")
    if done.returncode:
        return None
    floats = np.frombuffer(result.read_bytes()[-4 * CHECK * CHECK:], "<f4")
    return floats.reshape(CHECK, CHECK)[::-1]


# ---- theirs -----------------------------------------------------------------------------------


def build_npp(folder):
    """The command that runs the NPP program, or the reason why there is none."""
    if not shutil.which("nvcc"):
        return None, "no nvcc to build it with"
    program = folder / "gpu_npp"
    done = subprocess.run(["nvcc", "-O2", HERE / "gpu_npp.c", "-o", program, "-lnppif", "-lnppc"],
                          capture_output=True, text=True)
    reason = (done.stderr.strip().splitlines() or ["nvcc failed"])[0]
    return ([program], None) if done.returncode == 0 else (None, f"not installed: {reason}")


class Peer:
    """A program that runs beside us: start() it, wait until it is ready(), then take its times()."""

    def __init__(self, name, folder, size, seconds):
        self.seconds, self.lines, self.ready, self.reader = seconds, [], threading.Event(), None
        command, reason = build_npp(folder) if name == "npp" else \
            ([sys.executable, HERE / "gpu_peer.py", name], None)
        if not command:
            self.lines.append({"skipped": reason})
            self.ready.set()
            return
        self.errors = folder / f"{name}.err"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [*command, folder, str(size), str(CHECK), str(seconds)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=errors, text=True)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            record = json.loads(line)
            if "ready" in record:
                self.ready.set()
            else:
                self.lines.append(record)
        self.ready.set()

    def records(self):
        """Let it take its times and return all it wrote."""
        if not self.reader:
            return self.lines
        if not self.ready.is_set():
            return self.end(f"not ready after {READY_SECONDS} s")
        try:
            self.process.stdin.write("go\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; its exit status is looked at below
        self.reader.join(self.seconds + 15)
        if self.reader.is_alive():
            return self.end("stopped: out of time")
        status = self.process.wait()
        if status not in (0, 77):
            text = self.errors.read_text().strip()[-200:]
            self.lines.append({"failed": f"exit {status}: {text}"})
        return self.lines

    def end(self, reason):
        self.process.kill()
        self.reader.join()
        self.lines.append({"failed": reason})
        return self.lines


def run_peers(folder, size, seconds):
    """All make their results at the same time; times are taken one program at a time."""
    peers = {name: Peer(name, folder, size, seconds * share) for name, share in PEERS.items()}
    end = time.monotonic() + READY_SECONDS
    for peer in peers.values():
        peer.ready.wait(max(0, end - time.monotonic()))
    return {name: peer.records() for name, peer in peers.items()}


def load(folder, record):
    path = folder / record["result"]
    if path.suffix == ".npy":
        return np.load(path)
    kind = np.int16 if record["pixel"] == "s16" else PIXELS[record["pixel"]]
    return np.fromfile(path, kind).reshape(CHECK, CHECK)


def compare(case, ours, folder, record):
    """Add the largest difference, in levels of 255, and whether both compute the same thing.

    Programs cut or round where we round half to even, some after each pass: two levels are allowed
    for that, and a ten-thousandth of white to floats. A threshold may fall the other way on one
    pixel in a thousand.
    """
    if ours is None:  # nothing of ours to compare with
        record.update(levels_off=0.0, same=False)
        return
    theirs, m = load(folder, record), case.margin
    level = {"u8": 1, "u16": 1, "f32": 1 / 255}[case.pixel]

    def differences(mine):
        mine = np.clip(mine, 0, 255) if theirs.dtype == np.uint8 else mine
        return np.abs(theirs.astype(np.float64) - mine)[m:-m, m:-m] / level

    difference = differences(ours.astype(np.float64))
    if case.op == "sobel-x":  # a derivative may look either way
        difference = min(difference, differences(-ours.astype(np.float64)), key=np.max)
    record["levels_off"] = float(difference.max())
    if case.op == "chain":
        record["pixels_differ"] = float((difference > 1).mean())
        record["same"] = record["pixels_differ"] < 1e-3
    else:
        record["same"] = bool(record["levels_off"] <= (0.0255 if case.pixel == "f32" else 2.01))


# ---- the table --------------------------------------------------------------------------------


def meets(case, ours):
    if "ms" not in ours:
        return False
    if case.target.endswith("x"):
        return ours["copies"] <= float(case.target[:-1])
    return ours["ms"] <= float(case.target.split()[0])


def label(record):
    notes = [record["note"]] if record["note"] else []
    if "pixels_differ" in record:
        notes.append(f"{100 * record['pixels_differ']:.3f} % of pixels differ")
    elif record["pixel_kind"] != "f32" and record["levels_off"] > 0.51:
        notes.append(f"{record['levels_off']:.1f} levels off")
    return f"{record['peer']} {record['method']}" + (f" ({', '.join(notes)})" if notes else "")


def row(case, ours, peers):
    fair = [r for r in peers if r.get("same")]
    best = min(fair, key=lambda r: r["ms"]) if fair else None
    mine = f"{ours['ms']:.3f} | {ours['copies']:.2f} | {ours['impl']}" if "ms" in ours else \
        f"{ours['error']} | – | –"
    theirs = f"{best['ms']:.3f} | {label(best)} | {best['ms'] / ours['ms']:.1f}" if best and \
        "ms" in ours else "– | – | –"
    met = "yes" if meets(case, ours) else "no"
    target = case.target.replace("x", "×")
    return f"| {case.title} {case.pixel} | {mine} | {target} | {met} | {theirs} |"


def details(peers):
    for r in peers:
        if "ms" in r:
            same = "" if r["same"] else ", **computes something else**"
            yield f"{label(r)} {r['ms']:.3f} ms{same}"
        else:
            yield f"{r['peer']} {r['method']}: " + (r.get("failed") or f"left out, {r['cut']}")


def markdown(record):
    yield f"{record['gpu']}, {record['size']}×{record['size']}, {record['date']}. Copy: " + \
        ", ".join(f"{p} {ms:.3f} ms" for p, ms in record["copy_ms"].items()) + "."
    yield ""
    yield "| case | ours, ms | × copy | with | target | met | best peer, ms | peer | peer / ours |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for c in cases():
        yield row(c, record["ours"][c.name], record["peers"].get(c.name, []))
    yield ""
    for name, text in record["programs"].items():
        yield f"- {name}: {text}"
    yield ""
    yield from sizes_table(record["sizes"])
    yield ""
    yield "All that was timed:"
    yield ""
    for c in cases():
        rest = "; ".join(details(record["peers"].get(c.name, [])))
        if rest:
            yield f"- {c.title} {c.pixel}: {rest}"


def sizes_table(sizes):
    yield "Odd sizes, and batches of 64 in one call: thousand million pixels a second, and the share of the " \
        "first; of the last size, of the one before."
    yield ""
    shapes = list(dict.fromkeys((s["size"], s["batch"]) for s in sizes))
    heads = [f"{n} × {size}" if n > 1 else size for size, n in shapes]
    yield "| chain | " + " | ".join(heads) + " |"
    yield "|---|" + "---|" * len(heads)
    for chain, pixel in dict.fromkeys((s["chain"], s["pixel"]) for s in sizes):
        mine = [s for s in sizes if (s["chain"], s["pixel"]) == (chain, pixel)]
        cells = [f"{s['mpix_per_s'] / 1e3:.0f} ({100 * s['share']:.0f} %"
                 + ("" if s["share"] >= s["least"] else f", not {100 * s['least']:.0f}") + ")"
                 for s in mine]
        yield f"| {chain} {pixel} | " + " | ".join(cells) + " |"


def gpu_name():
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        lines = subprocess.run(query, capture_output=True, text=True).stdout.splitlines()
        return "{}, driver {}".format(*lines[0].split(", "))
    except (OSError, IndexError):
        return "GPU of unknown name"


def measure(args, folder):
    write_inputs(folder, args.size, CHECK)
    record = {"date": datetime.date.today().isoformat(), "gpu": gpu_name(), "size": args.size,
              "ours": {}, "copy_ms": {}, "programs": {}, "peers": {}}
    for pixel in PIXELS:
        ours, record["copy_ms"][pixel] = bench_pixel(args.build, folder, pixel, args.size)
        record["ours"].update(ours)
    record["sizes"] = bench_sizes(args.build, args.size)
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count())) as pool:
        results = dict(zip([c.name for c in cases()],
                           pool.map(lambda c: check_ours(args.build, folder, c), cases())))
    by_name = {c.name: c for c in cases()}
    for name, (head, *rest) in run_peers(folder, args.size, args.seconds).items():
        title = head.get("peer", name)
        failed = [r["failed"] for r in [head, *rest] if "case" not in r and "failed" in r]
        record["programs"][title] = "; ".join([head.get("version") or head.get("skipped", ""), *failed])
        for r in rest:
            if "case" not in r:
                continue
            case = by_name[r["case"]]
            r.update(peer=title, pixel_kind=case.pixel)
            if "ms" in r:
                compare(case, results[case.name], folder, r)
            record["peers"].setdefault(case.name, []).append(r)
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=40, help="of the other programs' times together")
    args = parser.parse_args()
    args.build = args.build.resolve()
    with tempfile.TemporaryDirectory() as folder:
        record = measure(args, pathlib.Path(folder))
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "gpu-peers.json").write_text(json.dumps(record, indent=1) + "\n")
    (args.out / "gpu-peers.md").write_text("\n".join(markdown(record)) + "\n")
    print((args.out / "gpu-peers.md").read_text())


if __name__ == "__main__":
    main()
