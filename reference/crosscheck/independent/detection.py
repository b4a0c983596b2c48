"""Operators of object detection: counting candidates and suppressing what overlaps."""

from .attributes import Boolean, Integer
from .basics import Result, bits, clamp, require
from .elementwise import INT32
from .registry import operator

IDENTITY, SCORE, CORNERS = 0, 1, slice(2, 6)
INT64_MAX = 2**63 - 1


def batches(x) -> list:
    """The rows of each batch of a tensor of three axes."""
    _, n, k = x.shape
    rows = [x.values[i : i + k] for i in range(0, x.volume, k)]
    return [rows[i : i + n] for i in range(0, len(rows), n)]


def filled(kept: list, x) -> list:
    """The elements of the rows that each batch keeps, with rows of -1 behind them."""
    _, n, k = x.shape
    return [v for rows in kept for row in rows + [[-1] * k] * (n - len(rows)) for v in row]


@operator("get_valid_counts", ports=((3,),),
          attributes=(Integer("score_threshold", "0", **INT32),),
          rules="columns", also=("get_valid_count",))  # fmt: skip
def get_valid_counts(a, x):
    batch, n, k = x.shape
    require(2 <= k <= 31, "columns")

    def valid():
        return [[r for r in rows if r[SCORE] > a.score_threshold] for rows in batches(x)]

    return [
        Result((batch,), bits(n * k + 1) + 1, lambda: list(map(len, valid()))),
        Result(x.shape, max(x.precision, 2), lambda: filled(valid(), x)),
    ]


def overlap(a: list, b: list) -> int:
    """How much of their union two boxes share, in whole percent."""
    (left, top, right, bottom), (left2, top2, right2, bottom2) = a, b
    areas = (right - left) * (bottom - top) + (right2 - left2) * (bottom2 - top2)
    if areas <= 0:
        return 0
    width = max(0, min(right, right2) - max(left, left2))
    height = max(0, min(bottom, bottom2) - max(top, top2))
    shared = width * height
    union = areas - shared
    if union <= 0:
        return 0
    if 100 * shared <= INT64_MAX:
        return 100 * shared // union
    # From here on no 64 bits hold the percentage's numerator: the denominator shrinks instead.
    return shared // (union // 100)


def survivors(a, rows: list, valid: int) -> list:
    """The rows of a batch that no better row suppresses, best first."""
    count = clamp(valid, 0, len(rows))
    ranked = sorted(rows[:count], key=lambda row: -row[SCORE])
    candidates = ranked if a.top_k < 0 else ranked[: a.top_k]
    most = count if a.max_output_size < 0 else min(count, a.max_output_size)

    def suppresses(better, row):
        rivals = a.force_suppress or better[IDENTITY] == row[IDENTITY]
        return rivals and overlap(better[CORNERS], row[CORNERS]) >= a.iou_threshold

    kept = []
    for row in candidates:
        if len(kept) >= most:
            break
        if row[IDENTITY] >= 0 and not any(suppresses(better, row) for better in kept):
            kept.append(row)
    return kept


@operator(
    "non_max_suppression",
    ports=((3,), (1,)),
    attributes=(
        Integer("iou_threshold", "50", low=1, high=INT32["high"]),
        Integer("max_output_size", "-1", **INT32),
        Boolean("force_suppress", "false"),
        Integer("top_k", "-1", **INT32),
        Integer("coord_start", "2", low=2, high=2),
        Integer("score_index", "1", low=1, high=1),
        Integer("id_index", "0", low=0, high=0),
        Boolean("return_indices", "false", fixed=True),
        Boolean("invalid_to_bottom", "true", fixed=True),
    ),
    rules="columns batch bits",
)
def non_max_suppression(a, x, valid_count):
    require(x.shape[2] == 6, "columns")
    require(valid_count.shape[0] == x.shape[0], "batch")
    require(x.precision <= 31, "bits")

    def values():
        pairs = zip(batches(x), valid_count.values)
        return filled([survivors(a, rows, count) for rows, count in pairs], x)

    return [Result(x.shape, max(x.precision, 2), values)]
