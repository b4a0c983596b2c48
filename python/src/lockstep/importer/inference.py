"""Shapes and precisions of the operators that models made here use."""

import math

MAX_PRECISION, MAX_RANK, MAX_VOLUME = 32, 6, 2**30


class Inexpressible(ValueError):
    """A call that the operator set does not have."""


def bits(n):
    """The length of a natural number in binary."""
    return int(n).bit_length()


def broadcast(x, y):
    """The common shape of two, aligned at the right."""
    rank = max(len(x), len(y))
    pairs = list(zip((1,) * (rank - len(x)) + x, (1,) * (rank - len(y)) + y))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        raise Inexpressible(f"the shapes {x} and {y} do not fit together")
    return tuple(max(pair) for pair in pairs)


def _window_count(extent, size, stride, padding, dilation=1, ceil=False):
    room = extent + 2 * padding - dilation * (size - 1) - 1
    if room < 0:
        raise Inexpressible(f"a window of {size} does not fit an extent of {extent}")
    count = -(-room // stride) + 1 if ceil else room // stride + 1
    if ceil and (count - 1) * stride - padding >= extent:
        raise Inexpressible("the last window of max_pool2d begins outside of the image")
    return count


def _conv2d(a, x, w, *bias):
    p = x.precision + w.precision + bits(math.prod(w.shape[1:]))
    spatial = (_window_count(*axis) for axis in zip(
        x.shape[2:], w.shape[2:], a["strides"], a["padding"], a["dilation"]))  # fmt: skip
    if max(x.precision, w.precision) > 8:
        raise Inexpressible("conv2d takes at most 8 bits")
    p = max(p, bias[0].precision) + 1 if bias else p
    return (x.shape[0], w.shape[0], *spatial), p


def _dense(a, x, w, *bias):
    p = x.precision + w.precision + bits(w.shape[1])
    if max(x.precision, w.precision) > 8:
        raise Inexpressible("dense takes at most 8 bits")
    return (x.shape[0], a["units"]), max(p, bias[0].precision) + 1 if bias else p


def _max_pool2d(a, x):
    ceil = a.get("ceil_mode") == "True"
    spatial = (_window_count(n, k, s, p, ceil=ceil) for n, k, s, p in zip(
        x.shape[2:], a["pool_size"], a["strides"], a["padding"]))  # fmt: skip
    return (*x.shape[:2], *spatial), x.precision


def _reduced(a, x):
    kept = a.get("keepdims") == "True"
    shape = [n for k, n in enumerate(x.shape) if k not in a["axis"] or kept]
    return tuple(1 if kept and k in a["axis"] else n for k, n in enumerate(shape)) or (1,)


def _sum(a, x):
    shape = _reduced(a, x)
    return shape, x.precision + bits(math.prod(x.shape) // math.prod(shape))


def _take(a, x, indices):
    axis = a.get("axis")
    if axis is None:
        return indices.shape, x.precision
    return x.shape[:axis] + indices.shape + x.shape[axis + 1:], x.precision


def _concatenate(a, *inputs):
    axis, shape = a["axis"], list(inputs[0].shape)
    shape[axis] = sum(t.shape[axis] for t in inputs)
    return tuple(shape), max(t.precision for t in inputs)


def _strided_slice(a, x):
    shape = []
    for n, begin, end, stride in zip(x.shape, a["begin"], a["end"], a["stride"]):
        low, high = (-1, n - 1) if stride < 0 else (0, n)
        first, last = (min(max(v + n if v < 0 else v, low), high) for v in (begin, end))
        shape.append(-(-abs(last - first) // abs(stride)))
    return tuple(shape), x.precision


def _upsampling(a, x):
    return (*x.shape[:2], *(n * a["scale"] for n in x.shape[2:])), x.precision


def _tile(a, x):
    return tuple(n * r for n, r in zip(x.shape, a["reps"])), x.precision


def _same(_, x):
    return x.shape, x.precision


def _wider(_, x, y):
    return broadcast(x.shape, y.shape), max(x.precision, y.precision) + 1


def _stated(a, x):
    return x.shape, a["precision"]


ONE_OUTPUT = {
    "conv2d": _conv2d,
    "dense": _dense,
    "max_pool2d": _max_pool2d,
    "sum": _sum,
    "max": lambda a, x: (_reduced(a, x), x.precision),
    "take": _take,
    "concatenate": _concatenate,
    "strided_slice": _strided_slice,
    "upsampling": _upsampling,
    "tile": _tile,
    "relu": _same,
    "abs": _same,
    "negative": _same,
    "elemwise_add": _wider,
    "broadcast_add": _wider,
    "broadcast_sub": _wider,
    "broadcast_mul": lambda a, x, y: (broadcast(x.shape, y.shape), x.precision + y.precision),
    "broadcast_div": lambda a, x, y: (broadcast(x.shape, y.shape), x.precision),
    "broadcast_max": lambda a, x, y: (
        broadcast(x.shape, y.shape), max(x.precision, y.precision)),
    "cvm_clip": _stated,
    "cvm_right_shift": _stated,
    "cvm_left_shift": _stated,
    "clip": lambda a, x: (x.shape, bits(max(abs(a["a_min"]), abs(a["a_max"])) + 1) + 1),
    "reshape": lambda a, x: (a["shape"], x.precision),
    "transpose": lambda a, x: (tuple(x.shape[k] for k in a["axes"]), x.precision),
    "cvm_lut": lambda a, x, table: (x.shape, table.precision),
    "non_max_suppression": lambda a, x, counts: (x.shape, max(x.precision, 2)),
}  # fmt: skip


def infer(op, attrs, inputs):
    """(shape, precision) of each output of a call.

    Attributes are integers and tuples, all of those that have an influence given.
    """
    if op == "get_valid_counts":
        (x,) = inputs
        count = bits(x.shape[1] * x.shape[2] + 1) + 1
        types = [((x.shape[0],), count), (x.shape, max(x.precision, 2))]
    else:
        types = [ONE_OUTPUT[op](attrs, *inputs)]
    for shape, precision in types:
        if precision > MAX_PRECISION:
            raise Inexpressible(f"{op} would need {precision} bits, and tensors have at most 32")
        if not 1 <= len(shape) <= MAX_RANK:
            raise Inexpressible(f"{op} would have rank {len(shape)}, and tensors have 1 to 6")
    return types
