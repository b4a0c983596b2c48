#!/usr/bin/env python3
"""Validates documents of the program by their schemas, which must refuse changed documents.

usage: schemas.py PROGRAM GOLDEN-DIRECTORY
"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import jsonschema
except ImportError:
    print("SKIPPED: no jsonschema")
    sys.exit(0)

# Elements may be any number, and so what stands beside a difference of values.
ANY_NUMBER = ("'values'): first is 0.5", "'values'): second is 0.5")


def printed(*words):
    """The document that the program prints."""
    said = subprocess.run([sys.argv[1], *words], stdout=subprocess.PIPE, check=False)
    assert said.returncode in (0, 1, 2, 3) and said.stdout, words
    document = json.loads(said.stdout)
    assert document.get("exit", said.returncode) == said.returncode, words
    return document


def specifications():
    """The specification with vectors and without; the last with one operator for all."""
    whole = printed("spec", "--json", "--vectors", "")
    yield from (printed("spec", "--json"), whole)
    whole["operators"] = [op for op in whole["operators"]
                          if op["errata"] and op["attributes"] and op["rules"]][:1]
    yield whole


def reports():
    """A report of each verdict that differs in its members; the last is a small one."""
    for backend, words in (
        ("reference", ["--op", "relu,sum"]),
        ("null", ["--op", "relu"]),
        ("exec:cat <&>\"'", ["--op", "relu"]),
        ("faulty", ["--op", "clip", "--set", "mutant=clip.one_sided"]),
        ("reference", ["--op", "relu", "--property", "matches_reference"]),
    ):
        yield printed("check", backend, "--tier", "0", "--json", "-", "--no-shrink", *words)


def coverage():
    """The cells of operators, with and without combinations."""
    for op in ("clip", "relu"):
        yield printed("cover", "--op", op, "--tier", "0", "--json", "-")


def parameters(scratch):
    """Every kind of document about parameter files, in every form that it has."""
    golden = pathlib.Path(sys.argv[2])
    example, types = golden / "worked_example.params", golden / "every_dtype.params"
    damaged, other = scratch / "damaged.params", scratch / "other.params"
    damaged.write_bytes(example.read_bytes()[:100] + b"\xff" + example.read_bytes()[101:])
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
        yield printed("params", *words, "--json")


def models(scratch):
    """Every kind of document about models: what is read, and what is printed."""
    digits = pathlib.Path(sys.argv[1]).parents[1] / "share" / "lockstep" / "models" / "digits"
    image = scratch / "image"
    image.write_bytes(bytes(64))
    yield json.loads((digits / "expected.json").read_text())
    yield json.loads((digits / "dataset.json").read_text())
    for mutant in ("none", "cvm_right_shift.ties_away"):
        backend = ["--quiet", "--backend", "faulty", "--set", f"mutant={mutant}"]
        yield printed("model", "check", digits, *backend, "--json", "-")
        values = ["--values", scratch / f"{mutant}.npz"]
        yield printed("model", "trace", digits, "--input", image, *backend, *values, "--json", "-")
        yield printed("model", "diff", scratch / "none.npz", values[1], "--json", "-")
    yield printed("model", "check", digits, "--quiet", "--backend", "exec:false", "--json", "-")
    yield printed("model", "show", digits, "--json", "-")
    yield printed("model", "run", digits, "--input", image, "--quiet", "--json", "-")


def objects(value, path=()):
    """Every object below a value, with the way to it; of a list only the first element."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, (*path, key))
    elif isinstance(value, list) and value:
        yield from objects(value[0], (*path, 0))


def changes(document):
    """Makes one thing after the other wrong in a document, and yields each while it is wrong."""
    for path, found in list(objects(document)):
        if "call" in path:  # a line of eval, which has a schema of its own
            continue
        found["unknown"] = []  # nothing by any name is a list without elements
        yield f"{path}: an unknown key"
        del found["unknown"]
        for key, right in list(found.items()):
            found[key] = 0.5
            yield f"{path}: {key} is 0.5"
            found[key] = right


def hold(schema, documents, changed):
    """Validates the documents, and counts the changes that the schema refuses: of the last
    `changed` documents."""
    jsonschema.Draft202012Validator.check_schema(schema)
    kinds = [jsonschema.Draft202012Validator(kind) for kind in schema.get("oneOf", [schema])]
    seen, tried = set(), 0
    for number, document in enumerate(documents):
        fitting = [kind for kind in kinds if kind.is_valid(document)]
        if len(fitting) != 1:
            best = jsonschema.exceptions.best_match(kinds[0].iter_errors(document))
            sys.exit(f"{schema['title']}: {len(fitting)} kinds fit; {str(best)[:400]}")
        seen.add(kinds.index(fitting[0]))
        for what in changes(document) if number >= len(documents) - changed else ():
            if fitting[0].is_valid(document) and not what.endswith(ANY_NUMBER):
                sys.exit(f"{schema['title']}: accepts {what}")
            tried += 1
    if len(seen) != len(kinds) or not tried:
        sys.exit(f"{schema['title']}: kinds {seen} of {len(kinds)} were seen, {tried} changes")
    print(f"{schema['title']}: valid; {tried} mistakes are refused")


def main():
    hold(printed("spec", "--schema"), list(specifications()), 1)
    hold(printed("check", "--schema"), list(reports()), 1)
    hold(printed("cover", "--schema"), list(coverage()), 2)
    with tempfile.TemporaryDirectory() as scratch:
        for group, documents in (("params", parameters), ("model", models)):
            made = list(documents(pathlib.Path(scratch)))
            hold(printed(group, "schema"), made, len(made))


if __name__ == "__main__":
    main()
