#!/usr/bin/env python3
"""Runs the steps of ci/action.yml as GitHub runs a composite action.

usage: action_test.py BUILD
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    print("SKIPPED: no yaml (Debian: python3-yaml)")
    sys.exit(0)

BUILD = pathlib.Path(sys.argv.pop()).resolve()
ACTION = pathlib.Path(__file__).resolve().parents[1]
INPUT = re.compile(r"\$\{\{ inputs\.(\w+) \}\}")


class Action:
    """A run of the action with the inputs of a workflow."""

    def __init__(self, **given):
        action = yaml.safe_load((ACTION / "action.yml").read_text(encoding="ascii"))
        unknown = given.keys() - action["inputs"].keys()
        assert not unknown, f"the action has no input {unknown}"
        inputs = {name: given.get(name, i.get("default")) for name, i in action["inputs"].items()}
        missing = [name for name, value in inputs.items() if value is None]
        assert not missing, f"inputs {missing} are required"
        (step,) = action["runs"]["steps"]
        with tempfile.TemporaryDirectory() as directory:
            self.place = pathlib.Path(directory)
            self.done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=directory, env=self.environment(step["env"], inputs), check=False,
                capture_output=True, text=True)  # fmt: skip
            self.files = {
                str(path.relative_to(self.place)): path.read_text(encoding="ascii")
                for path in self.place.rglob("*") if path.is_file()
            }  # fmt: skip
        said = dict(line.split("=", 1) for line in self.files.get("output", "").splitlines())
        values = {name: o["value"] for name, o in action["outputs"].items()}
        self.outputs = {
            name: said[re.fullmatch(rf"\$\{{\{{ steps\.{step['id']}\.outputs\.(\w+) \}}\}}", v)[1]]
            for name, v in values.items()
        }

    def environment(self, step: dict, inputs: dict) -> dict:
        """The environment of a step: GitHub's own variables, and the inputs that the step takes."""
        mine = {key: INPUT.sub(lambda m: inputs[m[1]], text) for key, text in step.items()}
        return {
            "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(ACTION),
            "GITHUB_OUTPUT": str(self.place / "output"),
            "GITHUB_STEP_SUMMARY": str(self.place / "page"),
            **mine,
        }


class ActionTest(unittest.TestCase):
    """The action as a workflow sees it."""

    def test_passes_a_backend_that_passes(self):
        run = Action(backend=str(BUILD / "examples" / "relu_backend.so"), tier="0",
                     arguments="--op relu --quiet")  # fmt: skip
        self.assertEqual(run.done.returncode, 0, run.done.stderr)
        self.assertEqual(run.outputs, {"verdict": "PASS", "exit": "0"})
        report = json.loads(run.files["lockstep-reports/report.json"])
        self.assertEqual(report["verdict"], "PASS")
        self.assertIn("<testsuites", run.files["lockstep-reports/junit.xml"])
        self.assertIn("## Lockstep: PASS\n\n    PASS  mine 1.0", run.files["page"])

    def test_fails_with_the_exit_code_and_shows_why(self):
        run = Action(backend="faulty", tier="0", reports="out", arguments="--op relu\n"
                     "--set mutant=relu.int8\n--property matches_reference\n")
        self.assertEqual(run.done.returncode, 1, run.done.stderr)
        self.assertEqual(run.outputs, {"verdict": "FAIL", "exit": "1"})
        self.assertIn("    relu violates matches_reference", run.files["page"])
        self.assertIn("FAIL", run.files["out/summary.txt"])

    def test_says_so_where_there_is_no_verdict(self):
        run = Action(backend="/nowhere/nothing.so")
        self.assertEqual(run.done.returncode, 2)
        self.assertEqual(run.outputs, {"verdict": "", "exit": "2"})
        self.assertIn("## Lockstep: no verdict", run.files["page"])
        self.assertIn("no file '/nowhere/nothing.so'", run.done.stderr)

    def test_needs_a_backend(self):
        with self.assertRaisesRegex(AssertionError, "backend.* are required"):
            Action(tier="0")
        alone = subprocess.run(
            [ACTION / "judge.sh"], env={"PATH": os.environ["PATH"]}, check=False,
            capture_output=True, text=True)  # fmt: skip
        self.assertEqual(alone.returncode, 2)
        self.assertIn("LOCKSTEP_BACKEND is not set", alone.stderr)


if __name__ == "__main__":
    unittest.main()
