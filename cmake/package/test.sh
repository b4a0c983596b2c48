#!/bin/sh
# Proves that the packages judge a library on a machine without a compiler: makes them, unpacks each
# and lets it judge with nothing else on the PATH.
# usage: test.sh BUILD CPACK
set -eu
sources=$(cd "$(dirname "$0")/../.." && pwd)
build=$1 cpack=$2
for tool in dpkg-deb dpkg-shlibdeps file; do
  if ! command -v "$tool" >/dev/null; then
    echo "SKIPPED: no $tool"
    exit 0
  fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$cpack" --config "$build/CPackConfig.cmake" -B "$work/made" >"$work/cpack.log" ||
  { cat "$work/cpack.log" >&2; exit 1; }
backend=$build/examples/relu_backend.so

# judged PREFIX: whether the program below it judges the backend, all by itself.
judged() {
  env -i PATH=/nowhere "$1/bin/lockstep" check "$backend" --tier 0
}

mkdir tar
tar -xzf made/lockstep-*.tar.gz -C tar --strip-components=1
judged tar
env -i PATH=/nowhere tar/bin/lockstep check cpu --tier 0 --op relu --quiet
ldd tar/bin/lockstep >ldd.txt
if ! grep -q "libfmt.* $work/tar/" ldd.txt || grep -q 'not found' ldd.txt; then
  cat ldd.txt >&2
  exit 1
fi
LOCKSTEP_PACKAGE=$(echo "$work"/made/lockstep-*.tar.gz) LOCKSTEP_BACKEND=$backend LOCKSTEP_TIER=0 \
  LOCKSTEP_REPORTS=$work/reports "$sources/ci/judge.sh"

for package in lockstep lockstep-dev; do
  dpkg-deb -x made/"$package"_*.deb deb
  dpkg-deb -f made/"$package"_*.deb Depends >"$package.txt"
done
judged deb/usr
grep -q 'libfmt9' lockstep.txt
grep -q 'libc6' lockstep.txt
if grep -qE 'dnnl|-dev|(^|, )(gcc|g\+\+|clang)' lockstep.txt; then
  echo 'judging needs more than it should:' >&2
  cat lockstep.txt >&2
  exit 1
fi
grep -q 'lockstep (= ' lockstep-dev.txt
dpkg-deb -c made/lockstep_*.deb >contents.txt
if grep -qE '\.(h|hpp|a|cmake|pc)$' contents.txt; then
  echo 'those who only judge get files of developers' >&2
  exit 1
fi
test -f deb/usr/include/lockstep/backends/backend.h
test -x deb/usr/share/lockstep/slurm/campaign.sh
if [ -f "$build/lib/lockstep/onednn.so" ]; then
  dpkg-deb -f made/lockstep-onednn_*.deb Depends | grep 'libdnnl' | grep -q 'lockstep (= '
fi
