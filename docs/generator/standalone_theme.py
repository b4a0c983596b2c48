"""A Sphinx extension: makes Furo as Debian packages it work without a web server.

Debian's Furo imports a style sheet from an address that needs a web server, and a script as a
module, which a browser refuses for a page opened from a directory; and its style sheet has lost the
dark colors for readers whose system asks for them. The extension does not change upstream's Furo,
which has none of these faults.
"""

import pathlib
import re

STYLE = re.compile(r"@import url\(/javascript/([^)]+)\);")
# The block ends at the first line that closes two brackets: a rule, and the block itself.
DARK = re.compile(r'@media not print \{\n  body\[data-theme="dark"\].*? \} \}\n', re.DOTALL)
SCRIPT = re.compile(r'import \w+ from "\./([^"]+)";')
DEBIAN = pathlib.Path("/usr/share/javascript")


def put_inside(path: pathlib.Path, reference: re.Pattern, place: pathlib.Path):
    """Puts the files that `path` refers to into it, instead of the references."""
    text = path.read_text(encoding="utf-8")
    whole = reference.sub(lambda m: (place / m[1]).read_text(encoding="utf-8"), text)
    path.write_text(whole, encoding="utf-8")


def ask_the_system(path: pathlib.Path):
    """Gives the dark colors, which the toggle chooses, to systems that ask for them too."""
    text = path.read_text(encoding="utf-8")
    if "prefers-color-scheme" in text:
        return
    block = DARK.search(text)
    asked = block[0].replace('body[data-theme="dark"]', 'body:not([data-theme="light"])')
    dark = f"@media (prefers-color-scheme: dark) {{\n{asked}}}\n"
    path.write_text(text[: block.end()] + dark + text[block.end() :], encoding="utf-8")


def finish(app, exception):
    if exception is None:
        static = pathlib.Path(app.outdir) / "_static"
        put_inside(static / "styles" / "furo.css", STYLE, DEBIAN)
        ask_the_system(static / "styles" / "furo.css")
        put_inside(static / "scripts" / "furo.js", SCRIPT, static / "scripts")


def setup(app):
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
