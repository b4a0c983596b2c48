#!/usr/bin/env python3
"""Checks golden vectors without Lockstep: structure, identifiers, hashes and recipes.

usage: check_vectors.py [DIR]

Prints one line per mistake as FILE: TEST: what, and ends with status 1 when there is one. FORMAT.md
says what the files mean; the generator of recipes below stands there too.
"""

import hashlib
import json
import math
import pathlib
import re
import struct
import sys

import formulas

HEADER_KEYS = {
    "schema", "specification", "version", "operator", "aliases", "inputs", "outputs", "shape",
    "precision", "numberOfTests", "attributes", "notes", "tests"
}
TEST_KEYS = {"tcId", "comment", "flags", "attrs", "in_prec", "in", "result"}
WRITTEN_MAX = 1024
SET_BYTES_MAX = 8 << 20

WORD = (1 << 64) - 1


def mix(z):
    z = (z + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def within(w, low, high):
    return low + w % (high - low + 1)


def element(fill, seed, k, i, precision):
    """Element i of input k."""
    a = (1 << (precision - 1)) - 1
    w = mix((mix((mix(seed) + k) & WORD) + i) & WORD)
    if fill == "boundary":
        v = (1 << within(w, 0, 31)) + within(w >> 8, -1, 1)
        return max(-a, min(a, -v if w >> 63 else v))
    return {
        "zero": 0,
        "max": a,
        "min": -a,
        "alternating": a if (i + k) % 2 == 0 else -a,
        "dense": within(w, -a, a),
        "sparse": within(w, -a, a) if w % 8 == 0 else 0,
    }[fill]


class Mistake(Exception):
    """What is wrong with a file or a test."""


def require(holds, what):
    if not holds:
        raise Mistake(what)


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def are_integers(values):
    return isinstance(values, list) and all(is_integer(v) for v in values)


def unique_keys(pairs):
    """A JSON object; the library would silently keep the last of two equal keys."""
    keys = [key for key, _ in pairs]
    require(len(set(keys)) == len(keys), f"a key is given twice among {keys[:8]}")
    return dict(pairs)


def is_legal(shape):
    inside = all(1 <= extent <= 1 << 24 for extent in shape)
    return 1 <= len(shape) <= 6 and inside and math.prod(shape) <= 1 << 30


def values_hash(values):
    return hashlib.sha256(struct.pack(f"<{len(values)}i", *values)).hexdigest()


def check_input(tensor, k, precision, is_ok):
    """One input; its values must be legal where the result is "ok"."""
    where = f"in[{k}]"
    require("shape" in tensor, f"{where} has no shape")
    require(set(tensor) <= {"shape", "data", "recipe", "sha256"}, f"{where} has an unknown key")
    shape = tensor["shape"]
    require(are_integers(shape), f"{where}.shape is no list of integers")
    require(not {"data", "recipe"} <= set(tensor), f"{where} has both data and a recipe")
    require(("recipe" in tensor) == ("sha256" in tensor), f"{where}: recipe without sha256")
    require(not is_ok or is_legal(shape), f"{where} has an illegal shape")
    require(not is_ok or 1 <= precision <= 32, f"{where} has an illegal precision")
    values = tensor.get("data", [])
    require(are_integers(values), f"{where}.data is no list of integers")
    count = math.prod(shape)
    if "data" in tensor:
        require(is_legal(shape) and len(values) == count, f"{where}.data: wrong length")
        require(len(values) <= WRITTEN_MAX, f"{where}.data is longer than {WRITTEN_MAX}")
    if "recipe" in tensor:
        recipe = tensor["recipe"]
        require(set(recipe) == {"fill", "seed"}, f"{where}.recipe has other keys")
        fill, seed = recipe["fill"], recipe["seed"]
        values = [element(fill, seed, k, i, precision) for i in range(count)]
        require(values_hash(values) == tensor["sha256"], f"{where}: the recipe gives other values")
    a = (1 << (max(precision, 1) - 1)) - 1
    require(not is_ok or all(-a <= v <= a for v in values), f"{where}: outside its precision")


def check_output(tensor, k):
    """One output: legal, complete, and with its own hash."""
    where = f"out[{k}]"
    require(set(tensor) == {"shape", "prec", "data", "sha256"}, f"{where} has other keys")
    require(are_integers(tensor["shape"]) and is_legal(tensor["shape"]), f"{where}: illegal shape")
    require(is_integer(tensor["prec"]) and 1 <= tensor["prec"] <= 32, f"{where}: illegal precision")
    data, count = tensor["data"], math.prod(tensor["shape"])
    require(are_integers(data), f"{where}.data is no list of integers")
    require(len(data) == count, f"{where}.data: wrong length")
    require(len(data) <= WRITTEN_MAX, f"{where}.data is longer than {WRITTEN_MAX}")
    a = (1 << (tensor["prec"] - 1)) - 1
    require(all(-a <= v <= a for v in data), f"{where}: outside its precision")
    require(values_hash(data) == tensor["sha256"], f"{where}.sha256 is not the hash of its data")


def meanings(file, attrs):
    """A legal call's attributes by name, as formulas see them: integers, lists and None."""
    values = {}
    for attribute in file["attributes"]:
        given = [attrs[key] for key in (attribute["name"], attribute.get("alias")) if key in attrs]
        text = (given or [attribute.get("default")])[0].strip(" \t").lower()
        if attribute["type"] == "tuple":
            values[attribute["name"]] = [int(n) for n in re.findall(r"[+-]?\d+", text)]
        elif attribute["type"] == "bool":
            values[attribute["name"]] = int(text in ("true", "1"))
        elif attribute["type"] != "word":
            values[attribute["name"]] = None if text == "none" else int(text)
    return values


def check_formulas(test, file):
    """The shape and precision of each output, and the accumulator, by the operator's formulas."""
    require(len(test["out"]) == len(file["precision"]), "has another number of outputs")
    shapes = [tensor["shape"] for tensor in test["in"]]
    given = {name: [0] for name in file["inputs"]} | dict(zip(file["inputs"], shapes))
    results = dict(zip(file["outputs"], (tensor["shape"] for tensor in test["out"])))
    attributes = meanings(file, test["attrs"])
    everything = (file["inputs"][-1], shapes)
    before = formulas.Call(test["in_prec"], given, {}, attributes, everything)
    after = formulas.Call(test["in_prec"], given, results, attributes, everything)
    for k, tensor in enumerate(test["out"]):
        for key, call, stated in (("shape", before, file["shape"][k]),
                                  ("prec", after, file["precision"][k])):  # fmt: skip
            value = call.value(stated)
            require(value == tensor[key], f"out[{k}].{key}: {stated} is {value}")
    if "accumulator" in file:
        bits, widest = after.value(file["accumulator"]), test["out"][0]["prec"]
        require(bits <= widest, f"the accumulator has {bits} bits, the result {widest}")
        fits = all(abs(v) < 1 << (bits - 1) for v in test["out"][0]["data"])
        require(fits, f"a result exceeds an accumulator of {bits} bits")


def check_test(test, operator, notes):
    """One test."""
    is_ok = test.get("result") == "ok"
    require(set(test) == TEST_KEYS | {"out" if is_ok else "label"}, "has other keys")
    require(re.fullmatch(rf"{operator}-\d{{4,8}}", test["tcId"]), "is no identifier")
    require(isinstance(test["comment"], str) and test["comment"], "has no comment")
    require(set(test["flags"]) <= set(notes), "has a flag without a note")
    texts = [*test["attrs"], *test["attrs"].values()]
    require(all(isinstance(text, str) for text in texts), "attrs are not text")
    require(are_integers(test["in_prec"]), "in_prec is no list of integers")
    require(len(test["in_prec"]) == len(test["in"]), "in_prec and in differ in length")
    for k, tensor in enumerate(test["in"]):
        check_input(tensor, k, test["in_prec"][k], is_ok)
    if is_ok:
        require(test["out"], "has no outputs")
        for k, tensor in enumerate(test["out"]):
            check_output(tensor, k)
    else:
        require(test["result"] == "error", "has a result that is neither ok nor error")
        require(re.fullmatch(r"[a-z0-9_]+\.[a-z0-9_]+", test["label"]), "has no label")


def check_file(path):
    """Yields (test, mistake); the mistake None for a test that is right."""
    text = path.read_text(encoding="ascii")
    file = json.loads(text, object_pairs_hook=unique_keys)
    require(set(file) - {"accumulator"} == HEADER_KEYS, "the header has other keys")
    require(file["schema"] == "schema.json" and file["specification"] == "lockstep", "not ours")
    require(re.fullmatch(r"\d+\.\d+\.\d+", file["version"]), "version is no MAJOR.MINOR.PATCH")
    require(path.stem == file["operator"], "is named after another operator")
    require(file["numberOfTests"] == len(file["tests"]), "numberOfTests is wrong")
    used = {flag for test in file["tests"] for flag in test["flags"]}
    require(used == set(file["notes"]), "notes and flags differ")
    identifiers, calls = set(), set()
    for test in file["tests"]:
        mistake = None
        try:
            check_test(test, file["operator"], file["notes"])
            if test["result"] == "ok":
                check_formulas(test, file)
            require(test["tcId"] not in identifiers, "is given twice")
            call = json.dumps([test["attrs"], test["in_prec"], test["in"]], sort_keys=True)
            require(call not in calls, "repeats the call of another test")
            identifiers.add(test["tcId"])
            calls.add(call)
        except (Mistake, formulas.NoFormula) as why:
            mistake = str(why)
        except (KeyError, TypeError, AttributeError, struct.error) as why:
            mistake = f"malformed: {why!r}"
        yield test.get("tcId"), mistake


def main() -> int:
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__, file=sys.stderr)
        return 2
    directory = pathlib.Path(*sys.argv[1:] or [pathlib.Path(__file__).parent])
    paths = sorted(path for path in directory.glob("*.json") if path.name != "schema.json")
    tests, mistakes = 0, []
    for path in paths:
        try:
            for identifier, mistake in check_file(path):
                tests += 1
                if mistake:
                    mistakes.append(f"{path.name}: {identifier}: {mistake}")
        except (Mistake, KeyError, TypeError, AttributeError, ValueError) as why:
            mistakes.append(f"{path.name}: {why}")
    total = sum(path.stat().st_size for path in paths)
    if total > SET_BYTES_MAX:
        mistakes.append(f"the set has {total} bytes, more than {SET_BYTES_MAX}")
    lines = "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(directory.glob("*.json"))
    )
    set_hash = hashlib.sha256(lines.encode()).hexdigest()
    print("\n".join(mistakes + [f"{len(paths)} files, {tests} tests, {len(mistakes)} mistakes; "
                                f"set {set_hash}"]))
    return 1 if mistakes or tests == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
