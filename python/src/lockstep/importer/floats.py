"""Arithmetic of doubles that gives every machine the same bits.

A sum in floating point depends on the order of its additions, which differs between processors.
Here the factors of a sum of products are first rounded to integers times a power of two, with so
few bits that every partial sum is exact, so that no order changes the sum. Everything else uses
only operations that IEEE 754 fixes.
"""

import numpy

EXACT_BITS = 53
LN2_HIGH = float.fromhex("0x1.62e42feep-1")  # of ln 2, so short that a multiple is exact
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
TAYLOR_TERMS = 14


def on_grid(x, bits):
    """(integers of at most that many bits, unit): their product is x, rounded."""
    most = float(numpy.abs(x).max(initial=0.0))
    if most == 0.0:
        return numpy.zeros_like(x), 1.0
    unit = float(numpy.ldexp(1.0, int(numpy.frexp(most)[1]) - bits))
    return numpy.rint(x / unit), unit


def factors_on_grid(x, w, terms):
    """The factors of sums of that many products, and the unit of the sums."""
    bits = (EXACT_BITS - int(terms).bit_length() - 1) // 2
    (x, x_unit), (w, w_unit) = on_grid(x, bits), on_grid(w, bits)
    return x, w, x_unit * w_unit


def product(x, w):
    """x @ w."""
    x, w, unit = factors_on_grid(x, w, w.shape[0])
    return (x @ w) * unit


def sums(x, axes):
    """The sums over axes, which stay with extent 1."""
    terms = 1
    for axis in axes:
        terms *= x.shape[axis]
    x, unit = on_grid(x, EXACT_BITS - terms.bit_length() - 1)
    return x.sum(axis=axes, keepdims=True) * unit


def convolution(x, w, strides, pads, dilation, groups):
    """A convolution of images, (N, C, H, W). pads: above, left, below, right."""
    top, left, bottom, right = pads
    x = numpy.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    x, w, unit = factors_on_grid(x, w, w[0].size)
    (channels, group, rows, columns), (batch, _, height, width) = w.shape, x.shape
    high, wide = ((n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(
        (height, width), (rows, columns), strides, dilation))  # fmt: skip
    x = x.reshape(batch, groups, group, height, width)
    w = w.reshape(groups, channels // groups, group, rows, columns)
    y = numpy.zeros((batch, groups, channels // groups, high * wide))
    for r in range(rows):
        for s in range(columns):
            down, across = r * dilation[0], s * dilation[1]
            seen = x[..., down:down + strides[0] * (high - 1) + 1:strides[0],
                     across:across + strides[1] * (wide - 1) + 1:strides[1]]  # fmt: skip
            y += w[..., r, s] @ seen.reshape(batch, groups, group, -1)
    return y.reshape(batch, channels, high, wide) * unit


def exp(x):
    """The exponential, within a few units in the last place."""
    x = numpy.clip(numpy.asarray(x, dtype=numpy.float64), -700.0, 700.0)
    k = numpy.rint(x / numpy.float64(0.6931471805599453))
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    y = numpy.ones_like(r)
    for n in range(TAYLOR_TERMS, 0, -1):
        y = 1.0 + y * r / n
    return numpy.ldexp(y, k.astype(numpy.int64))


def sigmoid(x):
    """1 / (1 + e^-x)."""
    return 1.0 / (1.0 + exp(-x))


def tanh(x):
    """The hyperbolic tangent."""
    return 1.0 - 2.0 / (exp(2.0 * x) + 1.0)


def erf(x):
    """The error function within 2e-7 (Abramowitz and Stegun, 7.1.26)."""
    t = 1.0 / (1.0 + 0.3275911 * numpy.abs(x))
    y = t * (0.254829592 + t * (-0.284496736 + t * (
        1.421413741 + t * (-1.453152027 + t * 1.061405429))))  # fmt: skip
    return numpy.sign(x) * (1.0 - y * exp(-x * x))
