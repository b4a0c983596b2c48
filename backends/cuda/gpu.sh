#!/usr/bin/env bash
# The second half of `./dev gpu`, after the build: fills a folder with the files that a machine with
# a GPU needs, or judges the CUDA backend on such a machine with only that folder.
# usage: gpu.sh kit BUILD KIT    gpu.sh run KIT OUT
set -euo pipefail

readonly KIT_MIB_MAX=60

say() { printf '%s\n' "gpu: $*"; }
fail() { printf '%s\n' "gpu: $*" >&2; exit 2; }

# ---- the kit --------------------------------------------------------------------------------

# Prints the shared libraries of a program that a minimal system may lack.
carried_libraries() {
  ldd "$1" | awk '$2 == "=>" { print $3 }' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux[^/]*)\.so'
}

# Makes the kit. The folder appears only when it is complete.
make_kit() {
  local build=$1 kit=$2 part=$2.part library mib
  rm -rf "$kit" "$part"
  mkdir -p "$part"/{bin,lib/lockstep,share,tests}
  cp "$build/bin/lockstep" "$part/bin/"
  cp "$build"/lib/lockstep/{{cuda,cpu,reference}.so,backend-host} "$part/lib/lockstep/"
  cp "$build/tests/cuda_overrun.so" "$part/tests/"
  cp -rL "$build/share/lockstep" "$part/share/"
  find "$part/share" \( -name '*.py' -o -name __pycache__ \) -prune -exec rm -r {} +
  while read -r library; do
    cp -L "$library" "$part/lib/"
  done < <(carried_libraries "$part/bin/lockstep")
  find "$part" \( -name '*.so*' -o -name lockstep -o -name backend-host \) -type f \
    -exec strip --strip-unneeded {} +
  {
    printf 'commit %s\n' "$(git rev-parse HEAD 2>/dev/null || echo unknown)"
    "$part/bin/lockstep" --version
    sed -n 's/^CMAKE_CUDA_ARCHITECTURES:STRING=/architectures /p' "$build/CMakeCache.txt"
    sed -n 's/^set(CMAKE_CUDA_COMPILER_VERSION "\(.*\)")/nvcc \1/p' \
      "$build"/CMakeFiles/*/CMakeCUDACompiler.cmake
  } >"$part/kit.txt"
  mib=$(($(du -sk "$part" | cut -f1) / 1024 + 1))
  ((mib <= KIT_MIB_MAX)) || fail "$part takes $mib MiB, more than $KIT_MIB_MAX"
  mv "$part" "$kit"
  say "$kit is ready ($mib MiB); carry it to a machine with a GPU and run ./dev gpu there"
}

# ---- a run ----------------------------------------------------------------------------------

# The report's rows as parallel arrays: step, state (passed, failed, not run), seconds, remark.
names=() states=() seconds=() words=()

row() {
  names+=("$1") states+=("$2") seconds+=("$3") words+=("$4")
  printf '%-8s %-28s %4s s  %s\n' "$2" "$1" "$3" "$4"
}

# step SECONDS FILE COMMAND...: runs a command with a time limit and its output in a file; sets
# `status` and `took`, the time.
status=0 took=0
step() {
  local limit=$1 file=$2 begin=$SECONDS
  shift 2
  status=0
  timeout -k 5 "$limit" "$@" >"$file" 2>&1 || status=$?
  took=$((SECONDS - begin))
}

# A status in words.
ended() {
  if (($1 == 124 || $1 == 137)); then echo 'stopped at its time limit'; else echo "exit $1"; fi
}

# judged NAME FILE WORDS: adds the row of the step that has just run. Without WORDS the step left no
# result and has failed.
judged() {
  if ((status == 0)) && [[ -n $3 ]]; then row "$1" passed "$took" "$3"; else
    row "$1" failed "$took" "$(ended "$status"): $(tail -n 1 "$2")"
  fi
}

# field FILE KEY: prints a text or number of a flat JSON file; nothing if the key is absent.
field() {
  [[ -f $1 ]] || return 0
  sed -n "s/^ *\"$2\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p" "$1" | sed -n 1p
}

check_tier() {
  step 220 "$out/check.txt" "$lockstep" check cuda --tier 1 --jobs 4 --timeout 20 \
    --start-timeout 60 --json "$out/check.json"
  local verdict cases
  verdict=$(field "$out/check.json" verdict)
  cases=$(field "$out/check.json" executed)
  judged 'check cuda, tier 1' "$out/check.txt" "${verdict:+$verdict, $cases cases}"
}

check_blocks() {
  step 60 "$out/blocks.txt" "$lockstep" check cuda --tier 0 --jobs 4 --timeout 20 \
    --start-timeout 60 --set block=32 --set tuned=0 --quiet \
    --property matches_reference,writes_in_bounds,layout,compiled
  judged 'check cuda, blocks of 32' "$out/blocks.txt" 'tier 0, the generic kernels'
  rm -f "$out/blocks.txt"
}

# model BACKEND: runs the digits model and notes its digest.
model() {
  step 60 "$out/model_$1.txt" "$lockstep" model check "$kit/share/lockstep/models/digits" \
    --backend "$1" --timeout 20 --quiet --json "$out/model_$1.json"
  local digest
  digest=$(field "$out/model_$1.json" digest)
  judged "digits model on $1" "$out/model_$1.txt" "${digest:+digest $digest}"
  rm -f "$out/model_$1.txt"
}

same_digests() {
  local ours theirs
  ours=$(field "$out/model_cuda.json" digest)
  theirs=$(field "$out/model_cpu.json" digest)
  if [[ -n $ours && $ours == "$theirs" ]]; then
    row 'digests of cuda and cpu' passed 0 equal
  else
    row 'digests of cuda and cpu' failed 0 "cuda '$ours', cpu '$theirs'"
  fi
}

# The networks that run at their full size on both backends.
readonly NETWORKS=(resnet18 mobilenetv2)

# network NAME: makes it and compares every byte of its outputs on cuda and on cpu.
network() {
  local file=$out/network.txt folder=$out/network backend equal=''
  rm -rf "$folder"
  step 20 "$file" "$lockstep" model make "$1" "$folder"
  for backend in cpu cuda; do
    if ((status == 0)); then
      step 30 "$file" "$lockstep" model run "$folder" --input "$folder/input.bin" \
        --backend "$backend" --output "$folder/$backend.bin" --quiet
    fi
  done
  if ((status == 0)) && cmp "$folder/cpu.bin" "$folder/cuda.bin" >"$file" 2>&1; then
    equal="$(wc -c <"$folder/cuda.bin") bytes equal"
  fi
  judged "$1 on cuda as on cpu" "$file" "$equal"
  rm -rf "$folder" "$file"
}

find_sanitizer() {
  command -v compute-sanitizer ||
    find /usr/local/cuda*/bin /usr/local/cuda*/compute-sanitizer /opt/nvidia \
      -name compute-sanitizer -type f -perm -u+x -print -quit 2>/dev/null
}

# sanitized LIMIT FILE COMMAND...: runs a command and all its child processes under memcheck.
sanitized() {
  local limit=$1 file=$2
  shift 2
  step "$limit" "$file" "$sanitizer" --tool memcheck --target-processes all \
    --print-limit 20 "$@" --jobs 1 --timeout 60 --start-timeout 120 --no-shrink
}

readonly FINDING='^=========.*(Invalid|Misaligned|out of bounds|Program hit)'

# Runs memcheck, which must first find the planted error: otherwise a clean run proves nothing.
memcheck() {
  local sanitizer log=$out/memcheck.log reason=''
  sanitizer=$(find_sanitizer)
  if [[ -z $sanitizer ]]; then
    reason='there is no compute-sanitizer'
  else
    sanitized 60 "$log" "$lockstep" check "$kit/tests/cuda_overrun.so" --op relu --tier 0 --budget 3
    if grep -q 'not supported' "$log"; then reason=$(grep -m1 'not supported' "$log"); fi
  fi
  if [[ -n $reason ]]; then
    row 'memcheck finds a planted overrun' 'not run' "$took" "$reason"
    row 'memcheck, tier 0' 'not run' 0 "$reason"
    return
  fi
  if grep -qE "$FINDING" "$log"; then
    row 'memcheck finds a planted overrun' passed "$took" "$(grep -m1 -E "$FINDING" "$log")"
  else
    row 'memcheck finds a planted overrun' failed "$took" "$(ended "$status"), nothing found"
  fi
  sanitized 150 "$log" "$lockstep" check cuda --tier 0
  if grep -qE "$FINDING" "$log"; then
    row 'memcheck, tier 0' failed "$took" "$(grep -m1 -E "$FINDING" "$log")"
  else
    judged 'memcheck, tier 0' "$log" 'no finding'
  fi
  truncate -s '<8M' "$log"
}

# Judges the backend on the GPU, or notes why there is none.
judge_device() {
  check_tier
  check_blocks
  model cuda
  same_digests
  local name
  for name in "${NETWORKS[@]}"; do network "$name"; done
  memcheck
}

no_device() {
  local name
  for name in 'check cuda, tier 1' 'check cuda, blocks of 32' 'digits model on cuda' \
    'digests of cuda and cpu' "${NETWORKS[@]/%/ on cuda as on cpu}" \
    'memcheck finds a planted overrun' 'memcheck, tier 0'; do
    row "$name" 'not run' 0 "$1"
  done
}

# ---- the report -----------------------------------------------------------------------------

# Prints a text as a JSON string; control characters become spaces.
json_text() {
  local text=${1//[[:cntrl:]]/ }
  text=${text//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}

facts() {
  printf '%s\n' "date $(date -u +%FT%TZ)" "machine $(uname -sm), $(nproc) processors"
  cat "$kit/kit.txt"
  # Notes the GPU in the report; whether it works is judged by the rows.
  if command -v nvidia-smi >/dev/null; then
    nvidia-smi --query-gpu=name,driver_version,compute_cap,memory.total --format=csv,noheader \
      2>/dev/null | sed 's/^/card /' || true
  fi
}

report_json() {
  local i separator='' fact
  printf '{\n "verdict": %s,\n "facts": [' "$(json_text "$1")"
  while read -r fact; do
    printf '%s\n  %s' "$separator" "$(json_text "$fact")"
    separator=,
  done <"$out/facts.txt"
  printf '\n ],\n "rows": ['
  separator=
  for i in "${!names[@]}"; do
    printf '%s\n  {"name": %s, "state": %s, "seconds": %s, "text": %s}' "$separator" \
      "$(json_text "${names[i]}")" "$(json_text "${states[i]}")" "${seconds[i]}" \
      "$(json_text "${words[i]}")"
    separator=,
  done
  printf '\n ]\n}\n'
}

report_markdown() {
  local i
  printf '# The CUDA backend on a device: %s\n\n' "$1"
  sed 's/^/* /' "$out/facts.txt"
  printf '\n| what | how it ended | seconds | |\n|---|---|---|---|\n'
  for i in "${!names[@]}"; do
    printf '| %s | %s | %s | %s |\n' "${names[i]}" "${states[i]}" "${seconds[i]}" \
      "${words[i]//|/\\|}"
  done
}

# The exit status: 0 all passed, 1 something failed, 2 something was not run.
conclude() {
  local state verdict=passed code=0
  for state in "${states[@]}"; do
    if [[ $state == failed ]]; then verdict=failed code=1; fi
    if [[ $state == 'not run' && $code == 0 ]]; then verdict='not run' code=2; fi
  done
  facts >"$out/facts.txt"
  report_json "$verdict" >"$out/gpu.json"
  report_markdown "$verdict" >"$out/gpu.md"
  rm "$out/facts.txt"
  say "$verdict: ${#names[@]} rows in $SECONDS s, report in $out/gpu.md" | tee "$out/summary.txt"
  return "$code"
}

run_kit() {
  kit=$1 out=$2 lockstep=$1/bin/lockstep
  mkdir -p "$out"
  rm -f "$out"/{gpu.json,gpu.md,summary.txt,check.{json,txt},memcheck.log,model_c{pu,uda}.json}
  local doctor line
  if ! doctor=$("$lockstep" doctor 2>&1); then
    fail "the kit does not work on this machine: $(tail -n 3 <<<"$doctor" | paste -sd ' ' -)"
  fi
  # Without such a line, the next check fails.
  line=$(grep -F ' backend cuda ' <<<"$doctor" || true)
  [[ -n $line ]] || fail "the kit in $kit has no CUDA backend"
  model cpu
  if [[ $line == *'cannot run here'* ]]; then
    say "no GPU can be used here: ${line##*open() failed: }"
    no_device "${line##*open() failed: }"
  else
    judge_device
  fi
  conclude
}

case "${1:-}" in
  kit) make_kit "$2" "$3" ;;
  run) run_kit "$2" "$3" ;;
  *) fail 'usage: gpu.sh kit BUILD KIT | gpu.sh run KIT OUT' ;;
esac
