"""The layers of the project, lowest first. A file may include its own layer and those below;
layers in one line must not include each other."""

import re

# A path belongs to the longest matching prefix. Tests are above everything.
LAYERS = (
    ("spec", "cuda"),
    ("containers",),
    ("containers/memory", "containers/layout"),
    ("containers/params",),
    ("containers/array",),
    ("containers/tensor",),
    ("backends/backend.h",),
    ("backends/client_values.hpp",),
    ("backends/backend.hpp", "backends/client.hpp"),
    ("reference",),
    ("backends",),
    ("runtime",),
    ("runtime/capi",),
    ("conformance/witness",),
    ("conformance/host",),
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
# Of the backends only `reference` may include the containers and the reference.
BARRED = tuple((r"backends/(?!reference/|[^/]*/tests/)", room)
               for room in ("containers/", "reference/"))
RANK = {place: rank for rank, layer in enumerate(LAYERS) for place in layer}


def place_of(path: str):
    """The layer of a file, or None for a test or a file without one."""
    if "/tests/" in path:
        return None
    fitting = [place for place in RANK if path == place or path.startswith(place + "/")]
    return max(fitting, key=len, default=None)


def upward(path: str, included: str):
    """The violation by a file that includes another, both as paths from the root; or None."""
    for where, what in BARRED:
        if re.match(where, path) and included.startswith(what):
            return f"{path} may not know {what}"
    here, there = place_of(path), place_of(included)
    if here is None or here == there:
        return None
    if there is None:
        return f'"{included}" stands in no layer' if "/tests/" not in included else \
            f'"{included}" is a test\'s'
    if RANK[there] >= RANK[here]:
        return f'"{included}" stands in a layer above, or beside, {here}'
    return None
