"""For every operator, how to draw a call of it that is likely legal and whose result tells much.

A sample is (attributes by name, inputs as [shape, precision, data]). Attributes at their defaults
may be left out.
"""

import math

from .draw import Draw

SAMPLES = {}


def sample(*names):
    """Registers the function below it as the source of calls of the operators."""

    def register(function):
        SAMPLES.update(dict.fromkeys(names, function))
        return function

    return register


def thinned(d: Draw, attributes: dict) -> dict:
    """Without some attributes, which are all optional."""
    return {name: value for name, value in attributes.items() if not d.one_in(4)}


sample("relu", "abs", "negative", "cvm_precision", "flatten")(
    lambda d: ({}, [d.tensor(d.shape(), d.precision())]))
sample("upsampling")(
    lambda d: ({"scale": d.between(1, 4)}, [d.tensor(d.shape(4, 4), d.precision())]))


@sample("sum", "max")
def reduction(d):
    shape = d.shape()
    attributes = {"axis": d.axes(len(shape)), "keepdims": d.truth(), "exclude": d.truth()}
    return thinned(d, attributes), [d.tensor(shape, d.precision(24))]


@sample("broadcast_add", "broadcast_sub", "broadcast_mul", "broadcast_div", "broadcast_max",
        "broadcast_greater")  # fmt: skip
def broadcast(d):
    full = d.shape()
    shapes = [tuple(1 if d.one_in(3) else n for n in full) for _ in range(2)]
    cut = d.pick((0, 1))
    shapes[cut] = shapes[cut][d.between(0, len(full) - 1) :]
    if d.one_in(6):
        return {}, [d.tensor(shape, d.precision()) for shape in shapes]
    if d.one_in(2):  # divisors and rivals of the other's size
        return {}, [d.tensor(shapes[0], d.precision(16)), d.tensor(shapes[1], 4)]
    return {}, [d.tensor(shape, d.precision(16)) for shape in shapes]


@sample("elemwise_add", "elemwise_sub")
def pairwise(d):
    shape = d.shape()
    return {}, [d.tensor(shape, d.precision(31)) for _ in range(2)]


def image(d):
    """Extents of a small picture; kernel, strides and padding that fit it, or nearly."""
    extents = [d.between(1, 9), d.between(1, 9)]
    padding = [d.between(0, 2), d.between(0, 2)]
    kernel = [d.between(1, min(4, n + 2 * p)) for n, p in zip(extents, padding)]
    if d.one_in(12):
        kernel[0] = extents[0] + 2 * padding[0] + 1
    return extents, kernel, (d.between(1, 3), d.between(1, 3)), padding


def factor(d) -> int:
    """The precision of an operand of products; seldom one more than there may be."""
    return d.precision(8, 2) if not d.one_in(16) else 9


def biased(d, inputs: list, count: int) -> tuple:
    """The inputs with a bias or without one, and the attribute that says so."""
    if d.truth():
        return {"use_bias": False}, inputs
    given = {"use_bias": True} if d.truth() else {}
    return given, [*inputs, d.tensor((count,), d.precision(31))]


@sample("conv2d")
def conv2d(d):
    extents, kernel, strides, padding = image(d)
    groups, depth, block = d.pick((1, 1, 2, 3)), d.between(1, 3), d.between(1, 2)
    room = [n + 2 * p for n, p in zip(extents, padding)]
    dilation = [d.between(1, max((m - 1) // (k - 1), 1)) if k > 1 else d.between(1, 3)
                for m, k in zip(room, kernel)]  # fmt: skip
    channels = groups * block
    x = d.tensor((d.between(1, 2), groups * depth, *extents), factor(d))
    w = d.tensor((channels, depth, *kernel), factor(d))
    use_bias, inputs = biased(d, [x, w], channels)
    free = thinned(d, {"layout": "NCHW", "kernel_layout": "OIHW", "out_dtype": "same",
                       "out_layout": "NCHW"})  # fmt: skip
    return {
        "channels": channels, "kernel_size": tuple(kernel), "strides": strides,
        "padding": tuple(padding), "dilation": tuple(dilation), "groups": groups, **use_bias, **free
    }, inputs  # fmt: skip


@sample("dense")
def dense(d):
    rows, units, terms = d.between(1, 5), d.between(1, 6), d.pick((1, 2, 3, 8, 17, 31))
    x = d.tensor((rows, terms), factor(d))
    w = d.tensor((units, terms), factor(d))
    use_bias, inputs = biased(d, [x, w], units)
    return {"units": units, **use_bias}, inputs


@sample("max_pool2d")
def max_pool2d(d):
    extents, pool, strides, padding = image(d)
    padding = [min(p, k - (not d.one_in(8))) for p, k in zip(padding, pool)]
    if d.one_in(3):
        padding = [min(padding)]
    attributes = {"pool_size": tuple(pool), "strides": strides, "padding": tuple(padding),
                  "ceil_mode": d.truth()}  # fmt: skip
    shape = (d.between(1, 2), d.between(1, 3), *extents)
    return attributes, [d.tensor(shape, d.precision())]


@sample("clip")
def clip(d):
    precision = d.precision(32, 2)
    low, high = sorted(d.values(min(precision + 1, 31), 2))
    return {"a_min": low, "a_max": high}, [d.tensor(d.shape(), precision)]


@sample("cvm_clip")
def cvm_clip(d):
    attributes = {"precision": d.precision(), **thinned(d, {"is_sign": d.truth()})}
    return attributes, [d.tensor(d.shape(), d.precision(32, 2))]


@sample("cvm_left_shift")
def cvm_left_shift(d):
    precision = d.precision(31)
    shift = d.between(1, 32 - precision)
    wanted = min(32, max(1, precision + shift + d.between(-6, 3)))
    return {"precision": wanted, "shift_bit": shift}, [d.tensor(d.shape(), precision)]


@sample("cvm_right_shift")
def cvm_right_shift(d):
    precision = d.precision(32, 2)
    shift = d.between(1, precision) if not d.one_in(6) else d.between(1, 32)
    wanted = min(32, max(1, precision - shift + d.between(-2, 4)))
    return {"precision": wanted, "shift_bit": shift}, [d.tensor(d.shape(), precision)]


@sample("repeat")
def repeat(d):
    shape = d.shape()
    attributes = {"repeats": d.between(1, 4), **thinned(d, {"axis": d.axis(len(shape))})}
    return attributes, [d.tensor(shape, d.precision())]


@sample("tile")
def tile(d):
    reps = tuple(d.between(1, 3) for _ in range(d.between(1, 4)))
    return {"reps": reps}, [d.tensor(d.shape(), d.precision())]


@sample("concatenate")
def concatenate(d):
    shape = d.shape()
    axis = d.axis(len(shape))
    inputs = []
    for _ in range(d.between(1, 5)):
        own = list(shape)
        own[axis] = d.between(1, 4)
        inputs.append(d.tensor(tuple(own), d.precision()))
    return {"axis": axis} if axis != 1 or d.truth() else {}, inputs


@sample("transpose")
def transpose(d):
    shape = d.shape()
    rank = len(shape)
    axes = tuple(d.pick((axis, axis - rank)) for axis in d.shuffled(range(rank)))
    return {"axes": axes} if not d.one_in(5) else {}, [d.tensor(shape, d.precision())]


@sample("strided_slice")
def strided_slice(d):
    shape = d.shape()
    begin, end, stride = [], [], []
    for n in shape:
        low, high = sorted((d.between(0, n), d.between(0, n)))
        step = d.between(1, 3)
        if low == high:
            low, high = 0, n
        if d.one_in(3):
            first = high - 1 if high < n or d.truth() else n + d.between(0, 2)
            low, high, step = first, low - 1 if low else -n - d.between(1, 3), -step
        begin.append(low - n if low < n and d.one_in(4) else low)
        end.append(high + d.between(1, 3) if high == n and d.one_in(4) else high)
        stride.append(step)
    attributes = {"begin": tuple(begin), "end": tuple(end), "stride": tuple(stride)}
    if d.one_in(6):
        attributes = {name: t[: d.between(0, len(t))] for name, t in attributes.items()}
    return attributes, [d.tensor(shape, d.precision())]


@sample("take")
def take(d):
    shape, indices = d.shape(1, 4), d.shape(1, 3)
    if d.one_in(3):
        given, extent = d.pick(({}, {"axis": None})), math.prod(shape)
    else:
        axis = d.axis(len(shape))
        given, extent = {"axis": axis}, shape[axis]
    return given, [d.tensor(shape, d.precision()), d.tensor(indices, 9, -2, extent + 1)]


@sample("cvm_lut")
def cvm_lut(d):
    table = d.shape(1, 2)
    size = math.prod(table)
    return {"in_dim": size}, [d.tensor(d.shape(), 10, -3, size + 2),
                              d.tensor(table, d.precision())]  # fmt: skip


@sample("slice_like")
def slice_like(d):
    shape = d.shape()
    like = tuple(d.between(1, n) for n in shape)
    axes = d.axes(len(shape))
    if axes and d.truth():  # what is not cut may be of any extent, and of another rank
        cut = {axis % len(shape) for axis in axes}
        like = tuple(n if k in cut else d.extent() for k, n in enumerate(like))[: max(cut) + 1]
    given = {"axis": axes} if len(like) != len(shape) or axes or d.truth() else {}
    return given, [d.tensor(shape, d.precision()), d.tensor(like, d.precision())]


@sample("expand_dims")
def expand_dims(d):
    shape = d.shape(1, 4)
    more = d.between(1, 6 - len(shape))
    return {"axis": d.axis(len(shape) + 1), **thinned(d, {"num_newaxis": more})}, [
        d.tensor(shape, d.precision())
    ]


@sample("reshape")
def reshape(d):
    shape, target, k = d.shape(), [], 0
    while k < len(shape):
        kind = d.pick(("literal", "copy", "merge", "split", "rest", "infer"))
        if kind == "merge" and k + 1 < len(shape):
            target.append(-3)
            k += 2
            continue
        if kind == "rest":
            target.append(-2)
            break
        if kind == "split":
            part = d.pick([n for n in range(1, shape[k] + 1) if shape[k] % n == 0])
            parts = [part, shape[k] // part]
            if d.truth():
                parts[d.pick((0, 1))] = -1
            if d.one_in(4):
                wrong = [part + 1, shape[k] // part]
                parts = d.pick((wrong, wrong, [-1, -1], [-1, shape[k] + 1]))
            target += [-4, *parts]
        elif kind == "infer" and -1 not in target:
            target.append(-1)
        else:
            target.append(0 if kind == "copy" else shape[k])
        k += 1
    if d.one_in(12):  # a split that is none, where there is nothing to split either
        target += [-4, *d.pick(([-1, -1], [0, 2], [1, -4], [-1]))]
    elif d.one_in(4):
        target = d.pick(([-1], [1, -1], [-1, shape[-1]], [math.prod(shape)]))
    elif d.one_in(3):  # a walk that leads anywhere
        tokens = (-4, -4, -3, -2, -1, -1, 0, 1, 2, *shape)
        target = [d.pick(tokens) for _ in range(d.between(1, 7))]
    return {"shape": tuple(target)}, [d.tensor(shape, d.precision())]


@sample("squeeze")
def squeeze(d):
    shape = tuple(1 if d.truth() else n for n in d.shape())
    ones = [k for k, n in enumerate(shape) if n == 1]
    listed = tuple(d.pick((k, k - len(shape))) for k in d.some(ones + ones))
    return {"axis": listed} if d.truth() else {}, [d.tensor(shape, d.precision())]


@sample("where")
def where(d):
    shape = d.shape()
    condition = shape if d.truth() else shape[:1]
    return {}, [d.tensor(condition, d.precision(8, 2), -1, 1),
                d.tensor(shape, d.precision()), d.tensor(shape, d.precision())]  # fmt: skip


@sample("get_valid_counts")
def get_valid_counts(d):
    batch, n, precision = d.between(1, 3), d.between(1, 6), d.precision()
    k = d.pick((2, 3, 6, 7, 31, d.pick((1, 31, 32))))
    x = d.tensor((batch, n, k), precision)
    given = {"score_threshold": d.pick((*x[2], -1, 0, 3, 2**31 - 1))}
    return thinned(d, given), [x]


def box(d, size: int) -> list:
    """Corners that are mostly in order, seldom not, and near the ends where the range is large."""
    low, high = d.pick(((-size, size), (-size, 2 - size), (-size, 0)))
    left, top = d.between(low, min(low + 2, size)), d.between(low, min(high, size))
    right, bottom = (min(size, edge + d.between(-1, size)) for edge in (left, top))
    if d.one_in(2):
        right, bottom = size - d.between(0, min(size, 2)), size - d.between(0, size)
    return [left, top, right, bottom]


# A percentage, and two widths of which one is just as much of the other, or a little less.
PARTS = ((50, (1, 2)), (67, (2, 3)), (43, (3, 7)), (63, (5, 8)))


@sample("non_max_suppression")
def non_max_suppression(d):
    """Boxes of a small or the whole range, so that some overlap; ids and scores that repeat."""
    batch, n, precision = d.between(1, 2), d.between(1, 9), d.pick((1, 2, 4, 8, 16, 30, 31, 31))
    a = 2 ** (precision - 1) - 1
    size = min(a, d.pick((1, 2, 3, 6, 8, 24, a, a)))
    threshold, widths = d.pick(PARTS)
    nested = size >= 8 and d.one_in(2)
    rows = []
    for _ in range(batch * n):
        rows += [max(-a, min(a, d.between(-1, 2))), d.between(-min(a, 2), min(a, 4))]
        rows += [0, 0, size // 8 * d.pick(widths), size] if nested else box(d, size)
    attributes = thinned(d, {
        "iou_threshold": threshold if nested else d.pick((1, 100, d.between(1, 100))),
        "max_output_size": d.between(-1, n), "force_suppress": d.truth(),
        "top_k": d.between(-1, n), "coord_start": 2, "score_index": 1, "id_index": 0,
        "return_indices": False, "invalid_to_bottom": True,
    })  # fmt: skip
    return attributes, [[(batch, n, 6), precision, rows], d.tensor((batch,), 6, n - 3, n + 2)]
