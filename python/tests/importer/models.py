"""ONNX models for the tests: the digits network, in floating point and quantized."""

import json
import struct

import numpy
from onnx import TensorProto, checker, helper, numpy_helper

from places import ROOT

DIGITS = ROOT / "conformance" / "models" / "digits"


def parameters(path):
    """The tensors of a parameter file by name."""
    data, names, tensors = path.read_bytes(), [], {}
    (count,) = struct.unpack_from("<Q", data, 16)
    at = 24
    for _ in range(count):
        (length,) = struct.unpack_from("<Q", data, at)
        names.append(data[at + 8:at + 8 + length].decode())
        at += 8 + length
    at += 8
    for name in names:
        (rank,), bits = struct.unpack_from("<i", data, at + 24), data[at + 29]
        shape = struct.unpack_from(f"<{rank}q", data, at + 32)
        (size,) = struct.unpack_from("<q", data, at + 32 + 8 * rank)
        at += 40 + 8 * rank
        tensors[name] = numpy.frombuffer(data[at:at + size], f"<i{bits // 8}").reshape(shape)
        at += size
    return tensors


def digits_images():
    """(images, labels)."""
    facts = json.loads((DIGITS / "dataset.json").read_text(encoding="ascii"))
    images = numpy.frombuffer((DIGITS / "images.bin").read_bytes(), numpy.int8)
    return images.reshape(-1, 1, 8, 8).astype(numpy.float32), numpy.array(facts["labels"])


def model(nodes, constants, output, shape=("N", 1, 8, 8), opset=17, rank=2):
    """A model of one input, "x"; output is a name, or several."""
    names = [output] if isinstance(output, str) else output
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * rank) for name in names],
        [numpy_helper.from_array(numpy.asarray(v), k) for k, v in constants.items()])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    made.ir_version = 8
    checker.check_model(made)
    return made


def digits_shifts():
    """By how many bits the digits model shifts the sums of each product."""
    symbol = json.loads((DIGITS / "symbol.json").read_text(encoding="ascii"))
    attrs = [json.loads(text) for text in symbol["attrs"]["op_attrs"][1]]
    names = [node["name"] for node in symbol["nodes"]]
    return {name[:-6]: int(a["shift_bit"]) for name, a in zip(names, attrs) if "shift_bit" in a}


class Digits:
    """Builds the digits network; the kind decides what stands between the products."""

    def __init__(self):
        self.nodes, self.constants, self.at = [], {}, "x"
        self.parameters, self.shifts = parameters(DIGITS / "params"), digits_shifts()

    def add(self, op, *more, name=None, **attrs):
        """Appends a node that reads the last one."""
        name = name or f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.at, *more], [name], name, **attrs))
        self.at = name

    def constant(self, name, value):
        """An initializer."""
        self.constants[name] = value
        return name

    def product(self, name, op, **attrs):
        """A convolution or matrix product, in units of what the shift leaves."""
        unit = 2.0 ** -self.shifts.get(name, 0)
        names = [f"{name}_weight", f"{name}_bias"]
        for each in names:
            self.constant(each, (self.parameters[each] * unit).astype(numpy.float32))
        self.add(op, *names, name=name, **attrs)

    def rounded(self, scale):
        """Nothing, in floating point."""

    def built(self):
        """The model."""
        self.rounded(1.0)
        self.product("conv1", "Conv", pads=[1, 1, 1, 1])
        self.rounded(1.0)
        self.add("MaxPool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
        self.product("conv2", "Conv", pads=[1, 1, 1, 1])
        self.add("Relu")
        self.rounded(1.0)
        self.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2])
        self.add("Flatten")
        self.product("dense1", "Gemm", transB=1)
        self.add("Relu")
        self.rounded(1.0)
        self.product("dense2", "Gemm", transB=1)
        return model(self.nodes, self.constants, self.at)


class QuantizedDigits(Digits):
    """The same with QuantizeLinear and DequantizeLinear, so that it is the integer model."""

    def product(self, name, op, **attrs):
        scale = numpy.float32(2.0 ** -self.shifts.get(name, 0))
        names = []
        for each, kind in ((f"{name}_weight", numpy.int8), (f"{name}_bias", numpy.int32)):
            facts = [self.constant(each, self.parameters[each].astype(kind)),
                     self.constant(f"{each}_scale", scale),
                     self.constant(f"{each}_zero", numpy.zeros((), kind))]  # fmt: skip
            self.nodes.append(helper.make_node("DequantizeLinear", facts, [f"{each}_dq"]))
            names.append(f"{each}_dq")
        self.add(op, *names, name=name, **attrs)

    def rounded(self, scale):
        count = len(self.nodes)
        facts = [self.constant(f"scale{count}", numpy.float32(scale)),
                 self.constant(f"zero{count}", numpy.int8(0))]  # fmt: skip
        self.add("QuantizeLinear", *facts)
        self.add("DequantizeLinear", *facts)
