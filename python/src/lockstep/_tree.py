"""The program and the libraries that the wheel carries, as an install tree beside this file."""

import ctypes
import functools
import os
import pathlib
import sys

_BESIDE = pathlib.Path(__file__).with_name("tree")


def tree() -> pathlib.Path:
    """The root of the install tree; the variable LOCKSTEP_TREE names another, or a build."""
    return pathlib.Path(os.environ.get("LOCKSTEP_TREE") or _BESIDE)


def program() -> str:
    """The path of the program `lockstep`."""
    path = tree() / "bin" / "lockstep"
    if not path.is_file():
        raise RuntimeError(f"there is no program {path}; the wheel brings it, see LOCKSTEP_TREE")
    return str(path)


def run_program() -> None:
    """Becomes the program `lockstep`: the console script of that name."""
    os.execv(program(), ["lockstep", *sys.argv[1:]])


@functools.cache
def library(name: str) -> ctypes.CDLL:
    """The shared library liblockstep_NAME."""
    directory = tree() / "lib"
    found = sorted(directory.glob(f"liblockstep_{name}.so*"))
    if not found:
        raise RuntimeError(f"there is no liblockstep_{name}.so in {directory}")
    return ctypes.CDLL(str(found[0]))
