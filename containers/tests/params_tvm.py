#!/usr/bin/env python3
"""Interchange with Apache TVM, in both directions: TVM writes the same bytes, and loads ours.

usage: params_tvm.py PROGRAM
"""

import ml_dtypes
import numpy
import tvm
from params_dictionaries import DTYPES, draw_dictionaries, run, same, same_dictionaries

COUNT = 60


def save(arrays):
    tensors = {name: tvm.runtime.tensor(array) for name, array in arrays.items()}
    return bytes(tvm.runtime.save_param_dict(tensors))


def load(data):
    return {name: t.numpy() for name, t in tvm.runtime.load_param_dict(data).items()}


def loadable(arrays):
    """TVM writes an empty tensor as we do, but loads it only if its first extent is 0."""
    return all(a.size or a.shape[0] == 0 for a in arrays.values())


def both_directions(program, scratch):
    loaded, tensors = 0, 0
    for number, arrays in enumerate(draw_dictionaries(COUNT)):
        theirs = scratch / f"{number}.params"
        theirs.write_bytes(save(arrays))
        again = program.convert(theirs, scratch / "again.params")
        assert again == theirs.read_bytes(), f"{number}: read and written again it differs"
        archive = scratch / "arrays.npz"
        with archive.open("wb") as file:
            numpy.savez(file, **arrays)
        ours = program.convert(archive, scratch / "ours.params")
        assert ours == theirs.read_bytes(), f"{number}: our bytes differ from TVM's"
        tensors += len(arrays)
        if loadable(arrays):
            assert same_dictionaries(load(ours), arrays), f"{number}: TVM loads other values"
            loaded += 1
    files = sorted(scratch.glob("[0-9]*.params"))
    verdict = program.run("verify", *files)
    assert verdict.returncode == 0, verdict.stdout
    assert f"{COUNT} of {COUNT} files valid" in verdict.stdout, verdict.stdout
    assert loaded > COUNT // 2, "hardly anything was loaded"
    print(f"{COUNT} dictionaries of {tensors} tensors: the same bytes, {loaded} loaded by TVM")


def types(program, scratch):
    """TVM accepts all of the format's types, and has some that the format lacks."""
    for dtype in DTYPES:
        array = numpy.ones((2, 1), dtype=dtype)
        assert same(load(save({"x": array}))["x"], array), dtype
    print("TVM refuses none of:", *DTYPES)
    beyond = scratch / "beyond.params"
    for name, array, label in (
        ("bool", numpy.ones(2, dtype=bool), "dtype_code"),
        ("bfloat16", numpy.ones(2, dtype=ml_dtypes.bfloat16), "dtype_code"),
        ("float8_e4m3fn", numpy.ones(2, dtype=ml_dtypes.float8_e4m3fn), "dtype_code"),
        ("33 dimensions", numpy.ones((1,) * 33, dtype="int8"), "ndim"),
    ):
        beyond.write_bytes(save({"x": array}))
        found = program.refusal(beyond, scratch / "refused.params")
        assert found == label, f"{name}: {found or 'accepted'} instead of {label}"
        print(f"of TVM's own, refused: {name} [{found}]")


def empty_tensors(program, scratch):
    """What loadable() says of TVM holds: a version that loads them is a reason to take it out."""
    array = numpy.ones((3, 0), dtype="int8")
    file = scratch / "empty.params"
    file.write_bytes(save({"x": array}))
    assert program.run("verify", file).returncode == 0
    try:
        load(file.read_bytes())
    except tvm.error.InternalError:
        return
    raise AssertionError("TVM loads a tensor of shape (3, 0) now")


if __name__ == "__main__":
    run(both_directions, types, empty_tensors)
