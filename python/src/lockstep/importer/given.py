"""Checks the inputs of an import other than the model."""

import math

import numpy

from .inference import MAX_PRECISION, MAX_RANK, MAX_VOLUME


def check_options(input_scale, input_precision):
    """Refuses options with which the input stands for nothing."""
    if input_scale is not None and not 0 < input_scale < math.inf:
        raise ValueError(f"input_scale is {input_scale}, and must be a finite number above 0")
    if input_precision not in range(2, MAX_PRECISION + 1):
        raise ValueError(f"input_precision is {input_precision}, and must be 2 to {MAX_PRECISION} "
                         "bits")  # fmt: skip


def check_shape(shape):
    """Refuses values that are no shape of a tensor."""
    if not (1 <= len(shape) <= MAX_RANK and min(shape) >= 1 and math.prod(shape) <= MAX_VOLUME):
        raise ValueError(f"the shape of the input is {shape}, not 1 to {MAX_RANK} extents of at "
                         f"least 1 whose product is at most {MAX_VOLUME}")  # fmt: skip


def check_samples(samples, name="samples"):
    """Refuses an array that is not (count, ...) of finite numbers, and a list with such samples."""
    if not isinstance(samples, numpy.ndarray) and not samples:
        raise ValueError(f"{name}: a list holds no sample")
    for array in [samples] if isinstance(samples, numpy.ndarray) else map(numpy.asarray, samples):
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name}: the array holds {array.dtype}, not numbers")
        if not array.ndim or not array.size:
            raise ValueError(f"{name}: an array of the shape {array.shape} holds no sample")
        if not numpy.isfinite(array).all():
            raise ValueError(f"{name}: the array holds a number that is not finite")


def check_declared(samples, name, extents):
    """Refuses samples that are not what the model declares; None is an extent without a number.

    The batch is free: each sample is run by itself.
    """
    pairs = zip(samples.shape[1:], extents[1:])
    if samples.ndim != len(extents) or any(n != wanted for n, wanted in pairs if wanted):
        raise ValueError(f"samples have the shape {samples.shape}, and the input '{name}' of the "
                         f"model is declared as {extents}")  # fmt: skip
