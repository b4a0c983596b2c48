"""Fresh calls of an operator: legal ones, and illegal ones with every label that it can have."""

import json
import math

from crosscheck.independent import NAMES, OPERATORS, Call, Refused, Tensor, judged
from crosscheck.independent.attributes import Integers, Word

from .draw import Draw
from .giants import GIANTS
from .mutations import Draft, edges, mutate
from .samples import SAMPLES

LEGAL_PERCENT = 60
OUTPUT_MAX = 4096  # values that an answer may have
ATTEMPTS_MAX = 50_000


class OutOfReach(Exception):
    """Some label did not occur however often it was tried."""


def labels(op) -> list:
    """Every label that a call of the operator can have, those of all operators included."""
    shared = ["op.inputs", "input.rank", "input.extent", "input.volume", "input.precision",
              "input.value", "attr.unknown"]  # fmt: skip
    for label, can_occur in (
        ("attr.twice", bool(op.attributes)),
        ("attr.missing", any(a.default is None for a in op.attributes)),
        ("attr.syntax", any(not isinstance(a, Word) for a in op.attributes)),
        ("attr.length", any(isinstance(a, Integers) for a in op.attributes)),
        ("attr.range", bool(op.attributes)),
    ):
        if can_occur:
            shared.append(label)
    return shared + op.labels


def text(d: Draw, value) -> str:
    """One of the ways to write an attribute."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return d.pick((str(value), str(value).lower(), str(int(value)), str(value).upper()))
    if value is None:
        return d.pick(("None", " None", "None\t"))
    blank = d.pick(("", "", " ", "\t"))
    if isinstance(value, int):
        sign = "+" if value >= 0 and d.one_in(8) else ""
        zeros = "00" if value > 0 and d.one_in(8) else ""
        return blank + sign + zeros + str(value) + blank
    suffix = "L" if d.one_in(6) else ""
    entries = [f"{n}{suffix}" for n in value]
    if len(entries) == 1 and d.one_in(3):
        return blank + entries[0]
    left, right = d.pick(("()", "()", "[]"))
    last = "," if entries and d.one_in(6) else ""
    return left + blank + (blank + "," + blank).join(entries) + blank + last + right + blank


def drafted(d: Draw, op, drawn: tuple) -> Draft:
    """A draft in which attributes come in any order and by any of their names."""
    attributes, inputs = drawn
    also = {a.name: (a.name, a.name, *a.also) for a in op.attributes}
    pairs = [(d.pick(also[name]), value) for name, value in d.shuffled(attributes.items())]
    return Draft(op, pairs, inputs)


def call_of(draft: Draft, attributes: list) -> Call:
    return Call(draft.op.name, attributes, [Tensor(*x) for x in draft.inputs])


def line(draft: Draft, attributes: list, name: str, number: int) -> str:
    """The call as JSON; an attribute that is given twice is a key that is there twice."""
    pairs = ",".join(f"{json.dumps(key)}:{json.dumps(value)}" for key, value in attributes)
    inputs = [
        {"shape": shape} if data is None else {"shape": shape, "data": data}
        for shape, _, data in draft.inputs
    ]
    precisions = [x[1] for x in draft.inputs]
    return (
        f'{{"id":{number},"op":"{name}","attrs":{{{pairs}}},'
        f'"in_prec":{json.dumps(precisions)},"in":{json.dumps(inputs)}}}'
    )


def outcome(draft: Draft, attributes: list) -> str:
    """The label of a draft; "" if it is legal, None if its outputs would be too much to write."""
    try:
        _, _, results = judged(call_of(draft, attributes))
    except Refused as label:
        return str(label)
    inputs = sum(math.prod(shape) for shape, _, _ in draft.inputs)
    return "" if inputs + sum(math.prod(y.shape) for y in results) <= OUTPUT_MAX else None


def edge_drafts(d: Draw, op):
    """Yields drafts with an attribute at an end of what is legal for it, or just beyond."""
    for a in op.attributes:
        attributes, _ = SAMPLES[op.name](d)
        value = attributes.get(a.name) or (a.read(a.default) if a.default else None)
        for edge in edges(d, a, value):
            attributes, inputs = SAMPLES[op.name](d)
            yield drafted(d, op, (attributes | {a.name: edge}, inputs))


def drafts(d: Draw, op):
    """Yields legal drafts, changed ones and large ones in turns, without end."""
    while True:
        if op.name in GIANTS and d.one_in(16):
            yield drafted(d, op, GIANTS[op.name](d))
        yield drafted(d, op, SAMPLES[op.name](d))
        changed = drafted(d, op, SAMPLES[op.name](d))
        mutate(d, changed)
        yield changed


def shares(op, count: int) -> dict:
    """How many of some illegal calls have each label: of the operator's own twice as many."""
    wanted = labels(op)
    slots = wanted + op.labels
    if count < len(slots):
        raise ValueError(f"{op.name}: {count} illegal calls cannot have {len(slots)} shares")
    share, rest = divmod(count, len(slots))
    room = dict.fromkeys(wanted, 0)
    for k, label in enumerate(slots):
        room[label] += share + (k < rest)
    return room


def fresh_lines(name: str, seed: int, count: int) -> list:
    """As many lines of an operator: most are legal, and the others have all of its labels."""
    op = OPERATORS[name]
    d = Draw(f"{seed}/{name}")
    spellings = [spelling for spelling, canonical in NAMES.items() if canonical == name]
    lines = []

    def taken(draft, room=None) -> str:
        """The outcome of a draft, which has become a line unless there is no room for it."""
        attributes = [(key, text(d, value)) for key, value in draft.attributes]
        found = outcome(draft, attributes)
        if found is not None and (room is None or room.get(found)):
            lines.append(line(draft, attributes, d.pick(spellings), len(lines)))
            return found
        return None

    at_edges = [taken(draft) for draft in edge_drafts(d, op)]
    legal = count * LEGAL_PERCENT // 100
    illegal = count - legal - sum(map(bool, at_edges))
    room = {"": legal - at_edges.count(""), **shares(op, illegal)}
    for attempt, draft in enumerate(drafts(d, op)):
        if not any(room.values()):
            return lines
        if attempt == ATTEMPTS_MAX:
            raise OutOfReach(f"{name}: {[label for label, left in room.items() if left]}")
        found = taken(draft, room)
        if found is not None:
            room[found] -= 1
