# SPDX-License-Identifier: Apache-2.0
"""The three networks as one integer model: a picture of 512 x 512 in, boxes of faces out.

The first network looks at a pyramid of smaller pictures, which products with constant matrices
make. Its best boxes are cut out of the picture, by `take` with computed numbers of pixels, and
averaged for the second network, and those that it keeps for the third. Boxes count in eighths of a
pixel, scores in 1024ths of a unit of the logarithm of odds.
"""

import math

import numpy
from lockstep.importer import import_onnx
from lockstep.importer.graph import Graph

import networks
import pictures

SIZE = 512
LEAST_FACE, WINDOW, FACTOR = 40, 12, 0.709  # pixels, pixels, from level to level
UNIT, COORDINATE_BITS = 8, 15
SCORE_SCALE, OFFSET_BITS = 2.0**-10, 13
# Of each network: the probability that a face needs, how much boxes may overlap in percent, and how
# many of them go on.
LEVEL, FIRST, SECOND, THIRD = (0.6, 50, 64), (0.6, 80, 32), (0.7, 85, 8), (0.7, 50, 8)
GRID = 96  # pixels that are taken from a box in each direction, before they are averaged


def levels():
    """The sizes of the pyramid's pictures, the largest first."""
    scale = WINDOW / LEAST_FACE
    while SIZE * scale >= WINDOW:
        yield int(SIZE * scale + 1)
        scale *= FACTOR


class Cascade:
    """The graph under construction."""

    def __init__(self):
        self.graph = Graph()
        self.image = self.graph.data((1, 3, SIZE, SIZE), 8)
        self.flat_image = self.call("image", "reshape", self.image, shape=(3, SIZE * SIZE))

    def call(self, name, op, *inputs, **attrs):
        """Appends a call."""
        return self.graph.call(name, op, *inputs, **attrs)

    def columns(self, name, x, begin, end, axis=2):
        """A part of an axis of (1, n, m)."""
        first, last = [0] * 3, list(x.shape)
        first[axis], last[axis] = begin, end
        return self.call(name, "strided_slice", x, begin=tuple(first), end=tuple(last),
                         stride=(1, 1, 1))  # fmt: skip

    def shifted(self, name, x, bits, precision):
        """x / 2^bits."""
        return self.graph.shifted(name, x, bits, precision)

    # ---- pictures ----

    def smaller(self, size):
        """The picture in another size."""
        weights = self.graph.parameter("area", pictures.area_weights(size, SIZE))
        x = self.call("lines", "reshape", self.image, shape=(3 * SIZE, SIZE))
        for axis, lines in (("across", SIZE), ("down", size)):
            x = self.call(axis, "dense", x, weights, units=size, use_bias=False)
            x = self.shifted(f"{axis}_8", x, pictures.WEIGHT_BITS, 8)
            x = self.call(f"{axis}_plane", "reshape", x, shape=(3, lines, size))
            x = self.call(f"{axis}_turned", "transpose", x, axes=(0, 2, 1))
            if axis == "across":
                x = self.call("columns", "reshape", x, shape=(3 * size, SIZE))
        return self.call("picture", "reshape", x, shape=(1, 3, size, size))

    def places(self, name, corner, side):
        """The numbers of the rows or columns that are taken from each box, (count, GRID)."""
        count = side.shape[0]
        steps = numpy.rint((2 * numpy.arange(GRID) + 1) / (2 * GRID) * 2**12)
        x = self.call(f"{name}_parts", "broadcast_mul", side,
                      self.graph.parameter("steps", steps))  # fmt: skip
        x = self.shifted(f"{name}_part", x, 12, COORDINATE_BITS)
        x = self.graph.add(f"{name}_place", x, self.call(f"{name}_corner", "reshape", corner,
                                                         shape=(count, 1)))  # fmt: skip
        # A pixel reaches from its number to the next; shifts round to the nearest.
        half = self.graph.parameter("half", [-UNIT // 2])
        x = self.graph.add(f"{name}_middle", x, half)
        x = self.shifted(f"{name}_pixel", x, UNIT.bit_length() - 1, COORDINATE_BITS)
        return self.call(f"{name}_inside", "clip", x, a_min=0, a_max=SIZE - 1)

    def cut(self, corner, side, size):
        """The content of square boxes as pictures, (count, 3, size, size)."""
        count, times = side.shape[1], GRID // size
        side = self.call("side", "reshape", side, shape=(count, 1))
        x, y = (self.places(name, self.columns(name, corner, k, k + 1), side)
                for k, name in enumerate("xy"))  # fmt: skip
        y = self.call("rows", "cvm_left_shift", y, precision=20, shift_bit=SIZE.bit_length() - 1)
        y = self.call("rows", "reshape", y, shape=(count, GRID, 1))
        x = self.call("columns", "reshape", x, shape=(count, 1, GRID))
        x = self.call("pixels", "take", self.flat_image, self.graph.add("numbers", y, x), axis=1)
        x = self.call("cuttings", "transpose", x, axes=(1, 0, 2, 3))
        ones = self.graph.parameter("ones", numpy.ones((3, 1, times, times)))
        x = self.call("sums", "conv2d", x, ones, channels=3, kernel_size=(times, times),
                      strides=(times, times), padding=(0, 0), dilation=(1, 1), groups=3,
                      use_bias=False)  # fmt: skip
        return self.shifted("means", x, 2 * (times.bit_length() - 1), 8)

    # ---- boxes ----

    def chosen(self, rows, threshold):
        """The best rows of (1, n, 6), in the order of their scores, and rows of -1 behind them."""
        probability, overlap, most = threshold
        least = int(numpy.rint(math.log(probability / (1 - probability)) / SCORE_SCALE))
        count, valid = self.graph.call_all(
            "valid", "get_valid_counts", rows, score_threshold=least)
        kept = self.call("kept", "non_max_suppression", valid, count, iou_threshold=overlap,
                         max_output_size=most)  # fmt: skip
        return self.columns("best", kept, 0, min(most, rows.shape[1]), axis=1)

    def squares(self, rows):
        """(corner, side) of the squares around the middles of boxes: (1, n, 2) and (1, n, 1)."""
        low, high = self.columns("low", rows, 2, 4), self.columns("high", rows, 4, 6)
        low, high = (self.shifted("box", v, 0, COORDINATE_BITS) for v in (low, high))
        extent = self.call("extent", "broadcast_sub", high, low)
        side = self.call("side", "max", extent, axis=(2,), keepdims="True")
        middle = self.call("middle", "broadcast_sub", self.graph.add("twice", low, high), side)
        return self.shifted("corner", middle, 1, COORDINATE_BITS), side

    def moved(self, corner, side, offsets):
        """The boxes that a network makes of squares, (1, n, 4)."""
        far = self.graph.add("far", corner, side)
        boxes = self.call("square", "concatenate", corner, far, axis=2)
        change = self.call("change", "broadcast_mul", offsets, side)
        change = self.shifted("change", change, OFFSET_BITS, COORDINATE_BITS)
        boxes = self.graph.add("moved", boxes, change)
        return self.shifted("box", boxes, 0, COORDINATE_BITS)

    # ---- networks ----

    def first(self, size, samples):
        """The rows that the first network finds in the picture of one size."""
        self.graph.scope = f"level{size}/"
        found = import_onnx(networks.pnet(), samples, source=(self.graph, self.smaller(size), 1.0))
        low, high = found.lowering, found.outputs["score"].shape[2]
        score = low.combine("score", [(low.values["score"], 1.0)], SCORE_SCALE, 16).tensor
        score = self.call("score", "reshape", score, shape=(1, high * high, 1))
        y, x = (UNIT * 2 * v.reshape(-1, 1) for v in numpy.mgrid[:high, :high])
        ends = (x + UNIT, y + UNIT, x + UNIT * WINDOW, y + UNIT * WINDOW)
        boxes = (2 * SIZE * numpy.concatenate(ends, axis=1) + size) // (2 * size)
        extent = (WINDOW - 1) * UNIT * SIZE / size
        change = low.combine("change", [(low.values["offsets"], extent)], 1.0, 14).tensor
        change = self.call("change", "reshape", change, shape=(4, high * high))
        change = self.call("change", "transpose", change, axes=(1, 0))
        change = self.call("change", "reshape", change, shape=(1, high * high, 4))
        boxes = self.graph.add("boxes", change, self.graph.parameter("windows", boxes[None]))
        boxes = self.shifted("boxes", boxes, 0, COORDINATE_BITS)
        ids = self.graph.parameter("ids", numpy.zeros((1, high * high, 1)))
        return self.chosen(self.call("rows", "concatenate", ids, score, boxes, axis=2), LEVEL)

    def next(self, name, rows, network, samples, threshold):
        """The rows that a network leaves of some, changed and with its own scores."""
        self.graph.scope = f"{name}/"
        corner, side = self.squares(rows)
        size = samples.shape[-1]
        source = self.graph, self.cut(corner, side, size), 1.0
        found = import_onnx(network, samples, source=source)
        low, count = found.lowering, rows.shape[1]
        score = low.combine("score", [(low.values["score"], 1.0)], SCORE_SCALE, 16).tensor
        score = self.call("score", "reshape", score, shape=(1, count, 1))
        offsets = low.combine("offsets", [(low.values["offsets"], 1.0)], 2.0**-OFFSET_BITS, 15)
        offsets = self.call("offsets", "reshape", offsets.tensor, shape=(1, count, 4))
        # Rows that are none keep the id -1, which the next selection skips.
        ids = self.columns("ids", rows, 0, 1)
        boxes = self.moved(corner, side, offsets)
        return self.chosen(self.call("rows", "concatenate", ids, score, boxes, axis=2), threshold)

    def built(self, calibration):
        """The rows (id, score, x1, y1, x2, y2) of the faces; calibration: samples by network."""
        found = [self.first(size, calibration["pnet"]) for size in levels()]
        self.graph.scope = "first/"
        rows = self.chosen(self.call("rows", "concatenate", *found, axis=1), FIRST)
        rows = self.next("second", rows, networks.rnet(), calibration["rnet"], SECOND)
        return self.next("third", rows, networks.onet(), calibration["onet"], THIRD)
