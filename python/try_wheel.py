"""Makes the wheel of a build, installs it in a clean environment, and runs the tests there.

usage: try_wheel.py BUILD WHEELS PYTHON

WHEELS is a folder with the packages of requirements.txt, so that no network is needed.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

import wheel

HERE = pathlib.Path(__file__).resolve().parent


def main() -> int:
    build, packages, python = (pathlib.Path(word).absolute() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="lockstep-wheel-") as directory:
        work = pathlib.Path(directory)
        first, second = (wheel.make(build, work / name) for name in ("first", "second"))
        assert first.name == second.name
        assert first.read_bytes() == second.read_bytes(), "two wheels of one build differ"
        clean = work / "clean"
        environment = {"PATH": f"{clean}/bin:/usr/bin:/bin", "HOME": str(work), "LC_ALL": "C"}
        (work / "tests").mkdir()
        for test in (HERE / "tests").glob("*.py"):  # folders have other needs
            shutil.copy(test, work / "tests")
        for command in (
            [python, "-m", "venv", clean],
            [clean / "bin/python", "-m", "pip", "-q", "--disable-pip-version-check", "install",
             "--no-index", "--find-links", packages, first, "pytest"],
            [clean / "bin/python", "-m", "pytest", "-W", "error", "-p", "no:cacheprovider",
             work / "tests"],
        ):  # fmt: skip
            subprocess.run(command, check=True, cwd=work, env=environment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
