"""Compares the numbers in a page's prose with the runs that the page shows beside them.

A run is a `run` fence, or a captured one: a plain fence whose first line begins with "$ ". It
vouches for the section in which it stands, from one heading to the next.

    {printed}`TEXT`     a run of the section prints TEXT, as a word of its own; the page shows TEXT
    4 digits or more    need no mark: a run of the section shows the number, in a command or in what
                        the command prints. Formulas and the targets of links are left alone.
"""

import dataclasses
import re

PRINTED = re.compile(r"\{printed\}`([^`]+)`")
NUMBER = re.compile(r"(?<![\w.,^-])-?(?:\d{4,}|\d{1,3}(?:,\d{3})+)(?![\w-]|[.,]\d)")
ELSEWHERE = re.compile(r"\{math\}`[^`]*`|\]\([^)]*\)|<[^>]*>")
FENCED = re.compile(r"^(```+)([^\n]*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ ", re.MULTILINE)


@dataclasses.dataclass
class Section:
    """The content between two headings: prose, commands and their output."""

    prose: str = ""
    commands: str = ""
    printed: str = ""
    runs: int = 0

    def show(self, commands: str, printed: str):
        self.commands += commands + "\n"
        self.printed += printed + "\n"
        self.runs += 1

    def faults(self) -> list:
        """The numbers and marked words that no run of the section shows."""
        unmarked = ELSEWHERE.sub(" ", PRINTED.sub(" ", self.prose))
        shown = self.commands + self.printed
        wrong = [word for word in PRINTED.findall(self.prose) if not stands(word, self.printed)]
        if self.runs:
            wrong += [number for number in NUMBER.findall(unmarked) if not stands(number, shown)]
        return wrong


def stands(word: str, text: str) -> bool:
    """Whether the text contains the word, not only as a part of a longer word or number."""
    return bool(re.search(rf"(?<![\w.-]){re.escape(word)}(?!\w|[.,]\d)", text))


def sections(parts: list, screens) -> list:
    """The sections of a page. `screens` gives the (commands, printed) of a part that is a run."""
    found = [Section()]
    for part in parts:
        if isinstance(part, list):
            for commands, printed in screens(part):
                found[-1].show(commands, printed)
        elif isinstance(part, str):
            read_prose(part, found)
    return found


def read_prose(text: str, found: list):
    """Adds prose, captured runs and new sections to the sections found so far."""
    end = 0
    for fence in [*FENCED.finditer(text), None]:
        first, *others = HEADING.split(text[end : fence.start() if fence else len(text)])
        found[-1].prose += first
        found += [Section(prose=prose) for prose in others]
        if fence and fence[3].startswith("$ "):
            found[-1].show(*captured(fence[3]))
        end = fence.end() if fence else end


def captured(body: str):
    """The commands of a captured run with their continuation lines, and their output."""
    commands, printed, continued = [], [], False
    for line in body.splitlines():
        is_command = continued or line.startswith("$ ")
        (commands if is_command else printed).append(line)
        continued = is_command and line.endswith("\\")
    return "\n".join(commands), "\n".join(printed)


def unmarked(text: str) -> str:
    """The text as the page shows it."""
    return PRINTED.sub(r"\1", text)
