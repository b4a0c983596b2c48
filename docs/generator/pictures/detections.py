"""Rows of detections: boxes that overlap, and rows that pass a threshold."""

from pictures import grids, svg
from pictures.panel import Panel

LANE = 160  # the width of a row of boxes, in pixels


def rows_of(tensor: dict) -> list:
    """The rows of the first batch."""
    n, columns = tensor["shape"][1:]
    return [tensor["data"][q * columns : (q + 1) * columns] for q in range(n)]


def non_max_suppression(op, ask):
    """The boxes of the rows, each in a lane, those that are kept solid."""
    fitting = [e for e in op["examples"] if e["call"]["in"][0]["shape"][1] > 1]
    return [Panel(boxes(e), e, "The rows by descending score. Solid boxes are kept, dashed ones "
                  "dropped or skipped.") for e in fitting[:3]]  # fmt: skip


def area(box: list) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])


def overlap(a: list, b: list) -> int:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return max(wide, 0) * max(high, 0)


def boxes(example: dict) -> svg.Canvas:
    """A lane for each row that is read, from the best score to the worst."""
    canvas, call = svg.Canvas(), example["call"]
    rows, kept = rows_of(call["in"][0]), rows_of(example["out"][0])
    valid = call["in"][1]["data"][0]
    order = sorted(range(min(valid, len(rows))), key=lambda q: -rows[q][1])
    right = max(row[4] for row in rows)
    wide = LANE / max(right, 1)
    tallest = max(row[5] - row[3] for row in rows)
    high, y, before = 44 / max(tallest, 1), 0, []
    for tint, q in enumerate(order):
        row, is_kept = rows[q], rows[q] in kept
        lane = (row[5] - row[3]) * high
        style = f"cell t{tint % 8}" if is_kept else "ghost"
        canvas.box(row[2] * wide, y, (row[4] - row[2]) * wide, lane, style)
        canvas.text((row[2] + row[4]) / 2 * wide, y + lane / 2, f"row {q}")
        canvas.text(LANE + 12, y + lane / 2 - 9, f"id {row[0]}, score {row[1]}", "", "start")
        canvas.text(LANE + 12, y + lane / 2 + 9, fate(row, is_kept, before), "note", "start")
        if is_kept:
            before.append((q, row))
        y += max(lane, 36) + 10
    canvas.line(0, y, LANE, y, "axis")
    for x in range(0, right + 1, 3):
        canvas.line(x * wide, y, x * wide, y + 4, "axis")
        canvas.text(x * wide, y + 14, str(x), "note")
    return canvas


def fate(row: list, is_kept: bool, before: list) -> str:
    """Why a row is kept or not."""
    if is_kept:
        return "kept"
    if row[0] < 0:
        return "skipped: id below 0"
    for q, other in before:
        both = overlap(row[2:], other[2:])
        union = area(row[2:]) + area(other[2:]) - both
        if both and other[0] == row[0]:
            return f"dropped: iou {100 * both // union} with {q}"
    return "beyond max_output_size"


def get_valid_counts(op, ask):
    """Rows that pass have a tint, and lie in front in the output."""
    panels = []
    for example in op["examples"][:2]:
        call, (count, moved) = example["call"], example["out"]
        x, threshold = call["in"][0], int(call["attrs"]["score_threshold"])
        n, columns = x["shape"][1:]
        styles = []
        for q in range(x["shape"][0] * n):
            row = x["data"][q * columns : (q + 1) * columns]
            styles += [f"t{q % 8}" if row[1] > threshold else "unused"] * columns
        passed = {}
        for q in range(0, len(styles), columns):
            if styles[q] != "unused":
                passed.setdefault(q // columns // n, []).append(styles[q])
        out = []
        for batch in range(x["shape"][0]):
            found = passed.get(batch, [])
            for style in found + ["copy"] * (n - len(found)):
                out += [style] * columns
        canvas = svg.Canvas()
        items = [grids.Grid("X", x["shape"], x["data"], styles), grids.Sign(grids.ARROW),
                 grids.Grid("Y", moved["shape"], moved["data"], out),
                 grids.Grid("count", count["shape"], count["data"])]  # fmt: skip
        grids.flow(canvas, items)
        panels.append(Panel(canvas, example,
                            f"Rows whose second entry exceeds {threshold} move to the front."))
    return panels
