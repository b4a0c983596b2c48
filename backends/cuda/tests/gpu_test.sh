#!/usr/bin/env bash
# Puts gpu.sh to kits whose device is emulated: one that works, one that is not there, and a memory
# checker that finds nothing.
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

# What a build with nvcc leaves, the library of the emulated device in the place of the real one.
mkdir -p "$work/built"/{bin,lib/lockstep,tests,CMakeFiles/version}
cp "$build/bin/lockstep" "$work/built/bin/"
cp "$build"/lib/lockstep/{{cpu,reference}.so,backend-host} "$work/built/lib/lockstep/"
cp "$build/tests/cuda_emulated.so" "$work/built/lib/lockstep/cuda.so"
cp "$build/tests/cuda_overrun.so" "$work/built/tests/"
ln -s "$build/share" "$work/built/share"
echo 'CMAKE_CUDA_ARCHITECTURES:STRING=75' >"$work/built/CMakeCache.txt"
echo 'set(CMAKE_CUDA_COMPILER_VERSION "13.0")' \
  >"$work/built/CMakeFiles/version/CMakeCUDACompiler.cmake"
kit=$work/kit
expect 0 "$gpu" kit "$work/built" "$kit"
has "$work/said" "$kit is ready ("
has "$kit/kit.txt" 'nvcc 13.0'
[[ -f $kit/share/lockstep/models/digits/params ]] || fail 'the kit has no model'
[[ ! -e $kit.part ]] || fail 'a part of the kit was left behind'

# A part of each tier will do: what it judges has tests of its own.
mv "$kit/bin/lockstep" "$kit/bin/whole"
cat >"$kit/bin/lockstep" <<'TEXT'
#!/bin/sh
case "$*" in
  'check cuda '*) exec "${0%/*}/whole" "$@" --budget 2000 ;;
  'model make '*) exec "${0%/*}/whole" "$@" --size 32 ;;
esac
exec "${0%/*}/whole" "$@"
TEXT
chmod +x "$kit/bin/lockstep"

# A memory checker on the PATH: what crashes under it was found.
checker() {
  mkdir -p "$work/bin"
  cat >"$work/bin/compute-sanitizer"
  chmod +x "$work/bin/compute-sanitizer"
}
export PATH=$work/bin:$PATH
checker <<'TEXT'
#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift 2; done
"$@" && exit
echo '========= Invalid __global__ write of size 4 bytes'
exit 1
TEXT
expect 0 "$gpu" run "$kit" "$work/out"
has "$work/said" 'gpu: passed: 9 rows'
has "$work/out/summary.txt" 'gpu: passed: 9 rows'
has "$work/out/gpu.json" '{"name": "check cuda, tier 1", "state": "passed"'
has "$work/out/gpu.json" '"text": "PASS, '
has "$work/out/gpu.json" '{"name": "digests of cuda and cpu", "state": "passed", "seconds": 0'
has "$work/out/gpu.md" '| memcheck finds a planted overrun | passed |'
has "$work/out/gpu.md" '| resnet18 on cuda as on cpu | passed |'
has "$work/out/gpu.md" ' bytes equal |'
python3 -m json.tool "$work/out/gpu.json" >/dev/null
python3 -m json.tool "$work/out/check.json" >/dev/null

# A device that is not there.
expect 2 env FAKE_CUDA_DEVICES=0 "$gpu" run "$kit" "$work/out"
has "$work/said" \
  'gpu: no GPU can be used here: no NVIDIA device here (cudaGetDeviceCount finds none)'
has "$work/said" 'gpu: not run: 9 rows'
has "$work/out/gpu.json" '{"name": "digits model on cpu", "state": "passed"'
has "$work/out/gpu.json" '{"name": "memcheck, tier 0", "state": "not run"'
[[ ! -f $work/out/check.json ]] || fail 'the report of another run was left in place'
python3 -m json.tool "$work/out/gpu.json" >/dev/null

# A program that says yes to everything and nothing else, and a checker that never finds anything.
cat >"$kit/bin/lockstep" <<'TEXT'
#!/bin/sh
case "$*" in
  doctor) echo 'ok       backend cuda 0.1.0 on CUDA: generic' ;;
  *cuda_overrun*) exit 1 ;;
esac
TEXT
checker <<'TEXT'
#!/bin/sh
while [ "${1#--}" != "$1" ]; do shift 2; done
exec "$@"
TEXT
expect 1 "$gpu" run "$kit" "$work/out"
has "$work/out/gpu.md" '| memcheck finds a planted overrun | failed |'
has "$work/out/gpu.md" '| memcheck, tier 0 | passed |'
has "$work/out/gpu.md" '| check cuda, tier 1 | failed |'
has "$work/out/gpu.md" '| digits model on cuda | failed |'
has "$work/out/gpu.md" '| digests of cuda and cpu | failed |'
has "$work/out/gpu.md" '| mobilenetv2 on cuda as on cpu | failed |'

rm "$kit/lib/lockstep/cuda.so" "$kit/bin/lockstep"
expect 2 "$gpu" run "$kit" "$work/out"
has "$work/said" 'gpu: the kit does not work on this machine: '
echo 'PASSED'
