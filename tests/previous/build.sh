#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the program of the version before this one from the history of the repository. Does nothing if it is built already.
# Usage: tests/previous/build.sh OUT     makes OUT/source (all files of that version), OUT/build/sandgate and OUT/image-root
# tests/previous/commit names the version. Exit status 77: the history lacks it, so that the tests which need it are skipped.
set -euo pipefail
SKIPPED=77
FETCH_SECONDS=60

if [ $# -ne 1 ]; then
    echo "usage: tests/previous/build.sh OUT" >&2
    exit 2
fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
commit=$(<tests/previous/commit)

exec 9>"$out/lock"
flock 9 # one build at a time
[ ! -e "$out/built" ] || [ "$(<"$out/built")" != "$commit" ] || exit 0

has_commit() {
    git cat-file -e "$commit^{commit}" 2>/dev/null
}
has_commit || GIT_TERMINAL_PROMPT=0 timeout "$FETCH_SECONDS" git fetch --quiet --depth 1 origin "$commit" </dev/null 2>/dev/null || true
if ! has_commit; then
    echo "previous: the tests with the previous version are skipped: this history lacks commit $commit;" \
        "git fetch --depth 1 origin $commit gets it" >&2
    exit "$SKIPPED"
fi

# The files before the mark, so that a build that was interrupted is not taken for a complete one.
rm -rf "$out/built" "$out/source" "$out/build"
mkdir "$out/source"
git archive "$commit" | tar -x -C "$out/source"
if [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=Ninja
fi
if [ -z "${CMAKE_C_COMPILER_LAUNCHER:-}" ] && command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache
fi
{
    cmake -S "$out/source" -B "$out/build" -DCMAKE_BUILD_TYPE=Release -DSANDGATE_TESTS=OFF
    cmake --build "$out/build" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}"
    "$out/source/webhook/image-root" "$out/build/sandgate" "$out/image-root"
} >"$out/log" 2>&1 || {
    tail -n 20 "$out/log" >&2
    echo "previous: the program of commit $commit could not be built: $out/log" >&2
    exit 1
}
echo "$commit" >"$out/built"
