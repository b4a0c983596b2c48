"""The scales that QuantizeLinear and DequantizeLinear state."""

import numpy

from .registry import require

# Operators whose output has the scale of their input, and that leave it no larger.
FOLLOWED = ("Relu", "MaxPool")


def quantizer(network, node):
    """(scale, zero point, least, largest) of QuantizeLinear or DequantizeLinear."""
    scale, zero = network.constant(node, 1), network.constant(node, 2)
    require(scale.size == 1, "its scale differs between channels")
    kind = numpy.iinfo(numpy.uint8 if zero is None else zero.dtype)
    zero = 0 if zero is None else int(zero.reshape(-1)[0])
    return float(scale.reshape(-1)[0]), zero, kind.min, kind.max


def symmetric_range(network, node):
    """The magnitude that 127 stands for, so that a scale stays or is doubled where it can."""
    scale, zero, least, most = quantizer(network, node)
    up, down = most - zero, zero - least
    farthest = up if down == up + 1 else max(up, down)
    return scale * 127.0 * (1 if farthest <= 127 else 2 if farthest <= 255 else farthest / 127.0)


def destination(network, name):
    """(the tensor whose range decides the scale of another, the QuantizeLinear that states it)."""
    readers = network.readers(name)
    while len(readers) == 1 and readers[0] and readers[0].op in FOLLOWED:
        name = readers[0].outputs[0]
        readers = network.readers(name)
    alone = len(readers) == 1 and readers[0] and readers[0].op == "QuantizeLinear"
    return name, readers[0] if alone else None
