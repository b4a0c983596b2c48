"""An ONNX model, imported and run with what the wheel and its extra "importer" have installed."""

import json
import subprocess
import sys

import lockstep
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save
from program import said

WEIGHT = np.array([[0.5, -0.25, 1.0], [-1.0, 0.75, 0.125]], np.float32)
BIAS = np.array([0.25, -0.5], np.float32)
SAMPLES = np.linspace(-1, 1, 60, dtype=np.float32).reshape(20, 3)


def relu_of_gemm():
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["sum"], transB=1),
             helper.make_node("Relu", ["sum"], ["y"])]  # fmt: skip
    inputs, outputs = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", count])]
        for name, count in (("x", 3), ("y", 2)))  # fmt: skip
    constants = [numpy_helper.from_array(WEIGHT, "w"), numpy_helper.from_array(BIAS, "b")]
    model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs, constants),
                              opset_imports=[helper.make_opsetid("", 17)])  # fmt: skip
    model.ir_version = 8
    return model


def test_an_onnx_model_is_imported_and_run(tmp_path):
    onnx, samples, folder = (str(tmp_path / name) for name in ("m.onnx", "samples.npy", "model"))
    save(relu_of_gemm(), onnx)
    np.save(samples, SAMPLES)
    done = subprocess.run([sys.executable, "-m", "lockstep.importer", onnx, folder,
                           "--calibration", samples],
                          check=False, capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    scales = json.loads((tmp_path / "model" / "scales.json").read_text())
    right = np.maximum(SAMPLES @ WEIGHT.T + BIAS, 0)
    integers = np.rint(SAMPLES / scales["input"]["scale"]).astype(np.int32)
    with lockstep.Session(folder) as session:
        heads = np.concatenate([session.run(x[None])[0] for x in integers])
    assert np.abs(heads * scales["outputs"][0]["scale"] - right).max() < 0.02 * right.max()
    inputs = tmp_path / "x.npy"
    np.save(inputs, integers)
    printed = said("model", "run", folder, "--input", str(inputs), "--json", "-", "--quiet")
    values = [run["heads"][0]["values"] for run in json.loads(printed)["runs"]]
    assert values == heads.tolist()
