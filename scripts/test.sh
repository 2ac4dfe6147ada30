#!/bin/sh
# Runs every test, a few at a time: most of them wait for servers, of which a test may start three. The runners print their
# totals last.
#
# The proxy's integration tests run under cargo's own runner, since the tests of a program share its clusters; all others
# run under cargo-nextest where it is installed, one process each and with bounded times (.config/nextest.toml).
set -eu
cd "$(dirname "$0")/.."

failed=
# A run that hangs is ended; the limit is far above what the tests need.
bounded() { timeout --foreground --kill-after=10 2400 "$@" || failed=yes; }

if cargo nextest --version >/dev/null 2>&1; then
    bounded cargo nextest run --locked --workspace -E 'not (package(tidemark) & kind(test))'
    set --
    for file in proxy/tests/*.rs; do set -- "$@" --test "$(basename "$file" .rs)"; done
    bounded cargo test --locked --workspace --no-fail-fast "$@" -- --test-threads=3
    bounded cargo test --locked --workspace --doc --quiet
else
    bounded cargo test --locked --workspace --no-fail-fast -- --test-threads=3
fi
if command -v valgrind >/dev/null 2>&1; then bounded scripts/instructions.sh; fi
[ -z "$failed" ]
