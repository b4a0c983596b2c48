"""The specification by liblockstep_reference: what a call gives, or which rule it breaks."""

import ctypes
import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _tree

Attributes = Mapping[str, Any]
Int32Array = NDArray[np.int32]
Precisions = int | Sequence[int] | None

_OK, _LOGIC = 0, 1
_OUTSIDE_INT32 = -(2**31)  # is illegal in every precision
_INT32 = ctypes.POINTER(ctypes.c_int32)


class Type(NamedTuple):
    """Shape and precision of a tensor. Values of precision p lie in `+-(2^(p-1) - 1)`."""

    shape: tuple[int, ...]
    precision: int


class RuleViolation(ValueError):
    """A call breaks a rule of the specification, which `label` names, as `conv2d.window`."""

    def __init__(self, label: str, message: str):
        super().__init__(f"{label}: {message}")
        self.label, self.message = label, message


class _Attribute(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class _Type(ctypes.Structure):
    _fields_ = [
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_size_t),
        ("precision", ctypes.c_int32),
    ]


class _Call(ctypes.Structure):
    _fields_ = [
        ("op", ctypes.c_char_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("attribute_count", ctypes.c_size_t),
        ("inputs", ctypes.POINTER(_Type)),
        ("input_count", ctypes.c_size_t),
    ]


@functools.cache
def _library() -> ctypes.CDLL:
    library = _tree.library("reference")
    call, outputs = ctypes.POINTER(_Call), ctypes.c_void_p
    for name, result, arguments in (
        ("check", ctypes.c_char_p, [call]),
        ("infer", ctypes.c_int, [call, ctypes.POINTER(outputs)]),
        ("evaluate", ctypes.c_int, [call, ctypes.POINTER(_INT32), ctypes.POINTER(outputs)]),
        ("count", ctypes.c_size_t, [outputs]),
        ("type_of", _Type, [outputs, ctypes.c_size_t]),
        ("values", _INT32, [outputs, ctypes.c_size_t]),
        ("release", None, [outputs]),
        ("label", ctypes.c_char_p, []),
        ("message", ctypes.c_char_p, []),
    ):
        function = getattr(library, f"lockstep_{name}")
        function.restype, function.argtypes = result, arguments
    return library


def encoded(text: str) -> bytes:
    """A text for a function in C."""
    if "\0" in text:
        raise ValueError(f"{text!r} holds a NUL character")
    return text.encode()


def _attribute_text(name: str, value: Any) -> str:
    """The text of a value: 3, (1, 2), True, None, or text as it is."""
    if isinstance(value, str):
        return value
    if value is None:
        return "None"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return "(" + ",".join(_attribute_text(name, entry) for entry in value) + ")"
    raise TypeError(f"attribute {name!r} is a {type(value).__name__}, not an integer, a bool, "
                    "a sequence of integers, None or text")  # fmt: skip


def _type_of(k: int, x: ArrayLike | Type, precision: int | None) -> Type:
    """The type of input k. Unless a precision is given, it is that of the array's integers."""
    if isinstance(x, Type):
        return x if precision is None else x._replace(precision=precision)
    array = np.asarray(x)
    if array.dtype.kind not in "iub":
        raise TypeError(f"input {k} holds {array.dtype}, not integers")
    if precision is None:
        bits = 1 if array.dtype.kind == "b" else 8 * array.dtype.itemsize
        precision = min(32, bits + (array.dtype.kind != "i"))
    return Type(array.shape, precision)


def _types_of(inputs: Sequence[ArrayLike | Type], precisions: Precisions) -> list[Type]:
    if precisions is None or isinstance(precisions, int):
        each = [precisions] * len(inputs)
    else:
        each = list(precisions)
        if len(each) != len(inputs):
            raise ValueError(f"there are {len(each)} precisions for {len(inputs)} inputs")
    return [_type_of(k, x, p) for k, (x, p) in enumerate(zip(inputs, each, strict=True))]


def _call(op: str, attrs: Attributes | None, types: Sequence[Type]) -> _Call:
    given = [_Attribute(encoded(name), encoded(_attribute_text(name, value)))
             for name, value in (attrs or {}).items()]  # fmt: skip
    attributes = (_Attribute * len(given))(*given)
    inputs = (_Type * len(types))()
    for to, (shape, precision) in zip(inputs, types, strict=True):
        to.shape = (ctypes.c_int64 * len(shape))(*shape)
        to.rank = len(shape)
        to.precision = max(-1, min(precision, 2**31 - 1))
    return _Call(encoded(op), attributes, len(given), inputs, len(types))


def _require(status: int) -> None:
    if status == _OK:
        return
    message = _library().lockstep_message().decode(errors="replace")
    if status == _LOGIC:
        raise RuleViolation(_library().lockstep_label().decode(), message)
    raise RuntimeError(message)


def _take(outputs: ctypes.c_void_p, part: Any) -> list[Any]:
    """part(type, values) of each output, which are given back then."""
    library, taken = _library(), []
    try:
        for k in range(library.lockstep_count(outputs)):
            found = library.lockstep_type_of(outputs, k)
            shape = tuple(found.shape[: found.rank])
            taken.append(part(Type(shape, found.precision), library.lockstep_values(outputs, k)))
        return taken
    finally:
        library.lockstep_release(outputs)


def _int32(x: ArrayLike) -> Int32Array:
    """The values of an input; for each outside int32 one that is illegal in every precision."""
    array = np.asarray(x)
    if array.dtype.itemsize > 4 or array.dtype == np.uint32:
        inside = (array >= -(2**31)) & (array < 2**31)
        array = np.where(inside, array, 0).astype(np.int64)
        array[~inside] = _OUTSIDE_INT32
    return np.ascontiguousarray(array, np.int32)


def check(op: str, attrs: Attributes | None, inputs: Sequence[ArrayLike | Type],
          precisions: Precisions = None) -> str:  # fmt: skip
    """The label of the first rule that a call breaks by its types, as `conv2d.window`; the empty
    text if it is legal. An input is an array, or its `Type` alone."""
    call = _call(op, attrs, _types_of(inputs, precisions))
    return str(_library().lockstep_check(call), "ascii")


def infer(op: str, attrs: Attributes | None, inputs: Sequence[ArrayLike | Type],
          precisions: Precisions = None) -> list[Type]:  # fmt: skip
    """The outputs' types of a legal call. An input is an array, or its `Type` alone.

    Raises RuleViolation with the label of the first rule that the call breaks."""
    call, outputs = _call(op, attrs, _types_of(inputs, precisions)), ctypes.c_void_p()
    _require(_library().lockstep_infer(call, ctypes.byref(outputs)))
    return _take(outputs, lambda found, _: found)


def evaluate(op: str, attrs: Attributes | None, inputs: Sequence[ArrayLike],
             precisions: Precisions = None) -> list[Int32Array]:  # fmt: skip
    """The one outcome of a call, as arrays of int32: `lockstep.eval("sum", {"axis": 1}, [x])`.

    `inputs` are arrays of integers. Their precision is that of their dtype (int8: 8, int16: 16,
    wider: 32) unless `precisions` gives one for all of them or one for each. `attrs` are integers,
    bools, sequences of integers, None, or text as in models.

    Raises RuleViolation with the label of the first rule that the call breaks."""
    call = _call(op, attrs, _types_of(inputs, precisions))
    arrays, outputs = [_int32(x) for x in inputs], ctypes.c_void_p()
    values = (_INT32 * len(arrays))(*(a.ctypes.data_as(_INT32) for a in arrays))
    _require(_library().lockstep_evaluate(call, values, ctypes.byref(outputs)))
    return _take(outputs, lambda found, at: np.ctypeslib.as_array(at, found.shape).copy())
