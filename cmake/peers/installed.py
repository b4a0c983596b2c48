#!/usr/bin/env python3
"""Checks that the environment of the peers is the one that requirements.txt describes.

usage: installed.py REQUIREMENTS
"""

import importlib.metadata
import pathlib
import re
import sys


def main() -> int:
    text = pathlib.Path(sys.argv[1]).read_text(encoding="ascii")
    pins = re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)
    assert pins, "the requirements name nothing"
    wrong = 0
    for name, version in pins:
        found = importlib.metadata.version(name)
        wrong += found != version
        print(name, found, "as pinned" if found == version else f"where {version} is pinned")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
