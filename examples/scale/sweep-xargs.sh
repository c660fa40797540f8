#!/usr/bin/env bash
# Runs a sweep in parts and puts the parts together: sweep-xargs.sh RESULTS PARTS SCENARIO OPTIONS...
# For --sample saltelli:N, it also computes the sensitivity indices of the whole sweep.
set -euo pipefail
results=$1 parts=$2
shift 2
mkdir -p "$results"
export results parts coax=${COAX:-coax}

part() {
    local number=$1
    shift
    [ -e "$results/part-$number.csv" ] && return
    "$coax" lab sweep "$@" --threads 1 --shard "$number/$parts" --csv "$results/part-$number.csv" >"$results/$number.log" 2>&1
}
export -f part
seq "$parts" | xargs -P "${PROCESSES:-$(nproc)}" -I{} bash -euc 'part "$@"' part {} "$@"
# parts are consecutive points: in their order they are the table of the whole sweep
head -n 1 "$results/part-1.csv" >"$results/all.csv.part"
for number in $(seq "$parts"); do tail -n +2 "$results/part-$number.csv"; done >>"$results/all.csv.part"
mv "$results/all.csv.part" "$results/all.csv"
