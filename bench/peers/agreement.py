#!/usr/bin/env python3
"""Compares what a network gives in ONNX Runtime, OpenVINO and Lockstep in several ways to run it.

usage: agreement.py PROGRAM MODEL...

PROGRAM is lockstep, MODEL a classifier that `lockstep model make` wrote. Needs the packages of
packages/networks.txt, and for ONNX Runtime on another instruction set qemu-x86_64. Prints for each
engine how many logits a way changes, compared with the way it runs by itself, and how many OpenVINO
changes, compared with ONNX Runtime.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
import openvino

import networks

AVX2 = "Haswell"


def onnx_runtime(path, image, optimized):
    """The logits of ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if not optimized:
        level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"data": image})[0]


def open_vino(path, image):
    """The logits of OpenVINO."""
    compiled = openvino.Core().compile_model(
        path, "CPU", {"INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1})
    return compiled({"data": image})[0]


def infer(way, path, image, output):
    """What a process of its own does: writes the logits of one way."""
    image = numpy.load(image)
    run = {"onnxruntime": lambda: onnx_runtime(path, image, True),
           "plain": lambda: onnx_runtime(path, image, False),
           "openvino": lambda: open_vino(path, image)}[way]
    numpy.save(output, run())


class Ways:
    """Runs one model in every way."""

    def __init__(self, program, directory, scratch):
        self.program, self.directory, self.scratch = program, directory, scratch
        self.path, self.image = scratch / "model.onnx", scratch / "image.npy"
        onnx.save(networks.Converter(program, directory).model(), str(self.path))
        symbol = json.loads((directory / "symbol.json").read_text(encoding="utf-8"))
        data = numpy.fromfile(directory / "input.bin", numpy.int8)
        image = data.reshape(symbol["attrs"]["shape"][1][0])
        numpy.save(self.image, image.astype(numpy.float32))

    def foreign(self, way, before=(), **environment):
        """The logits of another engine, or None where this machine cannot run it so."""
        output = self.scratch / "logits.npy"
        ended = subprocess.run(
            [*before, sys.executable, __file__, "--infer", way, self.path, self.image, output],
            check=False, env=os.environ | environment, capture_output=True)
        return numpy.load(output).ravel() if ended.returncode == 0 else None

    def ours(self, *options):
        """The logits of Lockstep."""
        output = self.scratch / "logits.npy"
        subprocess.run(
            [self.program, "model", "run", self.directory, "--input",
             self.directory / "input.bin", "--output", output, "--quiet", *options],
            check=True, stdout=subprocess.DEVNULL)
        return numpy.load(output).ravel()

    def emulated(self):
        """ONNX Runtime on a processor without AVX-512 and VNNI."""
        qemu = shutil.which("qemu-x86_64")
        return self.foreign("onnxruntime", [qemu, "-cpu", AVX2]) if qemu else None

    def all(self):
        """Engine, way and logits."""
        yield "ONNX Runtime", "", self.foreign("onnxruntime")
        yield "ONNX Runtime", "without graph optimization", self.foreign("plain")
        yield "ONNX Runtime", "AVX2", self.emulated()
        vino = self.foreign("openvino")
        yield "ONNX Runtime", "compared with OpenVINO", vino
        yield "OpenVINO", "", vino
        yield "OpenVINO", "AVX2", self.foreign("openvino", DNNL_MAX_CPU_ISA="AVX2")
        yield "Lockstep", "", self.ours()
        for isa in ("portable", "sse4", "avx2"):
            yield "Lockstep", isa, self.ours("--set", f"isa={isa}")
        yield "Lockstep", "2 threads", self.ours("--threads", "2")
        yield "Lockstep", "the specification", self.ours("--backend", "reference")


def compare(program, directory):
    """Prints a line for each way."""
    with tempfile.TemporaryDirectory() as scratch:
        own = {}
        for engine, way, logits in Ways(program, directory, pathlib.Path(scratch)).all():
            if logits is None:
                print(f"{directory.name:<14}{engine:<14}{way:<28}not run", flush=True)
                continue
            base = own.setdefault(engine, logits)
            differ = numpy.count_nonzero(logits != base)
            note = f"{differ} of {base.size} differ" if way else f"{base.size} logits"
            print(f"{directory.name:<14}{engine:<14}{way:<28}{note}, class {logits.argmax()}",
                  flush=True)


def main():
    """Compares models, or runs one way for such a comparison."""
    if sys.argv[1:2] == ["--infer"]:
        return infer(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    o = parser.parse_args()
    print(f"onnxruntime {onnxruntime.__version__}, openvino {openvino.__version__}")
    for directory in o.models:
        compare(o.program, directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
