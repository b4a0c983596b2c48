#!/usr/bin/env python3
"""Every public symbol of the installed headers has a sentence.

usage: documented_test.py DOXYGEN DOXYFILE...

Doxygen reads the headers as it does for the site, where a symbol without a sentence is an error.
For each Doxyfile a copy of a header with one such symbol must be refused, so that a Doxygen which
checks nothing cannot pass.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

INPUT = re.compile(r"^INPUT\s*=(.*)$", re.MULTILINE)
OUTPUT = re.compile(r"^OUTPUT_DIRECTORY\s*=.*$", re.MULTILINE)
CANARY = "canary_that_nobody_explains"


def complaints(doxygen: str, text: str, headers: list, room: pathlib.Path) -> list:
    """What Doxygen finds undocumented in these headers; the status has to agree."""
    listed = " ".join(f'"{header}"' for header in headers)
    text = INPUT.sub(lambda _: f"INPUT = {listed}", text)
    text = OUTPUT.sub(lambda _: f'OUTPUT_DIRECTORY = "{room}"', text)
    done = subprocess.run([doxygen, "-"], input=text, text=True, capture_output=True, check=False)
    found = [line for line in done.stderr.splitlines() if "warning:" in line or "error:" in line]
    if bool(done.returncode) != bool(found):
        raise SystemExit(f"doxygen ended with {done.returncode}:\n{done.stderr}")
    return found


def with_canary(header: pathlib.Path, room: pathlib.Path) -> pathlib.Path:
    """A copy of a header with a function without a sentence, before what ends it."""
    text = header.read_text(encoding="ascii")
    ending = "\n}  // namespace" if "\n}  // namespace" in text else "\n#endif"
    before, _, after = text.rpartition(ending)
    copy = room / header.name
    copy.write_text(f"{before}\n\nvoid {CANARY}(int value);\n{ending}{after}", encoding="ascii")
    return copy


def faults(doxygen: str, doxyfile: pathlib.Path):
    """What is wrong with the headers of a Doxyfile, or with the check."""
    text = doxyfile.read_text(encoding="utf-8")
    headers = [pathlib.Path(path) for path in re.findall(r'"([^"]+)"', INPUT.search(text)[1])]
    if not headers:
        yield f"{doxyfile.name} names no header"
        return
    with tempfile.TemporaryDirectory(prefix="lockstep-documented-") as directory:
        room = pathlib.Path(directory)
        yield from complaints(doxygen, text, headers, room / "right")
        wrong = [*headers[:-1], with_canary(headers[-1], room)]
        if not any(CANARY in line for line in complaints(doxygen, text, wrong, room / "wrong")):
            yield f"{doxyfile.name}: nobody notices a function without a sentence"
    print(f"{doxyfile.name}: {len(headers)} headers")


def main() -> int:
    doxygen, *doxyfiles = sys.argv[1:]
    found = [fault for path in doxyfiles for fault in faults(doxygen, pathlib.Path(path))]
    print("\n".join(found))
    return 1 if found or not doxyfiles else 0


if __name__ == "__main__":
    sys.exit(main())
