"""Holds what the program and the golden vectors say against the opinions of the witnesses.

usage: python3 reference/witness lists LOCKSTEP
       python3 reference/witness golden OPINION
       python3 reference/witness fresh OPINION LOCKSTEP [--seed N] [--count N]
       python3 reference/witness lines LOCKSTEP [--seed N] [--count N]
       python3 reference/witness table [--update]

OPINION is second_opinion, numpy or pytorch. `lists` compares the operators and their labels,
`golden` every golden vector, `fresh` COUNT new calls per operator, `lines` COUNT lines that are
hardly calls, and `table` the table of witnesses with the file of it, which --update writes. Prints
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

from second_opinion import OPERATORS  # noqa: E402  # found through the line above
from witness import checks  # noqa: E402
from witness.opinions import SECOND, THIRDS, covered, third_opinion  # noqa: E402
from witness.program import Program  # noqa: E402

TABLE = ROOT / "second_opinion" / "witnesses.json"
SEED, COUNT = 20260401, 200


def table() -> str:
    """The witnesses of each operator, as JSON."""
    found = {opinion: covered(opinion) for opinion in (SECOND, *THIRDS)}
    rows = [
        f'"{name}":{json.dumps([opinion for opinion in found if name in found[opinion]])}'
        for name in sorted(OPERATORS)
    ]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def left_out(opinion: str) -> list:
    """Prints the operators that a third opinion leaves out and why; refuses unexplained gaps."""
    silent, reasons = covered(SECOND) - covered(opinion), third_opinion(opinion).LEFT_OUT
    if silent != reasons.keys():
        return [f"{opinion}: silent about {sorted(silent)}, with reasons for {sorted(reasons)}"]
    for name, why in reasons.items():
        print(f"{name}: left out, {why}")
    return []


def check_table(update: bool) -> tuple:
    text = table()
    if update:
        TABLE.write_text(text, encoding="ascii")
    same = TABLE.read_text(encoding="ascii") == text
    problems = [problem for opinion in THIRDS for problem in left_out(opinion)]
    if not same:
        problems.append(f"{TABLE.name} is not what the witnesses say; `table --update` writes it")
    return Counter({"operators": len(OPERATORS)}), problems


def arguments():
    parser = argparse.ArgumentParser(prog="witness", description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("lists", "golden", "fresh", "lines", "table"):
        verb = verbs.add_parser(name)
        if name in ("golden", "fresh"):
            verb.add_argument("opinion", choices=(SECOND, *THIRDS))
        if name in ("lists", "fresh", "lines"):
            verb.add_argument("program", metavar="LOCKSTEP", type=Program)
        if name in ("fresh", "lines"):
            verb.add_argument("--seed", type=int, default=SEED)
            verb.add_argument("--count", type=int, default=COUNT)
        if name == "table":
            verb.add_argument("--update", action="store_true")
    return parser.parse_args()


def checked(a) -> tuple:
    """What was compared, and the differences."""
    if a.verb == "lists":
        return Counter({"operators": len(OPERATORS)}), checks.check_lists(a.program)
    if a.verb == "golden":
        return checks.check_golden(a.opinion)
    if a.verb == "fresh":
        return checks.check_fresh(a.program, a.opinion, a.seed, a.count)
    if a.verb == "lines":
        return checks.check_malformed(a.program, a.seed, a.count)
    return check_table(a.update)


def main() -> int:
    a = arguments()
    asked = THIRDS if a.verb == "table" else (getattr(a, "opinion", SECOND),)
    for module, name in (THIRDS[opinion] for opinion in asked if opinion in THIRDS):
        if not importlib.util.find_spec(module):
            print(f"SKIPPED: no {name}")
            return 1
    compared, problems = checked(a)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{compared.total()} compared ({len(compared)} kinds), {len(problems)} complaints")
    return 1 if problems or not compared.total() else 0


if __name__ == "__main__":
    sys.exit(main())
