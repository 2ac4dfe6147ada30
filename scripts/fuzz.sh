#!/bin/sh
# Runs every fuzz target for FUZZ_SECONDS (60), one after the other, or only those named; fails when one finds something.
# What was found lies under fuzz/artifacts, and the inputs that led to new paths under fuzz/corpus.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}

cargo fuzz --version >/dev/null 2>&1 || cargo install --locked --quiet cargo-fuzz
# The coverage flags are not stable yet. There is no unsafe code whose mistakes a sanitizer would find, and without one the
# targets run several times as fast.
export RUSTC_BOOTSTRAP=1
fuzz() { command=$1; shift; cargo fuzz "$command" --sanitizer none "$@"; }

[ $# -gt 0 ] || set -- $(cd fuzz/fuzz_targets && ls -- *.rs | sed 's/\.rs$//')
fuzz build
failed=
for target in "$@"; do
    log=$(mktemp)
    # An input may take five seconds and 512 MiB: far more than any should.
    if fuzz run "$target" -- -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -max_len=4096 \
        >"$log" 2>&1; then
        echo "fuzz: $target ok, $(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\).*/\1 inputs in \2 s/p' "$log")"
    else
        failed="$failed $target"
        tail -n 40 "$log" >&2
        echo "fuzz: $target FAILED" >&2
    fi
    rm -f "$log"
done
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }
