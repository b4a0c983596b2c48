"""lockstep.eval, infer and check."""

import concurrent.futures
import json

import lockstep
import numpy as np
import pytest
from program import said

BYTES = np.array([[-3, 0, 5], [1, 2, 127]], np.int8)


def test_eval_gives_arrays_of_int32():
    (y,) = lockstep.eval("relu", None, [BYTES])
    assert y.dtype == np.int32
    assert y.tolist() == [[0, 0, 5], [1, 2, 127]]
    count, rows = lockstep.eval("get_valid_counts", {"score_threshold": 1}, [BYTES[None]])
    assert count.tolist() == [1]
    assert rows.tolist() == [[[1, 2, 127], [-1, -1, -1]]]


def test_eval_answers_every_example_of_the_specification_as_the_program_does():
    examples = [e for op in json.loads(said("spec", "--json"))["operators"] for e in op["examples"]]
    calls = [example["call"] for example in examples]
    assert len(calls) > 37
    lines = "".join(json.dumps(call) + "\n" for call in calls)
    for call, line in zip(calls, said("eval", stdin=lines).splitlines(), strict=True):
        answer = json.loads(line)
        inputs = [np.reshape(x["data"], x["shape"]) for x in call["in"]]
        arguments = call["op"], call["attrs"], inputs, call["in_prec"]
        if answer["status"] == "logic_error":
            with pytest.raises(lockstep.RuleViolation) as raised:
                lockstep.eval(*arguments)
            assert raised.value.label == answer["label"]
            assert raised.value.message == answer["message"]
            continue
        for y, t, out in zip(lockstep.eval(*arguments), lockstep.infer(*arguments), answer["out"],
                             strict=True):  # fmt: skip
            assert t == (tuple(out["shape"]), out["prec"])
            assert y.shape == t.shape
            assert y.ravel().tolist() == out["data"]


@pytest.mark.parametrize("axis", [(1,), [1], 1, "(1)", np.int64(1), np.array([1])])
def test_attributes_are_values_or_text(axis):
    for keepdims in (True, np.True_, 1, "true"):
        (y,) = lockstep.eval("sum", {"axis": axis, "keepdims": keepdims}, [BYTES])
        assert y.tolist() == [[2], [130]]
    indices = np.array([1, 5], np.int8)
    assert lockstep.eval("take", {"axis": None}, [BYTES, indices])[0].tolist() == [0, 127]


def test_attributes_of_other_types_are_refused():
    with pytest.raises(TypeError, match="'axis' is a float"):
        lockstep.eval("sum", {"axis": 1.0}, [BYTES])
    with pytest.raises(ValueError, match="NUL"):
        lockstep.eval("sum", {"axis": "1\0"}, [BYTES])


@pytest.mark.parametrize(("dtype", "precision"), [
    ("bool", 2), ("int8", 8), ("uint8", 9), ("int16", 16), ("uint16", 17), ("int32", 32),
    ("uint32", 32), ("int64", 32), (">i2", 16),
])  # fmt: skip
def test_the_precision_is_that_of_the_dtype(dtype, precision):
    x = np.array([[0, 1], [1, 1]], dtype)
    assert lockstep.infer("relu", None, [x]) == [((2, 2), precision)]
    assert lockstep.infer("relu", None, [x], precisions=3) == [((2, 2), 3)]
    assert lockstep.eval("abs", None, [x.T])[0].tolist() == [[0, 1], [1, 1]]


def test_precisions_are_one_for_all_or_one_for_each():
    assert lockstep.infer("elemwise_add", None, [BYTES, BYTES], 4) == [((2, 3), 5)]
    assert lockstep.infer("elemwise_add", None, [BYTES, BYTES], [4, 6]) == [((2, 3), 7)]
    with pytest.raises(ValueError, match="1 precisions for 2 inputs"):
        lockstep.infer("elemwise_add", None, [BYTES, BYTES], [4])


@pytest.mark.parametrize("value", [200, -128, 2**31, -(2**31), -(2**31) - 1, 2**63 - 1])
def test_a_value_beyond_its_precision_is_refused(value):
    with pytest.raises(lockstep.RuleViolation) as raised:
        lockstep.eval("relu", None, [[value]], precisions=8)
    assert raised.value.label == "input.value"


def test_a_type_stands_for_an_array():
    image, weight = lockstep.Type((1, 3, 8, 8), 8), lockstep.Type((4, 3, 3, 3), 8)
    attrs = {"channels": 4, "kernel_size": (3, 3), "use_bias": False}
    assert lockstep.infer("conv2d", attrs, [image, weight]) == [((1, 4, 6, 6), 21)]
    assert lockstep.check("conv2d", attrs, [image, weight]) == ""
    narrow = image._replace(shape=(1, 2, 8, 8))
    assert lockstep.check("conv2d", attrs, [narrow, weight]) == "conv2d.weight"
    huge = lockstep.Type((2**40,) * 3, 2**40)
    assert lockstep.check("relu", None, [huge]) == "input.extent"


def test_a_broken_rule_is_named():
    with pytest.raises(lockstep.RuleViolation, match="axis_twice") as raised:
        lockstep.eval("sum", {"axis": (0, 0)}, [BYTES])
    assert raised.value.label == lockstep.check("sum", {"axis": (0, 0)}, [BYTES])
    assert isinstance(raised.value, ValueError)
    assert lockstep.check("nope", None, []) == "op.unknown"
    assert lockstep.check("relu", None, [np.int8(1)]) == "input.rank"


def test_only_integers_are_inputs():
    for x in (BYTES / 2, [], ["a"], [2**70]):
        with pytest.raises(TypeError, match="not integers"):
            lockstep.eval("relu", None, [x])


def test_threads_do_not_meet():
    def ask(k):
        for _ in range(200):
            y = lockstep.eval("broadcast_add", None, [np.full(9, k), np.arange(9)], precisions=8)[0]
            assert y.tolist() == list(range(k, k + 9))
            label = lockstep.check("sum", {"axis": (k,)}, [BYTES])
            assert label == ("sum.axis" if k > 1 else "")
        return k

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(4))) == [0, 1, 2, 3]
