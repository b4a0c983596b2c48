#!/usr/bin/env python3
"""Checks that no test parameter prints as bytes: without PrintTo, test names contain addresses.

usage: test_names.py PROGRAM...

Lists the tests of GoogleTest programs, prints every line that shows bytes, and ends with status 1
when there is one, or when a program lists no test.
"""

import subprocess
import sys


def problems(program: str, listing: str):
    """Yields the violations in the list of a program's tests."""
    lines = listing.splitlines()
    if not any(line.startswith("  ") for line in lines):
        yield f"{program} lists no test"
    for line in lines:
        if "-byte object" in line:
            yield f"{program}: {line.strip()}"


def main(programs):
    found = []
    for program in programs:
        listed = subprocess.run([program, "--gtest_list_tests"], stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, errors="replace", timeout=60,
                                check=False)
        found += problems(program, listed.stdout)
    print("\n".join(found + [f"{len(programs)} programs, {len(found)} violations"]))
    return 1 if found or not programs else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
