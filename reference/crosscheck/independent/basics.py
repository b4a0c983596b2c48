"""The words that operators are written with: tensors, limits, results and refusals."""

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Callable, NoReturn, Optional

RANK_MAX = 6
EXTENT_MAX = 2**24
VOLUME_MAX = 2**30
PRECISION_MAX = 32


class Refused(Exception):
    """A call is illegal; the argument is the label of the first rule that it violates."""


class Violated(Exception):
    """A rule of an operator's own does not hold; the argument is the rule without the operator."""


def refuse(label: str) -> NoReturn:
    raise Refused(label)


def require(holds: bool, rule: str) -> None:
    """A rule of an operator's own."""
    if not holds:
        raise Violated(rule)


def largest(precision: int) -> int:
    """The largest value of a precision; the smallest is its negative."""
    return 2 ** (precision - 1) - 1


def bits(number: int) -> int:
    """The bit length of a number that is not negative."""
    return number.bit_length()


def clamp(value: int, low: int, high: int) -> int:
    return max(low, min(high, value))


def is_legal_shape(shape: tuple) -> bool:
    """Whether a tensor may have the shape, in any call."""
    inside = all(1 <= extent <= EXTENT_MAX for extent in shape)
    return 1 <= len(shape) <= RANK_MAX and inside and math.prod(shape) <= VOLUME_MAX


def coordinates(shape: tuple):
    """Every index of a shape in row-major order."""
    return itertools.product(*map(range, shape))


def normalized(axis: int, rank: int) -> int:
    """An axis counted from the front; the rule `axis` refuses one that is not there."""
    require(-rank <= axis < rank, "axis")
    return axis % rank


@dataclass(frozen=True)
class Tensor:
    """An input: its type and, where any was given, its data in row-major order."""

    shape: tuple
    precision: int
    data: Optional[list] = None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def volume(self) -> int:
        return math.prod(self.shape)

    @functools.cached_property
    def values(self) -> list:
        """The elements. They are asked for only after the shape has been found legal."""
        return [0] * self.volume if self.data is None else self.data

    @functools.cached_property
    def strides(self) -> tuple:
        return tuple(math.prod(self.shape[k + 1 :]) for k in range(self.rank))

    def __getitem__(self, index) -> int:
        return self.values[sum(i * stride for i, stride in zip(index, self.strides))]


@dataclass(frozen=True)
class Result:
    """A future output of a call: its type, and its values, computed on demand."""

    shape: tuple
    precision: int
    values: Callable[[], list]


def pointwise(x: Tensor, precision: int, value: Callable[[int], int]) -> list:
    """One output of the shape of x, computed element by element."""
    return [Result(x.shape, precision, lambda: [value(v) for v in x.values])]


def gathered(x: Tensor, shape: tuple, source: Callable[[tuple], tuple]) -> list:
    """One output whose element at an index is that of x at source(index)."""
    return [Result(shape, x.precision, lambda: [x[source(y)] for y in coordinates(shape)])]
