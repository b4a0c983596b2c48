"""Converts the formulas of the headers to LaTeX for MathJax.

A header writes a formula in LaTeX that is also readable as text: a word of several letters is one
variable there, where LaTeX sees a product of letters. `\\quad` separates statements.
"""

import re

# Commands with a text or a name in braces, other commands, and words of at least two letters.
COMMAND = r"\\(?:text|mathrm|operatorname|begin|end)\{[^{}]*\}|\\[A-Za-z]+|\\."
TOKEN = re.compile(COMMAND + r"|[A-Za-z](?:[A-Za-z]|\\_)+")


def statements(formula: str) -> list:
    """The statements of a formula, each as LaTeX for a line of its own."""
    parts = (" ".join(part.split()) for part in re.split(r",?\s*\\quad\b", formula))
    return [upright(part) for part in parts if part]


def upright(tex: str) -> str:
    """The LaTeX with each word set as one variable, and the indices of an element as one group,
    in which a long formula is broken only where there is no other place."""
    tex = TOKEN.sub(lambda m: m[0] if m[0][0] == "\\" else rf"\mathit{{{m[0]}}}", tex)
    return re.sub(r"\[([^\[\]]*)\]", r"\\mathopen{}\\left[\1\\right]\\mathclose{}", tex)
