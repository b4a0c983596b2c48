#!/usr/bin/env python3
"""Archives and NumPy, in both directions: NumPy reads ours, we read NumPy's, and the program
refuses other archives by name.

usage: params_numpy.py PROGRAM
"""

import io
import struct
import zipfile

import numpy
from params_dictionaries import draw_dictionaries, run, same, same_dictionaries

COUNT = 40


def written(path, arrays, save=numpy.savez):
    with path.open("wb") as file:
        save(file, **arrays)
    return path


def loaded(path):
    with numpy.load(path, allow_pickle=False) as archive:
        return {name: archive[name] for name in archive}


def both_directions(program, scratch):
    """NumPy's archives and ours hold the same; each member of ours is what numpy.save writes."""
    for number, arrays in enumerate(draw_dictionaries(COUNT)):
        params = scratch / "arrays.params"
        first = program.convert(written(scratch / "theirs.npz", arrays), params)
        small = written(scratch / "small.npz", arrays, numpy.savez_compressed)
        assert program.convert(small, params) == first, f"{number}: deflated it is another file"
        ours = scratch / "ours.npz"
        program.convert(params, ours)
        assert same_dictionaries(loaded(ours), arrays), f"{number}: NumPy loads other values"
        with zipfile.ZipFile(ours) as archive:
            assert archive.testzip() is None, number
            for name, array in arrays.items():
                one = io.BytesIO()
                numpy.save(one, array)
                assert archive.read(name + ".npy") == one.getvalue(), f"{number}: {name}"
        assert program.convert(ours, params) == first, f"{number}: there and back it is another"
    print(f"{COUNT} dictionaries both ways")


def orders(program, scratch):
    """Fortran order and big-endian elements arrive as the same array in ours."""
    array = numpy.arange(24, dtype="<i4").reshape(2, 3, 4)
    for other in (numpy.asfortranarray(array), array.astype(">i4"),
                  numpy.asfortranarray(array.astype(">i4")), array[:, ::1, :]):
        back = scratch / "back.npz"
        params = scratch / "order.params"
        program.convert(written(scratch / "order.npz", {"x": other}), params)
        program.convert(params, back)
        assert same(loaded(back)["x"], array)


class Pipe(io.RawIOBase):
    """A stream that cannot go back: zipfile puts sizes and checksums behind the data."""

    def __init__(self):
        super().__init__()
        self.data = b""

    def writable(self):
        return True

    def write(self, data):
        self.data += bytes(data)
        return len(data)


def other_writers(program, scratch):
    """What zip has in other ways: sizes behind the data, comments, 64-bit ends."""
    array = numpy.arange(5, dtype="<u2")
    pipe = Pipe()
    numpy.savez(pipe, x=array)
    streamed = scratch / "streamed.npz"
    streamed.write_bytes(pipe.data)
    commented = written(scratch / "commented.npz", {"x": array})
    with zipfile.ZipFile(commented, "a") as archive:
        archive.comment = b"PK\x05\x06 and more than an end takes"
    for path in (streamed, commented):
        back = scratch / "back.npz"
        program.convert(path, back)
        assert same(loaded(back)["x"], array), path.name
    count = 0x10000
    header = struct.pack("<QQQ", 0xF7E58D4F05049CB7, 0, count)
    names = b"".join(struct.pack("<Q", len(str(i))) + str(i).encode() for i in range(count))
    record = struct.pack("<QQiiiBBHqb", 0xDD5E40F096B4A13F, 0, 1, 0, 0, 0, 8, 1, 1, 7)
    many = scratch / "many.params"
    many.write_bytes(header + names + struct.pack("<Q", count) + record * count)
    program.convert(many, scratch / "many.npz")
    with zipfile.ZipFile(scratch / "many.npz") as archive:
        assert archive.namelist() == [f"{i}.npy" for i in range(count)]


def refusals(program, scratch):
    """Arrays that a parameter file cannot hold, and archives that are not NumPy's."""
    arrays = {
        "npy_dtype": [
            numpy.ones(2, dtype=bool), numpy.ones(2, dtype="c8"), numpy.array(["text"]),
            numpy.array([b"text"]), numpy.array(["2026-01-01"], dtype="M8[D]"),
            numpy.ones(2, dtype=numpy.longdouble)],
        "npy_object": [numpy.array([{}, None], dtype=object)],
        "npy_structure": [numpy.ones(2, dtype="i4,f4"), numpy.zeros(2, dtype="V3")],
        "ndim": [numpy.ones((1,) * 33)],
    }
    paths = []
    for label, faulty in arrays.items():
        for array in faulty:
            paths.append((label, written(scratch / f"{len(paths)}.npz", {"x": array})))
    for label, compression in (("zip_method", zipfile.ZIP_BZIP2), ("zip_method", zipfile.ZIP_LZMA)):
        path = scratch / f"{len(paths)}.npz"
        with zipfile.ZipFile(path, "w", compression) as archive:
            archive.writestr("x.npy", b"x" * 100)
        paths.append((label, path))
    for label, name in (("npz_member", "x.txt"), ("npz_member", "folder/")):
        path = scratch / f"{len(paths)}.npz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(name, b"")
        paths.append((label, path))
    for label, path in paths:
        found = program.refusal(path, scratch / "refused.params")
        assert found == label, f"{path.name}: {found or 'accepted'} instead of {label}"
    print(f"{len(paths)} archives refused by name")


def names(program, scratch):
    """Names that NumPy gives back are written; the one pair that it confuses is not."""
    one, two = numpy.int8(1), numpy.int8(2)
    arrays = {name: numpy.array(i, dtype="int8") for i, name in enumerate(
        ("", ".", "..", "W", "w", "a/b", "x.npy", "line\nfeed", "k" * 65531))}
    params, ours = scratch / "names.params", scratch / "names.npz"
    program.convert(written(scratch / "theirs.npz", arrays), params)
    program.convert(params, ours)
    assert same_dictionaries(loaded(ours), arrays)
    pair = written(scratch / "pair.npz", {"a": one, "a.npy": two})
    assert loaded(pair)["a.npy"] == 1, "NumPy tells a from a.npy now"
    program.convert(pair, params)
    assert program.refusal(params, scratch / "refused.npz") == "npz_ambiguous"


if __name__ == "__main__":
    run(both_directions, orders, other_writers, refusals, names)
