#!/usr/bin/env bash
# Times builds without a compiler cache: prints a line "SECONDS NAME COMMAND" for rebuilding the
# program after a change of an operator's header, and for building operator units from scratch.
#
# usage: bench/build_times.sh BUILD-DIRECTORY
set -euo pipefail
export CCACHE_DISABLE=1 LC_ALL=C

if (($# != 1)) || [[ ! -f $1/build.ninja ]]; then
  printf '%s\n' 'usage: bench/build_times.sh BUILD-DIRECTORY (of Ninja)' >&2
  exit 2
fi
readonly build=$1
root=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$build/CMakeCache.txt")

make_target() { ninja -C "$build" "$@" >/dev/null; }

# seconds COMMAND...: prints how long it took.
seconds() {
  local begin=$EPOCHREALTIME end
  "$@"
  end=$EPOCHREALTIME
  awk -v begin="$begin" -v end="$end" 'BEGIN { printf "%.2f", end - begin }'
}

make_target lockstep
mapfile -t units < <(ninja -C "$build" -t targets all |
  sed -n 's|^\(spec/[^ ]*/units/unit_[a-z0-9_]*\.cc\.o\): .*|\1|p')
if ((${#units[@]} == 0)); then
  printf '%s\n' "bench/build_times.sh: $build has no operator units" >&2
  exit 1
fi

header=spec/ops/${units[0]##*/unit_}
header=${header%.cc.o}.h
touch "$root/$header"
printf '%s\n' "$(seconds make_target lockstep) one_header_changed touch $header; ninja lockstep"

times=$(for unit in "${units[@]}"; do
  rm "$build/$unit"
  printf '%s %s\n' "$(seconds make_target "$unit")" "$unit"
done | sort -n)
mapfile -t sorted <<<"$times"
for place in median:$((${#sorted[@]} / 2)) slowest:$((${#sorted[@]} - 1)); do
  line=${sorted[${place#*:}]}
  printf '%s\n' "${line%% *} operator_unit_${place%:*} ninja ${line#* }"
done
make_target lockstep
