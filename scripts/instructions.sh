#!/bin/sh
# How many instructions parts of the road of a statement take, each against its limit: a regression shows on any machine,
# however busy. Exit code 1: one is over its limit.
#
# The limits stand a fifth above what was counted last, with Rust 1.97: another compiler counts a little differently. Who makes
# something cheaper lowers its limit.
set -eu
cd "$(dirname "$0")/.."

LIMITS="
classify-point   2300
classify-join    8850
classify-insert  4550
classify-update  2700
classify-begin    700
walk-row         1300
walk-row-eof     1600
walk-100-rows    4550
"

cargo build --locked --quiet --release -p counted
counted=$(scripts/target-dir.sh release)/counted

# collected WORK TIMES
collected() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$counted" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p'
}

failed=
while read -r work limit; do
    [ -n "$work" ] || continue
    each=$((($(collected "$work" 2000) - $(collected "$work" 1000)) / 1000))
    if [ "$each" -gt "$limit" ]; then
        failed=yes
        over="over the limit of $limit"
    else
        over="of $limit"
    fi
    printf 'instructions: %-16s %6d %s\n' "$work" "$each" "$over"
done <<LIST
$LIMITS
LIST
[ -z "$failed" ] || {
    echo "instructions: valgrind --tool=callgrind with $counted WORK 100000, and callgrind_annotate, show where they went" >&2
    exit 1
}
