"""Elements that meet: reductions, and two tensors that are aligned from the right."""

import math

from pictures import grids, svg
from pictures.panel import Panel
from refusal import Refused


def reduced(op, ask):
    """The elements that make one element of Y have its tint. The program tells which ones these
    are: it reduces tensors with a single 1."""
    fitting = [e for e in op["examples"] if all(abs(v) < 1000 for v in e["call"]["in"][0]["data"])
               and len(e["out"][0]["data"]) < len(e["call"]["in"][0]["data"])]  # fmt: skip
    panels = []
    for example in sorted(fitting, key=lambda e: -len(e["out"][0]["data"]))[:2]:
        call, out = example["call"], example["out"][0]
        shape = call["in"][0]["shape"]
        count = math.prod(shape)
        styles = []
        for k in range(count):
            single = {"shape": shape, "data": [int(i == k) for i in range(count)]}
            styles.append(grids.tint(ask({**call, "in": [single]})["out"][0]["data"].index(1)))
        x = grids.Grid("X", shape, call["in"][0]["data"], styles)
        tints = list(map(grids.tint, range(len(out["data"]))))
        y = grids.Grid("Y", out["shape"], out["data"], tints)
        canvas = svg.Canvas()
        grids.flow(canvas, [x, grids.Sign(grids.ARROW), y])
        panels.append(Panel(canvas, example,
                            "An element of Y has the tint of the elements that it is made of."))
    return panels


def toward_zero(a: int, b: int) -> int:
    if b == 0:
        return 0
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIGNS = {
    "broadcast_add": ("+", lambda a, b: a + b),
    "broadcast_sub": ("\N{MINUS SIGN}", lambda a, b: a - b),
    "broadcast_mul": ("\N{MULTIPLICATION SIGN}", lambda a, b: a * b),
    "broadcast_div": ("\N{DIVISION SIGN}", toward_zero),
    "broadcast_max": ("max", max),
    "broadcast_greater": (">", lambda a, b: int(a > b)),
}


def spread(x: dict, shape: list) -> tuple:
    """The elements of x repeated to a shape, and whether each is a copy."""
    extents = [1] * (len(shape) - len(x["shape"])) + x["shape"]
    values, copied = [], []
    for k in range(math.prod(shape)):
        source, is_copy, rest = 0, False, k
        index = []
        for n in reversed(shape):
            index.append(rest % n)
            rest //= n
        for i, n in zip(reversed(index), extents, strict=True):
            is_copy |= n == 1 and i > 0
            source = source * n + (i if n > 1 else 0)
        values.append(x["data"][source])
        copied.append(is_copy)
    return values, copied


def broadcast(op, ask):
    """Both inputs repeated to the shape of Y: solid is what is given, dashed what is repeated."""
    sign, compute = SIGNS[op["name"]]
    fitting = [e for e in op["examples"] if len(e["out"][0]["data"]) > 1
               and e["call"]["in"][0]["shape"] != e["call"]["in"][1]["shape"]]  # fmt: skip
    panels = []
    for example in sorted(fitting, key=lambda e: -len(e["out"][0]["data"]))[:2]:
        out, both, items = example["out"][0], [], []
        for k, name in enumerate("AB"):
            x = example["call"]["in"][k]
            values, copied = spread(x, out["shape"])
            both.append(values)
            styles = ["copy" if is_copy else f"t{k}" for is_copy in copied]
            label = f"{name} {grids.shape_text(x['shape'])}"
            items.append(grids.Grid(name, out["shape"], values, styles, label))
        if [compute(a, b) for a, b in zip(*both, strict=True)] != out["data"]:
            raise Refused(f"{example['case']}: the picture shows another result")
        canvas = svg.Canvas()
        grids.flow(canvas, [items[0], grids.Sign(sign), items[1], grids.Sign("="),
                            grids.Grid("Y", out["shape"], out["data"])])  # fmt: skip
        panels.append(Panel(canvas, example, "Dashed elements are repeated, along an axis of "
                            "extent 1 or one that the shape lacks."))  # fmt: skip
    return panels
