#!/bin/sh
# Proves that an installed tree can be moved: installs, moves, builds another project with CMake and
# with pkg-config from the moved tree, and judges its backend with the moved program.
# usage: test.sh BUILD CC CXX
set -eu
sources=$(cd "$(dirname "$0")" && pwd)
build=$1 cc=$2 cxx=$3
examples=$(cd "$sources/../../examples" && pwd)
work=$(mktemp -d)
mkdir "$work/misuse"
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
if grep -rIl "$work/first" "$work/moved"; then
  echo "the files above name the place they were installed to" >&2
  exit 1
fi

cmake -G Ninja -S "$sources" -B "$work/cmake" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$work/moved" -DEXAMPLES="$examples" \
  >"$work/configure.log"
cmake --build "$work/cmake" >"$work/build.log"
"$work/cmake/consumer"
"$work/cmake/client" "$work/cmake/relu.so"
"$work/cmake/arrays"
"$work/cmake/oracle"
digits=$work/moved/share/lockstep/models/digits
cpu=$work/moved/lib/lockstep/cpu.so
"$work/cmake/infer" "$digits" "$cpu"
"$work/cmake/inference" "$digits/symbol.json" "$digits/params" "$digits/images.bin" |
  grep 'class 2,'
ctest --test-dir "$work/cmake" --output-on-failure
grep -q '"verdict": "PASS"' "$work/cmake/relu.lockstep.json"
grep -q '<testcase classname="lockstep.relu"' "$work/cmake/wrong.lockstep.xml"
# A target that cannot be judged is named while the project is configured.
cp "$sources/relu.cc" "$work"
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(x CXX)' \
  'find_package(lockstep REQUIRED)' 'add_library(archive STATIC ../relu.cc)' \
  'lockstep_add_conformance_test(archive)' >"$work/misuse/CMakeLists.txt"
if cmake -G Ninja -S "$work/misuse" -B "$work/misuse/build" -DCMAKE_CXX_COMPILER="$cxx" \
  -DCMAKE_PREFIX_PATH="$work/moved" >"$work/misuse.log" 2>&1; then
  echo 'a static library was taken for a backend' >&2
  exit 1
fi
grep -q 'archive is a STATIC_LIBRARY' "$work/misuse.log"

PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name lockstep.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # the flags are words
"$cxx" -std=c++20 "$sources/main.cc" $(pkg-config --cflags --libs lockstep) -o "$work/consumer"
"$work/consumer"
# shellcheck disable=SC2046
"$cxx" -std=c++20 "$sources/infer.cc" $(pkg-config --cflags --libs lockstep_runtime) \
  -o "$work/infer"
"$work/infer" "$digits" "$cpu"
# shellcheck disable=SC2046
"$cc" -std=c99 -pedantic -Werror "$sources/arrays.c" $(pkg-config --cflags --libs lockstep_cvm) \
  -o "$work/arrays"
# shellcheck disable=SC2046
"$cc" -std=c99 -pedantic -Werror "$examples/inference.c" \
  $(pkg-config --cflags --libs lockstep_cvm) -o "$work/inference"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir lockstep_cvm)
export LD_LIBRARY_PATH
"$work/arrays"
"$work/inference" "$digits/symbol.json" "$digits/params" "$digits/images.bin"
# shellcheck disable=SC2046
"$cc" -std=c99 -pedantic -Werror "$examples/oracle.c" \
  $(pkg-config --cflags --libs lockstep_reference) -o "$work/oracle"
"$work/oracle"

cd "$work"
moved/bin/lockstep check reference --tier 0
moved/bin/lockstep model run moved/share/lockstep/models/digits --backend cpu
moved/bin/lockstep check "$work/cmake/relu.so" --tier 0 --op relu
