#!/bin/sh
# Time the CPU backend beside OpenCV and libvips, whichever is installed, and print a table.
#
#   sh scripts/cpu-peers.sh [BUILD_DIR [OPTION…]]      options: see tests/peers/cpu_peers.py --help
#
# Debian's packages: python3-numpy python3-opencv libvips42. Exit status 77: no peer is installed.
set -eu
cd "$(dirname "$0")/.."

build=${1:-build}
[ $# -eq 0 ] || shift
lib=$build/libgpufilter.so
if [ ! -e "$lib" ]; then
  echo "$lib is not there; build first: sh scripts/setup.sh $build" >&2
  exit 1
fi
# Debian's modules belong to Debian's Python, which need not be the first one.
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
  echo "skipped: $python has no numpy (Debian: python3-numpy)" >&2
  exit 77
fi
exec "$python" tests/peers/cpu_peers.py --lib "$lib" "$@"
