"""Operators that compute each element from those at the same index."""

import functools
from operator import add, sub

from .attributes import Boolean, Integer
from .basics import Result, bits, clamp, largest, pointwise, require
from .registry import ANY, operator

WIDTH = {"low": 1, "high": 32}
INT32 = {"low": -(2**31 - 1), "high": 2**31 - 1}
PRECISION = Integer("precision", **WIDTH)
SHIFT = Integer("shift_bit", **WIDTH)
IS_SIGN = Boolean("is_sign", "true")


operator("relu")(lambda _, x: pointwise(x, x.precision, lambda v: max(v, 0)))
operator("abs")(lambda _, x: pointwise(x, x.precision, abs))
operator("negative")(lambda _, x: pointwise(x, x.precision, lambda v: -v))
operator("cvm_precision")(lambda _, x: pointwise(x, 6, lambda v: max(bits(abs(v)), 1)))


@operator("clip", attributes=(Integer("a_min", **INT32), Integer("a_max", **INT32)),
          rules="bounds", exceeds="precision")  # fmt: skip
def clip(a, x):
    require(a.a_min < a.a_max, "bounds")
    precision = bits(max(abs(a.a_min), abs(a.a_max)) + 1) + 1
    return pointwise(x, precision, lambda v: clamp(v, a.a_min, a.a_max))


def saturated(a, x, value):
    """Values clamped to the precision that the call asks for."""
    limit = largest(a.precision)
    return pointwise(x, a.precision, lambda v: clamp(value(v), -limit, limit))


operator("cvm_clip", attributes=(PRECISION, IS_SIGN), also=("cvm_cilp",))(
    lambda a, x: saturated(a, x, lambda v: v))


@operator("cvm_left_shift", attributes=(PRECISION, SHIFT, IS_SIGN), rules="width")
def cvm_left_shift(a, x):
    require(x.precision + a.shift_bit <= 32, "width")
    return saturated(a, x, lambda v: v * 2**a.shift_bit)


@operator("cvm_right_shift", attributes=(PRECISION, SHIFT, IS_SIGN))
def cvm_right_shift(a, x):
    """The integer next to v / 2^s, and the larger one of two as near: floor(v / 2^s + 1/2)."""
    unit = 2**a.shift_bit
    return saturated(a, x, lambda v: (2 * v + unit) // (2 * unit))


def pairwise(value, _, x, y):
    require(x.shape == y.shape, "extents")
    precision = max(x.precision, y.precision) + 1
    return [Result(x.shape, precision, lambda: list(map(value, x.values, y.values)))]


for name, value in (("add", add), ("sub", sub)):
    operator(f"elemwise_{name}", ports=(ANY, ANY), rules="extents", exceeds="precision")(
        functools.partial(pairwise, value))
