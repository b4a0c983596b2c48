# SPDX-License-Identifier: Apache-2.0
"""Writes the model's files: symbol JSON, parameter file, images, data set and expectation."""

import hashlib
import json
import math
import re
import struct

import numpy as np

LIST_MAGIC = 0xF7E58D4F05049CB7
RECORD_MAGIC = 0xDD5E40F096B4A13F
CPU, DEVICE_ID = 1, 0
INT_CODE, INT_BITS, LANES = 0, 32, 1

# Operators whose output may take the storage of input 0 when nothing reads that input later.
IN_PLACE = ("flatten", "relu", "cvm_clip", "cvm_right_shift")

FIRST = 20


def parameter_file(tensors):
    """Encodes an ordered list of (name, array) as int32 tensors."""
    out = [struct.pack("<QQQ", LIST_MAGIC, 0, len(tensors))]
    for name, _ in tensors:
        out.append(struct.pack("<Q", len(name.encode())) + name.encode())
    out.append(struct.pack("<Q", len(tensors)))
    for _, value in tensors:
        data = value.astype("<i4").tobytes()
        out.append(struct.pack("<QQiii", RECORD_MAGIC, 0, CPU, DEVICE_ID, value.ndim))
        out.append(struct.pack("<BBH", INT_CODE, INT_BITS, LANES))
        out.append(struct.pack(f"<{value.ndim}qq", *value.shape, len(data)) + data)
    return b"".join(out)


def plan_storage(nodes):
    """Gives every node a storage id; temporaries are reused once nothing will read them."""
    last_use = {i: node for node, n in enumerate(nodes) for i in n.inputs}
    last_use[len(nodes) - 1] = len(nodes)  # The head outlives the graph.
    ids, free = [], []
    count = 0
    for i, node in enumerate(nodes):
        ending = [j for j in node.inputs if nodes[j].op != "null" and last_use[j] == i]
        if node.op in IN_PLACE and node.inputs[0] in ending:
            ids.append(ids[node.inputs[0]])
            continue
        if node.op != "null" and free:
            ids.append(free.pop(0))
        else:
            ids.append(count)
            count += 1
        free += [ids[j] for j in ending]
    return ids


def json_list(items):
    """One item per line, so that a diff of the model is readable."""
    return "[\n" + ",\n".join("    " + json.dumps(item) for item in items) + "\n  ]"


def symbol_nodes(nodes):
    """The "nodes" of symbol JSON; a repeated operator gets a suffix, as compilers write it."""
    uses, out = {}, []
    for node in nodes:
        entry = {"op": "null", "name": node.name, "inputs": [[i, 0, 0] for i in node.inputs]}
        if node.op != "null":
            use = uses[node.op] = uses.get(node.op, -1) + 1
            entry["op"] = "cvm_op"
            entry["attrs"] = {
                "func_name": node.op if use == 0 else f"{node.op}_{use}",
                "num_inputs": str(len(node.inputs)),
                "num_outputs": "1",
                "flatten_data": "0",
            }
        out.append(entry)
    return out


def symbol_json(nodes):
    """Encodes the graph as symbol JSON, version cvm_1.0.0, without postprocessing."""
    attrs = {
        "storage_id": ["list_int", plan_storage(nodes)],
        "shape": ["list_shape", [list(node.shape) for node in nodes]],
        "dltype": ["list_str", ["int32"] * len(nodes)],
        "precision": ["list_int", [node.precision for node in nodes]],
    }
    fields = [f'    "{key}": {json.dumps(value)}' for key, value in attrs.items()]
    op_attrs = ",\n".join("      " + json.dumps(json.dumps(node.attrs)) for node in nodes)
    fields.append(f'    "op_attrs": ["list_str", [\n{op_attrs}\n    ]]')
    parts = {
        "nodes": json_list(symbol_nodes(nodes)),
        "arg_nodes": json.dumps([i for i, node in enumerate(nodes) if node.op == "null"]),
        "node_row_ptr": json.dumps(list(range(len(nodes) + 1))),
        "heads": json.dumps([[len(nodes) - 1, 0, 0]]),
        "attrs": "{\n" + ",\n".join(fields) + "\n  }",
        "version": json.dumps("cvm_1.0.0"),
        "postprocess": json.dumps(""),
    }
    return "{\n" + ",\n".join(f'  "{key}": {text}' for key, text in parts.items()) + "\n}\n"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def dataset_json(image_bytes, shape, labels):
    """Describes images.bin and gives the label of each image."""
    parts = {
        "images": "images.bin",
        "count": len(labels),
        "shape": list(shape),
        "bytes_per_element": 1,
        "sha256": sha256(image_bytes),
        "labels": [int(label) for label in labels],
    }
    lines = [f'  "{key}": {json.dumps(value)}' for key, value in parts.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def gas(nodes):
    """The cost of a run: five for every element, and the operators' own for their outputs."""
    total = 0
    for node in nodes:
        work = 0 if node.op == "null" else 1
        if node.op in ("conv2d", "dense"):  # with a bias, which costs 1
            work += 3 * math.prod(nodes[node.inputs[1]].shape[1:])
        if node.op == "max_pool2d":
            work = math.prod(map(int, re.findall(r"\d+", node.attrs["pool_size"])))
        total += (5 + work) * math.prod(node.shape)
    return total


def expected_json(logits, labels, nodes, files):
    """Records the outputs that every backend must reproduce."""
    rows = logits.astype("<i4")
    parts = {
        "images": len(labels),
        "correct": int((np.argmax(logits, axis=1) == labels).sum()),
        "gas": gas(nodes),
        "sha256": sha256(rows.tobytes()),
        "sha256_first_20": sha256(rows[:FIRST].tobytes()),
        "files": {name: sha256(data) for name, data in sorted(files.items())},
    }
    return json.dumps(parts, indent=2) + "\n"


def write_all(folder, nodes, images, labels, logits):
    """Writes the five files of the model and returns their sizes by name."""
    image_bytes = images.astype(np.int8).tobytes()
    tensors = [(node.name, node.value) for node in nodes if node.value is not None]
    files = {
        "symbol.json": symbol_json(nodes).encode(),
        "params": parameter_file(tensors),
        "images.bin": image_bytes,
        "dataset.json": dataset_json(image_bytes, nodes[0].shape, labels).encode(),
    }
    files["expected.json"] = expected_json(logits, labels, nodes, files).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return {name: len(data) for name, data in files.items()}
