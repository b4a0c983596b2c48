"""Checks the glossary: terms are sorted, occur once, and have an explanation."""

import re

from refusal import Refused

GLOSSARY = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SENTENCES_MOST = 3


def entries(text: str) -> list:
    """The terms of a page's glossaries with their explanations."""
    return [entry for part in parts(text) for entry in part]


def parts(text: str) -> list:
    """The entries of each glossary of a page."""
    found = []
    for glossary in GLOSSARY.findall(text):
        blocks = re.split(r"\n\s*\n", glossary.strip("\n")) if glossary.strip() else []
        found.append([(block.partition("\n")[0], block.partition("\n")[2].strip())
                      for block in blocks])  # fmt: skip
    return found


def check(text: str):
    """Refuses a glossary without terms, or with one out of place, named twice or not explained."""
    named = set()
    for part in parts(text):
        terms = [term for term, _ in part]
        for before, term in zip(["", *terms], terms):
            if term.casefold() in named:
                raise Refused(f"glossary.md: {term} is named twice")
            if before.casefold() > term.casefold():
                raise Refused(f"glossary.md: {term} stands behind {before}")
            named.add(term.casefold())
    if not named:
        raise Refused("glossary.md: there are no terms")
    for term, meaning in entries(text):
        sentences = len(re.findall(r"\.(?=\s|$)", meaning))
        if not 1 <= sentences <= SENTENCES_MOST:
            raise Refused(f"glossary.md: {term} is explained in {sentences} sentences, "
                              f"not in 1 to {SENTENCES_MOST}")  # fmt: skip
