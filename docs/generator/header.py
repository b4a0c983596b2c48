"""Cuts the definitions that an operator's page shows out of the operator's header.

A header is one struct, perhaps with a base struct in a header it includes. The struct's members
are found by matching brackets, with comments and literals skipped; nothing else of C++ is parsed.
"""

import dataclasses
import pathlib
import re
import textwrap

from refusal import Refused

# Comments and literals, whose brackets do not count.
SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.DOTALL
)
INCLUDE = re.compile(r'^#include "(spec/[^"]+)"', re.MULTILINE)
IDENTIFIER = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")


@dataclasses.dataclass(frozen=True)
class Member:
    """A member of a struct: the names it defines and its text."""

    names: frozenset
    text: str


def blank(text: str) -> str:
    """The text with comments and literals overwritten by spaces, of the same length."""
    return SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def closing(code: str, start: int, path: pathlib.Path) -> int:
    """The position of the bracket that closes the one at `start`."""
    depth = 0
    for i in range(start, len(code)):
        depth += (code[i] in "{(") - (code[i] in "})")
        if depth == 0:
            return i
    raise Refused(f"{path}: a bracket is never closed")


def names_of(code: str) -> frozenset:
    """The names that a member defines, from its text without comments and literals."""
    code = code.strip()
    if match := re.match(r"(?:struct|using)\s+(\w+)", code):
        return frozenset([match[1]])
    if re.match(r"enum\b", code):
        return frozenset(re.findall(r"[A-Za-z_]\w*", code[code.index("{") :]))
    head = re.split(r"[({=]", code, maxsplit=1)[0]
    if "(" in code and code[len(head)] == "(":
        return frozenset(re.findall(r"(\w+)\s*$", head))
    while (flat := re.sub(r"[{(][^{}()]*[)}]", "=", code)) != code:
        code = flat
    return frozenset(re.findall(r"(\w+)\s*(?:\[\]\s*)?=", code))


def members(text: str, struct: str, path: pathlib.Path):
    """The members of a struct in order, and the name of its base or None."""
    code = blank(text)
    opening = re.search(rf"^struct {struct}(?: : (\w+))? \{{", code, re.MULTILINE)
    if not opening:
        raise Refused(f"{path}: there is no struct {struct}")
    begin, end = opening.end(), closing(code, opening.end() - 1, path)
    found = [Member(names_of(code[first:last]), textwrap.dedent(text[first:last].strip("\n")))
             for first, last in declarations(code, begin, end, path)]  # fmt: skip
    return found, opening[1]


def declarations(code: str, begin: int, end: int, path: pathlib.Path) -> list:
    """The begin and end of each declaration in a struct or namespace, from its text without
    comments and literals; a declaration begins where the one before it ends."""
    found, i = [], begin
    while i < end:
        done = code[i] == ";"
        if code[i] in "{(":
            bracket, i = code[i], closing(code, i, path)
            rest = code[i + 1 : end].lstrip()
            # A body ends its function; an initializer is followed by more of its declaration.
            done = bracket == "{" and rest[:1] not in tuple(";,.{<>+-*/")
        i += 1
        if done:
            found.append((begin, i))
            begin = i
    return found


def find_base(root: pathlib.Path, path: pathlib.Path, base: str) -> pathlib.Path:
    """The header that defines struct `base`: the one at `path` or one that it includes."""
    includes = [root / name for name in INCLUDE.findall(path.read_text(encoding="ascii"))]
    for header in (path, *includes):
        if re.search(rf"^struct {base}\b", header.read_text(encoding="ascii"), re.MULTILINE):
            return header
    raise Refused(f"{path}: neither it nor a header it includes defines struct {base}")


class Header:
    """The struct of one operator with its bases."""

    # Members that the page shows in tables, and members without a meaning for readers.
    TABLES = frozenset(
        "Attrs name alias profile summary formula exceeds in_place errata laws inputs outputs "
        "attrs inputs_needed rules shape precision accumulator gas domain examples".split()
    )

    def __init__(self, root: pathlib.Path, name: str):
        self.path = root / "spec" / "ops" / f"{name}.h"
        struct = "".join(word.capitalize() for word in name.split("_"))
        self.members, base = members(self.path.read_text(encoding="ascii"), struct, self.path)
        path = self.path
        while base:
            path = find_base(root, path, base)
            inherited, base = members(path.read_text(encoding="ascii"), base, path)
            own = frozenset().union(*(m.names for m in self.members))
            self.members = [m for m in inherited if not m.names & own] + self.members

    def definition(self, name: str) -> str:
        """The text of the function `name`, ready to be printed."""
        return self._find(name).text

    def helpers(self, name: str) -> list:
        """The members that the function `name` uses, directly or not, in the order of the text.
        Enumerators that name ports are left out, because tables show them."""
        wanted, open_members = set(), [self._find(name)]
        while open_members:
            used = set(IDENTIFIER.findall(blank(open_members.pop().text))) - self.TABLES
            for m in self.members:
                if m.names & used and m not in wanted:
                    wanted.add(m)
                    open_members.append(m)
        wanted.discard(self._find(name))
        used = [m.text for m in self.members if m in wanted]
        return [text for text in used if not text.startswith("enum {")]

    def _find(self, name: str) -> Member:
        for m in self.members:
            if name in m.names:
                return m
        raise Refused(f"{self.path}: there is no {name}")
