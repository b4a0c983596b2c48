#!/usr/bin/env python3
"""The parts of the documentation's generator, and what they refuse."""

import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "generator"))

import formula  # noqa: E402
import glossary  # noqa: E402
import header  # noqa: E402
import operator_pages  # noqa: E402
import playground  # noqa: E402
import program  # noqa: E402
import refusal  # noqa: E402
import rst  # noqa: E402
import vocabulary  # noqa: E402
import worked_examples  # noqa: E402

HEADER = """
#include "spec/base.h"
struct TwoWords : Base {
  static constexpr string_view name = "two { words";
  enum { X };
  static constexpr Field attrs[] = {Field{"a", &Attrs::a}.required()};
  struct Cut {
    i64 begin;
  };
  static constexpr int kOne = 1, kTwo = 2;
  /// What cut does: a '}' in a comment.
  static constexpr Cut cut(i64 v) { return {v + kTwo}; }
  static constexpr i64 unused(i64 v) { return v; }
  static constexpr i64 at(const Attrs&, const auto& in, const Index& y) {
    const char brace = '{';
    return cut(in[X](y)).begin + inherited(brace) + in[0].unused;
  }
};
"""
BASE = """
struct Base {
  static constexpr i64 inherited(i64 v) { return v; }
  static constexpr i64 cut(i64 v) { return -v; }
};
"""


class Tree(unittest.TestCase):
    """A test with a tree of its own."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        (self.root / "spec" / "ops").mkdir(parents=True)

    def write(self, name: str, text: str):
        (self.root / "spec" / name).write_text(text, encoding="ascii")


class Playground(Tree):
    """What the playground's scripts are given."""

    RULE = {"label": "relu.shape", "text": "it fits"}
    OPERATOR = {
        "name": "relu", "profile": "ELEM", "summary": "Cuts.", "attributes": [], "rules": [RULE],
        "inputs": [{"name": "X", "arity": "one", "text": "any"}], "outputs": [{"name": "Y"}],
        "examples": [{"text": "one", "case": "relu/in=1@8/data=1", "out": []}],
    }  # fmt: skip
    SPECIFICATION = {"operators": [OPERATOR], "labels": [{"label": "op.unknown", "text": "no"}]}

    def says(self, *words: str) -> str:
        self.assertEqual(words[0], "digest")
        return "1 calls\n"

    @property
    def specification(self) -> dict:
        return self.SPECIFICATION

    def written(self) -> dict:
        """The texts of the scripts, by name."""
        playground.write(self, self.root, self.root / "build", self.root / "site")
        place = self.root / "site" / "static" / "playground"
        return {path.name: path.read_text(encoding="utf-8") for path in place.iterdir()}

    def vector(self, text: str):
        path = self.root / "conformance" / "vectors" / "relu.json"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="ascii")

    def test_has_operators_labels_digest_and_vectors(self):
        self.vector('{"a":"\\\\u0041"}\n')
        scripts = self.written()
        for known in ('"relu/in=1@8/data=1"', '"operators/relu.html#relu.shape"',
                      '"labels.html#op.unknown"', '"digest": "1 calls"'):  # fmt: skip
            self.assertIn(known, scripts["operators.js"])
        self.assertIn('"relu.json": String.raw`{"a":"\\\\u0041"}\n`', scripts["vectors.js"])
        self.assertIn("without emscripten", scripts["module.js"])

    def test_takes_the_module_where_there_is_one(self):
        module = self.root / "build" / "docs" / "playground" / "lockstep.js"
        module.parent.mkdir(parents=True)
        module.write_text("made", encoding="ascii")
        self.vector("{}")
        self.assertEqual(self.written()["module.js"], "made")

    def test_refuses_vectors_that_a_script_cannot_hold(self):
        for wrong in ("`", "${"):
            with self.assertRaisesRegex(refusal.Refused, "relu.json: a script cannot hold"):
                path = self.root / "conformance" / "vectors" / "relu.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(wrong, encoding="ascii")
                playground.vectors(path.parent)


class Headers(Tree):
    def header(self, text: str) -> header.Header:
        self.write("base.h", BASE)
        self.write("ops/two_words.h", text)
        return header.Header(self.root, "two_words")

    def test_cuts_a_function_whole_and_nothing_else(self):
        at = self.header(HEADER).definition("at")
        self.assertTrue(at.startswith("static constexpr i64 at("), at)
        self.assertTrue(at.endswith("in[0].unused;\n}"), at)

    def test_finds_what_a_function_uses(self):
        helpers = "\n".join(self.header(HEADER).helpers("at"))
        for used in ("struct Cut {", "kOne = 1", "// What cut does", "inherited"):
            self.assertIn(used, helpers)
        for unused in ("enum {", "unused", "string_view name", "attrs", "return -v"):
            self.assertNotIn(unused, helpers)

    def test_refuses_a_header_it_cannot_read(self):
        for damage, why in (
            (("struct TwoWords", "struct Other"), "no struct TwoWords"),
            (("i64 at(", "i64 value("), "there is no at"),
            (("+ in[0].unused;\n  }", "+ in[0].unused;\n"), "never closed"),
            (("spec/base.h", "spec/ops/two_words.h"), "defines struct Base"),
        ):
            with self.subTest(why), self.assertRaisesRegex(refusal.Refused, why):
                self.header(HEADER.replace(*damage)).definition("at")

    def test_reads_every_operator(self):
        paths = sorted((ROOT / "spec" / "ops").glob("*.h"))
        self.assertTrue(paths)
        for path in paths:
            read = header.Header(ROOT, path.stem)
            defined = [n for n in ("at", "eval") if any(n in m.names for m in read.members)]
            self.assertEqual(len(defined), 1, path)
            for name in (*defined, "infer"):
                text = read.definition(name)
                self.assertIn(f" {name}(", text.splitlines()[0])
                self.assertEqual(text.count("{"), text.count("}"), text)


WORDS = """
/// @file
/// About words.
#include <cstdint>
namespace lockstep {
using i64 = std::int64_t;
inline constexpr i64 kMost = i64{1} << 30;  ///< of anything
/// A list; `push` grows it.
template <int N>
struct List {
  int size = 0;
  constexpr List() = default;
  List(i64 a) : size{1} {}
  /// Appends.
  constexpr void push(i64 v, i64 w = 0) { if (v) ++size; }
  constexpr bool fits() const { return size <= N; }
 private:
  int hidden = 0;
};
using Tuple = List<16>;
/// Two.
struct Pair {
  int size = 2;
};
/// How many.
enum class Arity { one, many };
constexpr i64 least(i64 a, i64 b) { return a < b ? a : b; }
}
"""
OPERATOR = """
#include "spec/shared.h"
#include <optional>
struct OneAttrs {
  Tuple axes{}, others{0, 1};
};
struct One : Base {
  enum { X };
  template <class Attrs>
  static constexpr std::array<i64, 0> none{};
  static constexpr i64 at(const Attrs& a, const auto& in, i64 y) {
    const auto [first, second] = shared(a);
    i64 sum = least(y, kMost), more = "no word"[0];
    for (int d = 0, n = a.axes.size; d < n; ++d) sum += in[X](d) + first - second;
    for (i64 e : a.others) sum += [&](i64 k, int) { return k + e; }(more, 0);
    return std::max(sum, INT64_MAX);
  }
};
"""


class Vocabulary(Tree):
    def setUp(self):
        super().setUp()
        for name in vocabulary.HEADERS:
            self.write(name, "/// @file\n/// x\nnamespace lockstep {}\n")
        self.write("shape.h", WORDS)
        self.write("shared.h", "struct Base {\n  i64 shared(Tuple t) { return t.fits(); }\n};\n")

    def page(self, operator: str) -> str:
        self.write("ops/one.h", operator)
        return vocabulary.page(self.root)

    def test_shows_each_word_with_its_sentence(self):
        text = re.sub(r':anchor:`<span id="word-\w+"></span>`\\ ', "", self.page(OPERATOR))
        for line in (
            "* ``i64 kMost = i64{1} << 30``: of anything", "* ``using Tuple = List<16>``",
            "  * ``void push(i64 v, i64 w = 0)``: Appends.", "About words.",
            "  * ``bool fits() const { return size <= N; }``", "  * ``int size = 0``",
            "* ``enum class Arity``: How many. One of ``one``, ``many``.",
            "* ``i64 least(i64 a, i64 b) { return a < b ? a : b; }``",
        ):  # fmt: skip
            self.assertIn(f"\n{line}\n", text)
        self.assertIn("* ``struct List``: A list; \\ ``push``\\  grows it.", text)
        self.assertNotIn("hidden", text)

    def test_code_links_to_words_and_members_but_to_no_name_of_its_own(self):
        text = self.page(OPERATOR)
        linked = vocabulary.linked(self.root)
        for name in linked["members"]:
            self.assertEqual(1, text.count(f'<span id="word-{name}"></span>'), name)
        self.assertIn("least", linked["words"])
        self.assertIn("fits", linked["members"])
        self.assertNotIn("fits", linked["words"])
        self.assertIn("sum", linked["own"]["one"])

    def test_refuses_a_word_that_nothing_defines(self):
        for old, new, lacking in (
            ("least(y", "most(y", "most"), ("a.others)", "a.others.rank())", "rank"),
            ("return std::max(sum,", "return unknown(sum) + (", "unknown"),
            ("sum += in", "sum += kOther + in", "kOther"), (": Base", ": Root", "Root"),
            ("Tuple axes", "Tensor axes", "Tensor"), ("a.axes.size", "a.axes.hidden", "hidden"),
        ):  # fmt: skip
            why = f"one.h: the vocabulary lacks {lacking}$"
            with self.subTest(lacking), self.assertRaisesRegex(refusal.Refused, why):
                self.page(OPERATOR.replace(old, new, 1))

    def test_refuses_a_word_without_a_sentence(self):
        for old, name in (("/// A list; `push` grows it.\n", "List"),
                          ("{ return a < b ? a : b; }", "least")):  # fmt: skip
            longer = "{ if (a) b = 0; return b; }" if old[0] == "{" else ""
            self.write("shape.h", WORDS.replace(old, longer))
            with self.subTest(name), self.assertRaisesRegex(
                    refusal.Refused, f"no sentence says what {name} is"):
                self.page(OPERATOR)


class Glossary(unittest.TestCase):
    def page(self, *entries: str) -> str:
        return "# Glossary\n\n```{glossary}\n" + "\n\n".join(entries) + "\n```\n"

    def test_names_each_term_once_in_order(self):
        glossary.check(self.page("ABI\n  One. Two.", "case\n  Words,\n  and more.", "Trial\n  It."))
        for entries, why in (
            (("case\n  One.", "Case\n  Two."), "Case is named twice"),
            (("trial\n  One.", "case\n  Two."), "case stands behind trial"),
            (("case\n  no sentence",), "case is explained in 0 sentences"),
            (("case\n  A. B. C. D.",), "case is explained in 4 sentences"), ((), "no terms"),
        ):  # fmt: skip
            with self.subTest(why), self.assertRaisesRegex(refusal.Refused, why):
                glossary.check(self.page(*entries))

    def test_names_no_term_in_two_lists(self):
        two = self.page("case\n  One.") + self.page("case\n  Two.")
        with self.assertRaisesRegex(refusal.Refused, "case is named twice"):
            glossary.check(two)
        glossary.check(self.page("case\n  One.") + self.page("box\n  Two."))

    def test_explains_the_words_of_the_field(self):
        terms = dict(glossary.entries((ROOT / "docs" / "glossary.md").read_text("ascii")))
        for term in ("adapter", "contract mutant", "discriminating order", "kill matrix",
                     "metamorphic relation", "system under test", "t-way combination"):  # fmt: skip
            self.assertIn(term, terms)


class Formulas(unittest.TestCase):
    def test_sets_words_as_variables(self):
        for text, tex in (
            ("y = x", "y = x"),
            ("y \\cdot SH-PH", "y \\cdot \\mathit{SH}-\\mathit{PH}"),
            ("s = shift\\_bit", "s = \\mathit{shift\\_bit}"),
            ("X_{flat}", "X_{\\mathit{flat}}"),
            ("\\text{inside the image}, \\max(a, b)", "\\text{inside the image}, \\max(a, b)"),
            ("\\mathrm{iou} = 100", "\\mathrm{iou} = 100"),
            ("\\begin{cases} 0 & b = 0 \\\\ a \\end{cases}",
             "\\begin{cases} 0 & b = 0 \\\\ a \\end{cases}"),
            ("X[n, ab - PH] + W[m]",
             "X\\mathopen{}\\left[n, \\mathit{ab} - \\mathit{PH}\\right]\\mathclose{}"
             " + W\\mathopen{}\\left[m\\right]\\mathclose{}"),
        ):
            self.assertEqual(formula.statements(text), [tex])

    def test_splits_statements(self):
        self.assertEqual(formula.statements("a = b,\n   \\quad b = c, \\; d = e"),
                         ["a = b", "b = c, \\; d = e"])  # fmt: skip


class Prose(unittest.TestCase):
    def test_means_what_it_says(self):
        self.assertEqual(rst.prose("a*b and |c|"), r"a\*b and \|c\|")
        self.assertIn("``shift_bit``", rst.prose("by shift_bit."))
        self.assertIn(":sup:`24`", rst.prose("below 2^24"))
        self.assertEqual(rst.prose("as `like` has"), r"as \ ``like``\  has")
        self.assertEqual(rst.prose("2x3@8"), r"2x3\@8")  # no address

    def test_gist_is_what_comes_before_the_explanation(self):
        for text in ("Adds both.", "Adds both: one to the other.", "Adds both. Nothing else."):
            self.assertEqual(operator_pages.gist(text), "Adds both.")

    def test_limits_are_powers_where_they_are(self):
        for value, text in (
            (7, "7"), (-4, "-4"), (4096, "2^12"), (2**24, "2^24"), (2**31 - 1, "2^31 - 1"),
            (2**30 - 1, "2^30 - 1"), (-(2**63), "-2^63"), (2**63 - 1, "2^63 - 1"),
        ):  # fmt: skip
            self.assertEqual(operator_pages.bound(value), text)

    def test_tensors_are_nested_by_rank(self):
        self.assertEqual(worked_examples.nested([3], [1, 2, 3]), "[1, 2, 3]")
        self.assertEqual(worked_examples.nested([2, 1], [1, 2]), "[[1],\n [2]]")
        self.assertEqual(worked_examples.nested([2, 1, 2], [1, 2, 3, 4]),
                         "[[[1, 2]],\n [[3, 4]]]")  # fmt: skip

    def test_an_example_has_to_be_what_the_reference_answers(self):
        stated = [{"shape": [1], "prec": 8, "data": [1]}]
        answered = [{"shape": [1], "prec": 8, "data": [2]}]
        example = {"case": "relu/in=1@8/data=1", "out": stated}
        with self.assertRaisesRegex(refusal.Refused, "relu/in=1@8/data=1"):
            worked_examples.example({}, example, {"out": answered})


class Evidence(unittest.TestCase):
    def test_what_is_not_known_is_no_cross_check(self):
        op = {"name": "relu", "crosschecks": {"examples": 2, "laws": 0, "vectors": 70,
                                            "independent": 1, "libraries": None}}
        text = operator_pages.crosschecks(op)
        for line in ("* 2 examples, worked", "* no laws\n", "* 70 golden vectors, ",
                     "* 1 independent implementation, ", "* libraries: not known\n"):  # fmt: skip
            self.assertIn(line, text)

    def test_an_erratum_is_shown_by_something(self):
        vector = {"text": "t", "shown_by": {"example": "e"}, "vector": "max-0001"}
        self.assertIn("max-0001", program.shown_by(vector))
        self.assertIn("A.B", program.shown_by({"text": "t", "shown_by": {"test": "A.B"}}))
        with self.assertRaisesRegex(refusal.Refused, "no vector shows: t"):
            program.shown_by({**vector, "vector": None})


if __name__ == "__main__":
    unittest.main()
