"""python -m lockstep.importer: an ONNX model as symbol JSON and parameters."""

import argparse
import sys

import numpy

from . import Inexpressible, given, import_onnx


def samples_of(path):
    """The one array of a .npy or .npz file."""
    try:
        with open(path, "rb") as file:
            found = numpy.load(file, allow_pickle=False)
            arrays = [found] if isinstance(found, numpy.ndarray) else list(found.values())
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error
    except Exception as error:  # numpy hands on what zipfile, tokenize and others raise
        raise ValueError(f"{path}: it cannot be read as .npy or .npz with numbers") from error
    if len(arrays) != 1:
        raise ValueError(f"{path} holds {len(arrays)} arrays, and calibration data is one")
    samples = numpy.asarray(arrays[0])
    given.check_samples(samples, path)
    return samples


def shape_of(words):
    """The extents between commas."""
    try:
        return tuple(map(int, words.split(",")))
    except ValueError as error:
        raise ValueError(f"the shape is '{words}', not numbers between commas") from error


def arguments():
    """What the command takes."""
    parser = argparse.ArgumentParser(prog="python -m lockstep.importer", description=(
        "Writes symbol.json, params and scales.json, the integer model of an ONNX model."))
    parser.add_argument("model", help="an .onnx file, in floating point or quantized")
    parser.add_argument("folder", help="where the files go")
    parser.add_argument("--calibration", metavar="FILE", help=(
        ".npy or .npz with inputs, (count, ...); a model that is quantized needs none"))
    parser.add_argument("--percentile", type=float, default=100.0, metavar="P", help=(
        "the range of a tensor holds P percent of its magnitudes (100)"))
    parser.add_argument("--input-precision", type=int, default=8, metavar="BITS")
    parser.add_argument("--input-scale", type=float, metavar="S", help=(
        "what a 1 of the input is worth (the range of the samples decides)"))
    parser.add_argument("--shape", metavar="N,C,H,W", help="of the input (that of a sample)")
    parser.add_argument("--shift-only", action="store_true", help=(
        "one scale for all channels of a weight, so that a shift replaces a multiplication"))
    parser.add_argument("--without-softmax", action="store_true", help=(
        "leave out a softmax that is an output"))
    return parser.parse_args()


def main():
    """Exit status 1: the model or the data cannot be imported."""
    args = arguments()
    try:
        imported = import_onnx(
            args.model, None if args.calibration is None else samples_of(args.calibration),
            shape=None if args.shape is None else shape_of(args.shape),
            input_scale=args.input_scale, input_precision=args.input_precision,
            percentile=args.percentile, per_channel=not args.shift_only,
            without_softmax=args.without_softmax)  # fmt: skip
        imported.write(args.folder)
    except (Inexpressible, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except MemoryError as error:
        print(f"error: there is not enough memory: {error}", file=sys.stderr)
        return 1
    for name, value in (("data", imported.input), *imported.outputs.items()):
        print(f"{name}: {value.shape}, {value.tensor.precision} bits, scale {value.scale[0]:.6g}")
    print(f"{len(imported.graph.nodes)} nodes in {args.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
