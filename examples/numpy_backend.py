"""Judges NumPy: a whole backend in the JSON Lines protocol.

lockstep check "exec:python3 examples/numpy_backend.py int64" --op 'elemwise_*,sum,dense'

The argument is the type in which NumPy computes; int64 holds every value of every operator below.
"""

import ast
import json
import sys

import numpy as np

DTYPE = np.dtype(sys.argv[1] if len(sys.argv) > 1 else "int64")
# Attributes of which no legal value changes a result.
WORDS = {"layout", "kernel_layout", "method", "dtype", "out_dtype", "out_layout"}


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


def computed(operator, attrs, inputs, path):
    """An answer without its identifier."""
    try:
        y = np.asarray(operator(attrs, *inputs)).astype(np.int64)
    except Exception as error:  # of the library, whatever its type
        return {"status": "runtime_error", "message": str(error)}
    # Without "prec" only the shape and the values are judged.
    out = {"shape": y.shape, "data": y.ravel().tolist()}
    return {"status": "ok", "out": [out], "path": path}


def serve(operators, array, library, claims=None):
    """Answers each line of standard input; `array` makes an input of values and their shape. The
    manifest names the library, and claims each operator whole if `claims` does not restrict it."""
    name = library.__name__
    kernel = {"op": "*", "name": name, "isa": "any", "runnable": True}
    claims = {op: (claims or {}).get(op, {}) for op in operators}
    manifest = {"name": name, "version": library.__version__, "device": "cpu", "kernels": [kernel],
                "claims": {"operators": claims}}  # fmt: skip
    for line in sys.stdin:
        call = json.loads(line)
        answer = {"id": call["id"], "status": "unsupported", "message": "not part of this example"}
        if call["op"] == "manifest":
            answer = {"id": call["id"], "manifest": manifest}
        elif call["op"] in operators:
            texts = {k: v.title() for k, v in call["attrs"].items() if k not in WORDS}
            attrs = {k: ast.literal_eval(v) for k, v in texts.items()}
            inputs = [array(t["data"], t["shape"]) for t in call["in"]]
            answer = {"id": call["id"], **computed(operators[call["op"]], attrs, inputs, name)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(OPERATORS, lambda data, shape: np.array(data).reshape(shape).astype(DTYPE), np)
