#!/usr/bin/env bash
# Builds the tests of the CPU backend for 64-bit Arm and runs them on models of processors.
# usage: aarch64.sh SOURCES BUILD CMAKE-ARGUMENT...
set -euo pipefail
sources=$1 build=$2
shift 2

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
exec cmake/processors/models.sh aarch64 "$build/tests/cpu_test"
