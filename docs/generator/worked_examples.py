"""Calls and their results as text: the examples of an operator's page."""

import playground
import rst
from refusal import Refused


ABOUT = (
    "Worked out by hand in the header, and evaluated when this page was made. Attributes at their "
    "defaults are left out.\n"
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


def first(op: dict, answers: dict) -> str:
    """The first example, at the top of the page."""
    return "\n".join([rst.title("An example", "-"), shown(op, op["examples"][0], answers)])


def further(op: dict, answers: dict) -> str:
    """All other examples."""
    if len(op["examples"]) < 2:
        return ""
    return "\n".join([rst.title("Further examples", "-"), ABOUT,
                      *(shown(op, e, answers) for e in op["examples"][1:])])  # fmt: skip


def shown(op: dict, e: dict, answers: dict) -> str:
    """An example with its heading."""
    return f"**{rst.escaped(e['text'])}**\n\n" + example(op, e, answers[e["case"]])


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
    return "\n".join([rst.block("code-block", "text", shown),
                      rst.block("code-block", "console", repeat), tried])  # fmt: skip
