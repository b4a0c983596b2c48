# SPDX-License-Identifier: Apache-2.0
"""The integer network: quantization, the graph, and its exact evaluation in NumPy.

The operators are those of the cross-checks, which share no code with the C++ reference, so that
equal logits are evidence about both.
"""

import pathlib
import sys
from dataclasses import dataclass, field

import numpy as np

import floating

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "reference"))

from crosscheck.independent import OPERATORS, Call, Tensor, judged  # noqa: E402
from crosscheck.independent.attributes import read_attributes  # noqa: E402
from crosscheck.independent.basics import largest  # noqa: E402
from crosscheck.libraries.numpy import LIBRARY  # noqa: E402

DATA_PRECISION = 6  # a(6) = 31 covers the pixel values 0..16; a(5) = 15 would not.
WEIGHT_PRECISION = 8

# Of the values that are brought back to 8 bits, five in a thousand are clamped: the others gain
# resolution, and a backend that clamps wrongly does not reproduce the logits.
CLAMPED_NUMERATOR, CLAMPED_DENOMINATOR = 5, 1000


@dataclass
class Node:
    """A variable (op "null") or an operator with one output."""

    name: str
    op: str
    shape: tuple
    precision: int
    inputs: list = field(default_factory=list)
    attrs: dict = field(default_factory=dict)
    value: np.ndarray | None = None


def computed(op, attrs, *values):
    """The output of an operator for a batch of images."""
    attributes = read_attributes(OPERATORS[op].attributes, list(attrs.items()))
    return LIBRARY[op](attributes, *values)


def checked(node, value):
    assert np.abs(value).max() <= largest(node.precision), f"{node.name} exceeds its precision"
    return value


class Network:
    """A graph under construction, carrying the values of every node for a batch of images."""

    def __init__(self, images):
        self.nodes = []
        self.values = []
        data = Node("data", "null", (1, *images.shape[1:]), DATA_PRECISION)
        self.head = self._append(data, images)

    def _append(self, node, value):
        self.nodes.append(node)
        self.values.append(checked(node, value))
        return len(self.nodes) - 1

    def _parameter(self, name, value, precision):
        return self._append(Node(name, "null", value.shape, precision, value=value), value)

    def apply(self, name, op, attrs=None, parameters=()):
        """Appends one operator on the latest node and on new parameters, and evaluates it."""
        attrs = attrs or {}
        inputs = [self.head] + [self._parameter(*parameter) for parameter in parameters]
        types = [Tensor(self.nodes[i].shape, self.nodes[i].precision) for i in inputs]
        _, _, (result,) = judged(Call(op, list(attrs.items()), types))
        node = Node(name, op, result.shape, result.precision, inputs, attrs)
        value = computed(op, attrs, *(self.values[i] for i in inputs))
        self.head = self._append(node, value)


def quantized(op, layer, weight_scale, scale_in):
    """Returns the integer weight and bias of a trained layer whose input has the given scale."""
    weight, bias = layer.parameters
    if op == "conv2d":
        weight = weight.reshape(len(weight), -1, 3, 3)
    weight = np.rint(weight * weight_scale).astype(np.int64)
    return weight, np.rint(bias * weight_scale * scale_in).astype(np.int64)


def needed_precision(value):
    """The least precision that holds every element."""
    return int(np.abs(value).max()).bit_length() + 1


def finest_scale(layer):
    """The weight scale that uses the whole range of the weight precision."""
    return largest(WEIGHT_PRECISION) / np.abs(layer.parameters[0]).max()


def fit(network, op, attrs, layer, scale_in, rectified):
    """Returns the weight scale and the shift that clamp the tolerated share of the values.

    A shift alone fits the range only within a factor of two, so the weights give up the rest.
    """
    finest = finest_scale(layer)
    trial = computed(op, attrs, network.values[-1], *quantized(op, layer, finest, scale_in))
    trial = np.sort(np.maximum(trial, 0) if rectified else np.abs(trial), axis=None)
    tolerated = trial.size * CLAMPED_NUMERATOR // CLAMPED_DENOMINATOR
    magnitude = int(trial[-1 - tolerated])
    bits = 1
    while magnitude >> (bits + 1) >= largest(8):
        bits += 1
    return min(finest, finest * largest(8) * 2.0**bits / magnitude), bits


def affine(network, name, op, attrs, layer, weight_scale, scale_in):
    """Appends conv2d or dense with the quantized parameters of a trained layer."""
    weight, bias = quantized(op, layer, weight_scale, scale_in)
    parameters = (
        (f"{name}_weight", weight, WEIGHT_PRECISION),
        (f"{name}_bias", bias, needed_precision(bias)),
    )
    network.apply(name, op, {**attrs, "use_bias": "True"}, parameters)


def block(network, name, op, attrs, layer, scale_in, rectified, width):
    """Appends conv2d or dense, relu if wanted, and the requantization to 8 bits; returns the scale.

    A shift of width 8 clamps by itself; a wider one leaves that to cvm_clip.
    """
    weight_scale, bits = fit(network, op, attrs, layer, scale_in, rectified)
    affine(network, name, op, attrs, layer, weight_scale, scale_in)
    if rectified:
        network.apply(f"{name}_relu", "relu")
    shift = {"precision": str(width), "shift_bit": str(bits)}
    network.apply(f"{name}_shift", "cvm_right_shift", shift)
    if width > 8:
        network.apply(f"{name}_clip", "cvm_clip", {"precision": "8"})
    return scale_in * weight_scale / 2.0**bits


def quantize(layers, images):
    """Builds the integer network; its scales and shifts are chosen on these images."""
    conv1, conv2, dense1, dense2 = (layer for layer in layers if layer.parameters)
    network = Network(images)
    kernel = {"kernel_size": "(3, 3)", "padding": "(1, 1)"}

    attrs = {"channels": str(floating.CONV1_CHANNELS), **kernel}
    scale = block(network, "conv1", "conv2d", attrs, conv1, floating.PIXEL_SCALE, False, 8)
    pool = {"pool_size": "(3, 3)", "strides": "(2, 2)", "padding": "(1, 1)"}
    network.apply("pool1", "max_pool2d", pool)

    attrs = {"channels": str(floating.CONV2_CHANNELS), **kernel}
    scale = block(network, "conv2", "conv2d", attrs, conv2, scale, True, 16)
    network.apply("pool2", "max_pool2d", {"pool_size": "(2, 2)", "strides": "(2, 2)"})

    network.apply("flatten", "flatten")
    attrs = {"units": str(floating.HIDDEN_UNITS)}
    scale = block(network, "dense1", "dense", attrs, dense1, scale, True, 8)
    attrs = {"units": str(floating.CLASSES)}
    affine(network, "dense2", "dense", attrs, dense2, finest_scale(dense2), scale)
    return network.nodes


def evaluate(nodes, images):
    """Returns the logits of the images, every value checked against its precision."""
    values = []
    for node in nodes:
        if node.name == "data":
            value = images
        elif node.op == "null":
            value = node.value
        else:
            value = computed(node.op, node.attrs, *(values[i] for i in node.inputs))
        values.append(checked(node, value))
    return values[-1]
