"""Checks the glossary: terms are sorted, occur once, and have an explanation."""

import re

from refusal import Refused

GLOSSARY = re.compile(r"^```\{glossary\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SENTENCES_MOST = 3


def entries(text: str) -> list:
    """The terms of a page's glossary with their explanations."""
    found = GLOSSARY.search(text)
    blocks = re.split(r"\n\s*\n", found[1].strip("\n")) if found and found[1].strip() else []
    return [(block.partition("\n")[0], block.partition("\n")[2].strip()) for block in blocks]


def check(text: str):
    """Refuses a glossary without terms, or with one out of place, named twice or not explained."""
    terms = [term for term, _ in entries(text)]
    if not terms:
        raise Refused("glossary.md: there are no terms")
    for before, term in zip(terms, terms[1:]):
        if before.casefold() == term.casefold():
            raise Refused(f"glossary.md: {term} is named twice")
        if before.casefold() > term.casefold():
            raise Refused(f"glossary.md: {term} stands behind {before}")
    for term, meaning in entries(text):
        sentences = len(re.findall(r"\.(?=\s|$)", meaning))
        if not 1 <= sentences <= SENTENCES_MOST:
            raise Refused(f"glossary.md: {term} is explained in {sentences} sentences, "
                              f"not in 1 to {SENTENCES_MOST}")  # fmt: skip
