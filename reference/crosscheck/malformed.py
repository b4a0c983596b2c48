"""Lines that are no call, or hardly one: broken text, wrong keys and types, counts that differ."""

import json

from crosscheck.independent import OPERATORS

from .draw import Draw
from .fresh import fresh_lines

LABELS = ("line.json", "line.key", "line.count")
SCRAPS = ("", " ", "{}", "[]", "null", "1", "-1", "01", "1.0", "1e0", "NaN", "-", '"', '""', "{",
          "]", ",", ":", "true", '"b64":"AAAAAA=="', '"\\u00e9"', "\u00e9", '"\\ud800"', "\t",
          "\\")  # fmt: skip
VALUES = (None, True, 1, -1, 1.5, 2**70, "", "1", [], [1], ["1"], [True], [[1]], {}, {"a": "b"},
          [{"shape": [1]}], [{"shape": [1], "b64": "AQAAAA=="}], [{"shape": [1], "b64": "AQAA"}],
          [{"shape": [1], "data": [1], "b64": "AQAAAA=="}], [{"shape": [1], "b64": "A?=="}],
          [{"shape": [1], "b64": "AQAAAB=="}],
          [{"shape": [0], "data": [1]}], [{"data": [1]}], [{"shape": [1.0]}])  # fmt: skip


def spliced(d: Draw, line: str) -> str:
    """Some text in the place of some other."""
    begin = d.between(0, len(line))
    end = min(len(line), begin + d.pick((0, 0, 1, 1, 2, len(line))))
    return line[:begin] + d.pick(SCRAPS) + line[end:]


def retyped(d: Draw, line: str) -> str:
    """Another value for a key; the attributes lose their doubles."""
    call = json.loads(line)
    call[d.pick(tuple(call))] = d.pick(VALUES)
    return json.dumps(call)


def rekeyed(d: Draw, line: str) -> str:
    """A key missing, unknown or given twice."""
    call = list(json.loads(line).items())
    at = d.between(0, len(call) - 1)
    key, value = call[at]
    call[at : at + 1] = d.pick(([], [(key, value)] * 2, [(key.upper(), value)], [(key, None)]))
    return "{" + ",".join(f"{json.dumps(k)}:{json.dumps(v)}" for k, v in call) + "}"


def miscounted(d: Draw, line: str) -> str:
    """One value more or less, or one precision."""
    call = json.loads(line)
    tensors = [x["data"] for x in call["in"] if "data" in x]
    numbers = d.pick((*tensors, call["in_prec"]))
    if numbers and d.truth():
        numbers.pop()
    else:
        numbers.append(1)
    return json.dumps(call)


def malformed_lines(seed: int, count: int) -> list:
    """As many lines, made of calls of all operators; each kind of harm is done equally often."""
    d = Draw(f"{seed}/lines")
    names = list(OPERATORS)
    calls = [line for name in d.shuffled(names)[:8] for line in fresh_lines(name, seed, 200)]
    harms = (spliced, retyped, rekeyed, miscounted)
    return [harms[k % len(harms)](d, d.pick(calls)) for k in range(count)]
