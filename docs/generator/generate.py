#!/usr/bin/env python3
"""Writes the source of the documentation site: the pages of docs/ with what they promise run and
shown, and the pages generated from the program and from the headers of the specification.

usage: generate.py SOURCES BUILD OUTPUT MATHJAX DOXYGEN-XML
"""

import collections
import pathlib
import shutil
import sys
import xml.etree.ElementTree

import header
import operator_pages
import program
import rst
import session

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


def write_pages(sources: pathlib.Path, build: pathlib.Path, output: pathlib.Path):
    """The pages that people wrote, their commands run."""
    for path in sorted(DOCS.glob("*.md")):
        page = session.Page(path, sources)
        page.run(sources, build)
        write(output / path.name, page.rendered())


def write_operators(lockstep: program.Program, sources: pathlib.Path, output: pathlib.Path):
    """A page per operator and their index."""
    operators = lockstep.specification()["operators"]
    answers = lockstep.answers([e["call"] for op in operators for e in op["examples"]])
    write(output / "operators" / "index.rst", operator_pages.index(operators))
    for op in operators:
        page = operator_pages.page(op, sources, answers)
        write(output / "operators" / f"{op['name']}.rst", page)


def write_program(lockstep: program.Program, output: pathlib.Path):
    """The pages, or parts of pages, that the program's own words make."""
    write(output / "cli.rst", program.command_line(lockstep))
    write(output / "generated" / "properties.rst", program.properties(lockstep))
    write(output / "generated" / "labels.rst", program.labels(lockstep))
    write(output / "generated" / "errata.rst", program.errata(lockstep))
    write(output / "generated" / "line_schema.json", lockstep.says("eval", "--schema"))


def write_structures(doxygen: pathlib.Path, output: pathlib.Path):
    """The structures of each C interface, in the order in which its header defines them."""
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


def main() -> int:
    if len(sys.argv) != 6:
        print(__doc__, file=sys.stderr)
        return 2
    sources, build, output, mathjax, doxygen = (pathlib.Path(w).resolve() for w in sys.argv[1:])
    shutil.rmtree(output, ignore_errors=True)
    lockstep = program.Program(build / "bin" / "lockstep")
    try:
        write_operators(lockstep, sources, output)
        write_program(lockstep, output)
        write_structures(doxygen, output)
        write_pages(sources, build, output)
    except (header.HeaderError, operator_pages.WrongExample, program.NoWitness,
            session.BrokenPromise) as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    shutil.copyfile(sources / "spec" / "arithmetic.h", output / "generated" / "arithmetic.h")
    shutil.copyfile(DOCS / "conf.py", output / "conf.py")
    shutil.copytree(DOCS / "static", output / "static")
    copy_mathjax(mathjax, output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
