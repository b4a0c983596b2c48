"""The rules of an operator, each with a call that is just legal and one that is refused: the two
golden vectors that differ least."""

import json
import re

import rst
from refusal import Refused


def rules(op: dict, sources, lockstep) -> str:
    """The operator's own labels, each with an anchor that is the label, and two calls."""
    head = rst.title("Rules", "-")
    if not op["rules"]:
        return head + "\nNone of its own; a call is refused with one of the " \
            ":doc:`labels </labels>` that all operators share.\n"  # fmt: skip
    words = (
        "A call that breaks a rule is refused with the rule's label, the first one in this order; "
        "the :doc:`labels </labels>` that all operators share come before, but for "
        ":label:`input.value`, which is about data and comes last. Below each rule stand the two "
        "golden vectors that differ least, one legal and one not; ``2x3@8`` is a tensor of shape "
        "(2, 3) and precision 8.\n"
    )
    vectors = Vectors(op, sources, lockstep)
    body = [rst.block("label", r["label"], f"{rst.prose(r['text'])}\n\n{vectors.shown(r['label'])}")
            for r in op["rules"]]  # fmt: skip
    return "\n".join([head, words, *body])


FAR = 12  # the distance between two values that cannot be compared


class Vectors:
    """The golden vectors of an operator, and the program that evaluates them again."""

    def __init__(self, op: dict, sources, lockstep):
        self.op, self.lockstep = op, lockstep
        path = sources / "conformance" / "vectors" / f"{op['name']}.json"
        if not path.exists():
            raise Refused(f"there is no {path.name}; lockstep vectors update makes it")
        tests = json.loads(path.read_text(encoding="ascii"))["tests"]
        # A recipe is no data of a line, and labels of text and data are not about rules.
        self.tests = [t for t in tests if all("recipe" not in x for x in t["in"])]
        self.canonical = {a["alias"]: a["name"] for a in op["attributes"] if "alias" in a}
        self.defaults = {a["name"]: a.get("default") for a in op["attributes"]}

    def pair(self, label: str) -> tuple:
        """A legal call and one refused with the label that differ least; short ones first."""
        refused = [t for t in self.tests if t.get("label") == label]
        legal = [t for t in self.tests if t["result"] == "ok"]
        if not refused or not legal:
            raise Refused(f"no golden vector is refused with {label}")
        views = {t["tcId"]: self.parts(t) for t in refused + legal}
        return min(((a, b) for a in legal for b in refused),
                   key=lambda two: cost(*(views[t["tcId"]] for t in two)))  # fmt: skip

    def parts(self, test: dict) -> dict:
        """A call as values by name: each attribute, and the shape and precision of each input."""
        given = {self.canonical.get(key, key): text for key, text in test["attrs"].items()}
        parts = {**self.defaults, **given}
        for k, (x, precision) in enumerate(zip(test["in"], test["in_prec"])):
            parts[self.port(k)] = (x["shape"], precision)
        return parts

    def port(self, k: int) -> str:
        """The name of input k."""
        last = len(self.op["inputs"]) - 1
        port = self.op["inputs"][min(k, last)]
        return port["name"] + (f"[{k - last}]" if port["arity"] == "variadic" else "")

    def shown(self, label: str) -> str:
        """Both calls of a rule, evaluated now, what differs in bold."""
        legal, refused = self.pair(label)
        answers = self.lockstep.answers([
            {"id": t["tcId"], "op": self.op["name"], "attrs": t["attrs"], "in": t["in"],
             "in_prec": t["in_prec"]} for t in (legal, refused)])  # fmt: skip
        answer = answers[legal["tcId"]]
        if answer.get("out") is None or answers[refused["tcId"]].get("label") != label:
            raise Refused(f"{legal['tcId']} and {refused['tcId']}: {answers}")
        outputs = zip(self.op["outputs"], answer["out"])
        results = ", ".join(f"{port['name']} {typed(y['shape'], y['prec'])}" for port, y in outputs)
        both = [(legal, refused, "Just legal", f"gives {rst.escaped(results)}"),
                (refused, legal, "Refused", "")]  # fmt: skip
        return "".join(f"* {head}: {self.told(one, other)}" + (f" {tail}" if tail else "")
                       + f" ({rst.code(one['tcId']).strip()} )\n"
                       for one, other, head, tail in both)  # fmt: skip

    def told(self, test: dict, other: dict) -> str:
        """A call in words; what the other call has differently is bold, and defaults are left out
        where both have them."""
        mine, theirs = self.parts(test), self.parts(other)
        words = []
        for name, value in mine.items():
            is_same = theirs.get(name) == value
            if is_same and self.defaults.get(name) == value:
                continue
            text = f"{name}={value}" if name in self.defaults else f"{name} {typed(*value)}"
            words.append(rst.escaped(text) if is_same else f"**{rst.escaped(text)}**")
        return ", ".join(words)


def typed(shape: list, precision: int) -> str:
    """A shape and a precision in short."""
    return f"{'x'.join(map(str, shape))}@{precision}"


def cost(legal: dict, refused: dict) -> int:
    """How far two calls are apart, then how long they are."""
    names = legal.keys() | refused.keys()
    apart = sum(distance(legal.get(name), refused.get(name)) for name in names)
    return 100 * apart + sum(len(str(value)) for value in legal.values())


def distance(a, b) -> int:
    """How far two values are apart: by one step, 2; further ones by their magnitude."""
    if a == b:
        return 0
    if a is None or b is None:
        return FAR
    a, b = ([int(n) for n in re.findall(r"-?\d+", str(v))] for v in (a, b))
    if len(a) != len(b) or not a:
        return FAR + abs(len(a) - len(b))
    return sum(1 + abs(x - y).bit_length() for x, y in zip(a, b) if x != y)
