"""Makes a page per operator and their index from the program's output and the headers."""

import pathlib
import re

import formula
import header
import playground
import rst
from refusal import Refused

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


def page(op: dict, sources: pathlib.Path, answers: dict) -> str:
    """The page of one operator."""
    text, seen = header.Header(sources, op["name"]), []
    parts = [rst.title(op["name"]), facts(op), rst.prose(op["summary"]) + "\n"]
    parts += [meaning(op, text, seen), ports(op), result_types(op, text, seen), attributes(op)]
    parts += [rules(op), laws(op), cost(op), errata(op), examples(op, answers), crosschecks(op)]
    return "\n".join(filter(None, parts))


def facts(op: dict) -> str:
    """One line of facts about the operator."""
    known = f"also {rst.code(op['alias'])}" if "alias" in op else ""
    place = "may work in place" if op["in_place"] else ""
    profile, defined = f"profile **{op['profile']}**", f"defined {DEFINED[op['defined_by']]}"
    return rst.block("rst-class", "facts", "") + DOT.join(
        filter(None, [profile, defined, known, place])
    ) + "\n"  # fmt: skip


def source(op: dict, what: str, body: str) -> str:
    return rst.block("code-block", "cpp", body, caption=f"spec/ops/{op['name']}.h: {what}")


def program(op: dict, text: header.Header, name: str, seen: list) -> str:
    """A function of the header and, in a separate block, the helpers not shown before."""
    shown = source(op, name, text.definition(name))
    helpers = [helper for helper in text.helpers(name) if helper not in seen]
    seen += helpers
    return shown + ("\n" + source(op, f"used by {name}", "\n\n".join(helpers)) if helpers else "")


def meaning(op: dict, text: header.Header, seen: list) -> str:
    lines = [rst.block("math", "", tex) for tex in formula.statements(op["formula"])]
    words = (
        "The same as a program, and normative. The words it uses are those of the "
        ":doc:`vocabulary </vocabulary>`.\n"
    )
    return "\n".join([rst.title("Meaning", "-"), *lines, words,
                      program(op, text, op["defined_by"], seen)])  # fmt: skip


def ports(op: dict) -> str:
    arity = {"one": "", "optional": "optional", "variadic": "1 to 1024 tensors"}
    rows = []
    for direction in ("inputs", "outputs"):
        for port in op[direction]:
            low, high = port["rank"]
            rank = str(low) if low == high else f"{low} to {high}"
            what = "; ".join(filter(None, [port["text"], arity[port["arity"]]]))
            rows.append([direction[:-1], rst.code(port["name"]), rank, rst.prose(what)])
    head = ["", "Name", "Rank", "What it is"]
    return rst.title("Inputs and outputs", "-") + "\n" + rst.table(head, rows, [14, 20, 14, 52])


def result_types(op: dict, text: header.Header, seen: list) -> str:
    head = rst.title("Shape and precision of the result", "-")
    names = [rst.code(port["name"]) for port in op["outputs"]]
    lines = [f"* Precision of {n}: {rst.code(f)}\n" for n, f in zip(names, op["precision"])]
    words = "The :doc:`format of the vectors </vectors>` says what the words of a formula mean.\n"
    return "\n".join([head, *lines, words, program(op, text, "infer", seen)])


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
    return rst.title("Attributes", "-") + "\n" + rst.table(head, rows, [24, 30, 16, 30])


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


def rules(op: dict) -> str:
    """The operator's own labels, each with an anchor that is the label."""
    head = rst.title("Rules", "-")
    if not op["rules"]:
        return head + "\nNone of its own; a call is refused with one of the " \
            ":doc:`labels </labels>` that all operators share.\n"  # fmt: skip
    words = (
        "A call that breaks a rule is refused with the rule's label, the first one in this order; "
        "the :doc:`labels </labels>` that all operators share come before, but for "
        ":label:`input.value`, which is about data and comes last.\n"
    )
    body = [rst.block("label", r["label"], rst.prose(r["text"])) for r in op["rules"]]
    return "\n".join([head, words, *body])


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


def nested(shape: list, data: list) -> str:
    """A tensor as nested brackets, one line per row."""
    if len(shape) == 1:
        return "[" + ", ".join(map(str, data)) + "]"
    size = len(data) // shape[0]
    rows = [nested(shape[1:], data[i : i + size]) for i in range(0, len(data), size)]
    return "[" + ",\n ".join(row.replace("\n", "\n ") for row in rows) + "]"


def tensor(name: str, shape: list, precision: int, data: list) -> str:
    head = f"{name}  {'x'.join(map(str, shape))}, precision {precision}"
    return head + "\n" + rst.indented(nested(shape, data), "    ").rstrip()


def examples(op: dict, answers: dict) -> str:
    words = (
        "Worked out by hand in the header, and evaluated when this page was made. Attributes at "
        "their defaults are left out.\n"
    )
    parts = [rst.title("Examples", "-"), words]
    for e in op["examples"]:
        parts += [f"**{rst.escaped(e['text'])}**\n", example(op, e, answers[e["case"]])]
    return "\n".join(parts)


def example(op: dict, e: dict, answer: dict) -> str:
    """A worked example: the call, the reference's answer, and a command that repeats it."""
    if answer.get("out") != e["out"]:
        raise Refused(f"{e['case']}: the header states {e['out']}, the answer is {answer}")
    call = e["call"]
    defaults = {a["name"]: a.get("default") for a in op["attributes"]}
    lines = [f"{key} = {text}" for key, text in call["attrs"].items() if text != defaults[key]]
    count = len(op["inputs"])
    for k, (x, precision) in enumerate(zip(call["in"], call["in_prec"])):
        variadic = op["inputs"][min(k, count - 1)]["arity"] == "variadic"
        name = op["inputs"][min(k, count - 1)]["name"] + (f"[{k}]" if variadic else "")
        lines.append(tensor(name, x["shape"], precision, x["data"]))
    results = [
        tensor(port["name"], y["shape"], y["prec"], y["data"])
        for port, y in zip(op["outputs"], answer["out"])
    ]
    shown = "\n".join(lines) + "\n\n" + "\n".join("-> " + text for text in results)
    repeat = f"$ lockstep repro reference '{e['case']}'"
    tried = f"`Try it in the playground <../{playground.link(e['case'])}>`__\n"
    shown = rst.block("code-block", "text", shown)
    return "\n".join([shown, rst.block("code-block", "console", repeat), tried])


def crosschecks(op: dict) -> str:
    """The cross-checks of the header; unknown counts are shown as unknown."""
    vectors = f"conformance/vectors/{op['name']}.json"
    what = {
        "examples": ("examples", "worked out by hand"),
        "laws": ("laws", "which hold of every legal call"),
        "vectors": ("golden vectors", "frozen calls and results, in the :doc:`format </vectors>` "
                    f"that all share, in {rst.code(vectors)}"),
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
