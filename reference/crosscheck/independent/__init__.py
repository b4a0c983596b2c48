"""Every operator once more, written from the mathematics in plain integers.

It shares nothing with the specification's headers, so that a mistake in either is a disagreement.
Each module of operators registers those it holds: attributes, rules, types and values. `judgement`
is the order in which a call is judged, `lines` reads calls and writes answers.
"""

from . import broadcasting, choosing, detection, elementwise, neural, rearranging, reductions
from .basics import Refused, Tensor
from .judgement import Call, judged, outputs
from .lines import answer, call_of_line
from .registry import NAMES, OPERATORS
