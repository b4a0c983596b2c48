#!/usr/bin/env python3
"""Uses the playground of the site in a headless browser, from the disk, as a reader would.

usage: playground_test.py BROWSER SITE PROGRAM
"""

import html
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

import devtools
import looks
import site_test

PART = "document.getElementById('playground-{}')"
FIELD = "document.querySelectorAll('.playground-tensor')[{}].elements['{}']"
RESULT = PART.format("result") + ".innerText"
READY = "!" + PART.format("form") + ".hidden"
RULE = "document.querySelector('#playground-result a')?.href"
HASH = "location.hash"
FOLLOW = """new Promise(done => {{
  addEventListener('hashchange', () => setTimeout(() => done({result})), {{once: true}});
  location.hash = {link};
}})"""
OUTPUTS = """[...document.querySelectorAll('#playground-result pre:not(.playground-command)')].map(
  pre => pre.textContent.split(/[\\s,]+/).filter(Boolean).map(Number))"""


class Playground:
    """The open page, and what is wrong with it."""

    def __init__(self, browser: devtools.Browser, page: pathlib.Path):
        self.browser, self.page, self.problems = browser, page, []

    def open(self, fragment: str = ""):
        self.browser.open(self.page.as_uri() + fragment)
        self.browser.wait_until(READY)

    def expect(self, what: str, seen, wanted):
        if seen != wanted:
            self.problems.append(f"{what}: {seen!r} instead of {wanted!r}")

    def contains(self, what: str, wanted: str):
        seen = self.browser.evaluate(RESULT)
        if wanted not in seen:
            self.problems.append(f"{what}: no {wanted!r} in {seen!r}")

    def press(self, key: str, code: int = 0, **more):
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                              windowsVirtualKeyCode=code, **more)  # fmt: skip

    def write(self, field: str, text: str):
        """Replaces the text of a field as a keyboard does."""
        self.browser.evaluate(f"{field}.focus()")
        self.browser.evaluate(f"{field}.select()")
        if text:
            self.browser.call("Input.insertText", text=text)
        else:
            self.press("Delete", 46)

    def follow(self, link: str, result: str):
        return self.browser.evaluate(FOLLOW.format(result=result, link=json.dumps("#" + link)))

    def edit(self):
        """Chooses an operator, edits a tensor and an attribute, and reads the results."""
        self.open()
        select = PART.format("operator")
        self.expect("state", self.browser.evaluate(PART.format("state") + ".textContent"), "")
        self.browser.evaluate(f"{select}.focus()")
        for _ in range(3):
            self.press("ArrowDown", 40)
        chosen = self.browser.evaluate(f"{select}.value")
        self.expect("chosen by keys", chosen, self.browser.evaluate(f"{select}.options[3].value"))
        self.expect("its link", self.browser.evaluate(HASH).partition("/")[0], "#" + chosen)
        self.follow("clip/a_min=-3/a_max=5/in=5@8/data=-9,-3,0,5,9", RESULT)
        self.contains("clip", "-3, -3,  0,  5,  5")
        self.write(FIELD.format(0, "data"), "7 7\n[-8, 0, 1]")
        self.contains("edited values", "5,  5, -3,  0,  1")
        self.write(PART.format("attribute-a_max"), "2")
        self.contains("edited attribute", "2,  2, -3,  0,  1")
        self.contains("gas", "Gas as a model of one call: ")
        self.write(FIELD.format(0, "data"), "")
        self.contains("no values", "0, 0, 0, 0, 0")

    def refuse(self):
        """Breaks rules, of all operators and of one, and follows what the page says of them."""
        self.follow("clip/a_min=-3/a_max=5/in=5@8/data=-9,-3,0,5,9", RESULT)
        self.write(FIELD.format(0, "precision"), "33")
        self.contains("precision 33", "Refused: input.precision")
        self.leads("input.precision")
        invalid = self.browser.evaluate(FIELD.format(0, "precision") + ".ariaInvalid")
        self.expect("the wrong field", invalid, "true")
        self.write(FIELD.format(0, "precision"), "3")
        self.contains("a value outside", "Refused: input.value")
        self.follow("conv2d/channels=1/kernel_size=2,2/use_bias=false/"
                    "in=1x1x3x3@8+1x1x2x2@8/data=1,2,3,4,5,6,7,8,9+1,0,0,1", RESULT)  # fmt: skip
        self.write(PART.format("attribute-dilation"), "(3,3)")
        self.contains("a kernel too large", "the dilated kernel fits the padded image")
        self.leads("conv2d.window")
        self.write(PART.format("attribute-dilation"), "(3")
        self.contains("no tuple", "attr.syntax")

    def leads(self, label: str):
        """Whether the rule's link leads to the anchor of its label."""
        url = urllib.parse.urlsplit(self.browser.evaluate(RULE) or "")
        self.expect("the label's anchor", url.fragment, label)
        page = pathlib.Path(urllib.parse.unquote(url.path))
        if not page.is_file() or f'id="{label}"' not in page.read_text(encoding="utf-8"):
            self.problems.append(f"{label} is not explained in {page}")

    def complain(self):
        """Writes what is no tensor, or too much of one."""
        self.follow("relu/in=2x2@8/data=1,2,3,4", RESULT)
        for field, text, wanted in (
            ("data", "1, 2, x, 4", "'x' is no integer"),
            ("data", "1, 2, 3", "2x2 needs 4 values, and these are 3"),
            ("shape", "2xa", "'a' is no extent"),
            ("precision", "eight", "a precision is an integer"),
        ):
            place = FIELD.format(0, field)
            before = self.browser.evaluate(f"{place}.value")
            self.write(place, text)
            seen = self.browser.evaluate("document.querySelector('.playground-error').innerText")
            if wanted not in seen:
                self.problems.append(f"{text}: {seen!r} instead of {wanted!r}")
            self.expect(text, self.browser.evaluate(f"{place}.ariaInvalid"), "true")
            self.contains(text, "No result")
            self.write(place, before)
        self.follow("relu/in=1000x1000@8/data=", RESULT)
        self.contains("a large tensor", "the page computes values of up to 16384")
        self.contains("its types", "1000x1000, precision 8")
        self.follow("nonsense/in=1@8", RESULT)
        self.contains("no operator", "there is no operator 'nonsense'")
        self.follow("relu/in=2x2@8/fill=range:1", OUTPUTS)
        drawn = self.browser.evaluate(FIELD.format(0, "data") + ".value")
        self.expect("a case id of the judge", drawn, "-126, -125\n-124, -123")

    def round_trip(self):
        """Whether the address holds everything that was typed, right or wrong."""
        form = """[...document.querySelectorAll('#playground-form [name]')].map(
          e => e.value.split(/[\\s,]+/).filter(Boolean).join(' '))"""
        self.follow("sum/axis=0,-1/exclude=true/in=1x2@8/data=5,-6", RESULT)
        for field, text in (
            (FIELD.format(0, "data"), "5, 6/=+@%x, 7"),
            (FIELD.format(0, "precision"), "8 or so"),
            (PART.format("attribute-axis"), "(0,/+=%"),
        ):
            self.write(field, text)
            link, typed = self.browser.evaluate(HASH), self.browser.evaluate(form)
            result = self.browser.evaluate(RESULT)
            self.open("#")
            self.open(link)
            self.expect("the form of a link", self.browser.evaluate(form), typed)
            self.expect("the result of a link", self.browser.evaluate(RESULT), result)
            self.expect("the link of a link", self.browser.evaluate(HASH), link)

    def presets(self, operators: list) -> int:
        """Whether each operator's page leads to its examples, which give the header's outputs."""
        count = 0
        for op in operators:
            page = self.page.parent / "operators" / f"{op['name']}.html"
            found = re.findall(r'href="\.\./playground\.html#([^"]*)"', page.read_text("utf-8"))
            links = [html.unescape(link) for link in found]
            self.expect(f"links of {op['name']}", links, [e["case"] for e in op["examples"]])
            for e in op["examples"]:
                wanted = [y["data"] for y in e["out"]]
                self.expect(e["case"], self.follow(e["case"], OUTPUTS), wanted)
                example = PART.format("example") + ".selectedOptions[0].textContent"
                self.expect("the chosen example", self.browser.evaluate(example), e["text"])
                count += 1
        return count

    def digest(self, wanted: str):
        """Computes the digest in the browser."""
        said = PART.format("digest") + ".textContent"
        self.browser.evaluate(PART.format("compute") + ".click()")
        self.browser.wait_until(f"/outputs|no digest/.test({said})")
        self.expect("digest", self.browser.evaluate(said), f"{wanted}\nequal to the program's")

    def silent(self):
        """Whether no script complained or wrote to the console, and nothing came from elsewhere."""
        self.problems += site_test.troubles(self.browser.events)
        self.problems += [f"console: {e}" for e in self.browser.events
                          if e.get("method") == "Runtime.consoleAPICalled"]  # fmt: skip


def main() -> int:
    site, program = pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    says = [
        subprocess.run([program, *words], check=True, text=True, stdout=subprocess.PIPE).stdout
        for words in (("spec", "--json"), ("digest", "reference", "--tier", "0", "--quiet"))
    ]
    operators = json.loads(says[0])["operators"]
    with devtools.Browser(sys.argv[1]) as browser:
        playground = Playground(browser, site / "playground.html")
        browser.resize(*site_test.NARROW)
        playground.edit()
        playground.refuse()
        playground.complain()
        playground.silent()
        playground.round_trip()
        browser.resize(*site_test.WIDE)
        count = playground.presets(operators)
        for width, height in (site_test.NARROW, site_test.WIDE):
            browser.resize(width, height)
            for scheme in looks.RANGES:
                browser.prefer(scheme)
                playground.problems += looks.faults(browser, scheme, width)
        playground.digest(says[1].strip())
        playground.silent()
    print("\n".join(playground.problems))
    print(f"{count} presets, digest {says[1].strip()}, {len(playground.problems)} problems")
    return 1 if playground.problems or not count else 0


if __name__ == "__main__":
    sys.exit(main())
