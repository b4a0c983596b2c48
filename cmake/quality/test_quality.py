#!/usr/bin/env python3
"""Proves that every house rule of rules.py can fail, and that clean text passes."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

import layers
import rules
import sources
import test_names

CLEAN = "#pragma once\nint f();\n"


class TestNames(unittest.TestCase):
    def test_bytes_and_empty_lists_fire(self):
        good = "Modes/Kernels.\n  Agree/avx2_1  # GetParam() = avx2_1\n"
        self.assertEqual(list(test_names.problems("p", good)), [])
        bad = good.replace("avx2_1\n", "40-byte object <18-3A>\n")
        self.assertEqual(list(test_names.problems("p", bad)),
                         ["p: Agree/avx2_1  # GetParam() = 40-byte object <18-3A>"])
        self.assertEqual(list(test_names.problems("p", "")), ["p lists no test"])


class Rules(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = pathlib.Path(self.directory.name)

    def problems(self, name: str, text: str):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return rules.check_tree(self.root)[1]

    def test_each_line_rule_fires(self):
        for line, words in (
            ("// na\u00efve", "not ASCII"),
            ("\tint g();", "a tab"),
            ("int g(); ", "trailing white space"),
            ("// " + "x" * 98, "101 columns"),
            ("// FIX" "ME", "an unpaid debt"),
            ('#include "b.h"', "not a path from the root"),
        ):
            with self.subTest(words):
                found = self.problems("spec/a.h", CLEAN + line + "\n")
                self.assertEqual(len(found), 1, found)
                self.assertIn(words, found[0])
                self.assertTrue(found[0].startswith("spec/a.h:3: "), found)

    def test_clean_headers_and_an_include_from_the_root_pass(self):
        self.assertEqual(self.problems("spec/b.h", CLEAN), [])
        self.assertEqual(self.problems("spec/a.h", CLEAN + '#include "spec/b.h"\n'), [])

    def test_include_of_a_layer_above_fires(self):
        for path, included, words in (
            ("conformance/cases/a.h", "conformance/trial/b.h", "a layer above"),
            ("conformance/jsonl/a.h", "conformance/golden/b.h", "or beside"),
            ("spec/a.h", "reference/b.h", "a layer above"),
            ("containers/a.h", "containers/memory/b.h", "a layer above"),
            ("containers/params/a.h", "containers/array/b.h", "a layer above"),
            ("containers/memory/a.h", "containers/layout/b.h", "or beside"),
            ("backends/cpu/a.cc", "reference/b.h", "may not know reference/"),
            ("backends/cpu/a.cc", "containers/array/b.h", "may not know containers/"),
            ("backends/cpu/a.cc", "conformance/base/b.h", "a layer above"),
            ("conformance/cli/a.cc", "conformance/tests/b.h", "is a test's"),
            ("conformance/cli/a.cc", "unknown/b.h", "stands in no layer"),
        ):
            with self.subTest(path=path, included=included):
                self.assertIn(words, layers.upward(path, included) or "")

    def test_include_of_a_layer_below_passes(self):
        for path, included in (
            ("conformance/trial/a.h", "conformance/cases/b.h"),
            ("conformance/trial/properties/a.h", "conformance/trial/b.h"),
            ("backends/reference/a.cc", "reference/b.h"),
            ("containers/array/a.h", "containers/params/b.h"),
            ("reference/graph/a.h", "containers/array/b.h"),
            ("backends/cpu/tests/a.cc", "reference/b.h"),
            ("conformance/tests/a.cc", "conformance/cli/b.h"),
            ("backends/backend.hpp", "backends/backend.h"),
        ):
            with self.subTest(path=path, included=included):
                self.assertIsNone(layers.upward(path, included))

    def test_a_tree_with_an_upward_include_is_refused(self):
        self.problems("reference/b.h", CLEAN)
        found = self.problems("spec/a.h", CLEAN + '#include "reference/b.h"\n')
        self.assertEqual(len(found), 1, found)
        self.assertIn("a layer above", found[0])

    def test_each_file_rule_fires(self):
        for name, text, found in (
            ("a.cc", "\n" * 501, ["a.cc:501: 501 lines, at most 500"]),
            ("a.cc", "int x;", ["a.cc:1: no newline at the end of the file"]),
            ("a.cc", "", []),
            ("a.h", "int f();\n", ["a.h:1: neither #pragma once nor an include guard"]),
            ("a.h", "#ifndef A_H\n#define A_H\n#endif\n", []),
            ("a.py", "def f():\n" + "    x = 1\n" * 70, ["a.py:1: f has 71 lines, at most 70"]),
            ("a.py", "", []),
            ("out/CMakeCache.txt", "", []),
            ("out/a.h", "\t", []),
            ("build/a.h", "\t", []),
        ):
            with self.subTest(name=name, found=found):
                self.assertEqual(self.problems(name, text), found)

    def test_scripts_without_a_suffix_are_read(self):
        self.assertEqual(len(self.problems("run", "#!/bin/sh\n\ttrue\n")), 1)
        self.assertEqual(sources.text_files(self.root), [self.root / "run"])

    def test_shell_scripts_are_found(self):
        for name, text in (
            ("dev", "#!/usr/bin/env bash\n"),
            ("run", "#!/bin/sh\n"),
            ("tool", "#!/usr/bin/env python3\n"),
            ("copy.sh", ""),
            ("sh.py", "#!/bin/sh\n"),
        ):
            (self.root / name).write_text(text, encoding="utf-8")
        names = [path.name for path in sources.shell_files(self.root)]
        self.assertEqual(names, ["copy.sh", "dev", "run"])

    def test_an_empty_tree_is_a_failure(self):
        command = [sys.executable, rules.__file__, str(self.root)]
        run = subprocess.run(command, check=False, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (1, "0 files, 0 violations\n"))


if __name__ == "__main__":
    unittest.main()
