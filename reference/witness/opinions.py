"""What each witness says of a call, and whether two answers to it agree."""

import importlib
import json
from dataclasses import dataclass

import second_opinion

SECOND = "second_opinion"
# The libraries that are third opinions: the module of each, and what people call it.
THIRDS = {"numpy": ("numpy", "NumPy"), "pytorch": ("torch", "PyTorch")}
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


def third_opinion(opinion: str):
    """The package of a third opinion; imported on demand, because it needs its library."""
    return importlib.import_module(f"third_opinion.{opinion}")


def third(opinion: str, line: str) -> list:
    """Shapes and values of a legal call as a library has them."""
    call = second_opinion.call_of_line(line.encode())
    op, attributes, _ = second_opinion.judged(call)
    found = third_opinion(opinion).outputs(op.name, attributes, call.inputs)
    return [{"shape": shape, "data": data} for shape, data in found]


def covered(opinion: str) -> set:
    """The operators that an opinion is about."""
    if opinion == SECOND:
        return set(second_opinion.OPERATORS)
    return set(third_opinion(opinion).LIBRARY)


def essence(answer: dict) -> str:
    """An answer without the words of its message, as one line."""
    return json.dumps({key: answer[key] for key in sorted(answer) if key != "message"})


def compare_second(line: str, expected: dict) -> list:
    """The disagreement about a line, if there is one; everything is compared but the message."""
    got = second(line)
    if essence(got) == essence(expected):
        return []
    return [Disagreement(line, essence(expected), essence(got))]


def compare_third(opinion: str, line: str, expected: dict) -> list:
    """The disagreement about the values of a legal call, if there is one."""
    wanted = [{"shape": y["shape"], "data": y["data"]} for y in expected["out"]]
    try:
        got = third(opinion, line)
    except (ValueError, IndexError, TypeError, RuntimeError) as why:  # it refuses what is legal
        got = repr(why)
    return [] if got == wanted else [Disagreement(line, json.dumps(wanted), json.dumps(got))]


def report(title: str, found: list) -> list:
    """Lines that show the shortest disagreements."""
    shown = sorted(found, key=lambda each: len(each.line))[:SHOWN]
    return [f"{title}: {len(found)} disagreements", *map(str, shown)] if found else []
