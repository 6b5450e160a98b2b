# SPDX-License-Identifier: BSL-1.0
# Configuring and building. Sourced by dev and check.sh; everything is said on standard error, because standard output
# belongs to the program that is run afterwards.

# Test programs are built on a precompiled header, which ccache reuses only when told so.
export CCACHE_SLOPPINESS=pch_defines,time_macros

# configure DIR [MESON OPTIONS…]: sets DIR up unless it is. Another CC, CXX or other options than last time start anew.
configure() {
    local dir=$1 log wanted
    shift
    wanted="CC=${CC:-} CXX=${CXX:-} $*"
    if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/.configured" 2>/dev/null)" = "$wanted" ]; then
        return 0
    fi
    echo "dev: configuring $dir" >&2
    log=$(mktemp)
    local again=()
    [ ! -d "$dir/meson-private" ] || again=(--wipe)
    mkdir -p "$dir"
    if ! with_compiler_cache meson setup ${again[@]+"${again[@]}"} "$dir" "$root" "$@" </dev/null >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        echo "dev: meson could not configure $dir" >&2
        return 1
    fi
    rm -f "$log"
    echo "$wanted" >"$dir/.configured"
}

# Meson puts ccache before the compiler that it finds, but not before one that is given.
with_compiler_cache() {
    if [ -n "${CXX:-}" ] && [ "${CXX#* }" = "$CXX" ] && command -v ccache >/dev/null; then
        CXX="ccache $CXX" "$@"
    else
        "$@"
    fi
}

# Options that a build directory is made with; whoever builds another kind sets them. The environment may add some.
meson_options=()

# build_targets DIR TARGET…: one at a time per directory, since ninja does not lock.
build_targets() {
    local dir=$1
    shift
    mkdir -p "$(dirname "$dir")"
    (
        flock 9
        configure "$dir" ${meson_options[@]+"${meson_options[@]}"} ${THALWEG_MESON_OPTIONS:-} || exit 1
        # Every line of progress is for a terminal; a log gets what went wrong.
        local quiet=()
        if [ ! -t 2 ]; then
            quiet=(--quiet)
        elif ninja -C "$dir" -n "$@" </dev/null 2>/dev/null | grep -q '^ninja: no work to do'; then
            exit 0 # nothing to say about that
        fi
        ninja -C "$dir" ${quiet[@]+"${quiet[@]}"} ${JOBS:+-j "$JOBS"} "$@" </dev/null >&2
    ) 9>"$dir.lock"
}

build_program() {
    need build
    build_targets "$debug_build" cli/thalweg
}
