#!/usr/bin/env python3
"""Writes the source of the documentation site: the pages generated from the program and from the
headers of the specification, and then the pages of docs/ with what they promise run and shown.

usage: generate.py reference SOURCES BUILD OUTPUT MATHJAX DOXYGEN-XML
       generate.py guides SOURCES BUILD OUTPUT
"""

import collections
import concurrent.futures
import os
import pathlib
import shutil
import sys
import xml.etree.ElementTree

import glossary
import header
import operator_pages
import playground
import program
import refusal
import rst
import session
import vocabulary

DOCS = pathlib.Path(__file__).resolve().parent.parent
# The parts of MathJax 2 that TeX needs to become SVG without a font or a file from elsewhere.
MATHJAX_PARTS = [
    "MathJax.js",
    "config/TeX-AMS_SVG.js",
    "extensions",
    "jax/element",
    "jax/input/TeX",
    "jax/output/SVG/autoload",
    "jax/output/SVG/config.js",
    "jax/output/SVG/fonts/TeX",
    "jax/output/SVG/jax.js",
    "localization/en",
]


def write(path: pathlib.Path, text: str):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_guides(sources: pathlib.Path, build: pathlib.Path, output: pathlib.Path):
    """Writes the hand-written pages and runs their commands, those of several pages at once."""
    glossary.check((DOCS / "glossary.md").read_text(encoding="ascii"))

    def write_guide(path: pathlib.Path):
        page = session.Page(path, sources)
        page.run(sources, build)
        write(output / path.name, page.rendered())

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(write_guide, sorted(DOCS.glob("*.md"))))
    readme = sources / "README.md"
    session.Page(readme, sources).hold_numbers()
    introduction = readme.read_text(encoding="ascii").split("\n## ")[0].split("\n", 1)[1]
    write(output / "generated" / "introduction.md", introduction)


def write_operators(lockstep: program.Program, sources: pathlib.Path, output: pathlib.Path):
    """Writes a page per operator and their index."""
    operators = lockstep.specification()["operators"]
    answers = lockstep.answers([e["call"] for op in operators for e in op["examples"]])
    write(output / "operators" / "index.rst", operator_pages.index(operators))
    for op in operators:
        page = operator_pages.page(op, sources, answers)
        write(output / "operators" / f"{op['name']}.rst", page)


def write_program(lockstep: program.Program, output: pathlib.Path):
    """Writes the pages and parts of pages that come from the program's output."""
    write(output / "cli.rst", program.command_line(lockstep))
    write(output / "generated" / "properties.rst", program.properties(lockstep))
    write(output / "generated" / "labels.rst", program.labels(lockstep))
    write(output / "generated" / "errata.rst", program.errata(lockstep))
    write(output / "generated" / "line_schema.json", lockstep.says("eval", "--schema"))


def write_structures(doxygen: pathlib.Path, output: pathlib.Path):
    """Writes the structures of each C interface, in the order of its header."""
    index = xml.etree.ElementTree.parse(doxygen / "index.xml")
    found = collections.defaultdict(list)
    for compound in index.findall("compound[@kind='struct']"):
        about = xml.etree.ElementTree.parse(doxygen / f"{compound.get('refid')}.xml")
        location = about.find("compounddef/location")
        header_file = pathlib.PurePath(location.get("file")).stem
        found[header_file].append((int(location.get("line")), compound.findtext("name")))
    for header_file, lines in found.items():
        blocks = [rst.block("doxygenstruct", name, "", members="") for _, name in sorted(lines)]
        write(output / "generated" / f"structures_{header_file}.rst", "\n".join(blocks))


def copy_mathjax(mathjax: pathlib.Path, output: pathlib.Path):
    for part in MATHJAX_PARTS:
        source, target = mathjax / part, output / "static" / "mathjax" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)


def write_reference(sources, build, output, mathjax, doxygen):
    """Writes everything except the hand-written pages, replacing older output."""
    shutil.rmtree(output, ignore_errors=True)
    lockstep = program.Program(build / "bin" / "lockstep")
    write_operators(lockstep, sources, output)
    write_program(lockstep, output)
    write_structures(doxygen, output)
    write(output / "generated" / "vocabulary.rst", vocabulary.page(sources))
    shutil.copyfile(DOCS / "conf.py", output / "conf.py")
    shutil.copytree(DOCS / "static", output / "static")
    copy_mathjax(mathjax, output)
    playground.write(lockstep, sources, build, output)


PARTS = {("reference", 5): write_reference, ("guides", 3): write_guides}


def main() -> int:
    words = [pathlib.Path(word).resolve() for word in sys.argv[2:]]
    part = PARTS.get((sys.argv[1] if words else "", len(words)))
    if not part:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        part(*words)
    except refusal.Refused as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
