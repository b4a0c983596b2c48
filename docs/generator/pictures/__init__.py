"""Pictures of operators, drawn from the data of their examples.

A function of PICTURES takes an operator's description and `ask`, which puts a call to the program,
and returns panels. Operators of which a picture shows nothing new have none.
"""

import functools
import html

from pictures import axes, detections, functions, meetings, moves, windows
from refusal import Refused

PICTURES = {
    "abs": functions.near_zero("Negative elements change their sign."),
    "broadcast_add": meetings.broadcast,
    "broadcast_div": meetings.broadcast,
    "broadcast_greater": meetings.broadcast,
    "broadcast_max": meetings.broadcast,
    "broadcast_mul": meetings.broadcast,
    "broadcast_sub": meetings.broadcast,
    "clip": functions.near_zero("Beyond the bounds the result stays at them."),
    "concatenate": moves.by_input,
    "conv2d": windows.conv2d,
    "cvm_left_shift": functions.near_zero("Where the product exceeds the precision it is clamped."),
    "cvm_lut": moves.gathered,
    "cvm_precision": functions.near_zero("A step at each power of two.", True),
    "cvm_right_shift": functions.stairs,
    "dense": windows.dense,
    "expand_dims": axes.expand_dims,
    "flatten": axes.flatten,
    "get_valid_counts": detections.get_valid_counts,
    "max": meetings.reduced,
    "max_pool2d": windows.max_pool2d,
    "non_max_suppression": detections.non_max_suppression,
    "relu": functions.near_zero("Negative elements become 0."),
    "repeat": moves.by_element,
    "reshape": axes.reshape,
    "slice_like": moves.cut,
    "squeeze": axes.squeeze,
    "strided_slice": moves.strided,
    "sum": meetings.reduced,
    "take": moves.gathered,
    "tile": moves.by_element,
    "transpose": moves.by_element,
    "upsampling": moves.by_element,
    "where": moves.chosen,
}


def figures(op: dict, lockstep) -> str:
    """The pictures of an operator as HTML; nothing if it has none."""
    if op["name"] not in PICTURES:
        return ""
    ask = functools.partial(answer, lockstep)
    panels = PICTURES[op["name"]](op, ask)
    if not panels:
        raise Refused(f"{op['name']}: no example makes its picture")
    said = [None, *(panel.text for panel in panels)]
    return "\n".join(figure(f"picture-{k}", panel, panel.text if panel.text != said[k] else "")
                     for k, panel in enumerate(panels))  # fmt: skip


def answer(lockstep, call: dict) -> dict:
    """The program's answer to a call, which has outputs."""
    found = lockstep.answers([call])[call["id"]]
    if "out" not in found:
        raise Refused(f"{call['id']}: {found}")
    return found


def figure(name: str, panel, text: str) -> str:
    """A panel with its caption; the text stands only below the first of several that share it."""
    title = panel.example["text"][0].upper() + panel.example["text"][1:]
    drawing = panel.canvas.svg(name, title, panel.text)
    caption = f"<b>{html.escape(title)}.</b> {html.escape(text)}".rstrip()
    return f'<figure class="picture">\n{drawing}\n<figcaption>{caption}</figcaption>\n</figure>'
