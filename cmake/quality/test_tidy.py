#!/usr/bin/env python3
"""Proves that joined units lose no finding of clang-tidy, and that clean ones are known again."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TIDY = pathlib.Path(__file__).with_name("tidy.py")

# Stands in for clang-tidy: a unit, or a source that it includes, is bad if it contains BAD, or if
# it is the second with TWICE; BROKEN does not even compile. HEADER stands for including a bad
# header, where the finding names no unit. Only the rules of the tree find anything.
FAKE = """#!/usr/bin/env python3
import pathlib, re, sys
if "--version" in sys.argv:
    sys.exit(print("fake 1"))
path = pathlib.Path(next(a for a in sys.argv[1:] if a.endswith(".cc")))
with open(pathlib.Path(__file__).with_name("runs"), "a") as runs:
    runs.write(f"{path.name}\\n")
if f"--config-file={pathlib.Path(__file__).with_name('.clang-tidy')}" not in sys.argv:
    sys.exit(0)
found, once = [], False
for name in re.findall(r'#include "(.*[.]cc)"', path.read_text()) or [path]:
    text = pathlib.Path(name).read_text()
    if "BAD" in text:
        found.append(f"{name}:1:5: error: bad")
    if "TWICE" in text and once or "BROKEN" in text:
        found.append(f"{name}:1:5: error: twice [clang-diagnostic-error,-warnings-as-errors]")
    if "HEADER" in text:
        found.append("a.h:1:5: error: bad")
    once = once or "TWICE" in text
print("\\n".join(found))
sys.exit(bool(found))
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name).resolve()
        self.build = self.root / "build"
        self.build.mkdir()
        (self.root / ".clang-tidy").write_text("")
        self.tool = self.root / "fake"
        self.tool.write_text(FAKE)
        self.tool.chmod(0o755)

    def tidy(self, unity=False, **sources):
        """(status, output, units that the tool was run on) over sources of one directory."""
        commands, compiled = [], []
        for name, text in sources.items():
            compiled.append(self.root / f"{name}.cc")
            compiled[-1].write_text(text + "\n")
        if unity:
            (self.build / "Unity").mkdir(exist_ok=True)
            unit = self.build / "Unity" / "unity_0_cxx.cxx"
            unit.write_text("".join(f'#include "{path}"\n' for path in compiled))
            compiled = [unit]
        for path in compiled:
            name = path.stem
            command = f"g++ -std=c++20 -Iinclude -o {name}.o -c {path}"
            commands.append({"directory": str(self.build), "file": str(path), "command": command})
        (self.build / "compile_commands.json").write_text(json.dumps(commands))
        runs = self.root / "runs"
        runs.write_text("")
        command = [sys.executable, TIDY, self.tool, self.root, self.build, "1"]
        run = subprocess.run(command, check=False, capture_output=True, text=True)
        return run.returncode, run.stdout, runs.read_text().split()

    def test_clean_neighbours_take_one_run_and_then_none(self):
        status, output, runs = self.tidy(a="int a;", b="int b;", c="int c;")
        self.assertEqual((status, len(runs)), (0, 1), output)
        status, output, runs = self.tidy(a="int a;", b="int b;", c="int c;")
        self.assertEqual((status, runs), (0, []))
        self.assertIn("3 units, 3 known to be clean, 0 with findings", output)

    def test_only_the_bad_one_is_named(self):
        status, output, runs = self.tidy(a="int a;", b="int BAD;", c="int c;", d="int d;")
        self.assertEqual((status, len(runs)), (1, 3), "for all, b and the others")
        self.assertIn(f"{self.root}/b.cc:", output)
        for clean in "acd":
            self.assertNotIn(f"/{clean}.cc:", output)
        status, output, runs = self.tidy(a="int a;", b="int BAD;", c="int c;", d="int d;")
        self.assertEqual((status, runs), (1, ["b.cc"]), "the others are not known to be clean")

    def test_who_includes_a_bad_header_is_found_by_halves(self):
        status, output, _ = self.tidy(a="int a;", b="int b;", c="int HEADER;", d="int d;")
        self.assertEqual(status, 1)
        self.assertIn(f"{self.root}/c.cc:", output)
        self.assertIn("4 units, 0 known to be clean, 1 with findings", output)

    def test_units_whose_names_collide_are_checked_apart(self):
        hidden = "namespace { int TWICE; }"
        status, output, runs = self.tidy(a=hidden, b="int b;", c=hidden, d="int BAD;")
        self.assertEqual(status, 1)
        self.assertIn(f"{self.root}/d.cc:", output)
        self.assertIn("4 units, 0 known to be clean, 1 with findings", output)
        self.assertEqual(len(runs), 5, "for all; c and d; c; d; a and b")

    def test_units_that_no_clang_compiles_are_each_named(self):
        status, output, _ = self.tidy(a="int BROKEN;", b="int BROKEN;")
        self.assertEqual(status, 1)
        self.assertIn("2 units, 0 known to be clean, 2 with findings", output)

    def test_files_of_one_name_are_not_joined(self):
        (self.root / "sub").mkdir()
        hidden = "namespace { int TWICE; }"
        sources = {"a": hidden, "b": "int b;", "sub/a": hidden}
        status, output, runs = self.tidy(**sources)
        self.assertEqual((status, len(runs)), (0, 2), output)

    def test_units_that_define_the_same_are_not_joined(self):
        for text in ("int TWICE;", "const int TWICE[] = {", "struct TWICE final : Base {",
                     "using TWICE = int;", "void f(int TWICE) {", "TEST(Some, TWICE) {",
                     "int main() {  // TWICE"):  # fmt: skip
            with self.subTest(text):
                status, output, runs = self.tidy(a=text, b="int b;", c=text)
                self.assertEqual((status, len(runs)), (0, 2), output)

    def test_a_changed_unit_is_checked_again(self):
        self.tidy(a="int a;", b="int b;")
        status, _, runs = self.tidy(a="int a;", b="int BAD;")
        self.assertEqual((status, runs), (1, ["b.cc"]))

    def test_a_changed_header_is_a_changed_unit(self):
        headers = self.build / "include"
        headers.mkdir()
        (headers / "far.h").write_text("")
        (headers / "near.h").write_text("#if 0\n# include <far.h>\n#endif\n")
        sources = {"a": '#include "near.h"', "b": "int b;"}
        self.tidy(**sources)
        for change in (headers / "far.h", self.root / "near.h"):
            self.assertEqual(self.tidy(**sources)[2], [])
            change.write_text("int changed;\n")
            self.assertEqual(self.tidy(**sources)[2], ["a.cc"], change)

    def test_sources_that_are_compiled_as_one_are_units_of_their_own(self):
        status, output, _ = self.tidy(unity=True, a="int a;", b="int BAD;", c="int c;")
        self.assertEqual(status, 1)
        self.assertIn(f"{self.root}/b.cc:", output)
        self.assertIn("3 units, 0 known to be clean, 1 with findings", output)

    def test_no_units_are_a_failure(self):
        status, output, _ = self.tidy()
        self.assertEqual((status, output), (1, "0 units, 0 known to be clean, 0 with findings\n"))


if __name__ == "__main__":
    unittest.main()
