"""Shows the recorded results of the benchmarks: draws a run of all operators, bench/recorded.json,
and tables of bench/RESULTS.md, lists every target that was missed, and picks what a reader wants to
know of the cost."""

import dataclasses
import json
import pathlib
import re
import statistics

import plots
import rst
from refusal import Refused

RESULTS, RUN = "bench/RESULTS.md", "bench/recorded.json"
# What the start page says of the cost: the beginning of a row, and words for it. Of several such
# rows the last one counts.
COSTS = {
    "`./dev check`, fresh system": "from a fresh Debian 12 to the verdict: packages, build, tier 1",
    "`lockstep check cpu --tier 0`": "judge the CPU backend, a smoke test (tier 0)",
    "`lockstep check cpu`, tier 1, with outputs": "the gate of a build (tier 1), 1 and 2 processes",
    "its memory, all processes together": "the most memory of such a run",
    "`./dev test`, clean Debian 12": "every test of the project, from nothing",
}


@dataclasses.dataclass
class Table:
    """A table with what stands above it: the run, the section of the run, and the words before."""

    run: str
    about: str
    words: str
    head: list
    rows: list

    def column(self, words: str) -> int:
        """The place of the column whose head begins so."""
        places = [k for k, cell in enumerate(self.head) if cell.startswith(words)]
        if not places:
            raise Refused(f"{RESULTS}: no column begins with {words!r}")
        return places[0]

    def values(self, words: str) -> list:
        """Each row that has a number in this column: (its first cell, the number, the row)."""
        at = self.column(words)
        found = [(row[0], number(row[at]), row) for row in self.rows if len(row) == len(self.head)]
        return [each for each in found if each[1] is not None and "mean" not in each[0]]


def tables(text: str) -> list:
    """All tables, in order."""
    found, run, about, words, lines = [], "", "", "", []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            lines.append([cell.strip() for cell in line.strip().strip("|").split("|")])
            continue
        if lines:
            found.append(Table(run, about, " ".join(words.split()), lines[0], lines[2:]))
            lines, words = [], ""
        if line.startswith("## "):
            run, about, words = line[3:], "", ""
        elif line.startswith("### "):
            about, words = line[4:], ""
        else:
            words += f" {line}"
    return found


def number(cell: str):
    """The first number of a cell, or None."""
    match = re.search(r"-?\d+(?:\.\d+)?", cell.replace(",", ""))
    return float(match[0]) if match else None


def choose(found: list, *columns: str) -> list:
    """The tables that have columns with such heads."""
    fitting = [t for t in found
               if all(any(cell.startswith(c) for cell in t.head) for c in columns)]  # fmt: skip
    if not fitting:
        raise Refused(f"{RESULTS}: no table has the columns {', '.join(columns)}")
    return fitting


def plain(cell: str) -> str:
    return rst.escaped(cell.replace("`", ""))


def captioned(table: Table, picture: str) -> str:
    return f"*{plain(table.run)}*\n\n{picture}"


def operators(sources: pathlib.Path) -> str:
    """How near each operator of a recorded run comes to its limit: the geometric mean of its rows
    with one thread."""
    run = json.loads((sources / RUN).read_text(encoding="ascii"))
    shares = {True: {}, False: {}}
    for row in run["rows"]:
        if row["threads"] == 1:
            by_operator = shares[row["limit"]["name"] == "memcpy"]
            by_operator.setdefault(row["op"], []).append(row["limit"]["percent"])
    machine = run["machine"]
    about = f"{run['date']}: {machine['processor']}, {machine['processors']} processors, load " \
        f"{machine['load']}, compiler {machine['compiler']}"  # fmt: skip
    parts = [f"*{plain(about)}*\n"]
    for is_memory, unit in ((True, "what memcpy takes for the same bytes"),
                            (False, "the multiply-adds that registers alone could do")):
        means = {op: statistics.geometric_mean(all_of)
                 for op, all_of in sorted(shares[is_memory].items())}  # fmt: skip
        if not means:
            raise Refused(f"{RUN}: no row with one thread is beside {unit}")
        rows = [(op, mean, None, False, f"{mean:.0f} %") for op, mean in means.items()]
        parts.append(plots.bars(f"Share by operator of {unit}", rows, max(100, *means.values()),
                                f"% of {unit}, one thread", 100))  # fmt: skip
    return "\n".join(parts)


def products(found: list) -> str:
    """How much of the machine's limit conv2d and dense reach, layer by layer."""
    table = choose(found, "of the limit", "over oneDNN")[-1]
    at = table.column("of the limit")
    rows = [(name, value, None, False, row[at])
            for name, value, row in table.values(table.head[at])]  # fmt: skip
    return captioned(table, plots.bars(
        "Share of the limit by layer", rows, 100, "% of the multiply-adds that registers alone "
        "could do, one thread", 100))  # fmt: skip


def compared(table: Table, words: str, title: str, unit: str) -> str:
    """Ratios of a table with their targets, those that missed it in another colour."""
    at, aim = table.column(words), table.column("target")
    rows = [(name, value, number(row[aim]), "missed" in row[aim], row[at].split(";")[0])
            for name, value, row in table.values(table.head[at])]  # fmt: skip
    most = max(max(value, mark or 0) for _, value, mark, *_ in rows) * 1.05
    return captioned(table, plots.bars(title, rows, most, unit, 1))


def networks(found: list) -> str:
    """Whole networks beside OpenVINO, the latest run first."""
    parts = []
    for table in reversed(choose(found, "OpenVINO's time over ours", "target")):
        words = re.split(r"(?<=[.]) (?=[A-Z])", table.words)
        parts.append(plain(" ".join(words)) + "\n")
        parts.append(compared(table, "OpenVINO's time", "Time of OpenVINO over ours",
                              "time of OpenVINO over ours, one thread; a stroke: the target"))
    return "\n".join(parts)


def devices(found: list) -> str:
    """Whole networks on a device beside PyTorch."""
    return compared(choose(found, "PyTorch's time over ours", "target")[-1],
                    "PyTorch's time over ours", "Time of PyTorch over ours on a device",
                    "time of PyTorch in half precision over ours; a stroke: the target")


def misses(found: list) -> list:
    """Every row that reports a miss: the run, the row, and all that it says."""
    listed = []
    for table in found:
        for name, *cells in table.rows:
            if any("missed" in cell for cell in cells):
                said = [f"{head}: {cell}".removeprefix(": ")
                        for head, cell in zip(table.head[1:], cells) if cell]  # fmt: skip
                # A telephone has no room for whole names of benchmarks, and may break code.
                shown = plain(name) if " " in name else rst.code(name.replace("`", ""))
                listed.append([plain(table.run.split(":")[0]), shown, plain("; ".join(said))])
    return listed


def page(sources: pathlib.Path) -> str:
    """The plots and the list of misses."""
    found = tables((sources / RESULTS).read_text(encoding="ascii"))
    rows = misses(found)
    if not rows:
        raise Refused(f"{RESULTS}: no row reports a miss, which would be news")
    beside = compared(choose(found, "of the limit", "over oneDNN")[-1], "over oneDNN",
                      "Time of oneDNN over ours by layer", "time of oneDNN over ours, from and to "
                      "int32 rows, one thread; a stroke: the target")  # fmt: skip
    return "\n".join([
        rst.title("Every operator", "-"), operators(sources),
        rst.title("8-bit products, and what the processor can do", "-"), products(found),
        rst.title("Beside oneDNN", "-"), beside,
        rst.title("Whole networks beside OpenVINO", "-"), networks(found),
        rst.title("Whole networks on a device, beside PyTorch", "-"), devices(found),
        rst.title("What was missed", "-"),
        f"The {len(rows)} rows of the tables that report a miss:\n",
        rst.table(["Run", "What", "What the row says"], rows, [16, 30, 54]),
    ])  # fmt: skip


def costs(sources: pathlib.Path) -> str:
    """What Lockstep costs: recorded times and memory, and the packages that it needs."""
    found = tables((sources / RESULTS).read_text(encoding="ascii"))
    rows = []
    for begin, words in COSTS.items():
        fitting = [(t.run.split(":")[0], row) for t in found for row in t.rows
                   if row[0].startswith(begin)]  # fmt: skip
        if not fitting:
            raise Refused(f"{RESULTS}: no row begins with {begin!r}")
        run, row = fitting[-1]
        rows.append([words, plain(re.split("[;:]", row[1])[0]), run])
    needs = (sources / "cmake/dev/needs.txt").read_text(encoding="ascii").split("\n")
    packages = [line for line in needs if line.startswith("build ")]
    rows.append(["to build it, beside the C++ library", f"{len(packages)} packages of Debian", ""])
    return rst.table(["What", "Cost", "Recorded"], rows, [56, 26, 18])
