#!/usr/bin/env python3
"""Pages whose commands are run, and what they refuse."""

import pathlib
import re
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "generator"))

import refusal  # noqa: E402
import session  # noqa: E402


class Sessions(unittest.TestCase):
    def run_page(self, text: str) -> session.Page:
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name in ("sources", "build"):
                (root / name).mkdir()
            (root / "page.md").write_text(textwrap.dedent(text), encoding="ascii")
            page = session.Page(root / "page.md", root / "sources")
            page.run(root / "sources", root / "build")
            return page

    def test_shows_what_commands_print(self):
        page = self.run_page("""\
            Before.
            ```file a.cc
            int a;
            ```
            ```run
            $ cat a.cc; cd
            $ x=1; echo 'two
            > lines'
            ~ lines
            ```
            ```run
            $ ls; echo $x; false
            = 1
            ```
            """)
        text = page.rendered()
        for part in ("Before.", ":caption: a.cc", "$ cat a.cc; cd\nint a;\n", "> lines'\ntwo\n",
                     "false\nlockstep\n1"):  # fmt: skip
            self.assertIn(part, text)
        self.assertNotIn("~", text)
        self.assertNotIn("= 1", text)

    def test_shows_the_home_of_the_reader_and_no_directory_of_the_machine(self):
        page = self.run_page("```run\n$ cd; pwd; echo $HOME/known.toml\n```\n")
        self.assertIn("\n~\n~/known.toml\n", page.rendered())

    def test_keeps_fences_that_commands_print_as_text(self):
        page = self.run_page("""\
            ```run
            $ printf '```text\\n### no heading\\n```\\n'
            ```
            After.""")
        lines = page.rendered().splitlines()
        self.assertEqual("````console", lines[0])
        self.assertEqual(["```text", "### no heading", "```", "````", "After."], lines[2:])

    def test_refuses_a_broken_promise(self):
        for body, why in (
            ("$ false", "promised status 0, ended with 1"),
            ("$ true\n= 1", "promised status 1, ended with 0"),
            ("$ echo no\n~ yes", "promised to print: yes"),
            ("$ exit 0\n$ true", "the shell ended early"),
            ("echo no dollar", "begins with"),
        ):
            with self.subTest(body), self.assertRaisesRegex(refusal.Refused, why):
                self.run_page(f"```run\n{body}\n```\n")

    def test_holds_the_numbers_of_the_prose_to_the_runs_beside_it(self):
        run = "```run\n$ echo seen 32258, got 25\n```\n"
        captured = "```\n$ echo \\\n    4711\n32258\n25\n```\n"
        for shown in (run, captured):
            page = self.run_page(f"It is {{printed}}`25` of 32258.\n{shown}# On\nThen 1234.\n")
            self.assertIn("It is 25 of 32258.\n", page.rendered())
            for prose, fault in (
                ("It is {printed}`26`.", "26"), ("It is {printed}`5`.", "5"),
                ("It is {printed}`-25`.", "-25"), ("It is {printed}`echo`.", "echo"),
                ("It is 32768.", "32768"), ("It is 32,768.", "32,768"),
                ("It is `-32258`.", "-32258"),
            ):  # fmt: skip
                for text in (f"{prose}\n{shown}", f"# One\n{shown}{prose}\n# Two\n{shown}"):
                    with self.subTest(text), self.assertRaisesRegex(
                            refusal.Refused, f"no run beside it shows: {fault}$"):
                        self.run_page(text)
        self.run_page(f"Of {{math}}`2^{{1000}} - 65536`, [it](x1999.md).\n{run}")
        with self.assertRaisesRegex(refusal.Refused, "shows: 25$"):
            self.run_page("No run prints {printed}`25`.\n```text\n25\n```\n")

    def test_the_lines_of_examples_are_counted_right(self):
        found = 0
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
            text = " ".join(page.read_text(encoding="ascii").split())
            for name, lines in re.findall(r"`(examples/\w+\.\w+)`[^`]{0,40}?\b(\d+) lines", text):
                with self.subTest(page=page.name, example=name):
                    count = len((ROOT / name).read_text(encoding="ascii").splitlines())
                    self.assertEqual(int(lines), count)
                found += 1
        self.assertGreater(found, 2)


if __name__ == "__main__":
    unittest.main()
