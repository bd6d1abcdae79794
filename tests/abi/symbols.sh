#!/bin/sh
# symbols.sh NM LIBRARY LIST: the library exports what LIST says, no more and no less.
set -eu
nm=$1 library=$2 list=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$nm" -D --defined-only "$library" | awk '$2 ~ /^[TDBRVWGSuw]$/ { print $3 }' | sort >"$work/have"
grep -v '^#' "$list" | sort >"$work/want"
test -s "$work/have" || { echo "no symbols found in $library"; exit 1; }
if diff "$work/want" "$work/have" >"$work/diff"; then
    echo "$(wc -l <"$work/have") exported symbols, as listed"
else
    echo "exported symbols differ from $list (<: only in the list, >: only in the library):"
    grep '^[<>]' "$work/diff"
    exit 1
fi
