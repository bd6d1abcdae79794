"""Run a gpufilter binary on arrays."""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import images

TIMEOUT_SECONDS = 120
# How much wider than the contract's the bound is that an implementation states for itself.
FACTORS = {"cuda-fft": 2.0, "cuda-tilefft": 2.0}


def factor(implementations):
    return max((FACTORS.get(name, 1.0) for name in implementations), default=1.0)


def has_fft(implementations):
    return any("fft" in name for name in implementations)


class Unusable(Exception):
    """The implementation asked for cannot do this, or the backend is not here."""


class Crash(Exception):
    """The program did not end by itself."""


@dataclass
class Program:
    path: str
    backend: str = "auto"
    impl: str = None
    work: str = None  # folder for pictures; its parts are removed after use

    def command(self, *words):
        try:
            return subprocess.run([self.path, *words], capture_output=True, timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired as late:
            raise Crash(f"no end after {TIMEOUT_SECONDS} s") from late

    def run(self, chain, pictures, as_float=False):
        """Filter named arrays with one chain. Return name → array, or name → message where the
        program wrote no result; and the names of the implementations that ran."""
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            files = {}
            for name, pixels in pictures.items():
                files[name] = f"{name}.{'pfm' if pixels.dtype == 'float32' else 'pgm'}"
                Path(folder, files[name]).write_bytes(images.encode(pixels))
            threads = 2 if max(p.size for p in pictures.values()) > 20000 else 1
            done = self.call(chain, folder, files.values(), as_float, threads)
            if done.returncode < 0:
                raise Crash(f"killed by signal {-done.returncode}")
            message = done.stderr.decode(errors="replace").strip()
            results = {name: self.result(folder, file, as_float, message)
                       for name, file in files.items()}
            # Some pictures may be too small for the chain: that is a result like any other.
            unusable = "impl '" in message or "--impl: no" in message or done.returncode == 5
            if unusable and all(isinstance(result, str) for result in results.values()):
                raise Unusable(message)
            return results, self.implementations(done.stdout)

    def call(self, chain, folder, files, as_float, threads):
        words = ["run", "-q", "--json", "-f", chain, *(str(Path(folder, f)) for f in files),
                 "-o", str(Path(folder, "out")), "--backend", self.backend,
                 "--threads", str(threads)]
        if self.impl:
            words += ["--impl", self.impl]
        if as_float:
            words += ["--format", "pfm"]
        return self.command(*words)

    @staticmethod
    def implementations(told):
        pictures = json.loads(told)["pictures"] if told else []
        return {stage["impl"] for p in pictures for stage in p.get("stages", ())}

    @staticmethod
    def result(folder, file, as_float, message):
        target = Path(folder, "out", file)
        if as_float:
            target = target.with_suffix(".pfm")
        return images.decode(target.read_bytes()) if target.exists() else message or "no result"

    def filters(self):
        """name → parameter sets, as the program lists them."""
        done = self.command("list", "--json")
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        return {f["name"]: f["cases"] for f in json.loads(done.stdout)["filters"]}
