#!/bin/sh
# Build and run the tests. The last line reads "N passed, N failed, N skipped".
#
#   sh scripts/test.sh          one gcc build: unit, golden, command line, gfcheck, emulator
#   sh scripts/test.sh --all    the whole matrix: compilers, sanitizers, with and without CUDA and
#                               codecs, comparison with scipy, install and samples
#
# GPUFILTER_PNGSUITE may name a folder with PngSuite; tests that use it are skipped without it.
set -eu
cd "$(dirname "$0")/.."
results=$(mktemp) log=$(mktemp)
trap 'rm -f "$results" "$log"' EXIT

if [ -z "${GPUFILTER_PNGSUITE:-}" ]; then
  for d in ../*/corpora/pngsuite; do
    [ ! -d "$d/primary" ] || GPUFILTER_PNGSUITE=$(cd "$d" && pwd)
  done
fi
[ -z "${GPUFILTER_PNGSUITE:-}" ] || export GPUFILTER_PNGSUITE

# note NAME passed|failed|skipped [COUNT]
note() { echo "$1 $2 ${3:-1}" >>"$results"; }

# step NAME COMMAND…: run; counts what the command's closing line counts, else one
step() {
  name=$1 status=0 failed=0
  shift
  echo "== $name"
  "$@" >"$log" 2>&1 || status=$?
  tail -n 5 "$log"
  totals=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1 | tr -dc '0-9 ')
  if [ -n "$totals" ]; then
    # shellcheck disable=SC2086 # three numbers
    set -- $totals
    note "$name" passed "$1" && note "$name" failed "$2" && note "$name" skipped "$3"
    failed=$2
  elif [ $status = 0 ]; then
    note "$name" passed
  fi
  if [ $status != 0 ] && [ "$failed" = 0 ]; then
    echo "FAILED: $name" >&2
    note "$name" failed
  fi
}

# tests BUILD_DIR [MESON_TEST_OPTION…]: run registered tests and count what they count
tests() {
  dir=$1
  shift
  echo "== tests in $dir"
  meson test -C "$dir" --no-rebuild --print-errorlogs "$@" || true
  python3 scripts/count_results.py "$dir/meson-logs/testlog.json" "$dir" >>"$results"
}

# matrix BUILD_DIR COMPILER 'MESON_OPTIONS' [MESON_TEST_OPTION…]
matrix() {
  dir=$1 compiler=$2 options=$3
  shift 3
  echo "== build in $dir ($compiler $options)"
  # shellcheck disable=SC2086 # options are words
  if CC=$compiler sh scripts/setup.sh --tests "$dir" -Dwerror=true $options >"$dir.log" 2>&1; then
    note "$dir" passed
    rm -f "$dir.log"
    tests "$dir" "$@"
  else
    tail -n 40 "$dir.log"
    note "$dir" failed
  fi
}

run_all() {
  export EXTRA_PACKAGES="clang libomp-dev python3-numpy python3-scipy python3-pil make"
  matrix build-all gcc ''
  cuda=enabled
  if ! grep -q "CUDA.*for sm" build-all/meson-logs/meson-log.txt 2>/dev/null &&
    ! command -v nvcc >/dev/null 2>&1 && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    cuda=disabled
    echo "no nvcc: builds with CUDA are skipped"
    note 'cuda builds' skipped 2
  fi
  [ $cuda = disabled ] || matrix build-clang clang '-Dcuda=enabled -Demulator=false' --no-suite long
  matrix build-nocuda clang '-Dcuda=disabled -Demulator=false' --no-suite long
  matrix build-asan gcc '-Dcuda=disabled -Demulator=false -Dclones=false -Db_sanitize=address,undefined -Db_lundef=false' \
    --no-suite long
  matrix build-bare gcc '-Dcuda=disabled -Demulator=false -Dstb=disabled -Dpng=disabled -Djpeg=disabled
    -Ddeflate=disabled -Dopenmp=disabled' --no-suite long --no-suite cli # they use PNG
  if [ -n "${GPUFILTER_PNGSUITE:-}" ]; then
    step 'PngSuite against another decoder' /usr/bin/python3 tests/golden/gen/check_png.py \
      build-all/libgpufilter.so "$GPUFILTER_PNGSUITE/primary" "$GPUFILTER_PNGSUITE/16bit" \
      "$GPUFILTER_PNGSUITE/corrupt"
  else
    note 'PngSuite against another decoder' skipped
  fi
  step 'comparison with scipy' /usr/bin/python3 tests/golden/gen/compare.py build-all/src/cli/gpufilter
  step 'install and samples' sh scripts/check-install.sh build-all
}

if [ "${1:-}" = --all ]; then
  run_all
else
  sh scripts/setup.sh --tests build
  # short: a part of what the long gfcheck does; matrix: only in the whole matrix
  tests build --no-suite short --no-suite matrix
fi

awk '{ n[$(NF - 1)] += $NF }
  END { printf "%d passed, %d failed, %d skipped\n", n["passed"], n["failed"], n["skipped"]; exit n["failed"] > 0 || !n["passed"] }' \
  "$results"
