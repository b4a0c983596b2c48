#!/usr/bin/env python3
"""Times ConvInteger and MatMulInteger of ONNX Runtime beside conv2d and dense of lockstep_bench.

usage: integer_operators.py [--threads N] [--rounds N] PROGRAMS [FILTER...]

PROGRAMS is the directory of lockstep_bench, which times the workloads that FILTER names (conv2d and
dense unless given). Needs the packages of packages/networks.txt. Each call becomes a model of one
operator with constant weights, once with unsigned inputs whose zero point is 128, and once with the
same inputs signed. In each round every program has its turn; medians of the medians of rounds are
printed, and how many elements are wrong. NumPy adds the products exactly, as doubles.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import numpy
import onnx
import onnxruntime
from networks import entries, turn_ms
from numpy.lib.stride_tricks import sliding_window_view
from onnx import TensorProto, helper, numpy_helper


class Call:
    """A call of conv2d or dense, as lockstep_bench writes it, with values of full range."""

    def __init__(self, row):
        self.name, parts = f"{row['op']}/{row['workload']}", row["case"].split("/")
        attrs = dict(part.split("=", 1) for part in parts[1:])
        shapes = [[int(n) for n in tensor.split("@")[0].split("x")]
                  for tensor in attrs["in"].split("+")]
        draw = numpy.random.Generator(numpy.random.PCG64(1))
        self.data, self.weight = (draw.integers(-127, 128, shape, numpy.int8) for shape in shapes)
        self.groups = int(attrs.get("groups", 1))
        self.conv = None
        if row["op"] == "conv2d":
            self.conv = {"strides": entries(attrs.get("strides", "1,1")),
                         "pads": entries(attrs.get("padding", "0,0")) * 2,
                         "dilations": entries(attrs.get("dilation", "1,1")),
                         "group": self.groups}
        self.sums = self.expected()

    def expected(self):
        """The sums."""
        if self.conv is None:
            return self.data.astype(numpy.float64) @ self.weight.T.astype(numpy.float64)
        (top, left), (down, right) = self.conv["pads"][:2], self.conv["dilations"]
        kernel = [(n - 1) * d + 1 for n, d in zip(self.weight.shape[2:], (down, right))]
        padded = numpy.pad(self.data, ((0, 0), (0, 0), (top, top), (left, left)))
        windows = sliding_window_view(padded, kernel, (2, 3))
        step_y, step_x = self.conv["strides"]
        windows = windows[:, :, ::step_y, ::step_x, ::down, ::right].astype(numpy.float64)
        inputs = numpy.split(windows, self.groups, 1)
        weights = numpy.split(self.weight.astype(numpy.float64), self.groups)
        axes = ((1, 4, 5), (1, 2, 3))
        outputs = [numpy.tensordot(x, w, axes) for x, w in zip(inputs, weights)]
        return numpy.concatenate(outputs, 3).transpose(0, 3, 1, 2)

    def model(self, zero):
        """The call as a model whose inputs have this zero point."""
        weight = self.weight if self.conv else numpy.ascontiguousarray(self.weight.T)
        constants = [numpy_helper.from_array(weight, "weight"),
                     numpy_helper.from_array(numpy.array(zero), "zero")]
        op = "ConvInteger" if self.conv else "MatMulInteger"
        node = helper.make_node(op, ["data", "weight", "zero"], ["sums"], **(self.conv or {}))
        kind = helper.np_dtype_to_tensor_dtype(zero.dtype)
        data = helper.make_tensor_value_info("data", kind, self.data.shape)
        sums = helper.make_tensor_value_info("sums", TensorProto.INT32, self.sums.shape)
        graph = helper.make_graph([node], "call", [data], [sums], constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model.SerializeToString()


class Peer:
    """ONNX Runtime with one type of inputs; `run` is None where it has no kernel for them."""

    def __init__(self, call, zero, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4
        self.kind, self.run, self.wrong = str(zero.dtype), None, 0
        data = (call.data.astype(numpy.int16) + int(zero)).astype(zero.dtype)
        try:
            session = onnxruntime.InferenceSession(
                call.model(zero), options, providers=["CPUExecutionProvider"])
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            return
        self.run = lambda: session.run(None, {"data": data})
        self.wrong = int(numpy.count_nonzero(self.run()[0] != call.sums))


def measured(programs, filters, threads):
    """The rows of one run of lockstep_bench."""
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "rows.json"
        subprocess.run([programs / "lockstep_bench", "--threads", str(threads), "--json", file,
                        *filters], check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    return [row for row in rows if row["op"] in ("conv2d", "dense")]


def main():
    """Prints a line for each call and type of inputs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("filters", nargs="*", metavar="FILTER")
    o = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, {o.threads} threads; us, medians")
    print(f"{'call':<36}{'lockstep':>10}{'ONNX Runtime':>14}{'ratio':>8}  inputs  wrong elements")
    for row in measured(o.programs, o.filters or ["conv2d", "dense"], o.threads):
        call = Call(row)
        peers = [Peer(call, zero, o.threads) for zero in (numpy.uint8(128), numpy.int8(0))]
        peers = [peer for peer in peers if peer.run]
        rounds = []
        for _ in range(o.rounds):
            mine = measured(o.programs, [call.name], o.threads)[0]["ns"] / 1e3
            rounds.append([mine] + [1e3 * turn_ms(peer.run) for peer in peers])
        ours, *theirs = (statistics.median(column) for column in zip(*rounds))
        for peer, time in zip(peers, theirs):
            print(f"{call.name:<36}{ours:>10.1f}{time:>14.1f}{time / ours:>8.2f}  {peer.kind:<6}"
                  f"{peer.wrong:>8} of {call.sums.size}", flush=True)


if __name__ == "__main__":
    main()
