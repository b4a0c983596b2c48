"""Judges NumPy: a whole backend in the JSON Lines protocol.

lockstep check "exec:python3 examples/numpy_backend.py int64" --op 'elemwise_*,sum,dense'

The argument is the type in which NumPy computes; int64 holds every value of every operator below.
"""

import ast
import json
import sys

import numpy as np

DTYPE = np.dtype(sys.argv[1] if len(sys.argv) > 1 else "int64")


def total(a, x):
    """The sum along the axes; none are all of them."""
    axes = {int(axis) % x.ndim for axis in np.atleast_1d(a["axis"])}
    if a["exclude"] or not axes:
        axes = set(range(x.ndim)) - axes
    return np.atleast_1d(np.sum(x, axis=tuple(axes), keepdims=a["keepdims"], dtype=x.dtype))


OPERATORS = {
    "relu": lambda _, x: np.maximum(x, 0),
    "abs": lambda _, x: np.abs(x),
    "negative": lambda _, x: np.negative(x),
    "clip": lambda a, x: np.clip(x, a["a_min"], a["a_max"]),
    "elemwise_add": lambda a, x, y: x + y,
    "elemwise_sub": lambda a, x, y: x - y,
    "broadcast_add": lambda a, x, y: x + y,
    "broadcast_mul": lambda a, x, y: x * y,
    "broadcast_max": lambda a, x, y: np.maximum(x, y),
    "transpose": lambda a, x: np.transpose(x, a["axes"] or None),
    "sum": total,
    "dense": lambda _, x, w, *bias: np.matmul(x, w.T) + sum(bias),
}


def serve(operators, array):
    """Answers each line of standard input; `array` makes an input of values and their shape."""
    for line in sys.stdin:
        call = json.loads(line)
        answer = {"id": call["id"], "status": "unsupported", "message": "not part of this example"}
        if call["op"] in operators:
            # A word in capitals is a layout, of which only one is legal.
            words = {k: v.title() for k, v in call["attrs"].items() if not v.isupper()}
            attrs = {k: ast.literal_eval(v) for k, v in words.items()}
            inputs = [array(t["data"], t["shape"]) for t in call["in"]]
            y = np.asarray(operators[call["op"]](attrs, *inputs)).astype(np.int64)
            # Without "prec" only the shape and the values are judged.
            out = {"shape": y.shape, "data": y.ravel().tolist()}
            answer = {"id": call["id"], "status": "ok", "out": [out]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(OPERATORS, lambda data, shape: np.array(data).reshape(shape).astype(DTYPE))
