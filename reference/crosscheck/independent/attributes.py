"""Attributes: what their texts mean, and which of their labels a wrong text gets."""

import re
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Optional

from .basics import refuse

INT64 = (-(2**63), 2**63 - 1)
ENTRIES_MAX = 16

_BLANKS = " \t"
_INT = "[+-]?[0-9]+"
_ENTRY = f"{_INT}L?[ \t]*"
_ENTRIES = f"[ \t]*(?:{_ENTRY}(?:,[ \t]*{_ENTRY})*(?:,[ \t]*)?)?"
_TUPLE = re.compile(rf"{_INT}L?|\({_ENTRIES}\)|\[{_ENTRIES}\]")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Attribute:
    """A name, other names for it, and the text that stands for it when it is not given."""

    name: str
    default: Optional[str] = None
    also: tuple = ()

    def read(self, text: str):
        """The value of a text, or a refusal: syntax, then length, then range."""
        raise NotImplementedError


@dataclass(frozen=True)
class Integer(Attribute):
    """One integer, or `None` if the attribute is optional."""

    low: int = INT64[0]
    high: int = INT64[1]
    optional: bool = False

    def read(self, text: str) -> Optional[int]:
        text = text.strip(_BLANKS)
        if self.optional and text == "None":
            return None
        if not re.fullmatch(_INT, text):
            refuse("attr.syntax")
        value = integer(text)
        return value if self.low <= value <= self.high else refuse("attr.range")


@dataclass(frozen=True)
class Integers(Attribute):
    """A tuple of integers, of a length between two bounds."""

    low: int = INT64[0]
    high: int = INT64[1]
    least: int = 0
    most: int = ENTRIES_MAX

    def read(self, text: str) -> tuple:
        text = text.strip(_BLANKS)
        if not _TUPLE.fullmatch(text):
            refuse("attr.syntax")
        values = tuple(map(integer, re.findall(_INT, text)))
        if not self.least <= len(values) <= self.most:
            refuse("attr.length")
        inside = all(self.low <= value <= self.high for value in values)
        return values if inside else refuse("attr.range")


@dataclass(frozen=True)
class Boolean(Attribute):
    """A truth value; one that is fixed is legal at its default alone."""

    fixed: bool = False

    def read(self, text: str) -> bool:
        value = _TRUTH.get(text.strip(_BLANKS).lower() if text.isascii() else "")
        if value is None:
            refuse("attr.syntax")
        legal = not self.fixed or value == _TRUTH[self.default]
        return value if legal else refuse("attr.range")


@dataclass(frozen=True)
class Word(Attribute):
    """One of a few words."""

    words: tuple = ()

    def read(self, text: str) -> str:
        word = text.strip(_BLANKS)
        return word if word in (self.words or (self.default,)) else refuse("attr.range")


def integer(text: str) -> int:
    """The value of digits. Of a number too long for Python it matters only that it is too large."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-").lstrip("0") or "0"
    return sign * int(digits[:4000])


def read_attributes(table: tuple, given: list) -> SimpleNamespace:
    """The values of an operator's attributes by name, from (name, text) pairs in any order."""
    canonical = {name: a.name for a in table for name in (a.name, *a.also)}
    texts = {}
    for name, _ in given:
        if name not in canonical and not (table and is_private(name)):
            refuse("attr.unknown")
    for name, text in given:
        if name not in canonical:
            continue
        if canonical[name] in texts:
            refuse("attr.twice")
        texts[canonical[name]] = text
    values = {}
    for a in table:
        text = texts.get(a.name, a.default)
        values[a.name] = refuse("attr.missing") if text is None else a.read(text)
    return SimpleNamespace(**values)


def is_private(name: str) -> bool:
    """Whether an attribute is an annotation for other programs, which the call ignores."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")
