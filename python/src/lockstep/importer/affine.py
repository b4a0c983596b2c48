"""Batch norm, and additions and multiplications of constants, as maps c x + d of channels."""

import numpy

from .inference import Inexpressible
from .network import Node

PRODUCTS = ("Conv", "Gemm", "MatMul")


def along_channels(value, rank):
    """A constant as a number or as numbers along axis 1 of a tensor; None if it is neither."""
    value = numpy.asarray(value, dtype=numpy.float64)
    if value.size == 1:
        return value.reshape(1)
    shape = (1,) * (rank - value.ndim) + value.shape
    channels = 1 if rank > 1 else 0
    if value.ndim > rank or any(n != 1 for k, n in enumerate(shape) if k != channels):
        return None
    return value.reshape(-1)


def _batch_norm(network, node):
    scale, bias, mean, variance = (network.constant(node, k) for k in range(1, 5))
    if node.attrs.get("training_mode", 0) or len(node.outputs) > 1:
        raise Inexpressible("it trains")
    c = scale / numpy.sqrt(variance + node.attrs.get("epsilon", 1e-5))
    return node.inputs[0], c, bias - mean * c


def _arithmetic(network, node, rank):
    """The map of an operator of a tensor and a constant, or None."""
    constant = [name in network.constants for name in node.inputs]
    if constant not in ([False, True], [True, False]):
        return None
    value = along_channels(network.constants[node.inputs[constant.index(True)]], rank)
    if value is None:
        return None
    tensor, first = node.inputs[constant.index(False)], constant[0]
    one, zero = numpy.ones(1), numpy.zeros(1)
    maps = {
        "Mul": (value, zero),
        "Add": (one, value),
        "Sub": (-one, value) if first else (one, -value),
        "Div": None if first or not value.all() else (1.0 / value, zero),
    }
    return maps[node.op] and (tensor, *maps[node.op])


def as_affine(network, node, rank):
    """The node as an Affine of one tensor, with constants c and d; None if it is none."""
    if node.op == "BatchNormalization":
        found = _batch_norm(network, node)
    elif node.op in ("Mul", "Add", "Sub", "Div"):
        found = _arithmetic(network, node, rank)
    else:
        return None
    if found is None:
        return None
    tensor, c, d = found
    return Node("Affine", node.name, [tensor], node.outputs[:1], {"of": node.op, "c": c, "d": d})


def fold(network, shapes):
    """Rewrites nodes as Affine, and puts those behind a product into its weights.

    shapes: of each tensor that is computed.
    """
    producers = {}
    for node in list(network.nodes):
        rank = len(shapes.get(node.outputs[0], ()))
        affine = rank and as_affine(network, node, rank)
        if not affine:
            producers[node.outputs[0]] = node
            continue
        network.nodes[network.nodes.index(node)] = affine
        product = producers.get(affine.inputs[0])
        alone = len(network.readers(affine.inputs[0])) == 1
        if product and product.op in PRODUCTS and alone and rank in (2, 4):
            _absorb(network, product, affine)
            network.nodes.remove(affine)
            producers[affine.outputs[0]] = product
        else:
            producers[affine.outputs[0]] = affine


def _absorb(network, product, affine):
    """Multiplies the channels of a product's weight, and changes its bias."""
    c, d = affine.attrs["c"], affine.attrs["d"]
    before, bias = product.attrs.get("affine", (numpy.ones(1), numpy.zeros(1)))
    product.attrs["affine"] = before * c, bias * c + d
    product.outputs = affine.outputs
