#!/bin/sh
# Everything that needs a GPU, in one command: golden images, gfcheck on the device, compute-sanitizer,
# benchmark. Writes one JSON record with what passed, what was cut for time, and the figures.
#
#   sh scripts/gpu-check.sh [OUT_DIR] [--build DIR] [--budget SECONDS] [--size N] [--peers]
#
# OUT_DIR (default docs/performance) gets gpu-check.json and a log of each stage. Nothing is built:
# `ninja -C build` comes first. Stages end with their share of the budget (default 480 s).
# --peers also times other programs beside ours (tests/peers, at most 260 s more): their table is
# gpu-peers.md and part of the record.
set -eu
cd "$(dirname "$0")/.."

out=docs/performance build=build budget=480 size=8192 peers=no
while [ $# -gt 0 ]; do
  case $1 in
  --build) build=$2 && shift ;;
  --budget) budget=$2 && shift ;;
  --size) size=$2 && shift ;;
  --peers) peers=yes ;;
  -*) echo "gpu-check: unknown option '$1'" >&2 && exit 2 ;;
  *) out=$1 ;;
  esac
  shift
done
mkdir -p "$out"
gfcheck=$build/tests/gfcheck/gfcheck
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# share PERCENT: that part of the budget in seconds
share() { echo $((budget * $1 / 100)); }

# stage NAME SECONDS COMMAND…: run, log, note exit status (124: cut for time) and wall time
stage() {
  name=$1 seconds=$2
  shift 2
  echo "== $name (at most $seconds s)"
  begin=$(date +%s)
  status=0
  timeout "$seconds" "$@" >"$out/$name.log" 2>&1 || status=$?
  tail -n 1 "$out/$name.log"
  echo "$name $status $(($(date +%s) - begin))" >>"$work/stages"
}

sanitize() {
  tool=$1 seconds=$(share 10)
  if ! command -v compute-sanitizer >/dev/null 2>&1; then
    echo "sanitizer-$tool missing 0" >>"$work/stages"
    return
  fi
  stage "sanitizer-$tool" $((seconds + 60)) compute-sanitizer --tool "$tool" --error-exitcode 9 \
    "$gfcheck" --draws --backend cuda --case-ms 1 --budget "$seconds"
}

"$build/src/cli/gpufilter" devices --json >"$work/devices.json"
export CK_FORK=no # a forked child cannot use the parent's CUDA
quick=
[ "$budget" -ge 300 ] || quick=--quick # fewer corner cases
stage golden $(($(share 5) + 40)) "$build/tests/golden/test_golden" tests/golden "$out/failures"
stage plan $(($(share 5) + 160)) "$build/tests/unit/test_plan"
# shellcheck disable=SC2086 # a word or nothing
stage gfcheck $(($(share 20) + 90)) "$gfcheck" --backend cuda $quick --budget "$(share 20)"
# shellcheck disable=SC2086
stage bench $(($(share 30) + 60)) "$gfcheck" --bench --backend cuda $quick \
  --budget "$(share 30)" --size "$size" --json "$work/bench.json"
if [ $peers = yes ]; then
  stage peers 260 python3 tests/peers/gpu_peers.py --build "$build" --out "$work" --size "$size"
fi
sanitize memcheck
sanitize racecheck
sanitize initcheck

hash=$(find kernels src/backend/cuda src/core src/filters -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16)
python3 scripts/gpu_record.py "$work" "$out" "$hash"
