#!/bin/sh
# Prints the directory that holds what cargo builds with the profile named.
set -eu
profile=$1
[ "$profile" != dev ] || profile=debug
cd "$(dirname "$0")/.."
target=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
echo "$target/$profile"
