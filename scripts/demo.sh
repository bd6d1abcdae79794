#!/bin/sh
# Build the program and filter a picture with a chain of three filters.
#
#   sh scripts/demo.sh [BUILD_DIR]
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}

sh scripts/setup.sh "$build"

chain=gaussian=2,sobel,normalize
in=$build/demo-in.png out=$build/demo-out.png
program=$build/src/cli/gpufilter
"$build/samples/make_image" "$in"
# A picture this small is done before CUDA has started; show the GPU all the same.
backend=cpu
"$program" devices --json | grep -q '"name"' && backend=cuda
set -- run -f "$chain" "$in" "$out" --backend $backend --timings --explain
echo
echo "$ gpufilter $*"
"$program" "$@"
echo
echo "Picture:  $in"
echo "Filtered: $out (on $backend)"
