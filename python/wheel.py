"""Makes the wheel of a build: installs the program with the shared libraries that it needs in a
tree of its own, and packs that with the Python package.

usage: wheel.py BUILD OUTPUT

The Python that runs this has the packages of requirements.txt. The C and C++ libraries stay the
machine's own, because a judged backend shares them with the program; auditwheel reads from all the
programs and libraries which ones that takes, and that becomes the wheel's platform.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COMPONENTS = ("lockstep", "libraries")
ANY_LINUX = "linux_"  # what auditwheel says of a wheel that needs more than the C and C++ libraries


def run(*words: object, **more: object) -> str:
    """The standard output of a command, which must succeed."""
    done = subprocess.run(words, check=False, text=True, capture_output=True, **more)
    if done.returncode:
        what = " ".join(map(str, words))
        raise SystemExit(f"wheel.py: failed: {what}\n{done.stdout}{done.stderr}")
    return done.stdout


def install(build: pathlib.Path, tree: pathlib.Path) -> None:
    """Installs the program. A wheel holds no links: a library keeps the name that is loaded."""
    for component in COMPONENTS:
        run("cmake", "--install", build, "--prefix", tree, "--strip", "--component", component)
    for link in (tree / "lib").iterdir():
        if link.is_symlink():
            link.resolve().replace(link)


def pack(tree: pathlib.Path, output: pathlib.Path, platform: str = "") -> pathlib.Path:
    """The wheel of a tree. It is the same for the same tree, whenever it is made."""
    said = {"LOCKSTEP_TREE": str(tree), "LOCKSTEP_PLATFORM": platform}
    environment = {k: v for k, v in os.environ.items() if k != "SOURCE_DATE_EPOCH"}
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", output,
        cwd=HERE, env={**environment, **said})  # fmt: skip
    (wheel,) = output.glob("*.whl")
    return wheel


def platform_of(wheel: pathlib.Path) -> str:
    """The oldest platform that has all that the wheel takes from the machine."""
    found = json.loads(run(sys.executable, "-m", "auditwheel", "show", "--json", wheel))
    if found["overall_tag"].startswith(ANY_LINUX):
        raise SystemExit(f"wheel.py: a machine may lack libraries: {found['external_libs']}")
    return found["overall_tag"]


def make(build: pathlib.Path, output: pathlib.Path) -> pathlib.Path:
    """Makes the wheel of a build in a folder, instead of the one that was there."""
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        install(build, work / "tree")
        platform = platform_of(pack(work / "tree", work / "draft"))
        wheel = pack(work / "tree", work / "wheel", platform)
        output.mkdir(parents=True, exist_ok=True)
        for old in output.glob("*.whl"):
            old.unlink()
        return pathlib.Path(shutil.copy(wheel, output))


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    print(make(*(pathlib.Path(word).resolve() for word in sys.argv[1:])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
