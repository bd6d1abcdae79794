"""Put the stages of gpu-check.sh together into one JSON record, and say how they went."""
import datetime
import json
import pathlib
import re
import shutil
import subprocess
import sys

TOTALS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)
CHECK = re.compile(r"^(\d+)%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", re.M)
SANITIZER = re.compile(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard")


def stage(line, out):
    name, status, seconds = line.split()
    if status == "missing":
        return name, {"result": "skipped: compute-sanitizer is not installed"}
    text = (out / f"{name}.log").read_text(errors="replace")
    record = {"result": {"0": "passed", "77": "skipped", "124": "cut for time"}.get(status, "failed"),
              "seconds": int(seconds)}
    if totals := TOTALS.findall(text):
        record.update(zip(("passed", "failed", "skipped"), map(int, totals[-1])))
    elif check := CHECK.findall(text):
        failed = sum(int(f) + int(e) for _, _, f, e in check)
        record.update(passed=sum(int(n) for _, n, _, _ in check) - failed, failed=failed)
    if errors := SANITIZER.findall(text):
        record["sanitizer_errors"] = sum(int(a or b) for a, b in errors)
    return name, record


def driver():
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def main():
    work, out, digest = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    stages = dict(stage(line, out) for line in (work / "stages").read_text().splitlines())
    bench, peers = work / "bench.json", work / "gpu-peers.json"
    record = {
        "date": datetime.date.today().isoformat(),
        "sources": digest,
        "driver": driver(),
        "cuda": json.loads((work / "devices.json").read_text()),
        "stages": stages,
        "bench": json.loads(bench.read_text()) if bench.exists() else None,
        "peers": json.loads(peers.read_text()) if peers.exists() else None,
    }
    if peers.exists():
        shutil.copy(peers.with_suffix(".md"), out)
    (out / "gpu-check.json").write_text(json.dumps(record, indent=1) + "\n")
    for name, s in stages.items():
        print(f"{name:22} {json.dumps(s)}")
    good = all(s["result"] in ("passed", "cut for time") or s["result"].startswith("skipped")
               for s in stages.values())
    good = good and not any(s.get("failed") or s.get("sanitizer_errors") for s in stages.values())
    sys.exit(0 if good else 1)


main()
