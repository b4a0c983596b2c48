"""The fixture that judges a function as an operator, and lockstep.judge."""

import re
import shlex
import time

import lockstep
import numpy as np

TESTS = """
import numpy as np

LEAST = {least}

def test_relu(lockstep_gate):
    seen = []
    def relu(inputs, attrs, out_types):
        seen.append(inputs[0].size)
        return np.where(inputs[0] > LEAST, inputs[0], 0)
    verdict = lockstep_gate("relu", relu{options})
    assert verdict.passed and seen
    print(verdict.text)
"""


def test_a_right_function_passes(pytester):
    pytester.makepyfile(TESTS.format(least=0, options=""))
    done = pytester.runpytest_subprocess("-rP")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["PASS  python 0  whole claim (1 of*", "*tier 0, seed 1*"])
    done = pytester.runpytest_subprocess("-rP", "--lockstep-tier=1", "--lockstep-seed=2")
    done.stdout.fnmatch_lines(["*tier 1, seed 2*"])


def test_a_wrong_function_fails_with_the_smallest_case_which_can_be_repeated(pytester):
    pytester.makepyfile(TESTS.format(least=1, options=""))
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines([
        "relu violates matches_reference in *", "*shrunk  relu/in=1@*/data=1",
        "*expected 1 (0x00000001), got 0 (0x00000000); 1 of 1 elements differ",
        "FAIL  python 0*"])  # fmt: skip
    repeat = re.search(r"^repeat: pytest (.*/data=1'?)$", done.stdout.str(), re.M)[1]
    again = pytester.runpytest_subprocess(*shlex.split(repeat))
    again.assert_outcomes(failed=1)
    again.stdout.fnmatch_lines(["*1 selected: 1 executed*"])
    pytester.makepyfile(TESTS.format(least=0, options=""))
    pytester.runpytest_subprocess(*shlex.split(repeat)).assert_outcomes(passed=1)


def test_a_test_chooses_what_is_judged(pytester):
    pytester.makepyfile(TESTS.format(least=1, options=", properties=['deterministic'], tier=1"))
    done = pytester.runpytest_subprocess("-rP")
    done.assert_outcomes(passed=1)
    done.stdout.fnmatch_lines(["*tier 1*", "*judged: deterministic*"])


def test_a_run_that_judges_nothing_fails(pytester):
    pytester.makepyfile(TESTS.format(least=0, options=", claims={'relu': {'precision': [33, 33]}}"))
    pytester.runpytest_subprocess().assert_outcomes(failed=1)


def test_several_functions_are_judged_in_the_context_of_the_caller():
    def negative(inputs, attrs, out_types):
        return -inputs[0] + (1 if np.geterr()["over"] != "raise" else 0)

    with np.errstate(over="raise"):
        verdict = lockstep.judge({"negative": negative, "abs": lambda x, a, t: np.abs(x[0])})
    assert verdict.passed, verdict.text
    assert "2 of 37 operators" in verdict.text


def test_a_judgement_ends_even_if_a_function_does_not():
    slept = []

    def relu(inputs, attrs, out_types):
        if inputs[0].size > 7 and not slept:
            slept.append(inputs[0].size)
            time.sleep(3600)
        return np.maximum(inputs[0], 0)

    verdict = lockstep.judge({"relu": relu}, timeout=1)
    assert not verdict.passed
    assert "no answer in time" in verdict.text
    assert "has not returned from an earlier call" in verdict.text


def test_an_exception_is_a_finding_with_its_place():
    def relu(inputs, attrs, out_types):
        if inputs[0].size > 2:
            raise NotImplementedError("only two")
        return np.maximum(inputs[0], 0)

    verdict = lockstep.judge({"relu": relu}, properties=["matches_reference"])
    assert "relu raised NotImplementedError: only two (test_gate.py:" in verdict.text
    assert verdict.cases == (re.search(r"shrunk  (.*)", verdict.text)[1],)
    assert "socket" not in verdict.text
