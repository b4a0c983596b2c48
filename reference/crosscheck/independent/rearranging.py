"""Operators that keep values and change where they are."""

import math

from .attributes import Integer, Integers
from .basics import EXTENT_MAX, Result, gathered, normalized, require
from .broadcasting import aligned
from .registry import operator

COUNT = {"low": 1, "high": 4096}


def renamed(x, shape):
    """The same elements in the same order under another shape."""
    return [Result(tuple(shape), x.precision, lambda: list(x.values))]


operator("flatten", exceeds="shape")(
    lambda _, x: renamed(x, (x.shape[0], math.prod(x.shape[1:]))))


@operator("expand_dims", attributes=(Integer("axis"), Integer("num_newaxis", "1", **COUNT)),
          rules="axis", exceeds="shape")  # fmt: skip
def expand_dims(a, x):
    """An axis names one of the N + 1 places between, before and after the N axes."""
    place = normalized(a.axis, x.rank + 1)
    return renamed(x, x.shape[:place] + (1,) * a.num_newaxis + x.shape[place:])


@operator("squeeze", attributes=(Integers("axis", "()", ("axes",)),), rules="axis extent")
def squeeze(a, x):
    listed = {normalized(axis, x.rank) for axis in a.axis}
    require(all(x.shape[k] == 1 for k in listed), "extent")
    dropped = listed or {k for k, extent in enumerate(x.shape) if extent == 1}
    return renamed(x, [n for k, n in enumerate(x.shape) if k not in dropped] or [1])


class Target:
    """A walk along the target of reshape, beside which a cursor walks along the source."""

    def __init__(self, source: tuple, target: tuple):
        self.source, self.entries = source, list(target)
        self.cursor, self.shape, self.open = 0, [], None
        while self.entries:
            self.step(self.entries.pop(0))

    def step(self, entry: int) -> None:
        if entry > 0:
            self.shape.append(entry)
            self.cursor += 1
        elif entry == 0:
            self.shape += self.taken(1)
        elif entry == -1:
            require(self.open is None, "infer_twice")
            self.open = len(self.shape)
            self.shape.append(1)
            self.cursor += 1
        elif entry == -2:
            self.shape += self.taken(max(len(self.source) - self.cursor, 0))
        elif entry == -3:
            self.shape.append(math.prod(self.taken(2)))
        else:
            self.split()

    def taken(self, count: int) -> tuple:
        """The next extents of the source, which must be there."""
        require(count == 0 or self.cursor + count <= len(self.source), "source")
        self.cursor += count
        return self.source[self.cursor - count : self.cursor]

    def split(self) -> None:
        parts, self.entries = self.entries[:2], self.entries[2:]
        legal = all(part == -1 or part >= 1 for part in parts)
        require(len(parts) == 2 and legal and parts != [-1, -1], "split")
        (extent,) = self.taken(1)
        if -1 in parts:
            parts[parts.index(-1)] = extent // max(parts)
        require(math.prod(parts) == extent, "split")
        self.shape += parts


@operator(
    "reshape",
    attributes=(Integers("shape", None, ("target_shape",), low=-4, high=EXTENT_MAX, least=1),),
    rules="infer_twice split source infer size",
    exceeds="shape",
)
def reshape(a, x):
    target = Target(x.shape, a.shape)
    if target.open is not None:
        rest = math.prod(target.shape)
        require(x.volume % rest == 0, "infer")
        target.shape[target.open] = x.volume // rest
    require(math.prod(target.shape) == x.volume, "size")
    return renamed(x, target.shape)


@operator("transpose", attributes=(Integers("axes", "()"),), rules="axes axis axis_twice")
def transpose(a, x):
    require(len(a.axes) in (0, x.rank), "axes")
    order = [normalized(axis, x.rank) for axis in a.axes] or list(reversed(range(x.rank)))
    require(len(set(order)) == x.rank, "axis_twice")
    place = [order.index(k) for k in range(x.rank)]
    shape = tuple(x.shape[axis] for axis in order)
    return gathered(x, shape, lambda y: tuple(y[j] for j in place))


@operator(
    "repeat",
    attributes=(Integer("repeats", low=1, high=EXTENT_MAX), Integer("axis", "0")),
    rules="axis",
    exceeds="shape",
)
def repeat(a, x):
    axis = normalized(a.axis, x.rank)
    shape = tuple(n * a.repeats if k == axis else n for k, n in enumerate(x.shape))
    return gathered(
        x, shape, lambda y: tuple(d // a.repeats if k == axis else d for k, d in enumerate(y))
    )


@operator("tile", attributes=(Integers("reps", **COUNT, least=1),), exceeds="shape")
def tile(a, x):
    rank = max(x.rank, len(a.reps))
    extents = zip(aligned(x.shape, rank), aligned(a.reps, rank))
    shape = tuple(extent * times for extent, times in extents)
    return gathered(
        x, shape, lambda y: tuple(d % n for d, n in zip(y[rank - x.rank :], x.shape))
    )


@operator(
    "concatenate",
    attributes=(Integer("axis", "1"),),
    rules="ranks axis extents",
    exceeds="shape",
    counts=lambda _: range(1, 1025),
)
def concatenate(a, *inputs):
    first = inputs[0].shape
    require(all(x.rank == len(first) for x in inputs), "ranks")
    axis = normalized(a.axis, len(first))
    before, after = first[:axis], first[axis + 1 :]
    require(all(x.shape[:axis] == before and x.shape[axis + 1 :] == after for x in inputs),
            "extents")  # fmt: skip

    def values():
        joined = []
        for row in range(math.prod(before)):
            for x in inputs:
                size = x.shape[axis] * math.prod(after)
                joined += x.values[row * size : (row + 1) * size]
        return joined

    shape = (*before, sum(x.shape[axis] for x in inputs), *after)
    return [Result(shape, max(x.precision for x in inputs), values)]
