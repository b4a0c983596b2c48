"""Operators of neural networks: convolution, full connection, pooling, upsampling."""

from .attributes import Boolean, Integer, Integers, Word
from .basics import EXTENT_MAX, Result, bits, coordinates, gathered, require
from .registry import operator

COUNT = {"low": 1, "high": EXTENT_MAX}
STEP = {"low": 1, "high": 4096}
PAIR = {"least": 2, "most": 2}
LAYOUT = Word("layout", "NCHW")
USE_BIAS = Boolean("use_bias", "true")


def with_bias(a):
    """The number of inputs of an operator that has a bias where the call says so."""
    return (3,) if a.use_bias else (2,)


def accumulated(precision: int, terms: int, bias) -> int:
    """The precision of a sum of so many products, and of the bias added to it."""
    precision += bits(terms)
    return max(precision, bias[0].precision) + 1 if bias else precision


def require_products(x, w):
    require(x.precision <= 8 and w.precision <= 8, "bits")


@operator(
    "conv2d",
    ports=((4,), (4,), (1,)),
    attributes=(
        Integer("channels", **COUNT),
        Integers("kernel_size", **COUNT, **PAIR),
        Integers("strides", "(1,1)", ("stride",), **STEP, **PAIR),
        Integers("padding", "(0,0)", low=0, high=4096, **PAIR),
        Integers("dilation", "(1,1)", **STEP, **PAIR),
        Integer("groups", "1", **COUNT),
        USE_BIAS,
        LAYOUT,
        Word("kernel_layout", "OIHW"),
        Word("out_dtype", "int32", words=("int32", "same")),
        Word("out_layout", "__undef__", words=("__undef__", "NCHW")),
    ),
    rules="groups weight bias window bits",
    exceeds="shape precision",
    counts=with_bias,
)
def conv2d(a, x, w, *bias):
    batch, channels, *image = x.shape
    require(channels % a.groups == 0 and a.channels % a.groups == 0, "groups")
    depth, block = channels // a.groups, a.channels // a.groups
    require(w.shape == (a.channels, depth, *a.kernel_size), "weight")
    require(all(b.shape == (a.channels,) for b in bias), "bias")
    windows = [(k - 1) * d + 1 for k, d in zip(a.kernel_size, a.dilation)]
    padded = [extent + 2 * p for extent, p in zip(image, a.padding)]
    require(all(n <= m for n, m in zip(windows, padded)), "window")
    require_products(x, w)
    rows, columns = ((m - n) // s + 1 for m, n, s in zip(padded, windows, a.strides))
    height, width = a.kernel_size
    shape = (batch, a.channels, rows, columns)

    def seen(n, c, h, v):
        inside = 0 <= h < image[0] and 0 <= v < image[1]
        return x[n, c, h, v] if inside else 0

    def element(n, o, y, z):
        first = o // block * depth
        top, left = y * a.strides[0] - a.padding[0], z * a.strides[1] - a.padding[1]
        return sum(b.values[o] for b in bias) + sum(
            w[o, i, r, s] * seen(n, first + i, top + r * a.dilation[0], left + s * a.dilation[1])
            for i, r, s in coordinates((depth, height, width))
        )

    precision = accumulated(x.precision + w.precision, depth * height * width, bias)
    return [Result(shape, precision, lambda: [element(*c) for c in coordinates(shape)])]


@operator(
    "dense",
    ports=((2,), (2,), (1,)),
    attributes=(Integer("units", **COUNT), USE_BIAS),
    rules="weight bias bits",
    exceeds="shape precision",
    counts=with_bias,
)
def dense(a, x, w, *bias):
    rows, terms = x.shape
    require(w.shape == (a.units, terms), "weight")
    require(all(b.shape == (a.units,) for b in bias), "bias")
    require_products(x, w)

    def element(m, n):
        return sum(x[m, k] * w[n, k] for k in range(terms)) + sum(b.values[n] for b in bias)

    shape = (rows, a.units)
    precision = accumulated(x.precision + w.precision, terms, bias)
    return [Result(shape, precision, lambda: [element(*c) for c in coordinates(shape)])]


@operator(
    "max_pool2d",
    ports=((4,),),
    attributes=(
        Integers("pool_size", **COUNT, **PAIR),
        Integers("strides", "(1,1)", **STEP, **PAIR),
        Integers("padding", "(0,0)", low=0, high=4096, least=1, most=2),
        Boolean("ceil_mode", "false"),
        LAYOUT,
    ),
    rules="pool last_window",
    exceeds="shape",
)
def max_pool2d(a, x):
    image, padding = x.shape[2:], a.padding * 2 if len(a.padding) == 1 else a.padding
    axes = list(zip(image, a.pool_size, a.strides, padding))
    require(all(pad < pool <= extent + 2 * pad for extent, pool, _, pad in axes), "pool")

    def count(extent, pool, stride, pad):
        room = extent + 2 * pad - pool
        return (room + stride - 1 if a.ceil_mode else room) // stride + 1

    counts = tuple(count(*axis) for axis in axes)
    starts = [(n - 1) * stride - pad for n, (_, _, stride, pad) in zip(counts, axes)]
    require(all(start < extent for start, extent in zip(starts, image)), "last_window")

    def window(place, axis):
        extent, pool, stride, pad = axis
        start = place * stride - pad
        return range(max(start, 0), min(start + pool, extent))

    def element(n, c, *place):
        rows, columns = map(window, place, axes)
        return max(x[n, c, h, v] for h in rows for v in columns)

    shape = x.shape[:2] + counts
    return [Result(shape, x.precision, lambda: [element(*c) for c in coordinates(shape)])]


@operator(
    "upsampling",
    ports=((4,),),
    attributes=(Integer("scale", **STEP), LAYOUT, Word("method", "NEAREST_NEIGHBOR")),
    exceeds="shape",
)
def upsampling(a, x):
    n, c, height, width = x.shape
    shape = (n, c, height * a.scale, width * a.scale)
    return gathered(x, shape, lambda y: (y[0], y[1], y[2] // a.scale, y[3] // a.scale))
