"""Operators that change axes and not elements: which extents of X make which extents of Y."""

import math

from pictures import svg
from pictures.panel import Panel, integers
from refusal import Refused

WIDE, HIGH, SPACE = 40, 30, 26


def panel(example: dict, groups: list, text: str) -> Panel:
    """A panel of groups: extents of X, words, extents of Y."""
    canvas, x = svg.Canvas(), 0
    made = [extent for _, _, right in groups for extent in right]
    if made != example["out"][0]["shape"]:
        raise Refused(f"{example['case']}: the picture shows the shape {made}")
    below = 118 if any(words for _, words, _ in groups) else 84
    canvas.text(-14, HIGH / 2, "X", "name", "end")
    canvas.text(-14, below + HIGH / 2, "Y", "name", "end")
    for tint, (left, words, right) in enumerate(groups):
        width = max(len(left) * WIDE, len(right) * WIDE, svg.width_of(words) + 8, 24)
        middle = x + width / 2
        for y, extents in ((0, left), (below, right)):
            for k, extent in enumerate(extents):
                start = middle + (k - len(extents) / 2) * WIDE
                canvas.box(start, y, WIDE, HIGH, f"cell t{tint % 8}")
                canvas.text(start + WIDE / 2, y + HIGH / 2, str(extent))
        connect(canvas, middle, below, (left, words, right))
        x += width + SPACE
    return Panel(canvas, example, text)


def connect(canvas: svg.Canvas, x: float, below: float, group: tuple):
    """The words of a group with arrows from what they read and to what they write."""
    left, words, right = group
    top, center = HIGH + 4, (below + HIGH) / 2
    if words:
        canvas.text(x, center, words, "code")
        if left:
            canvas.arrow(x, top, x, center - 11)
        if right:
            canvas.arrow(x, center + 11, x, below - 4)
    elif left and right:
        canvas.arrow(x, top, x, below - 4)
    elif right:
        canvas.text(x, HIGH / 2, "new", "note")
    if not right:
        canvas.text(x, below + HIGH / 2, "dropped" if left else "nothing", "note")


def reshape(op, ask):
    """Each code of the target beside the extents that it reads and writes."""
    return [panel(e, codes(e), "Above what each code of the target reads, below what it writes.")
            for e in op["examples"]]  # fmt: skip


def codes(example: dict) -> list:
    """The codes of a target with the extents they read and write, from left to right."""
    target = integers(example["call"]["attrs"]["shape"])
    extents = list(example["call"]["in"][0]["shape"])
    written, groups, hole = example["out"][0]["shape"], [], None
    while target:
        code = target.pop(0)
        words = str(code)
        if code == -4:
            a, b = target.pop(0), target.pop(0)
            words, read = f"-4 {a} {b}", [extents.pop(0)]
            right = [read[0] // b if a == -1 else a, read[0] // a if b == -1 else b]
        elif code == -3:
            read = [extents.pop(0), extents.pop(0)]
            right = [math.prod(read)]
        elif code == -2:
            read, extents = extents, []
            right = read
        elif code == -1:
            hole, read, right = len(groups), extents[:1], [0]
            extents = extents[1:]
        else:
            read, extents = extents[:1], extents[1:]
            right = read if code == 0 else [code]
        groups.append((read, words, right))
    if hole is not None:
        known = math.prod(n for _, _, right in groups for n in right if n)
        # What the codes leave of X goes to the inferred extent.
        groups[hole] = (groups[hole][0] + extents, "-1", [math.prod(written) // known])
    return groups


def expand_dims(op, ask):
    panels = []
    for example in op["examples"][1:]:
        attrs, x = example["call"]["attrs"], example["call"]["in"][0]["shape"]
        at = int(attrs["axis"]) % (len(x) + 1)
        new = [([], "", [1])] * int(attrs["num_newaxis"])
        kept = [([n], "", [n]) for n in x]
        panels.append(panel(example, kept[:at] + new + kept[at:], "The extents of the axes."))
    return panels


def squeeze(op, ask):
    panels = []
    for example in op["examples"]:
        x, listed = example["call"]["in"][0]["shape"], integers(example["call"]["attrs"]["axis"])
        dropped = {d % len(x) for d in listed} if listed else {d for d, n in enumerate(x) if n == 1}
        groups = [([n], "", [] if d in dropped else [n]) for d, n in enumerate(x)]
        if len(dropped) == len(x):
            continue
        panels.append(panel(example, groups, "The extents of the axes."))
    return panels


def flatten(op, ask):
    panels = []
    for example in op["examples"]:
        first, *others = example["call"]["in"][0]["shape"]
        groups = [([first], "", [first]), (others, "", [math.prod(others)])]
        panels.append(panel(example, groups, "The extents of the axes: all but the first join."))
    return panels
