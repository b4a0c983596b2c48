"""From floats to integers: which integer stands for a number of each tensor, and in what scale.

A Value is a tensor of integers and what one of them is worth. Sums of products stay as they are,
each channel in a scale of its own, until somebody needs 8 bits: then `combine` multiplies, adds
and shifts once.
"""

from dataclasses import dataclass

import numpy

from .graph import Tensor, largest, precision_of
from .inference import Inexpressible
from .registry import channels
from .stated import destination, symmetric_range

WORD = 32  # bits of a sum before it is shifted
NARROW = 16  # bits of a factor of a product at most; the multiplier gets the others
HEADROOM = 2.0  # how far beyond the calibrated values sums are still exact
OUTPUT_BITS, OUTPUT_HEADROOM = 16, 4.0


def power_above(x):
    """The least power of two that is not below x."""
    fraction, exponent = numpy.frexp(x)
    return numpy.ldexp(1.0, exponent - (fraction == 0.5))


def shifts_down(ratios):
    """Whether the ratios between two scales are one power of two, at most 1."""
    ratios = numpy.asarray(ratios)
    power = power_above(ratios[0] * (1 - 1e-9))
    return bool((numpy.abs(ratios / power - 1) < 1e-9).all()) and power <= 1


@dataclass(frozen=True)
class Value:
    """Integers; one of channel c is worth scale[c], or scale[0] everywhere."""

    tensor: Tensor
    scale: numpy.ndarray
    bound: numpy.ndarray  # the largest magnitude of each channel, or of all

    @property
    def shape(self):
        return self.tensor.shape

    @property
    def uniform(self):
        """Whether one scale holds everywhere."""
        return self.scale.size == 1


class Lowering:
    """The integer graph of a network under construction."""

    def __init__(self, graph, network, shapes, ranges, per_channel=True):
        self.graph, self.network, self.shapes = graph, network, shapes
        self.ranges, self.channel_ranges = ranges.ranges, ranges.channel_ranges
        self.per_channel, self.values, self._memo = per_channel, {}, {}

    # ---- scales ----

    def known_range(self, name):
        """The largest magnitude that is to be represented, or None where nothing tells."""
        name, quantizer = destination(self.network, name)
        if quantizer:
            return symmetric_range(self.network, quantizer)
        return (self.ranges[name] or 1.0) if name in self.ranges else None

    def range_of(self, name):
        """The same, where it is needed."""
        found = self.known_range(name)
        if found is None:
            raise Inexpressible(f"nothing tells the range of '{name}': give calibration data")
        return found

    def scale_of(self, name, precision=8):
        """What a 1 of the tensor is worth in that precision."""
        return self.range_of(name) / largest(precision)

    def limited(self, name, value):
        """The value with the bounds that calibration knows."""
        seen = self.channel_ranges.get(name)
        if seen is None:
            return value
        if seen.size != max(value.scale.size, value.bound.size):
            seen = seen.max(keepdims=True)
        likely = numpy.ceil(HEADROOM * seen / value.scale) + 1
        return Value(value.tensor, value.scale, numpy.minimum(value.bound, likely))

    # ---- values ----

    def value(self, name):
        """The integers of a tensor as they are; those of a constant are made."""
        if name not in self.values:
            constant = self.network.constants[name]
            most = float(numpy.abs(constant).max()) or 1.0
            scale = most / largest(NARROW)
            integers = numpy.rint(constant / scale)
            tensor = self.graph.parameter(name, integers.reshape(constant.shape or (1,)))
            self.values[name] = self.uniform(tensor, scale)
        return self.values[name]

    def uniform(self, tensor, scale, bound=None):
        """A value of one scale."""
        bound = largest(tensor.precision) if bound is None else bound
        return Value(tensor, numpy.full(1, float(scale)), numpy.full(1, float(bound)))

    def quantized(self, name, precision=8, scale=None):
        """The tensor in at most that many bits, in one scale for all channels."""
        value = self.value(name)
        fits = value.uniform and value.tensor.precision <= precision
        if fits and scale in (None, value.scale[0]):
            return value
        scale = self.scale_of(name, precision) if scale is None else scale
        key = name, precision, scale
        if key not in self._memo:
            self._memo[key] = self.combine(name, [(value, 1.0)], scale, precision)
        return self._memo[key]

    def flat(self, name):
        """The tensor in one scale, whatever its precision."""
        value = self.value(name)
        if not value.uniform:
            return self.quantized(name)
        return Value(value.tensor, value.scale, value.bound.max(keepdims=True))

    # ---- arithmetic ----

    def narrowed(self, name, value, precision=NARROW):
        """The value in no more bits; those that its bound does not need go first."""
        if value.tensor.precision <= precision:
            return value
        needed = int(value.bound.max()).bit_length() + 1
        bits = max(needed - precision, 0)
        tensor = self.graph.shifted(name, value.tensor, bits, precision)
        bound = numpy.minimum(numpy.ceil(value.bound / 2**bits), largest(precision))
        return Value(tensor, value.scale * 2.0**bits, bound)

    def scaled_integers(self, factors, offset, rooms):
        """(multipliers, offset, shift): factors and offset times 2^shift, as fine as fits."""
        for shift in range(31, -1, -1):
            integers = [numpy.rint(f * 2.0**shift) for f in factors]
            added = numpy.rint(offset * 2.0**shift)
            fits = all(numpy.abs(m).max() <= largest(p) for m, p in zip(integers, rooms))
            if fits and numpy.abs(added).max(initial=0) <= largest(WORD - 1):
                break
        else:
            raise Inexpressible(f"a factor of {max(numpy.abs(f).max() for f in factors):.3g} "
                                "between scales is too large")  # fmt: skip
        parts = [m.astype(numpy.int64) for m in integers] + [added.astype(numpy.int64)]
        while shift and not any((part & 1).any() for part in parts):
            parts, shift = [part >> 1 for part in parts], shift - 1
        return parts[:-1], parts[-1], shift

    def combine(self, name, terms, scale, precision=8, offset=0.0):
        """sum of value x factor, + offset, as integers of the given scale and precision.

        terms: (value, factor); a factor is a number, or numbers by channel. offset counts in
        units of the scale.
        """
        graph, rank = self.graph, max(len(v.shape) for v, _ in terms)
        offset = numpy.asarray(offset, dtype=numpy.float64).reshape(-1)
        word = WORD - (len(terms) - 1) - bool(offset.any())
        first, factor = terms[0]
        if len(terms) > 1 or offset.any() or not shifts_down(factor * first.scale / scale):
            terms = [(self.narrowed(f"{name}_narrow", v), f) for v, f in terms]
        factors = [numpy.asarray(f) * v.scale / scale for v, f in terms]
        rooms = [max(word - v.tensor.precision, 2) for v, _ in terms]
        multipliers, added, shift = self.scaled_integers(factors, offset, rooms)
        total = None
        for (value, _), m in zip(terms, multipliers):
            product = value.tensor
            if (m != 1).any():
                factor = graph.parameter(f"{name}_factor", channels(m, rank))
                product = graph.call(f"{name}_product", "broadcast_mul", product, factor)
            total = product if total is None else graph.add(f"{name}_sum", total, product)
        if added.any():
            total = graph.add(f"{name}_offset", total, graph.parameter(
                f"{name}_addend", channels(added, rank)))  # fmt: skip
        return self.uniform(graph.shifted(name, total, shift, precision), scale)

    # ---- parameters ----

    def weights(self, name, weight, scale_in, bias, target):
        """(weight, bias or None, scale of the sums): a product's parameters as integers.

        weight: (outputs, ...); bias: by output. target: the scale to which the sums will be
        brought, from which a scale for all channels leaves only a shift.
        """
        rows = numpy.abs(weight.reshape(len(weight), -1)).max(axis=1)
        # A weight so small beside the bias would push the bias out of its word.
        rows = numpy.maximum(rows, numpy.abs(bias) / scale_in * largest(8) / 2.0**26)
        scale = rows / largest(8)
        if not self.per_channel:
            scale = scale.max(keepdims=True)
            if target:
                scale = power_above(scale * scale_in / target) * target / scale_in
        scale = numpy.where(scale > 0, scale, 1.0)
        shaped = scale.reshape((-1,) + (1,) * (weight.ndim - 1))
        return self.integer_weights(name, numpy.rint(weight / shaped), scale, scale_in, bias)

    def integer_weights(self, name, integers, scale, scale_in, bias):
        """The same of a weight that is integers already."""
        integers = numpy.clip(integers, -largest(8), largest(8))
        scale = numpy.broadcast_to(scale, len(integers)) * scale_in
        added = numpy.rint(bias / scale)
        if precision_of(added) > 31:
            raise Inexpressible("its bias is too large beside its weight")
        bound = numpy.abs(integers.reshape(len(integers), -1)).sum(axis=1) * largest(8)
        parameters = [self.graph.parameter(f"{name}_weight", integers)]
        if added.any():
            parameters.append(self.graph.parameter(f"{name}_bias", added))
        if (scale == scale[0]).all():
            scale = scale[:1]
        return parameters, scale, bound + numpy.abs(added)
