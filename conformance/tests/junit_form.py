#!/usr/bin/env python3
"""Compares the JUnit XML of `lockstep` with the form that CI systems read: the elements and
attributes of the schema of Jenkins' xUnit plugin, and counts that are those of the elements.

usage: junit_form.py PROGRAM
"""

import subprocess
import sys
import tempfile
import xml.etree.ElementTree

COUNTS = {"tests", "failures", "errors"}
# Of each element: the attributes it must have, those it may have, and its children.
FORM = {
    "testsuites": (COUNTS | {"name"}, set(), {"testsuite"}),
    "testsuite": (COUNTS | {"name", "skipped"}, {"time"}, {"testcase"}),
    "testcase": ({"classname", "name"}, {"time"}, {"failure"}),
    "failure": ({"type", "message"}, set(), set()),
}
RUNS = {
    "reference": 0,
    "null": 1,
    "exec:cat <&>\"' ]]> \x1b[31m \xe4\n": 1,
}


def mistakes(element, inside):
    """What is wrong with an element and everything in it."""
    required, allowed, children = FORM[element.tag]
    given = set(element.attrib)
    if element.tag not in inside:
        yield f"{element.tag} is no child of its parent"
    if required - given or given - required - allowed:
        yield f"{element.tag} has the attributes {sorted(given)}"
    for count, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error")):
        found = str(len(element.findall(f".//{tag}")))
        if count in given and element.get(count) != found:
            yield f"{element.tag} counts {element.get(count)} {count}, not {found}"
    names = [(child.get("classname"), child.get("name")) for child in element]
    if len(names) != len(set(names)):
        yield f"{element.tag} has two children of one name"
    for child in element:
        yield from mistakes(child, children)


def main():
    for backend, exit_code in RUNS.items():
        with tempfile.NamedTemporaryFile(suffix=".xml") as file:
            ended = subprocess.run(
                [sys.argv[1], "check", backend, "--tier", "0", "--op", "relu,sum",
                 "--junit", file.name, "--no-shrink", "--quiet", "--start-timeout", "20"],
                check=False, stdout=subprocess.DEVNULL)  # fmt: skip
            root = xml.etree.ElementTree.parse(file.name).getroot()
        found = list(mistakes(root, {"testsuites"}))
        if ended.returncode != exit_code:
            found.append(f"exit {ended.returncode}")
        if (int(root.get("failures")) > 0) != (exit_code != 0):
            found.append(f"{root.get('failures')} failures")
        if found:
            print(f"{backend!r}: " + "; ".join(found))
            return 1
    print(f"{len(RUNS)} reports have the form")
    return 0


if __name__ == "__main__":
    sys.exit(main())
