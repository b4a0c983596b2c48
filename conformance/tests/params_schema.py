#!/usr/bin/env python3
"""Holds what `lockstep params` prints with --json to its schema, and the schema to changes of it.

usage: params_schema.py PROGRAM SCHEMA GOLDEN-DIRECTORY
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from spec_schema import changes, jsonschema

# Elements may be any number, and so what stands beside a difference of values.
ANY_NUMBER = ("'values'): first is 0.5", "'values'): second is 0.5")


def documents(program, golden, scratch):
    """Every kind of document, in every form that it has."""
    example, types = golden / "worked_example.params", golden / "every_dtype.params"
    damaged = scratch / "damaged.params"
    damaged.write_bytes(example.read_bytes()[:100] + b"\xff" + example.read_bytes()[101:])
    other = scratch / "other.params"
    other.write_bytes(example.read_bytes()[:-1] + b"\x08")
    for words in (
        ["labels"],
        ["list", example],
        ["verify", example],
        ["verify", damaged],
        ["verify", scratch / "missing"],
        ["dump", types],
        ["dump", example],
        ["diff", example, other],
        ["diff", example, types],
        ["convert", types, scratch / "converted.npz"],
        ["list", scratch / "converted.npz"],
    ):
        said = subprocess.run([program, "params", *words, "--json"], stdout=subprocess.PIPE)
        assert said.returncode in (0, 1, 2) and said.stdout, words
        yield words[0], json.loads(said.stdout)


def main():
    schema = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="ascii"))
    jsonschema.Draft202012Validator.check_schema(schema)
    kinds = {reference["$ref"].rsplit("/", 1)[1] for reference in schema["oneOf"]}
    tried, seen = 0, set()
    with tempfile.TemporaryDirectory() as scratch:
        places = pathlib.Path(sys.argv[3]), pathlib.Path(scratch)
        for kind, document in documents(sys.argv[1], *places):
            seen.add(kind)
            jsonschema.validate(document, schema)
            of_kind = {"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
            validator = jsonschema.Draft202012Validator(of_kind)
            for what in changes(document):
                if validator.is_valid(document) and not what.endswith(ANY_NUMBER):
                    print(f"the schema accepts, of {kind}, {what}")
                    return 1
                tried += 1
    if seen != kinds:
        print(f"of the kinds {kinds} only {seen} were seen")
        return 1
    print(f"valid; {tried} mistakes are refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
