#!/usr/bin/env python3
"""Runs shellcheck over the shell scripts of the project.

usage: shell.py SHELLCHECK ROOT
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
    files = [str(path.relative_to(root)) for path in sources.shell_files(root)]
    if not files:
        print(f"no shell script below {root}", file=sys.stderr)
        return 1
    print("\n".join(files))
    return subprocess.run([sys.argv[1], *files], cwd=root, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
