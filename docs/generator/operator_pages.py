"""Makes a page per operator and their index from the program's output and the headers."""

import pathlib
import re

import boundaries
import formula
import header
import pictures
import rst
import typeset
import worked_examples

DOT = " \N{MIDDLE DOT} "
DEFINED = {"at": "element by element", "eval": "as a whole"}
BOUNDS = {-(2**63): "-2^63", 2**63 - 1: "2^63 - 1"}


def gist(text: str) -> str:
    """The first sentence, up to a colon."""
    return re.split(r"[.:] ", text)[0].rstrip(".") + "."


def bound(value: int) -> str:
    """A limit as text; powers of two are written as such."""
    size = abs(value)
    for k in range(12, 32):
        for near, tail in ((2**k, ""), (2**k - 1, " - 1")):
            if size == near:
                return f"2^{k}{tail}" if value > 0 else f"-(2^{k}{tail})" if tail else f"-2^{k}"
    return BOUNDS.get(value, str(value))


def index(operators: list) -> str:
    """The page that lists all operators."""
    operators = sorted(operators, key=lambda op: op["name"])
    rows = [
        [
            f":doc:`{op['name']}`" + (f" also {rst.code(op['alias'])}" if "alias" in op else ""),
            op["profile"],
            rst.prose(gist(op["summary"])),
        ]
        for op in operators
    ]
    entries = "\n".join(op["name"] for op in operators)
    return "\n".join([
        rst.title("The operators"),
        f"The specification has {len(operators)} operators. Each is one header, which this page "
        "and the pages below are generated from: prose, formula, attributes, rules, and the "
        "function that *is* the meaning. That function gives the value of one output element "
        "(``at``) or writes the outputs as a whole (``eval``), in exact integers. A profile is a "
        "family of operators.\n",
        rst.table(["Name", "Profile", "Meaning"], rows, [30, 12, 58]),
        rst.block("toctree", "", entries, hidden=""),
    ])  # fmt: skip


def page(op: dict, sources: pathlib.Path, lockstep) -> str:
    """The page of one operator."""
    text, seen = header.Header(sources, op["name"]), []
    answers = lockstep.answers([e["call"] for e in op["examples"]])
    parts = [rst.title(op["name"]), facts(op, lockstep), rst.prose(op["summary"]) + "\n"]
    parts += [picture(op, lockstep), worked_examples.first(op, answers), meaning(op), types(op)]
    parts += [ports(op), attributes(op), boundaries.rules(op, sources, lockstep)]
    parts += [code(op, text, seen), laws(op), cost(op), errata(op)]
    parts += [worked_examples.further(op, answers), crosschecks(op)]
    return "\n".join(filter(None, parts))


def facts(op: dict, lockstep) -> str:
    """How a call is written, and lines of facts about the operator."""
    known = f"also {rst.code(op['alias'])}" if "alias" in op else ""
    place = "may work in place" if op["in_place"] else ""
    profile, defined = f"profile **{op['profile']}**", f"defined {DEFINED[op['defined_by']]}"
    version = f"specification {lockstep.specification['version']}"
    path = f"spec/ops/{op['name']}.h"
    link = f"`{path} <../_static/{path}.txt>`__"
    return "\n".join([
        rst.block("code-block", "text", signature(op), **{"class": "signature"}),
        rst.block("rst-class", "facts", "")
        + DOT.join(filter(None, [version, profile, defined, known, place, link])) + "\n",
    ])  # fmt: skip


def signature(op: dict) -> str:
    """Inputs, attributes with their defaults, and outputs as one line."""
    marks = {"one": "", "optional": "?", "variadic": "..."}
    inputs = ", ".join(port["name"] + marks[port["arity"]] for port in op["inputs"])
    attrs = [a["name"] + ("" if a["required"] else f"={a['default']}") for a in op["attributes"]]
    outputs = ", ".join(port["name"] for port in op["outputs"])
    given = "; ".join(filter(None, [inputs, ", ".join(attrs)]))
    return f"{op['name']}({given}) -> {outputs}"


def picture(op: dict, lockstep) -> str:
    """The pictures of the operator, if it has any."""
    found = pictures.figures(op, lockstep)
    return rst.block("raw", "html", found) if found else ""


def source(op: dict, what: str, body: str) -> str:
    return rst.block("code-block", "cpp", body, caption=f"spec/ops/{op['name']}.h: {what}")


def program(op: dict, text: header.Header, name: str, seen: list) -> str:
    """A function of the header and, in a separate block, the helpers not shown before."""
    shown = source(op, name, text.definition(name))
    helpers = [helper for helper in text.helpers(name) if helper not in seen]
    seen += helpers
    return shown + ("\n" + source(op, f"used by {name}", "\n\n".join(helpers)) if helpers else "")


def meaning(op: dict) -> str:
    lines = [rst.block("math", "", tex) for tex in formula.statements(op["formula"])]
    return "\n".join([rst.title("Meaning", "-"), *lines])


def code(op: dict, text: header.Header, seen: list) -> str:
    """The functions of the header."""
    words = (
        "The meaning, shape and precision as programs, which are normative. The words they use "
        "are those of the :doc:`vocabulary </vocabulary>`.\n"
    )
    return "\n".join([rst.title("Code", "-"), words, program(op, text, op["defined_by"], seen),
                      program(op, text, "infer", seen)])  # fmt: skip


def ports(op: dict) -> str:
    arity = {"one": "", "optional": "optional", "variadic": "1 to 1024 tensors"}
    rows = []
    for direction in ("inputs", "outputs"):
        for port in op[direction]:
            low, high = port["rank"]
            rank = str(low) if low == high else f"{low} to {high}"
            what = "; ".join(filter(None, [port["text"], arity[port["arity"]]]))
            rows.append([rst.code(port["name"]), direction[:-1], rank, rst.prose(what)])
    head = ["Name", "", "Rank", "What it is"]
    return rst.title("Inputs and outputs", "-") + "\n" + rst.table(head, rows, [20, 14, 14, 52])


def types(op: dict) -> str:
    """The formulas of the output's shape and precision, and of an accumulator."""
    setter, lines = typeset.Typesetter(op), []
    for k, port in enumerate(op["outputs"]):
        lines += setter.shape(port["name"], op["shape"][k])
        lines += setter.statements(f"p_{{{typeset.word(port['name'])}}}", op["precision"][k])
    parts = [rst.title("Shape and precision of the result", "-")]
    parts += [rst.block("math", "", tex) for tex in lines]
    if "accumulator" in op:
        (bits,) = setter.statements("b", op["accumulator"])
        parts += ["An accumulator of :math:`b` bits, in two's complement, holds every partial sum, "
                  "in any order:\n", rst.block("math", "", bits)]  # fmt: skip
    said = typeset.legend(setter.used)
    words = (
        "The :doc:`format of the vectors </vectors>` gives these formulas as text, and says what "
        "each word means. They are compared with every example and golden vector.\n"
    )
    return "\n".join([*parts, f"{said} {words}".lstrip()])


def attributes(op: dict) -> str:
    if not op["attributes"]:
        return ""
    rows = []
    for a in op["attributes"]:
        names = rst.code(a["name"]) + (f" also {rst.code(a['alias'])}" if "alias" in a else "")
        default = "required" if a["required"] else rst.code(a["default"])
        what = a["text"]
        if not a.get("effect", True) and "without effect" not in what:
            what += "; without effect"
        rows.append([names, values(a), default, rst.prose(what)])
    head = ["Name", "Values", "Default", "What it says"]
    words = (
        "How text becomes a value, and which of several mistakes is the label, tells "
        "`the grammar <../vectors.html#attributes>`__: attribute by attribute, in this order.\n"
    )
    table = rst.table(head, rows, [24, 30, 16, 30])
    return "\n".join([rst.title("Attributes", "-"), table, words])


def values(a: dict) -> str:
    """The legal values of an attribute."""
    if "words" in a:
        return ", ".join(rst.code(word) for word in a["words"].split("|"))
    if a["type"] == "bool":
        only = {(0, 0): "false", (1, 1): "true"}.get(tuple(a.get("range", [])))
        return f"only {rst.code(only)}" if only else "bool"
    low, high = a["range"]
    limits = "any" if (low, high) == (-(2**63), 2**63 - 1) else f"{bound(low)} to {bound(high)}"
    kind = a["type"]
    if kind == "tuple":
        least, most = a["entries"]
        count = str(least) if least == most else f"{least} to {most}"
        return rst.prose(f"tuple of {count}, each {limits}")
    return rst.prose(f"{kind}, {bound(low) if low == high else limits}")


def section(title: str, words: str, items: list) -> str:
    """A section that lists items; nothing if there are none."""
    lines = "".join(f"* {item}\n" for item in items)
    return "\n".join([rst.title(title, "-"), words + "\n", lines]) if items else ""


def laws(op: dict) -> str:
    """The equations that the tests try, `op` standing for the operator with its attributes."""
    words = "Equations that hold of every call, with any attributes and data; "
    stated = [rst.code(law["text"]) for law in op["laws"]]
    return section("Laws", words + "*op* is this operator:", stated)


def errata(op: dict) -> str:
    words = "Where the older documents or the deployed runtime differ, what holds, and why; " \
        ":doc:`all errata </errata>` name what shows them."  # fmt: skip
    shown = [f"{rst.prose(e['text'])} {rst.prose(e['reason'])}" for e in op["errata"]]
    return section("Errata", words, shown)


def cost(op: dict) -> str:
    """The gas of the operator."""
    return rst.title("Gas", "-") + (
        f"\nFor each element of {rst.code(op['outputs'][0]['name'])}: {rst.prose(op['gas'])}. For "
        "each element of every tensor: 5.\n"
    )


def crosschecks(op: dict) -> str:
    """The cross-checks of the header; unknown counts are shown as unknown."""
    vectors = f":download:`{op['name']}.json </golden/{op['name']}.json>`"
    what = {
        "examples": ("examples", "worked out by hand"),
        "laws": ("laws", "which hold of every legal call"),
        "vectors": ("golden vectors", "frozen calls and results, in the :doc:`format </vectors>` "
                    f"that all share: {vectors}"),
        "independent": ("independent implementation", "written again from the mathematics alone"),
        "libraries": ("libraries", "which compute it too"),
    }  # fmt: skip
    words = "None of these shares the program above, and each is held against it."
    counts = op["crosschecks"]
    return section("Cross-checks", words, [counted(counts[k], *text) for k, text in what.items()])


def counted(number, noun: str, about: str) -> str:
    if number is None:
        return f"{noun}: not known"
    return f"{number} {noun}, {about}" if number else f"no {noun}"
