"""Convolutions and matrix products."""

import numpy

from . import floats as doubles
from .lowering import Value
from .registry import channels, floats, lowers, pair, require, window_pads
from .stated import destination


def weight_of(network, node):
    """(weight, bias): outputs first, in doubles, the affine maps behind the product folded in."""
    weight = network.constant(node, 1)
    bias = network.constant(node, 2) if node.op != "MatMul" else None
    if node.op == "Gemm":
        require(not node.attrs.get("transA", 0), "it transposes its first input")
        weight = weight * node.attrs.get("alpha", 1.0)
        bias = None if bias is None else bias * node.attrs.get("beta", 1.0)
    if node.op == "MatMul" or node.op == "Gemm" and not node.attrs.get("transB", 0):
        require(weight.ndim == 2, f"its weight has rank {weight.ndim}")
        weight = weight.T
    bias = numpy.zeros(1) if bias is None else bias.reshape(-1)
    c, d = node.attrs.get("affine", (numpy.ones(1), numpy.zeros(1)))
    weight = weight * numpy.reshape(c, (-1,) + (1,) * (weight.ndim - 1))
    return weight, numpy.broadcast_to(bias * c + d, len(weight))


def geometry(network, node, extents):
    """(kernel, strides, pads, dilation, groups) of a convolution."""
    kernel = network.constant(node, 1).shape[2:]
    require(len(kernel) == 2, f"its kernel has {len(kernel)} axes, and conv2d has 2")
    strides, dilation = pair(node, "strides", (1, 1)), pair(node, "dilations", (1, 1))
    pads = window_pads(node, extents, kernel, strides, dilation)
    return kernel, strides, pads, dilation, node.attrs.get("group", 1)


@floats("Conv")
def conv_floats(network, node, x, *_):
    """A convolution."""
    weight, bias = weight_of(network, node)
    _, strides, pads, dilation, groups = geometry(network, node, x.shape[2:])
    y = doubles.convolution(x, weight, strides, pads, dilation, groups)
    return y + channels(bias, 4)


@floats("Gemm", "MatMul")
def matrix_floats(network, node, x, *_):
    """A matrix product with a constant."""
    weight, bias = weight_of(network, node)
    rows = doubles.product(x.reshape(-1, x.shape[-1]), weight.T) + bias
    return rows.reshape(*x.shape[:-1], len(weight))


def exact_integers(low, node):
    """(integers, scale) of a weight that is dequantized in the model as it can be here, or None."""
    found = low.network.quantized.get(node.inputs[1])
    if found is None or "affine" in node.attrs or node.attrs.get("alpha", 1.0) != 1.0:
        return None
    integers, scale, axis = found
    turned = node.op == "MatMul" or node.op == "Gemm" and not node.attrs.get("transB", 0)
    along_outputs = scale.size == 1 or axis == (1 if turned else 0)
    if not along_outputs or numpy.abs(integers).max() > 128:
        return None
    return integers.T if turned else integers, scale


def target_scale(low, name):
    """The scale to which the sums of a product will be brought, if a shift can do it."""
    readers = low.network.readers(destination(low.network, name)[0])
    if None in readers or any(reader.op == "PRelu" for reader in readers):
        return None
    return low.scale_of(name) if low.known_range(name) else None


def parameters(low, node, scale_in):
    """The weight and bias of a node as parameters, with the scale and bound of its sums."""
    weight, bias = weight_of(low.network, node)
    name, exact = node.outputs[0], exact_integers(low, node)
    if exact:
        return low.integer_weights(name, *exact, scale_in, bias)
    return low.weights(name, weight, scale_in, bias, target_scale(low, name))


def padded(low, name, value, pads, fill=0):
    """An image with a border, (above, left, below, right), made by concatenation."""
    tensor = value.tensor
    for axis, counts in ((2, pads[0::2]), (3, pads[1::2])):
        parts = [tensor]
        for count, at in ((counts[0], 0), (counts[1], len(parts) + 1)):
            if count:
                shape = [count if k == axis else n for k, n in enumerate(tensor.shape)]
                border = low.graph.parameter(f"{name}_border", numpy.full(shape, fill))
                parts.insert(at, border)
        if len(parts) > 1:
            tensor = low.graph.call(f"{name}_padded", "concatenate", *parts, axis=axis)
    return Value(tensor, value.scale, value.bound)


@lowers("Conv")
def conv(low, node):
    """conv2d, whose padding is the same on both sides; other borders are concatenated."""
    x = low.quantized(node.inputs[0])
    kernel, strides, pads, dilation, groups = geometry(low.network, node, x.shape[2:])
    if pads[:2] != pads[2:]:
        x, pads = padded(low, node.outputs[0], x, pads), (0, 0, 0, 0)
    inputs, scale, bound = parameters(low, node, x.scale[0])
    y = low.graph.call(
        node.outputs[0], "conv2d", x.tensor, *inputs, channels=inputs[0].shape[0],
        kernel_size=kernel, strides=strides, padding=pads[:2], dilation=dilation, groups=groups,
        use_bias=len(inputs) > 1)  # fmt: skip
    return low.limited(node.outputs[0], Value(y, scale, bound))


@lowers("Gemm", "MatMul")
def matrix(low, node):
    """dense, on all rows of the first factor."""
    x, name = low.quantized(node.inputs[0]), node.outputs[0]
    inputs, scale, bound = parameters(low, node, x.scale[0])
    rows, units = x.tensor, inputs[0].shape[0]
    if len(x.shape) != 2:
        count = int(numpy.prod(x.shape[:-1]))
        rows = low.graph.call(f"{name}_rows", "reshape", rows, shape=(count, x.shape[-1]))
    y = low.graph.call(name, "dense", rows, *inputs, units=units, use_bias=len(inputs) > 1)
    value = Value(y, scale, bound)
    if len(x.shape) == 2:
        return low.limited(name, value)
    # Axis 1 is no more the one of the scales.
    most = float((scale * bound).max())
    value = low.combine(name, [(value, 1.0)], most / 2**14, 16)
    y = low.graph.call(name, "reshape", value.tensor, shape=(*x.shape[:-1], units))
    return low.uniform(y, value.scale[0])
