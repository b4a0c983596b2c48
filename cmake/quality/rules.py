#!/usr/bin/env python3
"""The house rules that no other tool checks: ASCII text, short lines, short files, no debts.

usage: rules.py ROOT

Prints one line per violation as FILE:LINE: what, and ends with status 1 when there is one.
"""

import ast
import pathlib
import re
import sys

import layers
import sources

LINE_COLUMNS_MAX = 100
FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70

DEBT = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")  # split: this file obeys too
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"@]+)"')


def check_line(line: str):
    """Yields the violations in one line of any text."""
    if not line.isascii():
        yield "not ASCII"
    if "\t" in line:
        yield "a tab"
    if line != line.rstrip():
        yield "trailing white space"
    if len(line) > LINE_COLUMNS_MAX:
        yield f"{len(line)} columns, at most {LINE_COLUMNS_MAX}"
    if DEBT.search(line):
        yield "an unpaid debt; finish it or open an issue"


def check_include(line: str, path: pathlib.Path, root: pathlib.Path):
    """Checks that a quoted include is spelled from the root, so that a moved file cannot find
    another one, and does not point upward."""
    match = INCLUDE.match(line)
    if not match:
        return
    if not (root / match[1]).is_file():
        yield f'"{match[1]}" is not a path from the root of the project'
    elif problem := layers.upward(path.relative_to(root).as_posix(), match[1]):
        yield problem


def check_python_functions(text: str):
    """Yields (line, problem) of functions that do not fit on a screen."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = node.end_lineno - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield node.lineno, f"{node.name} has {lines} lines, at most {FUNCTION_LINES_MAX}"


def check_file(path: pathlib.Path, root: pathlib.Path):
    """Yields (line, problem) for one file."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")
    if lines.pop() != "":
        yield len(lines) + 1, "no newline at the end of the file"
    if len(lines) > FILE_LINES_MAX:
        yield FILE_LINES_MAX + 1, f"{len(lines)} lines, at most {FILE_LINES_MAX}"
    is_cxx = path.suffix in sources.CXX_SUFFIXES
    for number, line in enumerate(lines, start=1):
        for problem in check_line(line):
            yield number, problem
        if is_cxx:
            for problem in check_include(line, path, root):
                yield number, problem
    if path.suffix in {".h", ".hpp", ".cuh"} and "#pragma once" not in lines:
        if not re.search(r"^#ifndef (\w+)\n#define \1$", text, re.MULTILINE):
            yield 1, "neither #pragma once nor an include guard"
    if path.suffix == ".py":
        yield from check_python_functions(text)


def check_tree(root: pathlib.Path):
    """Returns (number of files, list of violations) of a tree."""
    files = sources.text_files(root)
    problems = [
        f"{path.relative_to(root)}:{line}: {problem}"
        for path in files
        for line, problem in check_file(path, root)
    ]
    return len(files), problems


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    count, problems = check_tree(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(problems + [f"{count} files, {len(problems)} violations"]))
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
