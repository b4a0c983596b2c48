# shellcheck shell=bash
# What tests share that build a copy of the tree: in $work, whose part $tree is the copy.

fail() { printf '%s\n' "$*" >&2; exit 1; }

# has TEXT FILE
has() { grep -qF -e "$1" "$2" || { tail -n 40 "$2" >&2; fail "no '$1' in $2"; }; }

# copy SOURCES
copy() {
  rm -rf "${work:?}"
  mkdir -p "${tree:?}"
  tar -C "$1" --exclude=./build --exclude=./.git -cf - . | tar -C "$tree" -xf -
  # A compiler cache knows the files of the copy by their places in it: it has nearly all of them.
  export CCACHE_BASEDIR="$tree" CCACHE_NOHASHDIR=1
}

# made DIRECTORY TARGET...
made() {
  cmake --build "$1" --target "${@:2}" >"$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log" >&2; fail "the copy does not build: ${*:2}"; }
}
