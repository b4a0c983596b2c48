"""The words in which operators are written: read out of the headers that define them, shown with
their sentences, and compared with the words that the operators use."""

import dataclasses
import pathlib
import re

import header
import rst
from refusal import Refused

# The headers that make up the vocabulary, in the order of the page.
HEADERS = ("arithmetic.h", "shape.h", "op.h", "erratum.h", "laws.h")
KEYWORDS = frozenset(
    "auto bool break case char class concept const constexpr continue default do else enum "
    "explicit false for friend if inline int namespace noexcept operator private protected public "
    "requires return signed sizeof static static_cast struct switch template this true typename "
    "unsigned using virtual void while lockstep".split()
)
SPECIFIERS = re.compile(r"\b(?:inline|constexpr|static|virtual|explicit)\s+")
TEMPLATE = re.compile(r"^\s*template <(?:[^<>]|<[^<>]*>)*>\s*")
STANDARD = re.compile(r"\bstd(?:::\w+)+|\bU?INT64_M(?:AX|IN)\b|(?<=\.)has_value\b")
COMMENTS = re.compile(r"((?:\s*//[^\n]*\n|\s*public:\s*\n)*)(.*)", re.DOTALL)
PARAMETER = re.compile(
    r"\s*(?:const )?[\w:]+(?:<[^()]*>)?(?: const)?[&*]* (?P<name>\w+)\s*(?:=.*)?")
VARIABLE = re.compile(
    r"(?:(?:static|constexpr|inline|const) )*(?P<type>[A-Za-z_][\w:]*)(?:<.*?>)?[&*]* [&*]*\w")
# Brackets of one level that hold no others, and the initial value of a variable.
INITIAL = r"(?:(?<=[\w({])|(?<=[,=] ))\{[^(){};]*\}"
FLAT = re.compile(rf"\([^(){{}}]*\)|{INITIAL}|\[[^\[\](){{}}]*\]")
DIRECTIVE = re.compile(r"^\s*#[^\n]*", re.MULTILINE)
FUNCTION = re.compile(r"[\w:<>, &*]*?(?:operator(?:\(\)|\W+)|\b\w+)\(")
ONE_RETURN = re.compile(r" \{ return [^;]*; \}")
NEEDS_SENTENCE = re.compile(r"(?:struct|class|enum|concept|namespace)\b|[^={]*\)(?: const)?$")


@dataclasses.dataclass
class Word:
    """A name of the vocabulary: how it is declared, what it means, and its members."""

    name: str
    declared: str
    sentence: str
    members: list


def read(path: pathlib.Path) -> list:
    """The words that a header defines."""
    text = path.read_text(encoding="ascii")
    code = header.blank(text)
    begin = code.index("{", code.index("namespace lockstep"))
    return words(text, code, begin + 1, header.closing(code, begin, path), path)


def words(text: str, code: str, begin: int, end: int, path: pathlib.Path, is_outer=True) -> list:
    """The words between two places of a header. Each outer one needs a sentence, unless a value or
    a short body explains it."""
    found = []
    for first, last in header.declarations(code, begin, end, path):
        # The remark of a declaration follows it on the same line.
        line_end = text.index("\n", last)
        remark = re.match(r"\s*///<\s*(.*)", text[last:line_end])
        own = re.sub(r"^[^\n]*///<[^\n]*", "", text[first:last])
        if re.match(r"\s*(?:private|protected):", code[first:last]):
            break
        word = read_word(own, remark[1] if remark else "")
        if word:
            word.members = members_of(text, code, first, last, path)
            if not word.sentence and NEEDS_SENTENCE.match(word.declared) and is_outer:
                raise Refused(f"{path}: no sentence says what {word.name} is")
            found.append(word)
    return found


def read_word(text: str, remark: str):
    """The word that a declaration defines, or None."""
    comments, rest = COMMENTS.match(text + "\n").groups()
    sentence = " ".join(re.findall(r"/// ?(.*)", comments)) or remark
    rest = header.SKIPPED.sub(lambda m: "" if m[0][0] == "/" else m[0], rest)
    code = TEMPLATE.sub("", " ".join(rest.split()))
    name = name_of(code)
    is_law = SPECIFIERS.sub("", code).startswith("CommonLaw ")
    if is_law and (stated := re.search(r'{"\w+", "([^"]*)"', code.replace("{ ", "{"))):
        sentence = f"{stated[1]}. {sentence}".rstrip()
    return Word(name, shown(code, sentence), sentence, []) if name else None


def name_of(code: str):
    """The name that a declaration defines; None for constructors and names of other scopes."""
    head = SPECIFIERS.sub("", code)
    if re.fullmatch(r"struct \w+;|bool operator==\(const \w+.*", head):
        return None
    if match := re.match(r"(?:struct|class|namespace|enum(?: class)?|concept) (\w+)", head):
        return match[1]
    if match := re.match(r"using (?:(\w+) =|std::(\w+);)", head):
        return match[1] or match[2]
    if match := re.match(r"[\w:<>, ]+[&*]* (operator)\b", head):
        return match[1]
    head = re.sub(r"\[\w*\]", "", head)
    match = re.match(r"([^({=;]*[\w>&*]\s+[&*]*)([\w, ]+?)\s*(?:[({=;]|$)", head)
    is_named = match and not re.search(r"[~]|\busing\b|\breturn\b", match[0])
    return match[2] if is_named else None


def members_of(text: str, code: str, first: int, last: int, path: pathlib.Path) -> list:
    """The words inside a struct, a namespace or an enumeration."""
    opening = re.match(r"[^{;=(]*?\b(struct|class|namespace|enum)\b[^{;=(]*\{", code[first:last])
    if not opening:
        return []
    begin = first + opening.end()
    end = header.closing(code, begin - 1, path)
    if opening[1] != "enum":
        return words(text, code, begin, end, path, is_outer=opening[1] == "namespace")
    return [Word(name, name, "", []) for name in re.findall(r"([A-Za-z_]\w*)", code[begin:end])]


def shown(code: str, sentence: str) -> str:
    """A declaration without its body; a short body stays if there is no sentence."""
    if re.match(r"(?:struct|class|namespace|enum)\b", code):
        return re.split(r"[:{]", code)[0].strip()
    code = SPECIFIERS.sub("", code).rstrip("; ")
    if code.startswith("concept") or "CommonLaw " in code.split("(")[0]:
        return re.split(r" =|\s*{", code)[0]
    call = FUNCTION.match(code)
    if not call:
        return code
    end = header.closing(code, call.end() - 1, code)
    end += len(" const") if code[end + 1 :].startswith(" const") else 0
    body = code[end + 1 :]
    return code if ONE_RETURN.fullmatch(body) and not sentence else code[: end + 1]


def check(operator: pathlib.Path, root: pathlib.Path, known: set):
    """Checks that the vocabulary or the operator's own headers define each word that it uses."""
    code = own_code(operator, root, set())
    used = set(re.findall(r"(?<![\w'])[A-Za-z_]\w*", code)) - KEYWORDS
    undefined = sorted(used - declared_in(code) - known)
    if undefined:
        raise Refused(f"{operator}: the vocabulary lacks {', '.join(undefined)}")


def own_code(path: pathlib.Path, root: pathlib.Path, seen: set) -> str:
    """The code of an operator with that of the headers that it includes."""
    seen.add(path)
    text = path.read_text(encoding="ascii")
    shared = [root / name for name in header.INCLUDE.findall(text)]
    parts = [own_code(other, root, seen) for other in shared
             if other.name not in HEADERS and other not in seen]  # fmt: skip
    return "\n".join([*parts, STANDARD.sub("auto", DIRECTIVE.sub("", header.blank(text)))])


def declared_in(code: str) -> set:
    """The names that code declares: types, members, parameters and variables."""
    found = set(re.findall(r"\b(?:struct|class|typename|using) (\w+)", code))
    for names in re.findall(r"\bauto[&*]* ?[&*]*\[([^\]]*)\]|\benum[^{;]*\{([^}]*)\}", code):
        found |= set(re.findall(r"[A-Za-z_]\w*", "".join(names)))
    found |= set(re.findall(r"\[&?,? ?(\w+) =", code))
    while True:
        # Text in brackets belongs to another statement or to a list of parameters.
        for inner in re.findall(r"\(([^(){}]*)\)", code):
            found |= parameters(inner)
            if re.search("[;:]", inner):
                found |= set().union(*map(variables, inner.split(";")))
        flat = FLAT.sub("=", code)
        if flat == code:
            break
        code = flat
    for statement in re.split(r"[;{}]", code):
        found |= variables(TEMPLATE.sub("", " ".join(statement.split())))
    return found


def parameters(inner: str) -> set:
    """The names in a list of parameters; empty if the text is no such list."""
    named = map(PARAMETER.fullmatch, inner.split(","))
    return {match["name"] for match in named if match and match["name"] not in KEYWORDS}


def variables(statement: str) -> set:
    """The names that a statement declares; initial values were replaced by `=`."""
    head = VARIABLE.match(statement)
    if not head or head["type"] in KEYWORDS - {"auto", "bool", "int", "unsigned", "void"}:
        return set()
    names = (re.search(r"(\w+)\s*$", re.split(r"[=:]", part)[0]) for part in statement.split(","))
    return {match[1] for match in names if match}


def names(found: list) -> set:
    """The names of words and of their members."""
    inner = (names(word.members) for word in found)
    return {name for word in found for name in word.name.split(", ")}.union(*inner)


def is_shown(word: Word) -> bool:
    """Whether the page has an entry of a word; C++ explains what is taken over from it."""
    return not word.declared.startswith("using std::")


def targets(found: list) -> dict:
    """The word of whose entry each name is an anchor: the first one, and no member if there is a
    word outside of all others."""
    outer, inner = {}, {}
    for word in filter(is_shown, found):
        for name in word.name.split(", "):
            outer.setdefault(name, word)
        if "enum" not in word.declared:
            inner = {**targets(word.members), **inner}
    return {**inner, **outer}


def item(word: Word, anchors: dict) -> str:
    """A word as an entry of a list, with its members in a list of their own."""
    own = [name for name in word.name.split(", ") if anchors.get(name) is word]
    spans = "".join(rf':anchor:`<span id="word-{name}"></span>`\ ' for name in own)
    text = f"* {spans}``{word.declared}``" + (": " if word.sentence else "")
    text += rst.prose(word.sentence)
    if word.members and "enum" in word.declared:
        return text + " One of " + ", ".join(f"``{m.name}``" for m in word.members) + "."
    inner = "\n".join(item(m, anchors) for m in word.members)
    return text + (f"\n\n{rst.indented(inner, '  ')}" if inner else "")


def linked(root: pathlib.Path) -> dict:
    """The words that code links to: those outside of all others, members too, and the names that
    each operator declares itself."""
    found = [word for name in HEADERS for word in read(root / "spec" / name)]
    outer = {name for word in filter(is_shown, found) for name in word.name.split(", ")}
    paths = sorted((root / "spec" / "ops").glob("*.h"))
    own = {path.stem: sorted(declared_in(own_code(path, root, set()))) for path in paths}
    return {"words": sorted(outer), "members": sorted(targets(found)), "own": own}


def page(root: pathlib.Path) -> str:
    """The page of all words, header by header, after checking the words of every operator."""
    found = {name: read(root / "spec" / name) for name in HEADERS}
    known = set().union(*map(names, found.values()))
    for operator in sorted((root / "spec" / "ops").glob("*.h")):
        check(operator, root, known)
    parts = [rst.block("role", "anchor(raw)", "", format="html")]
    anchors = targets([word for words in found.values() for word in words])
    for name, defined in found.items():
        about = re.search(r"@file\n((?:/// .*\n)+)", (root / "spec" / name).read_text("ascii"))
        parts += [rst.title(f"spec/{name}", "-"), rst.prose(about[1].replace("/// ", "")) + "\n"]
        parts += ["\n".join(item(word, anchors) for word in filter(is_shown, defined)), ""]
    return "\n".join(parts)
