"""Operators that a few functions of PyTorch's make up."""

import torch
from torch.nn import functional

from ..table import PYTORCH as library


def reduced(a, x, fold):
    """Axes counted from the end are wrapped here only where others are meant than those listed."""
    axes = set(range(x.ndim))
    if a.axis:
        axes = axes - {k % x.ndim for k in a.axis} if a.exclude else a.axis
    # Without an axis PyTorch reduces all of them, which excluding every one must not do.
    return torch.atleast_1d(fold(x, dim=tuple(axes), keepdim=a.keepdims) if axes else x)


library("sum")(lambda a, x: reduced(a, x, torch.sum))
library("max")(lambda a, x: reduced(a, x, torch.amax))


@library("broadcast_div")
def quotient(_, x, y):
    """PyTorch rounds toward zero on request, and refuses divisors that are zero."""
    zero = torch.eq(y, 0)
    return torch.div(x, y.masked_fill(zero, 1), rounding_mode="trunc").masked_fill(zero, 0)


@library("cvm_precision")
def cvm_precision(_, x):
    """The number of shifts, beginning with that by nothing, that leave anything of |x|."""
    left = torch.bitwise_right_shift(torch.abs(x)[..., None], torch.arange(32))
    return torch.count_nonzero(left, dim=-1).clamp(min=1)


def saturated(a, x):
    limit = 2 ** (a.precision - 1) - 1
    return torch.clamp(x, -limit, limit)


library("cvm_clip")(saturated)
library("cvm_left_shift")(lambda a, x: saturated(a, torch.bitwise_left_shift(x, a.shift_bit)))


@library("cvm_right_shift")
def cvm_right_shift(a, x):
    """The nearest quotient is that of twice the value and a unit more, rounded down."""
    unit = 2**a.shift_bit
    return saturated(a, torch.div(2 * x + unit, 2 * unit, rounding_mode="floor"))


@library("expand_dims")
def expand_dims(a, x):
    """The same place again and again, counted from either end."""
    for _ in range(a.num_newaxis):
        x = torch.unsqueeze(x, a.axis)
    return x


@library("squeeze")
def squeeze(a, x):
    """One axis at a time, beginning with the last, so that the others stay where they are."""
    if not a.axis:
        return torch.atleast_1d(torch.squeeze(x))
    for axis in sorted({k % x.ndim for k in a.axis}, reverse=True):
        x = torch.squeeze(x, axis)
    return torch.atleast_1d(x)


@library("strided_slice")
def strided_slice(a, x):
    """PyTorch steps forward only. On a flipped axis index i is ~i, and the step forward."""

    def entry(entries, k, otherwise):
        return entries[k] if k < len(entries) else otherwise

    places = []
    for k, n in enumerate(x.shape):
        begin, end = entry(a.begin, k, 0), entry(a.end, k, n)
        stride = entry(a.stride, k, 1)
        if stride < 0:
            x, begin, end = torch.flip(x, (k,)), ~begin, ~end
        places.append(slice(begin, end, abs(stride)))
    return x[tuple(places)]


@library("slice_like")
def slice_like(a, x, like):
    for axis in a.axis or range(x.ndim):
        x = torch.narrow(x, axis, 0, like.shape[axis % x.ndim])
    return x


@library("take")
def take(a, x, indices):
    if a.axis is None:
        return torch.take(x, indices.clamp(0, x.numel() - 1))
    chosen = indices.flatten().clamp(0, x.shape[a.axis] - 1)
    return torch.index_select(x, a.axis, chosen).unflatten(a.axis, indices.shape)


@library("where")
def where(_, condition, x, y):
    rows = condition.reshape(condition.shape + (1,) * (x.ndim - condition.ndim))
    return torch.where(rows.bool(), x, y)


@library("max_pool2d")
def max_pool2d(a, x):
    """It pools floats alone: a double holds every value, and the largest is one of them. It pads
    by up to half a window; the rest of the border is put there before."""
    down, across = a.padding * 2 if len(a.padding) == 1 else a.padding
    own = [min(p, k // 2) for p, k in zip((down, across), a.pool_size)]
    rest = (across - own[1],) * 2 + (down - own[0],) * 2
    image = functional.pad(x.double(), rest, value=float("-inf"))
    return functional.max_pool2d(
        image, a.pool_size, a.strides, own, ceil_mode=a.ceil_mode
    ).long()  # fmt: skip


@library("get_valid_counts")
def get_valid_counts(a, x):
    """A mask chooses the rows of a batch, and padding makes them as many as before."""
    valid = torch.gt(x[:, :, 1], a.score_threshold)
    kept = [rows[mask] for rows, mask in zip(x, valid)]
    filled = [functional.pad(rows, (0, 0, 0, x.shape[1] - len(rows)), value=-1) for rows in kept]
    return torch.count_nonzero(valid, dim=1), torch.stack(filled)
