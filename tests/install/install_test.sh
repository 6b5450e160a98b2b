#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# install_test.sh BUILD SOURCE COMPILER…: installs BUILD into a folder of its own and builds outside.cpp against it
# through pkg-config; then builds it in a project that has SOURCE as a subproject. Both programs must run.
set -euo pipefail

build=$1
source=$2
shift 2
compiler=("$@")
here=$source/tests/install
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

expect() {
    local said
    said=$("$@")
    [ "$said" = "from outside" ] || { echo "$1 says '$said'"; exit 1; }
}

echo "-- installed tree"
DESTDIR=$work/tree meson install -C "$build" --no-rebuild --quiet
pc=$(find "$work/tree" -name thalweg.pc)
[ -n "$pc" ] || { echo "no thalweg.pc was installed"; exit 1; }
prefix=$work/tree$(sed -n 's/^prefix=//p' "$pc")
flags() { PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-variable=prefix="$prefix" "$@" thalweg; }
# shellcheck disable=SC2046
"${compiler[@]}" -std=c++20 -Wall -Wextra -Werror "$here/outside.cpp" $(flags --cflags --libs) -o "$work/installed"
expect "$work/installed"
if [ -x "$build/cli/thalweg" ]; then
    "$prefix/bin/thalweg" --version
fi

echo "-- subproject"
outer=$build/install-test # kept, so that the next run compiles only what has changed
mkdir -p "$outer/subprojects"
ln -sfn "$source" "$outer/subprojects/thalweg"
cp -p "$here/outside.cpp" "$outer/"
cat >"$work/meson.build" <<'MESON'
project('outer', 'cpp', default_options: ['cpp_std=c++20'])
executable('outside', 'outside.cpp', dependencies: dependency('thalweg', fallback: 'thalweg'))
MESON
cmp -s "$work/meson.build" "$outer/meson.build" || cp "$work/meson.build" "$outer/"
[ -f "$outer/build/build.ninja" ] || CXX="${compiler[*]}" meson setup "$outer/build" "$outer" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
ninja -C "$outer/build" >"$work/log" 2>&1 || { tail -n 30 "$work/log"; exit 1; }
expect "$outer/build/outside"
programs=$(find "$outer/build" -type f -executable ! -name '*.so' -path '*subprojects*')
[ -z "$programs" ] || { echo "a subproject builds programs that nobody asked for: $programs"; exit 1; }
echo "2 passed, 0 failed"
