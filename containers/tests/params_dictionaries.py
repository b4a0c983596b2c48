"""Dictionaries of arrays for the tests with NumPy and TVM, and the program that they test."""

import pathlib
import random
import subprocess
import sys
import tempfile

import numpy

DTYPES = ("int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64").split()
CHARACTERS = ("a", "b", "_", "7", ".", ":", " ", "\u00e9", "\u6df1", "\U0001f40d", "w/b")


def draw_name(rng, taken):
    while True:
        name = "".join(rng.choice(CHARACTERS) for _ in range(rng.randrange(6)))
        if name not in taken and name + ".npy" not in taken:
            return name


def draw_array(rng, dtype=None):
    rank = rng.choice((0, 0, 1, 1, 2, 3, 4, 32))
    extents = (0, 1, 1, 2, 3, 4) if rank < 32 else (1, 1, 1, 1, 1, 1, 1, 2)
    shape = tuple(rng.choice(extents) for _ in range(rank))
    dtype = numpy.dtype(dtype or rng.choice(DTYPES)).newbyteorder("<")
    size = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
    return numpy.frombuffer(rng.randbytes(size), dtype=dtype).reshape(shape)


def draw_dictionaries(count):
    """The same in every run; between them they have every type and scalars of every type."""
    rng = random.Random(20)
    yield {dtype: draw_array(rng, dtype) for dtype in DTYPES}
    yield {dtype: numpy.array(rng.randrange(100), dtype=dtype) for dtype in DTYPES}
    yield {}
    for _ in range(count - 3):
        arrays = {}
        for _ in range(rng.randrange(6)):
            arrays[draw_name(rng, arrays)] = draw_array(rng)
        yield arrays


def same(a, b):
    """Whether arrays agree in type, shape and every bit."""
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_dictionaries(a, b):
    return list(a) == list(b) and all(same(a[name], b[name]) for name in a)


class Program:
    """`lockstep params` of one build."""

    def __init__(self, path):
        self.path = path

    def run(self, *words):
        return subprocess.run(
            [self.path, "params", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def convert(self, source, target):
        """The bytes of the file that the program makes of another."""
        done = self.run("convert", source, target)
        assert done.returncode == 0, done.stderr
        return target.read_bytes()

    def refusal(self, source, target):
        """The label with which the program refuses to convert a file; empty if it does not."""
        done = self.run("convert", source, target)
        if done.returncode == 0:
            return ""
        assert done.returncode == 1, done.stderr
        return done.stderr.rsplit("[", 1)[1].split("]")[0]


def run(*parts):
    """Calls each part with the program that the command line names and a folder to write to."""
    with tempfile.TemporaryDirectory() as directory:
        for part in parts:
            part(Program(sys.argv[1]), pathlib.Path(directory))
