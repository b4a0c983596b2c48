#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digits network, quantizes it to integers and writes every file of the model.

The files beside this script are its output; nothing but regenerating them needs this script.
"""

import argparse
import pathlib
import sys

import numpy as np
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_limits

import files
import floating
import integers

# Chosen, with the layer sizes, by cross-validation over four consecutive blocks of the training
# images (mean 98.0 percent); the held-out images had no part in it.
SEED, EPOCHS, BATCH_SIZE, RATE = 1, 40, 32, 0.004

HELD_OUT = 360
REQUIRED_PERCENT = 96


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("--out", type=pathlib.Path, default=here, help="folder to write to")
    out = parser.parse_args().out

    digits = load_digits()
    images = digits.images.astype(np.int64)[:, None]
    labels = digits.target
    assert images.shape == (1797, 1, 8, 8) and images.min() == 0 and images.max() == 16
    held_out, held_out_labels = images[-HELD_OUT:], labels[-HELD_OUT:]
    images, labels = images[:-HELD_OUT], labels[:-HELD_OUT]

    print(f"training on {len(images)} images, {EPOCHS} epochs", flush=True)
    # The matrices are small: more threads only cost time. The bits do not depend on their number.
    with threadpool_limits(limits=1):
        layers = floating.train(images, labels, SEED, EPOCHS, BATCH_SIZE, RATE)
        scores = floating.forward(layers, held_out / floating.PIXEL_SCALE)[-1]
    correct = int((scores.argmax(axis=1) == held_out_labels).sum())
    print(f"floating point: {correct} of {HELD_OUT} held-out images correct")

    nodes = integers.quantize(layers, images)
    logits = integers.evaluate(nodes, held_out)
    correct = int((logits.argmax(axis=1) == held_out_labels).sum())
    print(f"integers: {correct} of {HELD_OUT} held-out images correct")
    if 100 * correct < REQUIRED_PERCENT * HELD_OUT:
        print(f"error: below {REQUIRED_PERCENT} percent; nothing was written", file=sys.stderr)
        return 1

    for name, size in files.write_all(out, nodes, held_out, held_out_labels, logits).items():
        print(f"wrote {out / name}, {size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
