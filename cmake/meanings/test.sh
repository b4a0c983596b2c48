#!/usr/bin/env bash
# The semantic mutation test: in a copy of the tree it changes the meaning of many operators. The
# generic kernel, which runs the changed code, agrees with the changed reference but must fail the
# golden vectors.
# usage: test.sh SOURCES WORK CMAKE-ARGUMENT...
set -euo pipefail
sources=$1 work=$2
shift 2
tree=$work/tree here=$work/tree/build/release
# shellcheck source=/dev/null
source "$sources/cmake/copy.sh"

# The operator, the text of its header, and the text in the copy. Every result stays inside its
# inferred precision, so that only the vectors can notice.
changes=(
  'relu;max(in[X](y), 0);min(in[X](y), 0)'
  'abs;return magnitude(in[X](y));return -magnitude(in[X](y))'
  'negative;return -i64{in[X](y)};return i64{in[X](y)}'
  'elemwise_sub;- in[B](y);+ in[B](y)'
  'cvm_right_shift;floor_shift(halves + 1, 1);floor_shift(halves, 1)'
  'cvm_left_shift;<< a.shift_bit;<< (a.shift_bit - 1)'
  'cvm_clip;saturate(in[X](y), a.precision);saturate(-i64{in[X](y)}, a.precision)'
  'cvm_precision;max(1, bit_length;max(2, bit_length'
  'broadcast_div;divisor == 0 ? 0 :;divisor == 0 ? read(in[A], y) :'
  'broadcast_greater;read(in[A], y) > read;read(in[A], y) >= read'
  'broadcast_max;max(read(in[A], y), read(in[B], y));min(read(in[A], y), read(in[B], y))'
  'sum;return i64{in[X](x)};return magnitude(in[X](x))'
  'take;clamp(indices.element(k), 0;clamp(indices.element(k) - 1, 0'
  'repeat;y[d] / a.repeats;y[d] % in[X].dim(d)'
  'upsampling;y[2] / a.scale;y[2] % in[X].dim(2)'
  'where;condition != 0;condition > 0'
  'get_valid_counts;<= a.score_threshold;< a.score_threshold'
)

copy "$sources"
operators=
for change in "${changes[@]}"; do
  IFS=';' read -r op before after <<<"$change"
  operators+=${operators:+,}$op
  python3 - "$tree/spec/ops/$op.h" "$before" "$after" <<'CHANGE' || fail "$op.h is not as it was"
import pathlib, sys
path, before, after = pathlib.Path(sys.argv[1]), *sys.argv[2:]
text = path.read_text(encoding="ascii")
path.write_text(text.replace(before, after), encoding="ascii")
sys.exit(text.count(before) != 1)
CHANGE
done
cmake -G Ninja -S "$tree" -B "$here" -DLOCKSTEP_CUDA=OFF -DLOCKSTEP_TESTS=OFF \
  -DLOCKSTEP_BENCH=OFF -DLOCKSTEP_DOCS=OFF "$@" >"$work/configure.log"
# The compiler refuses a header with false examples, so the copy does not check examples: whoever
# changes a meaning would change them, too.
for op in ${operators//,/ }; do
  sed -i '/static_assert(examples_hold/d' "$here/spec/units/unit_$op.cc"
done
made "$here" lockstep lockstep_backend_cpu

cd "$work"
"$here/bin/lockstep" check cpu --set tuned=0 --op "$operators" --tier 0 --no-shrink \
  --json check.json --vectors "$tree/conformance/vectors" >check.out &&
  fail 'the changed operators pass'
python3 - check.json "$operators" <<'CHECK'
import json, sys
report = json.load(open(sys.argv[1], encoding="utf-8"))
wrong = []
for op in sys.argv[2].split(","):
    cells = report["cells"][op]
    reference, vectors = cells["matches_reference"], cells["matches_vectors"]
    if not reference["judged"] or reference["failed"]:
        wrong.append(f"{op} does not agree with the reference: {reference}")
    if not vectors["failed"]:
        wrong.append(f"{op} has another meaning, and its vectors do not see it: {vectors}")
print(f"{len(sys.argv[2].split(','))} changed meanings")
sys.exit("\n".join(wrong) or None)
CHECK
"$here/bin/lockstep" vectors check "$tree/conformance/vectors" >vectors.out &&
  fail 'vectors check finds no difference'
has 'relu.json: relu-0001: out[0].data[0]: the specification says' vectors.out
