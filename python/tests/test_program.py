"""The program in the wheel."""

import importlib.metadata
import pathlib

import lockstep
import program
from lockstep import _tree


def test_the_wheel_brings_the_program():
    version = importlib.metadata.version("lockstep-conformance")
    assert version in program.said("--version")
    assert program.run("no_such_verb").returncode == 2
    line = '{"id":1,"op":"relu","attrs":{},"in_prec":[2],"in":[{"shape":[1],"data":[2]}]}\n'
    assert "input.value" in program.said("eval", stdin=line)


def test_it_judges_with_its_own_backends_and_vectors():
    assert "PASS  cpu" in program.said("check", "cpu", "--tier", "0", "--op", "relu")
    assert program.said("vectors", "check")


def test_everything_in_it_is_below_the_package():
    tree = _tree.tree()
    assert tree.is_relative_to(pathlib.Path(lockstep.__file__).parent)
    assert {path.stem for path in (tree / "lib/lockstep").glob("*.so")} >= {"cpu", "reference"}
    assert pathlib.Path(lockstep.__file__).with_name("py.typed").is_file()


def test_a_missing_tree_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("LOCKSTEP_TREE", str(tmp_path))
    for attempt in (_tree.program, lambda: _tree.library("nope")):
        try:
            attempt()
        except RuntimeError as error:
            assert str(tmp_path) in str(error)
        else:
            raise AssertionError("nothing was missing")
