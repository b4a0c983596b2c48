#!/usr/bin/env python3
"""Proves that every comparison can fail, and that agreement passes."""

import copy
import dataclasses
import functools
import json
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

# pylint: disable=wrong-import-position  # found through the line above
from crosscheck import independent
from crosscheck.independent import OPERATORS, Call, Refused, Tensor
from crosscheck.independent.basics import pointwise
from crosscheck.independent.judgement import NotABound, outputs
from crosscheck import checks, fresh, implementations
from crosscheck.fresh import fresh_lines

COUNT = 150
RELU = '{"id":7,"op":"relu","attrs":{},"in_prec":[8],"in":[{"shape":[3],"data":[-3,0,5]}]}'


@functools.cache
def drawn(name: str) -> tuple:
    """Fresh lines of an operator and the right answers, which are slow to make."""
    lines = fresh_lines(name, 1, COUNT)
    return lines, list(map(implementations.independent_answer, lines))


class Honest:
    """A program that answers like the independent one, except where a test changes an answer."""

    def __init__(self, spoil=lambda answer: None):
        self.spoil = spoil

    def operators(self) -> dict:
        return {name: list(op.labels) for name, op in OPERATORS.items()}

    def answers(self, lines: list) -> list:
        found = list(map(implementations.independent_answer, lines))
        for answer in found:
            self.spoil(answer)
        return found


def other_label(answer: dict) -> None:
    if answer["status"] == "logic_error":
        answer["label"] = "input.rank" if answer["label"] != "input.rank" else "input.extent"


# Changes of the outputs of an answer.
OTHER = {
    "value": lambda out: out[-1]["data"].append(out[-1]["data"].pop() + 1),
    "precision": lambda out: out[0].update(prec=out[0]["prec"] + 1),
    "shape": lambda out: out[0]["shape"].append(1),
}


def replaced(name: str, results):
    """The independent implementation with another function for an operator."""
    return mock.patch.dict(OPERATORS, {name: dataclasses.replace(OPERATORS[name], results=results)})


class Fresh(unittest.TestCase):
    """Fresh calls to a program that is wrong somewhere."""

    def complaints(self, program, names):
        return checks.check_fresh(program, implementations.INDEPENDENT, 1, COUNT, names)[1]

    def test_agreement_passes_for_every_operator(self):
        with mock.patch.object(fresh, "fresh_lines", lambda name, *_: drawn(name)[0]):
            compared, problems = checks.check_fresh(Honest(), implementations.INDEPENDENT, 1, COUNT)
        self.assertEqual(problems, [])
        self.assertEqual(compared, dict.fromkeys(OPERATORS, COUNT))

    def test_another_value_precision_shape_or_label_is_seen_for_every_operator(self):
        for name in OPERATORS:
            lines, right = drawn(name)
            legal = COUNT * fresh.LEGAL_PERCENT // 100
            for what in (*OTHER, "label"):
                answers = copy.deepcopy(right)
                for answer in answers:
                    if what == "label":
                        other_label(answer)
                    elif answer["status"] == "ok":
                        OTHER[what](answer["out"])
                known = dict(zip(lines, right)).__getitem__
                with mock.patch.object(implementations, "independent_answer", known):
                    pairs = zip(lines, answers)
                    found = [e for l, a in pairs for e in implementations.compare_answer(l, a)]
                with self.subTest(name=name, what=what):
                    self.assertEqual(len(found), COUNT - legal if what == "label" else legal)

    def test_a_wrong_operator_is_caught_and_shown_by_its_shortest_call(self):
        lines = fresh.fresh_lines("relu", 1, COUNT)
        right = Honest().answers(lines)
        program = mock.Mock(answers=lambda asked: copy.deepcopy(right))
        wrong = replaced("relu", lambda _, x: pointwise(x, x.precision, lambda v: v))
        with wrong, mock.patch.object(fresh, "fresh_lines", lambda *_: lines):
            problems = self.complaints(program, ["relu"])
        self.assertRegex(problems[0], r"^relu: \d+ disagreements$")
        self.assertEqual(len(problems), 1 + implementations.SHOWN)
        self.assertRegex(problems[1], r'^  call      \{"id":\d+,"op":"relu"')
        self.assertLessEqual(len(problems[1]), len(problems[-1]))

    def test_calls_that_tell_little_are_a_complaint(self):
        def nothing(answer):
            answer.update(status="ok", out=[{"shape": [1], "prec": 1, "data": [0]}])

        problems = checks.weak("relu", [{"status": "logic_error", "label": "op.inputs"}] * 4)
        self.assertIn("relu: no call is refused with input.rank", problems)
        self.assertIn("relu: 0 of 4 calls are legal, less than half", problems)
        answers = Honest(nothing).answers(fresh.fresh_lines("relu", 1, 20))
        self.assertIn("relu: 1 different results of 20 legal calls", checks.weak("relu", answers))

    def test_a_label_out_of_reach_is_an_error(self):
        unreachable = dataclasses.replace(OPERATORS["relu"], rules=("never",))
        with mock.patch.dict(OPERATORS, {"relu": unreachable}):
            with mock.patch.object(fresh, "ATTEMPTS_MAX", 3000):
                with self.assertRaisesRegex(fresh.OutOfReach, r"relu: \['relu.never'\]"):
                    fresh.fresh_lines("relu", 1, COUNT)

    def test_a_seed_gives_the_same_calls_and_another_seed_others(self):
        first, again, other = (fresh.fresh_lines("take", seed, COUNT) for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)


class Lists(unittest.TestCase):
    """What the program lists beside what the independent implementation has."""

    def complaints(self, change):
        listed = Honest().operators()
        change(listed)
        return checks.check_lists(mock.Mock(operators=lambda: listed))[1]

    def test_the_same_lists_pass_and_other_operators_or_labels_do_not(self):
        for change, found in (
            (lambda listed: None, []),
            (lambda listed: listed.pop("dense"), ["dense: not an operator of the program"]),
            (lambda listed: listed.update(triple=[]), ["triple: not implemented again"]),
            (lambda listed: listed["where"].reverse(), [mock.ANY]),
        ):
            self.assertEqual(self.complaints(change), found)


class Golden(unittest.TestCase):
    """Golden vectors against an implementation that is wrong."""

    def test_a_wrong_operator_is_caught(self):
        with replaced("relu", lambda _, x: pointwise(x, x.precision, abs)):
            _, problems = checks.check_golden(implementations.INDEPENDENT)
        self.assertRegex(problems[0], r"^relu.json: \d+ disagreements$")


class Lines(unittest.TestCase):
    """Lines that are hardly calls."""

    def test_agreement_passes(self):
        self.assertEqual(checks.check_malformed(Honest(), 1, COUNT)[1], [])

    def test_another_label_is_seen(self):
        problems = checks.check_malformed(Honest(other_label), 1, COUNT)[1]
        self.assertRegex(problems[0], r"^lines: \d+ disagreements$")

    def test_a_label_that_does_not_occur_is_a_complaint(self):
        def renamed(answer):
            answer["label"] = "line.key"

        self.assertIn("no line is line.count", checks.check_malformed(Honest(renamed), 1, COUNT)[1])

    def test_the_id_comes_back_as_it_was_written(self):
        for written in ("7", "9" * 5000, "-0.50", "1e3", '"a\\u00e9"', "null", "true"):
            line = RELU.replace("7", written, 1).encode()
            with self.subTest(written):
                self.assertTrue(independent.answer(line).startswith(f'{{"id":{written},'))


class Bounds(unittest.TestCase):
    """The independent implementation asserts that outputs fit what it infers."""

    def test_a_result_or_a_precision_out_of_bounds_is_an_error(self):
        call = Call("relu", [], [Tensor((1,), 8, [100])])
        self.assertEqual(outputs(call)[0].values, [100])
        for precision in (7, 33):
            with replaced("relu", lambda _, x: pointwise(x, precision, lambda v: v)):
                self.assertRaises(NotABound, outputs, call)

    def test_such_an_error_is_an_answer_that_names_the_operator(self):
        with replaced("relu", lambda _, x: pointwise(x, 1, lambda v: v)):
            answer = implementations.independent_answer(RELU)
        self.assertEqual(answer["label"], "independent.bound")
        self.assertIn("relu", answer["message"])

    def test_values_are_judged_last(self):
        wide = [Tensor((1,), 8, [128])]
        self.assertRaisesRegex(Refused, "^input.value$", outputs, Call("relu", [], wide))
        clip = Call("clip", [("a_min", "1"), ("a_max", "1")], wide)
        self.assertRaisesRegex(Refused, "^clip.bounds$", outputs, clip)


class Third(unittest.TestCase):
    """The comparison with a library; its answers are made here, so that none is needed."""

    def compared(self, change):
        answer = json.loads(independent.answer(RELU.encode()))
        said = [{"shape": y["shape"], "data": list(y["data"])} for y in answer["out"]]
        change(said[0])
        with mock.patch.object(implementations, "library_outputs", lambda *_: said):
            return implementations.compare_library("numpy", RELU, answer)

    def test_the_same_passes_and_another_value_or_shape_does_not(self):
        self.assertEqual(self.compared(lambda y: None), [])
        self.assertEqual(len(self.compared(lambda y: y.update(data=[0, 0, 6]))), 1)
        self.assertEqual(len(self.compared(lambda y: y.update(shape=[3, 1]))), 1)

    def test_an_exception_is_a_disagreement(self):
        answer = implementations.independent_answer(RELU)
        for kind in (ValueError, RuntimeError):  # NumPy's, and PyTorch's
            refusal = kind("axes differ")
            with mock.patch.object(implementations, "library_outputs", side_effect=refusal):
                (found,) = implementations.compare_library("numpy", RELU, answer)
            self.assertIn("axes differ", found.got)


if __name__ == "__main__":
    unittest.main()
