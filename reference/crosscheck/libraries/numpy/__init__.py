"""What NumPy's own functions give in 64-bit integers."""

import numpy as np

from ..table import NUMPY as LIBRARY
from . import composed, direct  # they fill the table

LEFT_OUT = {
    "reshape": "NumPy has no notion of the targets 0, -2, -3 and -4",
    "non_max_suppression": "NumPy has nothing of the kind; it would be the same loops again",
}


def outputs(name: str, attributes, inputs: list) -> list:
    """(shape, data) of each output of a legal call. Inputs have a shape and values."""
    arrays = [np.array(x.values, dtype=np.int64).reshape(x.shape) for x in inputs]
    found = LIBRARY[name](attributes, *arrays)
    several = found if isinstance(found, tuple) else (found,)
    return [(list(y.shape), y.ravel().tolist()) for y in several]
