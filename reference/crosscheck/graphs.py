"""Graphs that a builder in Python holds, run with the implementations here."""

import numpy

from .independent import Call, Tensor, judged, outputs
from .independent.basics import largest
from .libraries.numpy import LIBRARY
from .libraries.numpy.composed import windows


def convolved(a, x, w, *bias):
    """conv2d as matrix products of doubles, which hold these sums exactly."""
    seen = windows(x.astype(numpy.float64), a.kernel_size, a.strides, a.padding, 0, a.dilation)
    parts = zip(numpy.split(seen, a.groups, axis=1), numpy.split(w, a.groups))
    y = numpy.concatenate([numpy.tensordot(v.astype(numpy.float64), s, ([1, 2, 3], [1, 4, 5]))
                           for s, v in parts])  # fmt: skip
    y = numpy.moveaxis(y, 0, 1).astype(numpy.int64)
    return y + bias[0][:, None, None] if bias else y


def values_of(node, attributes, types, values):
    """The outputs of a call."""
    if node.op == "conv2d":
        found = convolved(attributes, *values)
    elif node.op == "reshape":
        found = values[0].reshape(node.outputs[0].shape)
    elif node.op in LIBRARY:
        found = LIBRARY[node.op](attributes, *values)
    else:
        inputs = [Tensor(t.shape, t.precision, v.ravel().tolist()) for t, v in zip(types, values)]
        results = outputs(Call(node.op, list(node.attrs.items()), inputs))
        return tuple(numpy.array(y.data).reshape(y.shape) for y in results)
    return found if isinstance(found, tuple) else (found,)


def run(nodes, data):
    """The outputs of every node, by node; each has the type that the operator infers.

    nodes: name, op, inputs and outputs (node, output, shape, precision), attrs, and the value of
    a variable, which "data" has not.
    """
    results = []
    for node in nodes:
        if node.op == "null":
            found = (data if node.value is None else node.value,)
        else:
            types = [Tensor(t.shape, t.precision) for t in node.inputs]
            _, attributes, inferred = judged(Call(node.op, list(node.attrs.items()), types))
            inferred = [(tuple(t.shape), t.precision) for t in inferred]
            declared = [(t.shape, t.precision) for t in node.outputs]
            assert inferred == declared, f"{node.name}: {inferred} is inferred, not {declared}"
            values = [results[t.node][t.output] for t in node.inputs]
            found = values_of(node, attributes, types, values)
        for tensor, value in zip(node.outputs, found):
            assert value.shape == tensor.shape, f"{node.name}: {value.shape}, not {tensor.shape}"
            most = numpy.abs(value).max()
            assert most <= largest(tensor.precision), f"{node.name}: {most}"
        results.append(found)
    return results
