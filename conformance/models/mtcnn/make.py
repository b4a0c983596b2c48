#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the integer models from the published weights, and measures them beside the originals.

usage: make.py FOLDER [--record | --program LOCKSTEP]

Writes FOLDER/detector, rnet and onet, each with symbol.json, params, input.bin and expected.json,
and FOLDER/astronaut.png, the picture with the boxes of both detectors. Compares all that is integer
with expected.json of this folder bit for bit, and what is not nearly; --record writes that file.
--program: lets the program judge its CPU backend with the models, too. Exit status 1: something
differs.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[2] / "python" / "src"),
                str(HERE.parents[2] / "reference")]  # fmt: skip

# pylint: disable=wrong-import-position  # found through the line above
import cascade  # noqa: E402
import floating  # noqa: E402
import networks  # noqa: E402
import pictures  # noqa: E402
from crosscheck.graphs import run  # noqa: E402
from lockstep.importer import import_onnx  # noqa: E402
from lockstep.importer.graph import parameter_file, symbol_json  # noqa: E402

MOSAICS = 12
CALIBRATION = numpy.r_[0:25, 100:125]  # those of pictures.faces() that set scales
JUDGED = numpy.r_[25:100, 125:200]
SAMPLES = numpy.r_[90:100, 190:200]  # those whose outputs the model's own record holds
# How far the floating-point originals may differ between machines.
PIXELS, COUNT, PERCENT = 2.0, 1, 2


def sha256(data):
    """Of bytes, or of integers as outputs are written."""
    if isinstance(data, numpy.ndarray):
        data = data.astype("<i4").tobytes()
    return hashlib.sha256(data).hexdigest()


def outputs(nodes, heads, data):
    """The heads of a graph side by side, as a run of the model gives them."""
    results = run(nodes, data)
    return numpy.concatenate([results[t.node][t.output] for t in heads], axis=-1)


def write_model(folder, nodes, heads, inputs, found):
    """Writes a model with some inputs and the digest of their outputs; returns its digests."""
    files = {"symbol.json": symbol_json(nodes, heads).encode(), "params": parameter_file(nodes),
             "input.bin": inputs.astype(numpy.int8).tobytes()}  # fmt: skip
    digests = {name: sha256(data) for name, data in files.items()}
    record = {"sha256": sha256(found), "files": digests}
    files["expected.json"] = (json.dumps(record, indent=2) + "\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return digests


def classifier(folder, name, size):
    """Imports a network that tells faces, and counts on crops that did not set its scales."""
    model, inputs = getattr(networks, name)(), pictures.face_inputs(size)
    samples = inputs[CALIBRATION]
    one = import_onnx(model, samples, input_scale=1.0)
    one.write(folder / name)
    heads = [value.tensor for value in one.outputs.values()]
    rows = numpy.concatenate([outputs(one.graph.nodes, heads, x[None]) for x in inputs])
    files = write_model(folder / name, one.graph.nodes, heads, inputs[SAMPLES], rows[SAMPLES])
    network, score = floating.Network(model), rows[:, 0]
    probability = network(inputs)[0][:, 0]
    is_face = JUDGED < 100
    return {
        "files": files,
        "outputs": sha256(rows),
        "crops": len(JUDGED),
        "correct": int(((score[JUDGED] > 0) == is_face).sum()),
        "floating": {"correct": int(((probability[JUDGED] > 0.5) == is_face).sum())},
    }


def on_faces(boxes):
    """(how many faces of a mosaic have a box in their middle, how many boxes are on no face)."""
    fields = {(int(y // 128), int(x // 128)) for x, y in (boxes[:, :2] + boxes[:, 2:4]) / 2}
    faces = sum((row + column) % 2 == 0 for row, column in fields)
    return faces, len(boxes) - faces


class Detector:
    """The cascade, run on pictures."""

    def __init__(self):
        self.cascade = cascade.Cascade()
        self.rows = self.cascade.built({
            "pnet": list(pictures.pyramid((48, 96))),
            "rnet": pictures.face_inputs(24)[CALIBRATION],
            "onet": pictures.face_inputs(48)[CALIBRATION],
        })  # fmt: skip

    def __call__(self, picture):
        """The rows of a picture."""
        data = pictures.planes(picture)[None]
        return outputs(self.cascade.graph.nodes, [self.rows], data)

    @staticmethod
    def boxes(rows):
        """The boxes of rows in pixels."""
        return rows[0, rows[0, :, 0] >= 0, 2:] / cascade.UNIT


def detection(folder):
    """Detects the faces of a photograph and of mosaics, in integers and in floating point."""
    detector, astronaut = Detector(), pictures.photograph("astronaut.png")
    rows, original = detector(astronaut), floating.detect(astronaut)
    (box,) = detector.boxes(rows)
    pictures.draw(astronaut, [("orange", *original[0, :4]), ("lime", *box)],
                  folder / "astronaut.png")  # fmt: skip
    counts, near, all_rows = numpy.zeros((2, 2), int), [], []
    for number in range(MOSAICS):
        mosaic = pictures.mosaic(number)
        all_rows.append(detector(mosaic))
        found, wanted = detector.boxes(all_rows[-1]), floating.detect(mosaic)
        counts += [on_faces(found), on_faces(wanted)]
        near += [floating.overlaps(b, wanted).max() for b in found]
    files = write_model(folder / "detector", detector.cascade.graph.nodes, [detector.rows],
                        pictures.planes(astronaut), rows)  # fmt: skip
    return {
        "files": files,
        "astronaut": {
            "outputs": sha256(rows),
            "rows": [row.tolist() for row in rows[0] if row[0] >= 0],
            "floating": {"box": [round(float(v), 1) for v in original[0, :4]]},
            "overlap_percent": int(100 * floating.overlaps(box, original)[0]),
        },
        "mosaics": {
            "outputs": sha256(numpy.concatenate(all_rows)),
            "faces": 8 * MOSAICS,
            "found": int(counts[0, 0]),
            "wrong": int(counts[0, 1]),
            "floating": {"found": int(counts[1, 0]), "wrong": int(counts[1, 1])},
            "median_overlap_percent": int(100 * numpy.median(near)),
        },
    }


def differences(found, wanted, path="", near=None):
    """Yields where a record differs; what comes from floating point may differ a little."""
    if isinstance(wanted, dict) and isinstance(found, dict) and found.keys() == wanted.keys():
        for key in wanted:
            inside = near or (key == "floating" and COUNT) or (key.endswith("percent") and PERCENT)
            yield from differences(found[key], wanted[key], f"{path}.{key}" if path else key,
                                   PIXELS if key == "box" else inside)  # fmt: skip
    elif near and numpy.shape(found) == numpy.shape(wanted):
        if numpy.abs(numpy.subtract(found, wanted)).max() > near:
            yield f"{path}: {found}, and {wanted} is recorded"
    elif found != wanted:
        yield f"{path}: {found}, and {wanted} is recorded"


def judged(program, folder):
    """Lets the program run the models beside the specification."""
    for name in ("detector", "rnet", "onet"):
        done = subprocess.run(
            [program, "model", "check", str(folder / name), "--backend", "cpu", "--quiet",
             "--timeout", "60", "--start-timeout", "60"],
            capture_output=True, text=True, check=False)  # fmt: skip
        print(done.stdout + done.stderr, end="")
        if done.returncode:
            yield f"{name}: the program's exit status is {done.returncode}"


def main():
    """Exit status 1: something differs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--program")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    found = {"detector": detection(args.folder)}
    for name, size in (("rnet", 24), ("onet", 48)):
        found[name] = classifier(args.folder, name, size)
    text = json.dumps(found, indent=2) + "\n"
    print(text, end="")
    if args.record:
        (HERE / "expected.json").write_text(text, encoding="ascii")
        return 0
    wanted = json.loads((HERE / "expected.json").read_text(encoding="ascii"))
    problems = list(differences(found, wanted))
    problems += judged(args.program, args.folder) if args.program else []
    for problem in problems:
        print(f"difference: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
