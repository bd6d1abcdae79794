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
"$build/samples/make_image" "$in"
echo
echo "$ gpufilter run -f \"$chain\" $in $out --timings --explain"
"$build/src/cli/gpufilter" run -f "$chain" "$in" "$out" --timings --explain
echo
echo "Picture:  $in"
echo "Filtered: $out"
