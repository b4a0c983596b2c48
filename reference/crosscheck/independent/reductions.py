"""Operators that make one element of many: sum and max."""

import math

from .attributes import Boolean, Integers, Word
from .basics import Result, bits, coordinates, normalized, require
from .registry import operator

ATTRIBUTES = (
    Integers("axis", "()", also=("axes",)),
    Boolean("keepdims", "false"),
    Boolean("exclude", "false"),
    Word("dtype", "int32"),
)
RULES = "axis axis_twice"


def reduced_axes(a, rank: int) -> set:
    listed = [normalized(axis, rank) for axis in a.axis]
    require(len(set(listed)) == len(listed), "axis_twice")
    everything = set(range(rank))
    if not listed:
        return everything
    return everything - set(listed) if a.exclude else set(listed)


def reduced_shape(a, x, axes: set) -> tuple:
    if a.keepdims:
        return tuple(1 if k in axes else extent for k, extent in enumerate(x.shape))
    return tuple(extent for k, extent in enumerate(x.shape) if k not in axes) or (1,)


def reduction(a, x, precision, fold):
    """precision(n) is that of an output of which each element is made of n."""
    axes = reduced_axes(a, x.rank)
    shape = reduced_shape(a, x, axes)

    def values():
        agreeing = {}
        for index, v in zip(coordinates(x.shape), x.values):
            kept = tuple(i for k, i in enumerate(index) if k not in axes)
            agreeing.setdefault(kept, []).append(v)
        return [fold(agreeing[kept]) for kept in sorted(agreeing)]

    return [Result(shape, precision(x.volume // math.prod(shape)), values)]


operator("sum", attributes=ATTRIBUTES, rules=RULES, exceeds="precision")(
    lambda a, x: reduction(a, x, lambda n: x.precision + bits(n), sum))
operator("max", attributes=ATTRIBUTES, rules=RULES)(
    lambda a, x: reduction(a, x, lambda n: x.precision, max))
