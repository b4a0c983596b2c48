"""Operators that a few functions of NumPy's make up."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..table import NUMPY as library


def reduced(a, x, fold):
    axes = set(np.atleast_1d(np.arange(x.ndim)[list(a.axis)])) if a.axis else set(range(x.ndim))
    if a.axis and a.exclude:
        axes = set(range(x.ndim)) - axes
    return np.atleast_1d(fold(x, axis=tuple(axes), keepdims=a.keepdims))


library("sum")(lambda a, x: reduced(a, x, np.sum))
library("max")(lambda a, x: reduced(a, x, np.max))


@library("broadcast_div")
def quotient(_, x, y):
    """NumPy rounds down; magnitudes do not tell that from rounding towards zero."""
    magnitude = np.floor_divide(np.abs(x), np.maximum(np.abs(y), 1))
    return np.multiply(magnitude, np.sign(x) * np.sign(y))


@library("cvm_precision")
def cvm_precision(_, x):
    """The number of powers of two that are not above |x|."""
    return np.maximum(np.searchsorted(2 ** np.arange(32), np.abs(x), side="right"), 1)


def saturated(a, x):
    limit = np.left_shift(1, a.precision - 1) - 1
    return np.clip(x, -limit, limit)


library("cvm_clip")(saturated)
library("cvm_left_shift")(lambda a, x: saturated(a, np.left_shift(x, a.shift_bit)))


@library("cvm_right_shift")
def cvm_right_shift(a, x):
    """Half a unit is added before the bits are dropped."""
    half = np.left_shift(1, a.shift_bit - 1)
    return saturated(a, np.right_shift(x + half, a.shift_bit))


@library("expand_dims")
def expand_dims(a, x):
    """Counted from the end, an axis is a place in the result that has one new axis."""
    place = np.arange(x.ndim + 1)[a.axis]
    return np.expand_dims(x, tuple(range(place, place + a.num_newaxis)))


@library("squeeze")
def squeeze(a, x):
    listed = tuple(np.unique(np.arange(x.ndim)[list(a.axis)])) if a.axis else None
    return np.atleast_1d(np.squeeze(x, axis=listed))


@library("strided_slice")
def strided_slice(a, x):
    """Python's slices clamp as the operator does, once the ends left out are written."""

    def entry(entries, k, otherwise):
        return entries[k] if k < len(entries) else otherwise

    return x[tuple(
        slice(entry(a.begin, k, 0), entry(a.end, k, n), entry(a.stride, k, 1))
        for k, n in enumerate(x.shape)
    )]  # fmt: skip


@library("slice_like")
def slice_like(a, x, like):
    cuts = np.full(x.ndim, None)
    axes = np.arange(x.ndim)[list(a.axis)] if a.axis else np.arange(x.ndim)
    cuts[axes] = np.array(like.shape)[axes]
    return x[tuple(map(slice, cuts))]


@library("where")
def where(_, condition, x, y):
    rows = condition.reshape(condition.shape + (1,) * (x.ndim - condition.ndim))
    return np.where(rows, x, y)


def windows(x, kernel, strides, padding, value, dilation=(1, 1), more=(0, 0)):
    """The windows of an image with a border: (N, C, OH, OW, KH, KW)."""
    border = [(0, 0), (0, 0), *((p, p + m) for p, m in zip(padding, more))]
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    image = np.pad(x, border, constant_values=value)
    dense = sliding_window_view(image, spans, axis=(2, 3))
    (down, across), (rows, columns) = strides, dilation
    return dense[:, :, ::down, ::across, ::rows, ::columns]


@library("conv2d")
def conv2d(a, x, w, *bias):
    seen = windows(x, a.kernel_size, a.strides, a.padding, 0, a.dilation)
    parts = zip(np.split(seen, a.groups, axis=1), np.split(w, a.groups))
    y = np.concatenate([np.einsum("nihwrs,oirs->nohw", s, v) for s, v in parts], axis=1)
    return np.add(y, bias[0][:, None, None]) if bias else y


@library("max_pool2d")
def max_pool2d(a, x):
    """Where counts are rounded up, a border below and right gives the last window its room."""
    padding = np.broadcast_to(a.padding, 2)
    more = (np.array(a.strides) - 1) * a.ceil_mode
    lowest = np.iinfo(np.int64).min
    return windows(x, a.pool_size, a.strides, padding, lowest, more=more).max(axis=(4, 5))


@library("get_valid_counts")
def get_valid_counts(a, x):
    """A stable sort by whether a row fails brings those that pass to the front in their order."""
    valid = np.greater(x[:, :, 1], a.score_threshold)
    order = np.argsort(~valid, axis=1, kind="stable")
    rows = np.take_along_axis(x, order[:, :, None], axis=1)
    passed = np.take_along_axis(valid, order, axis=1)[:, :, None]
    return np.sum(valid, axis=1), np.where(passed, rows, -1)
