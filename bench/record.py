#!/usr/bin/env python3
"""Keeps of a run of the benchmarks what the site draws, a line for each row.

usage: record.py RUN.json > bench/recorded.json, where lockstep_bench --json RUN.json made the run
"""

import json
import pathlib
import sys

KEPT = ("op", "workload", "family", "isa", "path", "threads", "ns")


def recorded(run: dict) -> str:
    """The machine and the rows that have a limit, as JSON."""
    rows = [{key: row[key] for key in KEPT} | {"limit": row["limit"]}
            for row in run["rows"] if row.get("limit")]  # fmt: skip
    about = json.dumps({"date": run["date"], "machine": run["machine"]})[1:-1]
    return "{" + about + ', "rows": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(recorded(json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="ascii"))))
