"""What PyTorch's own functions give in 64-bit integers, on the CPU and in one thread."""

import torch

from ..table import PYTORCH as LIBRARY
from . import composed, direct  # they fill the table

LEFT_OUT = {
    "reshape": "PyTorch has no notion of the targets 0, -2, -3 and -4",
    "non_max_suppression": "PyTorch has nothing of the kind; torchvision's computes in floats",
}

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)


def outputs(name: str, attributes, inputs: list) -> list:
    """(shape, data) of each output of a legal call. Inputs have a shape and values."""
    tensors = [torch.tensor(x.values, dtype=torch.int64).reshape(x.shape) for x in inputs]
    found = LIBRARY[name](attributes, *tensors)
    several = found if isinstance(found, tuple) else (found,)
    return [(list(y.shape), y.flatten().tolist()) for y in several]
