"""Changes that make a call illegal, or that might: each takes a draft and draws what it changes."""

import math
from dataclasses import dataclass

from crosscheck.independent.attributes import ENTRIES_MAX, Integer, Integers, Word
from crosscheck.independent.basics import EXTENT_MAX

from .draw import VOLUME, Draw

JUNK = ("", "1.5", "(1", "1)", "1 2", "(,)", "yes", "none", "0x3", "1,2", "--1", "(1)(2)", "[1,2)",
        "+ 1", "(1 L)", "1l", "1;2", "\n1", "(1,,2)", "truee", "None")  # fmt: skip
FAR = (-(2**63) - 1, -(2**63), -(2**31), -(2**31) + 1, -5, -1, 0, 1, 2, 4096, 4097, EXTENT_MAX,
       EXTENT_MAX + 1, 2**31 - 1, 2**31, 2**63 - 1, 2**63)  # fmt: skip


@dataclass
class Draft:
    """A call in the making. Attributes are pairs of a name and a value, or the text of one."""

    op: object
    attributes: list
    inputs: list

    def reshape(self, d: Draw, k: int, shape: tuple) -> None:
        """Gives an input another shape, with data unless that would be much, or none at all."""
        count = math.prod(shape)
        precision = self.inputs[k][1]
        if 1 <= count <= 2 * VOLUME and 1 <= precision <= 32 and min(shape, default=0) > 0:
            self.inputs[k] = d.tensor(shape, precision)
        else:
            self.inputs[k] = [shape, precision, None]

    def attribute(self, d: Draw, kind=object):
        """The place and the declaration of an attribute of the kind, added if it is not given."""
        known = [a for a in self.op.attributes if isinstance(a, kind)]
        if not known:
            return None, None
        a = d.pick(known)
        for place, (name, _) in enumerate(self.attributes):
            if name in (a.name, *a.also):
                return place, a
        self.attributes.append((a.name, a.default or "1"))
        return len(self.attributes) - 1, a

    def set(self, place: int, value) -> None:
        self.attributes[place] = (self.attributes[place][0], value)


def edges(d: Draw, a, value):
    """Yields values of an attribute at both ends of its range and length, and just beyond them."""
    if isinstance(a, Integer):
        yield from (a.low - 1, a.low, a.high, a.high + 1)
    elif isinstance(a, Integers):
        filled = value or (1,)
        for bound in (a.low - 1, a.low, a.high, a.high + 1):
            k = d.below(len(filled))
            yield filled[:k] + (bound,) + filled[k + 1 :]
        for count in {a.least - 1, a.least, a.most, a.most + 1} - {-1}:
            yield (filled * ENTRIES_MAX)[:count] if count <= ENTRIES_MAX else (1,) * count


MUTATIONS = []


def mutation(function):
    MUTATIONS.append(function)
    return function


@mutation
def unknown_attribute(d, draft):
    name = d.pick(("colour", "Axis", "__", "____", "__a__", "_", ""))
    draft.attributes.append((name, "1"))


@mutation
def attribute_twice(d, draft):
    place, a = draft.attribute(d)
    if a:
        draft.attributes.append((d.pick((a.name, *a.also)), draft.attributes[place][1]))


@mutation
def missing_attribute(d, draft):
    if draft.attributes:
        del draft.attributes[d.between(0, len(draft.attributes) - 1)]


def beyond(d, a):
    """An integer that is hardly legal for an attribute."""
    return d.pick((a.low - 1, a.high + 1, d.pick((a.low, a.high, *FAR))))


def counted(d, _):
    """A tuple of any length."""
    count = d.pick((0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 17))
    return tuple(d.pick((1, 1, d.between(-4, 4))) for _ in range(count))


def replacement(kind, value):
    """A mutation that gives an attribute of the kind another value."""

    def mutate_attribute(d, draft):
        place, a = draft.attribute(d, kind)
        if a:
            draft.set(place, value(d, a))

    return mutation(mutate_attribute)


replacement(object, lambda d, _: d.pick(JUNK))
replacement(Integer, beyond)
replacement(Integer, lambda d, _: d.between(-7, 12))


@mutation
def entry(d, draft):
    """One entry of a tuple becomes another: near, far, or equal to its neighbour."""
    place, a = draft.attribute(d, Integers)
    values = draft.attributes[place][1] if a else ()
    if isinstance(values, tuple) and values:
        k = d.between(0, len(values) - 1)
        new = d.pick((beyond(d, a), d.between(-7, 12), d.between(-7, 12), values[k - 1]))
        draft.set(place, values[:k] + (new,) + values[k + 1 :])


replacement(Integers, counted)
replacement(object, lambda d, _: d.pick((True, False)))
replacement(Word, lambda d, a: d.pick((*(a.words or (a.default,)), "nchw", "", "NHWC", "int8")))


@mutation
def input_count(d, draft):
    if draft.inputs and d.truth():
        del draft.inputs[d.between(0, len(draft.inputs) - 1)]
    else:
        draft.inputs.append(d.tensor(d.shape(), d.precision()))


def chosen(d, draft):
    """An input to change: its place and its shape as a list."""
    k = d.between(0, len(draft.inputs) - 1)
    return k, list(draft.inputs[k][0])


@mutation
def rank(d, draft):
    k, shape = chosen(d, draft)
    if d.one_in(4):
        shape = [1] * d.pick((0, 6, 7))
    elif shape and d.truth():
        del shape[d.between(0, len(shape) - 1)]
    else:
        shape.insert(d.between(0, len(shape)), d.pick((1, 1, 2)))
    draft.reshape(d, k, tuple(shape))


@mutation
def extent(d, draft):
    k, shape = chosen(d, draft)
    if shape:
        at = d.between(0, len(shape) - 1)
        near = (shape[at] + 1, max(shape[at] - 1, 1), 1)
        shape[at] = d.pick((*near, *near, 0, -1, EXTENT_MAX + 1, 2**70))
        draft.reshape(d, k, tuple(shape))


@mutation
def giant(d, draft):
    """An extent as large as it may be, alone or beside the others."""
    k, shape = chosen(d, draft)
    if shape:
        if d.truth():
            shape = [1] * len(shape)
        shape[d.between(0, len(shape) - 1)] = d.pick((EXTENT_MAX, EXTENT_MAX, EXTENT_MAX - 1))
        draft.reshape(d, k, tuple(shape))


@mutation
def giants(d, draft):
    giant(d, draft)
    giant(d, draft)


@mutation
def giant_input(d, draft):
    k, shape = chosen(d, draft)
    draft.inputs[k] = [tuple(EXTENT_MAX for _ in shape), 8, None]


@mutation
def precision(d, draft):
    k, shape = chosen(d, draft)
    near = draft.inputs[k][1] + d.pick((-1, 1))
    draft.inputs[k][1] = d.pick((near, near, -1, 0, 33, 2**40, 32, 32, 31, 9))
    draft.reshape(d, k, tuple(shape))


@mutation
def outside(d, draft):
    """A value that its precision does not have."""
    k, _ = chosen(d, draft)
    _, bits, data = draft.inputs[k]
    if data and 1 <= bits <= 32:
        a = 2 ** (bits - 1) - 1
        wrong = d.pick((a + 1, -a - 1, 2**31, -(2**31), 2**70, -(2**63)))
        data[d.between(0, len(data) - 1)] = wrong


def mutate(d: Draw, draft: Draft) -> None:
    """Changes a draft at one place, or at two: which label comes first is then the question."""
    for _ in range(d.pick((1, 1, 2, 3))):
        if draft.inputs:
            d.pick(MUTATIONS)(d, draft)
