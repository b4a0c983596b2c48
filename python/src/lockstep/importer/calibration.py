"""The ranges of tensors, from running samples through a network in doubles."""

import math

import numpy

from .registry import evaluate


class Ranges:
    """The magnitude that a percentage of a tensor's numbers does not exceed, by tensor."""

    def __init__(self, percentile=100.0):
        if not 0 < percentile <= 100:
            raise ValueError(f"a percentile of {percentile}")
        self.share_above = 1.0 - percentile / 100.0
        self.ranges, self.channel_ranges = {}, {}

    def read(self, network, samples):
        """Runs the samples one by one, each a batch of its own."""
        kept, channels = {}, {}
        count = len(samples)

        def visit(name, value):
            magnitudes = numpy.abs(value, dtype=numpy.float64).reshape(-1)
            # Only those above the percentile, and the one that is it, can matter.
            most = int(math.floor(count * magnitudes.size * self.share_above)) + 1
            seen = numpy.concatenate([kept.get(name, magnitudes[:0]), magnitudes])
            kept[name] = numpy.sort(seen)[-most:]
            if value.ndim > 1:
                by_channel = numpy.abs(value).max(axis=(0, *range(2, value.ndim)))
                channels[name] = numpy.maximum(channels.get(name, 0.0), by_channel)

        for sample in samples:
            sample = numpy.asarray(sample, dtype=numpy.float64)
            evaluate(network, sample[None], visit)
        self.ranges = {name: float(values[0]) for name, values in kept.items()}
        self.channel_ranges = channels
