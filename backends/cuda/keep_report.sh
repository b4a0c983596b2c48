#!/bin/sh
# Runs nvcc and keeps what its assembler says of the kernels beside the object, as OBJECT.ptxas, for
# bench/cuda_resources.py. Everything else that nvcc says is passed on.
# usage: keep_report.sh COMPILER [ARGUMENT...]
object=''
previous=''
for argument in "$@"; do
  if [ "$previous" = -o ]; then object=$argument; fi
  previous=$argument
done
[ -n "$object" ] || exec "$@"
status=0
"$@" 2>"$object.ptxas.part" || status=$?
kernels='^ptxas info|bytes stack frame|^$'
grep -vE "$kernels" "$object.ptxas.part" >&2
grep -E "$kernels" "$object.ptxas.part" >"$object.ptxas"
rm -f "$object.ptxas.part"
exit "$status"
