#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the stored model files against each other.

usage: verify.py [FOLDER]

Reads the symbol JSON and the parameter file strictly, checks the storage plan, and lets the
implementations of reference/crosscheck, which know nothing of the C++ reference, infer every shape
and precision and recompute the logits. Exit status: 0 when everything agrees, 1 on any difference.
"""

import hashlib
import json
import math
import pathlib
import re
import struct
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "reference"))

from crosscheck.independent import Call, Refused, Tensor, judged  # noqa: E402
from crosscheck.independent.basics import largest  # noqa: E402
from crosscheck.libraries.numpy import LIBRARY  # noqa: E402

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
        require(attrs["num_inputs"] == str(len(self.inputs)), f"{self.name}: num_inputs")
        require(attrs["num_outputs"] == "1", f"{self.name}: num_outputs")


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


# ---- graph ----


def check_types(nodes):
    """Declared shapes and precisions equal the inferred ones; keeps the values of attributes."""
    for node in nodes:
        if node.is_variable:
            continue
        inputs = [Tensor(nodes[i].shape, nodes[i].precision) for i in node.inputs]
        try:
            call = Call(node.op, list(node.attrs.items()), inputs)
            _, node.attributes, (result,) = judged(call)
        except Refused as label:
            raise Difference(f"{node.name}: {label}") from None
        inferred, declared = (result.shape, result.precision), (node.shape, node.precision)
        require(inferred == declared, f"{node.name}: declares {declared}, infers {inferred}")


def check_storage(nodes):
    """Two live tensors share a storage id only by the in-place rule."""
    last_use = {j: i for i, node in enumerate(nodes) for j in node.inputs}
    for i, node in enumerate(nodes):
        for j, earlier in enumerate(nodes[:i]):
            last = len(nodes) if earlier.is_variable else last_use.get(j, j)
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
        return math.prod(node.attributes.pool_size) if node.op == "max_pool2d" else 1

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
        found = max(map(abs, values))
        require(found <= largest(node.precision), f"{name}: {found} in {node.precision} bits")


def run(nodes, parameters, images):
    """Returns the logits of all images, every value checked against its precision."""
    values = []
    for node in nodes:
        if node.name == "data":
            value = images
        elif node.is_variable:
            value = np.array(parameters[node.name][1], np.int64).reshape(node.shape)
        else:
            value = LIBRARY[node.op](node.attributes, *(values[i] for i in node.inputs))
        require(value.shape[1:] == node.shape[1:], f"{node.name}: shape {value.shape}")
        require(np.abs(value).max() <= largest(node.precision), f"{node.name}: value too large")
        values.append(value)
    return values[-1]


def check_outputs(logits, labels, expected):
    """Compares digests and accuracy."""
    rows = logits.astype("<i4")
    for key, part in (("sha256_first_20", rows[:FIRST]), ("sha256", rows)):
        digest = hashlib.sha256(part.tobytes()).hexdigest()
        require(digest == expected[key], f"logits of {len(part)} images: {digest}")
        print(f"the logits of the first {len(part)} images have the recorded digest {digest}")
    correct = int((logits.argmax(axis=1) == labels).sum())
    require(correct == expected["correct"], f"{correct} images are correct")
    print(f"{correct} of {len(labels)} images are correct")


def verify(folder):
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

    images = np.frombuffer(data, np.int8).astype(np.int64).reshape(-1, *dataset["shape"][1:])
    require(0 <= images.min() and images.max() <= 16, "images.bin: a pixel value")
    logits = run(nodes, parameters, images)
    check_outputs(logits, labels, expected)


def main():
    try:
        verify(pathlib.Path(*sys.argv[1:] or [HERE]))
    except (Difference, OSError, ValueError, LookupError, AttributeError, TypeError,
            struct.error) as error:  # fmt: skip
        print(f"difference: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
