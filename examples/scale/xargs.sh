#!/usr/bin/env bash
# Explains all captures below a folder in parts, each by a process of its own: xargs.sh CAPTURES RESULTS PARTS [PROCESSES]
# A part that is done has its table under its final name, so a second run goes on where the first one ended.
set -euo pipefail
captures=$1 results=$2 parts=$3 processes=${4:-$(nproc)}
mkdir -p "$results"
export captures results parts coax=${COAX:-coax}

part() {
    local done="$results/connections-$1-of-$parts.parquet"
    [ -e "$done" ] && return
    # exit code 1: some captures could not be read, which the log names; the tables are complete all the same
    "$coax" explain "$captures" --jobs 1 --shard "$1/$parts" --parquet "$results" >"$results/$1.log" 2>&1 || [ -e "$done" ]
}
export -f part
seq "$parts" | xargs -P "$processes" -I{} bash -euc 'part {}'
