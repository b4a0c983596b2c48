"""One small ONNX model for every operator that the importer knows, and for ways to use it."""

import numpy
from onnx import helper

from models import model

RNG = numpy.random.default_rng(20)
IMAGE = ("N", 4, 6, 8)


def real(*shape, least=-1.0, most=1.0):
    """Weights, spread evenly."""
    steps = RNG.integers(0, 2001, shape) / 2000.0
    return (least + (most - least) * steps).astype(numpy.float32)


def chain(*nodes, constants=None, shape=IMAGE, rank=4, opset=17):
    """A model whose nodes follow each other. A node: operator, names of constants, attributes."""
    made, at = [], "x"
    for k, (op, more, attrs) in enumerate(nodes):
        name = f"t{k}"
        made.append(helper.make_node(op, [at, *more], [name], f"node{k}", **attrs))
        at = name
    return model(made, constants or {}, at, shape=shape, rank=rank, opset=opset)


def single(op, *more, constants=None, rank=4, opset=17, **attrs):
    """A model of one node."""
    return chain((op, more, attrs), constants=constants, rank=rank, opset=opset)


def graph(output, nodes, constants=None, rank=4, opset=17):
    """A model of nodes with names: (operator, inputs, outputs, attributes)."""
    made = [helper.make_node(op, list(ins), list(outs), outs[0], **attrs)
            for op, ins, outs, attrs in nodes]  # fmt: skip
    return model(made, constants or {}, output, shape=IMAGE, rank=rank, opset=opset)


def ints(*values):
    """A constant of integers."""
    return numpy.array(values, dtype=numpy.int64)


CONV = ("Conv", ["w"], {"pads": [1, 1, 1, 1]})
NORM = {"s": real(5, least=0.5), "b": real(5), "m": real(5), "v": real(5, least=0.1)}
FACTS = {"w": real(5, 4, 3, 3), "c": real(5), "one": real(1, 5, 1, 1), "a": real(4, 1, 1), **NORM}


def of(*names):
    """Some of the constants that several models use."""
    return {name: FACTS[name] for name in names}


def products():
    """Convolutions, matrix products, and the affine maps behind them."""
    yield "conv", chain(CONV, constants=of("w"))
    yield "conv with a bias and strides", single(
        "Conv", "w", "c", constants=of("w", "c"), strides=[2, 1], dilations=[1, 2])
    yield "a bias that is large beside the weight", single(
        "Conv", "w", "c", constants={"w": FACTS["w"] * numpy.float32(1e-8), "c": FACTS["c"]})
    yield "conv in groups", single("Conv", "w", constants={"w": real(6, 2, 2, 2)}, group=2)
    yield "conv by channel", single("Conv", "w", constants={"w": real(4, 1, 3, 3)}, group=4)
    yield "conv padded unevenly", single(
        "Conv", "w", constants=of("w"), pads=[0, 1, 2, 0], strides=[2, 2])
    yield "conv padded to the same size", single(
        "Conv", "w", constants=of("w"), auto_pad="SAME_UPPER", strides=[2, 2])
    yield "batch norm folded", chain(
        CONV, ("BatchNormalization", ["s", "b", "m", "v"], {}), ("Relu", [], {}),
        constants=of("w", *NORM))
    yield "constants folded", chain(
        CONV, ("Mul", ["one"], {}), ("Add", ["one"], {}), ("Div", ["one"], {}),
        ("Sub", ["one"], {}),
        constants={"w": FACTS["w"], "one": real(1, 5, 1, 1, least=0.5)})
    flat = ("Flatten", [], {})
    yield "gemm", chain(
        flat, ("Gemm", ["w", "c"], {"alpha": 0.5, "beta": 2.0}),
        constants={"w": real(192, 7), "c": real(7)}, rank=2)
    yield "gemm transposed", chain(
        flat, ("Gemm", ["w"], {"transB": 1}), constants={"w": real(7, 192)}, rank=2)
    yield "matmul and a bias", chain(
        flat, ("MatMul", ["w"], {}), ("Add", ["c"], {}),
        constants={"w": real(192, 7), "c": real(7)}, rank=2)
    yield "matmul of many rows", single("MatMul", "w", constants={"w": real(8, 5)})
    yield "two convolutions", chain(
        CONV, ("Relu", [], {}), ("Conv", ["u"], {}), ("Relu", [], {}),
        constants={"w": FACTS["w"], "u": real(3, 5, 3, 3)})


def pointwise():
    """Operators on single elements."""
    yield "batch norm alone", single(
        "BatchNormalization", *"sbmv", constants={k: v[:4] for k, v in NORM.items()})
    for op in ("Mul", "Add", "Sub", "Div"):
        yield f"{op} of a constant", single(op, "a", constants=of("a"))
    yield "a constant minus x", graph("y", [("Sub", "ax", "y", {})], of("a"))
    yield "a factor alone", chain(
        ("Mul", ["a"], {}), ("Relu", [], {}), constants={"a": numpy.float32(0.3)})
    yield "a constant of full size", single("Add", "f", constants={"f": real(4, 6, 8)})
    yield "relu", single("Relu")
    yield "leaky relu", single("LeakyRelu", alpha=0.1)
    yield "prelu", single("PRelu", "a", constants=of("a"))
    yield "prelu of sums", chain(
        CONV, ("PRelu", ["p"], {}), constants={"w": FACTS["w"], "p": real(5, 1, 1)})
    limits = {"l": numpy.float32(0.0), "h": numpy.float32(0.6)}
    yield "clip from 0", chain(CONV, ("Clip", ["l", "h"], {}), constants={
        **limits, "h": numpy.float32(3.0), **of("w")})
    yield "clip", single("Clip", "l", "h", constants={**limits, "l": numpy.float32(-0.3)})
    yield "clip from below", single("Clip", "l", constants={"l": numpy.float32(-0.2)})
    yield "clip of old", single("Clip", min=-0.2, max=0.9, opset=10)
    yield "negative and absolute", chain(CONV, ("Neg", [], {}), ("Abs", [], {}), constants=of("w"))
    for op, opset in (("Sigmoid", 17), ("Tanh", 17), ("Exp", 17), ("Erf", 17), ("Softsign", 17),
                      ("Elu", 17), ("HardSigmoid", 17), ("HardSwish", 17), ("Gelu", 20)):
        yield op, single(op, opset=opset)
    yield "sqrt", chain(
        ("Abs", [], {}), ("Add", ["h"], {}), ("Sqrt", [], {}), constants=limits)
    yield "swish", graph("y", [("Sigmoid", "x", "s", {}), ("Mul", "xs", "y", {})])
    conv = ("Conv", "xw", "c", {"pads": [1, 1, 1, 1]})
    square = {"w": real(4, 4, 3, 3)}
    for op in ("Add", "Sub", "Max", "Mul"):
        yield f"{op} of two", graph("y", [conv, (op, "cx", "y", {})], square)
    yield "a residual", graph(
        "y", [conv, ("Add", "cx", "a", {}), ("Relu", "a", "r", {}),
              ("Conv", "rw", "y", {})], square)
    yield "squeeze and excite", graph(
        "y", [("GlobalAveragePool", "x", "g", {}), ("Conv", "gw", "h", {}),
              ("Sigmoid", "h", "s", {}), ("Mul", "xs", "y", {})], {"w": real(4, 4, 1, 1)})


def windows():
    """Pooling and reductions."""
    kernel = {"kernel_shape": [3, 3], "strides": [2, 2]}
    yield "max pool", single("MaxPool", **kernel)
    yield "max pool rounded up", single("MaxPool", ceil_mode=1, **kernel)
    yield "max pool padded", single("MaxPool", pads=[1, 1, 1, 1], **kernel)
    yield "max pool padded unevenly", single("MaxPool", pads=[0, 0, 1, 1], **kernel)
    yield "average pool", single("AveragePool", **kernel)
    yield "average pool padded", single(
        "AveragePool", pads=[1, 0, 1, 1], count_include_pad=1, **kernel)
    yield "global average pool", single("GlobalAveragePool")
    yield "global average pool, 1x1 conv", chain(
        ("GlobalAveragePool", [], {}), ("Conv", ["w"], {}), ("Flatten", [], {}),
        constants={"w": real(3, 4, 1, 1)}, rank=2)
    yield "global max pool", single("GlobalMaxPool")
    for op in ("ReduceMean", "ReduceMax"):
        yield op, single(op, axes=[2, 3], keepdims=0, rank=2)
    yield "sum of an axis", single("ReduceSum", "a", constants={"a": ints(-1)})


def moves():
    """Elements in other places."""
    yield "reshape", single("Reshape", "s", constants={"s": ints(0, -1, 6)}, rank=3)
    yield "squeeze and unsqueeze", chain(
        ("GlobalAveragePool", [], {}), ("Squeeze", ["s"], {}), ("Unsqueeze", ["u"], {}),
        constants={"s": ints(2, 3), "u": ints(1)}, rank=3)
    yield "squeeze of old", chain(
        ("GlobalAveragePool", [], {}), ("Squeeze", [], {"axes": [2, 3]}), rank=2, opset=11)
    yield "a shape computed", graph(
        "y", [("Shape", "x", "s", {}), ("Gather", "si", "n", {}),
              ("Concat", "nm", "t", {"axis": 0}), ("Reshape", "xt", "y", {})],
        {"i": ints(0), "m": ints(-1)}, rank=2)
    yield "transpose", chain(CONV, ("Transpose", [], {"perm": [0, 2, 3, 1]}), constants=of("w"))
    conv = ("Conv", "xw", "c", {"pads": [1, 1, 1, 1]})
    yield "concat", graph("y", [conv, ("Concat", "cx", "y", {"axis": 1})], of("w"))
    yield "slice", single("Slice", "s", "e", "a", "t", constants={
        "s": ints(1, -1), "e": ints(100, -100), "a": ints(1, 3), "t": ints(1, -2)})
    yield "split", graph("y", [("Split", "x", "ab", {"axis": 1}), ("Max", "ab", "y", {})])
    yield "gather", single("Gather", "i", constants={"i": ints(3, 0, -1)}, axis=1)
    yield "pad", single("Pad", "p", constants={"p": ints(0, 0, 1, 0, 0, 0, 2, 3)})
    scales = {"r": numpy.zeros(0, numpy.float32), "s": numpy.float32([1, 1, 2, 2])}
    yield "resize", single("Resize", "r", "s", constants=scales, mode="nearest")
    yield "resize from the corner", single(
        "Resize", "r", "s", constants=scales, mode="nearest", nearest_mode="floor",
        coordinate_transformation_mode="asymmetric")
    yield "identity and dropout", chain(("Identity", [], {}), ("Dropout", [], {}), ("Relu", [], {}))


def inexpressible():
    """(name, model, words of the error)."""
    yield "unknown", single("Sin"), ["Sin 'node0'", "no counterpart"]
    yield "softmax", single("Softmax"), ["Softmax 'node0'", "left out"]
    yield "several", chain(
        ("Cos", [], {}), ("Relu", [], {}), ("Sin", [], {})), ["Cos 'node0'", "Sin 'node2'"]
    yield "interpolating", single("Resize", "r", "s", mode="linear", constants={
        "r": numpy.zeros(0, numpy.float32), "s": numpy.float32([1, 1, 2, 2])}), ["interpolates"]
    yield "no whole factor", single("Resize", "r", "s", mode="nearest", constants={
        "r": numpy.zeros(0, numpy.float32), "s": numpy.float32([1, 1, 1.5, 2])}), ["scales are"]
    yield "two factors", graph(
        "y", [("Transpose", "x", "t", {"perm": [0, 1, 3, 2]}), ("MatMul", "xt", "y", {})]
    ), ["MatMul 'y'", "'t' is not a constant"]
    yield "mean of unequal windows", single(
        "AveragePool", kernel_shape=[3, 3], pads=[1, 1, 1, 1]), ["differ in size"]
    yield "dilated pooling", single(
        "MaxPool", kernel_shape=[2, 2], dilations=[2, 2]), ["has a dilation"]
    yield "reflected border", single(
        "Pad", "p", constants={"p": ints(0, 0, 1, 0, 0, 0, 2, 3)}, mode="reflect"), ["no constant"]
    yield "one cause among two branches", graph(
        "y", [("Sin", "x", "s", {}), ("Relu", "s", "r", {}), ("LRN", "x", "l", {"size": 3}),
              ("Add", "rl", "y", {})]), ["Sin 's'", "LRN 'l'"]


def quantized():
    """(name, model) of models that state their scales: of x, of weights, and of results."""
    for kind, zero, scale in ((numpy.int8, 0, 1 / 127), (numpy.uint8, 128, 1 / 127),
                              (numpy.uint8, 100, 1 / 97), (numpy.int8, -20, 1 / 97)):
        for axis, scales in ((0, [0.01, 0.02, 0.005, 0.01, 0.03]), (0, 0.01),
                             (1, [0.01, 0.02, 0.005, 0.01])):
            facts = {
                "xs": numpy.float32(scale), "xz": kind(zero),
                "w": RNG.integers(-127, 128, (5, 4, 3, 3)).astype(numpy.int8),
                "ws": numpy.float32(scales), "wz": numpy.zeros_like(scales, numpy.int8),
                "ys": numpy.float32(0.04), "yz": numpy.uint8(0),
            }  # fmt: skip
            conv = [
                ("QuantizeLinear", ["x", "xs", "xz"], ["q"], {}),
                ("DequantizeLinear", ["q", "xs", "xz"], ["d"], {}),
                ("DequantizeLinear", ["w", "ws", "wz"], ["v"], {"axis": axis}),
                ("Conv", ["d", "v"], ["c"], {}),
                ("Relu", ["c"], ["r"], {}),
                ("QuantizeLinear", ["r", "ys", "yz"], ["s"], {}),
                ("DequantizeLinear", ["s", "ys", "yz"], ["y"], {}),
            ]
            name = f"{kind.__name__} around {zero}, {numpy.size(scales)} along axis {axis}"
            yield name, graph("y", conv, facts)
