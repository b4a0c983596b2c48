"""What the importer knows of each ONNX operator: its values in doubles, and its integers."""

import numpy

from .inference import Inexpressible

FLOATS = {}  # by operator: (network, node, *arrays) -> array, or arrays
LOWERINGS = {}  # by operator: (lowering, node) -> Value, or Values


def floats(*ops):
    """Registers the function below for doubles."""
    return lambda function: [FLOATS.__setitem__(op, function) for op in ops] and function


def lowers(*ops):
    """Registers the function below for integers."""
    return lambda function: [LOWERINGS.__setitem__(op, function) for op in ops] and function


def require(condition, text):
    """Refuses a node that has no counterpart."""
    if not condition:
        raise Inexpressible(text)


def evaluate(network, data, visit=lambda tensor, value: None, skip=()):
    """Runs a network on one input, in doubles; visits each tensor, and frees it after its use.

    skip: nodes that are not run, nor those that need them.
    """
    values, last = {network.input: data}, {}
    for k, node in enumerate(network.nodes):
        last |= {name: k for name in node.inputs}
    visit(network.input, data)
    skipped = set(skip)
    for k, node in enumerate(network.nodes):
        needed = [name for name in node.inputs if name]
        known = all(name in values or name in network.constants for name in needed)
        if id(node) in skipped or not known:
            continue
        arrays = [network.constants.get(name, values.get(name)) for name in node.inputs]
        found = FLOATS[node.op](network, node, *arrays)
        found = found if isinstance(found, tuple) else (found,)
        for name, value in zip(node.outputs, found):
            values[name] = value
            visit(name, value)
        for name in needed:
            if last[name] == k and name not in network.outputs:
                values.pop(name, None)
    return [values.get(name, network.constants.get(name)) for name in network.outputs]


def pair(node, name, otherwise):
    """An attribute of two integers."""
    found = tuple(node.attrs.get(name, otherwise))
    require(len(found) == 2, f"its {name} are for {len(found)} axes, and images have 2")
    return found


def window_pads(node, extents, kernel, strides, dilation):
    """(above, left, below, right) of an operator with windows."""
    mode = node.attrs.get("auto_pad", b"NOTSET").decode()
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        totals = [max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
                  for n, k, s, d in zip(extents, kernel, strides, dilation)]  # fmt: skip
        small, large = [t // 2 for t in totals], [t - t // 2 for t in totals]
        return (*small, *large) if mode == "SAME_UPPER" else (*large, *small)
    pads = tuple(node.attrs.get("pads", (0, 0, 0, 0))) if mode == "NOTSET" else (0, 0, 0, 0)
    require(len(pads) == 4, f"its pads are for {len(pads) // 2} axes, and images have 2")
    return pads


def channels(value, rank):
    """Numbers by channel, shaped to meet a tensor of that rank along axis 1."""
    value = numpy.asarray(value, dtype=numpy.float64).reshape(-1)
    return value.reshape((-1,) + (1,) * max(rank - 2, 0)) if value.size > 1 else value
