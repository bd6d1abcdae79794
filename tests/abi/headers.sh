#!/bin/sh
# headers.sh INCLUDE_FLAGS HEADER... : each header compiles alone, as C11 and as C++17, with the
# compilers of CC and CXX (CXX empty: C only).
set -eu
flags=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warn='-Wall -Wextra -Wpedantic -Wshadow -Werror'
n=0
for header in "$@"; do
    name=$(basename "$header")
    for again in once twice; do
        echo "#include <gpufilter/$name>"
        test $again = twice || echo "#include <gpufilter/$name>"
    done >"$work/one.c"
    cp "$work/one.c" "$work/one.cpp"
    $CC -std=c11 $warn $flags -fsyntax-only "$work/one.c" || { echo "$name: not C11"; exit 1; }
    test -z "$CXX" || $CXX -std=c++17 $warn $flags -fsyntax-only "$work/one.cpp" ||
        { echo "$name: not C++17"; exit 1; }
    n=$((n + 1))
done
test $n -gt 0 || { echo "no headers given"; exit 1; }
echo "$n headers compile alone as C11${CXX:+ and C++17}"
