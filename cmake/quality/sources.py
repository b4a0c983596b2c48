"""Finds the hand-written files of the project by walking the tree, and runs a tool over them.

usage: sources.py cxx|shell ROOT TOOL [OPTION...]

The list cannot come from git, which a tarball lacks. A build directory is recognized by the
CMakeCache.txt in it.
"""

import pathlib
import re
import subprocess
import sys

CXX_SUFFIXES = {".h", ".hpp", ".cc", ".c", ".cu", ".cuh"}
TEXT_SUFFIXES = CXX_SUFFIXES | {".py", ".cmake", ".in", ".sh"}
TEXT_NAMES = {"CMakeLists.txt", "dev", ".clang-format", ".clang-tidy"}
GENERATED_PARTS = {"build", "__pycache__"}


def walk(root: pathlib.Path):
    """Every file below root outside build directories, in a fixed order."""
    for path in sorted(root.iterdir()):
        if path.is_symlink() or path.name in GENERATED_PARTS or path.name == ".git":
            continue
        if path.is_dir():
            if not (path / "CMakeCache.txt").exists():
                yield from walk(path)
        else:
            yield path


def cxx_files(root: pathlib.Path):
    """C and C++ sources and headers."""
    return [path for path in walk(root) if path.suffix in CXX_SUFFIXES]


def text_files(root: pathlib.Path):
    """The hand-written files that a compiler, CMake or an interpreter reads."""
    return [
        path
        for path in walk(root)
        if path.suffix in TEXT_SUFFIXES or path.name in TEXT_NAMES or is_script(path)
    ]


def shell_files(root: pathlib.Path):
    """Shell scripts, including those that only other scripts source."""
    return [path for path in text_files(root) if path.suffix == ".sh" or is_shell(path)]


def is_shell(path: pathlib.Path) -> bool:
    """Whether a file without a suffix is a shell script."""
    with path.open("rb") as file:
        return not path.suffix and re.match(rb"#!.*\b(ba)?sh\n", file.readline()) is not None


def is_script(path: pathlib.Path) -> bool:
    """Whether a file without a suffix starts like a script."""
    if path.suffix or path.stat().st_size < 2:
        return False
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def main(kind: str, root: str, *command: str) -> int:
    files = {"cxx": cxx_files, "shell": shell_files}[kind](pathlib.Path(root).resolve())
    print(f"{len(files)} files")
    return subprocess.run([*command, *files], check=False).returncode if files else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
