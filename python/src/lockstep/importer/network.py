"""An ONNX model as the importer sees it: constants known, shapes fixed, affine maps folded."""

from dataclasses import dataclass, field

import numpy
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from .inference import Inexpressible

@dataclass(eq=False)
class Node:
    """A node of an ONNX graph."""

    op: str
    name: str
    inputs: list
    outputs: list
    attrs: dict = field(default_factory=dict)
    proto: onnx.NodeProto | None = None

    def __str__(self):
        return f"{self.op} '{self.name or self.outputs[0]}'"


@dataclass(eq=False)
class Network:
    """What there is to import. Constants are float64 or integer arrays by tensor."""

    input: str
    input_shape: tuple
    outputs: list
    nodes: list
    constants: dict
    # What DequantizeLinear says of constants: their integers, and the scale of each along an axis.
    quantized: dict = field(default_factory=dict)
    opsets: tuple = ()

    def constant(self, node, position, name=None, otherwise=None):
        """An input that must be a constant, or in older versions of operators an attribute."""
        if name in node.attrs:
            return numpy.asarray(node.attrs[name])
        if len(node.inputs) <= position or not node.inputs[position]:
            return otherwise
        if node.inputs[position] not in self.constants:
            raise Inexpressible(f"its input '{node.inputs[position]}' is not a constant")
        return self.constants[node.inputs[position]]

    def readers(self, tensor):
        """The nodes that read a tensor; None stands for a reader outside of the graph."""
        found = [node for node in self.nodes if tensor in node.inputs]
        return found + [None] * (tensor in self.outputs)


def as_double(value):
    """Floats become doubles, other values stay as they are."""
    return value.astype(numpy.float64) if value.dtype.kind == "f" else value


def evaluated(network, node):
    """The outputs of a node whose inputs are all constants."""
    feeds = {name: network.constants[name] for name in node.inputs if name}
    feeds = {name: value.astype(numpy.float32) if value.dtype == numpy.float64 else value
             for name, value in feeds.items()}  # fmt: skip
    inputs = [onnx.helper.make_tensor_value_info(
        name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in feeds.items()]  # fmt: skip
    outputs = [onnx.helper.make_empty_tensor_value_info(name) for name in node.outputs]
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.input[:] = node.inputs
    graph = onnx.helper.make_graph([proto], "constants", inputs, outputs)
    model = onnx.helper.make_model(graph, opset_imports=network.opsets)
    values = ReferenceEvaluator(model).run(None, feeds)
    return [as_double(numpy.asarray(value)) for value in values]


def dequantized(network, node):
    """Folds a DequantizeLinear of a constant, and keeps what it said."""
    values, scale = (network.constants[name] for name in node.inputs[:2])
    zero = network.constants[node.inputs[2]] if len(node.inputs) > 2 else numpy.zeros(1, numpy.int8)
    axis = node.attrs.get("axis", 1) % max(values.ndim, 1)
    if "block_size" in node.attrs:
        raise Inexpressible("it dequantizes blocks")
    along = [-1 if k == axis else 1 for k in range(values.ndim)]
    shaped = [v.reshape(along) if v.size > 1 else v.reshape(()) for v in (scale, zero)]
    integers = values.astype(numpy.int64) - shaped[1].astype(numpy.int64)
    network.quantized[node.outputs[0]] = integers, scale.reshape(-1), axis
    return integers * shaped[0]


def read(model, input_shape):
    """The network of a ModelProto, its input of the given shape. No operator is an error yet."""
    graph = model.graph
    constants = {t.name: as_double(numpy_helper.to_array(t)) for t in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in constants]
    if len(inputs) != 1:
        raise Inexpressible(f"the model has {len(inputs)} inputs, and one is expressible: "
                            + ", ".join(inputs))  # fmt: skip
    nodes = []
    for proto in graph.node:
        attrs = {a.name: onnx.helper.get_attribute_value(a) for a in proto.attribute}
        plain = proto.domain in ("", "ai.onnx")
        op = proto.op_type if plain else f"{proto.domain}.{proto.op_type}"
        nodes.append(Node(op, proto.name, list(proto.input), list(proto.output), attrs, proto))
    outputs = [value.name for value in graph.output]
    return Network(inputs[0], input_shape, outputs, nodes, constants,
                   opsets=tuple(model.opset_import))  # fmt: skip


def declared(model):
    """(name, extents) of the input as the model declares it; None is an extent without a number."""
    constants = {t.name for t in model.graph.initializer}
    value = next((v for v in model.graph.input if v.name not in constants), None)
    if value is None:
        raise Inexpressible("the model has no input")
    dims = value.type.tensor_type.shape.dim
    return value.name, tuple(dim.dim_value if dim.dim_value > 0 else None for dim in dims)


def declared_shape(model):
    """The same as a shape; a batch without a number counts as 1."""
    name, extents = declared(model)
    for k, extent in enumerate(extents):
        if extent is None and k > 0:
            raise Inexpressible(f"dimension {k} of the input '{name}' has no number; "
                                "give a shape or calibration data")  # fmt: skip
    return tuple(extent or 1 for extent in extents)


def drop_softmax(network):
    """Leaves out each softmax that is an output."""
    for node in list(network.nodes):
        last = node.outputs[0] in network.outputs and len(network.readers(node.outputs[0])) == 1
        if node.op in ("Softmax", "LogSoftmax") and last:
            place = network.outputs.index(node.outputs[0])
            network.outputs[place] = node.inputs[0]
            network.nodes.remove(node)
