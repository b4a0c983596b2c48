"""Small pieces of reStructuredText."""

import re

# Names and powers, which become code and superscripts.
NAME = r"\b[A-Za-z]\w*_\w+\b"
POWER = r"\b(\w+)\^(\w+)"


def prose(text: str) -> str:
    """Plain text of a header: `what` and names with an underscore become code, 2^24 a power."""
    pieces, end = [], 0
    for match in re.finditer(rf"`(?P<code>[^`]+)`|{POWER}|{NAME}", text):
        pieces.append(escaped(text[end : match.start()]))
        base, exponent = match[2], match[3]
        words = code(match["code"] or match[0])
        pieces.append(rf"{base}\ :sup:`{exponent}`\ " if base else words)
        end = match.end()
    return "".join(pieces + [escaped(text[end:])])


def escaped(text: str) -> str:
    """The text with the special characters of reStructuredText escaped."""
    return re.sub(r"([\\*`|_\[\]<>@])", r"\\\1", text)


def code(text: str) -> str:
    """A literal, correct at any place in a sentence."""
    return rf"\ ``{text}``\ " if text else ""


def title(text: str, underline: str = "=") -> str:
    return f"{text}\n{underline * len(text)}\n"


def block(directive: str, argument: str, body: str, **options) -> str:
    """A directive with options and an indented body."""
    lines = [f".. {directive}:: {argument}".rstrip()]
    lines += [f"   :{key}: {value}" for key, value in options.items()]
    return "\n".join(lines) + "\n\n" + indented(body) + "\n"


def indented(text: str, by: str = "   ") -> str:
    return "".join(by + line if line.strip() else line for line in text.splitlines(True)) + "\n"


def table(header: list, rows: list, widths: list) -> str:
    """A table whose cells are reStructuredText of one paragraph."""
    cells = []
    for row in [header, *rows]:
        cells += [("* - " if i == 0 else "  - ") + cell.strip() for i, cell in enumerate(row)]
    options = {"header-rows": 1, "widths": " ".join(map(str, widths))}
    return block("list-table", "", "\n".join(cells), **options)
