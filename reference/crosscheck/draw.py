"""Random integers, shapes and values for fresh calls: the same ones for the same seed."""

import math
import random

VOLUME = 192  # of one input: enough to be interesting, little enough for thousands of calls


class Draw:
    """Choices by one stream of words. Reducing them favours some, by far less than shows."""

    def __init__(self, seed: str):
        self.words = random.Random(seed)

    def below(self, n: int) -> int:
        return self.words.getrandbits(64) % n

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def one_in(self, n: int) -> bool:
        return self.below(n) == 0

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def truth(self) -> bool:
        return self.pick((False, True))

    def shuffled(self, items) -> list:
        items = list(items)
        return [items.pop(self.below(len(items))) for _ in range(len(items))]

    def some(self, items) -> list:
        """A part of the items, in any order."""
        items = self.shuffled(items)
        return items[: self.between(0, len(items))]

    def extent(self) -> int:
        return self.pick((1, 2, 3, 4, 5, 7)) if not self.one_in(8) else self.between(8, 33)

    def shape(self, low: int = 1, high: int = 6) -> tuple:
        shape = [self.extent() for _ in range(self.between(low, high))]
        while math.prod(shape) > VOLUME:
            shape[shape.index(max(shape))] = self.between(1, 3)
        return tuple(shape)

    def precision(self, high: int = 32, low: int = 1) -> int:
        if self.one_in(2):
            return self.between(low, high)
        return max(low, min(high, self.pick((1, 2, 8, 9, 16, 24, high))))

    def values(self, precision: int, count: int) -> list:
        """Values of a precision in one of several manners: all of it, its ends, small, powers."""
        a = 2 ** (precision - 1) - 1
        manner = self.pick(("any", "any", "small", "ends", "powers", "mixed"))
        return [self.value(a, manner) for _ in range(count)]

    def value(self, a: int, manner: str) -> int:
        if manner == "mixed":
            manner = self.pick(("any", "small", "ends", "powers"))
        if manner == "any":
            return self.between(-a, a)
        if manner == "small":
            v = self.between(-4, 4)
        elif manner == "ends":
            v = self.pick((-1, 1)) * (a - self.between(0, 1))
        else:
            v = self.pick((-1, 1)) * (2 ** self.between(0, 31) + self.between(-1, 1))
        return max(-a, min(a, v))

    def tensor(self, shape: tuple, precision: int, low=None, high=None) -> list:
        """An input: shape, precision, data; between low and high where they are given."""
        count, a = math.prod(shape), 2 ** (precision - 1) - 1
        if low is None:
            return [tuple(shape), precision, self.values(precision, count)]
        low, high = max(-a, low), min(a, high)
        return [tuple(shape), precision, [self.between(low, high) for _ in range(count)]]

    def axis(self, rank: int) -> int:
        return self.between(-rank, rank - 1)

    def axes(self, rank: int) -> tuple:
        """Different axes in any order, counted from either end."""
        listed = self.some(range(rank)) or self.some(range(rank))
        return tuple(self.pick((axis, axis - rank)) for axis in listed)
