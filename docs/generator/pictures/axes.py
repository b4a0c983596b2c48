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
    has_words = any(words for _, words, _ in groups)
    below = 118 if has_words else 84
    canvas.text(-14, HIGH / 2, "X", "name", "end")
    canvas.text(-14, below + HIGH / 2, "Y", "name", "end")
    for tint, (left, words, right) in enumerate(groups):
        width = max(len(left) * WIDE, len(right) * WIDE, svg.width_of(words) + 8, 24)
        for y, extents in ((0, left), (below, right)):
            start = x + (width - len(extents) * WIDE) / 2
            for k, extent in enumerate(extents):
                canvas.box(start + k * WIDE, y, WIDE, HIGH, f"cell t{tint % 8}")
                canvas.text(start + (k + 0.5) * WIDE, y + HIGH / 2, str(extent))
        middle = x + width / 2
        if words:
            canvas.text(middle, below / 2 + HIGH / 2, words, "code")
            ends = ((HIGH + 4, below / 2 + 4), (below / 2 + HIGH - 4, below - 4))
        else:
            ends = ((HIGH + 4, below - 4),)
        for top, bottom in ends:
            is_upper = top < below / 2
            if (left and right) or (is_upper and left and words) or (not is_upper and right and words):
                canvas.arrow(middle, top, middle, bottom)
        if not left and not words:
            canvas.text(middle, HIGH / 2, "new", "note")
        if not right:
            canvas.text(middle, below + HIGH / 2, "dropped" if left else "nothing", "note")
        x += width + SPACE
    return Panel(canvas, example, text)


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
