"""Makes integer models of the operator set from ONNX models.

import_onnx() takes a model in floating point with calibration data, or one whose tensors are
quantized already (QuantizeLinear and DequantizeLinear), and gives its symbol JSON and parameters.
They depend on the model, the data and the options alone, not on the machine or its libraries.
"""

import json
import math
import pathlib
from dataclasses import dataclass

import numpy

try:
    import google.protobuf.message
    import onnx
except ModuleNotFoundError as error:
    # Because the error has the name of this package, python -m prints it in one line.
    raise ModuleNotFoundError("the importer needs the package onnx, which is not installed: "
                              "pip install onnx", name=__name__) from error  # fmt: skip

from . import affine, calibration, given, network, settle
from .graph import Graph, largest, parameter_file, symbol_json
from .inference import Inexpressible
from .lowering import OUTPUT_BITS, OUTPUT_HEADROOM, Lowering, Value
from .registry import LOWERINGS, evaluate

__all__ = ["Imported", "Inexpressible", "float_outputs", "import_onnx"]


@dataclass
class Imported:
    """An integer model, and what its integers are worth."""

    lowering: Lowering  # with whose graph and words more can be appended
    input: Value
    outputs: dict  # the Value of each output by the name that it has in the ONNX model

    @property
    def graph(self):
        """The nodes."""
        return self.lowering.graph

    def integers(self, data):
        """The integers of inputs in floating point."""
        limit = largest(self.input.tensor.precision)
        scaled = numpy.asarray(data, dtype=numpy.float64) / self.input.scale[0]
        return numpy.clip(numpy.rint(scaled), -limit, limit).astype(numpy.int32)

    def description(self):
        """Shapes, precisions and scales of input and outputs: a number is integer times scale."""
        def entry(name, value):
            return {"name": name, "shape": list(value.shape), "precision": value.tensor.precision,
                    "scale": value.scale[0]}  # fmt: skip

        return {
            "input": entry("data", self.input),
            "outputs": [entry(name, value) for name, value in self.outputs.items()],
        }

    def files(self, heads=None):
        """The contents of the files of the model by name. heads: tensors, unless the outputs."""
        if heads is None:
            heads = [value.tensor for value in self.outputs.values()]
            counts = {math.prod(t.shape[:-1]) for t in heads}
            if len(counts) > 1:
                raise Inexpressible("the outputs have different counts of rows: " + ", ".join(
                    f"'{name}' {value.shape}" for name, value in self.outputs.items()))
        return {
            "symbol.json": symbol_json(self.graph.nodes, heads).encode("ascii"),
            "params": parameter_file(self.graph.nodes),
            "scales.json": (json.dumps(self.description(), indent=2) + "\n").encode("ascii"),
        }

    def write(self, folder, heads=None):
        """Writes symbol.json, params and scales.json."""
        files, folder = self.files(heads), pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)


def import_onnx(model, samples=None, *, shape=None, input_scale=None, input_precision=8,
                percentile=100.0, per_channel=True, without_softmax=False,
                source=None):  # fmt: skip
    """An ONNX model as integers.

    model: a path, or a ModelProto. samples: calibration data, (count, ...), from which come the
    ranges of tensors that the model does not quantize itself. shape: of one input; that of a
    sample, with a batch of 1, unless given. input_scale: what a 1 of the input is worth; from the
    model or the samples unless given. percentile: how many of the magnitudes of a tensor its
    range holds. per_channel: whether each channel of a weight has a scale, which costs a
    multiplication behind each product; else one scale and a shift. without_softmax: whether a
    softmax that is an output is left out. source: (graph, tensor, what a 1 of it is worth) to
    append the model to a graph as one of several; else its input is the data of a new graph.

    Raises Inexpressible, which names every node that the operator set cannot express, and
    ValueError for options and samples from which no model can come.
    """
    given.check_options(input_scale, input_precision)
    input_precision = int(input_precision)
    if source:
        shape = source[1].shape
    net, shapes, troubles = read(model, samples, shape, without_softmax)
    guard(net, troubles)
    affine.fold(net, shapes)
    ranges = calibration.Ranges(percentile)
    ranges.read(net, [] if samples is None else samples)
    low = Lowering(source[0] if source else Graph(), net, shapes, ranges, per_channel)
    if source:
        data = low.uniform(*source[1:])
    else:
        scale = input_scale
        if scale is None:
            scale = low.scale_of(net.input, input_precision)
        data = low.uniform(low.graph.data(net.input_shape, input_precision), scale)
    low.values[net.input] = data
    lower(low, troubles)
    guard(net, troubles)
    return Imported(low, data, {name: output_value(low, name) for name in net.outputs})


def load(path):
    """The model in an ONNX file, whose name stands in the error of a faulty one."""
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model)
    except (google.protobuf.message.DecodeError, onnx.checker.ValidationError) as error:
        raise ValueError(f"{path}: it is no ONNX model: {error}") from error
    return model


def read(model, samples=None, shape=None, without_softmax=False):
    """(network, shapes of its tensors, what is wrong with its nodes)."""
    if isinstance(model, onnx.ModelProto):
        onnx.checker.check_model(model)
    else:
        model = load(model)
    if samples is not None:
        given.check_samples(samples)
        # An explicit shape replaces what the model declares; a list may have samples of any shapes.
        is_array = isinstance(samples, numpy.ndarray)
        if is_array and (shape is None or samples.shape[1:] != tuple(shape[1:])):
            given.check_declared(samples, *network.declared(model))
    if shape is None:
        shape = network.declared_shape(model) if samples is None else (1, *samples.shape[1:])
    given.check_shape(shape)
    net = network.read(model, tuple(shape))
    if without_softmax:
        network.drop_softmax(net)
    return net, *settle.settle(net)


def float_outputs(model, samples, **options):
    """The outputs of a model in doubles for each sample, as the importer computes them."""
    net, _, troubles = read(model, samples, **options)
    guard(net, troubles)
    rows = [evaluate(net, numpy.asarray(sample, dtype=numpy.float64)[None]) for sample in samples]
    return [numpy.concatenate(parts) for parts in zip(*rows)]


def guard(net, troubles):
    """Raises one error for all troubles."""
    if troubles:
        order = {id(node): k for k, node in enumerate(net.nodes)}
        lines = [troubles[key] for key in sorted(troubles, key=lambda key: order[key])]
        raise Inexpressible("\n".join(lines))
    for name in net.outputs:
        if name in net.constants:
            raise Inexpressible(f"the output '{name}' is a constant")


def lower(low, troubles):
    """Appends the integers of each node; keeps the error of a node that fails, and skips the nodes
    that need it."""
    for node in low.network.nodes:
        known = low.values.keys() | low.network.constants.keys()
        if not all(name in known for name in node.inputs if name):
            continue
        try:
            found = LOWERINGS[node.op](low, node)
            found = found if isinstance(found, tuple) else (found,)
            for name, value in zip(node.outputs, found):
                if name in low.shapes and value.shape != low.shapes[name]:
                    raise Inexpressible(f"'{name}' has the shape {low.shapes[name]}, and would get "
                                        f"{value.shape}")  # fmt: skip
                low.values[name] = value
        except Inexpressible as error:
            troubles[id(node)] = f"{node}: {error}"


def output_value(low, name):
    """An output in one scale for all channels, with room beyond the calibrated values."""
    value = low.value(name)
    if value.uniform:
        return value
    room = largest(OUTPUT_BITS) / OUTPUT_HEADROOM
    most = low.ranges.get(name) or float((value.scale * value.bound).max()) / OUTPUT_HEADROOM
    return low.quantized(name, OUTPUT_BITS, most / room)
