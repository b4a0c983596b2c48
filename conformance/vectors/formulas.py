"""The formulas of shape, precision and accumulator: FORMAT.md says what they mean.

parse() makes a tree of tuples, whose first entry names its kind; Call evaluates it.
"""

import math
import re

TOKEN = re.compile(r"\s*(\d+|\w+|\.\.\.|\+\+|!=|<=|>=|[][(){}|#+\-*/<>=,;])")
COMPARISONS = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "in": lambda a, b: a in b,
}
FUNCTIONS = {
    "bl": int.bit_length,
    "a": lambda p: (1 << (p - 1)) - 1,
    "prod": math.prod,
    "max": lambda *values: max(values),
    "min": lambda *values: min(values),
}


class NoFormula(Exception):
    """A text is no formula, or not one of this call."""


class Parser:
    """Reads one formula; a method for each line of the grammar."""

    def __init__(self, text):
        self.tokens, self.at = TOKEN.findall(text), 0
        if "".join(self.tokens) != "".join(text.split()):
            raise NoFormula(f"no formula: {text}")

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, *tokens):
        """Removes and returns the next token if it is one of these."""
        if self.peek() not in tokens or not self.peek():
            return ""
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token, tree=None):
        if not self.take(token):
            raise NoFormula(f"a formula has {self.peek() or 'its end'} instead of {token}")
        return tree

    def name(self):
        word = self.peek()
        if not re.fullmatch(r"[A-Za-z_]\w*", word):
            raise NoFormula(f"a formula has {word or 'its end'} instead of a name")
        self.at += 1
        return word

    def formula(self):
        """The tree of the formula, and the definitions by name: their parameters and trees."""
        tree, definitions = self.either(), {}
        while self.take(";"):
            name, parameters = self.name(), []
            if self.take("("):
                parameters = self.several(self.name, ")")
            self.expect("=")
            definitions[name] = (parameters, self.either())
        if self.peek():
            raise NoFormula(f"a formula ends before {self.peek()}")
        return tree, definitions

    def several(self, one, closing):
        items = [one()]
        while self.take(","):
            items.append(one())
        self.expect(closing)
        return items

    def chain(self, part, *signs):
        tree = part()
        while sign := self.take(*signs):
            tree = (sign, tree, part())
        return tree

    def either(self):
        return self.chain(self.both, "or")

    def both(self):
        return self.chain(self.relation, "and")

    def relation(self):
        if self.take("not"):
            return ("not", self.relation())
        tree = self.joined()
        sign = self.take(*COMPARISONS)
        return (sign, tree, self.joined()) if sign else tree

    def joined(self):
        return self.chain(self.sum, "++")

    def sum(self):
        return self.chain(self.product, "+", "-")

    def product(self):
        return self.chain(self.value, "*", "/", "mod")

    def value(self):
        if self.take("("):
            return self.expect(")", ("group", self.either()))
        if self.take("-"):
            return ("negative", self.value())
        if self.take("["):
            return self.listed()
        if self.take("{"):
            return self.cases()
        if self.take("#"):
            return ("count", self.name())
        if self.take("|"):
            return self.expect("|", ("size", self.name()))
        if self.peek().isdigit():
            self.at += 1
            return ("number", int(self.tokens[self.at - 1]))
        name = self.name()
        if self.take("["):
            return self.expect("]", ("entry", name, self.either()))
        return self.call(name) if self.take("(") else ("name", name)

    def call(self, name):
        if name == "ceil":
            tree = ("ceil", self.value(), self.expect("/") or self.value())
            return self.expect(")", tree)
        return ("call", name, self.several(self.argument, ")"))

    def argument(self):
        return ("precisions",) if self.take("...") else self.either()

    def listed(self):
        if self.take("]"):
            return ("list", [])
        tree = self.either()
        if not self.take("for"):
            more = self.several(self.either, "]") if self.take(",") else self.expect("]", [])
            return ("list", [tree, *more])
        name = self.name()
        self.expect("<")
        below = self.sum()
        condition = self.either() if self.take("if") else None
        return self.expect("]", ("family", tree, name, below, condition))

    def cases(self):
        found = []
        while True:
            tree = self.either()
            if not self.take("if"):
                return self.expect("}", ("cases", found, tree))
            found.append((tree, self.either()))
            self.expect(",")


def parse(text):
    """The tree of a formula, and its definitions."""
    return Parser(text).formula()


class Call:
    """A call, of which formulas are true."""

    def __init__(self, precisions, inputs, outputs, attributes, variadic=None):
        """precisions: of all inputs; inputs, outputs: shapes by the names of the ports;
        attributes: integers, lists and None by name; variadic: the name of the port that takes all
        inputs, with their shapes."""
        self.precisions, self.shapes = precisions, {**inputs, **outputs}
        self.attributes, self.variadic = attributes, variadic

    def value(self, text):
        """The value of a formula."""
        tree, self.definitions = parse(text)
        return self.evaluate(tree, {})

    def evaluate(self, tree, variables):
        kind, *parts = tree
        method = getattr(self, f"_{kind}", None)
        if method:
            return method(variables, *parts)
        if kind == "or":
            return int(any([self.evaluate(part, variables) for part in parts]))
        if kind == "and":
            return int(all([self.evaluate(part, variables) for part in parts]))
        a, b = (self.evaluate(part, variables) for part in parts)
        if kind in COMPARISONS:
            return int(COMPARISONS[kind](a, b))
        if kind in ("+", "++"):
            return a + b
        if kind == "-":
            return a - b
        if kind == "*":
            return a * b
        return a // b if kind == "/" else a % b

    def _group(self, variables, tree):
        return self.evaluate(tree, variables)

    def _not(self, variables, tree):
        return int(not self.evaluate(tree, variables))

    def _negative(self, variables, tree):
        return -self.evaluate(tree, variables)

    def _number(self, _, value):
        return value

    def _ceil(self, variables, above, below):
        return -(-self.evaluate(above, variables) // self.evaluate(below, variables))

    def _count(self, variables, name):
        return len(self._name(variables, name))

    def _size(self, variables, name):
        shape = self.shapes.get(name)
        return abs(self._name(variables, name)) if shape is None else math.prod(shape)

    def _entry(self, variables, name, index):
        items, d = self._name(variables, name), self.evaluate(index, variables)
        return items[d] if -len(items) <= d < len(items) else 1

    def _name(self, variables, name):
        if name in variables:
            return variables[name]
        if name in self.definitions:
            return self.evaluate(self.definitions[name][1], {})
        if name in self.shapes:
            return self.shapes[name]
        if re.fullmatch(r"p\d+", name):
            k = int(name[1:])
            return self.precisions[k] if k < len(self.precisions) else 0
        if name == "None":
            return None
        if name not in self.attributes:
            raise NoFormula(f"a formula names {name}")
        return self.attributes[name]

    def _list(self, variables, items):
        return [self.evaluate(item, variables) for item in items]

    def _family(self, variables, tree, name, below, condition):
        scopes = ({**variables, name: d} for d in range(self.evaluate(below, variables)))
        return [self.evaluate(tree, scope) for scope in scopes
                if condition is None or self.evaluate(condition, scope)]  # fmt: skip

    def _cases(self, variables, cases, otherwise):
        for tree, condition in cases:
            if self.evaluate(condition, variables):
                return self.evaluate(tree, variables)
        return self.evaluate(otherwise, variables)

    def _call(self, variables, name, arguments):
        if name == "total":
            port, shapes = self.variadic
            return sum(Call(self.precisions, {port: shape}, {}, self.attributes)
                       .within(self.definitions, arguments[0], variables) for shape in shapes)
        values = []
        for tree in arguments:
            is_all = tree == ("precisions",)
            values += self.precisions if is_all else [self.evaluate(tree, variables)]
        if name in FUNCTIONS:
            return FUNCTIONS[name](*values)
        if name not in self.definitions:
            raise NoFormula(f"a formula names {name}()")
        parameters, body = self.definitions[name]
        return self.evaluate(body, dict(zip(parameters, values, strict=True)))

    def within(self, definitions, tree, variables):
        """The value of a tree beside these definitions."""
        self.definitions = definitions
        return self.evaluate(tree, variables)
