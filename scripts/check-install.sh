#!/bin/sh
# Install a build into a scratch folder, as a packager would, and build and run the samples against it.
#
#   sh scripts/check-install.sh BUILD_DIR
set -eu
cd "$(dirname "$0")/.."
build=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root meson install -C "$build" --no-rebuild --quiet
prefix=$root/usr/local
lib=$(dirname "$(find "$prefix" -name libgpufilter.so)")
for f in "$lib/libgpufilter.a" "$lib/libgpufilter.so.0" "$lib/pkgconfig/gpufilter.pc" \
  "$prefix/bin/gpufilter" "$prefix/include/gpufilter/gpufilter.h" "$prefix/share/man/man1/gpufilter.1"; do
  [ -e "$f" ] || {
    echo "not installed: ${f#"$root"}" >&2
    exit 1
  }
done
cp -r samples "$root/samples"
export PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib"
make -s -C "$root/samples"
cd "$root/samples"
./make_image in.png 300 200
./apply gaussian=2,sobel,normalize in.png out.png
./sequence box=5 3 in.png twice.png
"$prefix/bin/gpufilter" info out.png twice.png
