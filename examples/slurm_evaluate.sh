#!/bin/sh
# A tournament as a job array of Slurm: 100 jobs share it out, and a last one puts the parts together.
#
#   sbatch examples/slurm_evaluate.sh
#   JOBS=30 sbatch --array=1-30 examples/slurm_evaluate.sh     another number of jobs: both numbers are set
#
# A job that ended early is run again by its number (sbatch --array=17 …): what is finished is not played again. Slurm cancels
# the last job where another one failed; then put the parts together by hand: sh examples/slurm_evaluate.sh report
#SBATCH --job-name=nainjaune
#SBATCH --array=1-100
#SBATCH --cpus-per-task=4
#SBATCH --time=01:00:00
set -eu

OUT=${OUT:-results/tournament} # on a file system that all nodes share
JOBS=${JOBS:-100}
AGENTS=${AGENTS:-"zoo:strong@search=50 zoo:strong closer"}
DEALS=${DEALS:-1000000}

evaluate() {
  # shellcheck disable=SC2086 # names of agents have no spaces
  nainjaune evaluate --agents $AGENTS --preset djeco --players 4 --deals "$DEALS" --seed 1 --chunk 64 --out "$OUT" "$@"
}

if [ "${1:-play}" = report ]; then
  evaluate --only-read
  exit
fi
if [ "${SLURM_ARRAY_TASK_ID:-1}" = 1 ] && command -v sbatch > /dev/null; then
  sbatch --array=0 --dependency="afterok:${SLURM_ARRAY_JOB_ID}" "$0" report
fi
evaluate --workers "${SLURM_CPUS_PER_TASK:-1}" --shard "${SLURM_ARRAY_TASK_ID:-1}/$JOBS"
