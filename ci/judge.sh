#!/usr/bin/env bash
# Judges $LOCKSTEP_BACKEND, writes the reports to $LOCKSTEP_REPORTS and ends with the exit code of
# `lockstep check`. action.yml runs it, and any other CI system can. If the environment names
# GitHub's files for outputs and for the page of the run, it writes to them.
set -euo pipefail

if [[ -z ${LOCKSTEP_BACKEND:-} ]]; then
  printf '%s\n' 'LOCKSTEP_BACKEND is not set: the backend to judge' >&2
  exit 2
fi
reports=${LOCKSTEP_REPORTS:-lockstep-reports}
program=lockstep
if [[ -n ${LOCKSTEP_PACKAGE:-} ]]; then
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
  tar -xzf "$LOCKSTEP_PACKAGE" -C "$place" --strip-components=1 || exit 2
  program=$place/bin/lockstep
fi
# Reads the words of all lines; read returns 1 because it finds no delimiter.
read -r -d '' -a words <<<"${LOCKSTEP_ARGUMENTS:-}" || true

mkdir -p "$reports" || exit 2
rm -f "$reports"/{report.json,junit.xml,summary.txt}
status=0
"$program" check "$LOCKSTEP_BACKEND" --tier "${LOCKSTEP_TIER:-1}" "${words[@]}" \
  --json "$reports/report.json" --junit "$reports/junit.xml" | tee "$reports/summary.txt" ||
  status=$?

# A run that could not begin leaves no report; its status says why.
verdict=$(sed -n 's/^ "verdict": "\([A-Z]*\)",$/\1/p' "$reports/report.json" 2>/dev/null || true)
if [[ -n ${GITHUB_OUTPUT:-} ]]; then
  printf 'verdict=%s\nexit=%s\n' "$verdict" "$status" >>"$GITHUB_OUTPUT"
fi
if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
  # Indented text is shown verbatim, whatever a backend's texts contain.
  {
    printf '## Lockstep: %s\n\n' "${verdict:-no verdict}"
    sed 's/^/    /' "$reports/summary.txt"
  } >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
