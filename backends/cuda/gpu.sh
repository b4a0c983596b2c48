#!/usr/bin/env bash
# The second half of `./dev gpu`, after the build: fills a folder with the files that a machine with
# a GPU needs, or judges the CUDA backend on such a machine with only that folder.
# usage: gpu.sh kit BUILD KIT    gpu.sh run KIT OUT
set -euo pipefail

readonly KIT_MIB_MAX=60
# Seconds of a run. Each step has a limit of its own; tier 2 takes what they leave.
readonly RUN_S=${LOCKSTEP_GPU_SECONDS:-450}

say() { printf '%s\n' "gpu: $*"; }
fail() { printf '%s\n' "gpu: $*" >&2; exit 2; }

# ---- the kit --------------------------------------------------------------------------------

# Prints the shared libraries of a program that a minimal system may lack.
carried_libraries() {
  ldd "$1" | awk '$2 == "=>" { print $3 }' |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux[^/]*)\.so' || true
}

# Makes the kit. The folder appears only when it is complete.
make_kit() {
  local build=$1 kit=$2 part=$2.part library mib program programs
  rm -rf "$kit" "$part"
  mkdir -p "$part"/{bin,lib/lockstep/{peers,witness},share,tests}
  cp "$build"/bin/{lockstep,lockstep_bench} "$part/bin/"
  # The libraries that these load are sought on the machine with the device.
  for library in cuda cublaslt cudnn; do
    library=$build/lib/lockstep/peers/$library.so
    if [[ -f $library ]]; then cp "$library" "$part/lib/lockstep/peers/"; fi
  done
  cp "$build"/lib/lockstep/{{cuda,cpu,reference}.so,backend-host} "$part/lib/lockstep/"
  cp "$build"/lib/lockstep/witness/cuda.so "$part/lib/lockstep/witness/"
  cp "$build"/tests/{cuda_overrun.so,cuda_race,ndarray_gpu_device} "$part/tests/"
  cp "$(dirname "$0")/../../bench/peers/torch_networks.py" "$part/tests/"
  cp -rL "$build/share/lockstep" "$part/share/"
  find "$part/share" \( -name '*.py' -o -name __pycache__ \) -prune -exec rm -r {} +
  programs=("$part"/bin/* "$part/lib/lockstep/backend-host")
  while read -r library; do
    cp -L "$library" "$part/lib/"
  done < <(for program in "${programs[@]}"; do carried_libraries "$program"; done | sort -u)
  # The loader of another machine finds them only where the programs say.
  for program in "${programs[@]}"; do
    for library in $(carried_libraries "$program"); do
      [[ $library -ef $part/lib/${library##*/} ]] ||
        fail "$program takes $library, not that of $part/lib"
    done
  done
  find "$part" \( -name '*.so*' -o -path '*/bin/*' -o -name backend-host \) -type f \
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

# The report's rows as parallel arrays: step, state (passed, failed, cut, not run), seconds, remark.
names=() states=() seconds=() words=()

# Seconds that are kept for the last step, those that are left for others, and these or a step's
# limit, whichever is less.
kept=$((RUN_S / 6 > 30 ? RUN_S / 6 : 30))
left() { echo $((RUN_S - kept > SECONDS ? RUN_S - kept - SECONDS : 0)); }
within() { local rest; rest=$(left); echo $(($1 < rest ? $1 : rest)); }

row() {
  names+=("$1") states+=("$2") seconds+=("$3") words+=("$4")
  printf '%-8s %-28s %4s s  %s\n' "$2" "$1" "$3" "$4"
}

# step SECONDS FILE COMMAND...: runs a command with a time limit and its output in a file; sets
# `status` and `took`, the time.
status=0 took=0
readonly NO_TIME=125
step() {
  local limit file=$2 begin=$SECONDS
  limit=$(within "$1")
  shift 2
  status=0 took=0
  if ((limit == 0)); then
    status=$NO_TIME
    return
  fi
  timeout -k 5 "$limit" "$@" >"$file" 2>&1 || status=$?
  took=$((SECONDS - begin))
}

# step_until SECONDS FILE COMMAND...: a step of a command that ends by itself after so many seconds,
# or as many as are left, less a grace in which it ends and is not stopped.
readonly GRACE_S=20
step_until() {
  local limit
  limit=$(within "$(($1 + GRACE_S))")
  shift
  # Half the time where little is left.
  local deadline=$((limit > 2 * GRACE_S ? limit - GRACE_S : limit / 2))
  step "$limit" "$@" --deadline "$((deadline > 0 ? deadline : 1))"
}

# A status in words.
ended() {
  if (($1 == 124 || $1 == 137)); then echo 'stopped at its time limit'; else echo "exit $1"; fi
}

# judged NAME FILE WORDS: adds the row of the step that has just run. Without WORDS the step left no
# result and has failed.
judged() {
  if ((status == NO_TIME)); then
    row "$1" cut 0 'no time was left'
  elif ((status == 0)) && [[ -n $3 ]]; then
    row "$1" passed "$took" "$3"
  else
    row "$1" failed "$took" "$(ended "$status"): $(tail -n 1 "$2")"
  fi
}

# field FILE KEY: prints a text or number of a flat JSON file; nothing if the key is absent.
field() {
  [[ -f $1 ]] || return 0
  sed -n "s/^ *\"$2\": \"\{0,1\}\(.*[^\",]\)\"\{0,1\},\{0,1\}$/\1/p" "$1" | sed -n 1p
}

# Processes take turns on a device, which costs each of them half a millisecond, unless NVIDIA's
# multi-process service runs them side by side: one of our own, for the steps between
# share_device and unshare_device. `jobs` is how many processes judge.
jobs=1 service=''
share_device() {
  command -v nvidia-cuda-mps-control >/dev/null || return 0
  service=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY=$service CUDA_MPS_LOG_DIRECTORY=$service
  if timeout -k 5 20 nvidia-cuda-mps-control -d >/dev/null 2>&1; then
    jobs=$(($(nproc) * 3 / 4 + 1))
  else
    unshare_device
  fi
}
unshare_device() {
  if [[ -z $service ]]; then return; fi
  timeout -k 5 20 nvidia-cuda-mps-control <<<quit >/dev/null 2>&1 || true
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
  rm -rf "$service"
  jobs=1 service=''
}
trap unshare_device EXIT

# check_tier TIER SECONDS: a run that ends early says how many of its cases it has judged.
check_tier() {
  local report=$out/check$1.json text=$out/check$1.txt
  rm -f "$report"
  step_until "$2" "$text" "$lockstep" check cuda --tier "$1" --jobs "$jobs" --timeout 20 \
    --start-timeout 60 --json "$report"
  local verdict cases selected
  verdict=$(field "$report" verdict)
  cases=$(field "$report" executed)
  selected=$(field "$report" selected)
  if ((status == 3)) && [[ $verdict == INCOMPLETE ]]; then
    row "check cuda, tier $1" cut "$took" "$cases of $selected cases in $took s, none failed"
  else
    judged "check cuda, tier $1" "$text" "${verdict:+$verdict, $cases of $selected cases}"
  fi
}

# The containers' own tests of memory on a device. A test that is skipped is none.
arrays() {
  step 60 "$out/arrays.txt" "$kit/tests/ndarray_gpu_device"
  local passed=''
  if ! grep -qs SKIPPED "$out/arrays.txt"; then
    passed=$(grep -osE '[1-9][0-9]* tests\.$' "$out/arrays.txt" || true)
  fi
  judged 'arrays on the device' "$out/arrays.txt" "$passed"
  rm -f "$out/arrays.txt"
}

# check_held NAME WORDS OPTION...: judges tier 0 with options that hold it to some of the kernels.
check_held() {
  local name=$1 what=$2 file=$out/held.txt
  shift 2
  step 60 "$file" "$lockstep" check cuda --tier 0 --jobs "$jobs" --timeout 20 --start-timeout 60 \
    --quiet --property matches_reference,writes_in_bounds,layout,graphs "$@"
  judged "$name" "$file" "$what"
  rm -f "$file"
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
  if ((status == NO_TIME)); then
    row 'digests of cuda and cpu' cut 0 'no time was left'
  elif [[ -n $ours && $ours == "$theirs" ]]; then
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

# The digests of all outputs of tier 0, whose cases both backends get.
same_outputs() {
  local backend
  for backend in cpu cuda; do
    step 40 "$out/digest_$backend.txt" "$lockstep" digest "$backend" --tier 0 --quiet --timeout 20 \
      --start-timeout 60
    ((status == 0)) || break
  done
  if ((status != 0)) || cmp -s "$out"/digest_{cpu,cuda}.txt; then
    judged 'outputs of cuda and cpu' "$out/digest_$backend.txt" \
      "equal: $(cat "$out/digest_$backend.txt" 2>/dev/null)"
  else
    row 'outputs of cuda and cpu' failed "$took" \
      "cuda $(cat "$out/digest_cuda.txt"), cpu $(cat "$out/digest_cpu.txt")"
  fi
  rm -f "$out"/digest_{cpu,cuda}.txt
}

# Every value of the widest settings, as many as fit. Another run of the same library goes on.
values() {
  local journal
  journal=$out/values-$(sha256sum "$kit/lib/lockstep/cuda.so" | cut -c 1-16).jsonl
  step_until 25 "$out/values.txt" "$lockstep" exhaust cuda --precision 32 --jobs 8 \
    --timeout 20 --start-timeout 60 --resume "$journal" --json "$out/values.json" --quiet
  if ((status == 3)) && [[ $(field "$out/values.json" complete) == false ]]; then
    row 'every value' cut "$took" "$(field "$out/values.json" text)"
  else
    judged 'every value' "$out/values.txt" "$(field "$out/values.json" text)"
  fi
}

# Prints the directories of libraries that peers load and the system's loader does not find.
peer_paths() {
  local name
  for name in $(ldd "$kit"/lib/lockstep/peers/*.so 2>/dev/null | awk '/not found/ { print $1 }' |
    sort -u); do
    timeout 10 find /usr/local /usr/lib /opt "$HOME" -name "$name" -printf '%h\n' -quit \
      2>/dev/null || true
  done | sort -u | paste -sd :
}

readonly PEERS=(cuBLASLt cuDNN)

# Times networks, graphs and operators beside the device's libraries and its limits.
benchmarks() {
  local paths operators peers late name
  paths=$(peer_paths)
  operators=$("$lockstep" list | awk '{ print $1 }' | paste -sd ,)
  LD_LIBRARY_PATH=$paths${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
    step_until 110 "$out/bench.txt" "$kit/bin/lockstep_bench" --backend cuda \
    --filter "$operators,graph,network" --min-time 0.003 --repetitions 5 \
    --json "$out/bench.json" --markdown "$out/bench.md"
  peers=$(field "$out/bench.json" peer_libraries)
  late=$(grep -cs 'the deadline has passed' "$out/bench.txt" || true)
  if ((status == 0 && late > 0)); then
    row benchmarks cut "$took" "$late rows were left; beside ${peers:-no peer}"
  else
    judged benchmarks "$out/bench.txt" "${peers:+beside $peers}"
  fi
  for name in "${PEERS[@]}"; do
    grep -qs "\"name\": \"$name" "$out/bench.json" ||
      row "$name beside cuda" 'not run' 0 "no call was timed beside it: ${peers:-no peer} loaded"
  done
}

# Times the same networks in PyTorch, in half precision, where it is installed.
torch_networks() {
  local name='networks in PyTorch'
  step 60 "$out/torch.md" python3 -c 'import torch, torchvision'
  if ((status != 0 && status != NO_TIME)); then
    row "$name" 'not run' "$took" "$(tail -n 1 "$out/torch.md")"
    rm "$out/torch.md"
    return
  fi
  step 60 "$out/torch.md" python3 "$kit/tests/torch_networks.py" "$out/torch.json"
  judged "$name" "$out/torch.md" "$(grep -cE '^\| .* us \|$' "$out/torch.md" || true) rows"
}

find_sanitizer() {
  command -v compute-sanitizer ||
    find /usr/local/cuda*/bin /usr/local/cuda*/compute-sanitizer /opt/nvidia \
      -name compute-sanitizer -type f -perm -u+x -print -quit 2>/dev/null
}

# sanitized TOOL STEP SECONDS FILE COMMAND...: runs a command and its child processes under a tool
# of the sanitizer, as step or step_until does.
sanitized() {
  local tool=$1 how=$2 limit=$3 file=$4
  shift 4
  "$how" "$limit" "$file" "$sanitizer" --tool "$tool" --target-processes all --print-limit 20 "$@"
}

# checked TOOL PLANT FINDING OPERATORS COMMAND...: judges tier 0 of some operators under a tool,
# which must first find the error that the command makes: otherwise a clean run proves nothing.
checked() {
  local tool=$1 plant=$2 finding="^=========.*($3)" operators=$4 sanitizer log=$out/$1.log reason=''
  shift 4
  sanitizer=$(find_sanitizer)
  if [[ -z $sanitizer ]]; then
    reason='there is no compute-sanitizer'
  else
    sanitized "$tool" step 40 "$log" "$@"
    if grep -qs 'not supported' "$log"; then reason=$(grep -m1 'not supported' "$log"); fi
    if ((status == NO_TIME)); then reason='no time was left'; fi
  fi
  if [[ -n $reason ]]; then
    row "$tool finds $plant" 'not run' "$took" "$reason"
    row "$tool, tier 0" 'not run' 0 "$reason"
    return
  fi
  if grep -qE "$finding" "$log"; then
    row "$tool finds $plant" passed "$took" "$(grep -m1 -E "$finding" "$log")"
  else
    row "$tool finds $plant" failed "$took" "$(ended "$status"), nothing found"
  fi
  sanitized "$tool" step_until 60 "$log" "$lockstep" check cuda --tier 0 --no-shrink \
    --op "$operators" --jobs 1 "${SLOWLY[@]}"
  if ((status != NO_TIME)) && grep -qE "$finding" "$log"; then
    row "$tool, tier 0" failed "$took" "$(grep -m1 -E "$finding" "$log")"
  elif ((status == 3)) && grep -q INCOMPLETE "$log"; then
    row "$tool, tier 0" cut "$took" 'no finding in the part that ran'
  else
    judged "$tool, tier 0" "$log" 'no finding'
  fi
  truncate -s '<8M' "$log"
}

# A process that begins under the sanitizer takes seconds.
readonly SLOWLY=(--timeout 60 --start-timeout 120)

memcheck() {
  # After an error a fresh process begins: one case, one property.
  checked memcheck 'a planted overrun' 'Invalid|Misaligned|out of bounds|Program hit' '*' \
    "$lockstep" repro "$kit/tests/cuda_overrun.so" 'relu/in=2x3@8/fill=dense:1' \
    --property matches_reference --jobs 1 "${SLOWLY[@]}"
}

# Of the operators whose kernels have shared memory.
racecheck() {
  checked racecheck 'a planted race' 'Race reported between' \
    'conv2d,dense,get_valid_counts,max,non_max_suppression,sum,transpose' "$kit/tests/cuda_race"
}

# Judges the backend on the GPU, or notes why there is none.
judge_device() {
  model cuda
  same_digests
  same_outputs
  arrays
  share_device
  check_tier 1 150
  check_held 'check cuda, blocks of 32' 'tier 0, the generic kernels' --set block=32 --set tuned=0
  check_held 'check cuda, packed products' 'tier 0 of conv2d and dense' --set direct=0 \
    --op conv2d,dense
  unshare_device
  local name
  for name in "${NETWORKS[@]}"; do network "$name"; done
  benchmarks
  torch_networks
  memcheck
  racecheck
  share_device
  values
  kept=0
  check_tier 2 "$RUN_S"
  unshare_device
}

no_device() {
  local name
  for name in 'digits model on cuda' 'digests of cuda and cpu' 'outputs of cuda and cpu' \
    'arrays on the device' 'check cuda, tier 1' 'check cuda, blocks of 32' \
    'check cuda, packed products' \
    "${NETWORKS[@]/%/ on cuda as on cpu}" benchmarks "${PEERS[@]/%/ beside cuda}" \
    'networks in PyTorch' 'every value' 'memcheck finds a planted overrun' 'memcheck, tier 0' \
    'racecheck finds a planted race' 'racecheck, tier 0' 'check cuda, tier 2'; do
    row "$name" 'not run' 0 "$1"
  done
}

# ---- the report -----------------------------------------------------------------------------

# shellcheck source=backends/cuda/gpu_report.sh
. "$(dirname "${BASH_SOURCE[0]}")/gpu_report.sh"

# The exit status: 0 all passed, 1 something failed, 2 something was cut off or not run.
conclude() {
  local state verdict=passed code=0
  for state in "${states[@]}"; do
    if [[ $state == failed ]]; then verdict=failed code=1; fi
    if [[ $state == cut && $code == 0 ]]; then verdict='cut off' code=2; fi
    if [[ $state == 'not run' && $code != 1 ]]; then verdict='not run' code=2; fi
  done
  facts >"$out/facts.txt"
  report_json "$verdict" >"$out/gpu.json"
  report_markdown "$verdict" >"$out/gpu.md"
  report_page "$verdict" >"$out/gpu.html"
  rm "$out/facts.txt"
  say "$verdict: ${#names[@]} rows in $SECONDS s, report in $out/gpu.md" | tee "$out/summary.txt"
  return "$code"
}

run_kit() {
  kit=$1 out=$2 lockstep=$1/bin/lockstep
  mkdir -p "$out"
  rm -f "$out"/{gpu.{json,md,html},summary.txt,check[12].{json,txt},{mem,race}check.log} \
    "$out"/{model_c{pu,uda}.json,bench.{json,md,txt},torch.{json,md},values.{json,txt}}
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
