#!/bin/sh
# Proves that an installed tree can be moved: installs, moves, builds a stranger's project with
# CMake and with pkg-config from the moved tree, and judges its backend with the moved program.
# usage: test.sh BUILD CC CXX
set -eu
sources=$(cd "$(dirname "$0")" && pwd)
build=$1 cc=$2 cxx=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/moved"
if grep -rIl "$work/first" "$work/moved"; then
  echo "the files above name the place they were installed to" >&2
  exit 1
fi

cmake -G Ninja -S "$sources" -B "$work/cmake" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$work/moved" >"$work/configure.log"
cmake --build "$work/cmake" >"$work/build.log"
"$work/cmake/consumer"
"$work/cmake/arrays"

PKG_CONFIG_PATH=$(dirname "$(find "$work/moved" -name lockstep.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # the flags are words
"$cxx" -std=c++20 "$sources/main.cc" $(pkg-config --cflags --libs lockstep) -o "$work/consumer"
"$work/consumer"
# shellcheck disable=SC2046
"$cc" -std=c89 -pedantic -Werror "$sources/arrays.c" $(pkg-config --cflags --libs lockstep_cvm) \
  -o "$work/arrays"
LD_LIBRARY_PATH=$(pkg-config --variable=libdir lockstep_cvm) "$work/arrays"

cd "$work"
moved/bin/lockstep check reference --tier 0
moved/bin/lockstep model run moved/share/lockstep/models/digits --backend cpu
moved/bin/lockstep check "$work/cmake/relu.so" --tier 0 --op relu
