#!/bin/sh
# Proves that a library exports the functions of a header and no other symbol.
# usage: symbols.sh NM LIBRARY HEADER MACRO   (the macro that each declaration begins with)
set -eu
exported=$("$1" -D --defined-only "$2" | awk '{ print $3 }' | sort)
declared=$(sed -n "s/^$4 .*[ *]\\([A-Za-z_]*\\)(.*/\\1/p" "$3" | sort)
if [ -z "$declared" ] || [ "$exported" != "$declared" ]; then
  printf 'declared:\n%s\nexported:\n%s\n' "$declared" "$exported" >&2
  exit 1
fi
printf 'the library exports what the header declares:\n%s\n' "$declared"
