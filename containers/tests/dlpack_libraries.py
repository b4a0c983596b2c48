#!/usr/bin/env python3
"""NDArray beside a library that has tensors of its own: there, there and back, and back again.

usage: dlpack_libraries.py LIBRARY MODULE
"""

import gc
import importlib
import sys
import unittest

import numpy as np

import dlpack_array
from dlpack_array import READ, WRITE, Array

DTYPES = ["int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]
VIEWS = [((2, 3), (3, 1), 0), ((3, 2), (1, 3), 0), ((2, 2), (3, 2), 0), ((2,), (3,), 2)]

peer = None


def make(dtype):
    """An array that may be written to, of 0 to 5. Any NumPy since 1.22 has the form it comes by."""
    numbers = np.arange(6).astype(dtype).reshape(2, 3)
    ours = Array.from_capsule(numbers.__dlpack__(), READ)
    ours.mutable_data()
    ours.export_access = WRITE
    return ours


class Peer(unittest.TestCase):
    def test_values_strides_and_offsets_both_ways(self):
        for dtype in DTYPES:
            width = np.dtype(dtype).itemsize
            for shape, strides, offset in VIEWS:
                with self.subTest(dtype=dtype, shape=shape, strides=strides, offset=offset):
                    ours = make(dtype).view(shape, strides, offset * width)
                    expected = ours.element_bytes()
                    theirs = peer.from_dlpack(ours)
                    self.assertEqual(tuple(theirs.shape), shape)
                    self.assertEqual(np.from_dlpack(theirs).tobytes(), expected)
                    again = Array.from_capsule(theirs.__dlpack__())
                    self.assertEqual(again.shape, shape)
                    self.assertEqual(again.strides, strides)
                    self.assertEqual(again.address, ours.address)

    def test_the_memory_lives_as_long_as_its_last_user(self):
        ours = make("int32")
        theirs = peer.from_dlpack(ours)
        observer = ours.share()
        expected = ours.element_bytes()
        self.assertEqual(observer.use_count, 3)
        del ours
        gc.collect()
        back = Array.from_capsule(theirs.__dlpack__())
        del theirs
        gc.collect()
        self.assertEqual(back.element_bytes(), expected)
        self.assertEqual(observer.use_count, 2)
        del back
        gc.collect()
        self.assertEqual(observer.use_count, 1)


if __name__ == "__main__":
    dlpack_array.load(sys.argv.pop(1))
    peer = importlib.import_module(sys.argv.pop(1))
    unittest.main()
