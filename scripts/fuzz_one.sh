#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# fuzz_one.sh CORPUS PROGRAM: one fuzz target for FUZZ_SECONDS (60), starting from its seeds and what it learned before.
set -euo pipefail

name=$(basename "$2")
seeds=$(dirname "${BASH_SOURCE[0]}")/../tests/fuzz/corpus/${name#fuzz-}
corpus=$1/$name
mkdir -p "$corpus"
[ -d "$seeds" ] || seeds=
log=$corpus.log
if "$2" -max_total_time="${FUZZ_SECONDS:-60}" -rss_limit_mb=2048 -timeout=10 -artifact_prefix="$corpus." \
    "$corpus" ${seeds:+"$seeds"} >"$log" 2>&1; then
    echo "$name: $(grep -E '^Done ' "$log")"
else
    tail -n 40 "$log"
    echo "$name: FAILED, the input lies beside $log"
    exit 1
fi
