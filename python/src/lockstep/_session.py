"""Models: inference on NumPy arrays by liblockstep_cvm."""

import contextlib
import ctypes
import functools
import os
import pathlib
import weakref
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from . import _tree
from ._specification import Int32Array, Type, encoded

_OK, _LOGIC = 0, 1
_INT, _UINT, _HOST = 0, 1, 1
_INPUT = -1
_INTEGERS = (*"bBhHiIlLqQnN?c",)  # as struct spells them


class ModelError(ValueError):
    """A model, its parameters, its input or an option is wrong.

    `label` names the rule, as `model.shape`; `path` is the place of the fault in the document, as
    `nodes[12].inputs[1]`. Each is empty where there is none."""

    def __init__(self, message: str, label: str = "", path: str = ""):
        super().__init__(message)
        self.label, self.path = label, path


class _Tensor(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Type(ctypes.Structure):
    _fields_ = [
        ("shape", ctypes.c_int64 * 6),
        ("rank", ctypes.c_int),
        ("precision", ctypes.c_int),
    ]


class _Option(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


@functools.cache
def _library() -> ctypes.CDLL:
    library = _tree.library("cvm")
    pointer, size, text, integer = (
        ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_int)  # fmt: skip
    to_pointer, to_length = ctypes.POINTER(pointer), ctypes.POINTER(ctypes.c_ulonglong)
    for name, arguments in (
        ("CVMArrayBorrow", [ctypes.POINTER(_Tensor), to_pointer]),
        ("CVMArrayFree", [pointer]),
        ("CVMAPIFreeModel", [pointer]),
        ("CVMAPIGetInputLength", [pointer, to_length]),
        ("CVMAPIGetOutputLength", [pointer, to_length]),
        ("CVMAPIInference", [pointer, text, integer, pointer]),
        ("CVMSessionLoad", [text, size, text, size, text, ctypes.POINTER(_Option), size,
                            to_pointer]),
        ("CVMSessionHeadCount", [pointer, ctypes.POINTER(size)]),
        ("CVMSessionType", [pointer, integer, ctypes.POINTER(_Type)]),
        ("CVMSessionRun", [pointer, pointer, to_pointer, size]),
    ):  # fmt: skip
        function = getattr(library, name)
        function.restype, function.argtypes = integer, arguments
    for part in ("", "Label", "Path"):
        getattr(library, "CVMGetLastError" + part).restype = text
    return library


def _failure(part: str = "") -> str:
    return getattr(_library(), "CVMGetLastError" + part)().decode(errors="replace")


def _call(function: str, *arguments: Any) -> None:
    status = getattr(_library(), function)(*arguments)
    if status == _OK:
        return
    if status == _LOGIC:
        raise ModelError(_failure(), _failure("Label"), _failure("Path"))
    raise RuntimeError(_failure())


def _bytes_of(file: pathlib.Path) -> bytes:
    try:
        return file.read_bytes()
    except MemoryError:
        raise RuntimeError(f"reading '{file}': there is too little memory") from None


def _files(model: str | os.PathLike[str] | tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    if isinstance(model, tuple):
        symbol, params = model
        return bytes(symbol), bytes(params)
    directory = pathlib.Path(model)
    return _bytes_of(directory / "symbol.json"), _bytes_of(directory / "params")


@contextlib.contextmanager
def _lent(values: np.ndarray) -> Iterator[ctypes.c_void_p]:
    """A handle over the memory of a compact array."""
    code = _INT if values.dtype.kind == "i" else _UINT
    tensor = _Tensor(values.ctypes.data, _HOST, 0, values.ndim, code, 8 * values.dtype.itemsize, 1,
                     (ctypes.c_int64 * values.ndim)(*values.shape))  # fmt: skip
    handle = ctypes.c_void_p()
    _call("CVMArrayBorrow", tensor, ctypes.byref(handle))
    try:
        yield handle
    finally:
        _call("CVMArrayFree", handle)


class _Head:
    """The memory of a head, which NumPy keeps as the base of every view."""

    def __init__(self, handle: int, shape: tuple[int, ...]):
        # Not at exit: other code may still read the views, and all memory is given back anyway.
        weakref.finalize(self, _call, "CVMArrayFree", handle).atexit = False
        tensor = _Tensor.from_address(handle)
        self.__array_interface__ = {"version": 3, "shape": shape, "typestr": np.dtype(np.int32).str,
                                    "data": (tensor.data + tensor.byte_offset, False)}  # fmt: skip


class Session:
    """A model that is ready to run, on a backend in this process::

        with lockstep.Session("models/digits", backend="cpu", options={"threads": 2}) as session:
            (scores,) = session.run(image)

    `model` is a directory with the files `symbol.json` and `params`, or the bytes of the two.
    `backend` is "reference", "cpu", "cuda" or the path of a library, `options` are those of its
    manifest. Several threads may use one session.

    Raises OSError for files that cannot be read, ModelError for what is wrong with them or with the
    options, and RuntimeError where the backend or the machine fails."""

    def __init__(self, model: str | os.PathLike[str] | tuple[bytes, bytes], backend: str = "cpu",
                 options: Mapping[str, object] | None = None):  # fmt: skip
        self._net = ctypes.c_void_p()
        symbol, params = _files(model)
        chosen = [_Option(encoded(name), encoded(str(value)))
                  for name, value in (options or {}).items()]  # fmt: skip
        _call("CVMSessionLoad", symbol, len(symbol), params, len(params),
              encoded(os.fspath(backend)), (_Option * len(chosen))(*chosen), len(chosen),
              ctypes.byref(self._net))  # fmt: skip
        count = ctypes.c_size_t()
        _call("CVMSessionHeadCount", self._net, ctypes.byref(count))
        #: The type of the input, and those of the heads, the tensors of which the output consists.
        self.input: Type = self._type(_INPUT)
        self.heads: list[Type] = [self._type(k) for k in range(count.value)]

    def _type(self, k: int) -> Type:
        found = _Type()
        _call("CVMSessionType", self._net, k, ctypes.byref(found))
        return Type(tuple(found.shape[: found.rank]), found.precision)

    def run(self, x: ArrayLike) -> list[Int32Array]:
        """The heads, as arrays of int32, for an input of integers of the input's shape, each inside
        its precision.

        An input that is int32, contiguous and in the machine's byte order is read where it lies;
        others are converted first. The results lie where the backend wrote them, each in memory of
        its own, which lives as long as a view of it; they are writable, and NumPy lends them to
        other libraries by DLPack."""
        array = np.asarray(x)
        if array.dtype.kind not in "iub":
            raise TypeError(f"the input holds {array.dtype}, not integers")
        kind = np.dtype(np.int8) if array.dtype.kind == "b" else array.dtype.newbyteorder("=")
        handles = (ctypes.c_void_p * len(self.heads))()
        with _lent(np.require(array, kind, "CA")) as given:
            _call("CVMSessionRun", self._open(), given, handles, len(handles))
        return [np.asarray(_Head(handle, shape))
                for handle, (shape, _) in zip(handles, self.heads, strict=True)]  # fmt: skip

    def infer(self, data: bytes) -> bytes:
        """From input bytes to output bytes: int8 where a precision has at most 8 bits, else
        little-endian int32; values beyond the input's precision are clamped into it. The output
        went through the model's post-processing. Input of another length is a ModelError."""
        given, needed = memoryview(data), self._length("CVMAPIGetInputLength")
        if given.format.lstrip("@=<>!") not in _INTEGERS:
            raise TypeError(f"the input holds '{given.format}', not bytes or integers")
        if given.nbytes != needed:
            raise ModelError(f"the input has {given.nbytes} bytes where the model needs {needed} "
                             "[model.input]", "model.input")  # fmt: skip
        output = ctypes.create_string_buffer(self._length("CVMAPIGetOutputLength"))
        _call("CVMAPIInference", self._open(), bytes(data), needed, output)
        return output.raw

    def _length(self, function: str) -> int:
        length = ctypes.c_ulonglong()
        _call(function, self._open(), ctypes.byref(length))
        return length.value

    def _open(self) -> ctypes.c_void_p:
        if not self._net:
            raise ModelError("the session is closed")
        return self._net

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session can be neither copied nor pickled")

    def close(self) -> None:
        """Frees the model; the session cannot run any more."""
        net, self._net = self._net, ctypes.c_void_p()
        if net:
            _call("CVMAPIFreeModel", net)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_net", None):
            self.close()
