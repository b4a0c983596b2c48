# SPDX-License-Identifier: Apache-2.0
"""The three networks in floating point: their published weights, as ONNX models.

The input of each is a picture whose pixels 0..255 had 128 taken away, so that they fit 8 signed
bits. The published networks take (pixel - 127.5) / 128; the first convolution absorbs that. Of the
two classes of each, whose softmax the networks publish, the difference is given: the logarithm of
how much likelier a face is than no face.
"""

import collections
import importlib.util
import pathlib
import pickle

import numpy
from onnx import TensorProto, checker, helper, numpy_helper

MAGIC, PROTOCOL = 0x1950A86A20F9469CFC6C, 1001


def package_file(package, *path):
    """A file of an installed package, which is not imported: it may need others."""
    found = importlib.util.find_spec(package)
    if found is None:
        raise SystemExit(f"there is no {package}: see requirements.txt")
    return pathlib.Path(found.submodule_search_locations[0], *path)


class Weights(pickle.Unpickler):
    """Reads the tensors of a file of PyTorch's old format, and no other object."""

    def find_class(self, module, name):
        wanted = {
            ("collections", "OrderedDict"): collections.OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): lambda *facts: facts[:4],
            ("torch", "FloatStorage"): "<f4",
        }
        return wanted[module, name]

    def persistent_load(self, pid):
        return pid[2]


def strided(values, first, shape, strides):
    """The tensor that lies in a storage with these strides."""
    offsets = sum(numpy.arange(n).reshape(-1, *[1] * (len(shape) - k - 1)) * step
                  for k, (n, step) in enumerate(zip(shape, strides)))  # fmt: skip
    return values[first + offsets]


def weights(name):
    """The tensors of a network by name."""
    path = package_file("facenet_pytorch", "data", f"{name}.pt")
    with path.open("rb") as file:
        header = [Weights(file).load() for _ in range(3)]
        if header[:2] != [MAGIC, PROTOCOL]:
            raise SystemExit(f"{path} is no file of weights")
        tensors, keys, storage = Weights(file).load(), Weights(file).load(), {}
        for key in keys:
            count = int.from_bytes(file.read(8), "little")
            storage[key] = numpy.frombuffer(file.read(4 * count), "<f4")
    return {name: strided(storage[key], *facts) for name, (key, *facts) in tensors.items()}


class Builder:
    """Appends the layers of a published network."""

    def __init__(self, name):
        self.weights = weights(name)
        self.nodes, self.constants, self.at, self.prelus = [], {}, "x", 0

    def add(self, op, output, constants=(), source=None, **attrs):
        """Appends a node with constants: (name, value)."""
        self.constants |= {name: numpy.ascontiguousarray(value) for name, value in constants}
        inputs = [source or self.at] + [name for name, _ in constants]
        self.nodes.append(helper.make_node(op, inputs, [output], output, **attrs))
        self.at = output
        return output

    def product(self, name, source=None, output=None, rows=slice(None)):
        """conv<n> or dense<n>, with its weights."""
        weight, bias = (self.weights[f"{name}.{kind}"] for kind in ("weight", "bias"))
        if name == "conv1":
            bias = bias + numpy.float32(0.5 / 128) * weight.sum(axis=(1, 2, 3))
            weight = weight / numpy.float32(128)
        if rows == "difference":
            weight, bias = weight[1:] - weight[:1], bias[1:] - bias[:1]
        output = output or name
        facts = [(f"{output}_w", weight), (f"{output}_b", bias)]
        if name.startswith("conv"):
            return self.add("Conv", output, facts, source)
        return self.add("Gemm", output, facts, source, transB=1)

    def prelu(self):
        """The next PReLU."""
        self.prelus += 1
        slope = self.weights[f"prelu{self.prelus}.weight"]
        dense = self.nodes[-1].op_type == "Gemm"
        shape = (-1,) if dense else (-1, 1, 1)
        self.add("PRelu", f"prelu{self.prelus}", [(f"slope{self.prelus}", slope.reshape(shape))])

    def pool(self, size):
        """A maximum over windows, two apart; the count of windows is rounded up."""
        self.add("MaxPool", f"pool{len(self.nodes)}", kernel_shape=[size, size], strides=[2, 2],
                 ceil_mode=1)  # fmt: skip

    def flatten(self):
        """Columns before rows before channels, as the dense layer wants them."""
        self.add("Transpose", "columns", perm=[0, 3, 2, 1])
        self.add("Flatten", "flat")

    def model(self, outputs, shape, rank):
        """The ONNX model; its batch is open."""
        graph = helper.make_graph(
            self.nodes, "mtcnn", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, [None] * rank)
             for name in outputs],
            [numpy_helper.from_array(v, k) for k, v in self.constants.items()])  # fmt: skip
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        made.ir_version = 8
        checker.check_model(made)
        return made


def pnet():
    """Scores and box offsets for every second position of a window of 12 x 12."""
    b = Builder("pnet")
    b.product("conv1")
    b.prelu()
    b.pool(2)
    for name in ("conv2", "conv3"):
        b.product(name)
        b.prelu()
    last = b.at
    b.product("conv4_1", last, "score", "difference")
    b.product("conv4_2", last, "offsets")
    return b.model(["score", "offsets"], [None, 3, None, None], 4)


def rnet():
    """The score and the box offsets of a picture of 24 x 24."""
    b = Builder("rnet")
    for name, size in (("conv1", 3), ("conv2", 3), ("conv3", None)):
        b.product(name)
        b.prelu()
        if size:
            b.pool(size)
    b.flatten()
    b.product("dense4")
    b.prelu()
    last = b.at
    b.product("dense5_1", last, "score", "difference")
    b.product("dense5_2", last, "offsets")
    return b.model(["score", "offsets"], [None, 3, 24, 24], 2)


def onet():
    """The score, the box offsets and five points of a picture of 48 x 48."""
    b = Builder("onet")
    for name, size in (("conv1", 3), ("conv2", 3), ("conv3", 2), ("conv4", None)):
        b.product(name)
        b.prelu()
        if size:
            b.pool(size)
    b.flatten()
    b.product("dense5")
    b.prelu()
    last = b.at
    b.product("dense6_1", last, "score", "difference")
    b.product("dense6_2", last, "offsets")
    b.product("dense6_3", last, "points")
    return b.model(["score", "offsets", "points"], [None, 3, 48, 48], 2)
