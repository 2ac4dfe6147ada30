#!/bin/sh
# Builds the checker, the proxy as it is, and once more with the feature by which it can be told to leave out a rule of the
# levels; then runs the checker with the arguments given. Its exit code: 0 every promise was kept, 1 one was broken or a
# broken build was not caught, 2 the checker could not do its work.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=$(scripts/target-dir.sh release)

# Both together, so that what they share is built once. Last the program as it is: what lies in the target directory
# afterwards keeps every promise.
"$cargo" build --locked --release -p tidemark -p prove --features tidemark/sabotage
cp -f "$target/tidemark" "$target/tidemark-sabotaged"
"$cargo" build --locked --release -p tidemark -p prove
exec "$target/prove" --proxy "$target/tidemark" --sabotaged "$target/tidemark-sabotaged" --measure "$@"
