#!/usr/bin/env bash
# Proves that a header and two lines are enough for an operator: adds one to a copy of the tree,
# builds all that lists operators, and looks for the new one everywhere.
# usage: test.sh SOURCES WORK WITH-DOCS WITH-CUDA CMAKE-ARGUMENT...
set -euo pipefail
sources=$1 work=$2 with_docs=$3 with_cuda=$4
shift 4
tree=$work/tree here=$work/tree/build/release

fail() { printf '%s\n' "$*" >&2; exit 1; }

# has TEXT FILE
has() { grep -qF -e "$1" "$2" || { tail -n 40 "$2" >&2; fail "no '$1' in $2"; }; }

# made DIRECTORY TARGET...: builds with one compiler, because other tests run beside this one.
made() {
  cmake --build "$1" --parallel 1 --target "${@:2}" >"$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log" >&2; fail "the copy does not build: ${*:2}"; }
}

rm -rf "${work:?}"
mkdir -p "$tree"
tar -C "$sources" --exclude=./build --exclude=./.git -cf - . | tar -C "$tree" -xf -
# With paths relative to the copy, a compiler cache already has nearly all of its files.
export CCACHE_BASEDIR=$tree CCACHE_NOHASHDIR=1
cp "$sources/cmake/new_operator/triple.h" "$tree/spec/ops/"
sed -i -e 's|^#include "spec/ops/take.h"|&\n#include "spec/ops/triple.h"|' \
  -e 's|^    Take, .*|&\n    Triple,|' "$tree/spec/ops.h"
# diff ends with 1 where files differ, as they do here.
added=$(diff "$sources/spec/ops.h" "$tree/spec/ops.h" | grep -c '^>' || true)
[[ $added == 2 ]] || fail "spec/ops.h got $added lines and not two"

cmake -G Ninja -S "$tree" -B "$here" -DLOCKSTEP_CUDA=OFF "$@" >"$work/configure.log"
made "$here" lockstep lockstep_backend_{cpu,reference,null} lockstep_bench fuzz_operators \
  fuzz_material

cd "$work"
lockstep=$here/bin/lockstep
echo 'eval: a value, and the refusal of what its precision cannot hold'
"$lockstep" eval --backend cpu --cases - >eval.out <<'LINES'
{"id":1,"op":"triple","attrs":{},"in_prec":[8],"in":[{"shape":[2],"data":[-127,5]}]}
{"id":2,"op":"triple","attrs":{},"in_prec":[31],"in":[{"shape":[1],"data":[1]}]}
LINES
has '"out":[{"shape":[2],"prec":10,"data":[-381,15]}]' eval.out
has '"label":"triple.precision"' eval.out

echo 'vectors: its own file'
"$lockstep" vectors update "$tree/conformance/vectors" >vectors.out
has '"triple-0001"' "$tree/conformance/vectors/triple.json"

echo 'check: the CPU backend passes, with vectors; one that computes nothing does not'
"$lockstep" check cpu --op triple --tier 1 --vectors "$tree/conformance/vectors" \
  --json check.json >check.out
has 'PASS' check.out
python3 - check.json <<'CHECK'
import json, sys
cells = json.load(open(sys.argv[1], encoding="utf-8"))["cells"]["triple"]
wanted = ("matches_vectors", "matches_reference", "rejects", "layout", "isa")
missing = [name for name in wanted if not cells.get(name, {}).get("judged")]
sys.exit(f"nothing of triple was judged for {missing}: {cells}" if missing else 0)
CHECK
if "$lockstep" repro null 'triple/in=1@8/data=1' >repro.out 2>&1; then
  fail 'the judge finds nothing wrong with a backend that does not compute it'
fi

echo 'fuzz: in the dictionary, and drawn from bytes'
"$here/bin/fuzz_material" "$tree/conformance/models/digits" material >material.out
has '"triple"' material/lines.dict
"$here/bin/fuzz_operators" material/seeds/operators >fuzz.out 2>&1
has 'operators/triple-0' fuzz.out

echo 'bench: a row'
"$here/bin/lockstep_bench" --backend cpu --min-time 0.001 --filter triple >bench.out
has 'triple' bench.out

if [[ $with_docs == 1 ]]; then
  echo 'docs: a page'
  cmake -S "$tree" -B "$here" -DLOCKSTEP_DOCS=ON -DLOCKSTEP_TOOL_emcmake=OFF >"$work/configure.log"
  made "$here" reference_pages
  has 'Multiplies each element by three' "$here/docs/source/operators/triple.rst"
else
  echo 'docs: left out, for this build has none'
fi
if [[ $with_cuda == 1 ]]; then
  echo 'CUDA: a kernel'
  # Not joined with others, the unit of the new operator is all that is compiled.
  cmake -G Ninja -S "$tree" -B "$tree/build/cuda" "$@" -DLOCKSTEP_CUDA=ON \
    -DCMAKE_UNITY_BUILD=OFF -DCMAKE_CUDA_ARCHITECTURES=75 >"$work/configure.log"
  made "$tree/build/cuda" \
    backends/cuda/CMakeFiles/lockstep_cuda_kernels.dir/units/generic_triple.cu.o
else
  echo 'CUDA: left out, for this build has no nvcc'
fi
