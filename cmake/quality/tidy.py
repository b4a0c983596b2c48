#!/usr/bin/env python3
"""Runs clang-tidy over the compiled sources, except those that it has already found clean.

usage: tidy.py CLANG_TIDY ROOT BUILD [JOBS]

A translation unit is clean until something changes that clang-tidy reads: its text and that of all
it can include, its command, the configuration or the tool. The hash of all of that is the name of
an empty file in BUILD/tidy. The units generated from one template differ in one name and one
header. Each operator's header is read in its unit of the specification, so of every other template
the first unit is enough.

Most of the time goes into the headers that units share, so units whose flags agree are checked
joined, as one unit. Where names collide it does not compile, and those it names are checked apart
from the others. Units with findings are checked alone; where a finding names none, each half is
checked.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from headers import Headers

JOINED_MAX = 48
# What lines that are not indented define: types, tests, values, and functions with parameters.
DEFINED = re.compile(
    r"^(?:struct|class|enum(?: class)?) \w+(?=.*\{)|^using \w+(?= =)|^TEST\w*\(.*\)|"
    r"^(?!using|return|namespace)(?=\w)[\w:<>,*& ]+[ *&](?:\w+(?=\[| = |\{|;)|\w+\([^)]*)",
    re.M)  # fmt: skip
NOT_COMPILED = "[clang-diagnostic-error"


def read_units(root: pathlib.Path, build: pathlib.Path):
    """(path, directory, flags) of the C++ sources that were compiled, in a fixed order."""
    units = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        for path in sources_of(pathlib.Path(entry["directory"], entry["file"]).resolve()):
            inside = root in path.parents or build in path.parents
            if inside and path.suffix == ".cc":
                units.setdefault(path, (entry["directory"], flags_of(entry["command"])))
    chosen, templates = [], set()
    for path, (directory, flags) in sorted(units.items()):
        if path.parent.name == "units" and path.parent != build / "spec" / "units":
            if path.parent in templates:
                continue
            templates.add(path.parent)
        chosen.append((path, directory, flags))
    return chosen


def sources_of(path: pathlib.Path):
    """The sources compiled as one unit: those in a joined file of CMake's, or a single one."""
    if path.parent.name != "Unity":
        return [path]
    return [pathlib.Path(name) for name in re.findall(r'^#include "(.+)"$', path.read_text(), re.M)]


def flags_of(command: str):
    """A compiler's command without its input and output."""
    words = shlex.split(command)
    if pathlib.Path(words[0]).name == "ccache":
        words = words[1:]
    for word in ("-o", "-c"):
        at = words.index(word)
        del words[at : at + 2]
    return tuple(words)


def stamp_of(salt: bytes, build: pathlib.Path, headers: Headers, unit) -> pathlib.Path:
    """The file whose existence marks a unit as clean."""
    key = hashlib.sha256(salt + "\0".join(unit[2]).encode() + headers.hash_of(*unit)).hexdigest()
    return build / "tidy" / key


def join(units, chunk_max: int):
    """(flags, units) that one command reads: the same flags, and no macro with two values."""
    pools = []
    for unit, stamp in units:
        flags = [w for w in unit[2] if not re.fullmatch("-fPIC|-fPIE|-O.|.*_EXPORTS", w)]
        macros = {w.split("=")[0]: w for w in flags if w.startswith("-D")}
        others = [w for w in flags if not w.startswith("-D")]
        for pool in pools:
            if pool[0] == others and macros.items() <= {**macros, **pool[1]}.items():
                break
        else:
            pool = (others, {}, [])
            pools.append(pool)
        pool[1].update(macros)
        pool[2].append((unit, stamp))
    for others, macros, members in pools:
        for chunk in chunks_of(members, chunk_max):
            yield [*others, *macros.values()], chunk


def chunks_of(members, chunk_max: int):
    """Splits members into chunks without two of the same name or that define the same names."""
    chunks = []
    for member in members:
        path = member[0][0]
        own = {path.name, *DEFINED.findall(path.read_text(encoding="utf-8"))}
        for chunk, names in chunks:
            if len(chunk) < chunk_max and not own & names:
                break
        else:
            chunk, names = [], set()
            chunks.append((chunk, names))
        chunk.append(member)
        names |= own
    return [chunk for chunk, _ in chunks]


def run_tidy(tool, flags, group, path: pathlib.Path):
    """(status, output, members it names) of clang-tidy over a group that `path` joins."""
    options = ["--quiet", "--warnings-as-errors=*", "--extra-arg=-ferror-limit=0"]
    command = [*tool, *options, str(path), "--", *flags[1:]]
    directory = group[0][0][1]
    run = subprocess.run(command, cwd=directory, check=False, capture_output=True, text=True)
    wrong = set(re.findall(r"^(.+?):\d+:\d+: error: ", run.stdout, re.M))
    return run.returncode, run.stdout, [member for member in group if str(member[0][0]) in wrong]


def check(tool, build: pathlib.Path, flags, group):
    """The output of every unit of a group with findings; the others are stamped as clean."""
    path = group[0][0][0] if len(group) == 1 else joined(build, group)
    status, output, named = run_tidy(tool, flags, group, path)
    if not status:
        for _, stamp in group:
            stamp.touch()
        return []
    if len(group) == 1:
        return [f"{path}:\n{output}"]
    others = [member for member in group if member not in named]
    half = 0 if named else len(group) // 2
    colliding = NOT_COMPILED in output and others
    apart = [named] if colliding else [[member] for member in named]
    parts = (*apart, others[:half], others[half:])
    return [found for part in parts if part for found in check(tool, build, flags, part)]


def joined(build: pathlib.Path, group) -> pathlib.Path:
    """A source that includes those of a group."""
    names = [str(unit[0]) for unit, _ in group]
    path = build / "tidy" / (hashlib.sha256("\0".join(names).encode()).hexdigest() + ".cc")
    path.write_text("".join(f'#include "{name}"  // NOLINT\n' for name in names))
    return path


def main() -> int:
    if len(sys.argv) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    root, build = (pathlib.Path(p).resolve() for p in sys.argv[2:4])
    # Use the rules of this tree wherever a joined unit lies.
    tool = [sys.argv[1], f"--config-file={root / '.clang-tidy'}"]
    jobs = int(sys.argv[4]) if len(sys.argv) == 5 else len(os.sched_getaffinity(0))
    version = subprocess.run([*tool, "--version"], check=True, capture_output=True).stdout
    salt = version + (root / ".clang-tidy").read_bytes()
    (build / "tidy").mkdir(exist_ok=True)
    units, headers = read_units(root, build), Headers()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        stamps = [(unit, stamp_of(salt, build, headers, unit)) for unit in units]
        unknown = [(unit, stamp) for unit, stamp in stamps if not stamp.exists()]
        runs = [pool.submit(check, tool, build, *group) for group in join(unknown, JOINED_MAX)]
        for run in runs:
            for output in run.result():
                failed += 1
                print(output, flush=True)
    known = len(units) - len(unknown)
    print(f"{len(units)} units, {known} known to be clean, {failed} with findings")
    return 1 if failed or not units else 0


if __name__ == "__main__":
    sys.exit(main())
