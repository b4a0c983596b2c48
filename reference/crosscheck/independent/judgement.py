"""One outcome for every call: the order in which everything about it is judged."""

from dataclasses import dataclass

from .attributes import read_attributes
from .basics import (
    EXTENT_MAX, PRECISION_MAX, RANK_MAX, VOLUME_MAX, Refused, Tensor, Violated, is_legal_shape,
    largest, refuse
)  # fmt: skip
from .registry import NAMES, OPERATORS, Operator


@dataclass(frozen=True)
class Call:
    """A call as it was read: attributes as (name, text) pairs, inputs perhaps illegal."""

    op: str
    attributes: list
    inputs: list


class NotABound(Exception):
    """An output exceeds its inferred precision: this implementation contradicts itself."""


def check_input(x: Tensor, ranks: range) -> None:
    if x.rank not in ranks:
        refuse("input.rank")
    if not all(1 <= extent <= EXTENT_MAX for extent in x.shape):
        refuse("input.extent")
    if x.volume > VOLUME_MAX:
        refuse("input.volume")
    if not 1 <= x.precision <= PRECISION_MAX:
        refuse("input.precision")


def check_outputs(op: Operator, results: list) -> None:
    """The limits of outputs; of an operator that cannot exceed one, nothing else may."""
    for limit, holds in (
        ("shape", all(is_legal_shape(y.shape) for y in results)),
        ("precision", all(1 <= y.precision <= PRECISION_MAX for y in results)),
    ):
        if not holds:
            if limit not in op.exceeds:
                raise NotABound(f"{op.name} exceeds its {limit}")
            refuse(f"{op.name}.{limit}")


def check_values(x: Tensor) -> None:
    a = largest(x.precision)
    if x.data is not None and not all(-a <= v <= a for v in x.data):
        refuse("input.value")


def judged(call: Call) -> tuple:
    """The operator, the attributes and the outputs-to-be of a legal call, or Refused."""
    if call.op not in NAMES:
        refuse("op.unknown")
    op = OPERATORS[NAMES[call.op]]
    a = read_attributes(op.attributes, call.attributes)
    if len(call.inputs) not in op.counts(a):
        refuse("op.inputs")
    for k, x in enumerate(call.inputs):
        check_input(x, op.ports[min(k, len(op.ports) - 1)])
    try:
        results = op.results(a, *call.inputs)
    except Violated as rule:
        raise Refused(f"{op.name}.{rule}") from None
    check_outputs(op, results)
    for x in call.inputs:
        check_values(x)
    return op, a, results


def outputs(call: Call) -> list:
    """The outputs as Tensors of their inferred precision, or Refused with the label."""
    op, _, results = judged(call)
    found = []
    for k, y in enumerate(results):
        values, a = y.values(), largest(y.precision)
        out = Tensor(y.shape, y.precision, values)
        if len(values) != out.volume or not all(-a <= v <= a for v in values):
            raise NotABound(f"output {k} of {op.name} does not fit precision {y.precision}")
        found.append(out)
    return found
