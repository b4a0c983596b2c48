"""Functions in Python as a backend in the JSON Lines protocol."""

import base64
import contextlib
import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from io import BufferedIOBase
from typing import Any

import numpy as np

from ._specification import Int32Array, RuleViolation, Type, check, infer

Function = Callable[[list[Int32Array], dict[str, Any], list[Type]], Any]

_KERNEL = {"op": "*", "name": "python", "isa": "any", "runnable": True}
_MESSAGE_CHARACTERS = 1000
_TURN_S = 1.0  # how long a call waits for an earlier one to return


class _Refused(Exception):
    """An answer other than ok: its status, label (for a logic error) and message."""

    def __init__(self, status: str, message: str, label: str = ""):
        super().__init__(message)
        self.status, self.label = status, label


def _attribute(text: str) -> Any:
    """The value of an attribute's text: an integer, a bool, a tuple of integers, None, or text."""
    text = text.strip()
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text[:1] in ("(", "["):
        return tuple(int(entry) for entry in re.findall(r"[+-]?\d+", text))
    return None if text == "None" else text


def _input(tensor: Mapping[str, Any], given: Type) -> Int32Array:
    """The values of an input; zeros if the line has none."""
    if "b64" in tensor:
        values = np.frombuffer(base64.b64decode(tensor["b64"]), "<i4")
    elif "data" in tensor:
        values = np.array(tensor["data"])
        if values.dtype != np.int64 and not all(isinstance(v, int) for v in tensor["data"]):
            raise TypeError("a value of an input is no integer")
    else:
        return np.zeros(given.shape, np.int32)
    bound = 2 ** (given.precision - 1) - 1
    if values.size and (values.max() > bound or values.min() < -bound):
        raise _Refused("logic_error", f"a value lies outside +-{bound}", "input.value")
    return values.astype(np.int32).reshape(given.shape)


def _outputs(op: str, result: Any, count: int) -> list[Int32Array]:
    """The arrays that a function returned, as int32. The judge compares their shapes."""
    parts = [result]
    if isinstance(result, (list, tuple)) and all(hasattr(part, "shape") for part in result):
        parts = list(result)
    if len(parts) != count:
        raise _Refused("runtime_error", f"{op} returned {len(parts)} arrays, not {count}")
    arrays = []
    for k, part in enumerate(parts):
        array = np.asarray(part)
        if array.dtype.kind not in "iub":
            raise _Refused("runtime_error", f"{op} returned {array.dtype}, not integers")
        if array.size == 0:
            raise _Refused("runtime_error", f"{op} returned an empty array as output {k}")
        if array.max() >= 2**31 or array.min() < -(2**31):
            raise _Refused("runtime_error", f"{op} returned a value beyond int32 as output {k}")
        arrays.append(array.astype("<i4"))
    return arrays


def _place(error: Exception) -> str:
    """An exception in words, with the line that raised it."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({os.path.basename(frame.filename)}:{frame.lineno})"


class Server:
    """Answers lines with the functions of a backend. Several threads may use one: a function runs
    in one of them at a time."""

    def __init__(self, operators: Mapping[str, Function], name: str, version: str,
                 claims: Mapping[str, Mapping[str, Any]] | None):  # fmt: skip
        for op, function in operators.items():
            if check(op, None, []) == "op.unknown":
                raise ValueError(f"there is no operator {op!r}; `lockstep list` names them")
            if not callable(function):
                raise TypeError(f"what answers {op!r} is no function: {function!r}")
        self._operators = dict(operators)
        self._turn, self._patience_s = threading.Lock(), _TURN_S
        restrictions = {op: dict((claims or {}).get(op, {})) for op in operators}
        self._manifest = {
            "name": name, "version": version, "device": "cpu", "kernels": [_KERNEL],
            "claims": {"operators": restrictions, "determinism": "D1"},
        }  # fmt: skip

    def run(self, calls: BufferedIOBase, answers: BufferedIOBase) -> None:
        """Answers each line until they end."""
        for line in calls:
            answers.write(json.dumps(self._answer(line)).encode() + b"\n")
            answers.flush()

    def _answer(self, line: bytes) -> dict[str, Any]:
        name = None
        try:
            call = json.loads(line)
            name = call["id"]
            if call["op"] == "manifest":
                return {"id": name, "manifest": self._manifest}
            out = [{"shape": y.shape, "b64": base64.b64encode(y.tobytes()).decode()}
                   for y in self._computed(call)]  # fmt: skip
            return {"id": name, "status": "ok", "out": out, "path": _KERNEL["name"]}
        except _Refused as error:
            label = {"label": error.label} if error.label else {}
            return {"id": name, "status": error.status, **label,
                    "message": str(error)[:_MESSAGE_CHARACTERS]}  # fmt: skip
        except Exception as error:  # a line that is no call; the next may be one
            return {"id": name, "status": "runtime_error",
                    "message": f"no call: {_place(error)}"[:_MESSAGE_CHARACTERS]}  # fmt: skip

    def _computed(self, call: Mapping[str, Any]) -> list[Int32Array]:
        op = call["op"]
        if op not in self._operators:
            raise _Refused("unsupported", f"no function serves {op}")
        pairs = zip(call["in"], call["in_prec"], strict=True)
        given = [Type(tuple(tensor["shape"]), precision) for tensor, precision in pairs]
        try:
            types = infer(op, call["attrs"], given)
        except RuleViolation as error:
            raise _Refused("logic_error", error.message, error.label) from None
        inputs = [_input(tensor, t) for tensor, t in zip(call["in"], given, strict=True)]
        attrs = {name: _attribute(text) for name, text in call["attrs"].items()}
        if not self._turn.acquire(timeout=self._patience_s):
            self._patience_s = 0.0  # it may never return
            raise _Refused("runtime_error", "a function has not returned from an earlier call")
        try:
            return _outputs(op, self._operators[op](inputs, attrs, types), len(types))
        except _Refused:
            raise
        except Exception as error:  # of the function, whatever its type
            raise _Refused("runtime_error", f"{op} raised {_place(error)}") from error
        finally:
            self._turn.release()


@contextlib.contextmanager
def _streams() -> Iterator[tuple[BufferedIOBase, BufferedIOBase]]:
    """Standard input and output for the protocol alone: what a function prints goes to standard
    error, and it has nothing to read."""
    sys.stdout.flush()
    with os.fdopen(os.dup(0), "rb") as calls, os.fdopen(os.dup(1), "wb") as answers, \
            open(os.devnull, "rb") as nothing:  # fmt: skip
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        try:
            yield calls, answers
        finally:
            sys.stdout.flush()
            os.dup2(calls.fileno(), 0)
            os.dup2(answers.fileno(), 1)


def serve(operators: Mapping[str, Function], *, name: str = "python", version: str = "0",
          claims: Mapping[str, Mapping[str, Any]] | None = None) -> None:  # fmt: skip
    """Answers the judge on standard input and output until it has no more calls:
    `lockstep check "exec:python3 mine.py"` judges a script that ends with::

        lockstep.serve({"relu": lambda inputs, attrs, out_types: np.maximum(inputs[0], 0)})

    A function gets the inputs as arrays of int32, the attributes as values (with defaults), and the
    types of the outputs. It returns an array of integers, or a list of them where the operator has
    several outputs. It gets legal calls only; what it raises, and anything else that it returns,
    becomes an answer that names it. The backend claims the operators whole unless `claims`
    restricts one, as `{"relu": {"precision": [1, 16]}}`."""
    server = Server(operators, name, version, claims)
    with _streams() as (calls, answers):
        server.run(calls, answers)
