# shellcheck shell=bash
# Functions for tests that build a copy of the tree, in $work. The copy itself is $tree.

fail() { printf '%s\n' "$*" >&2; exit 1; }

# has TEXT FILE
has() { grep -qF -e "$1" "$2" || { tail -n 40 "$2" >&2; fail "no '$1' in $2"; }; }

# copy SOURCES
copy() {
  rm -rf "${work:?}"
  mkdir -p "${tree:?}"
  tar -C "$1" --exclude=./build --exclude=./.git -cf - . | tar -C "$tree" -xf -
  # With paths relative to the copy, a compiler cache already has nearly all of its files.
  export CCACHE_BASEDIR="$tree" CCACHE_NOHASHDIR=1
}

# made DIRECTORY TARGET...: builds with one compiler, because other tests run beside this one.
made() {
  cmake --build "$1" --parallel 1 --target "${@:2}" >"$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log" >&2; fail "the copy does not build: ${*:2}"; }
}
