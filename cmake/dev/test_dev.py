#!/usr/bin/env python3
"""Proves that ./dev takes every verb in every form that its help and the documents show.

usage: test_dev.py ROOT

A copy of the scripts runs with stand-ins for tools that install, configure, build and test. Each
logs its call and leaves the files that the next step needs.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path()
SHOWN = r"(?:`|^)\./dev\b *([^`\n#&]*?)(?:  |`|$| #| &&)"  # up to what is said of it
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "*/README.md", "docs/*.md")

LOGGED = '#!/bin/bash\necho "${0##*/}" "$@" >>"$CALLED"\n'
DPKG = """#!/bin/bash
sed -n 's/^[a-z]* *\\([a-z0-9+-]*\\) *[a-z]*:.*/installed \\1/p' cmake/dev/needs.txt |
  grep -vx "installed $ABSENT"
"""
CMAKE = LOGGED + """
made() { mkdir -p "${1%/*}"; cp "$STANDINS/program" "$1"; }
case "$1" in
  --preset)
    grep -q "\\"name\\": \\"$2\\"" CMakePresets.json || exit 1
    mkdir -p "build/$2" && touch "build/$2/build.ninja" ;;
  --build)
    [[ $* != *"$BROKEN" ]] || exit 1
    for target in "$@"; do case "$target" in
      runtime | lockstep | lockstep_bench) made "$2/bin/${target/runtime/lockstep}" ;;
      fuzz_*) made "$2/bin/$target" ;;
    esac; done
    echo '[1/1] made' ;;
esac
"""
PROGRAM = LOGGED + 'if [[ $1 == -set_cover_merge=1 ]]; then cp "$4"/* "$3"; fi\n'
PYTHON = LOGGED + 'echo "$3/made.whl" && [[ $3 != *"$BROKEN" ]]\n'
CTEST = LOGGED + """
while (($#)); do [[ $1 == --output-junit ]] && echo "$JUNIT" >"$2"; shift; done
exit "${STATUS:-0}"
"""
JUNIT = '<testsuite\n\ttests="{}"\n\tfailures="{}"\n\tdisabled="{}"\n\tskipped="{}"\n>'


class Dev(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = pathlib.Path(directory.name)
        self.tree, self.standins = self.work / "tree", self.work / "bin"
        self.standins.mkdir()
        for name, text in (("dpkg-query", DPKG), ("apt-get", LOGGED), ("sudo", LOGGED),
                           ("cmake", CMAKE), ("ctest", CTEST), ("program", PROGRAM)):  # fmt: skip
            self.script(self.standins / name, text)
        for name in ("dev", "CMakePresets.json", "cmake/dev/needs.txt", "cmake/peers",
                     "bench/peers", "fuzz", "python"):  # fmt: skip
            to = self.tree / name
            to.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, to)
        for name in ("bench/build_times.sh", "backends/cuda/gpu.sh"):
            self.script(self.tree / name, LOGGED)
        self.variables = {"JUNIT": JUNIT.format(3, 1, 0, 0), "ABSENT": "", "BROKEN": "-"}

    def script(self, path: pathlib.Path, text: str):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def have_peers(self):
        """Provides what ./dev test and ./dev bench would install from the network."""
        python = "/usr/bin/python3" if pathlib.Path("/usr/bin/python3").exists() else "python3"
        version = subprocess.run([python, "--version"], capture_output=True, text=True, check=True)
        lists = {"peers": self.tree / "cmake/peers/requirements.txt",
                 "python": self.tree / "python/requirements.txt"}  # fmt: skip
        for listed in (self.tree / "bench/peers/packages").iterdir():
            lists[f"peer_{listed.stem}"] = listed
        for name, listed in lists.items():
            peers = self.tree / "build" / name
            peers.mkdir(parents=True, exist_ok=True)
            text = version.stdout + listed.read_text(encoding="utf-8")
            (peers / "made_from.txt").write_text(text, encoding="utf-8")
        self.script(self.tree / "build/python/bin/python", PYTHON)

    def dev(self, command: str, status=0, configured=None, **variables):
        """The output of `./dev COMMAND` in a clean folder, and the calls of the stand-ins."""
        shutil.rmtree(self.tree / "build", ignore_errors=True)
        self.have_peers()
        if configured:  # by hand
            (self.tree / "build" / configured).mkdir()
            (self.tree / "build" / configured / "build.ninja").touch()
        called = self.work / "called"
        called.write_text("", encoding="utf-8")
        run = subprocess.run(
            ["bash", "-c", f"./dev {command}"], cwd=self.tree, capture_output=True, text=True,
            check=False, env={"PATH": f"{self.standins}:/usr/bin:/bin", "CALLED": str(called),
                              "STANDINS": str(self.standins), **self.variables, **variables},
        )  # fmt: skip
        said = run.stdout + run.stderr
        self.assertEqual(run.returncode, status, f"./dev {command}\n{said}")
        return said, called.read_text(encoding="utf-8")

    def expect(self, command: str, *calls: str):
        """`./dev COMMAND` must succeed and make all of these calls in this order."""
        called = self.dev(command)[1]
        at = 0
        for call in calls:
            self.assertIn(call, called[at:], f"./dev {command}\n{called}")
            at = called.index(call, at)

    def test_every_verb_is_listed_and_explained(self):
        usage, _ = self.dev("")
        verbs = re.findall(r"^  ([a-z]+) ", usage, re.M)
        self.assertIn("lint", verbs)
        for verb in verbs:
            for option in ("-h", "--help"):
                said, called = self.dev(f"{verb} {option}")
                self.assertRegex(said, rf"\Ausage: \./dev {verb}\b")
                self.assertEqual(called, "", "explaining does nothing")
        for word in ("help", "-h", "--help"):
            self.assertEqual(self.dev(word)[0], usage)
        self.assertIn("there is no verb 'nope'", self.dev("nope", 2)[0])

    def test_build_takes_each_preset_that_its_help_names(self):
        said, _ = self.dev("build -h")
        presets = re.findall(r"\w+", re.search(r"unless named: ([\w\s,]+)\)", said)[1])
        self.assertIn("asan", presets)
        for preset in presets:
            self.expect(f"build {preset}", f"cmake --preset {preset}", f"--build build/{preset}")
        self.expect("build", "cmake --preset release", "--build build/release --target runtime")
        self.assertIn("there is no preset 'nope'", self.dev("build nope", 2)[0])

    def test_check_and_clean(self):
        self.expect("check", "--target lockstep ", "lockstep check cpu", "lockstep model check")
        self.dev("clean")
        self.assertFalse((self.tree / "build").exists())

    def test_tests_are_counted_and_the_sources_are_not_among_them(self):
        self.expect("test", "--target runtime", "-DLOCKSTEP_TESTS=ON", "--build build/release",
                    "ctest --preset release")  # fmt: skip
        self.expect("test -R relu", "ctest --preset release", "-R relu")
        said, called = self.dev("lint")
        self.assertTrue(said.endswith("2 passed, 1 failed\n"), said)
        self.assertIn("ctest --preset lint", called)
        self.assertNotIn("--build", called, "nothing has to be built")
        for target in ("runtime", "build/release"):
            self.assertNotIn("ctest", self.dev("test", 1, BROKEN=target)[1])
        self.expect("lint -R format", "ctest --preset lint", "-R format")

    def test_a_run_of_nothing_fails(self):
        for verb in ("test", "lint"):
            for junit in (JUNIT.format(0, 0, 0, 0), JUNIT.format(2, 0, 2, 0)):
                said, _ = self.dev(verb, 1, JUNIT=junit)
                self.assertIn("\n0 passed, 0 failed\ndev: no test ran\n", said)
            self.dev(verb, 8, STATUS="8")

    def test_bench(self):
        for words in ("", "conv2d", "'dense/*'", "judge", "--backend cpu,null", "--threads 1,2",
                      "limit", "--isa all --threads 1,2", "--markdown now.md", "--json now.json",
                      "--compare OLD.json", "--list"):  # fmt: skip
            self.expect(f"bench {words}", "cmake --preset release -DLOCKSTEP_BENCH=ON",
                        f"lockstep_bench {words}".strip().replace("'", ""))  # fmt: skip
        self.expect("bench relu --build-times", "-B build/times", "build_times.sh build/times",
                    "lockstep_bench relu --times build/release/log/build_times.txt")  # fmt: skip

    def test_fuzz(self):
        said, _ = self.dev("fuzz")
        targets = re.findall(r"^  ([a-z]+) ", said, re.M)
        self.assertIn("canary", targets)
        for target in targets:
            self.expect(f"fuzz {target}", "cmake --preset fuzz", f"--target fuzz_{target} ",
                        f"fuzz_{target} -max_total_time=60")  # fmt: skip
        self.expect("fuzz params --time 2h --seed 7", "fuzz_params -max_total_time=7200 -seed=7")
        self.expect("fuzz params --merge", "fuzz_params -set_cover_merge=1")
        self.assertIn("no fuzz target 'nope'", self.dev("fuzz nope", 2)[0])

    def test_a_tree_that_was_configured_by_hand_is_built(self):
        verbs = {"build": "release", "check": "release", "fuzz params": "fuzz"}
        for command, preset in verbs.items():
            called = self.dev(command, configured=preset)[1]
            self.assertNotIn(f"cmake --preset {preset}", called)
            self.assertIn(f"--build build/{preset}", called)

    def test_docs_and_gpu(self):
        self.expect("docs", "-DLOCKSTEP_DOCS=ON", "--build build/release --target site")
        kit = "gpu.sh kit build/cuda build/gpu-kit"
        self.expect("gpu", "cmake --preset cuda", kit, "gpu.sh run build/gpu-kit build/gpu")
        self.expect("gpu --kit", kit)
        self.assertNotIn("gpu.sh run", self.dev("gpu --kit")[1])

    def test_wheel(self):
        self.expect("wheel", "cmake --preset release", "--target runtime lockstep_cvm",
                    "python python/wheel.py build/release build/wheel")  # fmt: skip
        self.assertIn("the wheel is build/wheel/made.whl\n", self.dev("wheel")[0])
        self.assertNotIn("the wheel is", self.dev("wheel", 1, BROKEN="build/wheel")[0])

    def test_what_is_missing_is_installed(self):
        _, called = self.dev("build", ABSENT="libfmt-dev")
        self.assertRegex(called, r"apt-get .*install .*libfmt-dev\n")
        self.assertNotIn("apt-get", self.dev("build")[1])

    def test_installations_wait_for_each_other(self):
        alone = 'mkdir "$CALLED.busy" && sleep 0.2 && rmdir "$CALLED.busy"\n'
        self.script(self.standins / "apt-get", LOGGED + alone)
        both = self.dev("build & ./dev fuzz params && wait $!", ABSENT="libfmt-dev")[1]
        self.assertEqual(both.count(" install "), 2)

    def test_every_command_that_a_document_shows_runs(self):
        shown = set()
        for pattern in DOCUMENTS:
            for path in sorted(ROOT.glob(pattern)):
                text = path.read_text(encoding="utf-8")
                shown |= set(re.findall(SHOWN, text, re.M))
        self.assertGreater(len(shown), 15, shown)
        for command in sorted(shown):
            self.dev(command)


if __name__ == "__main__":
    ROOT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
