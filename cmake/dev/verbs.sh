#!/usr/bin/env bash
# Runs verbs of ./dev for real, in their cheapest forms, starting from a fresh clone.
# cmake/dev/test_dev.py runs the others without building. `test` and `lint` are separate runs, and
# `gpu` needs a device. The last line counts what passed and what failed.
# usage: verbs.sh [WORD...]      only the commands that contain one of the words
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
log=build/release/log/verbs.txt passed=0 failed=0 only=("$@")

# chosen COMMAND
chosen() {
  local word
  for word in "${only[@]}"; do if [[ $1 == *"$word"* ]]; then return; fi; done
  ((${#only[@]} == 0))
}

# expect STATUS TEXT WORD...: ./dev WORD... ends with the status and says the text.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  if ! chosen "$*"; then return; fi
  mkdir -p "${log%/*}"
  ./dev "$@" </dev/null >"$log.now" 2>&1 || status=$?
  if [[ $status == "$wanted" ]] && grep -qF -e "$text" "$log.now"; then
    passed=$((passed + 1))
    printf '%4d s  ok      ./dev %s\n' "$SECONDS" "$*"
  else
    failed=$((failed + 1))
    printf '%4d s  FAILED  ./dev %s: status %s, not %s with "%s"\n' \
      "$SECONDS" "$*" "$status" "$wanted" "$text"
    tail -n 40 "$log.now"
  fi
  cat "$log.now" >>"$log"
}

expect 0 'built build/release/bin/lockstep' build
expect 0 'exit 0 (pass)' check
expect 0 'elemwise_add' bench elemwise_add --min-time 0.001
mapfile -t targets < <(fuzz/fuzz.sh list | sed -n 's/^  \([a-z_]*\) .*/\1/p')
expect 0 'fuzz targets' fuzz
for target in "${targets[@]}"; do
  if [[ $target != canary ]]; then
    expect 0 'nothing found: ' fuzz "$target" --time 5s --seed 1
  fi
done
# Each mistake is hidden behind four bytes, so this takes only a few seconds.
expect 1 'FOUND ' fuzz canary --time 2m --seed 1
expect 0 'the site is ' docs
expect 0 'the wheel is ' wheel
printf '%s\n' "$passed passed, $failed failed"
((passed && !failed))
