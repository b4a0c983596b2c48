#!/usr/bin/env python3
"""Runs clang-tidy over what was compiled, skipping what it has already found clean.

usage: tidy.py CLANG_TIDY ROOT BUILD [JOBS]

A translation unit is clean until something changes that clang-tidy reads: its preprocessed text
with comments (they carry NOLINT), its command, the configuration or the tool. The hash of all of
that is the name of an empty file in BUILD/tidy. The units generated from one template differ in
one name and one header. Each operator's header is read in its unit of the specification, so of
every other template the first unit is enough.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys


def read_units(root: pathlib.Path, build: pathlib.Path):
    """The C++ entries of the compilation database, one per file, in a fixed order."""
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    units = {}
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"]).resolve()
        inside = root in path.parents or build in path.parents
        if inside and path.suffix == ".cc":
            units.setdefault(path, entry)
    chosen, templates = [], set()
    for path, entry in sorted(units.items()):
        if path.parent.name == "units" and path.parent != build / "spec" / "units":
            if path.parent in templates:
                continue
            templates.add(path.parent)
        chosen.append((path, entry))
    return chosen


def preprocess(entry) -> bytes:
    """The text the compiler sees, comments kept, from the unit's own command."""
    words = shlex.split(entry["command"])
    if pathlib.Path(words[0]).name == "ccache":
        words = words[1:]
    output = words.index("-o")
    words = words[:output] + words[output + 2 :] + ["-E", "-C", "-P"]
    return subprocess.run(words, cwd=entry["directory"], check=True, capture_output=True).stdout


def check(tool: str, salt: bytes, build: pathlib.Path, path: pathlib.Path, entry):
    """Returns (status, output) of one unit; status 0 is clean, None is known to be clean."""
    key = hashlib.sha256(salt + entry["command"].encode() + preprocess(entry)).hexdigest()
    stamp = build / "tidy" / key
    if stamp.exists():
        return None, ""
    command = [tool, "-p", str(build), "--quiet", "--warnings-as-errors=*", str(path)]
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode == 0:
        stamp.touch()
    return run.returncode, run.stdout


def main() -> int:
    if len(sys.argv) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    tool, root, build = sys.argv[1], *(pathlib.Path(p).resolve() for p in sys.argv[2:4])
    jobs = int(sys.argv[4]) if len(sys.argv) == 5 else len(os.sched_getaffinity(0))
    version = subprocess.run([tool, "--version"], check=True, capture_output=True).stdout
    salt = version + (root / ".clang-tidy").read_bytes()
    (build / "tidy").mkdir(exist_ok=True)
    units = read_units(root, build)
    failed = known = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [(path, pool.submit(check, tool, salt, build, path, entry)) for path, entry in units]
        for path, run in runs:
            status, output = run.result()
            known += status is None
            if status:
                failed += 1
                print(f"{path}:\n{output}", flush=True)
    print(f"{len(units)} units, {known} known to be clean, {failed} with findings")
    return 1 if failed or not units else 0


if __name__ == "__main__":
    sys.exit(main())
