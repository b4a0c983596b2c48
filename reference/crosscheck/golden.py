"""The golden vectors as lines of `lockstep eval`, each with the outcome that is frozen for it."""

import json
import math
import pathlib
import sys

DIRECTORY = pathlib.Path(__file__).resolve().parents[2] / "conformance" / "vectors"
sys.path.insert(0, str(DIRECTORY))

from check_vectors import element  # noqa: E402  # found through the line above


def written(tensor: dict, k: int, precision: int) -> dict:
    """An input of a vector as one of a line: a recipe becomes its elements."""
    line = {key: tensor[key] for key in ("shape", "data") if key in tensor}
    if "recipe" in tensor:
        recipe, count = tensor["recipe"], math.prod(tensor["shape"])
        line["data"] = [element(recipe["fill"], recipe["seed"], k, i, precision)
                        for i in range(count)]  # fmt: skip
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
