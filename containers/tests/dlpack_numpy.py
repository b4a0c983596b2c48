#!/usr/bin/env python3
"""NDArray beside NumPy: values, strides, offsets, lifetimes, read-only memory and refusals, in both
directions and both forms of DLPack.

usage: dlpack_numpy.py LIBRARY
"""

import gc
import sys
import unittest
import weakref

import numpy as np

import dlpack_array
from dlpack_array import READ, WRITE, Array, LegacyArray, Refused

DTYPES = [
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
]


def counting(shape, dtype="int32"):
    return np.arange(np.prod(shape, dtype=int)).astype(dtype).reshape(shape)


def capsule_of(array, versioned=True):
    return array.__dlpack__(max_version=(1, 0)) if versioned else array.__dlpack__()


def layouts(array):
    """(name, view) of a 4 x 6 array, none of which steps backward."""
    yield "compact", array
    yield "transposed", array.T
    yield "every second", array[::2, 1::3]
    yield "inner part", array[1:3, 2:5]
    yield "column", array[:, 4]
    yield "one element", array[2, 3, ...]
    yield "extents of one", array[1:2, 3:4]
    yield "empty", array[2:2]
    yield "new axes", array[:, None, :, None]


class Import(unittest.TestCase):
    def check(self, ours, theirs):
        self.assertEqual(ours.shape, theirs.shape)
        self.assertEqual(ours.element_bytes(), theirs.tobytes())
        if theirs.size:
            self.assertEqual(ours.address, theirs.ctypes.data)
        for axis, extent in enumerate(theirs.shape):
            if extent > 1:
                self.assertEqual(ours.strides[axis] * theirs.itemsize, theirs.strides[axis])

    def test_every_dtype_and_layout_both_ways(self):
        for dtype in DTYPES:
            for name, view in layouts(counting((4, 6), dtype)):
                for versioned in (True, False):
                    with self.subTest(dtype=dtype, layout=name, versioned=versioned):
                        ours = Array.from_capsule(capsule_of(view, versioned))
                        self.check(ours, view)
                        self.assertEqual(ours.is_read_only, not versioned)
                        back = np.from_dlpack(ours)
                        self.assertEqual(back.dtype, view.dtype)
                        self.check(Array.from_capsule(capsule_of(back)), view)

    def test_memory_is_shared(self):
        theirs = counting((2, 3))
        ours = Array.from_capsule(capsule_of(theirs))
        theirs[1, 2] = 99
        self.assertEqual(ours.element_bytes(), theirs.tobytes())

    def test_unaligned_memory(self):
        memory = np.zeros(4 * 6 + 1, dtype="uint8")
        theirs = memory[1:].view("int32")
        theirs[:] = range(6)
        self.assertFalse(theirs.flags.aligned)
        self.check(Array.from_capsule(capsule_of(theirs)), theirs)

    def test_read_only_memory_says_so(self):
        theirs = counting((2, 3))
        theirs.flags.writeable = False
        self.assertTrue(Array.from_capsule(capsule_of(theirs)).is_read_only)
        with self.assertRaisesRegex(Refused, "cannot be written to: its producer forbids it"):
            Array.from_capsule(capsule_of(theirs), WRITE)
        ours = Array.from_capsule(capsule_of(theirs))
        self.assertNotEqual(ours.mutable_data(), theirs.ctypes.data)
        self.assertEqual(ours.element_bytes(), theirs.tobytes())

    def test_writing_where_it_is_offered(self):
        theirs = counting((2, 3))
        for view in (theirs, theirs.T, theirs[:, ::2], theirs[1]):
            for versioned in (True, False):
                ours = Array.from_capsule(capsule_of(view, versioned), WRITE)
                self.assertFalse(ours.is_read_only)
                self.assertEqual(ours.mutable_data(), view.ctypes.data)
        ours = Array.from_capsule(capsule_of(theirs), READ)
        self.assertNotEqual(ours.mutable_data(), theirs.ctypes.data)

    def test_elements_that_share_memory_are_only_read(self):
        for strides in [(0, 4), (4, 4), (8, 4)]:
            memory = counting((9,))
            theirs = np.lib.stride_tricks.as_strided(memory, (3, 3), strides)
            for versioned in (True, False):
                with self.subTest(strides=strides, versioned=versioned):
                    ours = Array.from_capsule(capsule_of(theirs, versioned))
                    self.check(ours, theirs)
                    self.assertTrue(ours.is_read_only)
                    with self.assertRaisesRegex(Refused, "its elements share memory"):
                        Array.from_capsule(capsule_of(theirs, versioned), WRITE)

    def test_refusals_leave_the_capsule_to_its_owner(self):
        for theirs, text in [
            (counting((4,))[::-1], "stride -1 along axis 0"),
            (counting((2, 3))[:, ::-2], "stride -2 along axis 1"),
            (np.zeros(3, dtype=bool), "type code 6, 8 bits and 1 lanes, which is no element type"),
            (np.zeros(3, dtype="complex64"), "type code 5, 64 bits and 1 lanes"),
        ]:
            for versioned in (True, False):
                with self.subTest(text=text, versioned=versioned):
                    capsule = capsule_of(theirs, versioned)
                    with self.assertRaisesRegex(Refused, text):
                        Array.from_capsule(capsule)
                    before = sys.getrefcount(theirs)
                    del capsule
                    self.assertEqual(sys.getrefcount(theirs), before - 1)

    def test_the_producer_lives_as_long_as_the_last_array(self):
        for versioned in (True, False):
            with self.subTest(versioned=versioned):
                theirs = counting((2, 3))
                expected = theirs.tobytes()
                alive = weakref.ref(theirs)
                ours = Array.from_capsule(capsule_of(theirs, versioned))
                del theirs
                gc.collect()
                column = ours.view((2,), (3,), 8)
                sharer = ours.share()
                del ours
                self.assertIsNotNone(alive())
                self.assertEqual(sharer.element_bytes(), expected)
                del sharer
                self.assertIsNotNone(alive())
                self.assertEqual(column.element_bytes(), expected[8:12] + expected[20:24])
                del column
                self.assertIsNone(alive())


class Export(unittest.TestCase):
    def make(self, shape=(4, 6), kind=Array):
        """An array whose memory nobody else has."""
        ours = kind.from_capsule(capsule_of(counting(shape)), READ)
        ours.mutable_data()
        return ours

    def test_values_strides_and_offsets(self):
        ours = self.make()
        for shape, strides, offset in [
            ((4, 6), (6, 1), 0),
            ((6, 4), (1, 6), 0),
            ((2, 2), (12, 3), 4),
            ((3,), (6,), 20),
            ((), (), 36),
            ((0, 6), (6, 1), 0),
            ((4, 5), (0, 1), 8),
        ]:
            with self.subTest(shape=shape, strides=strides, offset=offset):
                view = ours.view(shape, strides, offset)
                theirs = np.from_dlpack(view)
                self.assertEqual(theirs.shape, shape)
                self.assertEqual(theirs.tobytes(), view.element_bytes())
                if theirs.size:
                    self.assertEqual(theirs.ctypes.data, view.address)
                    self.assertEqual(theirs.strides, tuple(4 * s for s in strides))

    def test_access_is_what_was_granted(self):
        ours = self.make()
        theirs = np.from_dlpack(ours)
        self.assertFalse(theirs.flags.writeable)
        ours.export_access = WRITE
        del theirs
        theirs = np.from_dlpack(ours)
        self.assertTrue(theirs.flags.writeable)
        theirs[3, 5] = -1
        self.assertEqual(ours.element_bytes()[-4:], b"\xff" * 4)

    def test_legacy_consumers_never_get_read_only_memory(self):
        ours = self.make(kind=LegacyArray)
        theirs = np.from_dlpack(ours)
        self.assertEqual(theirs.tobytes(), ours.element_bytes())
        read_only = LegacyArray.from_capsule(capsule_of(counting((2, 3))), READ)
        with self.assertRaisesRegex(Refused, "a read-only array cannot be lent to be written to"):
            np.from_dlpack(read_only)

    def test_the_memory_lives_as_long_as_its_last_user(self):
        for kind in (Array, LegacyArray):
            with self.subTest(kind=kind.__name__):
                ours = self.make(kind=kind)
                observer = ours.share() if kind is Array else None
                expected = ours.element_bytes()
                theirs = np.from_dlpack(ours)
                del ours
                gc.collect()
                self.assertEqual(theirs.tobytes(), expected)
                if observer:
                    self.assertEqual(observer.use_count, 2)
                    del theirs
                    self.assertEqual(observer.use_count, 1)

    def test_capsules_that_nobody_takes_end(self):
        ours = self.make()
        ours.export_access = READ
        capsule = capsule_of(ours)
        self.assertEqual(ours.use_count, 2)
        del capsule
        self.assertEqual(ours.use_count, 1)
        capsule = capsule_of(ours, versioned=False)
        self.assertEqual(ours.use_count, 2)
        del capsule
        self.assertEqual(ours.use_count, 1)


if __name__ == "__main__":
    dlpack_array.load(sys.argv.pop(1))
    unittest.main()
