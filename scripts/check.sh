#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# ./dev check [STEP…]: everything that is too slow for every edit. Each step is timed; its log stays in build/check/.
# shellcheck disable=SC2086  # lists of options are split on purpose
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
checks=${THALWEG_BUILD:-$root/build}/check
. "$root/scripts/build.sh"
cd "$root" || exit 1

all_steps="format lint tidy gcc clang headers small-stack asan tsan release gate fuzz"
sanitizing="-Db_lundef=false -Doptimization=1"

sources() { git ls-files --cached --others --exclude-standard -- '*.hpp' '*.cpp'; }

# build_with COMPILER NAME "MESON OPTIONS" TARGET…
build_with() {
    local compiler=$1 name=$2 options=$3
    shift 3
    (export CXX=$compiler; meson_options=(-Dwerror=true $options); build_targets "$checks/$name" "$@")
}

# test_with COMPILER NAME "MESON OPTIONS" [RUN_TESTS OPTIONS…]: without what is a step of its own
test_with() {
    local compiler=$1 name=$2 options=$3
    shift 3
    build_with "$compiler" "$name" "$options" all meson-test-prereq &&
        python3 scripts/run_tests.py --without lint --without gate "$@" "$checks/$name"
}

# What does not depend on how the programs were compiled is tried once.
same_everywhere="--without install --without compile --without docs"

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

step_gcc() { test_with g++ gcc ""; }

step_clang() { test_with clang++-19 clang "" --without install --without docs; }

step_headers() {
    build_with g++ gcc "" headers-alone && build_with clang++-19 clang "" headers-alone
}

step_small-stack() {
    test_with g++ gcc "" $same_everywhere --stack-kib 256 &&
        test_with clang++-19 clang "" $same_everywhere --stack-kib 256
}

step_asan() { test_with clang++-19 asan "-Db_sanitize=address,undefined $sanitizing" $same_everywhere; }

step_tsan() { test_with clang++-19 tsan "-Db_sanitize=thread $sanitizing" $same_everywhere; }

step_release() {
    test_with g++ release-gcc "--buildtype=release" $same_everywhere &&
        test_with clang++-19 release-clang "--buildtype=release" $same_everywhere
}

# Instructions and allocations per message, counted by valgrind.
step_gate() {
    build_with g++ release-gcc "--buildtype=release" bench/bench-merge &&
        python3 scripts/run_tests.py --suite gate "$checks/release-gcc"
}

# A minute each. What a target finds stays beside its log; the corpus is kept for the next time.
step_fuzz() {
    build_with clang++-19 fuzz "-Dfuzz=enabled -Db_sanitize=address,undefined $sanitizing" fuzz-programs || return 1
    find "$checks/fuzz/tests/fuzz" -maxdepth 1 -type f -name 'fuzz-*' -executable |
        xargs -P "$(nproc)" -n 1 "$root/scripts/fuzz_one.sh" "$checks/corpus"
}

# A step counts with each of its tests, or as one.
run_step() {
    local name=$1 log=$checks/$1.log begin=$SECONDS verdict=ok counts
    "step_$name" >"$log" 2>&1 </dev/null || verdict=FAILED
    counts=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    if [[ $counts =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        [ "$verdict" = ok ] || [ "${BASH_REMATCH[2]}" -gt 0 ] || failed=$((failed + 1))
    elif [ "$verdict" = ok ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
    [ "$verdict" = ok ] || tail -n 60 "$log"
    summary+=("$(printf '%-12s %-7s %5d s  %s' "$name" "$verdict" $((SECONDS - begin)) "$counts")")
    echo "${summary[-1]}"
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
for name in ${@:-$all_steps}; do run_step "$name"; done
echo
echo "summary ($SECONDS s, logs in $checks)"
printf '  %s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
