# SPDX-License-Identifier: Apache-2.0
"""The same detector in floating point, its networks run by ONNX Runtime.

Like the integer model it corrects boxes before it compares them, while the package the weights come
from compares the boxes of the first two networks before their corrections; README.md has its box.
"""

import numpy
import onnxruntime

import cascade
import networks


class Network:
    """A network in floating point."""

    def __init__(self, model):
        self.session = onnxruntime.InferenceSession(model.SerializeToString())

    def __call__(self, x):
        outputs = self.session.run(None, {"x": x.astype(numpy.float32)})
        return 1 / (1 + numpy.exp(-outputs[0])), *outputs[1:]


def averaged(image, height, width):
    """An image, (3, h, w), in another size: the means of whole pixels."""
    for axis, count in ((1, height), (2, width)):
        extent, k = image.shape[axis], numpy.arange(count)
        begin, end = k * extent // count, -(-(k + 1) * extent // count)
        sums = numpy.cumsum(image, axis=axis)
        sums = numpy.insert(sums, 0, 0.0, axis=axis)
        shape = [-1 if a == axis else 1 for a in range(3)]
        image = (sums.take(end, axis) - sums.take(begin, axis)) / (end - begin).reshape(shape)
    return image


def overlaps(box, boxes):
    """Intersection over union with each box."""
    low = numpy.maximum(box[:2], boxes[:, :2])
    both = numpy.clip(numpy.minimum(box[2:4], boxes[:, 2:4]) - low, 0, None).prod(axis=1)
    areas = [(b[..., 2] - b[..., 0]) * (b[..., 3] - b[..., 1]) for b in (box, boxes)]
    return both / (areas[0] + areas[1] - both)


def chosen(rows, threshold):
    """The best rows (x1, y1, x2, y2, probability) that no better one overlaps too much."""
    probability, overlap, most = threshold
    rows = rows[rows[:, 4] > probability]
    rows, kept = rows[numpy.argsort(-rows[:, 4], kind="stable")], rows[:0]
    while len(rows):
        kept = numpy.concatenate([kept, rows[:1]])
        rows = rows[1:][overlaps(rows[0], rows[1:]) < overlap / 100]
    return kept[:most]


def squared(boxes):
    """The squares around the middles of boxes."""
    side = (boxes[:, 2:4] - boxes[:, :2]).max(axis=1, keepdims=True)
    corner = (boxes[:, :2] + boxes[:, 2:4] - side) / 2
    return numpy.concatenate([corner, corner + side], axis=1)


def cut(image, boxes, size):
    """What is inside of boxes; beyond the border the nearest pixel counts."""
    extents = image.shape[1:]
    parts = []
    for x1, y1, x2, y2 in numpy.rint(boxes).astype(int):
        y, x = (numpy.clip(numpy.arange(low, max(high, low + 1)), 0, n - 1)
                for low, high, n in ((y1, y2, extents[0]), (x1, x2, extents[1])))  # fmt: skip
        parts.append(averaged(image[:, y][:, :, x], size, size))
    return numpy.array(parts)


def proposals(image, network):
    """What the first network finds, in all sizes."""
    found = []
    for size in cascade.levels():
        scores, offsets = network(averaged(image, size, size)[None])
        y, x = numpy.mgrid[:scores.shape[2], :scores.shape[3]].reshape(2, -1)
        corners = numpy.stack([2 * v + end for end in (1, cascade.WINDOW) for v in (x, y)], axis=1)
        boxes = (corners + offsets[0].reshape(4, -1).T * (cascade.WINDOW - 1)) / size
        rows = numpy.concatenate([boxes * cascade.SIZE, scores.reshape(-1, 1)], axis=1)
        found.append(chosen(rows, cascade.LEVEL))
    return chosen(numpy.concatenate(found), cascade.FIRST)


def detect(picture):
    """(x1, y1, x2, y2, probability) of each face in a picture."""
    image = numpy.moveaxis(picture.astype(numpy.float64), -1, 0) - 128
    pnet, rnet, onet = (Network(make()) for make in (
        networks.pnet, networks.rnet, networks.onet))  # fmt: skip
    rows = proposals(image, pnet)
    for network, size, threshold in ((rnet, 24, cascade.SECOND), (onet, 48, cascade.THIRD)):
        boxes = squared(rows)
        scores, offsets, *_ = network(cut(image, boxes, size))
        side = boxes[:, 2:3] - boxes[:, :1]
        rows = chosen(numpy.concatenate([boxes + offsets * side, scores], axis=1), threshold)
    return rows
