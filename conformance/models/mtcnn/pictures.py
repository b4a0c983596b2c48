# SPDX-License-Identifier: Apache-2.0
"""Pictures of scikit-image, and their sizes changed with integers alone."""

import numpy
from PIL import Image, ImageDraw

from networks import package_file

WEIGHT_BITS = 8  # the weights of a pixel of the result have the sum 2^WEIGHT_BITS


def photograph(name):
    """A picture, (height, width, 3)."""
    with Image.open(package_file("skimage", "data", name)) as image:
        return numpy.asarray(image.convert("RGB"))


def faces():
    """(200, 25, 25): a hundred grey faces, then a hundred grey cuttings of something else."""
    values = numpy.load(package_file("skimage", "data", "lfw_subset.npy"))
    return numpy.rint(values * 255).astype(numpy.int64)


def area_weights(count, extent):
    """(count, extent): rows that average a line of pixels over equal parts of its length."""
    edges = numpy.clip(numpy.arange(extent + 1) * count - numpy.arange(count)[:, None] * extent,
                       0, extent)  # fmt: skip
    sums = ((edges << WEIGHT_BITS + 1) + extent) // (2 * extent)
    return numpy.diff(sums, axis=1)


def linear_weights(count, extent):
    """(count, extent): rows that interpolate a line of pixels between the two that are nearest."""
    twice = (2 * numpy.arange(count) + 1) * extent - count  # the place, times 2 count
    first = twice // (2 * count)
    second = ((twice - first * 2 * count) << WEIGHT_BITS) // (2 * count)
    rows = numpy.zeros((count, extent), dtype=numpy.int64)
    for place, weight in ((first, (1 << WEIGHT_BITS) - second), (first + 1, second)):
        numpy.add.at(rows, (numpy.arange(count), numpy.clip(place, 0, extent - 1)), weight)
    return rows


def resized(images, rows, columns):
    """Images, (..., height, width), by two matrices of weights."""
    return (rows @ images @ columns.T + (1 << 2 * WEIGHT_BITS - 1)) >> 2 * WEIGHT_BITS


def planes(picture):
    """A picture as (3, height, width), 128 taken away from each pixel."""
    return numpy.clip(numpy.moveaxis(picture.astype(numpy.int64), -1, 0) - 128, -127, 127)


def face_inputs(size):
    """faces() as the inputs of a network, (200, 3, size, size)."""
    weights = linear_weights(size, 25)
    grey = numpy.clip(resized(faces(), weights, weights) - 128, -127, 127)
    return numpy.repeat(grey[:, None], 3, axis=1)


def pyramid(sizes):
    """Calibration of a network that takes any size: photographs without faces, made smaller."""
    for name in ("coffee.png", "chelsea.png", "motorcycle_left.png"):
        image = planes(photograph(name))
        _, height, width = image.shape
        for size in sizes:
            weights = (area_weights(n, extent) for n, extent in (
                (size, height), (size * width // height, width)))  # fmt: skip
            yield resized(image, *weights)


def draw(picture, boxes, path):
    """Writes a picture with boxes: (color, x1, y1, x2, y2)."""
    image = Image.fromarray(picture)
    canvas = ImageDraw.Draw(image)
    for color, *corners in boxes:
        canvas.rectangle([round(v) for v in corners], outline=color, width=2)
    image.save(path)


def mosaic(number):
    """Sixteen of faces(), (512, 512, 3); faces lie like the white fields of a chess board."""
    cuttings, fields = faces(), []
    weights = linear_weights(128, 25)
    for place in range(16):
        black = (place + place // 4) % 2
        cutting = cuttings[100 * black + 8 * number + place // 2]
        fields.append(resized(cutting, weights, weights))
    rows = [numpy.concatenate(fields[k:k + 4], axis=1) for k in range(0, 16, 4)]
    return numpy.repeat(numpy.concatenate(rows)[..., None], 3, axis=2).astype(numpy.uint8)
