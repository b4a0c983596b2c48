"""Operators of two tensors whose shapes are made equal by repeating extents of 1."""

from .basics import Result, coordinates, require
from .registry import ANY, operator


def aligned(shape: tuple, rank: int) -> tuple:
    """A shape with extents of 1 before it."""
    return (1,) * (rank - len(shape)) + shape


def broadcast(x, y, precision, value):
    """The output whose element is value(v, w) of the elements that meet there."""
    rank = max(x.rank, y.rank)
    pairs = list(zip(aligned(x.shape, rank), aligned(y.shape, rank)))
    require(all(m == n or 1 in (m, n) for m, n in pairs), "extents")
    shape = tuple(map(max, pairs))

    def element(t, index):
        own = index[rank - t.rank :]
        return t[tuple(0 if extent == 1 else i for i, extent in zip(own, t.shape))]

    return [
        Result(shape, precision,
               lambda: [value(element(x, c), element(y, c)) for c in coordinates(shape)])
    ]  # fmt: skip


def quotient(v: int, w: int) -> int:
    """v / w rounded toward zero, and 0 for w = 0."""
    if w == 0:
        return 0
    magnitude = abs(v) // abs(w)
    return magnitude if (v < 0) == (w < 0) else -magnitude


@operator("broadcast_add", ports=(ANY, ANY), rules="extents", exceeds="shape precision")
def broadcast_add(_, x, y):
    return broadcast(x, y, max(x.precision, y.precision) + 1, lambda v, w: v + w)


@operator("broadcast_sub", ports=(ANY, ANY), rules="extents", exceeds="shape precision")
def broadcast_sub(_, x, y):
    return broadcast(x, y, max(x.precision, y.precision) + 1, lambda v, w: v - w)


@operator("broadcast_mul", ports=(ANY, ANY), rules="extents", exceeds="shape precision")
def broadcast_mul(_, x, y):
    return broadcast(x, y, x.precision + y.precision, lambda v, w: v * w)


@operator("broadcast_div", ports=(ANY, ANY), rules="extents", exceeds="shape")
def broadcast_div(_, x, y):
    return broadcast(x, y, x.precision, quotient)


@operator("broadcast_max", ports=(ANY, ANY), rules="extents", exceeds="shape")
def broadcast_max(_, x, y):
    return broadcast(x, y, max(x.precision, y.precision), max)


@operator("broadcast_greater", ports=(ANY, ANY), rules="extents", exceeds="shape")
def broadcast_greater(_, x, y):
    return broadcast(x, y, max(x.precision, 2), lambda v, w: int(v > w))
