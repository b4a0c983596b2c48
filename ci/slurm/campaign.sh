#!/usr/bin/env bash
# A campaign on a cluster: each task of a Slurm array judges one shard of a case set. Shards whose
# task was lost are submitted again and continue from their journals; at the end the reports are
# merged. The same command continues an interrupted campaign.
set -euo pipefail

usage() {
  cat >&2 <<'TEXT'
usage: campaign.sh TASKS DIRECTORY [SBATCH-OPTION...] -- BACKEND [CHECK-OPTION...]
Example: ci/slurm/campaign.sh 64 ~/mine --partition=cpu --time=1:00:00 -- ./mine.so --tier 2
DIRECTORY, which all nodes see, keeps journals, logs and reports; report.json is that of the whole.
Exit status: that of the verdict; 2 usage, 3 there are parts that no task finishes.
TEXT
  exit 2
}

say() { printf 'campaign: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 2
}

# Whether a task of the array is left; also true if Slurm's controller does not answer.
in_queue() {
  local said
  said=$(squeue --noheader --jobs="$job" --format=%i 2>&1) || [[ $said != *'Invalid job id'* ]] ||
    return 1
  [[ -n $said ]]
}

# The progress of all tasks: the number of lines in the journals, plus one for each report.
found() {
  find "$directory" -name '*.journal' -exec cat {} + -o -name 'part-*.json' -print | wc -l
}

# The numbers of the shards without a report.
left() {
  local part
  for ((part = 1; part <= tasks; ++part)); do
    [[ -e $directory/part-$part.json ]] || printf '%s ' "$part"
  done
}

# put BACKEND [CHECK-OPTION...]: submits an array and waits for its end. The array has a task for
# every shard, finished or not, because a task computes its shard from the size of the array.
put() {
  job=$(sbatch --parsable --job-name=lockstep --array="1-$tasks" --requeue --open-mode=append \
    --output="$directory/part-%a.log" "${slurm[@]}" \
    "$here/task.sh" "$program" "$directory" "$@") || fail 'sbatch has refused the array'
  trap 'say "cancelling job $job"; scancel "$job"; exit 3' INT TERM
  printf '%s\n' "$job" >"$directory/job"
  say "job $job judges parts $(left)of $tasks"
  while in_queue; do
    sleep "${LOCKSTEP_INTERVAL:-10}" &
    wait $!
  done
}

if (($# < 4)) || [[ ! $1 =~ ^[1-9][0-9]{0,5}$ ]]; then usage; fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tasks=$1
mkdir -p "$2" || exit 2
directory=$(cd "$2" && pwd)
shift 2
slurm=()
while (($#)) && [[ $1 != -- ]]; do
  slurm+=("$1")
  shift
done
if (($# < 2)); then usage; fi
shift
program=$(command -v lockstep) || fail 'there is no lockstep on the PATH'

if [[ -e $directory/job ]]; then
  job=$(<"$directory/job")
  if in_queue; then fail "job $job of this campaign is in the queue: wait, or scancel $job"; fi
fi

# Keep the journals, from which the reports are made again; they know the backend and the results.
rm -f "$directory"/{part-*.json,report.json}
while [[ -n $(left) ]]; do
  before=$(found)
  put "$@"
  if [[ -n $(left) && $(found) == "$before" ]]; then
    read -r part _ <<<"$(left)"
    say "parts $(left)of $tasks do not go on; $directory/part-$part.log ends:"
    tail -n 5 "$directory/part-$part.log" >&2 || true
    exit 3
  fi
done
"$program" report merge "$directory"/part-*.json --output "$directory/report.json"
