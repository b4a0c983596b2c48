#!/usr/bin/env bash
# Installs the Python packages of a list in an environment of their own, again whenever the list or
# the interpreter has changed. With --keep their wheels stay in DIRECTORY/wheels, from which other
# environments are made without a network.
# usage: install.sh [--keep] LIST DIRECTORY [PIP-ARGUMENT...]
set -euo pipefail
keep=
if [[ $1 == --keep ]]; then keep=yes && shift; fi
list=$1 dir=$2 log=build/release/log/${2##*/}.log python=python3
shift 2
# The packages of a distribution belong to its own interpreter.
[[ -x /usr/bin/python3 ]] && python=/usr/bin/python3
wanted=$("$python" --version && cat "$list")
[[ -f $dir/made_from.txt && $(<"$dir/made_from.txt") == "$wanted" ]] && exit

pip() {
  "$dir/bin/python" -m pip --disable-pip-version-check "$1" --retries 1 --timeout 30 \
    --only-binary :all: --require-hashes --requirement "$list" "${@:2}"
}
install() {
  "$python" -m venv "$dir" || return
  if [[ $keep ]]; then
    pip download --dest "$dir/wheels" || return
    set -- --no-index --find-links "$dir/wheels" "$@"
  fi
  pip install "$@"
}
echo "dev: installing the packages of $list"
rm -rf "$dir"
mkdir -p "${log%/*}"
if install "$@" >"$log" 2>&1; then
  printf '%s\n' "$wanted" >"$dir/made_from.txt"
else
  rm -rf "$dir"
  echo "dev: the packages cannot be installed; what needs them does not run (log: $log)"
  exit 1
fi
