"""Runs the program and makes pages of its output."""

import functools
import json
import pathlib
import re
import subprocess

import rst
from refusal import Refused


class Program:
    """The `lockstep` of a build tree."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def says(self, *words: str, stdin: str = "") -> str:
        """Its standard output; any exit status but 0 is an error."""
        return subprocess.run(
            [self.path, *words], input=stdin, check=True, text=True, stdout=subprocess.PIPE
        ).stdout

    def lists(self, *words: str) -> list:
        return json.loads(self.says("list", *words, "--json"))

    @functools.cached_property
    def specification(self) -> dict:
        return json.loads(self.says("spec", "--json"))

    def answers(self, calls: list) -> dict:
        """The reference's answers to calls of the JSON Lines protocol, by their ids."""
        lines = "".join(json.dumps(call) + "\n" for call in calls)
        answers = map(json.loads, self.says("eval", stdin=lines).splitlines())
        return {answer["id"]: answer for answer in answers}

    def verbs(self, *before: str) -> list:
        """The verbs in the help of `before`."""
        _, found, listed = self.says(*before, "--help").partition("\nSubcommands:\n")
        return re.findall(r"^  (\S+)", listed, re.MULTILINE) if found else []


def properties(program: Program) -> str:
    """The properties by which backends are judged."""
    rows = [[rst.code(p["name"]), rst.prose(p["text"])] for p in program.lists("--properties")]
    return rst.table(["Property", "Holds if"], rows, [25, 75])


def errata(program: Program) -> str:
    """Every erratum, its operators, and the vector or test that shows it."""
    titles = {"all": "Of every operator", "operators": "Of single operators", "models": "Of models"}
    found = json.loads(program.says("spec", "errata", "--json"))
    parts = []
    for scope, heading in titles.items():
        rows = [
            [", ".join(f":doc:`operators/{op}`" for op in e["operators"]), rst.prose(e["text"]),
             rst.prose(e["reason"]), shown_by(e)]
            for e in found if e["scope"] == scope
        ]  # fmt: skip
        head, widths = ["About", "What holds", "Why", "Shown by"], [18, 36, 28, 18]
        if scope != "operators":
            head, widths, rows = head[1:], [42, 36, 22], [row[1:] for row in rows]
        parts += [rst.title(heading, "-"), rst.table(head, rows, widths)]
    return "\n".join(parts)


# What the deployed runtime does, as its recorded answers show.
THERE = {"same": "the runtime agrees", "accepts": "the runtime accepts more",
         "refuses": "the runtime refuses it", "blames": "the runtime blames itself",
         "differs": "the runtime gives other results", "crashes": "the runtime ends"}  # fmt: skip


def errata_placed(program: Program) -> str:
    """Every erratum between its predecessors: what the older documents and the deployed runtime say
    or do, and what holds here."""
    rows = []
    for e in json.loads(program.says("spec", "errata", "--json")):
        about = ", ".join(f":doc:`operators/{op}`" for op in e["operators"])
        older = "older" in e["text"] or "older text" in e["reason"]
        runtime = THERE[e["deployed"]["there"]] if e.get("deployed") else ""
        if not older and not runtime:
            raise Refused(f"an erratum departs from nothing: {e['text']}")
        about = about or {"all": "every operator", "models": "models"}[e["scope"]]
        departs = "; ".join(filter(None, ["the documents differ" if older else "", runtime]))
        rows.append([about, departs, rst.prose(e["text"])])
    documents = sum("documents" in row[1] for row in rows)
    runtime = sum("runtime" in row[1] and "agrees" not in row[1] for row in rows)
    both = documents + runtime - len(rows)
    words = f"Of {len(rows)} errata, {documents} depart from the documents and {runtime} from " \
        f"the runtime, {both} of them from both.\n"  # fmt: skip
    return words + "\n" + rst.table(["About", "Between", "What holds here"], rows, [22, 24, 54])


def shown_by(erratum: dict) -> str:
    if "test" in erratum["shown_by"]:
        return "the test " + rst.code(erratum["shown_by"]["test"])
    if erratum["vector"] is None:
        raise Refused(f"no vector shows: {erratum['text']}")
    return rst.code(erratum["vector"])


def labels(program: Program) -> str:
    """Every label: shared ones and those of models with anchors, and links to the others."""
    shared, own, models = [], {}, []
    for label in program.lists("--labels"):
        if "op" in label:
            own.setdefault(label["op"], []).append(label)
        elif label["label"].startswith("model."):
            models.append(label)
        else:
            shared.append(label)
    parts = [rst.title("Labels that all operators share", "-")]
    parts += [rst.block("label", label["label"], rst.prose(label["text"])) for label in shared]
    parts.append(rst.title("Labels of single operators", "-"))
    rows = [
        [f":label:`{label['label']}`", rst.prose(label["text"])]
        for op in sorted(own)
        for label in own[op]
    ]
    parts.append(rst.table(["Label", "Required is that"], rows, [42, 58]))
    parts.append(rst.title("Labels of models", "-"))
    parts += [rst.block("label", label["label"], rst.prose(label["text"])) for label in models]
    return "\n".join(parts)
