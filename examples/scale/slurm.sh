#!/usr/bin/env bash
#SBATCH --job-name=coax
#SBATCH --array=1-64
#SBATCH --cpus-per-task=1
#SBATCH --mem=512M
#SBATCH --time=04:00:00
#SBATCH --requeue
# One part of the captures for each task: sbatch slurm.sh CAPTURES RESULTS. Both folders must be on a shared file system.
# A task that ran again after a node failed gives the same tables; they get their names when they are complete.
set -euo pipefail
captures=$1 results=$2
mkdir -p "$results"
part=$SLURM_ARRAY_TASK_ID parts=$SLURM_ARRAY_TASK_COUNT
status=0
"${COAX:-coax}" explain "$captures" --jobs "${SLURM_CPUS_PER_TASK:-1}" --shard "$part/$parts" --parquet "$results" || status=$?
# exit code 1 with tables: some captures could not be read; the task's output names them
[ "$status" -eq 0 ] || [ -e "$results/connections-$part-of-$parts.parquet" ]
