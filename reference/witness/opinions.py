"""What each witness says of a call, and whether two answers to it agree."""

import importlib
import json
from dataclasses import dataclass

import second_opinion

SECOND, THIRD = "second_opinion", "numpy"
SHOWN = 3  # disagreements of an operator; the shortest say most


@dataclass(frozen=True)
class Disagreement:
    """A call about which two opinions differ."""

    line: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"  call      {self.line}\n  expected  {self.expected}\n  got       {self.got}"


def second(line: str) -> dict:
    """The whole answer of the second opinion."""
    return json.loads(second_opinion.answer(line.encode()))


def third_opinion():
    """The module of the third opinion; only who asks for it needs NumPy."""
    return importlib.import_module("third_opinion")


def third(line: str) -> list:
    """Shapes and values of a legal call as NumPy has them."""
    call = second_opinion.call_of_line(line.encode())
    op, attributes, _ = second_opinion.judged(call)
    found = third_opinion().outputs(op.name, attributes, call.inputs)
    return [{"shape": shape, "data": data} for shape, data in found]


def covered(opinion: str) -> set:
    """The operators that an opinion is about."""
    library = second_opinion.OPERATORS if opinion == SECOND else third_opinion().LIBRARY
    return set(library)


def essence(answer: dict) -> str:
    """An answer without the words of its message, as one line."""
    return json.dumps({key: answer[key] for key in sorted(answer) if key != "message"})


def compare_second(line: str, expected: dict) -> list:
    """The disagreement about a line, if there is one; everything is compared but the message."""
    got = second(line)
    if essence(got) == essence(expected):
        return []
    return [Disagreement(line, essence(expected), essence(got))]


def compare_third(line: str, expected: dict) -> list:
    """The disagreement about the values of a legal call, if there is one."""
    wanted = [{"shape": y["shape"], "data": y["data"]} for y in expected["out"]]
    try:
        got = third(line)
    except (ValueError, IndexError, TypeError) as why:  # NumPy refuses what is legal
        got = repr(why)
    return [] if got == wanted else [Disagreement(line, json.dumps(wanted), json.dumps(got))]


def report(title: str, found: list) -> list:
    """Lines that show the shortest disagreements."""
    shown = sorted(found, key=lambda each: len(each.line))[:SHOWN]
    return [f"{title}: {len(found)} disagreements", *map(str, shown)] if found else []
