"""A Sphinx extension: in the code of an operator's page, each word that the vocabulary defines is a
link to its definition. `generated/words.json` lists these words (vocabulary.py)."""

import json
import pathlib
import re

BLOCK = re.compile(r'<div class="highlight-cpp notranslate">.*?</pre>', re.DOTALL)
# A name, and before it what makes it a member.
NAME = re.compile(r'((?:\.|::|-&gt;)</span>)?<span class="(nf?|nc|kt|nb)">(\w+)</span>')


def link(match: re.Match, words: dict, own: set, address: str) -> str:
    """The name as a link if the vocabulary defines it and the operator does not."""
    before, style, name = match[1] or "", match[2], match[3]
    if name in own or name not in words["members" if before else "words"]:
        return match[0]
    return f'{before}<a class="word {style}" href="{address}#word-{name}">{name}</a>'


def linked(body: str, words: dict, operator: str, address: str) -> str:
    """The HTML of an operator's page with its words linked."""
    own = set(words["own"][operator])
    return BLOCK.sub(
        lambda block: NAME.sub(lambda m: link(m, words, own, address), block[0]), body)


def link_words(app, pagename, templatename, context, doctree):
    place, _, operator = pagename.partition("/")
    if place == "operators" and operator != "index":
        path = pathlib.Path(app.srcdir) / "generated" / "words.json"
        words = json.loads(path.read_text(encoding="ascii"))
        address = context["pathto"]("vocabulary")
        context["body"] = linked(context["body"], words, operator, address)


def setup(app):
    app.connect("html-page-context", link_words)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
