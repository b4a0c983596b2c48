#!/usr/bin/env python3
"""Pages of operators: formulas, pictures, rules with two calls, and linked words.

usage: test_operator_pages.py PROGRAM
"""

import copy
import json
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "generator"))

import boundaries  # noqa: E402
import linked_words  # noqa: E402
import operator_pages  # noqa: E402
import pictures  # noqa: E402
import program  # noqa: E402
import refusal  # noqa: E402
import typeset  # noqa: E402

LOCKSTEP = program.Program(pathlib.Path(sys.argv.pop()).resolve())
OPERATORS = {op["name"]: op for op in LOCKSTEP.specification["operators"]}
TELEPHONE = 350  # the pixels of a picture on a telephone
# Without a picture of these a reader has to imagine what moves where.
NEED_PICTURES = (
    "broadcast_add broadcast_div broadcast_greater broadcast_max broadcast_mul broadcast_sub "
    "concatenate conv2d cvm_lut cvm_right_shift max max_pool2d non_max_suppression repeat reshape "
    "strided_slice sum take tile transpose"
).split()


class Typeset(unittest.TestCase):
    def lines(self, text: str, name: str = "conv2d") -> list:
        return typeset.Typesetter(OPERATORS[name]).shape("Y", text)

    def test_sets_shapes_entries_and_quotients(self):
        for text, tex in (
            ("X", r"\operatorname{shape}(X)"),
            ("[X[0], channels]", r"(|X|_{0}, \mathit{channels})"),
            ("[|X| / groups]", r"(\left\lfloor |X| / \mathit{groups} \right\rfloor)"),
            ("[(#X + 1) / 2]", r"(\left\lfloor \frac{N_{X} + 1}{2} \right\rfloor)"),
            ("[ceil(#padding / 2)]", r"(\left\lceil \#\mathit{padding} / 2 \right\rceil)"),
            ("[1 for d < 2 if d != 1] ++ padding",
             r"\left(1\right)_{0 \le d < 2,\; d \ne 1} \mathbin{+\!\!+} \mathit{padding}"),
            ("[{1 if use_bias, p0}]", r"(\begin{cases} 1 & \text{if } \mathit{use\_bias} \\ p_{X} "
             r"& \text{otherwise} \end{cases})"),
        ):  # fmt: skip
            with self.subTest(text):
                self.assertEqual([rf"\operatorname{{shape}}(Y) = {tex}"], self.lines(text))

    def test_sets_definitions_and_the_inputs_of_a_variadic_port(self):
        first, second = self.lines("[f(d) for d < 2]; f(k) = k")
        self.assertEqual(r"|Y|_{d} = f(d), \quad 0 \le d < 2", first)
        self.assertEqual("f(k) = k", second)
        (line,) = self.lines("[total(X[0]), X[1]]", "concatenate")
        self.assertTrue(line.endswith(r"(\textstyle\sum_k |X_k|_{0}, |X_0|_{1})"), line)

    def test_many_cases_are_lines(self):
        lines = self.lines("f(1); f(k) = {1 if k = 1, 2 if k = 2, 3 if k = 3, 4 if k = 4, 5}")
        self.assertEqual(r"f(k) = 2 \quad \text{if } k = 2", lines[2])
        self.assertEqual(r"f(k) = 5 \quad \text{otherwise}", lines[5])

    def test_explains_the_notations_that_it_uses(self):
        setter = typeset.Typesetter(OPERATORS["conv2d"])
        setter.shape("Y", "[X[0]]")
        said = typeset.legend(setter.used)
        self.assertIn("|X|_d", said)
        self.assertNotIn("N_X", said)

    def test_sets_every_formula(self):
        for op in OPERATORS.values():
            text = operator_pages.types(op)
            self.assertEqual(text.count("{"), text.count("}"), text)
            self.assertEqual("accumulator" in op, "accumulator of" in text)
            # A sentence after a formula begins a paragraph, and is no part of the formula.
            self.assertRegex(text, r"\n(Here|The) ")


class Pictures(unittest.TestCase):
    def test_every_picture_is_drawn_and_fits_a_telephone(self):
        for name in pictures.PICTURES:
            found = pictures.figures(OPERATORS[name], LOCKSTEP)
            figures = xml.etree.ElementTree.fromstring(f"<div>{found}</div>").findall("figure")
            self.assertTrue(figures, name)
            for figure in figures:
                drawing = figure.find("svg")
                with self.subTest(name, width=drawing.get("width")):
                    self.assertLessEqual(float(drawing.get("width")), TELEPHONE)
                    ids = {e.get("id") for e in drawing.iter() if e.get("id")}
                    self.assertEqual(ids, set(drawing.get("aria-labelledby").split()))
                    for told in ("title", "desc"):
                        self.assertTrue(drawing.findtext(told))
                    self.assertGreater(len(list(drawing)), 6)
                    self.assertTrue(figure.findtext("figcaption/b"))

    def test_operators_that_move_or_meet_elements_have_one(self):
        for name in NEED_PICTURES:
            self.assertIn("<svg", operator_pages.picture(OPERATORS[name], LOCKSTEP), name)
        self.assertEqual("", operator_pages.picture(OPERATORS["elemwise_add"], LOCKSTEP))

    def refused(self, name: str, change, why: str):
        op = copy.deepcopy(OPERATORS[name])
        for example in op["examples"]:
            change(example["out"][0])
        with self.subTest(name), self.assertRaisesRegex(refusal.Refused, why):
            pictures.figures(op, LOCKSTEP)

    def test_a_picture_that_shows_another_result_is_refused(self):
        def add(out):
            out["data"] = [v + 1 for v in out["data"]]

        for name in ("conv2d", "max_pool2d", "dense"):
            self.refused(name, add, f"{name}: ")
        self.refused("broadcast_mul", add, "the picture shows another result")
        self.refused("reshape", lambda out: out.update(shape=[*out["shape"], 1]), "shows the shape")

    def test_elements_have_the_tint_of_their_source(self):
        found = pictures.figures(OPERATORS["transpose"], LOCKSTEP)
        tints = re.findall(r'class="cell (t\d)"', found)
        self.assertEqual(["t0", "t1", "t2", "t3", "t4", "t5"], tints[:6])
        self.assertEqual(["t0", "t3", "t1", "t4", "t2", "t5"], tints[6:])


class Boundaries(unittest.TestCase):
    def test_each_rule_has_two_calls_that_differ_little(self):
        for op in OPERATORS.values():
            text = boundaries.rules(op, ROOT, LOCKSTEP)
            for head in ("* Just legal: ", "* Refused: "):
                self.assertEqual(len(op["rules"]), text.count(head))
        text = boundaries.rules(OPERATORS["conv2d"], ROOT, LOCKSTEP)
        window = text[text.index("conv2d.window") :][:700]
        legal, refused = re.findall(r"\* (?:Just legal|Refused): (.*)", window)[:2]
        self.assertEqual(1, refused.count("**") // 2, window)
        self.assertIn(" gives Y ", legal)

    def vectors(self, tests: list, answers: dict) -> boundaries.Vectors:
        class Fake:
            def answers(self, calls):
                return {call["id"]: answers[call["id"]] for call in calls}

        with tempfile.TemporaryDirectory() as directory:
            folder = pathlib.Path(directory) / "conformance" / "vectors"
            folder.mkdir(parents=True)
            (folder / "relu.json").write_text(json.dumps({"tests": tests}), encoding="ascii")
            return boundaries.Vectors(OPERATORS["relu"], pathlib.Path(directory), Fake())

    def test_an_operator_without_vectors_has_no_page(self):
        with self.assertRaisesRegex(refusal.Refused, "lockstep vectors update makes it"):
            boundaries.Vectors(OPERATORS["clip"], pathlib.Path("nowhere"), LOCKSTEP)

    def test_the_nearest_pair_is_chosen_and_has_to_be_answered_so(self):
        def test(number, extent, **result):
            return {"tcId": f"relu-{number}", "attrs": {}, "in_prec": [8],
                    "in": [{"shape": [extent]}], **result}  # fmt: skip

        tests = [test(1, 5, result="ok"), test(2, 9, result="ok"),
                 test(3, 10, result="error", label="relu.most"),
                 test(4, 90, result="error", label="relu.most")]  # fmt: skip
        answers = {"relu-2": {"out": [{"shape": [9], "prec": 8}]}, "relu-3": {"label": "relu.most"}}
        text = self.vectors(tests, answers).shown("relu.most")
        self.assertIn(r"* Just legal: **X 9\@8** gives Y 9\@8", text)
        self.assertIn(r"* Refused: **X 10\@8** (", text)
        for wrong in ({"relu-2": {"label": "relu.most"}}, {"relu-3": {"label": "input.rank"}}):
            with self.assertRaisesRegex(refusal.Refused, "relu-2 and relu-3"):
                self.vectors(tests, answers | wrong).shown("relu.most")
        with self.assertRaisesRegex(refusal.Refused, "no golden vector is refused with relu.none"):
            self.vectors(tests, answers).shown("relu.none")


class Words(unittest.TestCase):
    WORDS = {"words": ["max", "i64"], "members": ["max", "i64", "dim"], "own": {"op": ["room"]}}

    def linked(self, code: str) -> str:
        page = f'<div class="highlight-cpp notranslate"><div><pre>{code}</pre></div></div>{code}'
        return linked_words.linked(page, self.WORDS, "op", "../v.html")

    def test_links_words_in_code_and_nowhere_else(self):
        code = '<span class="n">i64</span>'
        self.assertEqual(1, self.linked(code).count('href="../v.html#word-i64">i64</a>'))
        self.assertTrue(self.linked(code).endswith(code))

    def test_a_member_is_linked_where_it_is_one(self):
        member = '<span class="p">.</span><span class="n">dim</span>'
        self.assertIn("#word-dim", self.linked(member))
        self.assertNotIn("<a", self.linked('<span class="n">dim</span>'))

    def test_names_of_the_operator_are_not_linked(self):
        words = {**self.WORDS, "own": {"op": ["max"]}}
        page = '<div class="highlight-cpp notranslate"><span class="n">max</span></pre>'
        self.assertEqual(page, linked_words.linked(page, words, "op", ""))


class Order(unittest.TestCase):
    def test_a_reader_sees_the_call_and_the_picture_first(self):
        text = operator_pages.page(OPERATORS["sum"], ROOT, LOCKSTEP)
        parts = ["sum(X; axis=(), ", "specification ", "_static/spec/ops/sum.h.txt", "Adds the",
                 "<svg", "An example\n", "Meaning\n", "Shape and precision", "An accumulator",
                 "Inputs and outputs\n", "Attributes\n", "Rules\n", "Code\n", "Laws\n", "Gas\n",
                 "Further examples\n", "Cross-checks\n"]  # fmt: skip
        places = [text.find(part) for part in parts]
        self.assertNotIn(-1, places)
        self.assertEqual(sorted(places), places)

    def test_a_signature_shows_what_may_be_left_out(self):
        self.assertTrue(operator_pages.signature(OPERATORS["conv2d"]).startswith(
            "conv2d(X, W, B?; channels, kernel_size, strides=(1,1), "))  # fmt: skip
        self.assertEqual("concatenate(X...; axis=1) -> Y",
                         operator_pages.signature(OPERATORS["concatenate"]))  # fmt: skip
        self.assertEqual("relu(X) -> Y", operator_pages.signature(OPERATORS["relu"]))


if __name__ == "__main__":
    unittest.main()
