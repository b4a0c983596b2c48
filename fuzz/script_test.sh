#!/usr/bin/env bash
# Proves that fuzz.sh takes every target it lists and every form of words that `./dev fuzz -h`
# shows. In place of libFuzzer's programs stands a script that writes down how it is called.
set -euo pipefail
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/build/fuzz/{bin,log} "$work/fuzz/corpus/params"
cd "$work"
cp "$sources"/fuzz/*.{cc,sh,py} fuzz/

fail() { printf '%s\n' "$*" >&2; exit 1; }
# has TEXT FILE
has() { grep -qF -e "$1" "$2" || { cat "$2" >&2; fail "no '$1' in $2"; }; }
# refused WORDS SAYS: the words are wrong, which is exit status 2 and a sentence.
refused() {
  local status=0
  # shellcheck disable=SC2086  # the words of a command
  fuzz/fuzz.sh target $1 >out 2>&1 || status=$?
  [[ $status == 2 ]] || fail "'$1' ended with $status"
  has "$2" out
}

cat >build/fuzz/bin/fuzz_params <<'FAKE'
#!/bin/sh
# A stranger to the kept inputs, and the finder of a finding where it is told of one.
echo "$@" >>called
case "$*" in
  *-set_cover_merge=1*) cp "$4/named" "$4/1111" new-input "$3/" ;;
  *-minimize_crash*) exit 1 ;;
  *) echo "stat::number_of_executed_units: 7" && echo "stat::average_exec_per_sec: 3"
     [ -e wrong ] || exit 0
     echo "VIOLATED: it"
     echo "Test unit written to found/crash-1"
     exit 1 ;;
esac
FAKE
printf '#!/bin/sh\n' >build/fuzz/bin/fuzz_material
chmod +x build/fuzz/bin/*

echo 'every target that is listed is one, each time: a pipe that closes early is a race'
fuzz/fuzz.sh list >targets
mapfile -t targets < <(sed -n 's/^  \([a-z_]*\) .*/\1/p' targets)
[[ " ${targets[*]} " == *' canary '*' params '* ]] || fail "the targets are ${targets[*]}"
[[ -z $(fuzz/fuzz.sh target) ]] || fail 'no words name a target'
for target in "${targets[@]}"; do
  for ((k = 0; k < 5; ++k)); do
    [[ $(fuzz/fuzz.sh target "$target") == "$target" ]] || fail "$target is listed and refused"
  done
done

echo 'what is no target, no time and no option is refused'
refused nope "no fuzz target 'nope'"
refused replay "no fuzz target 'replay'"
refused ../fuzz/params "no fuzz target '../fuzz/params'"
refused 'params --time 1x' "'1x' is no time"
refused 'params --time' '--time needs a value'
refused 'params --seed x' "'x' is no seed"
refused 'params symbol' 'fuzz takes one target'
refused 'params --nope' 'fuzz has no option --nope'

echo 'times, a seed, and the kept inputs behind the new ones'
printf named >fuzz/corpus/params/named
mkdir first
printf one >first/1111
python3 -B fuzz/corpus.py pack fuzz/corpus params first
for time in 30:30 30s:30 10m:600 2h:7200; do
  fuzz/fuzz.sh run params --time "${time%:*}" --seed 5 >out
  has "fuzzing params for ${time#*:} s with seed 5" out
  has 'nothing found: 7 runs, 3 a second' out
done
has '-max_total_time=7200 -seed=5' called
has 'build/fuzz/corpus/params build/fuzz/kept/params' called
[[ $(ls build/fuzz/kept/params) == $'1111\nnamed' ]] || fail 'the kept inputs are not unpacked'

echo 'a merge packs what the program chose, and leaves named inputs what they are'
printf new >new-input
fuzz/fuzz.sh run params --merge >out
has '2 inputs of params packed' out
python3 -B fuzz/corpus.py unpack fuzz/corpus params merged
[[ $(ls merged) == $'1111\nnamed\nnew-input' && $(ls fuzz/corpus/params) == named ]] ||
  fail 'the merge lost an input, or packed a named one'

echo 'a finding is exit status 1, with a way to repeat it'
touch wrong
status=0
fuzz/fuzz.sh run params --time 1 >out 2>&1 || status=$?
[[ $status == 1 ]] || fail "a finding ended with $status"
has 'FOUND found/crash-1' out
has 'replay: build/fuzz/bin/fuzz_params found/crash-1' out
