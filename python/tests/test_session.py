"""Models on NumPy arrays: the digits model that the program brings, and faulty ones."""

import concurrent.futures
import copy
import hashlib
import json
import pickle
import struct
import subprocess
import sys

import lockstep
import numpy as np
import pytest
from lockstep import _session, _tree

DIGITS = _tree.tree() / "share/lockstep/models/digits"
EXPECTED = json.loads((DIGITS / "expected.json").read_text())


@pytest.fixture(scope="module")
def images():
    values = np.frombuffer((DIGITS / "images.bin").read_bytes(), np.int8)
    return values.reshape(EXPECTED["images"], -1)


@pytest.fixture(scope="module")
def files():
    return (DIGITS / "symbol.json").read_bytes(), (DIGITS / "params").read_bytes()


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_bytes_become_the_recorded_ones_on_every_backend(images, backend):
    with lockstep.Session(DIGITS, backend) as session:
        outputs = b"".join(session.infer(x.tobytes()) for x in images[:20])
    assert hashlib.sha256(outputs).hexdigest() == EXPECTED["sha256_first_20"]


def test_an_array_of_any_integers_gives_the_heads(images, files):
    with lockstep.Session(files, options={"threads": 2}) as session:
        assert session.input.precision <= 8
        x = images[0].reshape(session.input.shape)
        expected = session.infer(x.tobytes())
        columns, backwards = np.asfortranarray(x), np.ascontiguousarray(x[..., ::-1])[..., ::-1]
        for given in (x, x.astype(np.int64), x.astype(">i2"), columns, backwards, x.tolist()):
            heads = session.run(given)
            assert [(y.shape, y.dtype) for y in heads] == [
                (shape, np.int32) for shape, _ in session.heads]  # fmt: skip
            assert heads[0].tobytes() == expected


def test_heads_are_the_memory_of_the_library_and_outlive_the_session(images):
    with lockstep.Session(DIGITS) as session:
        first, second = (session.run(x.reshape(session.input.shape))[0] for x in images[:2])
        expected = [session.infer(x.tobytes()) for x in images[:2]]
    assert not first.flags.owndata and first.flags.writeable
    lent = np.from_dlpack(first)
    assert np.shares_memory(lent, first)
    first[0, 0] += 1
    assert second.tobytes() == expected[1]
    first[0, 0] -= 1
    part = lent[:, 3:5]
    del first, lent, session
    with lockstep.Session(DIGITS) as other:  # which would write to memory that is free
        others = [other.run(np.zeros(other.input.shape, np.int32))[0] for _ in range(20)]
    assert part.tolist() == np.frombuffer(expected[0], np.int32).reshape(1, -1)[:, 3:5].tolist()
    addresses = {y.ctypes.data for y in [part, second, *others]}
    assert len(addresses) == 22


def test_runs_leave_no_memory_behind(images):
    with lockstep.Session(DIGITS) as session:
        x = images[0].reshape(session.input.shape)
        addresses = {session.run(x)[0].ctypes.data for _ in range(100)}
        assert len(addresses) < 100


def test_an_input_of_int32_is_read_in_place(images, monkeypatch):
    lent = []
    call = _session._call

    def watched(function, *arguments):
        if function == "CVMArrayBorrow":
            lent.append(arguments[0].data)
        call(function, *arguments)

    monkeypatch.setattr(_session, "_call", watched)
    with lockstep.Session(DIGITS) as session:
        x = images[0].reshape(session.input.shape).astype(np.int32)
        x.flags.writeable = False
        unaligned = np.frombuffer(b"?" + x.tobytes(), np.int32, offset=1).reshape(x.shape)
        heads = [session.run(given)[0].tolist() for given in (x, unaligned, x.swapaxes(2, 3))]
    assert lent[0] == x.ctypes.data
    assert lent[1] != unaligned.ctypes.data
    assert heads[0] == heads[1] != heads[2]


def test_threads_may_share_a_session(images):
    with lockstep.Session(DIGITS) as session, concurrent.futures.ThreadPoolExecutor(4) as pool:
        one_by_one = [session.infer(x.tobytes()) for x in images[:40]]
        assert list(pool.map(session.infer, (x.tobytes() for x in images[:40]))) == one_by_one


def test_a_faulty_model_is_named_with_its_place(files):
    symbol, params = json.loads(files[0]), files[1]
    symbol["nodes"][3]["inputs"][0][0] = 99
    with pytest.raises(lockstep.ModelError) as raised:
        lockstep.Session((json.dumps(symbol).encode(), params))
    assert (raised.value.label, raised.value.path) == ("model.reference", "nodes[3].inputs[0]")
    assert isinstance(raised.value, ValueError)
    with pytest.raises(lockstep.ModelError) as raised:
        lockstep.Session((b"{", params))
    assert raised.value.label == "model.json"
    with pytest.raises(lockstep.ModelError) as raised:
        lockstep.Session((files[0], params + b"abc"))
    assert (raised.value.label, raised.value.path) == ("model.params", "params")
    with pytest.raises(lockstep.ModelError) as raised:
        lockstep.Session((files[0], params[:-1]))
    assert (raised.value.label, raised.value.path) == ("model.params", "params.dense2_bias")


def test_a_place_is_told_whatever_names_it_holds(files):
    symbol = json.loads(files[0])
    node = next(n for n in symbol["nodes"] if n["op"] == "null" and n["name"] != "data")
    node["name"] = "conv 1: weight"
    with pytest.raises(lockstep.ModelError) as raised:
        lockstep.Session((json.dumps(symbol).encode(), files[1]))
    error = pickle.loads(pickle.dumps(raised.value))
    assert (error.label, error.path) == ("model.params", "params.conv 1: weight")


def test_a_wrong_input_is_named(images):
    with lockstep.Session(DIGITS) as session:
        x = images[0].reshape(session.input.shape)
        with pytest.raises(lockstep.ModelError) as raised:
            session.run(x.ravel())
        assert raised.value.label == "model.input"
        with pytest.raises(lockstep.ModelError) as raised:
            session.run(x.astype(int) + 2**20)
        assert (raised.value.label, raised.value.path) == ("input.value", "data[0][0][0][0]")
        with pytest.raises(lockstep.ModelError, match=r"model\.input"):
            session.infer(b"short")
        with pytest.raises(TypeError, match="float64"):
            session.run(x / 2)
        assert session.run(x)


def test_the_length_of_an_input_counts_in_bytes(images):
    with lockstep.Session(DIGITS) as session:
        x = images[0]
        for given in (x.astype(np.int32), x[:16], bytes(65), b""):
            with pytest.raises(lockstep.ModelError) as raised:
                session.infer(given)
            assert raised.value.label == "model.input"
            assert f" {memoryview(given).nbytes} bytes" in str(raised.value)
            assert "needs 64 " in str(raised.value)
        for given in (np.zeros(8), np.array([None] * 8), np.zeros(16, np.float32)):
            with pytest.raises(TypeError, match="not bytes or integers"):
                session.infer(given)
        for given in (64, x.tolist(), "0" * 64):
            with pytest.raises(TypeError, match="bytes-like"):
                session.infer(given)
        for given in (x, bytearray(x), memoryview(x)):
            assert session.infer(given) == session.infer(x.tobytes())


def test_what_cannot_be_opened_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"symbol\.json"):
        lockstep.Session(tmp_path)
    with pytest.raises(lockstep.ModelError, match="nope"):
        lockstep.Session(DIGITS, "nope")
    with pytest.raises(lockstep.ModelError, match="nope"):
        lockstep.Session(DIGITS, options={"nope": 1})


LARGE = """
import pathlib, resource, sys
import lockstep
from lockstep import _session

model, room, in_memory = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "bytes"
_session._library()
given = model
if in_memory:
    given = (model / "symbol.json").read_bytes(), (model / "params").read_bytes()
pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + room
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    print("heads of", lockstep.Session(given, "reference").heads[0].shape)
except RuntimeError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def large_model(tmp_path_factory):
    """A directory with a model that has 32 MiB of parameters."""
    directory = tmp_path_factory.mktemp("large")
    shapes = [[1, 4096], [8192, 4096], [1, 8192]]
    nodes = [{"op": "null", "name": name, "inputs": []} for name in ("data", "w")] + [
        {"op": "cvm_op", "name": "y", "inputs": [[0, 0, 0], [1, 0, 0]],
         "attrs": {"func_name": "dense", "num_inputs": "2", "num_outputs": "1",
                   "flatten_data": "0"}}]  # fmt: skip
    options = ["{}", "{}", json.dumps({"units": "8192", "use_bias": "False"})]
    attrs = {"storage_id": ["list_int", [0, 1, 2]], "shape": ["list_shape", shapes],
             "op_attrs": ["list_str", options], "precision": ["list_int", [8, 8, -1]]}  # fmt: skip
    (directory / "symbol.json").write_text(
        json.dumps({"nodes": nodes, "heads": [[2, 0, 0]], "attrs": attrs, "version": "cvm_1.1.0"}))
    size = 8192 * 4096
    head = struct.pack("<4Qc", 0xF7E58D4F05049CB7, 0, 1, 1, b"w") + struct.pack(
        "<3Q2iiBBHqqq", 1, 0xDD5E40F096B4A13F, 0, 1, 0, 2, 0, 8, 1, 8192, 4096, size)
    (directory / "params").write_bytes(head + bytes(size))
    return directory


@pytest.mark.parametrize("given", ["directory", "bytes"])
def test_a_lack_of_memory_names_the_file(large_model, given):
    def said(room):
        done = subprocess.run([sys.executable, "-c", LARGE, large_model, str(room), given],
                              check=False, capture_output=True, text=True)  # fmt: skip
        assert done.stdout, done.stderr
        return done.stdout

    assert said(1 << 30) == "heads of (1, 8192)\n"
    file = "params" if given == "bytes" else large_model / "params"
    assert said(1 << 24).startswith(f"reading '{file}': ")
    assert "memory" in said(1 << 24)


def test_a_closed_session_does_not_run(images):
    session = lockstep.Session(DIGITS)
    session.close()
    session.close()
    for call in (session.infer, session.run):
        with pytest.raises(lockstep.ModelError, match="the session is closed"):
            call(images[0].reshape(session.input.shape))


def test_a_session_has_one_owner():
    with lockstep.Session(DIGITS) as session:
        for twin in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="neither copied nor pickled"):
                twin(session)
