#!/usr/bin/env python3
"""Runs a test with its peers, or says which of them is not installed.

usage: run.py MODULE[,MODULE...] SCRIPT [ARGUMENT...]

A module that is installed but cannot be imported fails the test.
"""

import importlib.util
import pathlib
import runpy
import sys


def main() -> None:
    modules, script = sys.argv[1].split(","), sys.argv[2]
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"SKIPPED: no {module}")
            return
    sys.argv = sys.argv[2:]
    sys.path[0] = str(pathlib.Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
