#!/bin/sh
# Install what is missing, configure and build. Other scripts begin with this one.
#
#   sh scripts/setup.sh [--tests] [BUILD_DIR [MESON_OPTION…]]
#
# Without --tests only the program and the samples are built.
set -eu
cd "$(dirname "$0")/.."

need_tests=no
if [ "${1:-}" = --tests ]; then
  need_tests=yes
  shift
fi
build=${1:-build}
[ $# -eq 0 ] || shift

packages="gcc libc6-dev meson ninja-build pkg-config python3 libstb-dev libjpeg62-turbo-dev libpng-dev
  libdeflate-dev check"
[ $need_tests = no ] || packages="$packages g++ ${EXTRA_PACKAGES:-}"

# Print those of the packages that are not installed.
missing_packages() {
  command -v dpkg-query >/dev/null 2>&1 || return 0
  for p in $packages; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$p"
  done
}

install_packages() {
  missing=$(missing_packages)
  [ -n "$missing" ] || return 0
  as=
  if [ "$(id -u)" != 0 ]; then
    if sudo -n true 2>/dev/null; then
      as=sudo
    else
      echo "These packages are missing; install them and run this again:" >&2
      echo "  sudo apt-get update && sudo apt-get install -y $missing" >&2
      exit 1
    fi
  fi
  echo "Installing $missing"
  $as apt-get update -qq
  # shellcheck disable=SC2086 # a list of words
  DEBIAN_FRONTEND=noninteractive $as apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# Configure once; a folder left behind by a failed attempt is set up again.
configure() {
  if [ -f "$build/build.ninja" ]; then
    [ $# -eq 0 ] || meson configure "$build" "$@"
  else
    meson setup "$build" "$@"
  fi
}

install_packages
configure "$@"
if [ $need_tests = yes ]; then
  ninja -C "$build"
else
  ninja -C "$build" src/cli/gpufilter samples/make_image
fi
