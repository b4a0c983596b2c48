#!/usr/bin/env python3
"""Runs clang-format over the project and fails where a file would change.

usage: format.py CLANG_FORMAT ROOT
"""

import pathlib
import subprocess
import sys

import sources


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    root = pathlib.Path(sys.argv[2]).resolve()
    files = sources.cxx_files(root)
    if not files:
        print(f"no C++ file below {root}", file=sys.stderr)
        return 1
    command = [sys.argv[1], "--dry-run", "-Werror", "--ferror-limit=3", "--style=file"]
    status = subprocess.run(command + [str(path) for path in files], check=False).returncode
    if status:
        print("to repair: clang-format -i FILE...", file=sys.stderr)
    else:
        print(f"{len(files)} files are formatted")
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
