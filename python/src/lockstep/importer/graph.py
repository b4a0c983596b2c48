"""A graph of integer operators under construction, and its files: symbol JSON and parameters."""

import json
import math
import re
import struct
from dataclasses import dataclass, field

import numpy

from . import inference

LIST_MAGIC = 0xF7E58D4F05049CB7
RECORD_MAGIC = 0xDD5E40F096B4A13F
CPU, DEVICE_NUMBER, SIGNED, LANES = 1, 0, 0, 1

# Operators whose output may take the storage of an input that nothing reads later.
IN_PLACE = frozenset((
    "flatten", "relu", "expand_dims", "reshape", "squeeze", "abs", "negative", "cvm_precision",
    "elemwise_add", "elemwise_sub", "clip", "cvm_clip", "cvm_left_shift", "cvm_right_shift",
))  # fmt: skip


def largest(precision):
    """The largest value of a precision."""
    return 2 ** (precision - 1) - 1


def precision_of(values):
    """The least precision that holds every element."""
    return int(numpy.abs(values).max()).bit_length() + 1


@dataclass(frozen=True)
class Tensor:
    """An output of a node."""

    node: int
    output: int
    shape: tuple
    precision: int


@dataclass
class Node:
    """A variable, whose operator is "null", or a call."""

    name: str
    op: str
    inputs: tuple = ()
    attrs: dict = field(default_factory=dict)
    outputs: tuple = ()
    value: numpy.ndarray | None = None


def text(value):
    """An attribute as models spell it."""
    if isinstance(value, tuple):
        return "(" + ",".join(str(int(v)) for v in value) + ")"
    return str(value)


class Graph:
    """Nodes in an order in which they can run. Shapes and precisions are inferred at once.

    scope: what the names of new nodes begin with.
    """

    def __init__(self):
        self.nodes, self.scope = [], ""
        self._names, self._parameters = set(), {}

    def _append(self, node, types):
        name = re.sub(r"[^\w./-]", "_", self.scope + node.name, flags=re.ASCII)
        node.name, count = name, 1
        while node.name in self._names:
            count += 1
            node.name = f"{name}.{count}"
        self._names.add(node.name)
        node.outputs = tuple(
            Tensor(len(self.nodes), k, tuple(map(int, shape)), precision)
            for k, (shape, precision) in enumerate(types)
        )
        self.nodes.append(node)
        return node.outputs

    def data(self, shape, precision):
        """The input."""
        return self._append(Node("data", "null"), [(shape, precision)])[0]

    def parameter(self, name, value):
        """A tensor of integers that belongs to the model, in the least precision that holds it.

        Equal ones are stored once, under the first name.
        """
        value = numpy.asarray(value, dtype=numpy.int64)
        precision = precision_of(value)
        if precision > 32:
            raise inference.Inexpressible(f"a value of {name} has {precision} bits")
        key = value.shape, value.tobytes()
        if key not in self._parameters:
            node = Node(name, "null", value=value)
            (self._parameters[key],) = self._append(node, [(value.shape, precision)])
        return self._parameters[key]

    def call_all(self, name, op, *inputs, **attrs):
        """Appends a call and returns all its outputs."""
        types = inference.infer(op, attrs, inputs)
        words = {key: text(value) for key, value in attrs.items()}
        return self._append(Node(name, op, inputs, words), types)

    def call(self, name, op, *inputs, **attrs):
        """Appends a call and returns its first output."""
        return self.call_all(name, op, *inputs, **attrs)[0]

    def add(self, name, x, y):
        """The sum of two tensors."""
        op = "elemwise_add" if x.shape == y.shape else "broadcast_add"
        return self.call(name, op, x, y)

    def shifted(self, name, x, bits, precision):
        """x / 2^bits in a precision, rounded and clamped; without bits only clamped."""
        if bits:
            return self.call(name, "cvm_right_shift", x, precision=precision, shift_bit=bits)
        if x.precision <= precision:
            return x
        return self.call(name, "cvm_clip", x, precision=precision)


def storage_ids(nodes, heads):
    """An id for every output; storage is used again once nothing will read it."""
    last_use = {(t.node, t.output): k for k, node in enumerate(nodes) for t in node.inputs}
    last_use |= {(t.node, t.output): len(nodes) for t in heads}
    ids, sizes, free = {}, [], []

    def new(size):
        sizes.append(size)
        return len(sizes) - 1

    for k, node in enumerate(nodes):
        keys = [(t.node, t.output) for t in node.inputs]
        ending = [key for key in dict.fromkeys(keys)
                  if nodes[key[0]].op != "null" and last_use[key] == k]  # fmt: skip
        if node.op in IN_PLACE and ending and ending[0] in keys[:2]:
            ids[k, 0] = ids[ending.pop(0)]
        else:
            for t in node.outputs:
                size = math.prod(t.shape)
                fitting = [i for i in free if sizes[i] >= size] if node.op != "null" else []
                chosen = min(fitting, key=lambda i: (sizes[i], i)) if fitting else new(size)
                if fitting:
                    free.remove(chosen)
                ids[k, t.output] = chosen
        unread = [(k, t.output) for t in node.outputs if node.op != "null"
                  and (k, t.output) not in last_use]  # fmt: skip
        free += [ids[key] for key in ending + unread]
    return list(ids.values())


def _nodes_json(nodes):
    uses, out = {}, []
    for node in nodes:
        entry = {"op": "null", "name": node.name, "inputs": [[t.node, t.output, 0]
                                                            for t in node.inputs]}  # fmt: skip
        if node.op != "null":
            # A repeated operator gets a suffix, as compilers write it.
            use = uses[node.op] = uses.get(node.op, -1) + 1
            entry["op"] = "cvm_op"
            entry["attrs"] = {
                "func_name": node.op if use == 0 else f"{node.op}_{use}",
                "num_inputs": str(len(node.inputs)),
                "num_outputs": str(len(node.outputs)),
                "flatten_data": "0",
            }
        out.append(entry)
    return out


def symbol_json(nodes, heads, postprocess=""):
    """The graph as symbol JSON, version cvm_1.0.0, one node on a line."""
    outputs = [t for node in nodes for t in node.outputs]
    rows = [0]
    for node in nodes:
        rows.append(rows[-1] + len(node.outputs))
    attrs = {
        "storage_id": ["list_int", storage_ids(nodes, heads)],
        "shape": ["list_shape", [list(t.shape) for t in outputs]],
        "dltype": ["list_str", ["int32"] * len(outputs)],
        "precision": ["list_int", [t.precision for t in outputs]],
        "op_attrs": ["list_str", [json.dumps(node.attrs) for node in nodes]],
    }

    def lines(items):
        return ",\n".join("    " + item for item in items)

    parts = {
        "nodes": "[\n" + lines(map(json.dumps, _nodes_json(nodes))) + "\n  ]",
        "arg_nodes": json.dumps([k for k, node in enumerate(nodes) if node.op == "null"]),
        "node_row_ptr": json.dumps(rows),
        "heads": json.dumps([[t.node, t.output, 0] for t in heads]),
        "attrs": "{\n" + lines(f'"{k}": {json.dumps(v)}' for k, v in attrs.items()) + "\n  }",
        "version": json.dumps("cvm_1.0.0"),
        "postprocess": json.dumps(postprocess),
    }
    return "{\n" + ",\n".join(f'  "{k}": {v}' for k, v in parts.items()) + "\n}\n"


def parameter_file(nodes):
    """The parameters of a graph as a parameter file; what fits 8 bits is stored so."""
    stored = [node for node in nodes if node.value is not None]
    out = [struct.pack("<QQQ", LIST_MAGIC, 0, len(stored))]
    for node in stored:
        out.append(struct.pack("<Q", len(node.name)) + node.name.encode("ascii"))
    out.append(struct.pack("<Q", len(stored)))
    for node in stored:
        rank, bits = node.value.ndim, 8 if node.outputs[0].precision <= 8 else 32
        data = node.value.astype(f"<i{bits // 8}").tobytes()
        out.append(struct.pack("<QQiii", RECORD_MAGIC, 0, CPU, DEVICE_NUMBER, rank))
        out.append(struct.pack("<BBH", SIGNED, bits, LANES))
        out.append(struct.pack(f"<{rank}qq", *node.value.shape, len(data)) + data)
    return b"".join(out)
