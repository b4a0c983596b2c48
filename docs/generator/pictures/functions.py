"""Functions of one element as plots, from the program's answers for the integers near zero."""

from pictures import svg
from pictures.panel import Panel

WIDE, HIGH = 264, 190  # of a plot, in pixels
MOST = 36  # integers on either side of 0, at most


def marks(low: int, high: int, most: int) -> range:
    """Round numbers between two others, up to `most` of them."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if (high - low) / step <= most)
    return range(-(-low // step) * step, high + 1, step)


class Plot:
    """A rectangle with marks on its left and lower edge."""

    def __init__(self, across: int, low: int, high: int):
        self.across, self.low, self.high, self.canvas = across, low, high, svg.Canvas()

    def at(self, x: float, y: float) -> tuple:
        return ((x + self.across) / (2 * self.across) * WIDE,
                (self.high - y) / (self.high - self.low) * HIGH)  # fmt: skip

    def edges(self):
        """The edges with their marks, and both axes."""
        canvas, left, bottom = self.canvas, -12, HIGH + 12
        canvas.line(left, -6, left, bottom, "axis")
        canvas.line(left, bottom, WIDE + 6, bottom, "axis")
        canvas.text(left, -18, "Y", "name")
        canvas.text(WIDE + 16, bottom, "X", "name")
        for x in marks(-self.across, self.across, 12):
            place = self.at(x, 0)[0]
            canvas.line(place, bottom, place, bottom + 4, "axis")
            canvas.text(place, bottom + 14, str(x), "note")
        for y in marks(self.low, self.high, 9):
            place = self.at(0, y)[1]
            canvas.line(left - 4, place, left, place, "axis")
            canvas.text(left - 8, place, str(y), "note", "end")
        if self.low < 0:
            canvas.line(left, self.at(0, 0)[1], WIDE, self.at(0, 0)[1], "zero")
        canvas.line(self.at(0, 0)[0], 0, self.at(0, 0)[0], bottom, "zero")

    def line(self, slope: float):
        """The part of a line through zero that lies inside."""
        reach = min(self.across, min(self.high, -self.low) / slope)
        self.canvas.line(*self.at(-reach, -reach * slope), *self.at(reach, reach * slope), "exact")


def panel(example, ask, text: str, steps: bool = False, slope: float = 0) -> Panel:
    """A plot around the data of an example, which has larger dots; perhaps as steps, and perhaps
    with a line to compare with."""
    call = example["call"]
    data = [x for x in call["in"][0]["data"] if abs(x) <= MOST]
    most = min(MOST, max(5, max(map(abs, data)) + 2))
    xs = list(range(-most, most + 1))
    ys = ask({**call, "in": [{"shape": [len(xs)], "data": xs}], "in_prec": [8]})["out"][0]["data"]
    plot = Plot(most, min(0, *ys), max(0, *ys))
    plot.edges()
    if slope:
        plot.line(slope)
    half = WIDE / (4 * most)
    small, large = (2.2, 4.2) if most <= 12 else (1.6, 3.2)
    for x, y in zip(xs, ys, strict=True):
        left, top = plot.at(x, y)
        if steps:
            plot.canvas.line(left - half, top, left + half, top, "curve")
        plot.canvas.dot(left, top, large if x in data else small, "point" if x in data else "curve")
    return Panel(plot.canvas, example, text)


def stairs(op, ask):
    """cvm_right_shift: rounding, and then the clamp."""
    texts = ("Dashed is the exact quotient. A tie goes up, whatever its sign.",
             "Dashed is the exact quotient. The result stays inside its precision.")  # fmt: skip
    return [panel(e, ask, text, True, 0.5 ** int(e["call"]["attrs"]["shift_bit"]))
            for e, text in zip((op["examples"][0], op["examples"][2]), texts)]  # fmt: skip


def near_zero(text: str, steps: bool = False):
    """A plot of the example that has the most data near zero."""

    def drawn(op, ask):
        def near(example):
            return sum(abs(x) <= MOST for x in example["call"]["in"][0]["data"])

        return [panel(max(op["examples"], key=near), ask, text, steps)]

    return drawn
