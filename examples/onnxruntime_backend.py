"""Judges ONNX Runtime: its integer operators, in the JSON Lines protocol.

lockstep check "exec:python3 examples/onnxruntime_backend.py" --property matches_reference

Each call becomes a graph of one ONNX operator, or of a few where their definitions differ.
"""

import functools

import numpy as np
import onnxruntime
from numpy_backend import serve
from onnx import TensorProto, helper, numpy_helper

OPSET, IR = 17, 8


class Graph:
    """A graph under construction; a value is known by its name."""

    def __init__(self, shapes):
        self.nodes, self.constants = [], []
        self.inputs = [self.port(f"x{k}", shape) for k, shape in enumerate(shapes)]

    @staticmethod
    def port(name, shape=None):
        return helper.make_tensor_value_info(name, TensorProto.INT32, shape)

    def constant(self, values, dtype=np.int64):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, dtype), name))
        return name

    def add(self, op, *inputs, **attrs):
        name = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attrs))
        return name

    def cast(self, x, to):
        return self.add("Cast", x, to=to)

    def session(self, y):
        graph = helper.make_graph([*self.nodes, helper.make_node("Identity", [y], ["y"])], "call",
                                  self.inputs, [self.port("y")], self.constants)  # fmt: skip
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=IR)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        return onnxruntime.InferenceSession(model.SerializeToString(), options)


def listed(value):
    """The entries of a tuple; Python reads one of a single entry as an integer."""
    return list(value) if isinstance(value, tuple) else [value]


def plain(op):
    """An operator that ONNX defines alike."""
    return lambda g, a, shapes, *x: g.add(op, *x)


def clip(g, low, high, x):
    return g.add("Clip", x, g.constant(low, np.int32), g.constant(high, np.int32))


def biased(g, y, bias):
    return g.add("Add", y, *bias) if bias else y


def dense(g, a, shapes, x, w, *bias):
    x, w = (g.cast(t, TensorProto.INT8) for t in (x, g.add("Transpose", w)))
    return biased(g, g.add("MatMulInteger", x, w), bias)


def conv2d(g, a, shapes, x, w, *bias):
    x, w = (g.cast(t, TensorProto.INT8) for t in (x, w))
    y = g.add("ConvInteger", x, w, strides=a["strides"], pads=[*a["padding"], *a["padding"]],
              dilations=a["dilation"], group=a["groups"])  # fmt: skip
    bias = [g.add("Reshape", b, g.constant([-1, 1, 1])) for b in bias]
    return biased(g, y, bias)


def max_pool2d(g, a, shapes, x):
    pads = (listed(a["padding"]) * 2)[:2]
    y = g.add("MaxPool", g.cast(x, TensorProto.INT8), kernel_shape=a["pool_size"],
              strides=a["strides"], pads=pads + pads, ceil_mode=int(a["ceil_mode"]))  # fmt: skip
    return g.cast(y, TensorProto.INT32)


def reduce(op):
    def build(g, a, shapes, x):
        rank = len(shapes[0])
        axes = {axis % rank for axis in listed(a["axis"])}
        axes = set(range(rank)) - axes if a["exclude"] or not axes else axes
        if not axes:
            return x
        # Before opset 18 ReduceMax takes its axes as an attribute.
        where = [g.constant(sorted(axes))] if op == "ReduceSum" else []
        named = {} if where else {"axes": sorted(axes)}
        y = g.add(op, x, *where, keepdims=int(a["keepdims"]), **named)
        return y if a["keepdims"] or len(axes) < rank else g.add("Reshape", y, g.constant([1]))
    return build


def take(g, a, shapes, x, indices):
    if a["axis"] is None:
        x = g.add("Reshape", x, g.constant([-1]))
    size = np.prod(shapes[0]) if a["axis"] is None else shapes[0][a["axis"]]
    return g.add("Gather", x, clip(g, 0, size - 1, indices), axis=a["axis"] or 0)


def lut(g, a, shapes, x, table):
    return take(g, {"axis": None}, shapes[::-1], table, x)


def where(g, a, shapes, condition, x, y):
    rows = [-1, *[1] * (len(shapes[1]) - 1)] if shapes[0] != shapes[1] else shapes[0]
    condition = g.cast(g.add("Reshape", condition, g.constant(rows)), TensorProto.BOOL)
    return g.add("Where", condition, x, y)


def squeeze(g, a, shapes, x):
    shape = shapes[0]
    axes = {axis % len(shape) for axis in listed(a["axis"])}
    axes = axes or {d for d, n in enumerate(shape) if n == 1}
    y = g.add("Squeeze", x, g.constant(sorted(axes))) if axes else x
    return y if len(axes) < len(shape) else g.add("Reshape", y, g.constant([1]))


def tile(g, a, shapes, x):
    reps = listed(a["reps"])
    rank = max(len(reps), len(shapes[0]))
    shape, reps = ([1] * (rank - len(s)) + list(s) for s in (shapes[0], reps))
    return g.add("Tile", g.add("Reshape", x, g.constant(shape)), g.constant(reps))


def expand_dims(g, a, shapes, x):
    first = a["axis"] % (len(shapes[0]) + 1)
    return g.add("Unsqueeze", x, g.constant(range(first, first + a["num_newaxis"])))


def transpose(g, a, shapes, x):
    perm = [axis % len(shapes[0]) for axis in listed(a["axes"])]
    return g.add("Transpose", x, perm=perm) if perm else g.add("Transpose", x)


def upsampling(g, a, shapes, x):
    scales = g.constant([1, 1, a["scale"], a["scale"]], np.float32)
    return g.add("Resize", x, "", scales, mode="nearest", nearest_mode="floor",
                 coordinate_transformation_mode="asymmetric")  # fmt: skip


OPERATORS = {
    "relu": plain("Relu"),
    "abs": plain("Abs"),
    "negative": plain("Neg"),
    "elemwise_add": plain("Add"),
    "elemwise_sub": plain("Sub"),
    "broadcast_add": plain("Add"),
    "broadcast_sub": plain("Sub"),
    "broadcast_mul": plain("Mul"),
    "broadcast_div": plain("Div"),
    "broadcast_max": plain("Max"),
    "broadcast_greater": lambda g, a, shapes, *x: g.cast(g.add("Greater", *x), TensorProto.INT32),
    "clip": lambda g, a, shapes, x: clip(g, a["a_min"], a["a_max"], x),
    "cvm_clip": lambda g, a, shapes, x: clip(
        g, 1 - 2 ** (a["precision"] - 1), 2 ** (a["precision"] - 1) - 1, x),
    "dense": dense,
    "conv2d": conv2d,
    "max_pool2d": max_pool2d,
    "upsampling": upsampling,
    "sum": reduce("ReduceSum"),
    "max": reduce("ReduceMax"),
    "take": take,
    "cvm_lut": lut,
    "where": where,
    "squeeze": squeeze,
    "tile": tile,
    "expand_dims": expand_dims,
    "flatten": plain("Flatten"),
    "transpose": transpose,
    "concatenate": lambda g, a, shapes, *x: g.add("Concat", *x, axis=a["axis"]),
}


@functools.lru_cache(maxsize=512)
def session_of(op, attrs, shapes):
    g = Graph(shapes)
    return g.session(OPERATORS[op](g, dict(attrs), shapes, *(x.name for x in g.inputs)))


def run(op, attrs, *inputs):
    session = session_of(op, tuple(attrs.items()), tuple(x.shape for x in inputs))
    return session.run(None, {f"x{k}": x for k, x in enumerate(inputs)})[0]


if __name__ == "__main__":
    serve({op: functools.partial(run, op) for op in OPERATORS},
          lambda data, shape: np.array(data, np.int32).reshape(shape),
          onnxruntime, claims={"max_pool2d": {"precision": [1, 8]}})  # fmt: skip
