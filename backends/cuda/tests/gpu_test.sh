#!/usr/bin/env bash
# Runs gpu.sh on kits whose device is emulated: one that works, one that is absent, and one with a
# memory checker that finds nothing.
# usage: gpu_test.sh BUILD
set -euo pipefail
build=$1
gpu=$(cd "$(dirname "$0")/.." && pwd)/gpu.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { printf '%s\n' "FAILED: $*" >&2; exit 1; }

# expect STATUS COMMAND...: runs it with its output in $work/said.
expect() {
  local wanted=$1 status=0
  shift
  "$@" >"$work/said" 2>&1 || status=$?
  cat "$work/said"
  [[ $status == "$wanted" ]] || fail "exit $status, not $wanted: $*"
}

# has FILE TEXT
has() { grep -qF -- "$2" "$1" || fail "'$2' is not in $1: $(cat "$1")"; }

# The files that a build with nvcc leaves, with the library of the emulated device for the real one.
mkdir -p "$work/built"/{bin,lib/lockstep/{peers,witness},tests,CMakeFiles/version}
cp "$build"/bin/{lockstep,lockstep_bench} "$work/built/bin/"
touch "$work/built/lib/lockstep/peers/onednn_2.so"
cp "$build"/lib/lockstep/{{cpu,reference}.so,backend-host} "$work/built/lib/lockstep/"
cp "$build/tests/cuda_emulated.so" "$work/built/lib/lockstep/cuda.so"
cp "$build/tests/cuda_emulated.so" "$work/built/lib/lockstep/witness/cuda.so"
cp "$build/tests/cuda_overrun.so" "$work/built/tests/"
printf '#!/bin/sh\n' >"$work/built/tests/cuda_race"
chmod +x "$work/built/tests/cuda_race"
cp "$build/tests/ndarray_gpu" "$work/built/tests/ndarray_gpu_device"
ln -s "$build/share" "$work/built/share"
echo 'CMAKE_CUDA_ARCHITECTURES:STRING=75' >"$work/built/CMakeCache.txt"
echo 'set(CMAKE_CUDA_COMPILER_VERSION "13.0")' \
  >"$work/built/CMakeFiles/version/CMakeCUDACompiler.cmake"
kit=$work/kit
expect 0 "$gpu" kit "$work/built" "$kit"
has "$work/said" "$kit is ready ("
has "$kit/kit.txt" 'nvcc 13.0'
[[ -f $kit/share/lockstep/models/digits/params ]] || fail 'the kit has no model'
[[ -f $kit/lib/lockstep/witness/cuda.so ]] || fail 'the kit has no witness'
[[ ! -e $kit.part ]] || fail 'a part of the kit was left behind'
[[ ! -e $kit/lib/lockstep/peers/onednn_2.so ]] || fail 'a peer of the host is in the kit'

# On another machine the kit's own libraries are the only ones.
for program in "$kit"/bin/*; do
  [[ $(ldd "$program") == *"/bin/../lib/libfmt"* ]] || fail "$program takes the system's libraries"
done
"$kit/bin/lockstep_bench" --list relu >/dev/null || fail 'the benchmarks of the kit do not start'

# A part of each tier is enough: the judge has tests of its own.
mv "$kit/bin/lockstep" "$kit/bin/whole"
cat >"$kit/bin/lockstep" <<'TEXT'
#!/bin/sh
set -f
case "$*" in
  'check cuda --tier 2 '*)
    set -- "$@" --op conv2d
    if [ -e "${0%/*}/slow" ]; then
      set -- $(echo "$@" | sed 's/--deadline [0-9]*/--deadline 1/')
    fi
    exec "${0%/*}/whole" "$@" --budget 100 ;;
  'check '*cuda_overrun*) echo 'the planted error takes one case, not a check'; exit ;;
  'check cuda --tier 0 --no-shrink --op conv2d'*) exec "${0%/*}/whole" "$@" --budget 200 ;;
  'check cuda '*) exec "${0%/*}/whole" "$@" --budget 2000 ;;
  'digest '*) exec "${0%/*}/whole" "$@" --op relu ;;
  'exhaust '*)
    # The emulated device has its memory in the backend's library, which holds the witness, too.
    set -- "$@" --op abs --witness "${0%/bin/*}/lib/lockstep/cuda.so"
    exec "${0%/*}/whole" $(echo "$@" | sed 's/--precision 32/--precision 9/') ;;
  'model make '*) exec "${0%/*}/whole" "$@" --size 32 ;;
esac
exec "${0%/*}/whole" "$@"
TEXT
chmod +x "$kit/bin/lockstep"
mv "$kit/bin/lockstep_bench" "$kit/bin/whole_bench"
cat >"$kit/bin/lockstep_bench" <<'TEXT'
#!/bin/sh
set -f
exec "${0%/*}/whole_bench" $(echo "$@" | sed 's/--filter [^ ]*/--filter relu\/tiny*/')
TEXT
chmod +x "$kit/bin/lockstep_bench"

# A memory checker on the PATH, which reports an error if the program crashes.
checker() {
  mkdir -p "$work/bin"
  cat >"$work/bin/compute-sanitizer"
  chmod +x "$work/bin/compute-sanitizer"
}
export PATH=$work/bin:$PATH
# A program with a deadline must be killed only after the deadline.
mkdir -p "$work/bin"
cat >"$work/bin/timeout" <<TEXT
#!/bin/sh
limit=\$3
case "\$1 \$*" in
  -k*--deadline*)
    deadline=\$(echo "\$*" | sed 's/.*--deadline \([0-9]*\).*/\1/')
    [ "\$limit" -le 1 ] || [ "\$deadline" -lt "\$limit" ] ||
      echo "stopped after \$limit s: \$*" >>"$work/stopped" ;;
esac
exec $(command -v timeout) "\$@"
TEXT
chmod +x "$work/bin/timeout"
checker <<'TEXT'
#!/bin/sh
tool=$2
while [ "${1#--}" != "$1" ]; do shift 2; done
[ "$tool ${1##*/}" != 'racecheck cuda_race' ] || echo '========= Error: Race reported between'
"$@"
status=$?
# A slow machine may not have judged all.
[ "$status" != 1 ] || echo '========= Invalid __global__ write of size 4 bytes'
exit "$status"
TEXT
# The service for several processes; every one that starts has to be told to end.
cat >"$work/bin/nvidia-cuda-mps-control" <<TEXT
#!/bin/sh
[ -d "\$CUDA_MPS_PIPE_DIRECTORY" ] || exit 1
[ "\$1" = -d ] && echo begin >>"$work/service" || cat >>"$work/service"
TEXT
chmod +x "$work/bin/nvidia-cuda-mps-control"
# A Python that has PyTorch.
cat >"$work/bin/python3" <<TEXT
#!/bin/sh
case "\$*" in
  '-c import torch, torchvision') [ ! -e "$work/no_torch" ] || { echo 'no such module'; exit 1; } ;;
  *torch_networks.py*) echo '| resnet18 | 1 | 2.0 us | 3.0 us |'; echo '{"rows": [7]}' >"\$2" ;;
  *) exec $(command -v python3) "\$@" ;;
esac
TEXT
chmod +x "$work/bin/python3"
# An emulated device has no libraries beside it, and says so.
expect 2 "$gpu" run "$kit" "$work/out"
has "$work/out/summary.txt" 'gpu: not run: 20 rows'
[[ $(paste -sd ' ' "$work/service") == 'begin quit begin quit' ]] ||
  fail "the service was used so: $(cat "$work/service")"
[[ $(grep -c '| not run |' "$work/out/gpu.md") == 2 ]] || fail 'more than the peers was not run'
has "$work/out/gpu.md" '| cuDNN beside cuda | not run |'
has "$work/out/gpu.md" '| benchmarks | passed |'
has "$work/out/gpu.md" '| arrays on the device | passed |'
has "$work/out/gpu.md" '| check cuda, packed products | passed |'
has "$work/out/gpu.md" 'EXHAUSTED  511 of 511 values'
has "$work/out/gpu.md" '0 wrong; compared on the device'
has "$work/out/gpu.md" '| outputs of cuda and cpu | passed |'
has "$work/out/gpu.md" '| check cuda, tier 2 | passed |'
has "$work/out/gpu.html" '<td>check cuda, tier 2<td>passed<td>'
has "$work/out/gpu.html" 'relu/tiny.six_elements'
has "$work/out/gpu.json" '{"name": "check cuda, tier 1", "state": "passed"'
has "$work/out/gpu.json" '"text": "PASS, '
has "$work/out/gpu.json" '{"name": "digests of cuda and cpu", "state": "passed", "seconds": 0'
has "$work/out/gpu.md" '| memcheck finds a planted overrun | passed |'
has "$work/out/gpu.md" '| racecheck finds a planted race | passed |'
grep -qE '\| racecheck, tier 0 \| (passed|cut) \|' "$work/out/gpu.md" || fail 'no races were sought'
has "$work/out/gpu.md" '| resnet18 on cuda as on cpu | passed |'
has "$work/out/gpu.md" ' bytes equal |'
has "$work/out/gpu.md" '| networks in PyTorch | passed | 0 | 1 rows |'
has "$work/out/gpu.md" '| resnet18 | 1 | 2.0 us | 3.0 us |'
has "$work/out/gpu.html" '| resnet18 | 1 | 2.0 us | 3.0 us |'
python3 -m json.tool "$work/out/gpu.json" >/dev/null
python3 -m json.tool "$work/out/check1.json" >/dev/null
python3 - "$work/out/gpu.json" <<'TEXT' || fail 'the report lacks benchmarks or values'
import json, sys
report = json.load(open(sys.argv[1]))
assert report["benchmarks"]["rows"][0]["compared"] == 6 and report["values"]["complete"]
assert report["torch"]["rows"] == [7]
TEXT

# A run without enough time says what it cut off.
touch "$kit/bin/slow"
expect 2 env LOCKSTEP_GPU_SECONDS=30 "$gpu" run "$kit" "$work/out"
has "$work/out/gpu.md" '| check cuda, blocks of 32 | cut | 0 | no time was left |'
has "$work/out/gpu.md" '| memcheck, tier 0 | not run | 0 | no time was left |'
has "$work/out/gpu.md" '| check cuda, tier 2 | cut |'
grep -q 'cases in .* s, none failed' "$work/out/gpu.md" || fail 'nothing says how much was judged'

rm "$kit/bin/slow"
expect 2 env LOCKSTEP_GPU_SECONDS=110 "$gpu" run "$kit" "$work/out"
[[ ! -e $work/stopped ]] || fail "$(cat "$work/stopped")"

# A device that is not there.
expect 2 env FAKE_CUDA_DEVICES=0 "$gpu" run "$kit" "$work/out"
has "$work/said" \
  'gpu: no GPU can be used here: no NVIDIA device here (cudaGetDeviceCount finds none)'
has "$work/said" 'gpu: not run: 20 rows'
has "$work/out/gpu.json" '{"name": "digits model on cpu", "state": "passed"'
has "$work/out/gpu.json" '{"name": "memcheck, tier 0", "state": "not run"'
[[ ! -f $work/out/check1.json ]] || fail 'the report of another run was left in place'
python3 -m json.tool "$work/out/gpu.json" >/dev/null

# A program that succeeds at everything and prints nothing, and a checker that never finds anything.
cat >"$kit/bin/lockstep" <<'TEXT'
#!/bin/sh
case "$*" in
  doctor) echo 'ok       backend cuda 0.1.0 on CUDA: generic' ;;
  *cuda_overrun*) exit 1 ;;
esac
TEXT
printf '#!/bin/sh\necho "[  PASSED  ] 0 tests."\n' >"$kit/tests/ndarray_gpu_device"
checker <<'TEXT'
#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift 2; done
exec "$@"
TEXT
touch "$work/no_torch"
expect 1 "$gpu" run "$kit" "$work/out"
has "$work/out/gpu.md" '| networks in PyTorch | not run | 0 | no such module |'
has "$work/out/gpu.md" '| memcheck finds a planted overrun | failed |'
has "$work/out/gpu.md" '| memcheck, tier 0 | passed |'
has "$work/out/gpu.md" '| racecheck finds a planted race | failed |'
has "$work/out/gpu.md" '| arrays on the device | failed |'
has "$work/out/gpu.md" '| check cuda, tier 1 | failed |'
has "$work/out/gpu.md" '| every value | failed |'
has "$work/out/gpu.md" '| digits model on cuda | failed |'
has "$work/out/gpu.md" '| digests of cuda and cpu | failed |'
has "$work/out/gpu.md" '| mobilenetv2 on cuda as on cpu | failed |'

rm "$kit/lib/lockstep/cuda.so" "$kit/bin/lockstep"
expect 2 "$gpu" run "$kit" "$work/out"
has "$work/said" 'gpu: the kit does not work on this machine: '
echo 'PASSED'
