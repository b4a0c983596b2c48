#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the stored model files against each other, using the Python standard library alone.

Reads the symbol JSON and the parameter file strictly, infers every shape and precision anew, checks
the storage plan, and recomputes the logits with plain Python integers. It shares no code with the
scripts that wrote the files. Exit status: 0 when everything agrees, 1 on any difference.
"""

import argparse
import hashlib
import json
import math
import pathlib
import re
import struct
import sys
from operator import mul

LIST_MAGIC = 0xF7E58D4F05049CB7
RECORD_MAGIC = 0xDD5E40F096B4A13F
INT32_ON_CPU = (1, 0)
INT32_TYPE = (0, 32, 1)
FIRST = 20

IN_PLACE = ("flatten", "relu", "cvm_clip", "cvm_right_shift")


class Difference(Exception):
    """A stored value is wrong."""


def require(condition, text):
    if not condition:
        raise Difference(text)


# ---- files ----


class Reader:
    """Reads consecutive fields and refuses to read past the end."""

    def __init__(self, data):
        self.data, self.offset = data, 0

    def take(self, count):
        require(count <= len(self.data) - self.offset, f"params: too short at {self.offset}")
        self.offset += count
        return self.data[self.offset - count : self.offset]

    def unpack(self, layout):
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))

    def expect(self, layout, wanted, what):
        at = self.offset
        require(self.unpack(layout) == wanted, f"params: {what} at offset {at}")


def read_parameters(data):
    """Returns {name: (shape, values)}; every tensor must be int32."""
    reader = Reader(data)
    reader.expect("QQ", (LIST_MAGIC, 0), "bad header")
    (count,) = reader.unpack("Q")
    names = []
    for _ in range(count):
        (length,) = reader.unpack("Q")
        names.append(reader.take(length).decode())
    require(len(set(names)) == len(names), "params: a name appears twice")
    reader.expect("Q", (count,), "as many values as names are required")
    tensors = {}
    for name in names:
        reader.expect("QQ", (RECORD_MAGIC, 0), f"bad record header of {name}")
        reader.expect("ii", INT32_ON_CPU, f"{name} is not on the CPU")
        (rank,) = reader.unpack("i")
        require(1 <= rank <= 6, f"params: {name} has rank {rank}")
        reader.expect("BBH", INT32_TYPE, f"{name} is not int32")
        shape = reader.unpack(f"{rank}q")
        volume = math.prod(shape)
        require(min(shape) > 0, f"params: {name} has shape {shape}")
        reader.expect("q", (4 * volume,), f"byte size of {name}")
        tensors[name] = (shape, list(reader.unpack(f"{volume}i")))
    require(reader.offset == len(data), f"params: trailing bytes at {reader.offset}")
    return tensors


def attribute_list(attrs, key, tag, length):
    """Returns one of the tagged lists of the symbol's attrs."""
    require(len(attrs[key]) == 2 and attrs[key][0] == tag, f"attrs.{key}: no {tag}")
    items = attrs[key][1]
    require(len(items) == length, f"attrs.{key}: {len(items)} entries, not {length}")
    return items


class Node:
    """One node of the graph, with the types inferred for its only output."""

    def __init__(self, entry, op_attrs):
        require(set(entry) <= {"op", "name", "inputs", "attrs"}, f"node keys {sorted(entry)}")
        self.name, self.is_variable = entry["name"], entry["op"] == "null"
        self.inputs = [reference[0] for reference in entry["inputs"]]
        for reference in entry["inputs"]:
            require(reference[1:] == [0, 0], f"{self.name}: reads {reference}, outputs are single")
        self.attrs = json.loads(op_attrs)
        if self.is_variable:
            require(not entry["inputs"] and not self.attrs, f"{self.name}: a variable has neither")
            self.op = "null"
            return
        require(entry["op"] == "cvm_op", f"{self.name}: op {entry['op']}")
        attrs = entry["attrs"]
        self.op = re.sub(r"_[0-9]+$", "", attrs["func_name"])
        require(self.op in OPERATORS, f"{self.name}: operator {self.op} is not one of this model")
        require(attrs["num_inputs"] == str(len(self.inputs)), f"{self.name}: num_inputs")
        require(attrs["num_outputs"] == "1", f"{self.name}: num_outputs")

    def integer(self, key):
        require(key in self.attrs, f"{self.name}: attribute {key} is missing")
        return int(self.attrs[key])

    def pair(self, key, default):
        text = self.attrs.get(key, default)
        require(re.fullmatch(r"[(\[] *\d+, *\d+ *[)\]]", text), f"{self.name}: {key} = {text}")
        return [int(entry) for entry in re.findall(r"\d+", text)]


def read_symbol(text):
    """Returns the nodes in order, their declared types filled in."""
    symbol = json.loads(text)
    keys = {"nodes", "heads", "attrs", "arg_nodes", "node_row_ptr", "version", "postprocess"}
    require(set(symbol) == keys, f"top-level keys {sorted(symbol)}")
    require(symbol["version"] == "cvm_1.0.0", f"version {symbol['version']}")
    require(symbol["postprocess"] == "", "postprocess: the outputs must be the logits")
    entries, attrs = symbol["nodes"], symbol["attrs"]
    count = len(entries)
    keys = {"storage_id", "shape", "dltype", "precision", "op_attrs"}
    require(set(attrs) == keys, f"attrs keys {sorted(attrs)}")
    op_attrs = attribute_list(attrs, "op_attrs", "list_str", count)
    nodes = [Node(entry, text) for entry, text in zip(entries, op_attrs)]
    variables = [i for i, node in enumerate(nodes) if node.is_variable]
    require(symbol["arg_nodes"] == variables, "arg_nodes are not the variables")
    require(symbol["node_row_ptr"] == list(range(count + 1)), "node_row_ptr: one output per node")
    require(symbol["heads"] == [[count - 1, 0, 0]], "heads: the last node is the only head")
    require(attribute_list(attrs, "dltype", "list_str", count) == ["int32"] * count, "dltype")
    shapes = attribute_list(attrs, "shape", "list_shape", count)
    precisions = attribute_list(attrs, "precision", "list_int", count)
    storage = attribute_list(attrs, "storage_id", "list_int", count)
    for i, node in enumerate(nodes):
        node.shape, node.precision, node.storage = tuple(shapes[i]), precisions[i], storage[i]
        require(1 <= node.precision <= 32, f"{node.name}: precision {node.precision}")
        require(all(0 <= j < i for j in node.inputs), f"{node.name}: reads a later node")
    require(len({node.name for node in nodes}) == count, "two nodes have the same name")
    return nodes


# ---- operators: each infers (shape, precision) and computes from flat lists ----


def limit(precision):
    return 2 ** (precision - 1) - 1


def clamp(value, bound):
    return max(-bound, min(bound, value))


def product_precision(node, x, w, b):
    """The rule that conv2d and dense share."""
    require(x.precision <= 8 and w.precision <= 8, f"{node.name}: an input is wider than 8 bits")
    terms = math.prod(w.shape[1:])
    return max(x.precision + w.precision + terms.bit_length(), b.precision) + 1


def conv2d_type(node, x, w, b):
    known = {"channels", "kernel_size", "padding", "use_bias"}
    require(set(node.attrs) <= known, f"{node.name}: attributes {sorted(node.attrs)}")
    require(node.attrs.get("use_bias", "True") == "True", f"{node.name}: use_bias")
    channels, (kh, kw) = node.integer("channels"), node.pair("kernel_size", "")
    ph, pw = node.pair("padding", "(0, 0)")
    n, c, height, width = x.shape
    require(w.shape == (channels, c, kh, kw), f"{node.name}: weight {w.shape}")
    require(b.shape == (channels,), f"{node.name}: bias {b.shape}")
    oh, ow = height + 2 * ph - kh + 1, width + 2 * pw - kw + 1
    return (n, channels, oh, ow), product_precision(node, x, w, b)


def conv2d(node, types, x, w, b):
    (_, c, height, width), (channels, _, kh, kw) = types[0].shape, types[1].shape
    ph, pw = node.pair("padding", "(0, 0)")
    oh, ow = node.shape[2:]
    size = c * kh * kw
    rows = [w[o * size : (o + 1) * size] for o in range(channels)]

    def pixel(i, v, u):
        inside = 0 <= v < height and 0 <= u < width
        return x[(i * height + v) * width + u] if inside else 0

    patches = [
        [pixel(i, v + r - ph, u + s - pw) for i in range(c) for r in range(kh) for s in range(kw)]
        for v in range(oh)
        for u in range(ow)
    ]
    return [b[o] + sum(map(mul, row, patch)) for o, row in enumerate(rows) for patch in patches]


def dense_type(node, x, w, b):
    require(set(node.attrs) <= {"units", "use_bias"}, f"{node.name}: {sorted(node.attrs)}")
    require(node.attrs.get("use_bias", "True") == "True", f"{node.name}: use_bias")
    units = node.integer("units")
    require(w.shape == (units, x.shape[1]), f"{node.name}: weight {w.shape}")
    require(b.shape == (units,), f"{node.name}: bias {b.shape}")
    return (x.shape[0], units), product_precision(node, x, w, b)


def dense(node, types, x, w, b):
    size = types[1].shape[1]
    return [b[o] + sum(map(mul, w[o * size : (o + 1) * size], x)) for o in range(len(b))]


def max_pool2d_type(node, x):
    known = {"pool_size", "strides", "padding"}
    require(set(node.attrs) <= known, f"{node.name}: attributes {sorted(node.attrs)}")
    pool, stride = node.pair("pool_size", ""), node.pair("strides", "(1, 1)")
    padding, extents = node.pair("padding", "(0, 0)"), x.shape[2:]
    for p, k, extent in zip(padding, pool, extents):
        require(p < k <= extent + 2 * p, f"{node.name}: a window of {k} with padding {p}")
    out = [(e + 2 * p - k) // s + 1 for e, p, k, s in zip(extents, padding, pool, stride)]
    return (*x.shape[:2], *out), x.precision


def max_pool2d(node, types, x):
    (kh, kw), (sh, sw) = node.pair("pool_size", ""), node.pair("strides", "(1, 1)")
    ph, pw = node.pair("padding", "(0, 0)")
    _, channels, height, width = types[0].shape
    out = []
    for c in range(channels):
        for y in range(node.shape[2]):
            rows = range(max(0, y * sh - ph), min(height, y * sh - ph + kh))
            for z in range(node.shape[3]):
                columns = range(max(0, z * sw - pw), min(width, z * sw - pw + kw))
                out.append(max(x[(c * height + r) * width + s] for r in rows for s in columns))
    return out


def plain_type(node, x):
    require(not node.attrs, f"{node.name}: takes no attributes")
    return x.shape, x.precision


def relu(node, types, x):
    return [max(value, 0) for value in x]


def flatten_type(node, x):
    require(not node.attrs, f"{node.name}: takes no attributes")
    return (x.shape[0], math.prod(x.shape[1:])), x.precision


def flatten(node, types, x):
    return x


def requantize_type(node, x):
    known = {"precision", "shift_bit"} if node.op == "cvm_right_shift" else {"precision"}
    require(set(node.attrs) == known, f"{node.name}: attributes {sorted(node.attrs)}")
    require(all(1 <= node.integer(key) <= 32 for key in known), f"{node.name}: {node.attrs}")
    return x.shape, node.integer("precision")


def cvm_clip(node, types, x):
    return [clamp(value, limit(node.precision)) for value in x]


def cvm_right_shift(node, types, x):
    bits, bound = node.integer("shift_bit"), limit(node.precision)
    return [clamp((value // 2 ** (bits - 1) + 1) // 2, bound) for value in x]


OPERATORS = {
    "conv2d": (3, conv2d_type, conv2d),
    "dense": (3, dense_type, dense),
    "max_pool2d": (1, max_pool2d_type, max_pool2d),
    "relu": (1, plain_type, relu),
    "flatten": (1, flatten_type, flatten),
    "cvm_clip": (1, requantize_type, cvm_clip),
    "cvm_right_shift": (1, requantize_type, cvm_right_shift),
}


# ---- graph ----


def check_types(nodes):
    """Declared shapes and precisions equal the inferred ones."""
    for node in nodes:
        if node.is_variable:
            continue
        ports, infer, _ = OPERATORS[node.op]
        require(len(node.inputs) == ports, f"{node.name}: {len(node.inputs)} inputs")
        inferred = infer(node, *(nodes[i] for i in node.inputs))
        declared = (node.shape, node.precision)
        require(inferred == declared, f"{node.name}: declares {declared}, infers {inferred}")


def check_storage(nodes):
    """Two live tensors share a storage id only by the in-place rule."""
    never = len(nodes)
    last_use = {node.name: i for i, node in enumerate(nodes)}
    for i, node in enumerate(nodes):
        last_use.update({nodes[j].name: i for j in node.inputs})
    for i, node in enumerate(nodes):
        if node.is_variable or i == len(nodes) - 1:
            last_use[node.name] = never
    for i, node in enumerate(nodes):
        for earlier in nodes[:i]:
            last = last_use[earlier.name]
            if earlier.storage != node.storage or last < i:
                continue
            in_place = last == i and node.op in IN_PLACE and earlier is nodes[node.inputs[0]]
            require(in_place, f"{node.name} overwrites {earlier.name}, which is still needed")


def gas(nodes):
    """What a run costs: 5 for each element, and for each output element the terms of its sum, three
    times, the elements of its window, or 1."""

    def of_an_element(node):
        if node.op in ("conv2d", "dense"):
            weight = nodes[node.inputs[1]]
            return 3 * math.prod(weight.shape[1:]) + (1 if len(node.inputs) == 3 else 0)
        return math.prod(node.pair("pool_size", "")) if node.op == "max_pool2d" else 1

    calls = [node for node in nodes if not node.is_variable]
    work = sum(of_an_element(node) * math.prod(node.shape) for node in calls)
    return 5 * sum(math.prod(node.shape) for node in nodes) + work


def check_parameters(nodes, parameters):
    """The parameters are the variables but "data", each of its declared shape and precision."""
    variables = {node.name: node for node in nodes if node.is_variable}
    require("data" in variables, "no variable is named data")
    require(set(parameters) == set(variables) - {"data"}, "parameter names are not the variables")
    for name, (shape, values) in parameters.items():
        node = variables[name]
        require(shape == node.shape, f"{name}: stored {shape}, declared {node.shape}")
        largest = max(map(abs, values))
        require(largest <= limit(node.precision), f"{name}: {largest} in {node.precision} bits")


def run(nodes, parameters, image):
    """Returns the logits of one image, every value checked against its precision."""
    values = []
    for node in nodes:
        if node.name == "data":
            value = image
        elif node.is_variable:
            value = parameters[node.name][1]
        else:
            types = [nodes[i] for i in node.inputs]
            value = OPERATORS[node.op][2](node, types, *(values[i] for i in node.inputs))
        require(len(value) == math.prod(node.shape), f"{node.name}: {len(value)} values")
        bound = limit(node.precision)
        require(-bound <= min(value) and max(value) <= bound, f"{node.name}: value too large")
        values.append(value)
    return values[-1]


def check_outputs(logits, labels, expected):
    """Compares digests and accuracy, as far as the images that were run reach."""
    encoded = [struct.pack(f"<{len(row)}i", *row) for row in logits]
    if len(logits) >= FIRST:
        digest = hashlib.sha256(b"".join(encoded[:FIRST])).hexdigest()
        require(digest == expected["sha256_first_20"], f"logits of the first {FIRST}: {digest}")
        print(f"the logits of the first {FIRST} images have the recorded digest {digest}")
    if len(logits) == len(labels):
        digest = hashlib.sha256(b"".join(encoded)).hexdigest()
        require(digest == expected["sha256"], f"logits of all images: {digest}")
        correct = sum(row.index(max(row)) == label for row, label in zip(logits, labels))
        require(correct == expected["correct"], f"{correct} images are correct")
        print(f"the logits of all {len(labels)} images have the recorded digest {digest}")
        print(f"{correct} of {len(labels)} images are correct")


def verify(folder, count):
    expected = json.loads((folder / "expected.json").read_text())
    names = ("dataset.json", "images.bin", "params", "symbol.json")
    require(set(expected["files"]) == set(names), "expected.json: files")
    contents = {name: (folder / name).read_bytes() for name in names}
    for name, data in contents.items():
        digest = hashlib.sha256(data).hexdigest()
        require(digest == expected["files"][name], f"{name}: sha256 is {digest}")
    print(f"{len(names)} files have their recorded digests")

    nodes = read_symbol(contents["symbol.json"])
    parameters = read_parameters(contents["params"])
    check_parameters(nodes, parameters)
    check_types(nodes)
    check_storage(nodes)
    print(f"{len(nodes)} nodes: references, shapes, precisions and storage are as inferred")
    require(gas(nodes) == expected["gas"], f"the gas is {gas(nodes)}")
    print(f"a run costs {gas(nodes)} gas, as recorded")
    print(f"{len(parameters)} parameters lie in their declared domains")

    dataset = json.loads(contents["dataset.json"])
    data, labels = contents["images.bin"], dataset["labels"]
    volume = math.prod(dataset["shape"])
    require(dataset["images"] == "images.bin", "dataset.json: images")
    require(dataset["bytes_per_element"] == 1, "dataset.json: bytes_per_element")
    require(tuple(dataset["shape"]) == nodes[0].shape, "dataset.json: shape is not that of data")
    require(len(data) == dataset["count"] * volume, "images.bin: size")
    require(hashlib.sha256(data).hexdigest() == dataset["sha256"], "images.bin: sha256")
    require(len(labels) == dataset["count"] == expected["images"], "the image counts differ")
    require(all(0 <= label <= 9 for label in labels), "dataset.json: a label is no digit")

    count = len(labels) if count is None else count
    images = [data[i * volume : (i + 1) * volume] for i in range(len(labels))]
    pixels = [struct.unpack(f"{volume}b", image) for image in images[:count]]
    require(all(0 <= value <= 16 for row in pixels for value in row), "images.bin: a pixel value")
    logits = [run(nodes, parameters, row) for row in pixels]
    check_outputs(logits, labels, expected)


def at_least_first(text):
    """Requires at least the images of the recorded digest; fewer would compare nothing."""
    count = int(text)
    if count < FIRST:
        raise argparse.ArgumentTypeError(f"at least {FIRST} images are needed")
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = pathlib.Path(__file__).resolve().parent
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=here)
    parser.add_argument("--images", type=at_least_first, help="how many to run; default: all")
    arguments = parser.parse_args()
    try:
        verify(arguments.folder, arguments.images)
    except (Difference, OSError, ValueError, LookupError, TypeError, struct.error) as error:
        print(f"difference: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
