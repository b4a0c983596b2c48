#!/usr/bin/env bash
# Builds the tests of the CPU backend for 64-bit Arm and runs them on qemu's models of processors,
# each of which must offer exactly its own instruction sets. A set is tested on the first model that
# has it, which cannot run what later ones add.
# usage: test.sh SOURCES BUILD CMAKE-ARGUMENT...
set -euo pipefail
sources=$1 build=$2
shift 2

# A processor of qemu, and its instruction sets beside portable.
processors=(
  'cortex-a53 neon'
  'neoverse-n1 neon dotprod'
  'a64fx neon sve512'
  'max,sve-default-vector-length=32 neon dotprod i8mm'
  'max neon dotprod i8mm sve512'
)

fail() { printf '%s\n' "$*" >&2; exit 1; }

# logged NAME COMMAND...
logged() {
  "${@:2}" >"$build/$1.log" 2>&1 || { tail -n 40 "$build/$1.log" >&2; fail "failed: ${*:2}"; }
}

for tool in aarch64-linux-gnu-g++ qemu-aarch64 /usr/src/googletest/CMakeLists.txt; do
  if [[ ! -f $tool ]] && ! command -v "$tool" >/dev/null; then
    printf '%s\n' "SKIPPED: no $tool"
    exit
  fi
done

mkdir -p "$build"
logged configure cmake -S "$sources" -B "$build" --preset aarch64 "$@"
logged build cmake --build "$build" --parallel 1 --target cpu_test

cd "$sources"
# Several threads run what one runs, which other tests show.
tested=('*_3')
for processor in "${processors[@]}"; do
  read -r -a isas <<<"$processor"
  cpu=${isas[0]} isas[0]=portable
  tests=(qemu-aarch64 -L /usr/aarch64-linux-gnu -cpu "$cpu" "$build/tests/cpu_test")
  offered=$("${tests[@]}" --gtest_list_tests | sed -n 's/.*GetParam() = \(.*\)_1$/\1/p' | sort -u)
  expected=$(printf '%s\n' generic "${isas[@]}" | sort)
  [[ $offered == "$expected" ]] || fail "$cpu has" "$expected" "and the backend offers" "$offered"
  printf '%s\n' "$cpu: ${isas[*]}"
  "${tests[@]}" --gtest_brief=1 --gtest_filter="*:-$(IFS=: && printf '%s' "${tested[*]}")"
  for isa in generic "${isas[@]}"; do tested+=("*/${isa}_*"); done
done
