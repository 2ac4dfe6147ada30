#!/bin/sh
# Runs every test, with cargo-nextest where it is installed (.config/nextest.toml bounds each test's time), else with
# cargo's own runner. Both print their totals last.
set -eu
cd "$(dirname "$0")/.."

if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --locked --workspace
    # The examples in the documentation, which nextest does not run.
    exec cargo test --locked --workspace --doc --quiet
fi
# Two tests at a time: each may start three servers.
exec cargo test --locked --workspace -- --test-threads=2
