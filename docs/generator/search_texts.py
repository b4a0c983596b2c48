"""A Sphinx extension: the search shows where its words stand, without a web server.

Sphinx fetches each page that it found, which a browser refuses for a page opened from a directory.
Such a page may load a script, so this extension writes one with the texts of all pages and labels.
"""

import json
import pathlib

from sphinx import addnodes


def collect(app) -> dict:
    """The text of each page, and of each label by page and anchor."""
    texts = {}
    for name in sorted(app.env.found_docs):
        tree = app.env.get_doctree(name)
        texts[name] = " ".join(tree.astext().split())
        for found in tree.findall(addnodes.desc):
            if found["objtype"] == "label":
                signature, content = found[0], found[-1]
                texts[f"{name}#{signature['ids'][0]}"] = " ".join(content.astext().split())
    return texts


def add_scripts(app, page, _template, _context, _tree):
    if page == "search":
        app.add_js_file("search_texts.js")
        app.add_js_file("snippets.js")


def finish(app, exception):
    if exception is None:
        path = pathlib.Path(app.outdir) / "_static" / "search_texts.js"
        script = f"const SEARCH_TEXTS = {json.dumps(collect(app), sort_keys=True)};\n"
        path.write_text(script, encoding="ascii")


def setup(app):
    app.connect("html-page-context", add_scripts)
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
