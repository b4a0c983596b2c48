"""The checks: lists against lists, and an implementation against frozen and fresh outcomes.

Each check gives how many calls it compared, by operator, and what is wrong as lines of text.
"""

import functools
from collections import Counter

from crosscheck.independent import OPERATORS

from . import fresh, golden, malformed
from .implementations import INDEPENDENT, compare_answer, compare_library, covered, essence, report


def comparison(implementation: str):
    """How an implementation is compared, and whether it has an operator and answers a call."""
    if implementation == INDEPENDENT:
        return compare_answer, lambda name, answer: True
    names = covered(implementation)
    compare = functools.partial(compare_library, implementation)
    return compare, lambda name, answer: name in names and answer["status"] == "ok"


def check_lists(program) -> tuple:
    """The operators of the program and of the independent implementation, and their labels."""
    listed = program.operators()
    problems = [f"{name}: not implemented again" for name in listed.keys() - OPERATORS]
    problems += [f"{name}: not an operator of the program" for name in OPERATORS.keys() - listed]
    for name in sorted(listed.keys() & OPERATORS):
        if listed[name] != OPERATORS[name].labels:
            problems.append(f"{name}: labels {listed[name]}, here {OPERATORS[name].labels}")
    return Counter({"operators": len(OPERATORS)}), sorted(problems)


def check_golden(implementation: str) -> tuple:
    """Every golden vector."""
    compare, applies = comparison(implementation)
    compared, problems = Counter(), []
    for path in golden.files():
        found = []
        for line, outcome in golden.vectors(path):
            if applies(path.stem, outcome):
                compared[path.stem] += 1
                found += compare(line, outcome)
        problems += report(path.name, found)
    return compared, problems


def weak(name: str, answers: list) -> list:
    """The faults of fresh calls that would reveal too few mistakes, whatever their results."""
    legal = [essence({"out": each["out"]}) for each in answers if each["status"] == "ok"]
    labels = {each.get("label") for each in answers}
    missing = [label for label in fresh.labels(OPERATORS[name]) if label not in labels]
    problems = [f"{name}: no call is refused with {label}" for label in missing]
    if 2 * len(legal) < len(answers):
        problems.append(f"{name}: {len(legal)} of {len(answers)} calls are legal, less than half")
    if 2 * len(set(legal)) < len(legal):
        problems.append(f"{name}: {len(set(legal))} different results of {len(legal)} legal calls")
    return problems


def check_fresh(program, implementation: str, seed: int, count: int, names=None) -> tuple:
    """As many new calls of each operator, which the program answers too."""
    compare, applies = comparison(implementation)
    compared, problems = Counter(), []
    for name in names or OPERATORS:
        lines = fresh.fresh_lines(name, seed, count)
        answers = program.answers(lines)
        found = []
        for line, answer in zip(lines, answers):
            if applies(name, answer):
                compared[name] += 1
                found += compare(line, answer)
        problems += report(name, found) + weak(name, answers)
    # An implementation that answered nothing has checked nothing.
    unheard = covered(implementation) & set(names or OPERATORS) - compared.keys()
    return compared, problems + [f"{name}: nothing compared" for name in sorted(unheard)]


def check_malformed(program, seed: int, count: int) -> tuple:
    """Lines that are hardly calls."""
    lines = malformed.malformed_lines(seed, count)
    answers = program.answers(lines)
    found = [each for line, answer in zip(lines, answers) for each in compare_answer(line, answer)]
    labels = {answer.get("label") for answer in answers}
    problems = [f"no line is {label}" for label in malformed.LABELS if label not in labels]
    return Counter({"lines": len(lines)}), report("lines", found) + problems
