"""Settles what does not depend on data: constants and shapes."""

import numpy

from . import moving, pointwise, products  # noqa: F401  # they fill FLOATS
from .inference import Inexpressible
from .network import dequantized, evaluated
from .registry import FLOATS

# Operators that hand on what they are given.
IDENTITIES = frozenset(("Identity", "Dropout", "Cast"))


def settle(net):
    """({tensor: shape}, {number of a node: what is wrong with it}).

    Folds constants, also those that come from shapes, drops the nodes that hand on their input,
    and runs zeros through the others.
    """
    troubles, values, names = {}, {net.input: numpy.zeros(net.input_shape)}, {}
    shapes, nodes = {net.input: net.input_shape}, []
    for node in net.nodes:
        node.inputs = [names.get(name, name) for name in node.inputs]
        given = [name for name in node.inputs if name]
        try:
            if constants := folded(net, node, given, shapes):
                net.constants |= zip(node.outputs, constants)
            elif node.op in IDENTITIES:
                names[node.outputs[0]] = node.inputs[0]
            else:
                nodes.append(node)
                found = outputs_of_zeros(net, node, given, values)
                values |= zip(node.outputs, found)
                shapes |= ((name, value.shape) for name, value in zip(node.outputs, found))
        except (Inexpressible, ValueError, IndexError) as error:
            nodes += [node] * (node not in nodes)
            troubles[id(node)] = f"{node}: {error}"
    net.nodes = nodes
    net.outputs = [names.get(name, name) for name in net.outputs]
    return shapes, troubles


def folded(net, node, given, shapes):
    """The outputs of a node that are constants, or None."""
    if node.op == "Shape" and given[0] in shapes:
        begin, end = node.attrs.get("start", 0), node.attrs.get("end")
        return [numpy.array(shapes[given[0]][begin:end], dtype=numpy.int64)]
    if not all(name in net.constants for name in given):
        return None
    if node.op == "DequantizeLinear":
        return [dequantized(net, node)]
    return evaluated(net, node)


def outputs_of_zeros(net, node, given, values):
    """The outputs of a node where all inputs are zeros; none where an input is not known."""
    if node.op not in FLOATS:
        hint = "; as an output it can be left out (without softmax)" if "Softmax" in node.op else ""
        raise Inexpressible(f"the operator has no counterpart{hint}")
    if not all(name in values or name in net.constants for name in given):
        return ()
    arrays = [net.constants.get(name, values.get(name)) for name in node.inputs]
    found = FLOATS[node.op](net, node, *arrays)
    return found if isinstance(found, tuple) else (found,)
