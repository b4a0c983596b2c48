"""The floors of the project, lowest first. A file includes its own floor and those below; floors of
one line do not know each other."""

import re

# A path belongs to the longest prefix that fits. Tests stand above everything.
FLOORS = (
    ("spec", "cuda"),
    ("containers",),
    ("containers/memory", "containers/layout"),
    ("containers/params",),
    ("containers/array",),
    ("containers/tensor", "containers/capi"),
    ("backends/backend.h",),
    ("backends/client_values.hpp",),
    ("backends/backend.hpp", "backends/client.hpp"),
    ("reference",),
    ("backends",),
    ("conformance/base",),
    ("conformance/cases",),
    ("conformance/jsonl", "conformance/golden"),
    ("conformance/subjects",),
    ("conformance/trial",),
    ("conformance/selection",),
    ("conformance/verdict",),
    ("conformance/run",),
    ("conformance/reports", "conformance/coverage", "conformance/specification"),
    ("conformance/mutator",),
    ("conformance/cli",),
    ("bench", "fuzz", "docs", "examples", "cmake"),
)
# Backends know neither the containers nor the reference; only the one that is the reference does.
BARRED = tuple((r"backends/(?!reference/|[^/]*/tests/)", room)
               for room in ("containers/", "reference/"))
RANK = {place: rank for rank, floor in enumerate(FLOORS) for place in floor}


def place_of(path: str):
    """The place of a file in the floors, or None for a test and for what has none."""
    if "/tests/" in path:
        return None
    fitting = [place for place in RANK if path == place or path.startswith(place + "/")]
    return max(fitting, key=len, default=None)


def upward(path: str, included: str):
    """What is wrong with a file that includes another, both as paths from the root; or None."""
    for where, what in BARRED:
        if re.match(where, path) and included.startswith(what):
            return f"{path} may not know {what}"
    here, there = place_of(path), place_of(included)
    if here is None or here == there:
        return None
    if there is None:
        return f'"{included}" stands on no floor' if "/tests/" not in included else \
            f'"{included}" is a test\'s'
    if RANK[there] >= RANK[here]:
        return f'"{included}" stands on a floor above, or beside, {here}'
    return None
