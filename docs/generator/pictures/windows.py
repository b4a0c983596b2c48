"""conv2d and max_pool2d: the windows of an image, with padding, stride and dilation; dense."""

import math

from pictures import grids, svg
from pictures.panel import Panel, integers
from refusal import Refused

CELL = 34


class Windows:
    """The windows of a call along both axes of an image."""

    def __init__(self, call: dict):
        attrs = call["attrs"]
        self.image = call["in"][0]["shape"][2:]
        self.kernel = integers(attrs.get("kernel_size") or attrs["pool_size"])
        self.strides = integers(attrs["strides"])
        padding = integers(attrs["padding"])
        self.padding = padding * 2 if len(padding) == 1 else padding
        self.dilation = integers(attrs.get("dilation", "(1,1)"))

    def places(self, place: list) -> list:
        """The rows and columns that the window of output `place` covers, also outside."""
        lines = [[place[d] * self.strides[d] - self.padding[d] + i * self.dilation[d]
                  for i in range(self.kernel[d])] for d in range(2)]  # fmt: skip
        return [(row, column) for row in lines[0] for column in lines[1]]

    def is_inside(self, row: int, column: int) -> bool:
        return 0 <= row < self.image[0] and 0 <= column < self.image[1]


def shown(op, examples: list, value) -> list:
    """A panel an example: the padded image with two windows, and the output with their results."""
    panels = []
    for example in examples:
        windows, out = Windows(example["call"]), example["out"][0]
        last = len(out["data"]) - 1
        canvas, said = svg.Canvas(), []
        positions = [0, last] if last else [0]
        for tint, k in enumerate(positions):
            place = [k // out["shape"][3], k % out["shape"][3]]
            result, words = value(example, windows.places(place), windows)
            if result != out["data"][k]:
                raise Refused(f"{op['name']}: window {k} gives {result}, not {out['data'][k]}")
            said.append((tint, words))
        draw(canvas, windows, example, positions)
        left = canvas.left
        for tint, words in said:
            y = canvas.bottom + 20
            canvas.box(left, y - 7, 14, 14, f"cell w{tint}")
            canvas.text(left + 20, y, words, "", "start")
        panels.append(Panel(canvas, example, about(windows)))
    return panels


def about(windows: Windows) -> str:
    """What there is to see of the attributes."""
    words = ["Two windows and their results."]
    if any(windows.padding):
        words.append("Dashed is the padding.")
    if any(d > 1 for d in windows.dilation):
        words.append("Dilation leaves gaps between the elements of a window.")
    return " ".join(words)


class Image:
    """The image with its padding, and windows in their tints; an item of a flow."""

    def __init__(self, windows: Windows, data: list, wanted: list):
        self.windows, self.data, self.wanted = windows, data, wanted
        (high, wide), (self.above, self.beside) = windows.image, windows.padding
        covered = [place for places in wanted for place in places]
        self.bottom = max(high + self.above, *(row + 1 for row, _ in covered))
        self.right = max(wide + self.beside, *(column + 1 for _, column in covered))
        self.label = f"X {grids.shape_text(windows.image)}"
        self.size = (max((self.beside + self.right) * CELL, svg.width_of(self.label)),
                     (self.above + self.bottom) * CELL + grids.LABEL)  # fmt: skip

    def draw(self, canvas: svg.Canvas, x: float, y: float):
        canvas.text(x, y + 8, self.label, "name", "start")
        x, y = x + self.beside * CELL, y + grids.LABEL + self.above * CELL
        for row in range(-self.above, self.bottom):
            for column in range(-self.beside, self.right):
                self.draw_cell(canvas, x + column * CELL, y + row * CELL, (row, column))

    def draw_cell(self, canvas: svg.Canvas, x: float, y: float, place: tuple):
        row, column = place
        is_inside = self.windows.is_inside(row, column)
        canvas.box(x, y, CELL, CELL, "cell" if is_inside else "ghost")
        for tint, places in enumerate(self.wanted):
            if place in places:
                inset = 3 + 5 * tint
                side = CELL - 2 * inset
                canvas.box(x + inset, y + inset, side, side, f"w{tint}")
        if is_inside:
            text = str(self.data[row * self.windows.image[1] + column])
            canvas.text(x + CELL / 2, y + CELL / 2, text)


def draw(canvas: svg.Canvas, windows: Windows, example: dict, positions: list):
    """The image, the kernel where there is one, and the output; windows and their results in the
    same tint."""
    (x, *more), out = example["call"]["in"], example["out"][0]
    wanted = [windows.places([k // out["shape"][3], k % out["shape"][3]]) for k in positions]
    items = [Image(windows, x["data"], wanted)]
    items += [grids.Grid("W", w["shape"][2:], w["data"]) for w in more[:1]]
    styles = [f"w{positions.index(k)}" if k in positions else "" for k in range(len(out["data"]))]
    result = grids.Grid("Y", out["shape"][2:], out["data"], styles)
    grids.flow(canvas, [*items, grids.Sign(grids.ARROW), result])


def elements(example: dict, windows: Windows, places: list) -> list:
    """The elements of a window; None for places outside of the image."""
    data = example["call"]["in"][0]["data"]
    return [data[row * windows.image[1] + column] if windows.is_inside(row, column) else None
            for row, column in places]  # fmt: skip


def products(terms, bias: int, result: int) -> str:
    """A sum of products in words."""

    def said(value):
        return f"({value})" if value < 0 else str(value)

    parts = [f"{said(a)}\N{MULTIPLICATION SIGN}{said(b)}" for a, b in terms]
    return " + ".join(parts + ([said(bias)] if bias else [])) + f" = {result}"


def convolved(example: dict, places: list, windows: Windows) -> tuple:
    """The result of a window of conv2d, and its sum in words."""
    found = elements(example, windows, places)
    inputs = example["call"]["in"]
    bias = inputs[2]["data"][0] if len(inputs) > 2 else 0
    terms = [(x or 0, w) for x, w in zip(found, inputs[1]["data"], strict=True)]
    result = bias + sum(x * w for x, w in terms)
    return result, products(terms, bias, result)


def pooled(example: dict, places: list, windows: Windows) -> tuple:
    """The result of a window of max_pool2d, and its maximum in words."""
    found = [x for x in elements(example, windows, places) if x is not None]
    return max(found), f"max({', '.join(map(str, found))}) = {max(found)}"


def is_plain(example: dict) -> bool:
    """Whether an example has one image, one channel and a window of several elements."""
    windows = Windows(example["call"])
    return example["call"]["in"][0]["shape"][:2] == [1, 1] and math.prod(windows.kernel) > 1


def conv2d(op, ask):
    return shown(op, list(filter(is_plain, op["examples"]))[:2], convolved)


def max_pool2d(op, ask):
    plain = list(filter(is_plain, op["examples"]))
    overlapping = max(plain, key=lambda e: math.prod(Windows(e["call"]).image))
    padded = next(e for e in plain if all(Windows(e["call"]).padding))
    partial = next(e for e in plain if e["call"]["attrs"]["ceil_mode"] == "true")
    return shown(op, [overlapping, padded, partial], pooled)


def dense(op, ask):
    """A row of X and a row of W meet in an element of Y."""
    panels = []
    for example in op["examples"][:2]:
        call, out = example["call"], example["out"][0]
        x, w = call["in"][:2]
        k, last = x["shape"][1], len(out["data"]) - 1
        m, n = divmod(last, out["shape"][1])
        row, weights = x["data"][m * k : (m + 1) * k], w["data"][n * k : (n + 1) * k]
        bias = call["in"][2]["data"][n] if len(call["in"]) > 2 else 0
        result = bias + sum(a * b for a, b in zip(row, weights, strict=True))
        if result != out["data"][last]:
            raise Refused(f"dense: the last element is {result}, not {out['data'][last]}")
        items = grids.grids_of(op, call)
        for item, chosen in zip(items, (m, n, n)):
            length = k if item.rows > 1 or len(item.texts) == k else 1
            item.styles = ["w0" if place // length == chosen else ""
                           for place in range(len(item.texts))]  # fmt: skip
        if len(items) > 2:
            items[2].styles = ["w0" if place == n else "" for place in range(len(items[2].texts))]
        styles = ["w0" if place == last else "" for place in range(last + 1)]
        canvas = svg.Canvas()
        grids.flow(canvas, [*items, grids.Sign(grids.ARROW),
                            grids.Grid("Y", out["shape"], out["data"], styles)])  # fmt: skip
        words = products(zip(row, weights), bias, result)
        canvas.text(0, canvas.bottom + 16, words, "", "start")
        panels.append(Panel(canvas, example, "A row of X and a row of W make one element of Y."))
    return panels
