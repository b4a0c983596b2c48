#!/usr/bin/env python3
"""The pages that are made of recorded results, counts, headers and help, and what they refuse.

usage: test_pages.py PROGRAM [unittest's arguments]
"""

import json
import pathlib
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "generator"))

import command_line  # noqa: E402
import front  # noqa: E402
import interfaces  # noqa: E402
import performance  # noqa: E402
import plots  # noqa: E402
import program  # noqa: E402
import refusal  # noqa: E402
import tested  # noqa: E402

PROGRAM = program.Program(pathlib.Path(sys.argv.pop(1)).resolve())

RESULTS = textwrap.dedent("""\
    # Results

    ## 2026-01-02: a machine

    | what | measured | target |
    |---|---|---|
    | `one` | 3 s; 4 s | < 5 s |
    | two | 9 s | < 5 s: missed |

    ### Layers

    In turns.

    | layer | ours | of the limit | over oneDNN | target |
    |---|---|---|---|---|
    | a.conv | 1 us | 72 % | 1.91 | >= 1.5 |
    | b.conv | 2 us | 7 % | 2.90 | >= 3: missed |
    | geometric mean of 2 | | 40 % | 2.4 | |
    """)


class Performance(unittest.TestCase):
    def test_reads_tables_with_what_stands_above_them(self):
        first, second = performance.tables(RESULTS)
        self.assertEqual(("2026-01-02: a machine", "", ["what", "measured", "target"]),
                         (first.run, first.about, first.head))
        self.assertEqual(("2026-01-02: a machine", "Layers", "In turns."),
                         (second.run, second.about, second.words))
        self.assertEqual([("a.conv", 72), ("b.conv", 7)],
                         [row[:2] for row in second.values("of the limit")])

    def test_lists_every_miss_and_nothing_else(self):
        self.assertEqual([["2026-01-02", " ``two`` ", "measured: 9 s; target: < 5 s: missed"],
                          ["2026-01-02", " ``b.conv`` ", "ours: 2 us; of the limit: 7 %; over "
                           "oneDNN: 2.90; target: >= 3: missed"]],
                         [[cell.replace("\\", "") for cell in row]
                          for row in performance.misses(performance.tables(RESULTS))])

    def test_draws_a_miss_in_another_colour_and_its_target(self):
        drawn = performance.compared(performance.tables(RESULTS)[1], "over oneDNN", "title", "unit")
        self.assertEqual(1, drawn.count('"plot-miss"'))
        self.assertEqual(1, drawn.count('"plot-bar"'))
        self.assertEqual(2, drawn.count('"plot-mark"'))
        self.assertNotIn("geometric", drawn)

    def test_refuses_results_without_a_table_or_a_miss(self):
        with tempfile.TemporaryDirectory() as directory:
            sources = pathlib.Path(directory)
            (sources / "bench").mkdir()
            path = sources / performance.RESULTS
            path.write_text("# Results\n", encoding="ascii")
            with self.assertRaisesRegex(refusal.Refused, "no row reports a miss"):
                performance.page(sources)
            with self.assertRaisesRegex(refusal.Refused, "no row begins"):
                performance.costs(sources)
        with self.assertRaisesRegex(refusal.Refused, "no table has the columns"):
            performance.products(performance.tables(RESULTS.replace("of the limit", "other")))

    def test_draws_a_run_operator_by_operator(self):
        with tempfile.TemporaryDirectory() as directory:
            sources = pathlib.Path(directory)
            (sources / "bench").mkdir()
            rows = [{"op": op, "threads": threads, "limit": {"name": name, "percent": percent}}
                    for op, threads, name, percent in (("relu", 1, "memcpy", 50), ("relu", 1,
                    "memcpy", 200), ("relu", 2, "memcpy", 7), ("dense", 1, "mac", 90))]  # fmt: skip
            run = {"date": "2026-01-02", "rows": rows,
                   "machine": {"processor": "p", "processors": 2, "load": 0, "compiler": "1"}}
            (sources / performance.RUN).write_text(json.dumps(run), encoding="ascii")
            drawn = performance.operators(sources)
        self.assertIn(">100 %<", drawn.partition("multiply-adds")[0])
        self.assertIn(">90 %<", drawn.partition("multiply-adds")[2])

    def test_the_recorded_results_have_all_that_pages_show(self):
        runs = (ROOT / performance.RESULTS).read_text(encoding="ascii").count(
            "| OpenVINO's time over ours |")
        self.assertLess(0, runs)
        self.assertEqual(5 + runs, performance.page(ROOT).count("<svg"))
        for words in performance.COSTS.values():
            self.assertIn(words, performance.costs(ROOT))


class Tested(unittest.TestCase):
    def test_counts_what_the_tree_has(self):
        text = tested.page(PROGRAM, ROOT)
        matrix = json.loads((ROOT / "conformance/selection/kill_matrix.json").read_text("ascii"))
        self.assertIn(f"{len(matrix['mutants'])} mutants", text)
        self.assertIn(f"- {len(PROGRAM.lists('--properties'))}\n", text)
        kills = sum(len(case["kills"]) for case in matrix["cases"])
        self.assertEqual(kills, text.count("h1v1h-1z"))

    def test_refuses_a_count_of_nothing_and_a_tree_without_tests(self):
        with self.assertRaisesRegex(refusal.Refused, "there are 0 mutants"):
            tested.counted("mutants", 0, "")
        with tempfile.TemporaryDirectory() as directory:
            with self.assertRaisesRegex(refusal.Refused, "no tests"):
                tested.written(pathlib.Path(directory))


class Plots(unittest.TestCase):
    def test_escapes_words_and_takes_colours_from_the_page(self):
        drawn = plots.bars("<a>", [("x<y", 1, None, False, "1 & 2")], 2, "u", 1)
        self.assertIn('aria-label="&lt;a&gt;"', drawn)
        self.assertIn("x&lt;y", drawn)
        self.assertIn("1 &amp; 2", drawn)
        self.assertNotIn("#", drawn)


class CommandLine(unittest.TestCase):
    HELP = textwrap.dedent("""\
        Do it
        Usage: program do [OPTIONS] [what]

        Positionals:
          what TEXT                   what to do

        Options:
          -h,--help                   Print this help message and exit
          --tier INT:INT in [0 - 3]=1 how much, see --what-else
          --start-timeout FLOAT:FLOAT in [0.001 - 1e+06]=5
                                      seconds
                                      and no more
          --mode TEXT:{a,b} Needs: --tier
                                      of two
          --no-shrink{false}          leave it
        Example: program do
        """)

    def test_reads_options_of_every_form(self):
        found = command_line.parse(self.HELP)
        self.assertEqual(("Do it", "program do [OPTIONS] [what]", "Example: program do"),
                         (found.about, found.usage, found.closing))
        rows = [command_line.option_row(*row) for row in found.sections["Options"]]
        plain = [[cell.replace("\\ ", "").replace("``", "`") for cell in row] for row in rows]
        self.assertEqual(["`--tier`", "0 to 3, default `1`", "how much, see `--what-else`"],
                         plain[1])
        self.assertEqual(["`--start-timeout`", "0.001 to 1,000,000, default `5`",
                          "seconds and no more"], plain[2])
        self.assertEqual(["`--mode`", "`a` or `b`", "of two; needs `--tier`"], plain[3])
        self.assertEqual(["`--no-shrink`", "", "leave it"], plain[4])

    def test_refuses_an_option_that_it_does_not_understand(self):
        for head, description in (("--tier", ""), ("--tier INTEGER", "how much")):
            with self.subTest(head), self.assertRaisesRegex(refusal.Refused, "not understood"):
                command_line.option_row(head, description)
        with self.assertRaisesRegex(refusal.Refused, "no usage"):
            command_line.parse("Do it\n")

    def test_shows_every_option_that_the_program_has(self):
        page = command_line.page(PROGRAM)
        for verb in PROGRAM.verbs():
            self.assertIn(f"\nlockstep {verb}\n", page)
        for option in ("--tier", "--expectations", "--until-dead", "--png-offset"):
            self.assertIn(f"``{option}``", page)


class Interfaces(unittest.TestCase):
    XML = {
        "index": "<doxygenindex>"
        '<compound refid="in" kind="struct"><name>n::Out::In</name></compound>'
        '<compound refid="out" kind="struct"><name>n::Out</name></compound>'
        '<compound refid="namespacen" kind="namespace"><name>n</name></compound></doxygenindex>',
        "in": '<d><compounddef prot="public"><location file="containers/a.h" line="4"/>'
        "</compounddef></d>",
        "out": '<d><compounddef prot="public"><location file="containers/a.h" line="3"/>'
        "</compounddef></d>",
        "namespacen": "<d><compounddef><sectiondef>{}</sectiondef></compounddef></d>",
    }
    MEMBER = ('<memberdef kind="{kind}"><name>f</name><argsstring>(int a)=delete</argsstring>'
              "<briefdescription>F.</briefdescription><initializer>= {{ {{1}} }}</initializer>"
              '<location file="containers/a.h" line="9"/></memberdef>')  # fmt: skip

    def pages(self, kind: str, headers: list) -> dict:
        with tempfile.TemporaryDirectory() as directory:
            room = pathlib.Path(directory)
            for name, text in self.XML.items():
                text = text.replace("{}", self.MEMBER.format(kind=kind))
                (room / f"{name}.xml").write_text(text, encoding="ascii")
            interfaces.shorten(room)
            self.assertNotIn("initializer", (room / "namespacen.xml").read_text(encoding="ascii"))
            return interfaces.pages(room, headers)

    def test_shows_symbols_in_order_and_nested_types_once(self):
        page = self.pages("function", ["containers/a.h"])["errors"]
        self.assertLess(page.index("doxygenstruct:: n::Out\n"), page.index("n::f(int a)\n"))
        self.assertNotIn("n::Out::In", page)

    def test_refuses_headers_without_a_page_and_unknown_kinds(self):
        with self.assertRaisesRegex(refusal.Refused, "no page .* takes elsewhere/b.h"):
            self.pages("function", ["containers/a.h", "elsewhere/b.h"])
        with self.assertRaisesRegex(refusal.Refused, "n::f is a friend"):
            self.pages("friend", ["containers/a.h"])


class Front(unittest.TestCase):
    def test_leads_into_the_version_and_lists_its_pages(self):
        with tempfile.TemporaryDirectory() as directory:
            site = pathlib.Path(directory)
            with self.assertRaisesRegex(refusal.Refused, "there is no page"):
                front.write(site, "1.2", "https://a.example")
            for name in ("index.html", "operators/x.html"):
                (site / "1.2" / name).parent.mkdir(parents=True, exist_ok=True)
                (site / "1.2" / name).write_text("", encoding="ascii")
            (site / "latest" / "gone.html").parent.mkdir()
            (site / "latest" / "gone.html").write_text("", encoding="ascii")
            front.write(site, "1.2", "https://a.example/")
            self.assertIn('"1.2/index.html"', (site / "index.html").read_text("utf-8"))
            self.assertIn('"../../1.2/operators/x.html"',
                          (site / "latest/operators/x.html").read_text("utf-8"))
            self.assertFalse((site / "latest/gone.html").exists())
            self.assertIn("<loc>https://a.example/1.2/operators/x.html</loc>",
                          (site / "sitemap.xml").read_text("utf-8"))


if __name__ == "__main__":
    unittest.main()
