"""The fixture `lockstep_gate`, by which a test holds a function to the specification."""

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from ._judge import Verdict, judge
from ._serve import Function


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("lockstep").addoption
    add("--lockstep-tier", type=int, choices=range(4), default=0, metavar="N",
        help="how much lockstep_gate judges: 0 smoke (default), 1 CI, 2, 3")  # fmt: skip
    add("--lockstep-seed", type=int, default=1, metavar="N", help="the seed of the cases (1)")
    add("--lockstep-case", action="append", default=[], metavar="CASE",
        help="judge only this case, as a finding names it (repeatable)")  # fmt: skip


@pytest.fixture
def lockstep_gate(request: pytest.FixtureRequest) -> Callable[..., Verdict]:
    """lockstep_gate(op, function, **options): has the judge hold the function to an operator.

    The function is one that `lockstep.serve` takes, options are those of `lockstep.judge`. A pass
    is returned as a Verdict. Anything else fails the test with the judge's report, in which each
    failing case has been made small, and with the commands that repeat them."""
    option = request.config.getoption

    def gate(op: str, function: Function, **options: Any) -> Verdict:
        __tracebackhide__ = True
        options = {"tier": option("--lockstep-tier"), "seed": option("--lockstep-seed"),
                   "cases": option("--lockstep-case"), **options}  # fmt: skip
        verdict = judge({op: function}, **options)
        if not verdict.passed:
            again = [f"repeat: pytest {shlex.quote(request.node.nodeid)} "
                     f"--lockstep-case {shlex.quote(case)}" for case in verdict.cases]  # fmt: skip
            pytest.fail("\n".join([verdict.text, *again]), pytrace=False)
        return verdict

    return gate
