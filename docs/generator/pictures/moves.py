"""Operators that copy elements: each element of the output has the tint of its source. The program
itself tells the source, if called with the numbers of the elements as data."""

import math

from pictures import grids, svg
from pictures.panel import Panel


def sources(ask, call: dict, moved: range) -> list:
    """The number of the element that each output element copies, counted over some inputs."""
    inputs, at = list(call["in"]), 0
    for k in moved:
        shape = call["in"][k]["shape"]
        count = math.prod(shape)
        inputs[k] = {"shape": shape, "data": list(range(at, at + count))}
        at += count
    precisions = [32 if k in moved else p for k, p in enumerate(call["in_prec"])]
    return ask({**call, "in": inputs, "in_prec": precisions})["out"][0]["data"]


def drawn(op, example, ask, moved=None, tint_of=lambda k, source: source) -> svg.Canvas:
    """The inputs, those of `moved` tinted, and the output in the tints of its sources."""
    call = example["call"]
    moved = range(len(call["in"])) if moved is None else moved
    found = sources(ask, call, moved)
    inputs, styles = grids.grids_of(op, call), []
    for k in moved:
        for _ in inputs[k].texts:
            at = len(styles)
            styles.append(grids.tint(tint_of(k, at)) if at in found else "unused")
            inputs[k].styles.append(styles[at])
    out = example["out"][0]
    result = grids.Grid(op["outputs"][0]["name"], out["shape"], out["data"],
                        [styles[source] for source in found])  # fmt: skip
    canvas = svg.Canvas()
    grids.flow(canvas, [*inputs, grids.Sign(grids.ARROW), result])
    return canvas


def by_element(op, ask):
    """The example that moves the most elements, one tint an element."""
    fitting = [e for e in op["examples"] if len(e["out"][0]["data"]) <= 16]
    example = max(fitting, key=lambda e: (len(set(e["out"][0]["data"])), len(e["out"][0]["data"])))
    text = "Every element of Y has the tint of the element of X that it copies."
    return [Panel(drawn(op, example, ask), example, text)]


def by_input(op, ask):
    """The example with the most inputs, one tint an input."""
    example = max(op["examples"], key=lambda e: len(e["call"]["in"]))
    canvas = drawn(op, example, ask, tint_of=lambda k, _: k)
    text = "Each input has a tint; along the axis they follow one another."
    return [Panel(canvas, example, text)]


def gathered(op, ask):
    """Indices choose among the elements of the other input."""
    data = [port["name"] for port in op["inputs"]].index("X" if op["name"] == "take" else "table")
    return [Panel(drawn(op, example, ask, range(data, data + 1)), example,
                  "Each index fetches the tint of its place; one outside is clamped.")
            for example in op["examples"][:2]]  # fmt: skip


def cut(op, ask):
    """What is kept of the first input; the second gives only its shape."""
    return [Panel(drawn(op, example, ask, range(1)), example, "What is grey is left out.")
            for example in op["examples"][:2]]  # fmt: skip


def chosen(op, ask):
    """A condition that chooses between two inputs."""
    return [Panel(drawn(op, example, ask, range(1, 3), lambda k, _: k - 1), example,
                  "The tint of Y is that of the input from which the element comes.")
            for example in op["examples"]]  # fmt: skip


def strided(op, ask):
    """The picks along one axis in their order, with the indices from both ends."""
    flat = [e for e in op["examples"] if len(e["call"]["in"][0]["shape"]) == 1]
    panels = [Panel(picks(e, sources(ask, e["call"], range(1))), e,
                    "Above an element is its index, below the one from the back; the arrows are "
                    "the steps, and the last one leads past the end.") for e in flat]  # fmt: skip
    other = next(e for e in op["examples"][2:] if e not in flat)
    return [*panels, Panel(drawn(op, other, ask), other, "What is grey is left out.")]


def picks(example: dict, found: list) -> svg.Canvas:
    """One axis of X, an arrow for each step, and the picked elements below in their order."""
    canvas, call, wide = svg.Canvas(), example["call"], 44
    data = call["in"][0]["data"]
    step = int(call["attrs"]["stride"].strip("(),") or 1)
    for k, value in enumerate(data):
        left = k * wide
        canvas.text(left + wide / 2, -10, str(k), "note")
        canvas.box(left, 0, wide, 30, "cell " + (grids.tint(k) if k in found else "unused"))
        canvas.text(left + wide / 2, 15, str(value))
        canvas.text(left + wide / 2, 40, str(k - len(data)), "note")
    for order, k in enumerate(found):
        y = 58 + 15 * order
        start, end = (k + 0.5) * wide, (k + 0.5 + step) * wide
        canvas.dot(start, y, 3.5, "point")
        canvas.arrow(start, y, max(min(end, (len(data) + 0.4) * wide), -0.4 * wide), y)
    left = len(data) * wide + 40
    canvas.text(left, -10, f"Y {grids.shape_text([len(found)])}", "name", "start")
    for order, (k, value) in enumerate(zip(found, example["out"][0]["data"], strict=True)):
        canvas.box(left + order * wide, 0, wide, 30, "cell " + grids.tint(k))
        canvas.text(left + (order + 0.5) * wide, 15, str(value))
    return canvas
