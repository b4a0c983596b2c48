"""JSON Lines: calls as `lockstep eval` takes them, and answers as it gives them."""

import base64
import binascii
import json
import struct

from .attributes import integer
from .basics import Refused, Tensor, is_legal_shape, refuse
from .judgement import Call, NotABound, outputs

KEYS = {"id", "op", "attrs", "in_prec", "in"}


class Object(list):
    """A JSON object as its (key, value) pairs, so that a repeated key shows."""


class Number(str):
    """The text of a number that is not to be an integer."""


def not_json(what: str):
    raise ValueError(f"{what} is no JSON")


def parsed(line: bytes, whole=integer) -> Object:
    """The object that a line is, or `line.json`; whole makes something of integers.

    So does a line that is nested more deeply than Python's parser follows, though it may be JSON.
    """
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=Object, parse_int=whole,
                           parse_float=Number, parse_constant=not_json)  # fmt: skip
        if b"\\u" in line:  # half of a surrogate pair is no character, and cannot be encoded
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        return refuse("line.json")
    return value if isinstance(value, Object) else refuse("line.json")


def demand(holds: bool) -> None:
    if not holds:
        refuse("line.key")


def is_integer(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def integers(value) -> list:
    demand(isinstance(value, list) and not isinstance(value, Object))
    demand(all(map(is_integer, value)))
    return value


def members(value, needed: set, allowed: set) -> dict:
    """An object with each key at most once, none missing and none unknown."""
    demand(isinstance(value, Object))
    found = dict(value)
    demand(len(found) == len(value) and needed <= set(found) <= allowed)
    return found


def decoded(text) -> bytes:
    demand(isinstance(text, str) and not isinstance(text, Number) and text.isascii())
    try:
        data = base64.b64decode(text, validate=True)
    except binascii.Error:
        return refuse("line.key")
    demand(base64.b64encode(data).decode() == text)  # the library drops bits that belong nowhere
    return data


def tensor(value) -> tuple:
    """Shape, data (or None) and whether the data ends inside an integer."""
    found = members(value, {"shape"}, {"shape", "data", "b64"})
    demand(not {"data", "b64"} <= set(found))
    shape = tuple(integers(found["shape"]))
    if "b64" in found:
        data = decoded(found["b64"])
        whole = data[: len(data) // 4 * 4]
        return shape, [v for (v,) in struct.iter_unpack("<i", whole)], whole != data
    return shape, integers(found["data"]) if "data" in found else None, False


def call_of(found: dict) -> Call:
    """The call of a line's members, or what makes them none."""
    demand(not isinstance(found["id"], list))
    demand(isinstance(found["op"], str) and not isinstance(found["op"], Number))
    demand(isinstance(found["attrs"], Object))
    texts = [text for _, text in found["attrs"]]
    demand(all(isinstance(text, str) and not isinstance(text, Number) for text in texts))
    precisions = integers(found["in_prec"])
    demand(isinstance(found["in"], list) and not isinstance(found["in"], Object))
    tensors = list(map(tensor, found["in"]))
    if len(precisions) != len(tensors):
        refuse("line.count")
    inputs = []
    for precision, (shape, data, is_broken) in zip(precisions, tensors):
        x = Tensor(shape, precision, data)
        if is_legal_shape(shape) and data is not None and (is_broken or len(data) != x.volume):
            refuse("line.count")
        inputs.append(x)
    return Call(found["op"], found["attrs"], inputs)


def call_of_line(line: bytes) -> Call:
    """The call that a line is, or Refused with what makes it none."""
    return call_of(members(parsed(line), KEYS, KEYS))


def identity(line: bytes) -> str:
    """The JSON text of a line's id; null if the line has none."""
    try:
        name = dict(parsed(line, Number)).get("id")
    except Refused:
        return "null"
    if isinstance(name, Number):
        return name
    return "null" if isinstance(name, list) else json.dumps(name)


def answer(line: bytes) -> str:
    """The answer to a line, whatever it is."""
    head = f'{{"id":{identity(line)},"status":'
    try:
        found = outputs(call_of_line(line))
    except Refused as label:
        return f'{head}"logic_error","label":"{label}","message":"the call breaks {label}"}}'
    except NotABound as why:
        return f'{head}"runtime_error","label":"independent.bound","message":"{why}"}}'
    out = [{"shape": y.shape, "prec": y.precision, "data": y.values} for y in found]
    return f'{head}"ok","out":{json.dumps(out, separators=(",", ":"))}}}'
