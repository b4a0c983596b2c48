"""Operators that look at one element of each input."""

import math

import numpy

from . import floats as doubles
from .affine import as_affine
from .graph import largest
from .lowering import Value
from .registry import channels, floats, lowers, require

TABLE_BITS = 12  # of the numbers of a table's entries, with their sign


@floats("BatchNormalization", "Div")
def unfolded_floats(network, node, x, *more):
    """What becomes an Affine before anything is lowered."""
    rank = max(numpy.ndim(x), *map(numpy.ndim, more))
    found = as_affine(network, node, rank)
    require(found, "it divides by no constant, or by one that differs within a channel")
    return affine_floats(network, found, more[0] if found.inputs[0] == node.inputs[1] else x)


@floats("Affine")
def affine_floats(_, node, x):
    """c x + d."""
    return x * channels(node.attrs["c"], x.ndim) + channels(node.attrs["d"], x.ndim)


@lowers("Affine")
def affine(low, node):
    """A factor alone changes what an integer is worth; else a product, a sum and a shift."""
    x, name = low.flat(node.inputs[0]), node.outputs[0]
    c, d = node.attrs["c"], node.attrs["d"]
    if (c == c[0]).all() and c[0] > 0 and not d.any():
        return Value(x.tensor, x.scale * c[0], x.bound)
    scale = low.scale_of(name)
    return low.combine(name, [(x, c)], scale, 8, d / scale)


@floats("Relu")
def relu_floats(_network, _node, x):
    """max(x, 0)."""
    return numpy.maximum(x, 0.0)


@lowers("Relu")
def relu(low, node):
    """relu, in any scale."""
    x = low.value(node.inputs[0])
    return Value(low.graph.call(node.outputs[0], "relu", x.tensor), x.scale, x.bound)


def slope(network, node, rank):
    """What negative numbers are multiplied by, along axis 1."""
    if node.op == "LeakyRelu":
        return numpy.array([node.attrs.get("alpha", 0.01)], dtype=numpy.float64)
    value = network.constant(node, 1)
    shape = (1,) * (rank - value.ndim) + value.shape
    single = all(n == 1 for k, n in enumerate(shape) if k != 1)
    require(value.size == 1 or single, "its slope differs within a channel")
    return value.reshape(-1)


@floats("PRelu", "LeakyRelu")
def prelu_floats(network, node, x, *_):
    """x, and a x where x is negative."""
    a = channels(slope(network, node, x.ndim), x.ndim)
    return numpy.where(x < 0, a * x, x)


@lowers("PRelu", "LeakyRelu")
def prelu(low, node):
    """a x + (1 - a) relu(x)."""
    name = node.outputs[0]
    x = low.narrowed(f"{name}_narrow", low.value(node.inputs[0]))
    a = slope(low.network, node, len(x.shape))
    positive = Value(low.graph.call(f"{name}_relu", "relu", x.tensor), x.scale, x.bound)
    return low.combine(name, [(x, a), (positive, 1.0 - a)], low.scale_of(name))


def limits(network, node):
    """(lower, upper) of a Clip."""
    low, high = (network.constant(node, k, key) for k, key in ((1, "min"), (2, "max")))
    return (-math.inf if low is None else float(low), math.inf if high is None else float(high))


@floats("Clip")
def clip_floats(network, node, x, *_):
    """x between two limits."""
    return numpy.clip(x, *limits(network, node))


@lowers("Clip")
def clip(low, node):
    """8 bits whose largest number is the farther limit; what that leaves is relu or clip."""
    name, (lower, upper) = node.outputs[0], limits(low.network, node)
    require(lower < upper, "its limits leave one value or none")
    farthest = max(abs(lower), abs(upper))
    scale = min(farthest, low.known_range(name) or farthest) / largest(8)
    require(0 < scale < math.inf, f"nothing tells the range of '{name}': give calibration data")
    x = low.quantized(node.inputs[0], 8, scale)
    bounds = [int(numpy.clip(numpy.rint(v / scale), -127, 127)) for v in (lower, upper)]
    tensor = x.tensor
    if bounds == [0, 127]:
        tensor = low.graph.call(name, "relu", tensor)
    elif bounds != [-127, 127]:
        tensor = low.graph.call(name, "clip", tensor, a_min=bounds[0], a_max=bounds[1])
        tensor = low.graph.shifted(f"{name}_8", tensor, 0, 8)
    return low.uniform(tensor, scale)


@floats("Add", "Sub", "Mul", "Max")
def binary_floats(_, node, x, *more):
    """Sums, differences, products, and the largest."""
    function = {"Add": numpy.add, "Sub": numpy.subtract, "Mul": numpy.multiply,
                "Max": numpy.maximum}[node.op]  # fmt: skip
    for y in more:
        x = function(x, y)
    return x


@lowers("Add", "Sub")
def add(low, node):
    """Both in one scale by a multiplier each, then one shift."""
    x, y = map(low.value, node.inputs)
    signs = 1.0, -1.0 if node.op == "Sub" else 1.0
    for value, other in ((x, y), (y, x)):
        if not value.uniform and len(value.shape) < len(other.shape):
            x, y = map(low.flat, node.inputs)
    return low.combine(node.outputs[0], list(zip((x, y), signs)), low.scale_of(node.outputs[0]))


@lowers("Mul")
def mul(low, node):
    """The product of 8 bits and 8 bits, in the product of their scales."""
    x, y = map(low.quantized, node.inputs)
    tensor = low.graph.call(node.outputs[0], "broadcast_mul", x.tensor, y.tensor)
    return low.limited(node.outputs[0], low.uniform(tensor, x.scale[0] * y.scale[0],
                                                    largest(8) ** 2))  # fmt: skip


@lowers("Max")
def maximum(low, node):
    """The larger one in a common scale."""
    scale = max(low.scale_of(name) if low.known_range(name) else low.flat(name).scale[0]
                for name in node.inputs)  # fmt: skip
    values = [low.quantized(name, 8, scale) for name in node.inputs]
    tensor = values[0].tensor
    for value in values[1:]:
        tensor = low.graph.call(node.outputs[0], "broadcast_max", tensor, value.tensor)
    return low.uniform(tensor, scale)


@floats("Neg")
def negative_floats(_network, _node, x):
    """-x."""
    return -x


@floats("Abs")
def absolute_floats(_network, _node, x):
    """|x|."""
    return numpy.abs(x)


@lowers("Neg", "Abs")
def mirrored(low, node):
    """negative or abs, in any scale."""
    x = low.value(node.inputs[0])
    op = {"Neg": "negative", "Abs": "abs"}[node.op]
    return Value(low.graph.call(node.outputs[0], op, x.tensor), x.scale, x.bound)


# ---- tables ----


def _hard_sigmoid(a, x):
    return numpy.clip(a.get("alpha", 0.2) * x + a.get("beta", 0.5), 0.0, 1.0)


CURVES = {
    "Sigmoid": lambda a, x: doubles.sigmoid(x),
    "Tanh": lambda a, x: doubles.tanh(x),
    "Exp": lambda a, x: doubles.exp(x),
    "Erf": lambda a, x: doubles.erf(x),
    "Sqrt": lambda a, x: numpy.sqrt(numpy.maximum(x, 0.0)),
    "Softsign": lambda a, x: x / (1.0 + numpy.abs(x)),
    "Elu": lambda a, x: numpy.where(x < 0, a.get("alpha", 1.0) * (doubles.exp(x) - 1.0), x),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": lambda a, x: x * numpy.clip(x / 6.0 + 0.5, 0.0, 1.0),
    "Gelu": lambda a, x: 0.5 * x * (1.0 + doubles.erf(x * math.sqrt(0.5))),
}


@floats(*CURVES)
def curve_floats(_, node, x):
    """A function of one number."""
    require(node.attrs.get("approximate", b"none") == b"none", "it is an approximation")
    return CURVES[node.op](node.attrs, x)


@lowers(*CURVES)
def curve(low, node):
    """cvm_lut with the function at every number of TABLE_BITS."""
    name, source = node.outputs[0], node.inputs[0]
    most = largest(TABLE_BITS)
    x, scale_in = low.value(source), low.scale_of(source, TABLE_BITS)
    numbers = low.combine(f"{name}_number", [(x, 1.0)], scale_in, TABLE_BITS + 1, float(most))
    curved = CURVES[node.op](node.attrs, numpy.arange(-most, most + 1) * scale_in)
    scale = (low.known_range(name) or float(numpy.abs(curved).max())) / largest(8)
    entries = numpy.clip(numpy.rint(curved / scale), -largest(8), largest(8))
    table = low.graph.parameter(f"{name}_table", entries)
    tensor = low.graph.call(name, "cvm_lut", numbers.tensor, table, in_dim=entries.size)
    return low.uniform(tensor, scale)
