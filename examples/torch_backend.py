"""Judges PyTorch: a backend in the JSON Lines protocol.

lockstep check "exec:python3 examples/torch_backend.py int64" --op 'conv2d,dense,elemwise_*'

The argument is the type in which PyTorch computes; int64 holds every value of every operator below.
"""

import sys

import torch
from numpy_backend import serve
from torch.nn import functional

DTYPE = getattr(torch, sys.argv[1] if len(sys.argv) > 1 else "int64")


def conv2d(a, x, w, *bias):
    return functional.conv2d(x, w, *bias, stride=a["strides"], padding=a["padding"],
                             dilation=a["dilation"], groups=a["groups"])  # fmt: skip


def quotient(_, x, y):
    """The truncated quotient; a division by zero gives zero."""
    return torch.where(y == 0, y, torch.div(x, y + (y == 0), rounding_mode="trunc"))


OPERATORS = {
    "relu": lambda _, x: functional.relu(x),
    "abs": lambda _, x: torch.abs(x),
    "negative": lambda _, x: torch.negative(x),
    "clip": lambda a, x: torch.clamp(x, a["a_min"], a["a_max"]),
    "elemwise_add": lambda _, x, y: torch.add(x, y),
    "elemwise_sub": lambda _, x, y: torch.sub(x, y),
    "broadcast_add": lambda _, x, y: torch.add(x, y),
    "broadcast_sub": lambda _, x, y: torch.sub(x, y),
    "broadcast_greater": lambda _, x, y: torch.greater(x, y),
    "broadcast_mul": lambda _, x, y: torch.mul(x, y),
    "broadcast_max": lambda _, x, y: torch.maximum(x, y),
    "broadcast_div": quotient,
    "conv2d": conv2d,
    "dense": lambda _, x, w, *bias: functional.linear(x, w, *bias),
}

torch.set_num_threads(1)
serve(OPERATORS, lambda data, shape: torch.tensor(data).reshape(shape).to(DTYPE), torch)
