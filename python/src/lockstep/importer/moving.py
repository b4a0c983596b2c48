"""Operators that look at windows, reduce axes, or move elements."""

import math

import numpy

from . import floats as doubles
from .graph import largest
from .lowering import Value
from .products import padded
from .registry import floats, lowers, pair, require, window_pads
from .stated import quantizer, symmetric_range

# ---- windows ----


def pool(node, extents):
    """(kernel, strides, pads) of a pooling, pads with what ceil_mode adds below and right."""
    kernel, strides = pair(node, "kernel_shape", ()), pair(node, "strides", (1, 1))
    require(pair(node, "dilations", (1, 1)) == (1, 1), "it has a dilation")
    return kernel, strides, window_pads(node, extents, kernel, strides, (1, 1))


@floats("MaxPool")
def max_pool_floats(_, node, x):
    """The largest of each window."""
    kernel, strides, pads = pool(node, x.shape[2:])
    more = [s - 1 if node.attrs.get("ceil_mode", 0) else 0 for s in strides]
    border = ((0, 0), (0, 0), (pads[0], pads[2] + more[0]), (pads[1], pads[3] + more[1]))
    image = numpy.pad(x, border, constant_values=-math.inf)
    seen = numpy.lib.stride_tricks.sliding_window_view(image, kernel, axis=(2, 3))
    return seen[:, :, ::strides[0], ::strides[1]].max(axis=(4, 5))


@lowers("MaxPool")
def max_pool(low, node):
    """max_pool2d of 8 bits; a border that differs is concatenated, smaller than any number."""
    require(len(node.outputs) == 1, "it gives indices")
    x, name = low.quantized(node.inputs[0]), node.outputs[0]
    kernel, strides, pads = pool(node, x.shape[2:])
    if pads[:2] != pads[2:]:
        x, pads = padded(low, name, x, pads, -largest(8)), (0, 0, 0, 0)
    tensor = low.graph.call(
        name, "max_pool2d", x.tensor, pool_size=kernel, strides=strides, padding=pads[:2],
        ceil_mode=str(bool(node.attrs.get("ceil_mode", 0))))  # fmt: skip
    return Value(tensor, x.scale, x.bound)


@floats("AveragePool")
def average_pool_floats(_, node, x):
    """The mean of each window."""
    kernel, strides, pads = pool(node, x.shape[2:])
    inside = node.attrs.get("count_include_pad", 0) or not any(pads)
    require(inside and not node.attrs.get("ceil_mode", 0), "its windows differ in size")
    ones = numpy.ones((x.shape[1], 1, *kernel))
    y = doubles.convolution(x, ones, strides, pads, (1, 1), x.shape[1])
    return y / math.prod(kernel)


@lowers("AveragePool")
def average_pool(low, node):
    """conv2d with ones; what a sum is worth makes it a mean."""
    x, name = low.quantized(node.inputs[0]), node.outputs[0]
    kernel, strides, pads = pool(node, x.shape[2:])
    if pads[:2] != pads[2:]:
        x, pads = padded(low, name, x, pads), (0, 0, 0, 0)
    count = x.shape[1]
    ones = low.graph.parameter(f"{name}_ones", numpy.ones((count, 1, *kernel)))
    y = low.graph.call(
        name, "conv2d", x.tensor, ones, channels=count, kernel_size=kernel, strides=strides,
        padding=pads[:2], dilation=(1, 1), groups=count, use_bias=False)  # fmt: skip
    size = math.prod(kernel)
    return low.uniform(y, x.scale[0] / size, x.bound.max() * size)


# ---- reductions ----


def axes_of(network, node, rank):
    """(axes that are reduced, whether they stay)."""
    if node.op.startswith("Global"):
        return tuple(range(2, rank)), True
    axes = network.constant(node, 1, "axes")
    if axes is None or not len(axes):
        require(not node.attrs.get("noop_with_empty_axes", 0), "it reduces no axis")
        axes = range(rank)
    return tuple(sorted(int(a) % rank for a in axes)), bool(node.attrs.get("keepdims", 1))


@floats("ReduceMean", "ReduceSum", "GlobalAveragePool", "ReduceMax", "GlobalMaxPool")
def reduced_floats(network, node, x, *_):
    """Sums, means and maxima."""
    axes, kept = axes_of(network, node, x.ndim)
    if "Max" in node.op:
        return x.max(axis=axes, keepdims=kept)
    y = doubles.sums(x, axes)
    if node.op != "ReduceSum":
        y = y / math.prod(x.shape[a] for a in axes)
    return y if kept else y.squeeze(axes)


@lowers("ReduceMean", "ReduceSum", "GlobalAveragePool", "ReduceMax", "GlobalMaxPool")
def reduced(low, node):
    """max, or sum, of which an integer is worth as much less as there are terms."""
    x = low.quantized(node.inputs[0])
    axes, kept = axes_of(low.network, node, len(x.shape))
    op = "max" if "Max" in node.op else "sum"
    y = low.graph.call(node.outputs[0], op, x.tensor, axis=axes, keepdims=str(kept))
    if op == "max":
        return low.uniform(y, x.scale[0], x.bound.max())
    count = math.prod(x.shape[a] for a in axes)
    worth = x.scale[0] / (1 if node.op == "ReduceSum" else count)
    return low.uniform(y, worth, x.bound.max() * count)


# ---- shapes ----


def target_shape(network, node, shape):
    """The shape that Reshape, Flatten, Squeeze or Unsqueeze gives."""
    if node.op == "Flatten":
        axis = node.attrs.get("axis", 1)
        axis += len(shape) if axis < 0 else 0
        return (math.prod(shape[:axis]), math.prod(shape[axis:]))
    if node.op == "Reshape":
        wanted = [int(v) for v in network.constant(node, 1, "shape")]
        if not node.attrs.get("allowzero", 0):
            wanted = [shape[k] if v == 0 else v for k, v in enumerate(wanted)]
        known = math.prod(v for v in wanted if v != -1)
        return tuple(math.prod(shape) // known if v == -1 else v for v in wanted)
    axes = network.constant(node, 1, "axes")
    if node.op == "Unsqueeze":
        rank = len(shape) + len(axes)
        added, rest = {int(a) % rank for a in axes}, iter(shape)
        return tuple(1 if k in added else next(rest) for k in range(rank))
    dropped = {k for k, n in enumerate(shape) if n == 1} if axes is None \
        else {int(a) % len(shape) for a in axes}  # fmt: skip
    return tuple(n for k, n in enumerate(shape) if k not in dropped)


@floats("Reshape", "Flatten", "Squeeze", "Unsqueeze")
def reshaped_floats(network, node, x, *_):
    """The same elements in another shape."""
    return x.reshape(target_shape(network, node, x.shape))


@lowers("Reshape", "Flatten", "Squeeze", "Unsqueeze")
def reshaped(low, node):
    """reshape."""
    x = low.flat(node.inputs[0])
    shape = target_shape(low.network, node, x.shape)
    return Value(low.graph.call(node.outputs[0], "reshape", x.tensor, shape=shape), x.scale,
                 x.bound)  # fmt: skip


@floats("Transpose")
def transposed_floats(_, node, x):
    """Axes in another order."""
    return x.transpose(node.attrs.get("perm"))


@lowers("Transpose")
def transposed(low, node):
    """transpose."""
    x = low.flat(node.inputs[0])
    axes = tuple(node.attrs.get("perm", range(len(x.shape))[::-1]))
    return Value(low.graph.call(node.outputs[0], "transpose", x.tensor, axes=axes), x.scale,
                 x.bound)  # fmt: skip


# ---- joining and cutting ----


@floats("Concat")
def concatenated_floats(_, node, *parts):
    """Tensors one behind another."""
    return numpy.concatenate(parts, axis=node.attrs["axis"])


@lowers("Concat")
def concatenated(low, node):
    """concatenate, all parts in 8 bits of one scale."""
    scale = low.scale_of(node.outputs[0])
    values = [low.quantized(name, 8, scale) for name in node.inputs]
    axis = node.attrs["axis"] % len(values[0].shape)
    tensor = low.graph.call(
        node.outputs[0], "concatenate", *(v.tensor for v in values), axis=axis)
    return low.uniform(tensor, scale)


def slices(network, node, shape):
    """The slices, as Python writes them, of each output of Slice or Split."""
    if node.op == "Slice":
        starts, ends = (network.constant(node, k, key) for k, key in ((1, "starts"), (2, "ends")))
        axes = network.constant(node, 3, "axes", range(len(starts)))
        steps = network.constant(node, 4, otherwise=[1] * len(starts))
        found = [slice(None)] * len(shape)
        for axis, start, end, step in zip(axes, starts, ends, steps):
            end = None if step < 0 and end < -shape[axis] else int(end)
            found[axis] = slice(int(start), end, int(step))
        return [tuple(found)]
    axis = node.attrs.get("axis", 0) % len(shape)
    part = -(-shape[axis] // len(node.outputs))
    sizes = network.constant(node, 1, "split", [part] * len(node.outputs))
    ends = numpy.minimum(numpy.cumsum(sizes), shape[axis])
    return [(slice(None),) * axis + (slice(int(begin), int(end)),) for begin, end in
            zip((0, *ends[:-1]), ends)]  # fmt: skip


@floats("Slice", "Split")
def sliced_floats(network, node, x, *_):
    """Parts of a tensor."""
    return tuple(x[cut] for cut in slices(network, node, x.shape))


@lowers("Slice", "Split")
def sliced(low, node):
    """strided_slice for every part."""
    x, found = low.flat(node.inputs[0]), []
    for name, cut in zip(node.outputs, slices(low.network, node, x.shape)):
        ranges = [range(n)[cut[k]] if k < len(cut) else range(n) for k, n in enumerate(x.shape)]
        require(all(ranges), "a part of it is empty")
        ends = (r.stop if r.stop >= 0 else -n - 1 for r, n in zip(ranges, x.shape))
        tensor = low.graph.call(
            name, "strided_slice", x.tensor, begin=tuple(r.start for r in ranges),
            end=tuple(ends), stride=tuple(r.step for r in ranges))  # fmt: skip
        found.append(Value(tensor, x.scale, x.bound))
    return tuple(found)


@floats("Gather")
def gathered_floats(network, node, x, *_):
    """Elements by number along an axis."""
    return x.take(network.constant(node, 1), axis=node.attrs.get("axis", 0))


@lowers("Gather")
def gathered(low, node):
    """take, by constant numbers."""
    x, name = low.flat(node.inputs[0]), node.outputs[0]
    axis = node.attrs.get("axis", 0) % len(x.shape)
    numbers = low.network.constant(node, 1)
    require(numbers.ndim > 0, "its index has no axis")
    indices = low.graph.parameter(f"{name}_indices", numbers % x.shape[axis])
    return Value(low.graph.call(name, "take", x.tensor, indices, axis=axis), x.scale, x.bound)


@floats("Pad")
def border_floats(network, node, x, *_):
    """A border of zeros."""
    pads, value = network.constant(node, 1, "pads"), network.constant(node, 2, "value")
    require(node.attrs.get("mode", b"constant") == b"constant", "its border is no constant")
    require(value is None or not numpy.any(value), "its border is not 0")
    require(x.ndim == 4 and len(pads) == 8 and not numpy.any(pads[[0, 1, 4, 5]]),
            "it pads other axes than those of images")  # fmt: skip
    require(numpy.min(pads) >= 0, "it cuts")
    return numpy.pad(x, list(zip(pads[:4], pads[4:])))


@lowers("Pad")
def border(low, node):
    """concatenate with zeros."""
    pads = [int(v) for v in low.network.constant(node, 1, "pads")]
    return padded(low, node.outputs[0], low.flat(node.inputs[0]), pads[2:4] + pads[6:8])


def factor_of(network, node, shape):
    """How often Resize or Upsample repeats rows and columns."""
    require(node.attrs.get("mode", b"nearest") == b"nearest", "it interpolates")
    position = 1 if node.op == "Upsample" else 2
    scales = network.constant(node, position, "scales")
    if scales is None or not numpy.size(scales):
        scales = network.constant(node, 3) / numpy.array(shape, dtype=numpy.float64)
    scales = [float(v) for v in scales]
    factor = int(scales[-1])
    require(scales == [1.0, 1.0, factor, factor] and factor >= 1,
            f"its scales are {scales}, and upsampling has one whole number for both axes")
    turns = node.attrs.get("coordinate_transformation_mode", b"half_pixel").decode()
    rounds = node.attrs.get("nearest_mode", b"round_prefer_floor").decode()
    half = turns in ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel")
    plain = turns == "asymmetric" and rounds == "floor" or node.op == "Upsample"
    require(plain or half and rounds.startswith("round") or factor == 1,
            f"it takes elements as '{turns}' and '{rounds}' say")  # fmt: skip
    return factor


@floats("Resize", "Upsample")
def resized_floats(network, node, x, *_):
    """Every element several times, in rows and columns."""
    factor = factor_of(network, node, x.shape)
    return x.repeat(factor, axis=2).repeat(factor, axis=3)


@lowers("Resize", "Upsample")
def resized(low, node):
    """upsampling."""
    x = low.flat(node.inputs[0])
    factor = factor_of(low.network, node, x.shape)
    return Value(low.graph.call(node.outputs[0], "upsampling", x.tensor, scale=factor), x.scale,
                 x.bound)  # fmt: skip


# ---- quantization that the model states ----


@floats("QuantizeLinear")
def quantize_floats(network, node, x, *_):
    """Integers, kept as doubles."""
    scale, zero, least, most = quantizer(network, node)
    return numpy.clip(numpy.rint(x / scale) + zero, least, most)


@floats("DequantizeLinear")
def dequantize_floats(network, node, x, *_):
    """What the integers stand for."""
    scale, zero, _, _ = quantizer(network, node)
    return (x - zero) * scale


@lowers("QuantizeLinear")
def quantize(low, node):
    """8 bits in the scale that the model states."""
    return low.quantized(node.inputs[0], 8, symmetric_range(low.network, node) / largest(8))


@lowers("DequantizeLinear")
def dequantize(low, node):
    """Nothing: a value knows its scale."""
    return low.value(node.inputs[0])
