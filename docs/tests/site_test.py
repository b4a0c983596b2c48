#!/usr/bin/env python3
"""Opens every page of the site in a headless browser, as a reader without a network would.

usage: site_test.py BROWSER SITE PROGRAM

Nothing may be fetched from elsewhere or fail to load, no script may complain, every formula
has to be set, every internal link has to lead somewhere, every operator of the program has to have
a page, nothing may be too wide for a telephone, and the search has to find things.
"""

import json
import pathlib
import subprocess
import sys
import urllib.parse

import devtools

WIDE, NARROW = (1280, 900), (390, 844)

COMPLAINTS = ("error", "warning", "assert")
FORMULAS = "document.querySelectorAll('.math').length"
TYPESET = """new Promise(done => {
  if (!window.MathJax) return done(0);
  MathJax.Hub.Queue(() => done([...document.querySelectorAll('.math')].filter(m => {
    const set = m.querySelector('.MathJax_SVG svg');
    const wrong = m.querySelector('[id*="merror"], .merror');
    return set && set.getBoundingClientRect().width > 4 && !wrong;
  }).length));
})"""
LINKS = "[...document.links].map(a => a.href)"
IDS = "[...document.querySelectorAll('[id]')].map(e => e.id)"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT_OFF = """[...document.querySelectorAll('div.math')].filter(
  m => m.scrollWidth > m.clientWidth).length"""
# The brightness of the page, 0 to 255.
BRIGHTNESS = """Math.max(
  ...getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3))"""
RESULTS = "[...document.querySelectorAll('#search-results li a')].map(a => a.href)"


def troubles(events: list):
    """What a page's events complain of, and what they ask from elsewhere."""
    for event in events:
        method, what = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            thrown = what["exceptionDetails"]
            yield f"{thrown['text']} {thrown.get('exception', {}).get('description', '')}"
        elif method == "Runtime.consoleAPICalled" and what["type"] in COMPLAINTS:
            yield f"console.{what['type']}: {what['args']}"
        elif method == "Log.entryAdded" and what["entry"]["level"] in COMPLAINTS:
            yield f"log: {what['entry']['text']} {what['entry'].get('url', '')}"
        elif method == "Network.loadingFailed" and not what.get("canceled"):
            yield f"failed to load: {what['errorText']}"
        elif method == "Network.requestWillBeSent":
            url = what["request"]["url"]
            if not url.startswith(("file:", "data:", "about:")):
                yield f"asks for {url}"


def wrong_schemes(browser: devtools.Browser):
    """Whether the open page is dark for a system that asks for it, and else light."""
    for scheme, right in (("dark", range(64)), ("light", range(192, 256))):
        browser.prefer(scheme)
        if (brightness := browser.evaluate(BRIGHTNESS)) not in right:
            yield f"{scheme}: brightness {brightness}"


def too_wide(browser: devtools.Browser):
    """Whether the open page fits telephones and larger screens; the last size remains."""
    for width, height in (NARROW, WIDE):
        browser.resize(width, height)
        if (excess := browser.evaluate(TOO_WIDE)) > 0:
            yield f"{excess} pixels too wide for {width}"


class Site:
    """The pages of a site, and what was found on them."""

    def __init__(self, browser: devtools.Browser, directory: pathlib.Path):
        self.browser, self.directory, self.problems = browser, directory, []
        self.pages = sorted(directory.rglob("*.html"))
        self.ids, self.links, self.formulas = {}, {}, {}

    def complain(self, page: pathlib.Path, *complaints: str):
        self.problems += [f"{page.relative_to(self.directory)}: {what}" for what in complaints]

    def visit(self, page: pathlib.Path):
        """Opens one page, narrow and wide, and looks at it."""
        browser = self.browser
        browser.resize(*NARROW)
        browser.open(page.as_uri())
        formulas, typeset = browser.evaluate(FORMULAS), browser.evaluate(TYPESET)
        if typeset != formulas:
            self.complain(page, f"{typeset} of {formulas} formulas are set")
        self.complain(page, *too_wide(browser), *troubles(browser.events))
        # A telephone may have to scroll a formula that cannot be broken; nobody else has to.
        if (cut := browser.evaluate(CUT_OFF)) > 0:
            self.complain(page, f"{cut} formulas do not fit on {width} pixels")
        self.formulas[page] = formulas
        self.ids[page], self.links[page] = set(browser.evaluate(IDS)), browser.evaluate(LINKS)

    def hold_operators(self, names: list):
        """Whether each operator has a page with a formula, and the index leads there."""
        index = self.directory / "operators" / "index.html"
        for name in names:
            page = index.with_name(f"{name}.html")
            if not self.formulas.get(page):
                self.complain(page, "there is no formula, or no page")
            if page.as_uri() not in self.links.get(index, ()):
                self.complain(index, f"does not lead to {name}")

    def follow_links(self) -> int:
        """Whether each internal link leads to a page and an anchor that exist."""
        count = 0
        for page, links in self.links.items():
            for link in links:
                url = urllib.parse.urlsplit(link)
                if url.scheme != "file":
                    continue
                count += 1
                target = pathlib.Path(urllib.parse.unquote(url.path))
                anchor = urllib.parse.unquote(url.fragment)
                if not target.is_file():
                    self.complain(page, f"there is no {link}")
                elif target.name == "playground.html":
                    pass  # its anchors are calls, which playground_test.py makes
                elif anchor and anchor not in self.ids.get(target, ()):
                    self.complain(page, f"nothing is called {anchor} in {target.name}")
        return count

    def search(self, words: str, expected: str):
        """Types words into the search box of the start page and looks for a result."""
        browser, start = self.browser, self.directory / "index.html"
        browser.resize(*WIDE)
        browser.open(start.as_uri())
        browser.evaluate("document.querySelector('.sidebar-search').focus()")
        browser.call("Input.insertText", text=words)
        browser.events = []
        for kind in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=kind, key="Enter", text="\r",
                         windowsVirtualKeyCode=13)  # fmt: skip
        browser.wait_for_load()
        suffix = f"[...{RESULTS}].some(link => link.endsWith({expected!r}))"
        if not browser.wait_until(suffix):
            self.complain(start, f"a search for '{words}' does not find {expected}")
        self.complain(start, *(f"a search for '{words}': {t}" for t in troubles(browser.events)))

    def schemes(self):
        """Looks at the start page in both color schemes."""
        start = self.directory / "index.html"
        self.browser.open(start.as_uri())
        self.complain(start, *wrong_schemes(self.browser))

    def jump(self, page: str, anchor: str):
        """Whether an address with an error label leads to the label."""
        path = self.directory / page
        self.browser.open(f"{path.as_uri()}#{anchor}")
        found = self.browser.evaluate("document.querySelector(':target')?.id")
        if found != anchor:
            self.complain(path, f"#{anchor} leads to {found}")


def operators(program: str) -> list:
    """The names of the operators that the program knows."""
    listed = subprocess.run([program, "list", "--json"], check=True, stdout=subprocess.PIPE).stdout
    return [op["name"] for op in json.loads(listed)]


def check(browser: devtools.Browser, directory: pathlib.Path, names: list) -> int:
    if not (directory / "index.html").is_file():
        print(f"there is no site in {directory}; the target site builds it")
        return 1
    site = Site(browser, directory)
    for page in site.pages:
        site.visit(page)
    links, formulas = site.follow_links(), sum(site.formulas.values())
    site.hold_operators(names)
    site.schemes()
    site.search("conv2d", "operators/conv2d.html")
    site.search("conv2d.window", "operators/conv2d.html#conv2d.window")
    site.search("canaries", "verdicts.html")
    site.jump("operators/conv2d.html", "conv2d.window")
    site.jump("labels.html", "input.precision")
    print("\n".join(site.problems))
    print(f"{len(site.pages)} pages, {formulas} formulas, {links} links, "
          f"{len(site.problems)} problems")  # fmt: skip
    return 1 if site.problems or not (names and formulas and links) else 0


def main() -> int:
    directory = pathlib.Path(sys.argv[2]).resolve()
    with devtools.Browser(sys.argv[1]) as browser:
        return check(browser, directory, operators(sys.argv[3]))


if __name__ == "__main__":
    sys.exit(main())
