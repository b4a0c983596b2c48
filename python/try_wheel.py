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
        importer = work / "tests" / "test_imported.py"
        install = [clean / "bin/python", "-m", "pip", "-q", "--disable-pip-version-check",
                   "install", "--no-index", "--find-links", packages]  # fmt: skip
        test = [clean / "bin/python", "-m", "pytest", "-W", "error", "-p", "no:cacheprovider"]

        def run(*command: str | pathlib.Path) -> None:
            subprocess.run(command, check=True, cwd=work, env=environment)

        run(python, "-m", "venv", clean)
        run(*install, first, "pytest")
        run(*test, "--ignore", importer, work / "tests")
        refused = subprocess.run([clean / "bin/python", "-m", "lockstep.importer"], check=False,
                                 capture_output=True, text=True, env=environment)  # fmt: skip
        assert "pip install onnx" in refused.stderr, refused.stderr
        run(*install, f"{first}[importer]")
        run(*test, importer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
