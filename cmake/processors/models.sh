#!/usr/bin/env bash
# Runs the tests of the CPU backend on qemu's models of processors, each of which must offer exactly
# its own instruction sets. The script tests a set on the first model that has it, which lacks the
# sets of later models: one of their instructions ends the test.
# usage: models.sh x86_64|aarch64 CPU_TEST
set -euo pipefail
family=$1 program=$2

# A processor of qemu, and its instruction sets beside portable.
case $family in
  aarch64)
    qemu=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
    processors=(
      'cortex-a53 neon'
      'neoverse-n1 neon dotprod'
      'a64fx neon sve512'
      'max,sve-default-vector-length=32 neon dotprod i8mm'
      'max neon dotprod i8mm sve512'
    )
    # The specification's text runs networks on this machine's processor. Kernels of Highway have no
    # code for sets beyond neon.
    tests='*' tested=('Modes/Networks.*/generic_*')
    for suite in Reductions Gathers Detections; do
      for isa in dotprod i8mm sve512; do tested+=("Modes/$suite.*/${isa}_*"); done
    done
    ;;
  x86_64)
    qemu=(qemu-x86_64)
    processors=('Opteron_G1' 'Nehalem sse4' 'max sse4 avx2')
    # This machine's processor runs the other tests, which use no further instructions.
    tests='Modes/*' tested=('*/generic_*' 'Modes/Networks.*')
    ;;
esac

if ! command -v "${qemu[0]}" >/dev/null; then
  printf '%s\n' "SKIPPED: no ${qemu[0]}"
  exit
fi

# Other tests show that several threads run the same code as one.
tested+=('*_3')
for processor in "${processors[@]}"; do
  read -r -a isas <<<"$processor"
  cpu=${isas[0]} isas[0]=portable
  run=("${qemu[@]}" -cpu "$cpu" "$program")
  offered=$("${run[@]}" --gtest_list_tests | sed -n 's/.*GetParam() = \(.*\)_1$/\1/p' | sort -u)
  expected=$(printf '%s\n' generic "${isas[@]}" | sort)
  if [[ $offered != "$expected" ]]; then
    printf '%s\n' "$cpu has" "$expected" "and the backend offers" "$offered" >&2
    exit 1
  fi
  printf '%s\n' "$cpu: ${isas[*]}"
  LOCKSTEP_EMULATED=1 "${run[@]}" --gtest_brief=1 \
    --gtest_filter="$tests:-$(IFS=: && printf '%s' "${tested[*]}")"
  for isa in generic "${isas[@]}"; do tested+=("*/${isa}_*"); done
  # What no instruction set changes runs on the first model only.
  tested+=('Arena.*' 'ThreadPool.*' Graphs.OfManyNodesAreCompiled)
done
