"""Calls at and beyond limits that no small change of a small call reaches."""

from crosscheck.independent.basics import EXTENT_MAX



def empty(*shape) -> list:
    """An input of any size: all zeros, and no data to write."""
    return [shape, 8, None]


def crossing(d):
    """Two vectors across each other."""
    m, n = 2 ** d.between(16, 24), 2 ** d.between(16, 24)
    return {}, [empty(m, 1), empty(1, n)]


def padded(d):
    batch = 2 ** d.between(8, 24)
    return {
        "channels": 1, "kernel_size": (1, 1), "padding": (4096, d.between(0, 4096)),
        "use_bias": False,
    }, [empty(batch, 1, 1, 1), empty(1, 1, 1, 1)]  # fmt: skip


def connected(d):
    rows, units = 2 ** d.between(16, 24), 2 ** d.between(16, 24)
    return {"units": units, "use_bias": False}, [empty(rows, 1), empty(units, 1)]


def pooled(d):
    batch, ceil_mode = 2 ** d.between(8, 24), d.truth()
    return {"pool_size": (4097, 4097), "padding": (4096,), "ceil_mode": ceil_mode}, [
        empty(batch, 1, 1, 1)
    ]


def joined(d):
    """Too much on one axis, or as many inputs as there may be, or one more."""
    if d.truth():
        return {"axis": 0}, [empty(1)] * d.between(1023, 1025)
    return {"axis": 0}, [empty(EXTENT_MAX - d.between(0, 2)), empty(d.between(1, 3))]


GIANTS = {
    **{
        f"broadcast_{name}": crossing for name in ("add", "sub", "mul", "div", "max", "greater")
    },
    "conv2d": padded,
    "dense": connected,
    "max_pool2d": pooled,
    "concatenate": joined,
}  # fmt: skip
