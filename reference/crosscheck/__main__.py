"""Holds what the program and the golden vectors say against independent implementations.

usage: python3 reference/crosscheck lists LOCKSTEP
       python3 reference/crosscheck golden IMPLEMENTATION
       python3 reference/crosscheck fresh IMPLEMENTATION LOCKSTEP [--seed N] [--count N]
       python3 reference/crosscheck lines LOCKSTEP [--seed N] [--count N]
       python3 reference/crosscheck table [--update]

IMPLEMENTATION is independent, numpy or pytorch. `lists` compares the operators and their labels,
`golden` every golden vector, `fresh` COUNT new calls per operator, `lines` COUNT lines that are
hardly calls, and `table` the table of implementations with its file, which --update writes. Prints
the shortest calls about which there is disagreement. Exit status: 0 agreement, 1 disagreement,
2 usage.
"""

import argparse
import importlib.util
import json
import pathlib
import sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from crosscheck.independent import OPERATORS  # noqa: E402  # found through the line above
from crosscheck import checks  # noqa: E402
from crosscheck.implementations import INDEPENDENT, LIBRARIES, covered, library  # noqa: E402
from crosscheck.program import Program  # noqa: E402

TABLE = ROOT / "crosscheck" / "crosschecks.json"
SEED, COUNT = 20260401, 200


def table() -> str:
    """The independent implementations of each operator, as JSON."""
    found = {each: covered(each) for each in (INDEPENDENT, *LIBRARIES)}
    rows = [
        f'"{name}":{json.dumps([each for each in found if name in found[each]])}'
        for name in sorted(OPERATORS)
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def left_out(implementation: str) -> list:
    """Prints the operators that a library leaves out and why; refuses unexplained gaps."""
    silent = covered(INDEPENDENT) - covered(implementation)
    reasons = library(implementation).LEFT_OUT
    if silent != reasons.keys():
        return [f"{implementation}: lacks {sorted(silent)}, with reasons for {sorted(reasons)}"]
    for name, why in reasons.items():
        print(f"{name}: left out, {why}")
    return []


def check_table(update: bool) -> tuple:
    text = table()
    if update:
        TABLE.write_text(text, encoding="ascii")
    same = TABLE.read_text(encoding="ascii") == text
    problems = [problem for each in LIBRARIES for problem in left_out(each)]
    if not same:
        problems.append(f"{TABLE.name} is not what they hold; `table --update` writes it")
    return Counter({"operators": len(OPERATORS)}), problems


def arguments():
    parser = argparse.ArgumentParser(prog="crosscheck", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name, run in (
        ("lists", lambda a: checks.check_lists(a.program)),
        ("golden", lambda a: checks.check_golden(a.implementation)),
        ("fresh", lambda a: checks.check_fresh(a.program, a.implementation, a.seed, a.count)),
        ("lines", lambda a: checks.check_malformed(a.program, a.seed, a.count)),
        ("table", lambda a: check_table(a.update)),
    ):
        verb = verbs.add_parser(name)
        verb.set_defaults(run=run)
        if name in ("golden", "fresh"):
            verb.add_argument("implementation", choices=(INDEPENDENT, *LIBRARIES))
        if name in ("lists", "fresh", "lines"):
            verb.add_argument("program", metavar="LOCKSTEP", type=Program)
        if name in ("fresh", "lines"):
            verb.add_argument("--seed", type=int, default=SEED)
            verb.add_argument("--count", type=int, default=COUNT)
        if name == "table":
            verb.add_argument("--update", action="store_true")
    return parser.parse_args()


def main() -> int:
    a = arguments()
    asked = LIBRARIES if a.verb == "table" else (getattr(a, "implementation", INDEPENDENT),)
    for module, name in (LIBRARIES[each] for each in asked if each in LIBRARIES):
        if not importlib.util.find_spec(module):
            print(f"SKIPPED: no {name}")
            return 1
    compared, problems = a.run(a)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{compared.total()} compared ({len(compared)} kinds), {len(problems)} complaints")
    return 1 if problems or not compared.total() else 0


if __name__ == "__main__":
    sys.exit(main())
