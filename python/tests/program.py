"""The program that the wheel has installed."""

import pathlib
import subprocess
import sys

PROGRAM = pathlib.Path(sys.executable).with_name("lockstep")


def run(*words, **more):
    return subprocess.run([PROGRAM, *words], check=False, capture_output=True, text=True, **more)


def said(*words, stdin=""):
    """The standard output of the program, which must succeed."""
    done = run(*words, input=stdin)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
