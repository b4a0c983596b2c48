"""Functions as a backend that the program judges."""

import json
import subprocess
import sys

import lockstep
import pytest
from program import run

BACKEND = """
import lockstep
import numpy as np

def relu(inputs, attrs, out_types):
    print("this is for standard error")
    return np.maximum(inputs[0], 0)

def total(inputs, attrs, out_types):
    assert isinstance(attrs["axis"], tuple) and isinstance(attrs["keepdims"], bool)
    axes = {axis % inputs[0].ndim for axis in attrs["axis"]} or set(range(inputs[0].ndim))
    if attrs["exclude"] and attrs["axis"]:
        axes = set(range(inputs[0].ndim)) - axes
    y = inputs[0].sum(axis=tuple(axes), keepdims=attrs["keepdims"], dtype=np.int64)
    return y.reshape(out_types[0].shape)

def valid(inputs, attrs, out_types):
    passing = inputs[0][:, :, 1] > attrs["score_threshold"]
    rows = np.full(out_types[1].shape, -1)
    for batch, (boxes, keep) in enumerate(zip(inputs[0], passing)):
        rows[batch, : keep.sum()] = boxes[keep]
    return passing.sum(axis=1), rows

lockstep.serve({"relu": relu, "sum": total, "get_valid_counts": valid}, name="mine", version="3",
               claims={"relu": {"precision": [1, 16]}})
print("served")
"""

FAULTS = """
import lockstep
import numpy as np

def boom(inputs, attrs, out_types):
    raise KeyError("no such thing")

lockstep.serve({
    "relu": boom,
    "abs": lambda inputs, attrs, out_types: inputs[0] / 2,
    "negative": lambda inputs, attrs, out_types: inputs[0].astype(np.int64) << 40,
    "flatten": lambda inputs, attrs, out_types: inputs[0],
    "clip": lambda inputs, attrs, out_types: [inputs[0], inputs[0]],
    "tile": lambda inputs, attrs, out_types: inputs[0][:0],
    "squeeze": lambda inputs, attrs, out_types: None,
})
"""


def call(op, attrs=None, data=(1, -2), precision=8, **more):
    x = {"shape": [len(data)], "data": list(data)}
    return {"id": 7, "op": op, "attrs": attrs or {}, "in_prec": [precision], "in": [x], **more}


def check(tmp_path, *words):
    """What the program says of the backend, with generous time limits."""
    patience = ("--timeout", "60", "--start-timeout", "60")
    return run("check", f"exec:{sys.executable} backend.py", *patience, *words, cwd=tmp_path)


def answers(tmp_path, script, *lines):
    """What a script answers to lines, given as calls or as text."""
    (tmp_path / "backend.py").write_text(script)
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    done = subprocess.run([sys.executable, tmp_path / "backend.py"], input=text, check=True,
                          capture_output=True, text=True)  # fmt: skip
    return done, [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_a_backend_is_judged_by_its_claims(tmp_path):
    (tmp_path / "backend.py").write_text(BACKEND)
    done = check(tmp_path, "--tier", "1")
    assert "PASS  mine 3  whole claim (3 of 37 operators), determinism D1" in done.stdout
    assert done.returncode == 0


def test_what_functions_print_is_kept_from_the_judge(tmp_path):
    done, (answer,) = answers(tmp_path, BACKEND, call("relu"))
    assert answer == {"id": 7, "status": "ok", "path": "python",
                      "out": [{"shape": [2], "b64": "AQAAAAAAAAA="}]}  # fmt: skip
    assert "this is for standard error" in done.stderr
    assert done.stdout.endswith("served\n")


def test_an_input_may_have_no_values_or_base64(tmp_path):
    zeros, coded = call("relu"), call("relu")
    del zeros["in"][0]["data"]
    coded["in"] = [{"shape": [2], "b64": "AQAAAP7///8="}]
    _, found = answers(tmp_path, BACKEND, zeros, coded)
    assert [a["out"][0]["b64"] for a in found] == ["AAAAAAAAAAA=", "AQAAAAAAAAA="]


def test_illegal_calls_do_not_reach_a_function(tmp_path):
    _, found = answers(tmp_path, FAULTS, call("relu", {"no": "1"}), call("relu", data=[200]),
                       call("relu", data=[2**80]), call("relu", precision=40))  # fmt: skip
    assert [a.get("label") for a in found] == ["attr.unknown", "input.value", "input.value",
                                               "input.precision"]  # fmt: skip
    assert {a["status"] for a in found} == {"logic_error"}


@pytest.mark.parametrize(("op", "attrs", "message"), [
    ("relu", {}, "relu raised KeyError: 'no such thing' (backend.py:6)"),
    ("abs", {}, "abs returned float64, not integers"),
    ("negative", {}, "negative returned a value beyond int32 as output 0"),
    ("clip", {"a_min": "0", "a_max": "1"}, "clip returned 2 arrays, not 1"),
    ("tile", {"reps": "(2)"}, "tile returned an empty array as output 0"),
    ("squeeze", {}, "squeeze returned object, not integers"),
])  # fmt: skip
def test_a_fault_is_named(tmp_path, op, attrs, message):
    _, (answer,) = answers(tmp_path, FAULTS, call(op, attrs))
    assert answer == {"id": 7, "status": "runtime_error", "message": message}


def test_the_judge_sees_a_wrong_shape(tmp_path):
    (tmp_path / "backend.py").write_text(FAULTS)
    done = check(tmp_path, "--tier", "0", "--op", "flatten", "--property", "matches_reference")
    assert done.returncode == 1
    assert "shrunk  flatten/in=1@" in done.stdout
    assert "expected (1, 1), got (1,)" in done.stdout


def test_a_backend_outlives_lines_that_are_no_calls(tmp_path):
    lines = ["", "x", "[]", "3", '{"op":"relu"}', '{"id":1}', '{"id":2,"op":"relu","attrs":3}']
    lines.append(json.dumps(call("relu", data=[1.5, 2])))
    short = call("relu", data=[1, 2, 3])
    short["in"][0]["shape"] = [9]
    _, found = answers(tmp_path, BACKEND, *lines, short, call("relu"), call("abs"))
    assert [a["status"] for a in found] == ["runtime_error"] * 9 + ["ok", "unsupported"]
    assert [a["id"] for a in found] == [None, None, None, None, None, 1, 2, 7, 7, 7, 7]


def test_what_cannot_be_served_is_refused_at_once():
    with pytest.raises(ValueError, match="no operator 'rely'"):
        lockstep.serve({"rely": max})
    with pytest.raises(TypeError, match="no function"):
        lockstep.serve({"relu": 3})
