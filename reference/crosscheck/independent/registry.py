"""The table of operators. A module of operators fills it with the decorator below."""

from dataclasses import dataclass
from typing import Callable, Collection

from .basics import RANK_MAX

ANY = range(1, RANK_MAX + 1)

OPERATORS = {}
NAMES = {}  # every name of an operator, aliases too, to its canonical one


@dataclass(frozen=True)
class Operator:
    """All that is to be known of an operator.

    `results` gives the outputs for legal attributes and inputs, or raises Violated with the first
    of `rules` that does not hold; `exceeds` are those of "shape" and "precision" that an output
    can violate. A call with an illegal number of inputs has none in `counts`; where there are more
    inputs than ports, the last port is that of all of them.
    """

    name: str
    ports: tuple
    attributes: tuple
    rules: tuple
    exceeds: tuple
    counts: Callable[..., Collection[int]]
    results: Callable[..., list]

    @property
    def labels(self) -> list:
        """The operator's own labels in the order of judgement."""
        return [f"{self.name}.{rule}" for rule in (*self.rules, *self.exceeds)]


def operator(name, *, ports=(ANY,), attributes=(), rules="", exceeds="", counts=None, also=()):
    """Registers the function below it as the meaning of an operator."""

    def register(results):
        OPERATORS[name] = Operator(
            name, ports, attributes, tuple(rules.split()), tuple(exceeds.split()),
            counts or (lambda _: (len(ports),)), results
        )  # fmt: skip
        NAMES.update({each: name for each in (name, *also)})
        return results

    return register
