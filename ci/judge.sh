#!/usr/bin/env bash
# What action.yml runs, and any other CI system can: judges $LOCKSTEP_BACKEND, leaves the reports
# in $LOCKSTEP_REPORTS and ends with the exit code of `lockstep check`. Where files of GitHub are
# named, for outputs and for the page of the run, it fills them.
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
# All lines of them; read ends with 1, for there is no end to be read to.
read -r -d '' -a words <<<"${LOCKSTEP_ARGUMENTS:-}" || true

mkdir -p "$reports" || exit 2
rm -f "$reports"/{report.json,junit.xml,summary.txt}
status=0
"$program" check "$LOCKSTEP_BACKEND" --tier "${LOCKSTEP_TIER:-1}" "${words[@]}" \
  --json "$reports/report.json" --junit "$reports/junit.xml" | tee "$reports/summary.txt" ||
  status=$?

# A run that could not begin leaves no report, and its status says why.
verdict=$(sed -n 's/^ "verdict": "\([A-Z]*\)",$/\1/p' "$reports/report.json" 2>/dev/null || true)
if [[ -n ${GITHUB_OUTPUT:-} ]]; then
  printf 'verdict=%s\nexit=%s\n' "$verdict" "$status" >>"$GITHUB_OUTPUT"
fi
if [[ -n ${GITHUB_STEP_SUMMARY:-} ]]; then
  # Indented text is shown as it is, whatever a backend's own words contain.
  {
    printf '## Lockstep: %s\n\n' "${verdict:-no verdict}"
    sed 's/^/    /' "$reports/summary.txt"
  } >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
