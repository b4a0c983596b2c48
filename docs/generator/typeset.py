"""Typesets the formulas of shape, precision and accumulator: TeX from the trees of formulas.py."""

import pathlib
import sys

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "conformance" / "vectors"
sys.path.insert(0, str(VECTORS))

import formulas  # noqa: E402  # found through the line above

SIGNS = {
    "or": r" \lor ", "and": r" \land ", "=": " = ", "!=": r" \ne ", "<": " < ", "<=": r" \le ",
    ">": " > ", ">=": r" \ge ", "in": r" \in ", "++": r" \mathbin{+\!\!+} ", "+": " + ",
    "-": " - ", "*": r" \cdot ", "mod": r" \bmod ",
}  # fmt: skip
SIMPLE = ("name", "number", "entry", "size", "count")


def word(name: str) -> str:
    """A name as one variable."""
    escaped = name.replace("_", r"\_")
    return escaped if len(name) == 1 else rf"\mathit{{{escaped}}}"


class Typesetter:
    """Typesets the formulas of one operator, and notes which notations they use."""

    def __init__(self, op: dict):
        self.inputs = [port["name"] for port in op["inputs"]]
        self.ports = {*self.inputs, *(port["name"] for port in op["outputs"])}
        last = op["inputs"][-1]
        self.variadic = last["name"] if last["arity"] == "variadic" else None
        self.member, self.used, self.definitions = "0", set(), {}

    def shape(self, port: str, text: str) -> list:
        """A formula of the shape of a port."""
        return self.statements(rf"\operatorname{{shape}}({word(port)})", text, f"|{word(port)}|")

    def statements(self, left: str, text: str, entry: str = "") -> list:
        """What the formula says, and each of its definitions, as a line of TeX. `entry` stands for
        an entry of a list instead of `left`."""
        tree, self.definitions = formulas.parse(text)
        if tree[0] == "family" and tree[4] is None:
            _, item, name, below, _ = tree
            self.used.add("extent")
            lines = [rf"{entry}_{{{name}}} = {self.tex(item)}, \quad 0 \le {name} < "
                     + self.tex(below)]  # fmt: skip
        else:
            lines = [f"{left} = {self.tex(tree)}"]
        for name, (parameters, body) in self.definitions.items():
            listed = f"({', '.join(parameters)})" if parameters else ""
            lines += self._equations(word(name) + listed, body)
        return lines

    def _equations(self, left: str, body) -> list:
        """A definition as one line, or as one for each of many cases, which no telephone shows in
        braces."""
        if body[0] != "cases" or len(body[1]) < 4:
            return [f"{left} = {self.tex(body)}"]
        self.used.add("first")
        ways = [(tree, rf"\text{{if }} {self.tex(test)}") for tree, test in body[1]]
        ways.append((body[2], r"\text{otherwise}"))
        return [rf"{left} = {self.tex(tree)} \quad {when}" for tree, when in ways]

    def tex(self, tree) -> str:
        kind, *parts = tree
        method = getattr(self, f"_{kind}", None)
        if method:
            return method(*parts)
        if kind == "++":
            self.used.add("++")
        if kind == "/":
            return self._quotient("floor", *parts)
        return self.tex(parts[0]) + SIGNS[kind] + self.tex(parts[1])

    def _quotient(self, rounding: str, above, below) -> str:
        above, below = (part[1] if part[0] == "group" else part for part in (above, below))
        inner = rf"\frac{{{self.tex(above)}}}{{{self.tex(below)}}}"
        if above[0] in SIMPLE and below[0] in SIMPLE:
            inner = f"{self.tex(above)} / {self.tex(below)}"
        return rf"\left\l{rounding} {inner} \right\r{rounding}"

    def _ceil(self, above, below) -> str:
        return self._quotient("ceil", above, below)

    def _group(self, tree) -> str:
        return rf"\left({self.tex(tree)}\right)"

    def _not(self, tree) -> str:
        return rf"\lnot {self.tex(tree)}"

    def _negative(self, tree) -> str:
        return f"-{self.tex(tree)}"

    def _number(self, value) -> str:
        return str(value)

    def _port(self, name: str) -> str:
        return f"{name}_{self.member}" if name == self.variadic else word(name)

    def _count(self, name: str) -> str:
        is_port = name in self.ports
        self.used.add("rank" if is_port else "count")
        return f"N_{{{self._port(name)}}}" if is_port else rf"\#{word(name)}"

    def _size(self, name: str) -> str:
        self.used.add("size" if name in self.ports else "magnitude")
        return f"|{self._port(name)}|"

    def _entry(self, name: str, index) -> str:
        is_port = name in self.ports
        self.used.add("extent" if is_port else "entry")
        whole = f"|{self._port(name)}|" if is_port else word(name)
        return f"{whole}_{{{self.tex(index)}}}"

    def _name(self, name: str) -> str:
        if name == "None":
            return r"\text{None}"
        if name[0] == "p" and name[1:].isdigit():
            return self._precision(int(name[1:]))
        return rf"\operatorname{{shape}}({self._port(name)})" if name in self.ports else word(name)

    def _precision(self, k: int) -> str:
        self.used.add("precision")
        return f"p_{{{self._port(self.inputs[k])}}}"

    def _precisions(self) -> str:
        return rf"p_{{{self.variadic}_1}}, \ldots"

    def _list(self, items) -> str:
        return rf"({', '.join(map(self.tex, items))})"

    def _family(self, item, name, below, condition) -> str:
        bounds = rf"0 \le {name} < {self.tex(below)}"
        if condition is not None:
            bounds += rf",\; {self.tex(condition)}"
        self.used.add("family")
        return rf"\left({self.tex(item)}\right)_{{{bounds}}}"

    def _cases(self, cases, otherwise) -> str:
        rows = [rf"{self.tex(tree)} & \text{{if }} {self.tex(test)}" for tree, test in cases]
        rows.append(rf"{self.tex(otherwise)} & \text{{otherwise}}")
        return r"\begin{cases} " + r" \\ ".join(rows) + r" \end{cases}"

    def _call(self, name, arguments) -> str:
        if name == "total":
            self.member = "k"
            inner = self.tex(arguments[0])
            self.member = "0"
            return rf"\textstyle\sum_k {inner}"
        listed = ", ".join(map(self.tex, arguments))
        if name == "prod":
            return rf"\textstyle\prod {listed}"
        if name in formulas.FUNCTIONS and name not in self.definitions:
            self.used.add(name)
            return (rf"\{name}" if name in ("max", "min") else word_of_function(name)) \
                + rf"\left({listed}\right)"  # fmt: skip
        is_high = r"\begin" in listed or r"\frac" in listed
        return word(name) + (rf"\left({listed}\right)" if is_high else f"({listed})")


def word_of_function(name: str) -> str:
    return name if len(name) == 1 else rf"\operatorname{{{name}}}"


# What a notation means: a key of Typesetter.used, the notation, and its meaning.
LEGEND = (
    ("extent", r"|X|_d", "is the extent of axis d of X, counted from the back where d is "
     "negative, and 1 where there is no such axis"),
    ("entry", r"l_d", "is entry d of the list l, from the back where d is negative, and 1 where "
     "there is none"),
    ("rank", r"N_X", "is the rank of X"),
    ("count", r"\#l", "is the number of entries of the list l"),
    ("size", "|X|", "is the number of elements of X"),
    ("magnitude", "|m|", "is the magnitude of m"),
    ("++", r"\mathbin{+\!\!+}", "joins two lists"),
    ("family", r"(e)_{0 \le d < n}", "is the list of e for each such d"),
    ("precision", "p_X", "is the precision of X, 0 where X is not given"),
    ("bl", r"\operatorname{bl}(n)", "is the bit length of n"),
    ("a", "a(p)", "is the largest element of precision p"),
)  # fmt: skip


def legend(used: set) -> str:
    """A sentence that says what the notations mean, in reStructuredText."""
    said = [f":math:`{tex}` {meaning}" for key, tex, meaning in LEGEND if key in used]
    if "first" in used:
        said.append("of several lines with the same left side the first one counts whose "
                    "condition holds")  # fmt: skip
    return f"Here {'; '.join(said)}." if said else ""
