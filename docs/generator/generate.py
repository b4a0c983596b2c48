#!/usr/bin/env python3
"""Writes the source of the documentation site: the pages generated from the program and from the
headers of the specification, and then the pages of docs/ with what they promise run and shown.

usage: generate.py reference SOURCES BUILD OUTPUT MATHJAX DOXYGEN HEADER...
       generate.py guides SOURCES BUILD OUTPUT
       generate.py front SITE VERSION ADDRESS
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import sys
import xml.etree.ElementTree

import command_line
import front
import glossary
import header
import interfaces
import operator_pages
import performance
import playground
import program
import refusal
import rst
import session
import tested
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
    operators = lockstep.specification["operators"]
    write(output / "operators" / "index.rst", operator_pages.index(operators))
    for op in operators:
        page = operator_pages.page(op, sources, lockstep)
        write(output / "operators" / f"{op['name']}.rst", page)
        path = f"spec/ops/{op['name']}.h"
        write(output / "static" / f"{path}.txt", (sources / path).read_text(encoding="ascii"))


def write_program(lockstep: program.Program, output: pathlib.Path):
    """Writes the pages and parts of pages that come from the program's output."""
    write(output / "cli.rst", command_line.page(lockstep))
    write(output / "generated" / "properties.rst", program.properties(lockstep))
    write(output / "generated" / "labels.rst", program.labels(lockstep))
    write(output / "generated" / "errata.rst", program.errata(lockstep))
    write(output / "generated" / "errata_placed.rst", program.errata_placed(lockstep))
    write(output / "generated" / "line_schema.json", lockstep.says("eval", "--schema"))
    write(output / "beside" / "spec.json", lockstep.says("spec", "--json"))
    write(output / "beside" / "spec_schema.json", lockstep.says("spec", "--schema"))


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
        blocks = [rst.block("doxygenstruct", name, "", project="c", members="")
                  for _, name in sorted(lines)]  # fmt: skip
        write(output / "generated" / f"structures_{header_file}.rst", "\n".join(blocks))


def copy_mathjax(mathjax: pathlib.Path, output: pathlib.Path):
    for part in MATHJAX_PARTS:
        source, target = mathjax / part, output / "static" / "mathjax" / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copyfile(source, target)


def write_interfaces(doxygen: pathlib.Path, headers: list, output: pathlib.Path):
    """Writes the reference of the C structures and that of the headers in C++."""
    write_structures(doxygen / "c" / "xml", output)
    interfaces.shorten(doxygen / "cpp" / "xml")
    for name, page in interfaces.pages(doxygen / "cpp" / "xml", headers).items():
        write(output / "interfaces" / f"{name}.rst", page)


def copy_vectors(sources: pathlib.Path, output: pathlib.Path):
    """Copies the golden vectors, which the pages of the operators offer as downloads."""
    (output / "golden").mkdir(parents=True)
    for vectors in sorted((sources / "conformance" / "vectors").glob("*.json")):
        shutil.copyfile(vectors, output / "golden" / vectors.name)


def write_reference(sources, build, output, mathjax, doxygen, *headers):
    """Writes everything except the hand-written pages, replacing older output."""
    shutil.rmtree(output, ignore_errors=True)
    lockstep = program.Program(build / "bin" / "lockstep")
    write_operators(lockstep, sources, output)
    write_program(lockstep, output)
    write_interfaces(pathlib.Path(doxygen), list(headers), output)
    write(output / "generated" / "tested.rst", tested.page(lockstep, sources))
    write(output / "generated" / "performance.rst", performance.page(sources))
    write(output / "generated" / "costs.rst", performance.costs(sources))
    write(output / "generated" / "vocabulary.rst", vocabulary.page(sources))
    write(output / "generated" / "words.json", json.dumps(vocabulary.linked(sources)))
    shutil.copyfile(DOCS / "conf.py", output / "conf.py")
    shutil.copytree(DOCS / "static", output / "static", dirs_exist_ok=True)
    copy_mathjax(mathjax, output)
    copy_vectors(sources, output)
    playground.write(lockstep, sources, build, output)


PARTS = {"reference": (write_reference, 5), "guides": (write_guides, 3), "front": (front.write, 1)}


def main() -> int:
    part, places = PARTS.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    words = sys.argv[2:]
    if not part or len(words) < places:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        part(*[pathlib.Path(word).resolve() for word in words[:places]], *words[places:])
    except refusal.Refused as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
