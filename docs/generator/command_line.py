"""Makes the page of the command line: a table of options for the program and each verb, read from
what the program prints when it is asked for help."""

import dataclasses
import re

import rst
from refusal import Refused

COLUMN = 30  # where the descriptions begin
TYPES = "TEXT|INT|UINT|FLOAT"
HEAD = re.compile(
    rf"(?P<names>\S+)(?: (?P<type>{TYPES})(?::(?P<range>.+?))?)?(?:=(?P<default>.*?))?"
    r"(?P<more> \.\.\.)?(?: REQUIRED)?(?P<needs> (?:Needs|Excludes): .+)?"
)
SPOKEN = {"TEXT": "text", "INT": "integer", "UINT": "natural number", "FLOAT": "number",
          "DIR": "directory", "FILE": "file", "POSITIVE": "1 or more", "NONNEGATIVE": "0 or more"}


@dataclasses.dataclass
class Help:
    """What the program prints for one verb: sentences before and after, usage and sections."""

    about: str
    usage: str
    sections: dict
    closing: str


def parse(text: str) -> Help:
    """The parts of a help text. Sections are lists of (head, description)."""
    about, found, rest = text.partition("\nUsage: ")
    if not found:
        raise Refused(f"no usage in the help: {text[:60]!r}")
    usage, _, rest = rest.partition("\n")
    sections, closing, rows = {}, [], None
    for line in rest.splitlines():
        if re.fullmatch(r"(Positionals|Options|Subcommands):", line):
            rows = sections.setdefault(line[:-1], [])
        elif line.startswith(" ") and rows is not None:
            add_line(rows, line)
        elif line:
            rows = None
            closing.append(line)
    return Help(about.strip(), usage, sections, "\n".join(closing))


def add_line(rows: list, line: str):
    """Adds a line of a section: a new row, or more of the row before."""
    head, description = line[:COLUMN], line[COLUMN:]
    if not head.strip():
        rows[-1][1] = f"{rows[-1][1]} {description.strip()}".strip()
    elif len(line) <= COLUMN or head.endswith(" ") and not description.startswith("in ["):
        rows.append([head.strip(), description.strip()])
    else:
        rows.append([line.strip(), ""])


def option_row(head: str, description: str) -> list:
    """A row of a table: the option's names, its values, what it does."""
    match = HEAD.fullmatch(head)
    if not match or not description:
        raise Refused(f"the help of an option is not understood: {head} {description}")
    values = [values_of(match["range"] or match["type"])] if match["type"] else []
    values += ["several"] if match["more"] else []
    values += [f"default {rst.code(match['default'])}"] if match["default"] else []
    needs = "; " + match["needs"].strip().replace(":", "").lower() if match["needs"] else ""
    names = ", ".join(rst.code(name) for name in re.sub(r"\{.*", "", match["names"]).split(","))
    return [names, ", ".join(values), with_options(description + needs)]


def with_options(text: str) -> str:
    """Prose in which the names of options are code."""
    pieces = re.split(r"(--[a-z][\w-]*)", text)
    pieces[::2], pieces[1::2] = map(rst.prose, pieces[::2]), map(rst.code, pieces[1::2])
    return "".join(pieces)


def values_of(limits: str) -> str:
    """The legal values, from what CLI11 says of them."""
    if limits in SPOKEN:
        return SPOKEN[limits]
    if words := re.fullmatch(r"\{(.*)\}", limits):
        return " or ".join(rst.code(word) for word in words[1].split(","))
    if bounds := re.fullmatch(rf"(?:{TYPES}) in \[(\S+) - (\S+)\]", limits):
        return f"{number(bounds[1])} to {number(bounds[2])}"
    return rst.prose(limits)


def number(text: str) -> str:
    return f"{float(text):,.0f}" if "e" in text else text


def section(text: str, is_whole: bool) -> str:
    """What the page says of the program or of a verb."""
    parts, found = [], parse(text)
    parts.append(rst.block("code-block", "text", found.usage))
    if is_whole:
        parts.append(rst.block("code-block", "text", found.about))
    else:
        parts.append(rst.prose(" ".join(found.about.split())) + ".\n")
    for name in ("Positionals", "Options"):
        rows = [option_row(*row) for row in found.sections.get(name, []) if row[0] != "-h,--help"]
        if rows:
            head = ["Argument" if name == "Positionals" else "Option", "Values", "What it does"]
            parts.append(rst.table(head, rows, [26, 22, 52]))
    if found.closing:
        parts.append(rst.block("code-block", "text", found.closing))
    return "\n".join(parts)


def page(program) -> str:
    """The reference of the command line, verb by verb."""
    parts = [
        rst.title("The command line"),
        "Generated from the program's own help, which ``-h`` prints for the program and for each "
        "verb. A case id is accepted wherever a case is, and :doc:`verdicts` explains what a "
        "verdict and an exit status mean.\n",
        section(program.says("--help"), is_whole=True),
    ]
    for verb in program.verbs():
        parts.append(rst.title(f"lockstep {verb}", "-"))
        parts.append(section(program.says(verb, "--help"), is_whole=False))
        for inner in program.verbs(verb):
            parts.append(rst.title(f"lockstep {verb} {inner}", "~"))
            parts.append(section(program.says(verb, inner, "--help"), False))
    return "\n".join(parts)
