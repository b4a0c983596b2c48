"""Operators of two tensors whose shapes are made equal by repeating extents of 1."""

import functools
from operator import add, mul, sub

from .basics import Result, coordinates, require
from .registry import ANY, operator


def aligned(shape: tuple, rank: int) -> tuple:
    """A shape with extents of 1 before it."""
    return (1,) * (rank - len(shape)) + shape


def broadcast(precision, value, _, x, y):
    """The output whose element is value(v, w) of the elements that meet there."""
    rank = max(x.rank, y.rank)
    pairs = list(zip(aligned(x.shape, rank), aligned(y.shape, rank)))
    require(all(m == n or 1 in (m, n) for m, n in pairs), "extents")
    shape = tuple(map(max, pairs))

    def element(t, index):
        own = index[rank - t.rank :]
        return t[tuple(0 if extent == 1 else i for i, extent in zip(own, t.shape))]

    return [
        Result(shape, precision(x.precision, y.precision),
               lambda: [value(element(x, c), element(y, c)) for c in coordinates(shape)])
    ]  # fmt: skip


def quotient(v: int, w: int) -> int:
    """v / w rounded toward zero, and 0 for w = 0."""
    if w == 0:
        return 0
    magnitude = abs(v) // abs(w)
    return magnitude if (v < 0) == (w < 0) else -magnitude


# Of each operator the limits that an output can exceed, its precision and its element.
for name, exceeds, precision, value in (
    ("add", "shape precision", lambda p, q: max(p, q) + 1, add),
    ("sub", "shape precision", lambda p, q: max(p, q) + 1, sub),
    ("mul", "shape precision", add, mul),
    ("div", "shape", lambda p, q: p, quotient),
    ("max", "shape", max, max),
    ("greater", "shape", lambda p, q: max(p, 2), lambda v, w: int(v > w)),
):
    operator(f"broadcast_{name}", ports=(ANY, ANY), rules="extents", exceeds=exceeds)(
        functools.partial(broadcast, precision, value))
