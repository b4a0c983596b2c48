"""What each implementation says of a call, and whether two answers to it agree."""

import importlib
import json
from dataclasses import dataclass

from crosscheck import independent

INDEPENDENT = "independent"
# The libraries that others wrote: the module of each, and what people call it.
LIBRARIES = {"numpy": ("numpy", "NumPy"), "pytorch": ("torch", "PyTorch")}
SHOWN = 3  # disagreements of an operator; the shortest say most


@dataclass(frozen=True)
class Disagreement:
    """A call about which two implementations differ."""

    line: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"  call      {self.line}\n  expected  {self.expected}\n  got       {self.got}"


def independent_answer(line: str) -> dict:
    """The whole answer of the independent implementation."""
    return json.loads(independent.answer(line.encode()))


def library(implementation: str):
    """The package for a library; imported on demand, because it needs its library."""
    return importlib.import_module(f"crosscheck.libraries.{implementation}")


def library_outputs(implementation: str, line: str) -> list:
    """Shapes and values of a legal call as a library has them."""
    call = independent.call_of_line(line.encode())
    op, attributes, _ = independent.judged(call)
    found = library(implementation).outputs(op.name, attributes, call.inputs)
    return [{"shape": shape, "data": data} for shape, data in found]


def covered(implementation: str) -> set:
    """The operators that an implementation has."""
    if implementation == INDEPENDENT:
        return set(independent.OPERATORS)
    return set(library(implementation).LIBRARY)


def essence(answer: dict) -> str:
    """An answer without the words of its message, as one line."""
    return json.dumps({key: answer[key] for key in sorted(answer) if key != "message"})


def compare_answer(line: str, expected: dict) -> list:
    """The disagreement about a line, if there is one; everything is compared but the message."""
    got = independent_answer(line)
    if essence(got) == essence(expected):
        return []
    return [Disagreement(line, essence(expected), essence(got))]


def compare_library(implementation: str, line: str, expected: dict) -> list:
    """The disagreement about the values of a legal call, if there is one."""
    wanted = [{"shape": y["shape"], "data": y["data"]} for y in expected["out"]]
    try:
        got = library_outputs(implementation, line)
    except (ValueError, IndexError, TypeError, RuntimeError) as why:  # it refuses what is legal
        got = repr(why)
    return [] if got == wanted else [Disagreement(line, json.dumps(wanted), json.dumps(got))]


def report(title: str, found: list) -> list:
    """Lines that show the shortest disagreements."""
    shown = sorted(found, key=lambda each: len(each.line))[:SHOWN]
    return [f"{title}: {len(found)} disagreements", *map(str, shown)] if found else []
