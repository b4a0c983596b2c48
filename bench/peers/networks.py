#!/usr/bin/env python3
"""Times networks in ONNX Runtime and OpenVINO beside Lockstep's CPU backend, one image at a time.

usage: networks.py [--threads N] [--rounds N] [--isa SET] TREE MODEL...

TREE is a build or an install tree of Lockstep, MODEL a directory that `lockstep model make` wrote
for a classifier. Needs the packages of packages/networks.txt. Each model becomes ONNX with 8 bits
between layers, as QuantizeLinear and DequantizeLinear say it: weights are signed and have the scale
2^-shift, activations are unsigned and have the scale 1, or where they are cut off that of the cut.
All run in this process, from NumPy arrays to NumPy arrays. In each round every program has a short
turn, so that what slows the machine slows all of them; a ratio is the median of the rounds' ratios.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper, numpy_helper

WARMING, TIMED = 2, 6
REST = 0.1  # seconds, after which no thread of another program looks for work any more
ISA_NAMES = {"avx2": "AVX2", "avxvnni": "AVX2_VNNI", "avx512": "AVX512_CORE",
             "avx512vnni": "AVX512_CORE_VNNI", "amx": "AVX512_CORE_AMX"}  # fmt: skip


def read_params(program, path):
    """The tensors of a parameter file by name."""
    with tempfile.TemporaryDirectory() as scratch:
        archive = pathlib.Path(scratch) / "params.npz"
        subprocess.run([program, "params", "convert", path, archive],
                       check=True, stdout=subprocess.DEVNULL)
        return dict(numpy.load(archive))


def entries(text):
    """The integers of a tuple."""
    return [int(v) for v in text.strip("()").split(",")]


class Converter:
    """Writes one model as ONNX. A name stands for a tensor of floats behind DequantizeLinear."""

    def __init__(self, program, directory):
        symbol = json.loads((directory / "symbol.json").read_text(encoding="utf-8"))
        self.params = read_params(program, directory / "params")
        self.symbol_nodes = symbol["nodes"]
        self.attrs = [json.loads(text) for text in symbol["attrs"]["op_attrs"][1]]
        self.shapes = symbol["attrs"]["shape"][1]
        self.head = symbol["heads"][0][0]
        self.readers = {}
        for k, node in enumerate(self.symbol_nodes):
            for source in node["inputs"]:
                self.readers.setdefault(source[0], []).append(k)
        self.nodes, self.initializers = [], []
        self.values, self.scales = {}, {}

    def op_of(self, k):
        """The operator of node k, "null" for a variable."""
        name = self.symbol_nodes[k].get("attrs", {}).get("func_name", "null")
        return name.rstrip("0123456789").rstrip("_") if name[-1].isdigit() else name

    def constant(self, name, value):
        """Adds an initializer."""
        self.initializers.append(numpy_helper.from_array(value, name))
        return name

    def emit(self, op, inputs, output, **attrs):
        """Adds a node."""
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attrs))
        return output

    def quantized(self, name, zero, scale=1.0, unit=1.0):
        """The tensor after it went through unsigned 8 bits. A 1 of the model is `unit` here."""
        facts = [self.constant(f"{name}_scale", numpy.array(scale, numpy.float32)),
                 self.constant(f"{name}_zero", numpy.array(zero, numpy.uint8))]
        self.emit("QuantizeLinear", [name] + facts, name + "_q")
        self.scales[name + "_dq"] = scale, unit
        return self.emit("DequantizeLinear", [name + "_q"] + facts, name + "_dq")

    def parameter(self, k, shift, x_scale=1.0, unit=1.0):
        """A weight over 2^shift, or a bias, which has the scale of the products."""
        name = self.symbol_nodes[k]["name"]
        value = self.params[name]
        if value.dtype != numpy.int8:
            value = numpy.rint(value * unit / x_scale).astype(numpy.int32)
        self.constant(name, value)
        scale = numpy.array(x_scale * 2.0 ** -shift, numpy.float32)
        self.constant(name + "_scale", scale)
        zero = self.constant(name + "_zero", numpy.zeros((), value.dtype))
        return self.emit("DequantizeLinear", [name, name + "_scale", zero], name + "_dq")

    def is_followed_by(self, k, ops):
        """Whether one operator of these alone reads node k."""
        readers = self.readers.get(k, [])
        return len(readers) == 1 and self.op_of(readers[0]) in ops

    def product(self, k, name):
        """A convolution or dense layer, with the shift that follows it, if one does."""
        x, weight, bias = (source[0] for source in self.symbol_nodes[k]["inputs"])
        attrs, shift = self.attrs[k], 0
        if self.is_followed_by(k, ["cvm_right_shift"]):
            shift = int(self.attrs[self.readers[k][0]]["shift_bit"])
        inputs = [self.values[x], self.parameter(weight, shift),
                  self.parameter(bias, shift, *self.scales[self.values[x]])]
        if self.op_of(k) == "dense":
            return self.emit("Gemm", inputs, name, transB=1)
        return self.emit("Conv", inputs, name, kernel_shape=entries(attrs["kernel_size"]),
                         strides=entries(attrs["strides"]), pads=entries(attrs["padding"]) * 2,
                         group=int(attrs["groups"]))

    def shifted(self, k, source):
        """What follows a product: 8 bits, unless an activation comes first; or the mean."""
        if self.op_of(source) == "sum":
            area = numpy.prod(self.shapes[self.symbol_nodes[source]["inputs"][0][0]][2:])
            scale = 2.0 ** int(self.attrs[k]["shift_bit"]) / float(area)
            return self.quantized(self.values[source], 0, scale, scale)
        if self.is_followed_by(k, ["relu", "clip"]):
            return self.values[source]
        return self.quantized(self.values[source], 128)

    def convert(self, k):
        """The tensor of node k."""
        op, node, attrs = self.op_of(k), self.symbol_nodes[k], self.attrs[k]
        name, first = node["name"], node["inputs"][0][0]
        inputs = [self.values.get(source[0]) for source in node["inputs"]]
        if op in ("conv2d", "dense"):
            return self.product(k, name)
        if op == "cvm_right_shift":
            return self.shifted(k, first)
        if op == "relu":
            return self.quantized(self.emit("Relu", inputs, name), 0)
        if op == "clip":
            low, high = (self.constant(f"{name}_{key}", numpy.array(attrs[key], numpy.float32))
                         for key in ("a_min", "a_max"))
            clipped = self.emit("Clip", inputs + [low, high], name)
            return self.quantized(clipped, 0, int(attrs["a_max"]) / 255)
        if op == "elemwise_add":
            return self.emit("Add", inputs, name)
        if op == "cvm_clip":
            follows = self.is_followed_by(k, ["relu"])
            return inputs[0] if follows else self.quantized(inputs[0], 128)
        if op == "max_pool2d":
            self.emit("MaxPool", inputs, name, kernel_shape=entries(attrs["pool_size"]),
                      strides=entries(attrs["strides"]), pads=entries(attrs["padding"]) * 2,
                      ceil_mode=int(attrs["ceil_mode"] == "true"))
            return self.quantized(name, 0)
        if op == "concatenate":
            return self.quantized(self.emit("Concat", inputs, name, axis=1), 0)
        if op == "flatten":
            return self.quantized(self.emit("Flatten", inputs, name), 0)
        if op == "sum":
            self.emit("GlobalAveragePool", inputs, name + "_mean")
            return self.emit("Flatten", [name + "_mean"], name)
        sys.exit(f"networks.py: {op} of node {name} has no counterpart here")

    def model(self):
        """The whole model."""
        for k, node in enumerate(self.symbol_nodes):
            if self.op_of(k) != "null":
                self.values[k] = self.convert(k)
            elif node["name"] == "data":
                self.values[k] = self.quantized("data", 128)
        shapes = [self.shapes[0], self.shapes[-1]]
        data, output = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
                        for name, shape in zip(("data", self.values[self.head]), shapes))
        graph = helper.make_graph(self.nodes, "network", [data], [output], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model


def turn_ms(call):
    """The median of some runs, after some that warm up."""
    time.sleep(REST)
    times = []
    for _ in range(WARMING + TIMED):
        begin = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times[WARMING:])


def onnx_runtime(path, image, threads):
    """A call of ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, {"data": image})


def open_vino(path, image, threads):
    """A call of OpenVINO."""
    core = openvino.Core()
    compiled = core.compile_model(path, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    return lambda: request.infer({"data": image})


def lockstep(tree, directory, image, options):
    """A call of Lockstep's CPU backend."""
    os.environ["LOCKSTEP_TREE"] = str(tree)
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python" / "src"))
    from lockstep import Session  # pylint: disable=import-outside-toplevel

    session = Session(directory, "cpu", options)
    return lambda: session.run(image)


def timed_rounds(directory, o):
    """What each program took in each round."""
    symbol = json.loads((directory / "symbol.json").read_text(encoding="utf-8"))
    shape = symbol["attrs"]["shape"][1][0]
    image = numpy.fromfile(directory / "input.bin", numpy.int8).reshape(shape)
    with tempfile.TemporaryDirectory() as scratch:
        path = str(pathlib.Path(scratch) / "model.onnx")
        onnx.save(Converter(o.tree / "bin" / "lockstep", directory).model(), path)
        floats = image.astype(numpy.float32)
        options = {"threads": o.threads} | ({"isa": o.isa} if o.isa else {})
        calls = [lockstep(o.tree, directory, image, options),
                 onnx_runtime(path, floats, o.threads), open_vino(path, floats, o.threads)]
        return [[turn_ms(call) for call in calls] for _ in range(o.rounds)]


def main():
    """Prints a line for each model."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--isa", choices=ISA_NAMES, help="for Lockstep and OpenVINO")
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    o = parser.parse_args()
    if o.isa:
        os.environ["ONEDNN_MAX_CPU_ISA"] = ISA_NAMES[o.isa]
    print(f"onnxruntime {onnxruntime.__version__}, openvino {openvino.__version__}, "
          f"{o.threads} threads; ms per image, and their time over ours")
    print(f"{'model':<14}{'Lockstep':>10}{'ONNX Runtime':>18}{'OpenVINO':>18}")
    for directory in o.models:
        rounds = timed_rounds(directory, o)
        line = f"{directory.name:<14}{statistics.median(times[0] for times in rounds):>10.2f}"
        for peer in (1, 2):
            ratio = statistics.median(times[peer] / times[0] for times in rounds)
            line += f"{statistics.median(times[peer] for times in rounds):>11.2f} ({ratio:.2f})"
        print(line, flush=True)


if __name__ == "__main__":
    main()
