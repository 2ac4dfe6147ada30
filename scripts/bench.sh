#!/bin/sh
# Builds the proxy and the program that measures it, both optimised, and runs it with the arguments given, in the root of
# the repository. Nothing else should run on the machine meanwhile.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=$(scripts/target-dir.sh release)

"$cargo" build --locked --release -p tidemark -p bench
exec "$target/bench" "$@"
