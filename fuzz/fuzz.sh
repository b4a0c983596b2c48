#!/usr/bin/env bash
# The parts of `./dev fuzz` before and after it builds a target: reads the words, then runs it.
# usage: fuzz.sh list    fuzz.sh target|run [TARGET [--time T] [--seed N] [--merge]]
# `target` only prints the target that the words mean; both modes refuse unknown words.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "dev: $*"; }
fail() { printf '%s\n' "dev: $*" >&2; exit 2; }

# Prints every target with the first line of its source.
list_targets() {
  local source
  grep -l '^int LLVMFuzzerTestOneInput' fuzz/*.cc | while read -r source; do
    printf '  %-10s %s\n' "$(basename "$source" .cc)" "$(sed -n '1s|^// ||p' "$source")"
  done
}

# A name is a target if its source has the entry point. Searches one file: with pipefail, piping the
# whole list into `grep -q` would fail, because grep closes the pipe early.
is_target() {
  [[ $1 =~ ^[a-z_]+$ && -f fuzz/$1.cc ]] &&
    grep -q '^int LLVMFuzzerTestOneInput' "fuzz/$1.cc"
}

# Prints a time such as 30, 30s, 10m or 2h in seconds.
to_seconds() {
  [[ $1 =~ ^([0-9]{1,6})([smh]?)$ ]] || fail "'$1' is no time (30, 30s, 10m, 2h)"
  case "${BASH_REMATCH[2]}" in
    m) printf '%s' $((10#${BASH_REMATCH[1]} * 60)) ;;
    h) printf '%s' $((10#${BASH_REMATCH[1]} * 3600)) ;;
    *) printf '%s' $((10#${BASH_REMATCH[1]})) ;;
  esac
}

# Sets target, program, seconds, seed and merge.
read_words() {
  target='' seconds=60 seed=$(date +%s) merge=''
  while (($#)); do
    case "$1" in
      --time | --seed) (($# > 1)) || fail "$1 needs a value" ;;&
      --time) seconds=$(to_seconds "$2") || exit 2 && shift ;;
      --seed) [[ $2 =~ ^[0-9]{1,9}$ ]] || fail "'$2' is no seed" && seed=$2 && shift ;;
      --merge) merge=yes ;;
      -*) fail "fuzz has no option $1" ;;
      *) [[ -z $target ]] || fail "fuzz takes one target, not also $1" && target=$1 ;;
    esac
    shift
  done
  if [[ $target ]] && ! is_target "$target"; then
    fail "no fuzz target '$target' (./dev fuzz lists them)"
  fi
  program=build/fuzz/bin/fuzz_$target
}

# Sets kept, the directory of the unpacked committed inputs, and corpora: the first one receives new
# inputs, the others are only read. The canary has no kept inputs.
find_corpora() {
  local corpus
  kept=build/fuzz/kept/$target corpora=()
  mkdir -p "build/fuzz/corpus/$target"
  if [[ -f fuzz/corpus/${target}_seed_corpus.zip ]]; then
    python3 -B fuzz/corpus.py unpack fuzz/corpus "$target" "$kept"
  fi
  for corpus in "build/fuzz/corpus/$target" "$kept" "build/fuzz/material/seeds/$target"; do
    if [[ -d $corpus ]]; then corpora+=("$corpus"); fi
  done
}

# Packs the fewest inputs that reach every edge that any input reaches.
merge_corpus() {
  local log=build/fuzz/log/merge-$target.log minimal=build/fuzz/minimal/$target
  rm -rf "$minimal"
  mkdir -p "$minimal" "$kept" "${log%/*}"
  if ! "$program" -set_cover_merge=1 -use_counters=0 "$minimal" "$kept" "${corpora[@]}" \
    >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    printf '%s\n' "dev: merging failed (log: $log)" >&2
    return 1
  fi
  python3 -B fuzz/corpus.py pack fuzz/corpus "$target" "$minimal"
}

# Reads and logs libFuzzer's output, and shows its progress, at most every ten seconds.
fuzz_progress() {
  local log=$1 line next=0
  while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    if ((SECONDS < next)) || [[ ! $line =~ ^\#([0-9]+).*cov:\ ([0-9]+).*corp:\ ([0-9]+) ]]; then
      continue
    fi
    next=$((SECONDS + 10))
    say "  ${BASH_REMATCH[1]} runs, ${BASH_REMATCH[2]} edges, ${BASH_REMATCH[3]} inputs kept"
  done 3>"$log"
}

fuzz_target() {
  local log=build/fuzz/log/fuzz-$target.log findings=build/fuzz/findings/$target finding smaller
  local -a options=("-max_total_time=$seconds" "-seed=$seed" "-artifact_prefix=$findings/"
    -timeout=25 -malloc_limit_mb=512 -print_final_stats=1)
  if [[ -f build/fuzz/material/$target.dict ]]; then
    options+=("-dict=build/fuzz/material/$target.dict")
  fi
  mkdir -p "$findings" "${log%/*}"
  say "fuzzing $target for $seconds s with seed $seed (log: $log)"
  if "$program" "${options[@]}" "${corpora[@]}" 2>&1 | fuzz_progress "$log"; then
    say "nothing found: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") runs," \
      "$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log") a second"
    return
  fi
  finding=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
  if [[ -z $finding ]]; then
    tail -n 20 "$log" >&2
    printf '%s\n' "dev: the fuzzer itself failed (log: $log)" >&2
    return 1
  fi
  smaller=$findings/minimized-${finding##*/}
  if [[ $finding == */crash-* ]]; then
    say 'making the finding smaller'
    # Usually fails, since it goes on until it cannot minimize further.
    "$program" -minimize_crash=1 -max_total_time=30 "-exact_artifact_path=$smaller" "$finding" \
      >"build/fuzz/log/minimize-$target.log" 2>&1 || true
    if [[ -f $smaller ]]; then finding=$smaller; fi
  fi
  say "FOUND $finding"
  # A finding may have no such line.
  grep -m 1 -A 3 -E 'VIOLATED|ERROR: |runtime error' "$log" | sed 's/^/  /' || true
  say "replay: $program $finding"
  return 1
}

main() {
  local mode=${1:-} target program seconds seed merge kept
  local -a corpora
  (($#)) && shift
  case "$mode" in
    list)
      printf '%s\n' 'fuzz targets (./dev fuzz TARGET --time T):'
      list_targets
      ;;
    target)
      read_words "$@"
      printf '%s' "$target"
      ;;
    run)
      read_words "$@"
      build/fuzz/bin/fuzz_material conformance/models/digits build/fuzz/material
      find_corpora
      if [[ $merge ]]; then merge_corpus; else fuzz_target; fi
      ;;
    *) fail "fuzz.sh has no mode '$mode'" ;;
  esac
}

main "$@"
