"""Lockstep for Python: the specification of the operators, the judge, and models.

    lockstep.eval("relu", {}, [np.array([-1, 2])])       the one outcome of a call
    lockstep.serve({"relu": f})                          a backend for `lockstep check exec:...`
    def test_relu(lockstep_gate): lockstep_gate("relu", f)   a test
    lockstep.Session("models/digits").run(image)         inference
"""

from ._judge import Verdict, judge
from ._serve import Function, serve
from ._session import ModelError, Session
from ._specification import RuleViolation, Type, check, infer
from ._specification import evaluate as eval

__all__ = [
    "Function", "ModelError", "RuleViolation", "Session", "Type", "Verdict", "check", "eval",
    "infer", "judge", "serve",
]  # fmt: skip
