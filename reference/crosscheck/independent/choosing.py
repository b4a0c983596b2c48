"""Operators that choose elements: by stride, by index, by another shape, by a condition."""

from .attributes import Integer, Integers
from .basics import VOLUME_MAX, Result, clamp, coordinates, gathered, normalized, require
from .elementwise import INT32
from .registry import ANY, operator


def stepped(extent: int, begin: int, end: int, stride: int) -> range:
    """The indices from begin, towards end and without it, on an axis of an extent."""
    low, high = (0, extent) if stride > 0 else (-1, extent - 1)
    begin, end = (clamp(i + extent if i < 0 else i, low, high) for i in (begin, end))
    return range(begin, end, stride)


@operator(
    "strided_slice",
    attributes=(
        Integers("begin", "(0)", **INT32),
        Integers("end", "(1)", **INT32),
        Integers("stride", "()", ("strides",), **INT32),
    ),
    rules="length stride empty",
    also=("slice",),
)
def strided_slice(a, x):
    require(all(len(t) <= x.rank for t in (a.begin, a.end, a.stride)), "length")
    require(0 not in a.stride, "stride")
    taken = [
        stepped(
            n,
            a.begin[k] if k < len(a.begin) else 0,
            a.end[k] if k < len(a.end) else n,
            a.stride[k] if k < len(a.stride) else 1,
        )
        for k, n in enumerate(x.shape)
    ]
    require(all(taken), "empty")
    return gathered(
        x, tuple(map(len, taken)), lambda y: tuple(indices[d] for indices, d in zip(taken, y))
    )


def looked_up(table, indices, precision):
    """Elements of a table that is read as a vector; an index beyond an end is that end."""
    return [
        Result(indices.shape, precision,
               lambda: [table.values[clamp(i, 0, table.volume - 1)] for i in indices.values])
    ]  # fmt: skip


@operator("take", ports=(ANY, ANY), attributes=(Integer("axis", "None", optional=True),),
          rules="axis", exceeds="shape")  # fmt: skip
def take(a, x, indices):
    if a.axis is None:
        return looked_up(x, indices, x.precision)
    axis = normalized(a.axis, x.rank)
    after = axis + indices.rank

    def source(y):
        i = clamp(indices[y[axis:after]], 0, x.shape[axis] - 1)
        return (*y[:axis], i, *y[after:])

    return gathered(x, x.shape[:axis] + indices.shape + x.shape[axis + 1 :], source)


@operator("cvm_lut", ports=(ANY, ANY), attributes=(Integer("in_dim", low=1, high=VOLUME_MAX),),
          rules="table")  # fmt: skip
def cvm_lut(a, data, table):
    require(a.in_dim == table.volume, "table")
    return looked_up(table, data, table.precision)


@operator("slice_like", ports=(ANY, ANY), attributes=(Integers("axis", "()", ("axes",)),),
          rules="ranks axis extents")  # fmt: skip
def slice_like(a, x, like):
    require(bool(a.axis) or x.rank == like.rank, "ranks")
    cut = {normalized(axis, x.rank) for axis in a.axis} or set(range(x.rank))
    require(all(k < like.rank for k in cut), "axis")
    require(all(like.shape[k] <= x.shape[k] for k in cut), "extents")
    shape = tuple(like.shape[k] if k in cut else n for k, n in enumerate(x.shape))
    return gathered(x, shape, lambda y: y)


@operator("where", ports=(ANY, ANY, ANY), rules="extents condition")
def where(_, condition, x, y):
    require(x.shape == y.shape, "extents")
    by_row = condition.shape == x.shape[:1]
    require(by_row or condition.shape == x.shape, "condition")

    def element(c):
        return x[c] if condition[c[:1] if by_row else c] else y[c]

    precision = max(x.precision, y.precision)
    return [Result(x.shape, precision, lambda: list(map(element, coordinates(x.shape))))]
