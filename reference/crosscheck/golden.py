"""The golden vectors as lines of `lockstep eval`, each with the outcome that is frozen for it."""

import json
import math
import pathlib

DIRECTORY = pathlib.Path(__file__).resolve().parents[2] / "conformance" / "vectors"
WORD = 2**64 - 1


def mixed(z: int) -> int:
    z = (z + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def element(fill: str, seed: int, k: int, i: int, a: int) -> int:
    """Element i of input k by recipe; a is the largest legal value. FORMAT.md defines it."""
    w = mixed((mixed((mixed(seed) + k) & WORD) + i) & WORD)
    uniform = w % (2 * a + 1) - a
    if fill == "boundary":
        power = 2 ** (w % 32) + (w >> 8) % 3 - 1
        return max(-a, min(a, -power if w >> 63 else power))
    return {
        "zero": 0,
        "max": a,
        "min": -a,
        "alternating": -a if (i + k) % 2 else a,
        "dense": uniform,
        "sparse": 0 if w % 8 else uniform,
    }[fill]


def written(tensor: dict, k: int, precision: int) -> dict:
    """An input of a vector as one of a line: a recipe becomes its elements."""
    line = {key: tensor[key] for key in ("shape", "data") if key in tensor}
    if "recipe" in tensor:
        fill, seed, a = tensor["recipe"]["fill"], tensor["recipe"]["seed"], 2 ** (precision - 1) - 1
        count = math.prod(tensor["shape"])
        line["data"] = [element(fill, seed, k, i, a) for i in range(count)]
    return line


def vectors(path: pathlib.Path):
    """Yields (line, outcome) of each test of a file; the outcome in the form of an answer."""
    file = json.loads(path.read_text(encoding="ascii"))
    for test in file["tests"]:
        precisions = test["in_prec"]
        inputs = [written(x, k, p) for k, (x, p) in enumerate(zip(test["in"], precisions))]
        call = {"id": test["tcId"], "op": file["operator"], "attrs": test["attrs"],
                "in_prec": precisions, "in": inputs}  # fmt: skip
        keys = ("shape", "prec", "data")
        if test["result"] == "ok":
            out = [{key: y[key] for key in keys} for y in test["out"]]
            outcome = {"id": test["tcId"], "status": "ok", "out": out}
        else:
            outcome = {"id": test["tcId"], "status": "logic_error", "label": test["label"]}
        yield json.dumps(call), outcome


def files() -> list:
    """The files of the set, one per operator."""
    return sorted(p for p in DIRECTORY.glob("*.json") if p.name != "schema.json")
