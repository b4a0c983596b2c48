"""Writes the files that the playground's scripts read: the operators with their examples, the
labels, the digest of the program, the golden vectors, and the module if the build has made one."""

import json
import pathlib
import shutil

from refusal import Refused

PLAYGROUND = pathlib.Path(__file__).resolve().parent.parent / "playground"
ABSENT = "// This site was built without emscripten: there is no module.\n"


def link(case: str) -> str:
    """The address, from the root of the site, that opens a case in the playground."""
    return f"playground.html#{case}"


def operators(specification: dict) -> list:
    """What the form needs of each operator."""
    kept = ("name", "alias", "profile", "summary")
    return [
        {key: op[key] for key in kept if key in op} | {
            "attributes": op["attributes"],
            "inputs": [{"name": port["name"], "arity": port["arity"]} for port in op["inputs"]],
            "outputs": [port["name"] for port in op["outputs"]],
            "examples": [{"text": e["text"], "link": e["case"]} for e in op["examples"]],
        }
        for op in specification["operators"]
    ]  # fmt: skip


def labels(specification: dict) -> dict:
    """The text of each label and the place on the site that explains it."""
    found = {
        label["label"]: {"page": f"labels.html#{label['label']}", "text": label["text"]}
        for label in specification["labels"]
    }
    for op in specification["operators"]:
        for rule in op["rules"]:
            page = f"operators/{op['name']}.html#{rule['label']}"
            found[rule["label"]] = {"page": page, "text": rule["text"]}
    return found


def vectors(directory: pathlib.Path) -> str:
    """A script with the files of the golden vectors, byte by byte."""
    files = []
    for path in sorted(directory.glob("*.json")):
        text = path.read_text(encoding="ascii")
        if "`" in text or "${" in text:
            raise Refused(f"{path.name}: a script cannot hold a back quote or ${{")
        files.append(f"{json.dumps(path.name)}: String.raw`{text}`")
    return "const lockstepVectors = {\n" + ",\n".join(files) + "\n};\n"


def write(lockstep, sources: pathlib.Path, build: pathlib.Path, output: pathlib.Path):
    """Writes the playground's files into the sources of the site."""
    specification = lockstep.specification
    site = {
        "operators": operators(specification),
        "labels": labels(specification),
        "digest": lockstep.says("digest", "reference", "--tier", "0", "--quiet").strip(),
    }
    target = output / "static" / "playground"
    target.mkdir(parents=True)
    script = f"const lockstepSite = {json.dumps(site, indent=1)};\n"
    (target / "operators.js").write_text(script, encoding="ascii")
    (target / "vectors.js").write_text(
        vectors(sources / "conformance" / "vectors"), encoding="ascii")  # fmt: skip
    module = build / "docs" / "playground" / "lockstep.js"
    if module.is_file():
        shutil.copyfile(module, target / "module.js")
    else:
        (target / "module.js").write_text(ABSENT, encoding="ascii")
    for name in ("playground.js", "playground.css"):
        shutil.copyfile(PLAYGROUND / name, target / name)
    (output / "generated").mkdir(exist_ok=True)
    shutil.copyfile(PLAYGROUND / "form.html", output / "generated" / "playground_form.html")
