#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# ./dev check [STEP…]: everything that is too slow for every edit. Each step is timed; its log stays in build/check/.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
checks=${THALWEG_BUILD:-$root/build}/check
. "$root/scripts/build.sh"
cd "$root" || exit 1

all_steps="format lint tidy gcc clang headers small-stack asan tsan release fuzz"
sanitizing="-Db_lundef=false -Doptimization=1"

sources() { git ls-files --cached --others --exclude-standard -- '*.hpp' '*.cpp'; }

# build_with COMPILER NAME "MESON OPTIONS" TARGET…
build_with() {
    local compiler=$1 name=$2 options=$3
    shift 3
    # shellcheck disable=SC2086
    (export CXX=$compiler; meson_options=(-Dwerror=true $options); build_targets "$checks/$name" "$@")
}

# test_with COMPILER NAME "MESON OPTIONS" [RUN_TESTS OPTIONS…]
test_with() {
    local compiler=$1 name=$2 options=$3
    shift 3
    build_with "$compiler" "$name" "$options" all meson-test-prereq &&
        python3 scripts/run_tests.py --suite unit --suite conformance --suite fixtures --suite examples "$@" "$checks/$name"
}

step_format() { sources | xargs clang-format-19 --dry-run -Werror; }

step_lint() {
    build_with clang++-19 clang "" build.ninja &&
        python3 tests/lint/snippets_test.py && python3 scripts/lint_coroutines.py --ours --build "$checks/clang"
}

step_tidy() {
    build_with clang++-19 clang "" build.ninja &&
        sources | grep -E '^(lib/thalweg|providers|environments|cli)/.*\.cpp$' |
        xargs -P "$(nproc)" -n 1 clang-tidy-19 -p "$checks/clang" --quiet
}

step_gcc() { test_with g++ gcc "" --suite compile --suite install; }

step_clang() { test_with clang++-19 clang "" --suite compile; }

step_headers() {
    build_with g++ gcc "" headers-alone && build_with clang++-19 clang "" headers-alone
}

step_small-stack() {
    test_with g++ gcc "" --stack-kib 256 && test_with clang++-19 clang "" --stack-kib 256
}

step_asan() { test_with clang++-19 asan "-Db_sanitize=address,undefined $sanitizing"; }

step_tsan() { test_with clang++-19 tsan "-Db_sanitize=thread $sanitizing"; }

step_release() {
    test_with g++ release-gcc "--buildtype=release" && test_with clang++-19 release-clang "--buildtype=release"
}

# A minute each. What a target finds stays beside its log; the corpus is kept for the next time.
step_fuzz() {
    build_with clang++-19 fuzz "-Dfuzz=enabled -Db_sanitize=address,undefined $sanitizing" fuzz-programs || return 1
    find "$checks/fuzz/tests/fuzz" -maxdepth 1 -type f -name 'fuzz-*' -executable |
        xargs -P "$(nproc)" -n 1 "$root/scripts/fuzz_one.sh" "$checks/corpus"
}

run_step() {
    local name=$1 log=$checks/$1.log begin=$SECONDS verdict=ok
    "step_$name" >"$log" 2>&1 </dev/null || verdict=FAILED
    local last
    last=$(grep -E '^[0-9]+ (passed|files), ' "$log" | tail -n 1)
    [ "$verdict" = ok ] || tail -n 40 "$log"
    summary+=("$(printf '%-12s %-7s %5d s  %s' "$name" "$verdict" $((SECONDS - begin)) "$last")")
    echo "${summary[-1]}"
    [ "$verdict" = ok ] && passed=$((passed + 1)) || failed=$((failed + 1))
}

if [ "${1:-}" = --list ]; then
    echo "$all_steps"
    exit 0
fi
for name in "$@"; do
    case " $all_steps " in
    *" $name "*) ;;
    *)
        echo "dev: unknown step '$name'; there is: $all_steps" >&2
        exit 2
        ;;
    esac
done
mkdir -p "$checks"
summary=()
passed=0
failed=0
# shellcheck disable=SC2086
for name in ${@:-$all_steps}; do run_step "$name"; done
echo
echo "summary ($SECONDS s, logs in $checks)"
printf '  %s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
