#!/usr/bin/env python3
"""Holds what `lockstep spec --json` prints to its schema, and the schema to changes of it.

usage: spec_schema.py PROGRAM SCHEMA
"""

import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("SKIPPED: no jsonschema")
    sys.exit(0)


def objects(value, path=()):
    """Every object below a value, with the way to it; of a list only the first element."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield from objects(value[0], (*path, 0))


def changes(document):
    """Makes one thing after the other wrong in a document, and says what it is for a while."""
    for path, found in list(objects(document)):
        if "call" in path:  # a line of eval, which has a schema of its own
            continue
        found["unknown"] = 1
        yield f"{path}: an unknown key"
        del found["unknown"]
        for key, right in list(found.items()):
            found[key] = 0.5
            yield f"{path}: {key} is 0.5"
            found[key] = right


def main():
    schema = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="ascii"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for words in ([], ["--vectors", ""]):
        said = subprocess.run(
            [sys.argv[1], "spec", "--json", *words], check=True, stdout=subprocess.PIPE)
        specification = json.loads(said.stdout)
        for mistake in validator.iter_errors(specification):
            print(f"{'/'.join(map(str, mistake.absolute_path))}: {mistake.message[:200]}")
            return 1
    # The first operator stands for all, so that this ends soon.
    for op in specification["operators"]:
        if op["errata"] and op["attributes"] and op["rules"]:
            specification["operators"] = [op]
            break
    tried = 0
    for what in changes(specification):
        if validator.is_valid(specification):
            print(f"the schema accepts {what}")
            return 1
        tried += 1
    print(f"valid; {tried} mistakes are refused")
    return 0 if tried else 1


if __name__ == "__main__":
    sys.exit(main())
