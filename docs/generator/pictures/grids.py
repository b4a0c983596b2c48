"""Tensors as grids of cells: the last two axes are rows and columns, the others blocks."""

import math

from pictures import svg

CELL, HEIGHT, GAP, BLOCK = 34, 28, 26, 10
WIDEST = 336  # a telephone shows this much
LABEL = 22  # the height of the name above a grid
TINTS = 8


def shape_text(shape: list) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"


class Grid:
    """A tensor to be drawn. Each cell has a text, and perhaps a tint or another style."""

    def __init__(self, name: str, shape: list, texts: list, styles: list = (), label: str = ""):
        self.texts, self.styles = [str(text) for text in texts], list(styles)
        self.label = label or f"{name} {shape_text(shape)}"
        self.rows, self.columns = (shape[-2] if len(shape) > 1 else 1), shape[-1]
        self.blocks = math.prod(shape[:-2])
        longest = max(map(len, self.texts), default=1)
        self.cell = max(CELL, svg.LETTER * longest + 8)
        self.across = max(1, int((WIDEST + BLOCK) // (self.columns * self.cell + BLOCK)))
        self.x = self.y = 0

    @property
    def size(self) -> tuple:
        wide, high = min(self.across, self.blocks), math.ceil(self.blocks / self.across)
        width = wide * (self.columns * self.cell + BLOCK) - BLOCK
        return (max(width, svg.width_of(self.label)),
                LABEL + high * (self.rows * HEIGHT + BLOCK) - BLOCK)  # fmt: skip

    def corner(self, k: int) -> tuple:
        """The upper left corner of cell k, in row-major order."""
        block, place = divmod(k, self.rows * self.columns)
        row, column = divmod(place, self.columns)
        down, right = divmod(block, self.across)
        x = self.x + right * (self.columns * self.cell + BLOCK) + column * self.cell
        return x, self.y + LABEL + down * (self.rows * HEIGHT + BLOCK) + row * HEIGHT

    def draw(self, canvas: svg.Canvas, x: float, y: float):
        self.x, self.y = x, y
        canvas.text(x, y + 8, self.label, "name", "start")
        for k, text in enumerate(self.texts):
            left, top = self.corner(k)
            style = self.styles[k] if self.styles else ""
            canvas.box(left, top, self.cell, HEIGHT, f"cell {style}".rstrip())
            canvas.text(left + self.cell / 2, top + HEIGHT / 2, text)


class Sign:
    """A sign between grids, such as an arrow or a plus."""

    def __init__(self, text: str):
        self.text = text

    size = (20, LABEL + HEIGHT)

    def draw(self, canvas: svg.Canvas, x: float, y: float):
        canvas.text(x + 10, y + LABEL / 2 + self.size[1] / 2, self.text, "sign")


ARROW = "\N{RIGHTWARDS ARROW}"


def flow(canvas: svg.Canvas, items: list):
    """Draws items from left to right, in as many lines as a telephone needs."""
    lines, x = [[]], 0
    for item in items:
        if lines[-1] and x + item.size[0] > WIDEST:
            lines.append([])
            x = 0
            if isinstance(lines[-2][-1], Sign):  # a sign leads to what follows it
                lines[-1].append(lines[-2].pop())
                x = lines[-1][0].size[0] + GAP
        lines[-1].append(item)
        x += item.size[0] + GAP
    y = 0
    for line in lines:
        height, x = max(item.size[1] for item in line), 0
        for item in line:
            item.draw(canvas, x, y + (height - item.size[1]) / 2)
            x += item.size[0] + GAP
        y += height + 14


def tint(k: int) -> str:
    return f"t{k % TINTS}"


def grids_of(op: dict, call: dict) -> list:
    """The inputs of a call as grids."""
    names = [port["name"] for port in op["inputs"]]
    several = op["inputs"][-1]["arity"] == "variadic"
    return [Grid(f"{names[0]}{k}" if several else names[k], x["shape"], x["data"])
            for k, x in enumerate(call["in"])]  # fmt: skip
