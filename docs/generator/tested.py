"""Counts how Lockstep itself is tested: from the program, the files that it ships and the tree."""

import json
import pathlib
import re
import zipfile

import plots
import rst
from refusal import Refused

CASE = re.compile(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P|RC_GTEST_PROP)\(", re.MULTILINE)
METHOD = re.compile(r"^\s+def test_", re.MULTILINE)
COMMAND = re.compile(r"^\$ ", re.MULTILINE)
# The folders of the tree that have tests, and what they test.
ROOMS = {
    "spec": "the words of the specification",
    "containers": "arrays, tensors, parameter files",
    "reference": "evaluation, models, independent implementations",
    "backends": "kernels, adapters, the C interface",
    "runtime": "sessions, models from C",
    "conformance": "the judge and the program",
    "bench": "the benchmarks",
    "fuzz": "the fuzz targets",
    "docs": "this site",
    "python": "the wheel and the importer",
    "cmake": "packages, house rules, a new operator in a copy of the tree",
    "ci": "the action and the cluster script",
}


def sources_of(room: pathlib.Path, suffix: str) -> list:
    return [p.read_text(encoding="utf-8") for p in sorted(room.rglob(f"*{suffix}"))]


def written(sources: pathlib.Path) -> list:
    """Tests in the tree, folder by folder: cases in C++, methods in Python."""
    rows = []
    for room, about in ROOMS.items():
        cases = sum(len(CASE.findall(text)) for text in sources_of(sources / room, ".cc"))
        methods = sum(len(METHOD.findall(text)) for text in sources_of(sources / room, ".py"))
        rows.append([rst.code(room + "/"), about, cases, methods])
    if not sum(row[2] for row in rows) or not sum(row[3] for row in rows):
        raise Refused("the tree has no tests, or this page cannot see them")
    total = ["**together**", "", *(sum(row[k] for row in rows) for k in (2, 3))]
    return [[str(cell) for cell in row] for row in [*rows, total]]


def counted(name: str, count: int, about: str) -> list:
    if count <= 0:
        raise Refused(f"there are {count} {name}")
    return [name, f"{count:,}", about]


def specification(program, sources: pathlib.Path) -> list:
    """The tests of the specification."""
    described = json.loads(program.says("spec", "--json"))
    operators = described["operators"]
    sums = {key: sum(op["crosschecks"][key] or 0 for op in operators)
            for key in ("examples", "laws", "vectors", "independent", "libraries")}  # fmt: skip
    deployed = sources / "conformance" / "specification" / "deployed.jsonl"
    answers = len(deployed.read_text(encoding="utf-8").splitlines()) - 1
    return [
        counted("operators", len(operators), "one header each"),
        counted("worked examples", sums["examples"], "evaluated while the headers compile"),
        counted("laws", sums["laws"], "equations, tried with drawn calls"),
        counted("golden vectors", sums["vectors"], "frozen calls with results or labels"),
        counted("error labels", len(program.lists("--labels")), "each provoked by a test"),
        counted("independent implementations", sums["independent"],
                "in plain Python, by the mathematics alone"),
        counted("operators that another library computes",
                sum(bool(op["crosschecks"]["libraries"]) for op in operators),
                "NumPy and PyTorch, compared element by element"),
        counted("errata", len(described["errata"]), "each with a vector or test that shows it"),
        counted("answers of the deployed runtime", answers, "which the errata must agree with"),
    ]


def judge(program, sources: pathlib.Path, matrix: dict) -> list:
    """The tests of the judge."""
    kills = sum(len(case["kills"]) for case in matrix["cases"])
    transcripts = sources_of(sources / "conformance" / "tests" / "transcripts", ".txt")
    networks = json.loads((sources / "conformance/models/networks.json").read_text("ascii"))
    digits = json.loads((sources / "conformance/models/digits/expected.json").read_text("ascii"))
    targets = sorted((sources / "fuzz" / "corpus").glob("*_seed_corpus.zip"))
    kept = 0
    for target in targets:
        with zipfile.ZipFile(target) as archive:
            kept += len(archive.namelist())
    return [
        counted("properties", len(program.lists("--properties")), "each judged of every operator"),
        counted("mutants", len(matrix["mutants"]), "deliberate mistakes, all of which are caught"),
        counted("cases of the kill matrix", len(matrix["cases"]), "which catch all of them"),
        counted("kills", kills, "pairs of a mutant and a case of the matrix that catches it"),
        counted("recorded commands", sum(len(COMMAND.findall(t)) for t in transcripts),
                "whose whole output is compared"),
        counted("recorded networks", len(networks["networks"]),
                "digests of files and outputs, at two sizes"),
        counted("recorded images", digits["images"],
                f"of the digits model, {digits['correct']} of them recognised"),
        counted("fuzz targets", len(targets), "replayed by every test run"),
        counted("kept inputs", kept, "that fuzzing found"),
    ]


def page(program, sources: pathlib.Path) -> str:
    """The tables, and the kill matrix as a picture."""
    matrix = json.loads((sources / "conformance/selection/kill_matrix.json").read_text("ascii"))
    mutants, cases = len(matrix["mutants"]), len(matrix["cases"])
    columns = [[] for _ in range(mutants)]
    for row, case in enumerate(matrix["cases"]):
        for mutant in case["kills"]:
            columns[mutant].append(row)
    alive = [m["name"] for m, rows in zip(matrix["mutants"], columns) if not rows]
    if alive:
        raise Refused(f"no case of the kill matrix kills {', '.join(alive)}")
    head = ["What", "How many", "What they are"]
    widths = [32, 14, 54]
    picture = plots.matrix(f"{mutants} mutants, {cases} cases", columns, cases)
    return "\n".join([
        rst.title("The specification", "-"),
        rst.table(head, specification(program, sources), widths),
        rst.title("The judge and the rest", "-"),
        rst.table(head, judge(program, sources, matrix), widths),
        rst.title("The kill matrix", "-"),
        f"A column is one of {mutants} mutants, a row one of {cases} cases; a mark says that the "
        "case kills the mutant. No column is empty.\n", picture,
        rst.title("Tests in the tree", "-"),
        "A case in C++ may run with many parameters. Scripts that are tests as a whole are not "
        "counted.\n",
        rst.table(["Room", "What is tested", "Cases in C++", "Methods in Python"],
                  written(sources), [18, 50, 16, 16]),
    ])  # fmt: skip
