#!/usr/bin/env bash
# A task of campaign.sh: judges the shard of its place in the array. It continues the journal of an
# earlier task that was lost or requeued, and leaves a report only if no case is missing.
# usage: task.sh PROGRAM DIRECTORY BACKEND [CHECK-OPTION...]
set -euo pipefail
program=$1 part=$2/part-$SLURM_ARRAY_TASK_ID
shift 2
if [[ -e $part.json ]]; then exit; fi
rm -f "$part.new"
status=0
"$program" check "$@" --shard auto --resume "$part.journal" --json "$part.new" --quiet \
  --jobs "${SLURM_CPUS_ON_NODE:-1}" || status=$?
# An interrupted run writes a report, too.
grep -qs '^  "missing": 0,$' "$part.new" || exit "$status"
mv "$part.new" "$part.json"
