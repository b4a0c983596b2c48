# SPDX-License-Identifier: Apache-2.0
"""Trains the floating-point network; every machine with IEEE 754 doubles gets the same bits.

A matrix product through BLAS depends on the order of its additions, so its bits differ between
processors. Here both factors are first rounded to multiples of 2^-16, and the product is checked to
be small enough for every partial sum to be exact in a double: then no order can change it.
Everything else uses only +, -, *, / and square roots of single elements, which IEEE 754 fixes; the
loss is a squared hinge because it needs no exponential.
"""

import numpy as np

GRID = 2.0**16
EXACT_LIMIT = 2.0**53

# Layer sizes: two convolutions of 3x3, then two dense layers.
CONV1_CHANNELS = 24
CONV2_CHANNELS = 48
HIDDEN_UNITS = 64
CLASSES = 10

PIXEL_SCALE = 16.0  # The network sees pixels divided by this, in 0..1.


def exact_product(a, b):
    """Returns a @ b of the factors rounded to the grid, free of any rounding in the sum."""
    a = np.rint(a * GRID)
    b = np.rint(b * GRID)
    if np.abs(a).max() * np.abs(b).max() * a.shape[1] >= EXACT_LIMIT:
        raise OverflowError("training diverged: a sum of products is no longer exact")
    return (a @ b) / (GRID * GRID)


def column_sums(a):
    """Returns the exact sum of each column."""
    return exact_product(np.ones((1, a.shape[0])), a)[0]


def windows(x, size, stride, padding, fill):
    """Returns every size x size window of x as (n, channels, oh, ow, size * size)."""
    pads = ((0, 0), (0, 0), (padding, padding), (padding, padding))
    x = np.pad(x, pads, constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(2, 3))
    view = view[:, :, ::stride, ::stride]
    return view.reshape(*view.shape[:4], size * size)


def scatter_windows(grad, size, stride, padding, shape):
    """Adds the gradient of every window back to the pixels it was taken from."""
    n, channels, height, width = shape
    out = np.zeros((n, channels, height + 2 * padding, width + 2 * padding))
    oh, ow = grad.shape[2:4]
    for r in range(size):
        for s in range(size):
            rows = slice(r, r + stride * (oh - 1) + 1, stride)
            columns = slice(s, s + stride * (ow - 1) + 1, stride)
            out[:, :, rows, columns] += grad[..., r * size + s]
    return out[:, :, padding : padding + height, padding : padding + width]


class Conv3x3:
    """A convolution of 3x3 with padding 1."""

    def __init__(self, rng, channels_in, channels_out):
        fan_in = channels_in * 9
        self.parameters = [
            uniform(rng, (channels_out, fan_in), fan_in),
            np.zeros(channels_out),
        ]

    def forward(self, x):
        weight, bias = self.parameters
        self.shape = x.shape
        columns = windows(x, 3, 1, 1, 0.0).transpose(0, 2, 3, 1, 4)
        self.columns = columns.reshape(-1, weight.shape[1])
        y = exact_product(self.columns, weight.T) + bias
        return y.reshape(*columns.shape[:3], -1).transpose(0, 3, 1, 2)

    def backward(self, grad):
        weight = self.parameters[0]
        n, channels, height, width = grad.shape
        grad = grad.transpose(0, 2, 3, 1).reshape(-1, channels)
        self.gradients = [exact_product(grad.T, self.columns), column_sums(grad)]
        columns = exact_product(grad, weight).reshape(n, height, width, -1, 9)
        return scatter_windows(columns.transpose(0, 3, 1, 2, 4), 3, 1, 1, self.shape)


class MaxPool:
    """Maximum over windows; the padding never wins and the first maximum takes the gradient."""

    parameters = gradients = ()

    def __init__(self, size, stride, padding):
        self.size, self.stride, self.padding = size, stride, padding

    def forward(self, x):
        self.shape = x.shape
        view = windows(x, self.size, self.stride, self.padding, -np.inf)
        self.first = view.argmax(axis=-1)
        return np.take_along_axis(view, self.first[..., None], axis=-1)[..., 0]

    def backward(self, grad):
        chosen = np.arange(self.size * self.size) == self.first[..., None]
        spread = np.where(chosen, grad[..., None], 0.0)
        return scatter_windows(spread, self.size, self.stride, self.padding, self.shape)


class Dense:
    """A fully connected layer."""

    def __init__(self, rng, inputs, units):
        self.parameters = [uniform(rng, (units, inputs), inputs), np.zeros(units)]

    def forward(self, x):
        self.x = x
        return exact_product(x, self.parameters[0].T) + self.parameters[1]

    def backward(self, grad):
        self.gradients = [exact_product(grad.T, self.x), column_sums(grad)]
        return exact_product(grad, self.parameters[0])


class Relu:
    """max(x, 0)."""

    parameters = gradients = ()

    def forward(self, x):
        self.positive = x > 0
        return np.where(self.positive, x, 0.0)

    def backward(self, grad):
        return np.where(self.positive, grad, 0.0)


class Flatten:
    """(n, c, h, w) to (n, c * h * w)."""

    parameters = gradients = ()

    def forward(self, x):
        self.shape = x.shape
        return x.reshape(x.shape[0], -1)

    def backward(self, grad):
        return grad.reshape(self.shape)


def uniform(rng, shape, fan_in):
    """Returns initial weights of variance 2 / fan_in, made from integers."""
    bound = np.sqrt(6.0 / fan_in)
    return rng.integers(-(2**20), 2**20, shape, dtype=np.int64) * (bound / 2**20)


def build(rng):
    """Returns the layers. The first block has no relu, so negative values meet pool and shift."""
    return [
        Conv3x3(rng, 1, CONV1_CHANNELS),
        MaxPool(3, 2, 1),
        Conv3x3(rng, CONV1_CHANNELS, CONV2_CHANNELS),
        Relu(),
        MaxPool(2, 2, 0),
        Flatten(),
        Dense(rng, CONV2_CHANNELS * 4, HIDDEN_UNITS),
        Relu(),
        Dense(rng, HIDDEN_UNITS, CLASSES),
    ]


def forward(layers, x):
    """Returns the outputs of every layer, in order."""
    outputs = []
    for layer in layers:
        x = layer.forward(x)
        outputs.append(x)
    return outputs


def shifted(rng, images):
    """Moves about half of the images by up to one pixel each way, to make up for few writers."""
    n, _, height, width = images.shape
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    moved = np.empty_like(images)
    for i, (dy, dx) in enumerate(rng.integers(0, 3, (n, 2), dtype=np.int64)):
        moved[i] = padded[i, :, dy : dy + height, dx : dx + width]
    move = rng.integers(0, 2, n, dtype=np.int64) == 1
    return np.where(move[:, None, None, None], moved, images)


class Adam:
    """The Adam optimizer; powers are kept as running products because pow is not exact."""

    BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8

    def __init__(self, layers):
        self.layers = layers
        self.moments = [
            [(np.zeros_like(parameter), np.zeros_like(parameter)) for parameter in layer.parameters]
            for layer in layers
        ]
        self.power1 = self.power2 = 1.0

    def step(self, rate):
        self.power1 *= self.BETA1
        self.power2 *= self.BETA2
        for layer, moments in zip(self.layers, self.moments):
            triples = zip(layer.parameters, layer.gradients, moments)
            for parameter, gradient, (mean, square) in triples:
                mean += (1 - self.BETA1) * (gradient - mean)
                square += (1 - self.BETA2) * (gradient * gradient - square)
                scale = np.sqrt(square / (1 - self.power2)) + self.EPSILON
                parameter -= rate * (mean / (1 - self.power1)) / scale


def train(images, labels, seed, epochs, batch_size, rate):
    """Returns the trained layers. images: (n, 1, 8, 8) with values 0..16."""
    rng = np.random.Generator(np.random.PCG64(seed))
    layers = build(rng)
    optimizer = Adam(layers)
    targets = np.where(labels[:, None] == np.arange(CLASSES), 1.0, -1.0)
    for epoch in range(epochs):
        order = rng.permutation(len(images))
        for start in range(0, len(images), batch_size):
            batch = order[start : start + batch_size]
            x = shifted(rng, images[batch]) / PIXEL_SCALE
            scores = forward(layers, x)[-1]
            gradient = -2.0 * targets[batch] * np.maximum(0.0, 1.0 - targets[batch] * scores)
            for layer in reversed(layers):
                gradient = layer.backward(gradient)
            optimizer.step(rate * (1.0 - epoch / epochs))
    return layers
