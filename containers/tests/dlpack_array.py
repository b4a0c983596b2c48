"""NDArray as a Python object that speaks DLPack, through the C functions of dlpack_entry.cc."""

import ctypes
import itertools


class DLTensor(ctypes.Structure):
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


class Refused(Exception):
    """What the library answered instead of a result."""


READ, WRITE, AS_OFFERED = 0, 1, -1

_NAMES = {True: b"dltensor_versioned", False: b"dltensor"}
_USED_NAMES = {True: b"used_dltensor_versioned", False: b"used_dltensor"}



def _python(name, result, *arguments):
    """A function of Python's own for capsules."""
    return ctypes.PYFUNCTYPE(result, *arguments)((f"PyCapsule_{name}", ctypes.pythonapi))


_POINTER, _TEXT, _OBJECT = ctypes.c_void_p, ctypes.c_char_p, ctypes.py_object
_capsule_new = _python("New", _OBJECT, _POINTER, _TEXT, _POINTER)
_capsule_is = _python("IsValid", ctypes.c_int, _OBJECT, _TEXT)
_capsule_pointer = _python("GetPointer", _POINTER, _OBJECT, _TEXT)
_capsule_rename = _python("SetName", ctypes.c_int, _OBJECT, _TEXT)

# In a destructor the capsule has no references left, so the code must use its address alone.
_CAPSULE_DESTRUCTOR = ctypes.PYFUNCTYPE(None, _POINTER)
_address_is = _python("IsValid", ctypes.c_int, _POINTER, _TEXT)
_address_pointer = _python("GetPointer", _POINTER, _POINTER, _TEXT)

library = None


def load(path: str) -> None:
    """Loads the library with the entry points."""
    global library
    library = ctypes.CDLL(path)
    pointer, integer = ctypes.c_void_p, ctypes.c_int
    numbers = ctypes.POINTER(ctypes.c_int64)
    for name, result, arguments in [
        ("error_text", ctypes.c_char_p, []),
        ("import_array", pointer, [pointer, integer, integer]),
        ("export_array", pointer, [pointer, integer, integer]),
        ("drop_export", None, [pointer, integer]),
        ("share_array", pointer, [pointer]),
        ("view_array", pointer, [pointer, integer, numbers, numbers, ctypes.c_int64]),
        ("free_array", None, [pointer]),
        ("tensor_of", ctypes.POINTER(DLTensor), [pointer]),
        ("is_read_only", integer, [pointer]),
        ("use_count", integer, [pointer]),
        ("mutable_data_of", pointer, [pointer]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


def _result(pointer):
    if not pointer:
        raise Refused(library.error_text().decode())
    return pointer


def is_versioned(capsule) -> bool:
    return bool(_capsule_is(capsule, _NAMES[True]))


def _drop_unused(versioned: bool):
    name = _NAMES[versioned]

    def destroy(capsule):
        if _address_is(capsule, name):
            library.drop_export(_address_pointer(capsule, name), versioned)

    return _CAPSULE_DESTRUCTOR(destroy)


_DESTRUCTORS = {versioned: _drop_unused(versioned) for versioned in (True, False)}


class Array:
    """Owns an NDArray. As a producer it answers a consumer that asks for version 1 with that, and
    any other with the legacy form; `export_access` is what versioned consumers may do."""

    def __init__(self, handle, export_access=READ):
        self._handle = handle
        self.export_access = export_access

    @classmethod
    def from_capsule(cls, capsule, access=AS_OFFERED):
        versioned = is_versioned(capsule)
        managed = _capsule_pointer(capsule, _NAMES[versioned])
        array = cls(_result(library.import_array(managed, versioned, access)))
        _capsule_rename(capsule, _USED_NAMES[versioned])
        return array

    def __del__(self):
        library.free_array(self._handle)

    def share(self):
        return Array(library.share_array(self._handle), self.export_access)

    def view(self, shape, strides, byte_offset=0):
        numbers = ctypes.c_int64 * len(shape)
        handle = library.view_array(
            self._handle, len(shape), numbers(*shape), numbers(*strides), byte_offset
        )
        return Array(_result(handle), self.export_access)

    @property
    def tensor(self):
        return library.tensor_of(self._handle).contents

    @property
    def shape(self):
        return tuple(self.tensor.shape[: self.tensor.ndim])

    @property
    def strides(self):
        return tuple(self.tensor.strides[: self.tensor.ndim])

    @property
    def address(self):
        return (self.tensor.data or 0) + self.tensor.byte_offset

    @property
    def is_read_only(self):
        return bool(library.is_read_only(self._handle))

    @property
    def use_count(self):
        return library.use_count(self._handle)

    def mutable_data(self):
        return _result(library.mutable_data_of(self._handle))

    def element_bytes(self):
        """The bytes of every element, in row-major order, read by address."""
        width = self.tensor.bits // 8
        return b"".join(
            ctypes.string_at(
                self.address + width * sum(i * s for i, s in zip(index, self.strides)), width
            )
            for index in itertools.product(*map(range, self.shape))
        )

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = max_version is not None and max_version[0] >= 1
        managed = _result(library.export_array(self._handle, versioned, self.export_access))
        return _capsule_new(managed, _NAMES[versioned], _DESTRUCTORS[versioned])

    def __dlpack_device__(self):
        return (self.tensor.device_type, self.tensor.device_id)


class LegacyArray(Array):
    """A producer from before version 1."""

    def __dlpack__(self, stream=None):
        return super().__dlpack__()
