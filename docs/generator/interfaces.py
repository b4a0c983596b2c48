"""Makes the reference pages of the C++ interfaces: every public symbol of the installed headers,
header by header, from the XML that Doxygen wrote. Breathe sets what the directives name."""

import pathlib
import re
import xml.etree.ElementTree

import rst
from refusal import Refused

# Pages with their title, what they are about, and the headers whose paths begin so.
PAGES = {
    "backends": ("Helpers for backends in C++", "Write a backend, or load one.", ["backends/"]),
    "runtime": ("Sessions", "Infer with a model in your own process.", ["runtime/"]),
    "models": ("Evaluation and models", "One call by the specification; graphs and their faults.",
               ["reference/"]),
    "arrays": ("Arrays and tensors", "Arrays that share memory, tensors whose type and rank the "
               "compiler knows, and the memory below.",
               ["containers/array/", "containers/tensor/", "containers/memory/"]),
    "layouts": ("Layouts", "Where in a buffer the elements of a tensor lie.",
                ["containers/layout/"]),
    "parameters": ("Parameter files", "Readers and writers of parameter files and of NumPy's "
                   "archives.", ["containers/params/"]),
    "errors": ("Errors and words", "The two exceptions, the assertions that throw them, and small "
               "helpers.", ["containers/"]),
}  # fmt: skip
SHOWN = {"class", "struct", "function", "enum", "typedef", "variable", "define", "concept"}


def text_of(element) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def shorten(doxygen: pathlib.Path):
    """Takes initial values of several lines out of the XML: tables, which Breathe cannot read."""
    for path in doxygen.glob("namespace*.xml"):
        tree = xml.etree.ElementTree.parse(path)
        for member in tree.iter("memberdef"):
            value = member.find("initializer")
            if value is not None and "{{" in text_of(value).replace(" ", ""):
                member.remove(value)
        tree.write(path, encoding="utf-8")


def symbols(doxygen: pathlib.Path) -> dict:
    """The public symbols of each header as (line, kind, name, arguments), in order."""
    found, compounds = {}, xml.etree.ElementTree.parse(doxygen / "index.xml").findall("compound")
    types = {c.findtext("name") for c in compounds if c.get("kind") in ("class", "struct")}
    for compound in compounds:
        path = doxygen / f"{compound.get('refid')}.xml"
        about = xml.etree.ElementTree.parse(path).find("compounddef")
        kind, name = compound.get("kind"), compound.findtext("name")
        if kind in ("class", "struct", "concept"):
            if about.get("prot") in ("public", None) and name.rpartition("::")[0] not in types:
                place = about.find("location")
                entry = (int(place.get("line")), kind, name, "")
                found.setdefault(place.get("file"), []).append(entry)
        elif kind in ("namespace", "file"):
            scope = f"{name}::" if kind == "namespace" else ""
            for member in about.findall("sectiondef/memberdef"):
                if kind == "namespace" or member.get("kind") == "define":
                    add(found, member, scope)
    return {header: sorted(entries) for header, entries in found.items()}


def add(found: dict, member, scope: str):
    """Adds a documented member of a namespace or file at the place where it is declared."""
    if not text_of(member.find("briefdescription")):
        return
    place = member.find("location")
    header = place.get("declfile") or place.get("file")
    line = int(place.get("declline") or place.get("line"))
    arguments = re.sub(r"\s*=\s*(default|delete)$", "", member.findtext("argsstring") or "")
    entry = (line, member.get("kind"), scope + member.findtext("name"), arguments)
    found.setdefault(header, []).append(entry)


def header_section(header: str, entries: list) -> str:
    """A header: its name, what it says of itself, and its symbols."""
    parts = [rst.title(header, "-"),
             rst.block("doxygenfile", header, "", sections="briefdescription detaileddescription")]
    for _, kind, name, arguments in entries:
        if kind not in SHOWN:
            raise Refused(f"{header}: {name} is a {kind}, which no page shows")
        called = name + (arguments if kind == "function" else "")
        options = {"members": ""} if kind in ("class", "struct") else {}
        parts.append(rst.block(f"doxygen{kind}", called, "", **options))
    return "\n".join(parts)


def pages(doxygen: pathlib.Path, headers: list) -> dict:
    """The pages by name. Each header stands on the first page that takes it."""
    known, rest, made = symbols(doxygen), list(headers), {}
    for name, (title, about, places) in PAGES.items():
        taken = [h for h in rest if h.startswith(tuple(places))]
        rest = [h for h in rest if h not in taken]
        body = [header_section(h, known.get(h, [])) for h in taken]
        made[name] = "\n".join([rst.title(title), about + "\n", *body])
    if rest:
        raise Refused(f"no page of the interfaces takes {', '.join(rest)}")
    return made
